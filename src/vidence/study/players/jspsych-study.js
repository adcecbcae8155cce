// A study of vidence as a timeline of jsPsych 7 or 8: consent, size of the screen, trials, end.
(async function () {
  "use strict";
  const make = (name, text, more = {}) => Object.assign(document.createElement(name), { textContent: text, ...more });
  const home = document.getElementById("study");
  const types = window.jsPsychModule ? window.jsPsychModule.ParameterType : {};

  // One page of text with its buttons; the row has which was pressed.
  class PagePlugin {
    constructor(jsPsych) { this.jsPsych = jsPsych; }
    trial(place, { row, head, text, buttons }) {
      const end = (more) => { place.replaceChildren(); this.jsPsych.finishTrial({ ...row, ...more, at: new Date().toISOString() }); };
      if (row.what === "calibrated") {
        const box = make("div", "");
        place.append(box);
        window.videnceStudyDots.calibrate(box, (px) => { window.videncePxPerCm = px; end({ px_per_cm: px }); });
        return;
      }
      place.replaceChildren(make("h1", head), make("p", text, { className: "text" }));
      for (const [label, pressed] of buttons) place.append(make("button", label, { onclick: () => end({ pressed }) }));
    }
  }
  PagePlugin.info = { name: "vidence-page", version: "1.0.0", data: {}, parameters: {
    row: { type: types.OBJECT, default: {} }, head: { type: types.STRING, default: "" },
    text: { type: types.STRING, default: "" }, buttons: { type: types.COMPLEX, default: [], array: true } } };

  function field(asked, choices) {
    const box = make("fieldset", "");
    const title = asked.title || asked.name;
    const options = asked.kind === "answer" ? choices : asked.options;
    if (!options.length) {
      const label = make("label", title);
      const words = make("textarea", "", { rows: 3, name: asked.name });
      label.append(words);
      return { box: label, value: () => words.value.trim() };
    }
    box.append(make("legend", title));
    options.forEach((text, i) => {
      const label = make("label", "");
      label.append(make("input", "", { type: "radio", name: asked.name, value: asked.kind === "answer" ? String.fromCharCode(65 + i) : text }), ` ${text}`);
      box.append(label);
    });
    return { box, value: () => (box.querySelector("input:checked") || { value: "" }).value };
  }

  // A trial: the lights, the question, and the fields of the form; what is frozen goes before what follows it.
  class TrialPlugin {
    constructor(jsPsych) { this.jsPsych = jsPsych; }
    trial(place, { row, head, trial, phase, lights }) {
      const shown = new Date(), began = performance.now(), values = {};
      let seen = { n_plays: 0, late: [] };
      const film = make("div", ""), form = make("div", ""), said = make("p", "", { role: "status" });
      const next = make("button", "Next", { type: "button", disabled: Boolean(trial.dots) });
      place.replaceChildren(make("h1", trial.is_practice ? "Practice" : head), film, make("p", trial.question, { className: "text" }), form, next, said);
      const play = async () => {
        const dots = await (await fetch(trial.dots)).json();
        const onEnd = () => { next.disabled = false; };
        const onPlay = () => { next.disabled = true; };
        const widthPx = window.videncePxPerCm ? window.videncePxPerCm * lights.canvas_cm : 0;
        seen = window.videnceStudyDots.mount(film, dots, { mostPlays: phase.most_plays, widthPx, onPlay, onEnd });
      };
      if (trial.dots) play().catch((error) => { said.textContent = `The film cannot be loaded: ${error.message}`; });
      const left = [...phase.fields];
      let asked = [];
      const stage = () => {
        const until = left.findIndex((one) => one.is_frozen);
        asked = left.splice(0, until < 0 ? left.length : until + 1).map((one) => [one, field(one, trial.choices)]);
        form.replaceChildren(...asked.map(([, made]) => made.box));
      };
      const end = () => this.jsPsych.finishTrial({
        ...row, values: JSON.stringify(values), n_plays: seen.n_plays, late: JSON.stringify(seen.late),
        seconds: Number(((performance.now() - began) / 1000).toFixed(3)), shown: shown.toISOString(), at: new Date().toISOString() });
      next.onclick = () => {
        const missing = asked.find(([one, made]) => !one.is_optional && !made.value());
        said.textContent = missing ? `Please fill in: ${missing[0].title || missing[0].name}` : "";
        if (missing) return;
        for (const [one, made] of asked) values[one.name] = made.value();
        if (left.length) { stage(); return; }
        if (!trial.told) { end(); return; }
        form.replaceChildren();
        const own = phase.fields.find((one) => one.kind === "answer");
        said.textContent = own && values[own.name] === trial.told ? "That is right." : `The answer is: ${trial.tells}`;
        next.onclick = end;
      };
      stage();
    }
  }
  TrialPlugin.info = { name: "vidence-trial", version: "1.0.0", data: {}, parameters: {
    row: { type: types.OBJECT, default: {} }, head: { type: types.STRING, default: "" }, trial: { type: types.OBJECT, default: {} },
    phase: { type: types.OBJECT, default: {} }, lights: { type: types.OBJECT, default: {} } } };

  const study = await (await fetch("trials.json")).json();
  const slot = Number(new URLSearchParams(location.search).get("slot"));
  if (!Number.isInteger(slot) || slot < 1 || slot > study.slots.length) {
    home.append(make("p", `This address needs ?slot=N at its end, with N from 1 to ${study.slots.length}.`, { role: "alert" }));
    return;
  }
  let hasDeclined = false; // then nothing is kept
  const jsPsych = window.initJsPsych({ display_element: home,
    on_finish: () => { if (!hasDeclined) window.videnceSave(jsPsych, slot); } });
  const page = (what, head, text, buttons) => ({ type: PagePlugin, row: { study: study.study, slot, what }, head, text, buttons });
  const timeline = [];
  if (study.consent) {
    timeline.push({ ...page("consent", study.title, study.consent, [["I agree", "yes"], ["I do not agree", "no"]]),
      on_finish: (row) => {
        if (row.pressed !== "no") return;
        hasDeclined = true;
        (jsPsych.abortExperiment || jsPsych.endExperiment).call(jsPsych, "You did not take part. You can close this page.");
      } });
  }
  timeline.push(page("began", study.title, study.instructions, [["Begin", "yes"]]));
  if (study.calibrates) timeline.push(page("calibrated", "", "", []));
  let phase = null;
  const trials = study.slots[slot - 1];
  for (const [n, trial] of trials.entries()) {
    if (trial.phase !== phase) {
      phase = trial.phase;
      const { title, aids } = study.phases[phase];
      if (title || aids) timeline.push(page("phase", title, aids && `You may use: ${aids}`, [["Next", "yes"]]));
    }
    timeline.push({ type: TrialPlugin, row: { study: study.study, slot, what: "answered", place: trial.place }, trial,
      head: `${n + 1} of ${trials.length}`,
      phase: study.phases[phase], lights: study });
  }
  timeline.push(page("finished", "Thank you", study.debrief, [["Finish", "yes"]]));
  jsPsych.run(timeline);
})();
