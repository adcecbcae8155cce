// Boxes of tracks over the picture of a player, where somebody asks for them: those of the painted frame alone.

const KEPT = 8;

function boxesOver(button, section) {
  const told = document.querySelector("[data-boxes-told]");
  const canvas = Object.assign(document.createElement("canvas"), { className: "boxes" });
  canvas.setAttribute("aria-hidden", "true");
  const parts = new Map();
  let size = 0;
  const isOn = () => button.getAttribute("aria-pressed") === "true";
  const picture = () => section.querySelector(".stage > video, .stage > img");

  /** The boxes of a frame: null while they are on their way. */
  function boxesOf(frame) {
    const first = size ? Math.floor(frame / size) * size : frame;
    for (const part of parts.values()) if (part.first <= frame && frame <= part.last) return part;
    if (!parts.has(first)) fetchPart(first);
    return null;
  }

  async function fetchPart(first) {
    parts.set(first, { first: Infinity, last: -1 });
    try {
      const answer = await (await fetch(`${button.dataset.boxes}?first=${first}`)).json();
      if (answer.fault) throw new Error(answer.fault);
      size = answer.last - answer.first + 1;
      parts.set(first, answer);
      for (const key of [...parts.keys()].slice(0, Math.max(parts.size - KEPT, 0))) parts.delete(key);
      draw();
    } catch (error) {
      parts.delete(first);
      if (isOn()) press();
      told.textContent = `The boxes cannot be shown: ${error.message}`;
    }
  }

  /** Lay the canvas over the picture itself, without the bars beside it. */
  function lay(part) {
    const shown = picture().getBoundingClientRect();
    const stage = picture().parentElement;
    const around = stage.getBoundingClientRect();
    const scale = Math.min(shown.width / part.width, shown.height / part.height);
    const [width, height] = [part.width * scale, part.height * scale];
    const dots = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * dots);
    canvas.height = Math.round(height * dots);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    canvas.style.left = `${shown.left - around.left + stage.scrollLeft + (shown.width - width) / 2}px`;
    canvas.style.top = `${shown.top - around.top + stage.scrollTop + (shown.height - height) / 2}px`;
    return canvas.width / part.width;
  }

  function clear(words = "") {
    canvas.getContext("2d").clearRect(0, 0, canvas.width, canvas.height);
    delete canvas.dataset.frame;
    told.textContent = words;
  }

  function draw() {
    if (!isOn()) return;
    const frame = section.dataset.frame === undefined ? null : Number(section.dataset.frame);
    const part = frame === null ? null : boxesOf(frame);
    if (part === null) return clear(frame === null ? "" : `frame ${frame}: boxes are coming …`);
    if (!canvas.isConnected) picture().parentElement.append(canvas);
    const scale = lay(part);
    const pen = canvas.getContext("2d");
    const mine = document.activeElement?.closest?.("[data-row]")?.dataset.track;
    const here = part.frames[frame] ?? [];
    pen.clearRect(0, 0, canvas.width, canvas.height);
    for (const [id, counts, [left, top, right, bottom]] of here) {
      const at = [left * scale, top * scale, (right - left) * scale, (bottom - top) * scale];
      pen.setLineDash(counts ? [] : [6, 4]);
      for (const [colour, width] of [["#000", 5], [id === mine ? "#fff" : "#ffe600", id === mine ? 4 : 2]]) {
        Object.assign(pen, { strokeStyle: colour, lineWidth: width });
        pen.strokeRect(...at);
      }
      const size_px = Math.max(12, 14 * (window.devicePixelRatio || 1));
      pen.font = `${size_px}px sans-serif`;
      const wide = pen.measureText(id).width + 6;
      pen.fillStyle = "#000";
      pen.fillRect(at[0], Math.max(at[1] - size_px - 4, 0), wide, size_px + 4);
      pen.fillStyle = "#ffe600";
      pen.fillText(id, at[0] + 3, Math.max(at[1] - 4, size_px));
    }
    canvas.dataset.frame = String(frame);
    told.textContent = `frame ${frame}: ${here.length ? here.map(([id, counts]) => (counts ? id : `${id} (left out)`)).join(", ") : "nobody"}`;
  }

  function press() {
    const on = !isOn();
    button.setAttribute("aria-pressed", String(on));
    const film = button.closest("details");
    if (on && film) film.open = true;
    if (on) {
      parts.clear(); // what people have said since is in them
      draw();
    } else {
      clear();
      canvas.remove();
    }
  }

  button.hidden = false;
  button.addEventListener("click", press);
  new MutationObserver(draw).observe(section, { attributes: true, attributeFilter: ["data-frame"] });
  new ResizeObserver(draw).observe(section);
  document.addEventListener("focusin", draw);
}

const button = document.querySelector("[data-boxes]");
const section = document.querySelector("[data-player]");
if (button && section) boxesOver(button, section);
