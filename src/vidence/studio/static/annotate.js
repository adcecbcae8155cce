// The form of an item: rows that are added, marks, frames and boxes of the media that fill them, what machines say
// after a save.

import { drawn, made } from "./elements.js";
import { isText, shortcut } from "./keys.js";

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
  if (of("start") !== null) of("start").value = place(start);
  if (of("end") !== null) of("end").value = place(end);
  of("text").focus();
  typed(of("text"));
}

// ------------------------------------------------------------------------- frames that are picked

const framesOf = (field) => [...new Set(field.value.split(/[\s,;]+/).filter((one) => /^\d+$/.test(one)).map(Number))];
const partOf = (row, part) => row.querySelector(`[name^="evidence-"][name$="-${part}"]`);
const sectionOf = (medium) => document.querySelector(`section[data-player][data-medium="${medium}"]`);
const say = (words) => {
  for (const status of document.querySelectorAll(".player-status")) status.textContent = words;
};

/** The row whose frames the next one joins: the one with the focus, else that of oracle frames, else a new one. */
function rowOfFrames(medium) {
  const fits = (row) => row !== null && row !== undefined && (isEmpty(row) || partOf(row, "medium").value === medium);
  const focused = document.activeElement?.closest("#g-evidence [data-row]");
  if (fits(focused)) return focused;
  const group = document.querySelector("#g-evidence");
  if (group === null) return null;
  const rows = [...group.querySelectorAll("[data-rows] > [data-row]")];
  const known = rows.find((row) => partOf(row, "kind").value === "oracle" && fits(row) && partOf(row, "start").value === "");
  const row = known ?? free(group);
  if (row && isEmpty(row)) partOf(row, "kind").value = "oracle";
  return row;
}

/** Add the frame that is painted to a row; a frame that is only on its way cannot be picked. */
function pick(asked = null) {
  const medium = asked === null || isEmpty(asked) ? last : partOf(asked, "medium").value;
  const section = sectionOf(medium);
  if (!section || section.dataset.width !== undefined || document.querySelector("#g-evidence") === null) return;
  if (section.dataset.state !== "painted" || section.dataset.frame === undefined) {
    say("No frame is on screen yet to pick.");
    return;
  }
  const index = Number(section.dataset.frame);
  const row = asked ?? rowOfFrames(medium);
  const field = row && partOf(row, "frames");
  if (!field) return;
  partOf(row, "medium").value = medium;
  const frames = framesOf(field);
  if (!frames.includes(index)) frames.push(index);
  field.value = frames.join(", ");
  typed(field);
  say(`Frame ${index} is picked; there ${frames.length === 1 ? "is 1" : `are ${frames.length}`}.`);
}

function button(text, name, act) {
  const element = made("button", { type: "button", className: "small", textContent: text });
  element.setAttribute("aria-label", name);
  element.addEventListener("click", act);
  return element;
}

/** The picked frames of a row as stills in their order, which two buttons change. */
function drawPicked(row) {
  const field = partOf(row, "frames");
  const section = field && sectionOf(partOf(row, "medium").value || "0");
  if (!field || !section) return;
  const place = field.closest(".field");
  const frames = framesOf(field);
  const shown = place.querySelector(".picked");
  const mark = `${section.dataset.media} ${frames}`;
  if (shown?.dataset.mark === mark) return; // a button that is about to be pressed stays where it is
  shown?.remove();
  if (frames.length === 0) return;
  const write = (next) => {
    field.value = next.join(", ");
    typed(field);
    field.focus();
  };
  const list = made("ol", { className: "picked" });
  list.dataset.mark = mark;
  frames.forEach((index, at) => {
    const src = `${section.dataset.media}/still/${index}.jpg?size=long:160`;
    const line = made("span", { className: "line" }, String(index));
    if (at > 0) line.append(button("‹", `Frame ${index}: one place earlier`, () => write(frames.toSpliced(at, 1).toSpliced(at - 1, 0, index))));
    line.append(button("×", `Frame ${index}: remove it`, () => write(frames.toSpliced(at, 1))));
    list.append(made("li", {}, made("img", { loading: "lazy", alt: `frame ${index}`, src }), line));
  });
  place.append(list);
}

document.addEventListener("keydown", (event) => {
  if (shortcut(event) !== "f" || event.defaultPrevented || isText(event.target) !== event.altKey) return;
  event.preventDefault();
  const focused = document.activeElement?.closest("#g-evidence [data-row]");
  pick(focused && !isEmpty(focused) && partOf(focused, "frames") ? focused : null);
});

// ------------------------------------------------------------------------- boxes on pictures

const SIDES = ["x0", "y0", "x1", "y1"];
let worked = null; // the row of evidence that was written in last
let drawing = null;

const rect = (box, name = "") => drawn("rect", { x: box[0], y: box[1], width: box[2] - box[0], height: box[3] - box[1], class: name });
const boxIn = (row) => {
  const box = SIDES.map((side) => Number.parseFloat(partOf(row, side)?.value ?? ""));
  return box.every(Number.isFinite) && box[2] > box[0] && box[3] > box[1] ? box : null;
};

/** The sheet over a picture, in its pixels; it is made when the player has taken the picture over. */
function sheetOf(section) {
  const stage = section.querySelector(".stage");
  const image = stage?.querySelector("img");
  if (!image || section.dataset.width === undefined) return null;
  let sheet = stage.querySelector(".boxes");
  if (sheet === null) {
    sheet = drawn("svg", { class: "boxes", viewBox: `0 0 ${section.dataset.width} ${section.dataset.height}`, preserveAspectRatio: "none" });
    sheet.setAttribute("aria-hidden", "true");
    stage.append(sheet);
    const lay = () => {
      for (const [side, value] of [["left", image.offsetLeft], ["top", image.offsetTop], ["width", image.offsetWidth], ["height", image.offsetHeight]])
        sheet.style[side] = `${value}px`;
    };
    new ResizeObserver(lay).observe(image);
    lay();
    sheet.addEventListener("pointerdown", (event) => begun(event, section, sheet));
  }
  return sheet;
}

/** Show the boxes of all rows over their pictures, each with the number of its row. */
function drawBoxes() {
  const rows = [...document.querySelectorAll("#g-evidence [data-rows] > [data-row]")];
  for (const section of document.querySelectorAll("section[data-player][data-width]")) {
    const sheet = sheetOf(section);
    if (sheet === null) continue;
    sheet.replaceChildren();
    const size = Math.max(section.dataset.width, section.dataset.height) / 28;
    rows.forEach((row, at) => {
      const box = boxIn(row);
      if (box === null || (partOf(row, "medium").value || "0") !== section.dataset.medium) return;
      const label = drawn("text", { x: box[0] + size / 4, y: box[1] + size, "font-size": size });
      label.textContent = at + 1;
      sheet.append(rect(box, "under"), rect(box), label);
    });
  }
}

function fillBox(medium, box) {
  const group = document.querySelector("#g-evidence");
  const fits = worked?.isConnected && (isEmpty(worked) || partOf(worked, "medium").value === medium);
  const row = fits && SIDES.every((side) => partOf(worked, side)?.value === "") ? worked : group && free(group);
  if (!row) return;
  if (isEmpty(row)) partOf(row, "kind").value = kind;
  partOf(row, "medium").value = medium;
  SIDES.forEach((side, at) => (partOf(row, side).value = String(box[at])));
  partOf(row, "text").focus();
  typed(partOf(row, "x1"));
}

function setDrawing(medium) {
  drawing = medium;
  for (const one of document.querySelectorAll("[data-draw]")) one.setAttribute("aria-pressed", String(one.dataset.draw === medium));
  for (const section of document.querySelectorAll("section[data-player][data-width]"))
    sheetOf(section)?.classList.toggle("drawing", section.dataset.medium === medium);
}

function begun(event, section, sheet) {
  if (drawing === null) return;
  event.preventDefault();
  const size = [Number(section.dataset.width), Number(section.dataset.height)];
  const at = ({ clientX, clientY }) => {
    const { left, top, width, height } = sheet.getBoundingClientRect();
    const found = [((clientX - left) / width) * size[0], ((clientY - top) / height) * size[1]];
    return found.map((value, axis) => Math.round(Math.min(Math.max(value, 0), size[axis])));
  };
  const [x, y] = at(event);
  const shown = rect([x, y, x, y]);
  const between = (other) => [Math.min(x, other[0]), Math.min(y, other[1]), Math.max(x, other[0]), Math.max(y, other[1])];
  sheet.append(shown);
  sheet.setPointerCapture(event.pointerId);
  const moved = (next) => {
    const box = between(at(next));
    for (const [name, value] of [["x", box[0]], ["y", box[1]], ["width", box[2] - box[0]], ["height", box[3] - box[1]]]) shown.setAttribute(name, value);
  };
  const ended = (next) => {
    sheet.removeEventListener("pointermove", moved);
    shown.remove();
    if (next.type !== "pointerup") return;
    const box = between(at(next));
    if (box[2] <= box[0] || box[3] <= box[1]) return;
    setDrawing(null);
    fillBox(section.dataset.medium, box);
  };
  sheet.addEventListener("pointermove", moved);
  sheet.addEventListener("pointerup", ended, { once: true });
  sheet.addEventListener("pointercancel", ended, { once: true });
}

for (const one of document.querySelectorAll("[data-draw]"))
  one.addEventListener("click", () => setDrawing(drawing === one.dataset.draw ? null : one.dataset.draw));
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && drawing !== null) setDrawing(null);
});
form?.addEventListener("focusin", (event) => (worked = event.target.closest("#g-evidence [data-row]") ?? worked));
for (const name of ["input", "change"])
  form?.addEventListener(name, (event) => {
    const row = event.target.closest("#g-evidence [data-row]");
    if (row === null) return;
    drawPicked(row);
    drawBoxes();
  });
document.addEventListener("vidence:frame", () => drawBoxes());
for (const row of document.querySelectorAll("#g-evidence [data-rows] > [data-row]")) drawPicked(row);

document.addEventListener("vidence:frame", (event) => {
  last = mediumOf(event.target);
  marks.set(last, { ...marks.get(last), frame: event.detail.seconds, index: event.detail.index });
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
    if (button.dataset.fill === "frames") {
      pick(button.closest("[data-row]"));
      return;
    }
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
