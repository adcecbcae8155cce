// Counting: a click on a person, or C, counts at the painted frame; who was counted keeps a numbered dot.
//
// A dot stands for some frames where a person was counted. What was counted is kept in this browser until it is said with "Done". Without this
// file the fields of the form do the same.

import { drawn, made } from "./elements.js";

const STORE = "vidence.counts.";
const NEAR_FRAMES = 10;
const STEP = 1 / 40;
const FINE = 1 / 200;

/** What this browser keeps of a count that was not said yet; a browser that keeps nothing has none. */
const kept = {
  get(key) {
    try {
      const found = JSON.parse(localStorage.getItem(STORE + key) ?? "null");
      return found !== null && Array.isArray(found.people) ? found : null;
    } catch {
      return null;
    }
  },
  set(key, value) {
    try {
      localStorage.setItem(STORE + key, JSON.stringify(value));
      return true;
    } catch {
      return false;
    }
  },
  drop(key) {
    try {
      localStorage.removeItem(STORE + key);
    } catch {
      // Nothing is kept in this browser.
    }
  },
};

/** The picture over the film: the place that is counted at, a cross, and a dot on each who was counted. */
class Overlay {
  constructor(section, { width, height, shapes, count }) {
    this.section = section;
    this.size = { width, height };
    this.count = count;
    this.cross = null;
    this.svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, class: "dots", tabindex: "0", role: "group" });
    this.svg.setAttribute("aria-label", "Picture: a click counts a person; arrow keys move the cross, C counts there");
    for (const [left, top, wide, high] of shapes)
      this.svg.append(drawn("rect", { x: left, y: top, width: wide, height: high, class: "band" }));
    this.dots = drawn("g", {});
    this.aim = drawn("path", { class: "aim", visibility: "hidden" });
    this.svg.append(this.dots, this.aim);
    this.svg.addEventListener("pointermove", (event) => this.#move(this.#at(event)));
    this.svg.addEventListener("pointerleave", () => document.activeElement !== this.svg && this.#move(null));
    this.svg.addEventListener("focus", () => this.cross ?? this.#move([width / 2, height / 2]));
    this.svg.addEventListener("blur", () => this.#move(null));
    this.svg.addEventListener("click", (event) => count(this.#at(event)));
    this.svg.addEventListener("keydown", (event) => this.#steer(event));
  }

  /** Lie over the picture of the player, wherever its size puts it. */
  lieOver(video) {
    video.closest(".stage").append(this.svg);
    const fit = () => {
      for (const [name, value] of [
        ["left", video.offsetLeft],
        ["top", video.offsetTop],
        ["width", video.offsetWidth],
        ["height", video.offsetHeight],
      ])
        this.svg.style[name] = `${value}px`;
    };
    new ResizeObserver(fit).observe(video);
    fit();
  }

  #at(event) {
    const matrix = this.svg.getScreenCTM();
    if (matrix === null) return null;
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    const { width, height } = this.size;
    return x < 0 || y < 0 || x > width || y > height ? null : [x, y];
  }

  #steer(event) {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const way = ways[event.key];
    if (way === undefined || this.cross === null) return;
    event.preventDefault();
    const { width, height } = this.size;
    const step = width * (event.shiftKey ? FINE : STEP);
    const within = (value, most) => Math.min(Math.max(value, 0), most);
    this.#move([within(this.cross[0] + way[0] * step, width), within(this.cross[1] + way[1] * step, height)]);
  }

  #move(point) {
    this.cross = point;
    this.aim.setAttribute("visibility", point === null ? "hidden" : "visible");
    if (point === null) return;
    const [x, y] = point;
    const arm = this.size.width / 40;
    this.aim.setAttribute("d", `M${x - arm} ${y}H${x + arm}M${x} ${y - arm}V${y + arm}`);
  }

  /** Draw the dots of those who are somewhere in this frame. */
  draw(people, frame) {
    const radius = this.size.width / 60;
    this.dots.replaceChildren(
      ...people.flatMap((one, index) => {
        const at = placeOf(one, frame);
        if (at === null) return [];
        const dot = drawn("g", { class: at.isSure ? "dot" : "dot faint", "data-dot": index + 1 });
        dot.append(drawn("circle", { cx: at.x, cy: at.y, r: radius }));
        const number = drawn("text", { x: at.x, y: at.y, "font-size": radius * 1.3 });
        number.textContent = String(index + 1);
        dot.append(number);
        return [dot];
      }),
    );
  }
}

/** Where somebody who was counted is in a frame; null where that is not known. */
function placeOf(one, frame) {
  if (one.x === null || frame === null) return null;
  const away = Math.abs(frame - one.frame);
  return away <= NEAR_FRAMES ? { x: one.x, y: one.y, isSure: away === 0 } : null;
}

class Counting {
  constructor(form) {
    this.form = form;
    this.fields = form.elements;
    this.section = document.querySelector("[data-player]");
    this.people = [];
    const old = kept.get(form.dataset.counts);
    if (old !== null) {
      this.people = old.people;
      for (const name of ["n", "n_low", "n_high", "note"]) {
        const field = this.fields[name];
        const isTyped = field.value !== field.defaultValue; // before this script ran: newer than what was kept
        if (!isTyped) field.value = old[name] ?? field.value;
      }
    }
    form.querySelector("[data-add]").addEventListener("click", () => this.add(this.overlay?.cross ?? null));
    form.querySelector("[data-back]").addEventListener("click", () => this.back());
    form.querySelector("[data-unsure]").addEventListener("click", () => {
      this.#change("n_high", 1);
      this.show();
    });
    form.addEventListener("input", () => this.#keep());
    this.fields.n.addEventListener("input", () => this.show());
    if (this.section) this.#watch();
    this.show(old === null ? "" : "This is what you counted here before, from this browser. ");
  }

  get frame() {
    const said = this.section?.dataset.frame;
    return said === undefined ? null : Number(said);
  }

  #watch() {
    const { width, height, shapes } = this.form.dataset;
    const options = { width: Number(width), height: Number(height), shapes: JSON.parse(shapes), count: (at) => this.add(at) };
    this.overlay = new Overlay(this.section, options);
    const over = () => {
      const video = this.section.querySelector(".stage > video, .stage > img");
      if (video === null || this.overlay.svg.isConnected) return;
      this.overlay.lieOver(video);
    };
    document.addEventListener("vidence:frame", () => {
      over();
      this.overlay.draw(this.people, this.frame);
    });
    over();
  }

  #change(name, by) {
    const now = Number.parseInt(this.fields[name].value, 10) || 0;
    this.fields[name].value = String(Math.max(0, now + by));
  }

  add(point) {
    const frame = this.frame;
    if (this.section && frame === null) {
      this.#tell("No frame is on screen yet to count a person in.");
      return;
    }
    const one = { frame, x: point?.[0] ?? null, y: point?.[1] ?? null };
    this.people.push(one);
    for (const name of ["n", "n_low", "n_high"]) this.#change(name, 1);
    this.show();
  }

  back() {
    if (!(Number.parseInt(this.fields.n.value, 10) || 0)) return;
    this.people.pop();
    for (const name of ["n", "n_low", "n_high"]) this.#change(name, -1);
    this.show();
  }

  #keep() {
    const { n, n_low: low, n_high: high, note } = this.fields;
    if (!this.people.length && [n, low, high].every((one) => one.value === "0") && !note.value) {
      kept.drop(this.form.dataset.counts);
      return "";
    }
    const value = { people: this.people, n: n.value, n_low: low.value, n_high: high.value, note: note.value };
    return kept.set(this.form.dataset.counts, value)
      ? "Kept in this browser until you press Done."
      : "Not kept: this browser cannot store it. Press Done before you leave.";
  }

  #tell(words) {
    this.form.querySelector("[data-kept]").textContent = words;
  }

  show(before = "") {
    this.fields.frames.value = this.people.map((one) => one.frame).filter((one) => one !== null).join(" ");
    this.form.querySelector("[data-count]").textContent = this.fields.n.value;
    const words = (one) =>
      `frame ${one.frame}${one.x === null ? ", no place" : ""}`;
    this.form.querySelector("[data-counted]").replaceChildren(
      ...this.people.map((one) => made("li", { textContent: words(one) })),
    );
    this.overlay?.draw(this.people, this.frame);
    this.#tell(before + this.#keep());
  }
}

for (const done of document.querySelectorAll("[data-said]")) kept.drop(done.dataset.said);
for (const form of document.querySelectorAll("form[data-counts]")) new Counting(form);
document.documentElement.dataset.counts = "ready";
