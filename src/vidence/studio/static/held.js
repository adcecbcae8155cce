// Counts down how long a decision can still be taken back; the server's clock decides, this only says it.

const AGAIN_MS = 1000;

/** Show what was recorded, as soon as the server is there: it may be away just now. */
async function look() {
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (answer.ok) {
      location.reload();
      return;
    }
  } catch {
    // It is asked again.
  }
  setTimeout(look, AGAIN_MS);
}

function count(row) {
  const told = row.querySelector("[data-told]");
  const until = performance.now() + Number(row.dataset.held) * 1000;
  // A reader of the screen has heard it once; the seconds that go by are for the eye.
  told.removeAttribute("role");
  const timer = setInterval(() => {
    const left = Math.ceil((until - performance.now()) / 1000);
    if (left > 0) {
      told.textContent = `${row.dataset.words} in ${left} s`;
      return;
    }
    clearInterval(timer);
    told.textContent = row.dataset.words;
    row.querySelector("button").remove();
    // The page of the item itself has nothing else on it: it shows what was recorded.
    if (document.querySelector("[data-when-taken]")) setTimeout(look, AGAIN_MS);
  }, 250);
}

for (const row of document.querySelectorAll("[data-held]")) count(row);
