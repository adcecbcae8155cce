// The form of an item: rows that are added, marks of the player that fill them, what machines say after a save.

document.documentElement.classList.add("has-script");

const form = document.querySelector("form.write");
const marks = new Map();
let kind = "referred";
let last = "0";

const place = (seconds) => String(Math.round(seconds * 1e6) / 1e6);
const mediumOf = (target) => target.closest("[data-medium]")?.dataset.medium ?? "0";
const typed = (element) => element.dispatchEvent(new Event("input", { bubbles: true }));
const isEmpty = (row) => [...row.querySelectorAll("input:not([type=hidden]), textarea")].every((one) => one.value === "");

/** A new row of a group, as its template has it, under the next number. */
function add(group) {
  const rows = group.querySelector("[data-rows]");
  const fresh = group.querySelector("template[data-fresh]");
  const taken = [...rows.querySelectorAll("[name]")].map((one) => /-(\d+)(?:-|$)/.exec(one.name)).filter(Boolean);
  const n = 1 + Math.max(-1, ...taken.map((found) => Number(found[1])));
  if (n >= 40) return null;
  const row = fresh.content.firstElementChild.cloneNode(true);
  for (const one of [row, ...row.querySelectorAll("*")])
    for (const { name, value } of [...one.attributes]) if (value.includes("__n__")) one.setAttribute(name, value.replaceAll("__n__", n));
  for (const one of row.querySelectorAll(".row-title, label")) one.textContent = one.textContent.replace("__m__", n + 1);
  const name = row.querySelector('[name$="-id"]');
  if (name !== null) name.value = [...crypto.getRandomValues(new Uint8Array(6))].map((one) => one.toString(16).padStart(2, "0")).join("");
  rows.append(row);
  return row;
}

/** The first row of a group that nobody has written in, or a new one. */
function free(group) {
  return [...group.querySelectorAll("[data-rows] > [data-row]")].find(isEmpty) ?? add(group);
}

function fillEvidence(medium, start, end) {
  const group = document.querySelector("#g-evidence");
  const row = group && free(group);
  if (!row) return;
  const of = (part) => row.querySelector(`[name$="-${part}"]`);
  of("medium").value = medium;
  of("kind").value = kind;
  of("start").value = place(start);
  of("end").value = place(end);
  of("text").focus();
  typed(of("end"));
}

document.addEventListener("vidence:frame", (event) => {
  last = mediumOf(event.target);
  marks.set(last, { ...marks.get(last), frame: event.detail.seconds });
});
document.addEventListener("vidence:mark", (event) => {
  last = mediumOf(event.target);
  marks.set(last, { ...marks.get(last), [event.detail.kind]: event.detail.seconds });
});
document.addEventListener("vidence:evidence", (event) => {
  fillEvidence(mediumOf(event.target), event.detail.start.seconds, event.detail.end.seconds);
});
document.addEventListener("vidence:evidence-kind", () => {
  const row = document.activeElement?.closest("#g-evidence [data-row]");
  const field = row?.querySelector('[name$="-kind"]');
  kind = (field?.value ?? kind) === "referred" ? "proactive" : "referred";
  if (field) {
    field.value = kind;
    typed(field);
  }
  for (const status of document.querySelectorAll(".player-status")) status.textContent = `New evidence is ${kind}.`;
});

form?.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button === null) return;
  if ("add" in button.dataset) {
    const group = button.closest("fieldset");
    const range = marks.get(last);
    if (group.id === "g-evidence" && range?.start !== undefined && range.end !== undefined)
      fillEvidence(last, Math.min(range.start, range.end), Math.max(range.start, range.end));
    else add(group)?.querySelector("input:not([type=hidden]), textarea, select")?.focus();
  } else if ("fill" in button.dataset) {
    const found = marks.get(last);
    const seconds = found?.[button.dataset.fill] ?? found?.frame;
    const input = button.parentElement.querySelector("input");
    if (seconds === undefined) return;
    input.value = place(seconds);
    typed(input);
  }
});
form?.addEventListener("vidence:restore-rows", (event) => {
  for (const name of event.detail) {
    const found = /^(wrong|step|evidence|condition|knowledge)-/.exec(name);
    const group = found && form.querySelector(`[data-group="${{ step: "steps", condition: "conditions" }[found[1]] ?? found[1]}"]`);
    for (let tries = 0; group?.querySelector("template") && form.elements[name] === undefined && tries < 40; tries += 1) add(group);
  }
});
form?.addEventListener("vidence:saved", (event) => {
  const panel = document.querySelector("[data-checks]");
  if (panel !== null && typeof event.detail.checks === "string") panel.innerHTML = event.detail.checks;
});
