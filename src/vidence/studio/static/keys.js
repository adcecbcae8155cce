// The keys of whoever looks: scripts ask what a pressed key usually is, and hear nothing of one that was given away.
//
// <body data-keys='{"off": false, "own": {"k": "z", "n": ""}}'> has the keys that are not the usual ones: here Z
// does what K does usually, and nothing goes to the next row. `?` opens the list of the keys as they are.

const told = JSON.parse(document.body.dataset.keys || '{"off": false, "own": {}}');
const usualOf = new Map(Object.entries(told.own).map(([usual, own]) => [own, usual]));
const FIELD = "input:not([type=range], [type=checkbox], [type=radio], [type=button]), textarea, select, [contenteditable]";

/** Whether something is typed into: keys go there, and shortcuts need Alt. */
export const isText = (element) => element instanceof Element && element.closest(FIELD) !== null;

/** What a key usually is that means the same; undefined where it means nothing to whoever looks. */
export function usual(key) {
  if (told.off) return undefined;
  const found = key === "" ? undefined : usualOf.get(key);
  if (found !== undefined) return found;
  return key in told.own ? undefined : key;
}

/** The key of what a key usually does; empty where it has none. */
export const shown = (key) => (told.off ? "" : (told.own[key] ?? key));

/** The name of a pressed key, as it stands in the list. */
export function pressedKey(event) {
  const letter = event.altKey && event.code.startsWith("Key") ? event.code.slice(3) : event.key;
  const key = letter.length === 1 ? letter.toLowerCase() : letter;
  const isNamed = /^[a-z]$/.test(key) || key === "Enter";
  const shift = event.shiftKey && isNamed ? "shift+" : "";
  return event.ctrlKey || event.metaKey ? `ctrl+${shift}${key.toLowerCase()}` : `${shift}${key}`;
}

/** What a pressed key usually is; Shift with a letter that is no key of its own is the letter. */
export function meant(event) {
  const key = pressedKey(event);
  const bare = key.startsWith("shift+") ? key.slice("shift+".length) : key;
  return usualOf.has(key) || key === bare || isUsual(key) ? usual(key) : usual(bare);
}

/** Keys with Shift that mean something by themselves. */
const isUsual = (key) => key === "shift+c";

async function list() {
  const open = document.querySelector("dialog.keys-shown");
  if (open) {
    open.close();
    return;
  }
  const dialog = document.createElement("dialog");
  dialog.className = "keys-shown";
  dialog.setAttribute("aria-label", "Keys");
  const close = Object.assign(document.createElement("button"), { type: "button", textContent: "Close" });
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  const body = document.createElement("div");
  dialog.append(close, body);
  document.body.append(dialog);
  dialog.showModal();
  try {
    const answer = await fetch("/keys/list", { headers: { Accept: "text/html" } });
    if (!answer.ok || answer.redirected) throw new Error("signed out");
    body.innerHTML = await answer.text();
  } catch {
    body.textContent = "The list could not be fetched; it is on the page Keys.";
  }
}

function search() {
  const field = document.querySelector("input[type=search], main input[name=q], main input[name=words]");
  field?.focus();
  return Boolean(field);
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || isText(event.target) !== event.altKey) return;
  const key = meant(event);
  if (key === "?") list();
  else if (key !== "/" || !search()) return;
  event.preventDefault();
});

// What stands on a page of the usual keys does not hold for whoever has other ones.
if (document.body.dataset.keys)
  for (const one of document.querySelectorAll("details.keys p"))
    one.textContent = told.off
      ? "Your keys are switched off; the page Keys switches them on."
      : `You have changed some keys: ${shown("?") || "the page Keys"} shows those that hold.`;
