// The player: every frame by its number, and no number said before its frame is painted.
//
// It upgrades <section data-player data-media="/media/TOKEN" data-lanes="[…]">. A browser is sent to the middle
// of the time that a frame is on screen, out of the table of presentation times; what it painted is read back
// from the time that it reports of the painted frame. Pages listen for `vidence:frame`, `vidence:mark`,
// `vidence:evidence` and `vidence:evidence-kind`, which bubble from the section.

import { made } from "./elements.js";
import { isText, pressedKey } from "./keys.js";
import { Timeline } from "./timeline.js";

const SPEEDS = [0.1, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4];
const JUMP_S = 5;
const FAR_FRAMES = 10;
const UNCONFIRMED_MS = 1000;
const POLL_MS = 300;
const MOST_THUMBS = 24;
const MOST_TRIES = 2;
const LEAST_S = 0.002;
const MOST_SHORT_S = 0.5;

/** What a browser remembers of the viewer's wishes; a browser that keeps nothing has the usual ones. */
const wishes = {
  get(name, usual) {
    try {
      const value = Number.parseFloat(localStorage.getItem(`vidence.player.${name}`));
      return Number.isFinite(value) ? value : usual;
    } catch {
      return usual;
    }
  },
  set(name, value) {
    try {
      localStorage.setItem(`vidence.player.${name}`, String(value));
    } catch {
      // Nothing is kept in this browser.
    }
  },
};

/** When each frame is presented; times are in seconds from the first frame. */
class Table {
  constructor({ n_frames, time_base, first, offset_s, runs }) {
    this.n = n_frames;
    this.tick = time_base[0] / time_base[1];
    this.offset = offset_s;
    this.pts = new Float64Array(n_frames);
    this.pts[0] = first;
    let index = 0;
    for (let run = 0; run < runs.length; run += 2)
      for (let left = runs[run + 1]; left > 0; left -= 1, index += 1) this.pts[index + 1] = this.pts[index] + runs[run];
    const last = n_frames > 1 ? this.pts[n_frames - 1] - this.pts[n_frames - 2] : 0.04 / this.tick;
    this.end = this.pts[n_frames - 1] + last;
    this.duration = (this.end - first) * this.tick;
  }

  time(index) {
    return (this.pts[index] - this.pts[0]) * this.tick;
  }

  /** The middle of a frame's time on the clock of the browser. */
  middle(index) {
    const end = index + 1 < this.n ? this.pts[index + 1] : this.end;
    return this.offset + ((this.pts[index] + end) / 2 - this.pts[0]) * this.tick;
  }

  /** Take the end of the last frame from a browser; false where it ends long before what it should show. */
  endsAt(duration) {
    const end = (duration - this.offset) / this.tick + this.pts[0];
    const last = this.pts[this.n - 1];
    if ((end - last) * this.tick > LEAST_S) this.end = Math.min(this.end, end);
    return (last - end) * this.tick < MOST_SHORT_S;
  }

  /** The last frame that begins at or before a time. */
  at(time) {
    const ticks = (time + 1e-9) / this.tick + this.pts[0];
    let low = 0;
    let high = this.n - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.pts[middle] <= ticks) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The frame with the time that a browser reports as painted; null where no frame has it. */
  painted(mediaTime) {
    const ticks = (mediaTime - this.offset) / this.tick + this.pts[0];
    const below = this.at(mediaTime - this.offset);
    const above = Math.min(below + 1, this.n - 1);
    const index = Math.abs(this.pts[above] - ticks) < Math.abs(this.pts[below] - ticks) ? above : below;
    const steps = [
      index > 0 ? this.pts[index] - this.pts[index - 1] : Infinity,
      index + 1 < this.n ? this.pts[index + 1] - this.pts[index] : this.end - this.pts[index],
    ];
    return Math.abs(this.pts[index] - ticks) < Math.min(...steps) / 4 ? index : null;
  }
}

/** A video element that is asked for frames by number. */
class Film {
  constructor(element, table, told) {
    this.element = element;
    this.table = table;
    this.told = told;
    this.wanted = null;
    this.sent = null;
    this.tries = 0;
    this.index = null;
    this.canConfirm = "requestVideoFrameCallback" in HTMLVideoElement.prototype;
    if (this.canConfirm) this.#listen();
    else element.addEventListener("timeupdate", () => this.wanted === null && this.#lost());
    element.addEventListener("seeked", () => this.#arrived());
    element.addEventListener("error", () => this.#lost());
    for (const name of ["play", "pause", "ended", "ratechange", "volumechange"])
      element.addEventListener(name, () => told.changed());
  }

  get isPaused() {
    return this.element.paused;
  }

  #listen() {
    this.element.requestVideoFrameCallback((_, { mediaTime }) => {
      this.#listen();
      this.#painted(this.table.painted(mediaTime));
    });
  }

  #painted(index) {
    this.index = index;
    // A frame may be painted before the browser says that it has arrived.
    if (this.wanted !== null && !this.#isThere(index)) {
      if (this.element.seeking) return;
      // An earlier order was painted: the newest is still open. What does not come is not asked for for ever.
      if (this.wanted !== this.sent || this.tries < MOST_TRIES) this.#send();
      else this.#lost();
      return;
    }
    clearTimeout(this.late);
    this.wanted = null;
    this.told.painted(index);
  }

  /** Whether what is painted is what was wanted; while playing, frames soon after it are as good. */
  #isThere(index) {
    if (index === this.wanted) return true;
    const isNext = index !== null && index > this.wanted && index - this.wanted < FAR_FRAMES;
    return isNext && !this.element.paused && this.sent === this.wanted;
  }

  go(index) {
    if (index === this.index && this.wanted === null && this.element.paused && !this.element.seeking) {
      this.told.painted(index);
      return;
    }
    this.wanted = index;
    this.sent = this.element.seeking ? this.sent : null;
    this.told.waiting(index);
    if (!this.element.seeking) this.#send();
  }

  #send() {
    this.tries = this.sent === this.wanted ? this.tries + 1 : 0;
    this.sent = this.wanted;
    this.element.currentTime = this.table.middle(this.wanted);
  }

  #arrived() {
    if (this.wanted === null) return;
    if (this.wanted !== this.sent) {
      this.#send();
      return;
    }
    clearTimeout(this.late);
    // Where the browser reports no painted frame, it is asked again; none is claimed.
    this.late = setTimeout(() => {
      if (this.wanted === null) return;
      if (this.canConfirm && this.tries < MOST_TRIES) this.#send();
      else this.#lost();
    }, this.canConfirm ? UNCONFIRMED_MS : 0);
  }

  #lost() {
    clearTimeout(this.late);
    const wanted = this.wanted;
    this.index = null;
    this.wanted = null;
    this.told.lost(wanted, this.table.at(this.element.currentTime - this.table.offset));
  }

  /** Go on with another file that has the same frames. */
  use(table) {
    clearTimeout(this.late);
    this.table = table;
    this.index = this.wanted = this.sent = null;
  }

  play() {
    return this.element.play();
  }

  pause() {
    this.element.pause();
  }
}

/** Images that are asked for by number: a folder of frames, or one image. */
class Pictures {
  constructor(image, table, told, stillOf) {
    this.element = image;
    this.table = table;
    this.told = told;
    this.stillOf = stillOf;
    this.index = null;
    this.wanted = null;
    this.isPaused = true;
  }

  async go(index) {
    this.wanted = index;
    this.told.waiting(index);
    const next = new Image();
    next.src = this.stillOf(index, "size=native");
    try {
      await next.decode();
    } catch {
      if (this.wanted === index) this.told.failed(`frame ${index} cannot be shown`);
      return;
    }
    if (this.wanted !== index) return;
    this.element.src = next.src;
    this.element.alt = `frame ${index}`;
    await this.element.decode().catch(() => undefined);
    if (this.wanted !== index) return;
    this.wanted = null;
    this.index = index;
    requestAnimationFrame(() => requestAnimationFrame(() => this.index === index && this.told.painted(index)));
  }

  async play() {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.told.changed();
    while (!this.isPaused && this.index + 1 < this.table.n) {
      await this.go(this.index + 1);
      await new Promise((done) => setTimeout(done, 1000 / wishes.get("speed", 1)));
    }
    this.pause();
  }

  pause() {
    this.isPaused = true;
    this.told.changed();
  }
}

export class Player {
  constructor(section) {
    this.section = section;
    this.media = section.dataset.media;
    this.label = section.getAttribute("aria-label") ?? section.dataset.label ?? "Player";
    this.start = null;
    this.end = null;
    this.isLooping = false;
    this.isCopy = false;
  }

  /** Fetch the table, wait for a copy where one is needed, and take the section over. */
  async open() {
    this.status = made("p", { className: "player-status" });
    this.status.setAttribute("role", "status");
    this.section.append(this.status);
    try {
      await this.#open();
    } catch (error) {
      this.section.dataset.state = "failed";
      this.status.textContent = `This medium cannot be shown: ${error.message}`;
    }
  }

  async #open() {
    // The browser's own player shows the first frame meanwhile; of a long film the times take seconds, once.
    this.status.textContent = "Reading the frame times.";
    const { kind, plays, table } = await this.#fetch("frames.json");
    this.status.textContent = "";
    this.kind = kind;
    this.base = this.media;
    this.original = new Table(table);
    this.table = this.original;
    if (kind === "video") {
      this.video = this.section.querySelector("video") ?? made("video", { preload: "metadata", playsInline: true });
      if (!plays || !(await this.#loads(`${this.media}/file`)) || !this.#reaches()) await this.#useCopy();
    } else {
      this.image = this.section.querySelector("img") ?? made("img", { alt: "" });
    }
    this.#build();
  }

  async #fetch(name) {
    const answer = await fetch(`${this.media}/${name}`, { headers: { Accept: "application/json" } });
    const said = await answer.json().catch(() => ({ error: `the server answered ${answer.status}` }));
    if (!answer.ok) throw new Error(said.error ?? `the server answered ${answer.status}`);
    return said;
  }

  #loads(address) {
    const video = this.video;
    if (video.getAttribute("src") === address && video.readyState >= 1) return Promise.resolve(video.videoWidth > 0);
    return new Promise((resolve) => {
      video.addEventListener("loadedmetadata", () => resolve(video.videoWidth > 0), { once: true });
      video.addEventListener("error", () => resolve(false), { once: true });
      video.src = address;
      video.load();
    });
  }

  /** Whether this browser can be sent to each frame: some count from the file's own zero and some do not. */
  #reaches() {
    const keepsZero = navigator.userAgentData?.brands.some(({ brand }) => brand === "Chromium") ?? false;
    if (!keepsZero && Math.abs(this.table.offset) > this.table.tick) return false;
    return this.table.endsAt(this.video.duration);
  }

  async #useCopy() {
    this.isCopy = true;
    this.section.dataset.state = "copying";
    this.status.textContent = "This browser cannot show every frame of the file; a copy with the same frames is being made.";
    let copy = await this.#fetch("copy.json?need=1");
    while (copy.state === "waiting" || copy.state === "making") {
      const share = copy.n_frames ? Math.floor((100 * copy.n_done) / copy.n_frames) : 0;
      this.status.textContent = `This browser cannot show every frame of the file; a copy with the same frames is being made: ${share} %`;
      await new Promise((done) => setTimeout(done, POLL_MS));
      copy = await this.#fetch("copy.json?need=1");
    }
    if (copy.state !== "ready") throw new Error(copy.why || "no copy for browsers could be made");
    this.table = new Table((await this.#fetch("copy/frames.json")).table);
    if (!(await this.#loads(`${this.media}/copy/file`)) || !this.#reaches()) throw new Error("this browser cannot play the copy either");
    this.status.textContent = "This is a copy for browsers: the same frames, without sound.";
  }

  stillOf = (index, query) => `${this.media}/still/${index}.jpg${query ? `?${query}` : ""}`;

  #build() {
    const told = {
      painted: (index, guess) => this.#painted(index, guess),
      waiting: (index) => this.#waiting(index),
      changed: () => this.#changed(),
      lost: (wanted, guess) => this.#lost(wanted, guess),
      failed: (why) => (this.status.textContent = why),
    };
    const stage = made("div", { className: "stage" });
    if (this.video) {
      this.video.controls = false;
      this.video.tabIndex = -1;
      this.video.setAttribute("aria-label", `${this.label}: picture`);
      this.video.playbackRate = wishes.get("speed", 1);
      this.video.volume = Math.min(Math.max(wishes.get("volume", 1), 0), 1);
      this.video.addEventListener("click", () => this.toggle());
      this.video.addEventListener("ended", () => this.isLooping && this.replay());
      stage.append(this.video);
      this.shown = new Film(this.video, this.table, told);
    } else {
      stage.classList.add("still");
      stage.append(this.image);
      this.shown = new Pictures(this.image, this.table, told, this.stillOf);
      this.image.addEventListener("click", () => this.zoom());
    }
    this.stage = stage;
    this.timeline = new Timeline(this.table, this.#lanes(), {
      go: (index) => this.go(index),
      stillOf: this.stillOf,
      label: this.label,
    });
    this.timeline.here = () => this.here;
    this.section.prepend(stage, this.#bar(), this.#seekBar());
    this.section.insertBefore(this.timeline.element, this.status);
    if (!this.video && this.table.n > 1) this.section.insertBefore(this.#thumbs(), this.status);
    this.section.classList.add("player");
    this.section.tabIndex = -1;
    this.section.addEventListener("focusin", () => (active = this));
    this.section.addEventListener("pointerdown", () => (active = this));
    this.section.addEventListener("vidence:go", (event) => this.go(event.detail));
    this.#changed();
    this.section.dataset.state = "ready";
    this.go(Math.min(Math.max(Number.parseInt(this.section.dataset.at ?? "0", 10) || 0, 0), this.table.n - 1));
  }

  #lanes() {
    try {
      const said = JSON.parse(this.section.dataset.lanes || "[]");
      return Array.isArray(said) ? said : [];
    } catch {
      this.status.textContent = "The lanes of this medium cannot be read.";
      return [];
    }
  }

  #button(text, name, act, key = "") {
    const keys = key.toUpperCase();
    const button = made("button", { type: "button", textContent: text, title: keys ? `${name} (${keys})` : name });
    button.setAttribute("aria-label", name);
    if (keys) button.setAttribute("aria-keyshortcuts", keys);
    button.addEventListener("click", act);
    return button;
  }

  #bar() {
    this.playButton = this.#button("▶", "Play", () => this.toggle(), "k");
    this.readout = made("span", { className: "readout" });
    this.rangeShown = made("span", { className: "marks" });
    this.loopButton = this.#button("↻", "Loop the marked range", () => this.loop());
    this.loopButton.setAttribute("aria-pressed", "false");
    this.goTo = made("input", { className: "go-to", inputMode: "decimal", size: 9, placeholder: "57 or 1.9s" });
    this.goTo.setAttribute("aria-label", `${this.label}: go to frame, or to seconds with an s`);
    this.goTo.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        this.#goToWritten();
      }
    });
    const bar = made("div", { className: "bar" });
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", `${this.label}: controls`);
    const group = (...parts) => bar.append(made("span", { className: "group" }, ...parts));
    group(
      this.#button("−5 s", "Five seconds back", () => this.jump(-JUMP_S), "j"),
      this.#button("‹", "One frame back", () => this.step(-1), ","),
      this.playButton,
      this.#button("›", "One frame forward", () => this.step(1), "."),
      this.#button("+5 s", "Five seconds forward", () => this.jump(JUMP_S), "l"),
    );
    bar.append(this.readout);
    group(
      this.#button("I", "Mark the start here", () => this.mark("start"), "i"),
      this.#button("O", "Mark the end here", () => this.mark("end"), "o"),
      this.#button("R", "Replay the marked range", () => this.replay(), "r"),
      this.loopButton,
      this.rangeShown,
      this.goTo,
    );
    if (this.video) {
      this.speedShown = made("span", { className: "speed" });
      this.volume = made("input", { type: "range", min: 0, max: 1, step: 0.05, value: this.video.volume });
      this.volume.setAttribute("aria-label", `${this.label}: volume`);
      this.volume.addEventListener("input", () => {
        this.video.volume = Number(this.volume.value);
        wishes.set("volume", this.video.volume);
      });
      group(
        this.#button("slower", "Slower", () => this.faster(-1), "["),
        this.speedShown,
        this.#button("faster", "Faster", () => this.faster(1), "]"),
        this.volume,
      );
    } else {
      bar.append(this.#button("zoom", "Zoom", () => this.zoom()));
    }
    return bar;
  }

  #seekBar() {
    this.slider = made("input", { type: "range", className: "seek", min: 0, max: this.table.n - 1, step: 1, value: 0 });
    this.slider.setAttribute("aria-label", `${this.label}: frame`);
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    return this.slider;
  }

  #thumbs() {
    const n = Math.min(this.table.n, MOST_THUMBS);
    const list = made("ol", { className: "thumbs" });
    for (let i = 0; i < n; i += 1) {
      const index = Math.floor(((2 * i + 1) * this.table.n) / (2 * n));
      const button = this.#button("", `Frame ${index}`, () => this.go(index));
      button.append(made("img", { alt: "", loading: "lazy", src: this.stillOf(index, "size=long:160") }));
      button.append(made("span", { textContent: index }));
      list.append(made("li", {}, button));
    }
    return list;
  }

  /** The frame that is on screen, or is on its way there. */
  get here() {
    return this.shown.wanted ?? this.shown.index ?? this.guess ?? 0;
  }

  #painted(index, guess = null) {
    this.guess = index ?? guess;
    if (index === null) {
      delete this.section.dataset.frame;
      this.section.dataset.state = "unconfirmed";
      this.readout.textContent =
        this.guess === null ? "frame not known" : `about frame ${this.guess}: not confirmed by this browser`;
      return;
    }
    this.section.dataset.frame = index;
    this.section.dataset.state = this.shown.isPaused ? "painted" : "playing";
    this.readout.textContent = this.#inWords(index);
    this.slider.value = index;
    this.slider.setAttribute("aria-valuetext", this.readout.textContent);
    this.timeline.at(index);
    this.section.dispatchEvent(new CustomEvent("vidence:frame", { bubbles: true, detail: this.#place(index) }));
    if (!this.shown.isPaused && this.end !== null && index >= this.#last) this.#rangeEnded();
  }

  /** A frame did not come: the copy has it, where this is not the copy yet. */
  async #lost(wanted, guess) {
    if (this.isCopy || !this.shown.canConfirm) {
      if (this.section.dataset.state !== "copying") this.#painted(null, guess);
      return;
    }
    this.shown.pause();
    try {
      await this.#useCopy();
      this.shown.use(this.table);
      this.timeline.table = this.table;
      this.go(wanted ?? guess ?? 0);
    } catch (error) {
      this.section.dataset.state = "failed";
      this.status.textContent = `This medium cannot be shown: ${error.message}`;
    }
  }

  #waiting(index) {
    if (this.section.dataset.state === "copying") return;
    delete this.section.dataset.frame;
    this.section.dataset.state = "seeking";
    this.readout.textContent = `to frame ${index} …`;
  }

  #changed() {
    const isPaused = this.shown.isPaused;
    this.playButton.textContent = isPaused ? "▶" : "❚❚";
    this.playButton.setAttribute("aria-label", isPaused ? "Play" : "Pause");
    if (this.section.dataset.state === "playing" && isPaused) this.section.dataset.state = "painted";
    if (this.speedShown) this.speedShown.textContent = `${this.video.playbackRate}x`;
  }

  #inWords(index) {
    return `frame ${index} of ${this.table.n} · ${this.table.time(index).toFixed(3)} s`;
  }

  #place(index) {
    return { index, pts: this.original.pts[index], seconds: this.original.time(index), media: this.media };
  }

  go(index) {
    this.shown.go(Math.min(Math.max(index, 0), this.table.n - 1));
  }

  step(n) {
    this.shown.pause();
    this.go(this.here + n);
  }

  jump(by) {
    this.go(this.table.at(Math.max(this.table.time(this.here) + by, 0)));
  }

  toggle() {
    if (this.shown.isPaused) this.shown.play()?.catch?.((error) => (this.status.textContent = error.message));
    else this.shown.pause();
  }

  faster(direction) {
    if (!this.video) return;
    const now = SPEEDS.findIndex((speed) => speed >= this.video.playbackRate);
    this.video.playbackRate = SPEEDS[Math.min(Math.max(now + direction, 0), SPEEDS.length - 1)];
    wishes.set("speed", this.video.playbackRate);
  }

  /** Mark the painted frame; a frame that is only on its way cannot be marked. */
  mark(which) {
    const index = this.shown.wanted === null ? this.shown.index : null;
    if (index === null) {
      this.status.textContent = "No frame is on screen yet to mark.";
      return;
    }
    this[which] = index;
    this.timeline.range(this.start, this.end);
    const said = (one) => (one === null ? "–" : `${one} (${this.table.time(one).toFixed(3)} s)`);
    this.rangeShown.textContent = `${said(this.start)} to ${said(this.end)}`;
    this.status.textContent = `${which === "start" ? "Start" : "End"} marked at ${this.#inWords(index)}`;
    const detail = { kind: which, ...this.#place(index) };
    this.section.dispatchEvent(new CustomEvent("vidence:mark", { bubbles: true, detail }));
  }

  get #first() {
    return Math.min(this.start ?? 0, this.end ?? this.table.n - 1);
  }

  get #last() {
    return Math.max(this.start ?? 0, this.end ?? this.table.n - 1);
  }

  loop() {
    this.isLooping = !this.isLooping;
    this.loopButton.setAttribute("aria-pressed", String(this.isLooping));
  }

  replay() {
    this.go(this.#first);
    this.shown.play()?.catch?.((error) => (this.status.textContent = error.message));
  }

  #rangeEnded() {
    if (this.isLooping) {
      this.go(this.#first);
      return;
    }
    this.shown.pause();
    this.go(this.#last);
  }

  evidence() {
    if (this.start === null || this.end === null) {
      this.status.textContent = "Mark a start (I) and an end (O) first.";
      return;
    }
    const detail = { start: this.#place(this.#first), end: this.#place(this.#last), media: this.media };
    this.section.dispatchEvent(new CustomEvent("vidence:evidence", { bubbles: true, detail }));
  }

  evidenceKind() {
    const detail = { media: this.media };
    this.section.dispatchEvent(new CustomEvent("vidence:evidence-kind", { bubbles: true, detail }));
  }

  zoom() {
    this.stage.classList.toggle("zoomed");
  }

  #goToWritten() {
    const found = /^\s*(\d+(?:\.\d+)?)\s*(s?)\s*$/.exec(this.goTo.value);
    if (found === null || (!found[2] && found[1].includes("."))) {
      this.status.textContent = "Enter a frame, such as 57, or seconds, such as 1.9s.";
      return;
    }
    this.go(found[2] ? this.table.at(Number(found[1])) : Number(found[1]));
    this.goTo.blur();
  }

  askWhere() {
    this.goTo.focus();
    this.goTo.select();
  }
}

let active = null;

const KEYS = {
  k: (player) => player.toggle(),
  j: (player) => player.jump(-JUMP_S),
  l: (player) => player.jump(JUMP_S),
  ",": (player, event) => player.step(event.shiftKey ? -FAR_FRAMES : -1),
  ".": (player, event) => player.step(event.shiftKey ? FAR_FRAMES : 1),
  "[": (player) => player.faster(-1),
  "]": (player) => player.faster(1),
  g: (player) => player.askWhere(),
  r: (player) => player.replay(),
  i: (player) => player.mark("start"),
  o: (player) => player.mark("end"),
  e: (player) => player.evidence(),
  p: (player) => player.evidenceKind(),
};
/** The name in `KEYS` of a pressed key; layouts that have comma and full stop elsewhere are asked by the place, too. */
function named(event) {
  const key = pressedKey(event).replace(/^shift\+/, "");
  if (KEYS[key]) return key;
  if (key === " ") return "k";
  if ("<;".includes(key) || (event.altKey && event.code === "Comma")) return ",";
  if (">:".includes(key) || (event.altKey && event.code === "Period")) return ".";
  return undefined;
}

function pressed(event) {
  if (active === null || !active.shown || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
  if (isText(event.target) !== event.altKey) return;
  if (event.key === " " && event.target instanceof Element && event.target.closest("button, a, summary, input")) return;
  const act = KEYS[named(event)];
  if (act === undefined) return;
  event.preventDefault();
  act(active, event);
}

/** Take over the players below an element that are not taken over yet. */
export function upgrade(root) {
  const asked = "section[data-player]:not([data-state])";
  for (const section of [...(root.matches?.(asked) ? [root] : []), ...root.querySelectorAll(asked)]) {
    section.dataset.state = "opening";
    const player = new Player(section);
    active ??= player;
    player.open();
  }
}

document.addEventListener("keydown", pressed);
document.addEventListener("htmx:load", (event) => {
  if (active !== null && !active.section.isConnected) active = null;
  upgrade(event.target);
});
upgrade(document);
