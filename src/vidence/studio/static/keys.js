// Names of pressed keys; `?` opens the list of keys of a page, and `/` goes to its search field.

const FIELD = "input:not([type=range], [type=checkbox], [type=radio], [type=button]), textarea, select, [contenteditable]";

/** Whether an element takes text: there, shortcuts need Alt. */
export const isText = (element) => element instanceof Element && element.closest(FIELD) !== null;

/** The name of a pressed key: a small letter or a sign, with "ctrl+" and "shift+" before it. */
export function pressedKey(event) {
  const letter = event.altKey && event.code.startsWith("Key") ? event.code.slice(3) : event.key;
  const key = letter.length === 1 ? letter.toLowerCase() : letter;
  const isNamed = /^[a-z]$/.test(key) || key === "Enter";
  const shift = event.shiftKey && isNamed ? "shift+" : "";
  return event.ctrlKey || event.metaKey ? `ctrl+${shift}${key.toLowerCase()}` : `${shift}${key}`;
}

/** The shortcut of a pressed key: Shift with a letter is the letter, except for Shift+C. */
export function shortcut(event) {
  const key = pressedKey(event);
  return key === "shift+c" ? key : key.replace(/^shift\+/, "");
}

function list() {
  const keys = document.querySelector("details.keys");
  keys?.toggleAttribute("open");
  return Boolean(keys);
}

function search() {
  const field = document.querySelector("input[type=search], main input[name=q], main input[name=words]");
  field?.focus();
  return Boolean(field);
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || isText(event.target) !== event.altKey) return;
  const act = { "?": list, "/": search }[shortcut(event)];
  if (act?.()) event.preventDefault();
});
