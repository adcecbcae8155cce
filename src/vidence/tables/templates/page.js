"use strict";
// Shows and hides questions, and turns their pages. Everything else on the page works without this.
(() => {
  const form = document.getElementById("filters");
  if (!form) return;
  const items = Array.from(document.querySelectorAll("details.item"));
  const count = document.getElementById("shown");
  const pages = document.getElementById("pages");
  const [before, after] = pages.querySelectorAll("button");
  const each = 20;
  const texts = new Map();
  let fitting = items;
  let page = 0;

  const turn = (to) => {
    const n = Math.max(1, Math.ceil(fitting.length / each));
    page = Math.min(Math.max(to, 0), n - 1);
    const shown = new Set(fitting.slice(page * each, (page + 1) * each));
    for (const item of items) item.hidden = !shown.has(item);
    pages.hidden = n === 1;
    pages.querySelector("span").textContent = `page ${page + 1} of ${n}`;
    before.disabled = page === 0;
    after.disabled = page === n - 1;
  };

  // A link to a question, or to its frames, turns to its page.
  const follow = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const item = target && target.closest("details.item");
    if (!item || !item.hidden) return;
    if (!fitting.includes(item)) {  // filtered out
      form.reset();
      setTimeout(follow);
      return;
    }
    turn(Math.floor(fitting.indexOf(item) / each));
    target.scrollIntoView();
  };

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
    fitting = items.filter((item) => {
      // A trial is RUN:STATUS; one and the same trial must fit both.
      const trials = item.dataset.trials.split(" ").map((trial) => trial.split(":"));
      return (
        trials.some(([of, status]) => (!run || of === run) && (!statuses.length || statuses.includes(status))) &&
        (!tag || item.dataset.tags.split(" ").includes(tag)) &&
        words.every((word) => textOf(item).includes(word))
      );
    });
    const n = fitting.length;
    turn(0);
    count.textContent = n === items.length ? `${n} shown` : `${n} of ${items.length} shown`;
  };

  // Paper has no pages to turn: all questions that fit are printed.
  addEventListener("beforeprint", () => { for (const item of items) item.hidden = !fitting.includes(item); });
  addEventListener("afterprint", () => turn(page));
  pages.addEventListener("click", (event) => event.target.value && turn(page + Number(event.target.value)));
  addEventListener("hashchange", follow);
  form.hidden = false;
  form.addEventListener("input", update);
  form.addEventListener("reset", () => setTimeout(update));
  form.addEventListener("submit", (event) => event.preventDefault());
  update();
  follow();
})();
