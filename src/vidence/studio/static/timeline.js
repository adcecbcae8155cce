// The lanes under a player: spans and single frames along the time of the medium.
// Everything is placed by time from the first frame; a click names one exact frame.

import { drawn, made } from "./elements.js";

const WIDTH = 1000;
const HEIGHT = 22;
const SNAP_PX = 6;

const seconds = (value) => `${value.toFixed(3)} s`;

/** What a lane holds, checked: what a page gives may come from any file. */
function checked(lane, table) {
  const frames = (Array.isArray(lane.frames) ? lane.frames : [])
    .filter((one) => Number.isInteger(one) && one >= 0 && one < table.n)
    .sort((a, b) => a - b);
  const spans = (lane.whole === true ? [[0, table.duration]] : Array.isArray(lane.spans) ? lane.spans : [])
    .map(([start, end]) => [Number(start), Number(end)])
    .filter(([start, end]) => Number.isFinite(start) && Number.isFinite(end) && end >= start);
  return { name: String(lane.name ?? "lane"), frames, spans, still: lane.still ? String(lane.still) : "" };
}

export class Timeline {
  /**
   * @param table the times of the frames: n, time(index), at(time), duration
   * @param lanes [{name, frames: [index…], spans: [[start_s, end_s]…], whole: true, still: query of the stills}]
   * @param go told which exact frame is wanted
   * @param stillOf gives the address of a still
   */
  constructor(table, lanes, { go, stillOf, label }) {
    this.table = table;
    this.go = go;
    this.stillOf = stillOf;
    this.lanes = lanes.map((lane) => checked(lane, table));
    this.cursors = [];
    this.marked = [];
    this.element = made("div", { className: "lanes" });
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", `${label}: time line`);
    this.preview = made("figure", { className: "preview", hidden: true }, made("img", { alt: "" }), made("figcaption"));
    for (const lane of this.lanes) this.element.append(this.#row(lane));
    this.element.append(this.preview);
  }

  /** Show where the painted frame is. */
  at(index) {
    const x = this.#x(this.table.time(index));
    for (const line of this.cursors) {
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
    }
  }

  /** Show the marked range; either end may be null. */
  range(start, end) {
    const first = start === null ? 0 : this.table.time(start);
    const last = end === null ? first : this.table.time(end);
    for (const box of this.marked) {
      const has = start !== null || end !== null;
      box.setAttribute("visibility", has ? "visible" : "hidden");
      box.setAttribute("x", this.#x(Math.min(first, last)));
      box.setAttribute("width", Math.max(this.#x(Math.abs(last - first)), 2));
    }
  }

  #x(time) {
    return (time / this.table.duration) * WIDTH;
  }

  #row(lane) {
    const svg = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", class: "lane" });
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", this.#inWords(lane));
    svg.append(drawn("rect", { x: 0, y: 0, width: WIDTH, height: HEIGHT, class: "ground" }));
    const range = drawn("rect", { x: 0, y: 0, width: 0, height: HEIGHT, class: "marked", visibility: "hidden" });
    this.marked.push(range);
    svg.append(range);
    for (const [start, end] of lane.spans) {
      const width = Math.max(this.#x(end - start), 2);
      svg.append(drawn("rect", { x: this.#x(start), y: 4, width, height: HEIGHT - 8, class: "span" }));
    }
    for (const index of lane.frames) {
      const x = this.#x(this.table.time(index));
      const line = drawn("line", { x1: x, x2: x, y1: 2, y2: HEIGHT - 2, class: "shown" });
      line.dataset.frame = index;
      svg.append(line);
    }
    const cursor = drawn("line", { x1: 0, x2: 0, y1: 0, y2: HEIGHT, class: "cursor" });
    this.cursors.push(cursor);
    svg.append(cursor);
    svg.addEventListener("click", (event) => this.go(this.#indexUnder(lane, svg, event)));
    svg.addEventListener("pointermove", (event) => this.#hover(lane, svg, event));
    svg.addEventListener("pointerleave", () => (this.preview.hidden = true));
    const row = made("div", { className: "lane-row" }, made("span", { className: "lane-name", textContent: lane.name }), svg);
    row.append(this.#step(lane, -1), this.#step(lane, 1));
    return row;
  }

  /** The exact frame under the pointer: a frame of the lane where one is near, otherwise the one on screen then. */
  #indexUnder(lane, svg, event) {
    const box = svg.getBoundingClientRect();
    const px = event.clientX - box.left;
    const near = lane.frames
      .map((index) => ({ index, away: Math.abs((this.table.time(index) / this.table.duration) * box.width - px) }))
      .reduce((best, one) => (best === null || one.away < best.away ? one : best), null);
    if (near !== null && near.away <= SNAP_PX) return near.index;
    return this.table.at((px / box.width) * this.table.duration);
  }

  #hover(lane, svg, event) {
    if (event.pointerType === "touch") return;
    const index = this.#indexUnder(lane, svg, event);
    const [image, caption] = this.preview.children;
    const isShown = lane.frames.includes(index);
    const address = this.stillOf(index, isShown && lane.still ? lane.still : "size=long:240");
    caption.textContent = `frame ${index}, ${seconds(this.table.time(index))}${isShown ? `, ${lane.name}` : ""}`;
    if (image.getAttribute("src") !== address) {
      clearTimeout(this.soon);
      this.soon = setTimeout(() => image.setAttribute("src", address), 150);
    }
    this.preview.hidden = false;
  }

  #step(lane, direction) {
    const name = direction < 0 ? "Previous" : "Next";
    const button = made("button", { type: "button", textContent: direction < 0 ? "‹" : "›" });
    button.setAttribute("aria-label", `${name}: ${lane.name}`);
    button.dataset.step = direction;
    button.disabled = !lane.frames.length && !lane.spans.length;
    button.addEventListener("click", () => {
      const found = this.#beside(lane, direction);
      if (found !== undefined) this.go(found);
    });
    return button;
  }

  #beside(lane, direction) {
    const places = [...lane.frames, ...lane.spans.map(([start]) => this.table.at(start))].sort((a, b) => a - b);
    const here = this.here();
    return direction > 0 ? places.find((one) => one > here) : places.findLast((one) => one < here);
  }

  #inWords(lane) {
    const parts = [];
    if (lane.frames.length) parts.push(`${lane.frames.length} frames`);
    if (lane.spans.length) parts.push(lane.spans.map(([start, end]) => `${seconds(start)} to ${seconds(end)}`).join(", "));
    return `${lane.name}: ${parts.join("; ") || "nothing"}`;
  }
}
