// Uploads the files that are chosen or dropped, a piece in each request, and goes on where a line dropped.
//
// The server answers how many bytes of a file are `there`, which is where the next piece begins: also for a file
// that is chosen again after the page was left. It checks and registers a file with its last piece.

import { made } from "./elements.js";

const PIECE_BYTES = 2 ** 20;
const AGAIN_MS = 3000;
const form = document.querySelector("[data-upload]");
const list = form.querySelector("[data-files]");
const waiting = [];
let isSending = false;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** One request about a file; null where no answer came. */
async function ask({ file, stop }, more, body) {
  const words = new URLSearchParams({ name: file.name, size: file.size, mark: file.lastModified, ...more });
  const headers = { Accept: "application/json", "Content-Type": "application/octet-stream" };
  headers["X-CSRFToken"] = form.elements.csrfmiddlewaretoken.value;
  const method = body === undefined ? "GET" : "POST";
  try {
    return await fetch(`${form.dataset.upload}?${words}`, { method, headers, body, signal: stop.signal });
  } catch {
    return null;
  }
}

/** The answer says that it can be asked again: the line dropped, a proxy waits, or too much came in a minute. */
const isLater = (answer) => answer === null || [429, 502, 503, 504].includes(answer.status);

/** Send a file from where the server has it; what became of it in words, and whether it is registered. */
async function send(job) {
  const { file, stop, bar, state } = job;
  let at = null;
  while (!stop.signal.aborted) {
    const answer = at === null ? await ask(job, {}) : await ask(job, { at }, file.slice(at, at + PIECE_BYTES));
    if (stop.signal.aborted) break;
    if (isLater(answer)) {
      state.textContent = "no connection; continues by itself";
      at = null;
      await pause(answer?.headers.has("Retry-After") ? 1000 * Number(answer.headers.get("Retry-After")) : AGAIN_MS);
      continue;
    }
    const told = await answer.json().catch(() => ({}));
    if (told.path) return ["registered", true];
    if (told.there === undefined) {
      const isOut = answer.status === 401 || answer.status === 403;
      return [isOut ? "you are signed out; sign in and choose the file again" : (told.words ?? "the server cannot take it"), false];
    }
    at = told.there;
    bar.value = at / file.size;
    state.textContent = at + PIECE_BYTES >= file.size ? "checking" : "sending";
  }
  return ["stopped; choose the file again to continue", false];
}

/** Show in the lists of the page what is registered by now. */
async function refresh() {
  const page = await fetch(location.href);
  const fresh = new DOMParser().parseFromString(await page.text(), "text/html");
  for (const old of document.querySelectorAll("[data-fresh-list]"))
    old.replaceWith(fresh.querySelector(`[data-fresh-list="${old.dataset.freshList}"]`) ?? old);
}

async function sendAll() {
  if (isSending) return;
  isSending = true;
  for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
    const [words, isRegistered] = await send(job);
    job.state.textContent = words;
    job.state.className = isRegistered ? "good" : "bad";
    job.bar.remove();
    job.button.remove();
    await refresh().catch(() => {});
  }
  isSending = false;
}

function add(files) {
  for (const file of files) {
    const bar = made("progress", { max: 1, value: 0 });
    bar.setAttribute("aria-label", file.name);
    const state = made("span", { textContent: "waits" });
    state.setAttribute("role", "status");
    const button = made("button", { type: "button", className: "small", textContent: "Stop" });
    const stop = new AbortController();
    button.addEventListener("click", () => stop.abort());
    list.append(made("li", {}, made("span", { className: "path", textContent: file.name }), bar, state, button));
    waiting.push({ file, bar, state, button, stop });
  }
  sendAll();
}

const chooser = form.querySelector("input[type=file]");
chooser.addEventListener("change", () => {
  add([...chooser.files]);
  chooser.value = "";
});
for (const name of ["dragover", "dragleave", "drop"])
  form.addEventListener(name, (event) => {
    event.preventDefault();
    form.classList.toggle("over", name === "dragover");
  });
form.addEventListener("drop", ({ dataTransfer }) => add([...dataTransfer.files]));
window.addEventListener("beforeunload", (event) => {
  if (isSending) event.preventDefault();
});
form.hidden = false;
