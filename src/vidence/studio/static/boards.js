// Keys of the boards, the player's frame in the field that follows it, and words that leak.
//
// Each key presses a button of the row that has the focus, or of the page: without this file the buttons do the same.

import { made } from "./elements.js";
import { isText, shortcut } from "./keys.js";

const MARK = "vidence.boards.marked";
const PAUSE_MS = 300;
const rows = () => [...document.querySelectorAll("[data-row]")];
const rowOf = (element) => (element instanceof Element ? element.closest("[data-row]") : null);
const painted = () => document.querySelector("[data-player]")?.dataset.frame;

/** The row that keys are meant for: the one with the focus, otherwise the first. */
const current = () => rowOf(document.activeElement) ?? rows()[0] ?? null;

function go(step) {
  const all = rows();
  const at = all.indexOf(rowOf(document.activeElement));
  const next = all[Math.min(Math.max(at + step, 0), all.length - 1)];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

/** Let all fields of other tracks name the one that was marked. */
function showMark(id) {
  for (const select of document.querySelectorAll("select[name=other]")) {
    const own = rowOf(select)?.dataset.track;
    if (own !== id && [...select.options].some((one) => one.value === id)) select.value = id;
  }
}

function mark() {
  const id = current()?.dataset.track;
  if (id === undefined) return false;
  sessionStorage.setItem(MARK, id);
  showMark(id);
  return true;
}

/** Put the frame of the chosen crop into a field of the row. */
function fromCrop(name) {
  const row = current();
  const chosen = row?.querySelector("input[name=frame]:checked");
  const field = row?.querySelector(`input[name=${name}]`);
  if (!chosen || !field) return false;
  field.value = chosen.value;
  return true;
}

/** Show the film at the frame of the chosen crop; the first one where none is chosen. */
function toFilm() {
  const row = current();
  const crop = row?.querySelector("input[name=frame]:checked") ?? row?.querySelector("input[type=radio][name=frame]");
  const section = document.querySelector("[data-player]");
  if (!crop || !section) return false;
  const film = section.closest("details");
  if (film) film.open = true;
  section.dispatchEvent(new CustomEvent("vidence:go", { detail: Number(crop.value) }));
  section.scrollIntoView({ block: "nearest" });
  return true;
}

function press(key) {
  const inside = current()?.querySelector(`[data-key="${CSS.escape(key)}"]`);
  const own = [...document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)].find((one) => !rowOf(one));
  const button = inside ?? own;
  if (!button || button.disabled) return false;
  button.click();
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || (isText(event.target) && !event.altKey)) return;
  const said = shortcut(event);
  const own = { n: () => go(1), b: () => go(-1), t: mark, f: toFilm, 1: () => fromCrop("first"), 2: () => fromCrop("last") };
  if (own[said] && document.querySelector("[data-row]")) {
    if (own[said]() === false) return;
  } else if (!press(said)) return;
  event.preventDefault();
});

// ------------------------------------------------------------------ the frame of the player

document.addEventListener("vidence:frame", () => {
  for (const field of document.querySelectorAll("[data-follows-player]"))
    if (document.activeElement !== field && painted() !== undefined) field.value = painted();
});

document.addEventListener("vidence:mark", ({ detail }) => {
  for (const field of document.querySelectorAll(`[data-marked="${detail.kind}"]`)) field.value = String(detail.index);
});

// ------------------------------------------------------------------ verdicts on tracks, while going on

const list = document.querySelector("ol[data-ids]");
const keeping = document.querySelector("[data-keeping]");
let waiting = Promise.resolve();
let nWaiting = 0;
let again = ""; // where to go when all is kept, because there are other tracks now

/** The next row that nobody has judged and that is not being kept: below this one, then from the top. */
function nextOpen(row) {
  const all = rows();
  const at = all.indexOf(row);
  return [...all.slice(at + 1), ...all.slice(0, at)].find((one) => !one.matches(".done, [data-keeping-row]"));
}

function showState(told) {
  const count = document.querySelector("[data-n-open]");
  if (count) count.textContent = `${told.n_open} of ${told.n_all}`;
  const undo = document.querySelector("form.undo");
  document.querySelector(".remake")?.remove();
  if (told.remake) {
    const strong = made("strong", { textContent: "Made again next time:" });
    const line = made("p", { className: "remake" });
    line.append(strong, ` ${told.remake}`);
    undo.before(line);
  }
  undo.querySelector("button").disabled = false;
  undo.querySelector("span")?.remove();
  undo.append(" ", made("span", { className: "quiet", textContent: `the last: ${told.said}` }));
  const gone = document.querySelector("[data-gone]");
  gone.replaceChildren(...told.gone.map((one) => made("li", { textContent: one })));
  gone.parentElement.hidden = told.gone.length === 0;
}

/** Put the row as the server has it now in place of the old one; the focus stays where it is. */
function showRow(row, html) {
  const held = row.contains(document.activeElement);
  const next = held ? nextOpen(row) : null;
  const holder = document.createElement("template");
  holder.innerHTML = html.trim();
  const drawn = holder.content.firstElementChild;
  if (drawn) row.replaceWith(drawn);
  else row.remove();
  if (held) (drawn ?? next ?? rows()[0])?.focus({ preventScroll: true });
}

function failed(row, why) {
  delete row.dataset.keepingRow;
  const fault = row.querySelector("[data-fault]");
  fault.textContent = why;
  fault.hidden = false;
  keeping.textContent = `Not kept: ${row.getAttribute("aria-label")}.`;
  row.focus();
}

async function keep(row, said) {
  const name = row.getAttribute("aria-label");
  try {
    const answer = await fetch(location.href, { method: "POST", body: said, headers: { "X-Vidence-Row": "1" } });
    if (!answer.headers.get("Content-Type")?.startsWith("application/json")) throw new Error(`the studio answered ${answer.status}`);
    const told = await answer.json();
    if (told.fault) return failed(row, told.fault);
    keeping.textContent = `Kept: ${told.said}.`;
    if (told.again) {
      again = told.again;
      return;
    }
    showState(told);
    showRow(row, told.row);
  } catch (error) {
    failed(row, `This is not kept: ${error.message}. Say it again.`);
  } finally {
    nWaiting -= 1;
    if (!nWaiting && again) location.assign(again);
  }
}

if (list) {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    const row = rowOf(form);
    if (!row?.dataset.track) {
      if (!nWaiting) return;
      event.preventDefault(); // what is taken back is the last that was kept
      waiting.then(() => form.requestSubmit(event.submitter));
      return;
    }
    event.preventDefault();
    if (row.dataset.keepingRow) return;
    const said = new URLSearchParams(new FormData(form, event.submitter));
    said.set("ids", list.dataset.ids);
    row.dataset.keepingRow = "1";
    row.querySelector("[data-fault]").hidden = true;
    keeping.textContent = `Keeping ${row.getAttribute("aria-label")} …`;
    nWaiting += 1;
    const next = ["ok", "phantom", "same-as", "drop"].includes(said.get("act")) ? nextOpen(row) : null;
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
    waiting = waiting.then(() => keep(row, said));
  });
  window.addEventListener("beforeunload", (event) => {
    if (nWaiting) event.preventDefault();
  });
}

// ------------------------------------------------------------------ words that leak

function watchWords(form) {
  const told = form.querySelector("[data-leaks-told]");
  let timer = 0;
  let last = 0;
  const ask = async () => {
    const mine = (last += 1);
    try {
      const answer = await fetch(form.dataset.leaks, {
        method: "POST",
        headers: { "X-CSRFToken": form.elements.csrfmiddlewaretoken.value },
        body: new URLSearchParams({ A: form.elements.A?.value ?? "", B: form.elements.B?.value ?? "", shot: form.elements.shot?.value ?? "", text: form.elements.text?.value ?? "", false: form.elements.false?.value ?? "" }),
      });
      if (mine !== last) return;
      const found = await answer.json();
      told.replaceChildren(
        ...found.said.map((line) => made("p", { textContent: line })),
        ...(found.words.length ? ["Words: "] : []),
        ...found.words.flatMap((word) => [made("mark", { className: "leak", textContent: word }), " "]),
      );
      told.dataset.checked = String(mine);
    } catch {
      told.textContent = "The words could not be checked; they are checked again when the card is kept.";
    }
  };
  const typed = () => {
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE_MS);
  };
  form.addEventListener("input", typed);
  // Words that were typed before this script ran.
  if ([...form.querySelectorAll("textarea")].some((one) => one.value !== one.defaultValue)) typed();
}

for (const form of document.querySelectorAll("form[data-leaks]")) watchWords(form);

// Words of cards are kept by their buttons alone: whoever leaves others behind, also with the button of another card, is asked.
let sent = null;
document.addEventListener("submit", (event) => (sent = event.target));
window.addEventListener("beforeunload", (event) => {
  const isUnkept = (form) => form !== sent && [...form.querySelectorAll("textarea")].some((one) => one.value !== one.defaultValue);
  if ([...document.querySelectorAll("form[data-leaks]")].some(isUnkept)) event.preventDefault();
  sent = null;
});

// ------------------------------------------------------------------ where to begin

const marked = sessionStorage.getItem(MARK);
if (marked) showMark(marked);
const named = location.hash ? document.getElementById(location.hash.slice(1)) : null;
const first = named?.matches("[data-row]") ? named : document.querySelector("[data-row]:not(.done)");
const isTyping = isText(document.activeElement); // somebody was quicker than this script
if (first && !isTyping && !document.querySelector(".fault:not([hidden])")) first.focus({ preventScroll: !named });
document.documentElement.dataset.boards = "ready";
