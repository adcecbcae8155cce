"""The folder for jsPsych in Chromium: a scripted person goes through it, and the data come back.

jsPsych is not part of the project: a stand-in runs the timeline here. Where the variable JSPSYCH names the
package of a copy of the library (7 or 8), the same tests run with that.
"""

import json
import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

from subjects.light_study import RIGHT, light_study
from vidence.cli.main import app
from vidence.report.results import load_run
from vidence.study.folder import read_answers
from vidence.study.jspsych import read_jspsych

# The part of jsPsych's interface that the folder uses; it says what it is.
STAND_IN = """
window.isStandIn = true;
window.initJsPsych = (options) => {
  const rows = [];
  let next = () => {};
  let hasEnded = false;
  const cell = (value) => '"' + String(value ?? "").replaceAll('"', '""') + '"';
  const heads = () => [...new Set(rows.flatMap(Object.keys))];
  const data = {
    json: () => JSON.stringify(rows),
    csv: () => [heads(), ...rows.map((row) => heads().map((head) => row[head]))]
      .map((line) => line.map(cell).join(",") + "\\r\\n").join(""),
    localSave: () => {},
  };
  const end = () => { hasEnded = true; options.on_finish(); };
  const jsPsych = {
    data: { get: () => data },
    finishTrial: (row) => next(row),
    abortExperiment: (text) => { options.display_element.textContent = text; end(); },
    run: async (timeline) => {
      for (const { type, on_finish, ...given } of timeline) {
        if (hasEnded) return;
        const usual = Object.entries(type.info.parameters).map(([name, one]) => [name, one.default]);
        const row = await new Promise((done) => {
          next = done;
          new type(jsPsych).trial(options.display_element, { ...Object.fromEntries(usual), ...given });
        });
        rows.push({ trial_type: type.info.name, trial_index: rows.length, ...row });
        if (on_finish) on_finish(rows.at(-1));
      }
      if (!hasEnded) end();
    },
  };
  return jsPsych;
};
"""
SAVE = """window.videnceSave = (jsPsych, slot) => {
  window.saved = { slot, json: jsPsych.data.get().json(), csv: jsPsych.data.get().csv() }; };"""


def vidence(*words):
    """Run a command in a thread: the page of a test has the event loop of this one."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(app.main, [*map(str, words)], standalone_mode=False).result()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def folder(tmp_path):
    """A study whose frames come at a rate that no screen has, exported and served as a lab would."""
    study = light_study(tmp_path / "study", fps=59.94, n_frames=12)
    out = tmp_path / "lab"
    vidence("study", "export", study.file.folder, "--jspsych", out)
    copy = os.environ.get("JSPSYCH")
    if copy:
        shutil.copy(Path(copy) / "dist/index.browser.js", out / "jspsych.js")
        shutil.copy(Path(copy) / "css/jspsych.css", out)
    else:
        (out / "jspsych.js").write_text(STAND_IN)
        (out / "jspsych.css").write_text("")
    (out / "save.js").write_text(SAVE)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=out)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield study, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def begin(page, url, slot):
    page.goto(f"{url}/index.html?slot={slot}")
    page.get_by_text("You may stop at any time.").wait_for()
    page.get_by_role("button", name="I agree").click()
    page.get_by_role("button", name="Begin").click()
    is_wide = page.viewport_size["width"] > 600
    page.get_by_label("Hold a bank card").fill("428" if is_wide else "270")  # on a narrow page it is upright
    page.get_by_role("button", name="The box is as large").click()
    page.get_by_role("button", name="Next").click()  # what the phase allows


def answer(page, words, pick):
    """One trial: play, describe, choose what `pick` chooses among the choices."""
    if page.get_by_text("Which action is it?").count():
        page.get_by_role("button", name="Play").click()
        page.get_by_role("button", name="Play again").wait_for()
        page.wait_for_function("!document.querySelector('#study button').disabled")
    page.get_by_label("What is being done?").fill(words)
    page.get_by_role("button", name="Next").click()
    assert page.get_by_label("What is being done?").count() == 0  # the words are frozen
    shown = [text.strip() for text in page.locator("fieldset label").all_inner_texts()]
    page.locator("fieldset input").nth(shown.index(pick(shown))).check()
    page.get_by_role("button", name="Next").click()


def person(page, url, slot, *, n_wrong=0):
    """A scripted person who sees what is shown, but for the last `n_wrong` clips."""
    begin(page, url, slot)
    left = 3
    for number in range(5):
        question = page.get_by_text("Which action is it?").count()
        if not question:
            asked = page.locator("p.text").inner_text().split("answer ")[1].strip(".")
            answer(page, "reads on", lambda shown, asked=asked: asked)
            continue
        is_practice = page.get_by_text("Practice", exact=True).count()
        left -= not is_practice
        is_right = is_practice or left >= n_wrong
        answer(
            page,
            f"it moves, {number}",
            lambda shown, r=is_right: next(t for t in shown if t.startswith("walk" if r else "wave")),
        )
        if is_practice:
            page.get_by_text("That is right.").wait_for()
            page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Finish").click()
    page.wait_for_function("window.saved")
    return page.evaluate("window.saved")


def closed(study, paths):
    """The data through the command: run folders as those of pages."""
    vidence("study", "close", study.file.folder, *(word for path in paths for word in ("--jspsych", path)))
    rows = {who: load_run(study.file.folder / "people" / who).rows for who in ("P01", "P02")}
    assert {who: sum(row.correct for row in some) for who, some in rows.items()} == {"P01": 3, "P02": 2}
    assert read_answers(study.file.folder).participants == read_jspsych(study, paths).participants


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_scripted_people_answer_and_their_data_come_back(page, folder, tmp_path, kind):
    study, url = folder
    page.set_viewport_size({"width": 400 if kind == "csv" else 1400, "height": 800})
    paths = []
    for slot, n_wrong in ((1, 0), (2, 1)):
        path = tmp_path / f"answers-{slot}.{kind}"
        path.write_text(person(page, url, slot, n_wrong=n_wrong)[kind], newline="")
        paths.append(path)
    answers = read_jspsych(study, [*paths, paths[0]])
    assert [(one.name, one.state, one.slot) for one in answers.participants] == [
        ("P01", "finished", 0),
        ("P02", "finished", 1),
    ]
    assert {round(one.calibration_px_per_cm, 1) for one in answers.participants} == {50.0}
    asked = [one for one in answers.responses if one.trial.kind == "asked"]
    right = {
        who: sum(r.values["answer"] == RIGHT for r in asked if r.participant == who) for who in ("P01", "P02")
    }
    assert right == {"P01": 3, "P02": 2}
    assert {r.values["words"].split(",")[0] for r in asked} == {"it moves"}
    assert all(r.n_plays == 1 and r.seconds > 0.2 and r.shown_at < r.answered_at for r in asked)
    caught = [r for r in answers.responses if r.trial.kind == "catch"]
    assert [r.values["answer"] == r.trial.expected for r in caught] == [True, True]
    planned = {slot: study.trials(slot) for slot in (0, 1)}
    assert [r.trial for r in answers.responses] == [*planned[0], *planned[1]]
    closed(study, paths)
    late = [event for event in answers.events if event.kind == "late-frames"]
    assert sum(r.late_frames for r in answers.responses) == sum(len(json.loads(e.note)) for e in late)


def test_what_a_participant_receives_names_nothing(page, folder):
    study, url = folder
    bodies = []
    page.on("response", lambda response: bodies.append((response.url, response.text())))
    begin(page, url, 1)
    page.get_by_role("button", name="Play").wait_for()
    everything = " ".join(address + body for address, body in bodies)
    for word in ("secretwalk", ".mp4", "item_id", "catch-", study.file.path.name):
        assert word not in everything
    trials = json.loads(next(body for address, body in bodies if address.endswith("trials.json")))
    kinds = [t.kind for t in study.trials(0)]
    assert [("told" in t) for t in trials["slots"][0]] == [kind == "practice" for kind in kinds]
    assert Axe().run(page).response["violations"] == []
    assert page.evaluate("document.querySelector('canvas').style.width") == "500px"  # 10 cm at 50 px each


def test_a_refusal_keeps_nothing_and_an_address_without_a_slot_says_so(page, folder):
    _, url = folder
    page.goto(f"{url}/index.html?slot=99")
    page.get_by_text("needs ?slot=N at its end, with N from 1 to 2").wait_for()
    page.goto(f"{url}/index.html?slot=1")
    page.get_by_role("button", name="I do not agree").click()
    page.get_by_text("You did not take part.").wait_for()
    assert page.evaluate("window.saved") is None
