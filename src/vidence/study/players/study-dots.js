// Point lights of a study: a canvas with one play button, and the size of the screen measured with a bank card.
// Used by the studio's trial page and by the folder for jsPsych; needs point-light.js.
(function (root) {
  "use strict";
  const CARD_CM = [8.56, 5.398]; // ISO/IEC 7810 ID-1
  const USUAL_PX = 384;

  function element(name, text, more = {}) {
    return Object.assign(document.createElement(name), { textContent: text, ...more });
  }

  // options: widthPx (of the canvas on the page), mostPlays (0: any), nPlays (already), onPlay, onEnd.
  // What is returned counts on: n_plays, and late with [play, frame, ms] of each late frame.
  function mount(place, dots, options = {}) {
    const seen = { n_plays: options.nPlays ?? 0, late: [], isPlaying: false };
    const canvas = root.videncePointLight.canvasFor(dots, options.widthPx || USUAL_PX);
    canvas.style.maxWidth = "100%";
    const button = element("button", "", { type: "button" });
    const left = element("span", "");
    left.setAttribute("aria-live", "polite");
    function show() {
      const most = options.mostPlays || 0;
      button.textContent = seen.n_plays ? "Play again" : "Play";
      button.disabled = seen.isPlaying || (most > 0 && seen.n_plays >= most);
      left.textContent = most ? ` ${Math.max(0, most - seen.n_plays)} of ${most} left` : "";
    }
    button.addEventListener("click", () => {
      seen.n_plays += 1;
      seen.isPlaying = true;
      show();
      if (options.onPlay) options.onPlay(seen);
      root.videncePointLight.play(canvas, dots, {
        onEnd: (played) => {
          for (const [frame, ms] of played.late) seen.late.push([seen.n_plays, frame, ms]);
          seen.isPlaying = false;
          show();
          if (options.onEnd) options.onEnd(seen);
        },
      });
    });
    show();
    const line = element("p", "");
    line.append(button, left);
    place.replaceChildren(canvas, line);
    return seen;
  }

  // A drawn card that is made as large as a real one, upright where the page is narrower than a card may be; onDone
  // gets the pixels of the page in a centimetre.
  function calibrate(place, onDone) {
    const wide = Math.min(900, document.documentElement.clientWidth - 48);
    const [across, down] = wide < 600 ? [...CARD_CM].reverse() : CARD_CM;
    const hold = wide < 600 ? "Hold a bank card upright" : "Hold a bank card";
    const label = element("label", `${hold} against the screen, and move the slider until the box is as large as the card. `);
    const size = element("input", "", { type: "range", min: "120", max: String(wide), step: "1", value: "200" });
    const card = element("div", "", { className: "vidence-card" });
    const button = element("button", "The box is as large", { type: "button" });
    Object.assign(card.style, { border: "2px solid", borderRadius: "12px", boxSizing: "border-box" });
    const show = () => Object.assign(card.style, { width: `${size.value}px`, height: `${(size.value * down) / across}px` });
    size.style.width = "100%";
    size.addEventListener("input", show);
    button.addEventListener("click", () => onDone(Number((size.value / across).toFixed(2))));
    show();
    label.append(size);
    place.replaceChildren(label, card, button);
  }

  root.videnceStudyDots = { mount, calibrate };
})(window);
