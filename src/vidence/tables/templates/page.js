"use strict";
// Shows and hides questions. Everything else on the page works without this.
(() => {
  const form = document.getElementById("filters");
  if (!form) return;
  const items = Array.from(document.querySelectorAll("details.item"));
  const count = document.getElementById("shown");
  const texts = new Map();

  const textOf = (item) => {
    if (!texts.has(item)) {
      const parts = Array.from(item.querySelectorAll(".find-me"), (part) => part.textContent);
      texts.set(item, parts.join("\n").toLowerCase());
    }
    return texts.get(item);
  };

  const update = () => {
    const wanted = new FormData(form);
    const statuses = wanted.get("status").split(" ").filter(Boolean);
    const tag = wanted.get("tag");
    const run = wanted.get("run");
    const words = String(wanted.get("words") || "").toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    for (const item of items) {
      // A trial is RUN:STATUS; one and the same trial must fit both.
      const trials = item.dataset.trials.split(" ").map((trial) => trial.split(":"));
      const fits =
        trials.some(([of, status]) => (!run || of === run) && (!statuses.length || statuses.includes(status))) &&
        (!tag || item.dataset.tags.split(" ").includes(tag)) &&
        words.every((word) => textOf(item).includes(word));
      item.hidden = !fits;
      n += fits ? 1 : 0;
    }
    count.textContent = n === items.length ? `${n} shown` : `${n} of ${items.length} shown`;
  };

  form.hidden = false;
  form.addEventListener("input", update);
  form.addEventListener("reset", () => setTimeout(update));
  form.addEventListener("submit", (event) => event.preventDefault());
  update();
})();
