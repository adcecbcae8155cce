// A player for point-light stimuli that draws dots on a canvas, and a jsPsych plugin around it (7 and 8).
//
// videncePointLight.play(canvas, dots, {repeats, onEnd}) draws by the screen's clock: at each refresh the frame
// that is due, never one twice as fast. `played` tells how many frames were shown and skipped, and which were late:
// `late` has [frame, ms after it was due] of each that missed the refresh after it was due, or was never shown.
// The plugin is jsPsychVidencePointLight; its parameters are described in `info`.
(function (root) {
  "use strict";

  const REFRESH_MS = 1000 / 60 + 3.3; // a screen of 60 Hz, and a little for clocks that differ

  function drawFrame(canvas, dots, number) {
    const context = canvas.getContext("2d", { alpha: false });
    const frame = dots.frames[number];
    const grey = dots.background;
    context.fillStyle = `rgb(${grey}, ${grey}, ${grey})`;
    context.fillRect(0, 0, canvas.width, canvas.height);
    const scale = canvas.width / dots.width_px;
    for (let i = 0; i < dots.dots.length; i += 1) {
      if (!frame.visible[i]) continue;
      const [red, green, blue] = dots.dots[i].rgb;
      context.fillStyle = `rgb(${red}, ${green}, ${blue})`;
      context.beginPath();
      const x = scale * (dots.width_px / 2 + frame.x_px[i]);
      const y = scale * (dots.height_px / 2 - frame.y_px[i]);
      context.arc(x, y, scale * dots.radius_px, 0, 2 * Math.PI);
      context.fill();
    }
  }

  function clear(canvas, dots) {
    const context = canvas.getContext("2d", { alpha: false });
    context.fillStyle = `rgb(${dots.background}, ${dots.background}, ${dots.background})`;
    context.fillRect(0, 0, canvas.width, canvas.height);
  }

  function play(canvas, dots, options = {}) {
    const repeats = options.repeats ?? 1;
    const nFrames = dots.frames.length;
    const played = { n_frames: nFrames, n_shown: 0, n_skipped: 0, late: [], latest_ms: 0, ended: false };
    let begun = null;
    let last = -1;
    let request = 0;
    function step(now) {
      if (begun === null) begun = now;
      // Half a millisecond keeps a refresh that comes a hair too early from showing the frame before.
      const due = Math.floor(((now - begun + 0.5) * dots.fps) / 1000);
      const lateMs = (number) => now - begun - (1000 * number) / dots.fps;
      for (let number = last + 1; number < Math.min(due, nFrames * repeats); number += 1) {
        played.n_skipped += 1;
        played.late.push([number, Math.round(lateMs(number))]);
      }
      if (due >= nFrames * repeats) {
        played.ended = true;
        clear(canvas, dots);
        if (options.onEnd) options.onEnd(played);
        return;
      }
      if (due !== last) {
        played.n_shown += 1;
        played.latest_ms = Math.max(played.latest_ms, lateMs(due));
        if (lateMs(due) > REFRESH_MS) played.late.push([due, Math.round(lateMs(due))]);
        last = due;
        drawFrame(canvas, dots, due % nFrames);
      }
      request = requestAnimationFrame(step);
    }
    request = requestAnimationFrame(step);
    played.stop = () => cancelAnimationFrame(request);
    return played;
  }

  function canvasFor(dots, shownPx) {
    const canvas = document.createElement("canvas");
    canvas.width = dots.width_px;
    canvas.height = dots.height_px;
    canvas.className = "vidence-point-light";
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "moving points of light");
    if (shownPx) canvas.style.width = `${shownPx}px`;
    clear(canvas, dots);
    return canvas;
  }

  root.videncePointLight = { play, drawFrame, canvasFor };

  // What jsPsych calls the types of parameters; its own enumeration is used where the library is there.
  const types = root.jsPsychModule ? root.jsPsychModule.ParameterType : {};

  class PointLightPlugin {
    constructor(jsPsych) {
      this.jsPsych = jsPsych;
    }

    trial(element, trial) {
      const dots = trial.dots;
      const canvas = canvasFor(dots, trial.width_px);
      element.append(canvas);
      if (trial.prompt) {
        const words = document.createElement("div");
        words.innerHTML = trial.prompt;
        element.append(words);
      }
      let listener = null;
      let hasEnded = false;
      const end = (response) => {
        if (hasEnded) return;
        hasEnded = true;
        played.stop();
        if (listener) this.jsPsych.pluginAPI.cancelKeyboardResponse(listener);
        element.replaceChildren();
        this.jsPsych.finishTrial({
          rt: response ? response.rt : null,
          response: response ? response.key : null,
          n_frames: played.n_frames,
          n_shown: played.n_shown,
          n_skipped: played.n_skipped,
          latest_ms: played.latest_ms,
        });
      };
      let given = null;
      const played = play(canvas, dots, {
        repeats: trial.repeats,
        onEnd: () => {
          if (given || trial.ends_with_film) end(given);
        },
      });
      if (trial.choices !== "NO_KEYS") {
        listener = this.jsPsych.pluginAPI.getKeyboardResponse({
          callback_function: (response) => {
            given = given ?? response;
            if (trial.response_ends_trial || played.ended) end(given);
          },
          valid_responses: trial.choices,
          rt_method: "performance",
          persist: false,
          allow_held_key: false,
        });
      }
    }
  }

  PointLightPlugin.info = {
    name: "vidence-point-light",
    version: "1.0.0",
    parameters: {
      dots: { type: types.OBJECT, default: undefined }, // what dots.json holds
      choices: { type: types.KEYS, default: "ALL_KEYS" }, // keys that are answers
      prompt: { type: types.HTML_STRING, default: null }, // shown below the film
      repeats: { type: types.INT, default: 1 }, // how often the film is shown
      width_px: { type: types.INT, default: null }, // as wide as this on the page; null: as in the file
      response_ends_trial: { type: types.BOOL, default: true },
      ends_with_film: { type: types.BOOL, default: false }, // end without an answer when the film is over
    },
    data: {
      rt: { type: types.INT },
      response: { type: types.STRING },
      n_frames: { type: types.INT },
      n_shown: { type: types.INT },
      n_skipped: { type: types.INT },
      latest_ms: { type: types.FLOAT },
    },
  };

  root.jsPsychVidencePointLight = PointLightPlugin;
})(typeof window === "undefined" ? globalThis : window);
