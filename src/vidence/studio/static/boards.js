// Keys of the boards, and the player's frame in the field that follows it.
//
// Each key presses a button of the row that has the focus, or of the page: without this file the buttons do the same.

import { isText, shortcut } from "./keys.js";

const MARK = "vidence.boards.marked";
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

// Words of cards are kept by their buttons alone: whoever leaves others behind, also with the button of another card, is asked.
let sent = null;
document.addEventListener("submit", (event) => (sent = event.target));
window.addEventListener("beforeunload", (event) => {
  const isUnkept = (form) => form !== sent && [...form.querySelectorAll("textarea")].some((one) => one.value !== one.defaultValue);
  if ([...document.querySelectorAll("[data-row] form")].some(isUnkept)) event.preventDefault();
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
