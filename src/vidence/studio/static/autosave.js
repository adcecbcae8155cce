// Saves a form while somebody writes in it, and keeps in this browser what the server has not acknowledged.
//
// <form method="post" data-autosave data-draft="NAME"> has the hidden fields `version` and `request`; where it
// is posted with `Accept: application/json`, the server answers {"version", "at"} or 409. Elements inside:
// [data-save-state] says how it stands, [data-save-panel] is where questions to the writer appear. The form sends
// `vidence:saved` (with the answer) and hears `vidence:restore-rows` (the names of fields that it lacks).

import { made } from "./elements.js";
import { pressedKey } from "./keys.js";

const QUIET_MS = 700;
const WAIT_MS = 2500;
const AGAIN_MS = 3000;
const CONTROL = new Set(["csrfmiddlewaretoken", "version", "request", "action", "act", "seen", "opened", "next", "wording", "freezes"]);
const BUTTONS = new Set(["submit", "button", "reset", "image"]);
const isPicked = (element) => element.type === "radio" || element.type === "checkbox";

const newWord = () => [...crypto.getRandomValues(new Uint8Array(16))].map((n) => n.toString(16).padStart(2, "0")).join("");

/** What the server has written into a field: pairs of its name and its values, as FormData has them. */
function rendered(element) {
  const { name, type, value, disabled } = element;
  if (!name || disabled || BUTTONS.has(type) || !("value" in element)) return [];
  if (isPicked(element)) return element.defaultChecked ? [[name, value]] : [];
  if (element.options === undefined) return [[name, element.defaultValue]];
  const chosen = [...element.options].filter((one) => one.defaultSelected);
  if (element.multiple) return chosen.map((one) => [name, one.value]);
  const shown = chosen.at(-1) ?? [...element.options].find((one) => !one.disabled);
  return shown === undefined ? [] : [[name, shown.value]];
}

const isSaid = ([name, value]) => !CONTROL.has(name) && value !== "";

/** What a browser keeps of a form; one that keeps nothing says so. */
const kept = {
  read(name) {
    try {
      return JSON.parse(localStorage.getItem(name));
    } catch {
      return null;
    }
  },
  write(name, value) {
    try {
      localStorage.setItem(name, JSON.stringify(value));
      return true;
    } catch {
      return false;
    }
  },
  drop(name) {
    try {
      localStorage.removeItem(name);
    } catch {
      // Nothing is kept in this browser.
    }
  },
};

class Autosave {
  constructor(form) {
    this.form = form;
    this.state = form.querySelector("[data-save-state]");
    this.panel = form.querySelector("[data-save-panel]");
    this.name = `vidence.draft.${form.dataset.draft}`;
    this.saved = JSON.stringify([...form.elements].flatMap(rendered).filter(isSaid));
    this.timer = null;
    this.isSaving = false;
    this.isStopped = false;
    this.pending = null;
    form.addEventListener("input", () => this.#typed());
    form.addEventListener("change", () => this.#typed());
    form.addEventListener("submit", (event) => this.#submitted(event));
    form.addEventListener("keydown", (event) => this.#pressed(event));
    window.addEventListener("focus", () => this.#again());
    window.addEventListener("online", () => this.#again());
    document.addEventListener("visibilitychange", () => document.hidden && this.save());
    this.#offerKept();
    this.#typed(); // words that were typed before this script ran are not what the server has
  }

  /** The fields as text, in their order; what is empty counts as not there. */
  #fields() {
    return [...new FormData(this.form)].filter(isSaid);
  }

  #written() {
    return JSON.stringify(this.#fields());
  }

  #say(words, isUnsaved = false) {
    if (this.state === null || this.state.textContent === words) return;
    this.state.textContent = words;
    this.state.classList.toggle("unsaved", isUnsaved);
  }

  #typed() {
    if (this.#written() === this.saved) return;
    const isKept = kept.write(this.name, {
      version: Number(this.form.elements.version.value),
      at: new Date().toISOString(),
      fields: this.#fields(),
    });
    this.isKept = isKept;
    if (this.isStopped) return;
    this.#say("saving…");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.save(), QUIET_MS);
  }

  #again() {
    if (!this.isStopped && this.#written() !== this.saved) this.save();
  }

  #pressed(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    const key = pressedKey(event);
    if (key === "ctrl+s") {
      event.preventDefault();
      this.save();
    } else if (key === "ctrl+enter" || key === "ctrl+shift+enter") {
      const button = this.form.querySelector('button[value="submit"]');
      if (button === null) return; // a page of its own keys
      event.preventDefault();
      this.form.requestSubmit(button);
    }
  }

  /** Save what is written now; while one save is on its way the next one waits for it.
   *
   * A save that was sent and not answered may have been kept. It is sent again, as it was and under its word,
   * before anything newer: otherwise the newer one would meet a version that this page does not know.
   */
  async save() {
    clearTimeout(this.timer);
    if (this.isSaving || this.isStopped) return;
    if (this.pending === null) {
      const written = this.#written();
      if (written === this.saved) return;
      const body = new URLSearchParams(new FormData(this.form));
      body.set("request", newWord());
      body.delete("action");
      this.pending = { written, body };
    }
    this.isSaving = true;
    this.pending.body.set("csrfmiddlewaretoken", this.form.elements.csrfmiddlewaretoken.value);
    let answer = null;
    try {
      answer = await fetch(this.form.getAttribute("action") ?? location.href, {
        method: "POST",
        headers: { Accept: "application/json" },
        body: this.pending.body,
        signal: AbortSignal.timeout(WAIT_MS),
      });
      await this.#answered(answer, this.pending.written);
    } catch {
      this.#lost("not saved, kept here", AGAIN_MS);
    } finally {
      this.isSaving = false;
    }
    if (answer?.ok && this.#written() !== this.saved) this.timer = setTimeout(() => this.save(), 0);
  }

  async #answered(answer, written) {
    if (answer.ok) {
      const told = await answer.json();
      this.form.elements.version.value = told.version;
      this.form.elements.request.value = newWord();
      this.saved = written;
      this.pending = null;
      const isAll = this.#written() === written;
      if (isAll) kept.drop(this.name);
      this.panel?.querySelector("[data-signed-out]")?.remove();
      this.#say(isAll ? `saved ${new Date(told.at).toLocaleTimeString([], { hour12: false })}` : "saving…");
      this.form.dispatchEvent(new CustomEvent("vidence:saved", { bubbles: true, detail: told }));
    } else if (answer.status === 401 || answer.status === 403) {
      await this.#signedOut();
    } else if (answer.status === 409) {
      this.#conflict(await answer.json());
    } else if (answer.status === 400) {
      this.pending = null;
      const told = await answer.json().catch(() => ({}));
      this.#lost(`not saved, kept here: ${told.words ?? "the server cannot read it"}`, null);
    } else {
      const told = answer.status === 507 ? await answer.json().catch(() => ({})) : {};
      this.#lost(told.words ? `not saved, kept here: ${told.words}` : "not saved, kept here", AGAIN_MS);
    }
  }

  #lost(words, againMs) {
    this.#say(this.isKept === false ? "not saved, and this browser cannot store it: copy your text" : words, true);
    if (againMs !== null) this.timer = setTimeout(() => this.save(), againMs);
  }

  /** The session is over, or another one has begun: a page of the new one has a new token. */
  async #signedOut() {
    try {
      const page = await fetch(location.href, { headers: { Accept: "text/html" }, signal: AbortSignal.timeout(WAIT_MS) });
      if (page.ok && !page.redirected) {
        const token = new DOMParser().parseFromString(await page.text(), "text/html").querySelector("[name=csrfmiddlewaretoken]");
        const own = this.form.elements.csrfmiddlewaretoken;
        if (token !== null && token.value !== own.value) {
          own.value = token.value;
          this.#lost("not saved, kept here", 0);
          return;
        }
      }
    } catch {
      // The server is gone, too; it is asked again.
    }
    if (this.panel !== null && this.panel.querySelector("[data-signed-out]") === null) {
      const link = made("a", { href: "/sign-in", target: "_blank", rel: "noopener", textContent: "Sign in in another tab" });
      const note = made("div", {}, made("p", { textContent: "You are signed out. Your text is kept here and saved as soon as you sign in again." }), link);
      note.dataset.signedOut = "";
      note.setAttribute("role", "alert");
      this.panel.append(note);
    }
    this.#lost("not saved, kept here: signed out", AGAIN_MS);
  }

  #conflict(told) {
    this.isStopped = true;
    this.#say("not saved, kept here: there is another version", true);
    const words = told.closed
      ? "It was handed in meanwhile, in another tab or by another person. What you wrote here is kept in this browser only."
      : `Version ${told.version} was saved meanwhile, in another tab or on another machine. Nothing is overwritten.`;
    const note = made("div", {}, made("p", { textContent: words }));
    note.setAttribute("role", "alert");
    const save = this.form.querySelector('button[value="save"]');
    if (!told.closed) note.append(made("button", { name: save?.name ?? "action", value: "save", textContent: "Show both" }));
    this.panel?.replaceChildren(note);
  }

  /** A whole page is asked for: a save whose answer did not come yet goes before it. */
  async #submitted(event) {
    clearTimeout(this.timer);
    if (this.isStopped || (this.pending === null && !this.isSaving)) {
      this.isStopped = true;
      return;
    }
    event.preventDefault();
    const button = event.submitter ?? undefined;
    await this.save();
    setTimeout(() => this.form.requestSubmit(button), this.pending === null ? 0 : AGAIN_MS);
  }

  /** Offer what this browser kept of an earlier time; it is never put into the form unasked. */
  #offerKept() {
    const found = kept.read(this.name);
    if (found === null || !Array.isArray(found.fields)) return;
    if (JSON.stringify(found.fields) === this.saved) {
      kept.drop(this.name);
      return;
    }
    const version = Number(this.form.elements.version.value);
    const when = new Date(found.at).toLocaleString([], { hour12: false });
    const words =
      found.version === version
        ? `This browser has an unsaved text of ${when}.`
        : `This browser has an unsaved text of ${when}. It was written on version ${found.version}; the form shows version ${version}.`;
    const note = made("div", {}, made("p", { textContent: words }));
    note.setAttribute("role", "alert");
    const list = made("dl");
    const now = new Map(this.#fields());
    for (const [name, value] of found.fields)
      if (now.get(name) !== value)
        list.append(made("dt", { textContent: name }), made("dd", { className: "text", textContent: value }));
    const use = made("button", { type: "button", textContent: "Put it into the form" });
    use.addEventListener("click", () => {
      note.remove();
      this.#restore(found.fields);
    });
    const drop = made("button", { type: "button", textContent: "Discard it" });
    drop.addEventListener("click", () => {
      kept.drop(this.name);
      note.remove();
    });
    note.append(made("details", {}, made("summary", { textContent: "Show the text" }), list), made("span", { className: "line" }, use, drop));
    this.panel?.append(note);
  }

  #restore(fields) {
    const names = fields.map(([name]) => name);
    this.form.dispatchEvent(new CustomEvent("vidence:restore-rows", { detail: names }));
    for (const element of this.form.elements) {
      if (!element.name || CONTROL.has(element.name) || !("value" in element)) continue;
      if (isPicked(element)) element.checked = false;
      else element.value = "";
    }
    for (const [name, value] of fields) {
      const element = this.form.elements[name];
      if (element && "value" in element) element.value = value;
    }
    this.#typed();
  }
}

for (const form of document.querySelectorAll("form[data-autosave]")) new Autosave(form);
