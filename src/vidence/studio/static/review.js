// Keys of a review: all right, from row to row, right or wrong, values, the words to the author. The form works without.

import { isText, pressedKey, shortcut } from "./keys.js";

const ROW = "[data-row]";
const form = document.querySelector("form[data-look]");
const rows = () => [...(form ?? document).querySelectorAll(ROW)];
const firstOf = (row) => row.querySelector("input:checked") ?? row.querySelector("input");

function here() {
  const row = document.activeElement?.closest(ROW);
  if (row) return rows().indexOf(row);
  const field = document.activeElement?.closest(".field");
  return field ? rows().findLastIndex((one) => field.contains(one)) : -1;
}

function go(step) {
  const all = rows();
  if (all.length === 0) return;
  const at = here();
  const next = at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + step));
  firstOf(all[next]).focus();
  all[next].scrollIntoView({ block: "nearest" });
}

function pick(key) {
  const row = rows()[here()];
  const choice = row && [...row.querySelectorAll("input[data-key]")].find((one) => one.dataset.key === key);
  const found = choice ?? (/^[1-9]$/.test(key) ? row?.querySelectorAll("input[type=radio]")[Number(key) - 1] : undefined);
  if (!found) return false;
  found.checked = true;
  found.dispatchEvent(new Event("change", { bubbles: true }));
  const note = key === "x" ? row.closest(".field")?.querySelector("[data-note]") : null;
  (note ?? found).focus();
  if (/^[1-9]$/.test(key) && form) toOpen();
  return true;
}

/** The focus goes to the first row or field that has no answer, or to Accept. */
function toOpen() {
  const isOpen = (one) => (one.matches("textarea") ? one.value.trim() === "" : !one.querySelector("input:checked"));
  const open = [...form.querySelectorAll("fieldset[data-row], textarea[data-own]")].find(isOpen);
  const next = open?.querySelector("input") ?? open ?? form.querySelector("button[value=accept]");
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

/** Every row that is open takes its right or yes. */
function allRight() {
  for (const row of form.querySelectorAll("fieldset[data-row]")) {
    const well = row.querySelector("input:checked") ? null : row.querySelector("input[data-key=v]");
    if (well === null) continue;
    well.checked = true;
    well.dispatchEvent(new Event("change", { bubbles: true }));
  }
  toOpen();
}

for (const button of form?.querySelectorAll("[data-all-right]") ?? []) {
  button.hidden = false;
  button.addEventListener("click", allRight);
}

function pressed(event) {
  if (event.defaultPrevented || event.metaKey) return;
  const sent = event.ctrlKey ? pressedKey(event) : undefined;
  if ((sent === "ctrl+enter" || sent === "ctrl+shift+enter") && form?.contains(event.target)) {
    const accept = form.querySelector("button[value=accept]:not([disabled])");
    if (accept === null) return;
    event.preventDefault();
    if (sent === "ctrl+shift+enter") form.elements.namedItem("next").checked = true;
    form.requestSubmit(accept);
    return;
  }
  if (event.ctrlKey || isText(event.target) !== event.altKey) return;
  const key = shortcut(event);
  if (key === "n") go(1);
  else if (key === "b") go(-1);
  else if (key === "a" && form) allRight();
  else if (key === "m" && form) form.elements.namedItem("message").focus();
  else if (!((key === "v" || key === "x" || /^[1-9]$/.test(key)) && pick(key))) return;
  event.preventDefault();
}

document.addEventListener("keydown", pressed);
