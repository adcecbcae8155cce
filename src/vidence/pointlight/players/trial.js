// One trial: change it, or copy what you need into your own timeline.
(function () {
  "use strict";
  const dots = window.videnceDots;
  const place = document.getElementById("film");
  if (typeof initJsPsych === "function") {
    const jsPsych = initJsPsych({ display_element: place, on_finish: () => jsPsych.data.displayData() });
    jsPsych.run([{ type: jsPsychVidencePointLight, dots, choices: "ALL_KEYS", prompt: "<p>Press a key.</p>" }]);
    return;
  }
  const canvas = videncePointLight.canvasFor(dots);
  const button = document.createElement("button");
  const told = document.createElement("p");
  button.textContent = "Play";
  told.setAttribute("aria-live", "polite");
  place.append(canvas, document.createElement("br"), button, told);
  button.addEventListener("click", () => {
    button.disabled = true;
    told.textContent = "";
    videncePointLight.play(canvas, dots, {
      onEnd: (played) => {
        button.disabled = false;
        window.videncePlayed = played;
        told.textContent = `${played.n_shown} of ${played.n_frames} frames shown, ${played.n_skipped} skipped`;
      },
    });
  });
})();
