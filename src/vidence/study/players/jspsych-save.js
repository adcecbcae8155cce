// Where answers go when a participant has finished: a file that the browser saves. On your server, send
// jsPsych.data.get().json() to it instead; `vidence study close STUDY --jspsych FILE` reads JSON and CSV.
window.videnceSave = (jsPsych, slot) => jsPsych.data.get().localSave("json", `answers-${slot}.json`);
