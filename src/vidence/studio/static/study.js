// Pages of studies: clocks, media that are shown once, counts of plays, keys of options, the size of a screen.
//
// Everything that counts is decided by the server; this page only shows it and tells what happens. A script of
// another kind of medium imports `tell`.

import { made } from "./elements.js";
import { isText, shortcut } from "./keys.js";

const POLL_MS = 500;
const SHORT_S = 60;
const CARD_SHAPE = 85.6 / 53.98; // of a bank card
const NARROW_PX = 600;
const form = document.querySelector("form[data-trial]");

/** Tell the server what happened on this trial; the answer as JSON, with `ok` and, of a refusal, `words`. */
export async function tell(action, more = {}, address = location.href) {
  const token = document.querySelector("[name=csrfmiddlewaretoken]").value;
  const body = new URLSearchParams({ csrfmiddlewaretoken: token, action, ...more });
  try {
    const answer = await fetch(address, { method: "POST", headers: { Accept: "application/json" }, body, keepalive: true });
    const told = await answer.json().catch(() => ({}));
    return { ...told, ok: answer.ok };
  } catch {
    return { ok: false, words: "The server does not respond." };
  }
}

// ---------------------------------------------------------------------- clocks

const inWords = (left) => {
  const s = Math.max(0, Math.ceil(left));
  const [hours, minutes] = [Math.floor(s / 3600), Math.floor((s % 3600) / 60)];
  const two = (n) => String(n).padStart(2, "0");
  return `${hours ? `${hours}:${two(minutes)}` : minutes}:${two(s % 60)}`;
};

/** Count down what the server said; at its end the server says what comes next. */
function run(clock) {
  const left_s = Number(clock.dataset.leftS);
  const began = performance.now();
  const isWaiting = form === null;
  const words = clock.textContent;
  const tick = () => {
    const left = left_s - (performance.now() - began) / 1000;
    clock.textContent = isWaiting ? `${words} That is in ${inWords(left)}.` : `${inWords(left)} left`;
    clock.classList.toggle("short", !isWaiting && left < SHORT_S);
    if (left > -1) {
      setTimeout(tick, 1000);
      return;
    }
    // What is written is saved; the server takes it as the answer, or says that time is up.
    if (form !== null) form.addEventListener("vidence:saved", () => location.reload());
    setTimeout(() => location.reload(), 1500);
  };
  tick();
}

for (const clock of document.querySelectorAll("[data-clock]")) run(clock);

// ---------------------------------------------------------------------- media that are shown once

class Once {
  constructor(section) {
    this.section = section;
    this.words = section.querySelector("[data-once-words]");
    this.button = section.querySelector("[data-once-play]");
    this.words?.setAttribute("role", "status");
    this.button?.addEventListener("click", () => this.begin());
  }

  async begin() {
    this.button.disabled = true;
    let told = await tell("view", {}, this.section.dataset.once);
    while (told.ok && told.state !== "ready") {
      this.words.textContent = `Preparing the video: ${told.percent} %. It starts by itself.`;
      await new Promise((done) => setTimeout(done, POLL_MS));
      told = await tell("view", {}, this.section.dataset.once);
    }
    if (told.ok) this.show(told);
    else this.end(told.words ?? "The video cannot be shown.");
  }

  show({ address, start_s, end_s, left_s }) {
    this.button.remove();
    this.words.textContent = "";
    const video = made("video", { src: address, playsInline: true, disablePictureInPicture: true, disableRemotePlayback: true });
    video.setAttribute("aria-label", this.section.getAttribute("aria-label"));
    this.video = video;
    const isPart = end_s !== null;
    video.addEventListener("loadedmetadata", () => {
      if (start_s) video.currentTime = start_s;
      video.play().catch((error) => this.end(`The video did not start: ${error.message}`));
    });
    video.addEventListener("pause", () => this.video === video && !video.ended && video.play().catch(() => undefined));
    video.addEventListener("timeupdate", () => isPart && video.currentTime >= end_s && this.end());
    video.addEventListener("ended", () => this.end());
    video.addEventListener("error", () => this.end("The video stopped. Report a technical problem below."));
    video.addEventListener("contextmenu", (event) => event.preventDefault());
    setTimeout(() => this.end(), left_s * 1000);
    this.section.prepend(video);
  }

  end(words = "The video was shown.") {
    const video = this.video;
    if (video === null) return;
    this.video = null;
    this.button?.remove();
    this.words.textContent = words;
    if (video === undefined) return;
    video.pause();
    video.removeAttribute("src");
    video.load();
    video.remove();
    tell("viewed", {}, this.section.dataset.once);
  }
}

for (const section of document.querySelectorAll("[data-once]")) if (section.querySelector("[data-once-play]")) new Once(section);

// ---------------------------------------------------------------------- plays, fields that need others, keys

for (const section of document.querySelectorAll("section[data-player]")) {
  let isGoing = false;
  section.addEventListener("play", () => {
    if (!isGoing) tell("play");
    isGoing = true;
  }, true);
  section.addEventListener("ended", () => (isGoing = false), true);
}

/** Hide fields whose condition does not hold; what they held is not sent. */
function fit() {
  for (const part of form.querySelectorAll("[data-needs]")) {
    const [name, ...value] = part.dataset.needs.split("=");
    const isOpen = new FormData(form).get(name) === value.join("=");
    part.hidden = !isOpen;
    for (const one of part.querySelectorAll("input, textarea")) one.disabled = !isOpen;
  }
}

/** Choose an option by its number: of the first field of options that has none, or else of the last. */
function choose(number) {
  const fields = [...form.querySelectorAll("fieldset.options:not([hidden])")].filter((one) => one.querySelector("input:enabled"));
  const open = fields.find((one) => !one.querySelector("input:checked")) ?? fields.at(-1);
  const option = open?.querySelectorAll("input")[number - 1];
  if (option === undefined) return false;
  option.focus();
  option.click();
  return true;
}

if (form !== null) {
  for (const one of document.querySelectorAll(".needs-words")) one.hidden = true;
  form.addEventListener("input", fit);
  form.addEventListener("change", fit);
  fit();
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || isText(event.target)) return;
    if (/^[1-9]$/.test(shortcut(event)) && choose(Number(event.key))) event.preventDefault();
  });
}

// ---------------------------------------------------------------------- leaving, the size of a screen, links to copy

for (const { dataset } of document.querySelectorAll("[data-forgets]")) {
  const names = Object.keys(localStorage).filter((name) => name.startsWith(`vidence.draft.${dataset.forgets}.`));
  for (const name of names) localStorage.removeItem(name);
}

const width = document.querySelector("[data-card-width]");
if (width !== null) {
  const card = document.querySelector("[data-card]");
  const isUpright = document.documentElement.clientWidth < NARROW_PX;
  document.querySelector("[data-card-side]").value = isUpright ? "short" : "long";
  document.querySelector("[data-upright]").hidden = !isUpright;
  const fitCard = () => {
    card.style.width = `${width.value}px`;
    card.style.height = `${isUpright ? width.value * CARD_SHAPE : width.value / CARD_SHAPE}px`;
    width.setAttribute("aria-valuetext", `${width.value} pixels`);
  };
  width.addEventListener("input", fitCard);
  fitCard();
}

for (const button of document.querySelectorAll("[data-copy]"))
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy).catch(() => undefined);
    button.textContent = "Copied";
  });
