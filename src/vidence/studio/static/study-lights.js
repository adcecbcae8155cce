// Point lights on the trial page: plays and late frames are told to the server as they happen.
import { tell } from "./study.js";

const MOST_TOLD = 50; // frames in one message
const send = document.querySelector("form[data-trial] .save-bar button");

async function show(section) {
  const { dots, mostPlays, nPlays, widthPx } = section.dataset;
  const answer = await fetch(dots);
  if (!answer.ok) throw new Error(`the server says ${answer.status}`);
  send.disabled = Number(nPlays) === 0;
  window.videnceStudyDots.mount(section, await answer.json(), {
    mostPlays: Number(mostPlays),
    nPlays: Number(nPlays),
    widthPx: Number(widthPx),
    onPlay: () => {
      send.disabled = true;
      tell("play");
    },
    onEnd: async (seen) => {
      const late = seen.late.splice(0);
      while (late.length) {
        const some = late.splice(0, MOST_TOLD);
        await tell("late-frames", { n: some.length, note: JSON.stringify(some) });
      }
      send.disabled = false;
    },
  });
}

for (const section of document.querySelectorAll("[data-kind=dots]"))
  show(section).catch((error) => {
    section.textContent = `The film cannot be loaded: ${error.message}. Reload the page, or report a technical problem below.`;
  });
