// Tells the server that somebody works on this page: while it is seen, and there was input or playback of late.
// Nothing of it holds a time: the server's clock counts.

const { beat, everyS, inputS } = document.body.dataset;
const SIGNS = ["pointerdown", "pointermove", "keydown", "wheel", "touchstart", "input", "scroll"];
let lastSign = performance.now();
let timer = 0;

function sign() {
  lastSign = performance.now();
}

function isWorking() {
  return performance.now() - lastSign <= Number(inputS) * 1000;
}

async function tell() {
  const token = document.querySelector("input[name=csrfmiddlewaretoken]")?.value;
  if (!token || !isWorking()) return;
  const said = new URLSearchParams({ path: location.pathname, csrfmiddlewaretoken: token });
  try {
    const answer = await fetch(beat, { method: "POST", body: said, keepalive: true });
    // Signed out, or no right to be here: nothing more to tell.
    if (answer.status === 401 || answer.status === 403) clearInterval(timer);
  } catch {
    // The network is away; the next beat says the same.
  }
}

for (const one of SIGNS) document.addEventListener(one, sign, { capture: true, passive: true });
document.addEventListener(
  "timeupdate",
  (event) => {
    if (!event.target.paused) sign();
  },
  true,
);
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") sign();
  tell();
});
timer = setInterval(() => {
  if (document.visibilityState === "visible") tell();
}, Number(everyS) * 1000);
if (document.visibilityState === "visible") tell();
