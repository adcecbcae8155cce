"""The presets of human baselines, from study.toml to the report, with scripted people in Chromium."""

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from subjects.open_study import SENTINEL, write_questions
from vidence.cli.main import app
from vidence.study.folder import read_answers

N = 3
RIGHT = dict(zip(range(N), ("the red card", "the blue card", "the green card"), strict=False))


class Scripted:
    """A person who does on each page what it asks for; `knows` has the numbers answered right, by phase."""

    def __init__(self, page, knows):
        self.page, self.knows, self.seen = page, knows, []

    def go(self, link):
        self.page.goto(link)
        for _ in range(80):
            heading = self.page.get_by_role("heading", level=1).inner_text()
            self.seen.append(heading)
            if self.step(heading):
                return
        raise AssertionError(f"it never ends: {self.seen}")

    def step(self, heading):
        """Do what a page asks for; whether it was the last."""
        page = self.page
        if page.locator("form[data-trial]").count():
            self.answer(heading)
            return False
        for name in (
            "I agree and take part",
            "It is as wide as the card",
            "Begin",
            "End this part",
            "Finish",
        ):
            button = page.get_by_role("button", name=name, exact=True)
            if button.count():
                with page.expect_navigation():
                    button.click()
                return False
        assert heading == "Thank you", page.locator("main").inner_text()
        return True

    def answer(self, heading):
        page = self.page
        if page.locator("[data-once-play]").count():
            page.locator("[data-once-play]").click()
            page.get_by_text("The video was shown.").wait_for()
        if page.locator("[data-kind=dots]").count():
            page.get_by_role("button", name=re.compile("Play")).click()
            page.locator(".save-bar button:enabled").wait_for()
        if page.locator("textarea[name=words]").count():
            page.locator("textarea[name=words]").fill("It turns a card.")
            with page.expect_navigation():
                page.get_by_role("button", name="Send and go on").click()
        text = page.locator("main").inner_text()
        if asked := re.search(r"give the answer (\w+)", text):
            choice = asked[1]
        else:
            number = int(re.search(r"card is number (\d)", text)[1])
            right = number in self.knows.get(heading, ())
            choice = RIGHT[number if right else (number + 1) % N]
            if heading == "Open book" and not right and page.locator("fieldset input:checked").count():
                choice = ""  # what stands there stays
        if choice:
            page.get_by_label(choice).check()
        with page.expect_navigation():
            page.locator(".save-bar button").click()


def vidence(*words):
    """Run a command in a thread: the page of a test has the event loop of this one."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(app.main, [*map(str, words)], standalone_mode=False).result()


# A machine that has other things to do (R-33).
BUSY = """setInterval(() => {
  const until = performance.now() + 75;
  while (performance.now() < until);
}, 170);"""
# What is added to each preset, and which numbers its two people know: the first more than the second.
MORE = """items = "items.jsonl"
split = ""
consent = ""
n_people = 2
[draw]
n = 3
by = ""
[practice]
n = 0
"""
PRESETS = {
    "exam": ({"Closed book": {0}, "Open book": {0, 1}, "With the knowledge": {2}}, {"Closed book": {0}}),
    "free": ({"Your task": {0, 1}}, {"Your task": {0, 1}}),
    "rewatch": ({"Seen once": {0}, "Watched freely": {0, 1, 2}}, {"Watched freely": {1}}),
    "point-light": ({"Your task": {0, 1, 2}}, {"Your task": {1}}),
    "frames-of": ({"The pictures": {0}, "The whole video": {0, 1, 2}}, {"The pictures": {1}}),
}
# Right answers of all in each phase, of the answers that there are. In the exam's second part nothing is
# taken back: the second person, who knows nothing then, sends what stands in the form.
SCORES = {
    "exam": {"closed": (2, 6), "open": (3, 6), "oracle": (4, 6)},
    "free": {"free": (2, 3)},
    "rewatch": {"once": (1, 6), "free": (4, 6)},
    "point-light": {"lights": (4, 6)},
    "frames-of": {"frames": (2, 6), "whole": (3, 6)},
}


@pytest.mark.parametrize("preset", PRESETS)
def test_two_people_go_through_a_preset_and_its_report_counts_them(browser, serve, tmp_path, preset):
    folder = tmp_path / "study"
    folder.mkdir()
    write_questions(folder, n=N, clips=N)
    runs = ""
    if preset == "frames-of":
        asked = (
            "--data",
            folder / "items.jsonl",
            "--model",
            "scripted:A",
            "--selector",
            "midpoints",
            "--frames",
            4,
        )
        vidence("run", "table", *asked, "--out", tmp_path / "run", "--no-page")
        runs = 'runs = ["../run"]\n'
    (folder / "study.toml").write_text(f'preset = "{preset}"\n{runs}{MORE}')
    vidence("study", "draw", folder)
    served = serve("study", "open", folder, "--json", tmp_path / "links.json", "--port", 0)
    table = next(
        t for t in json.loads((tmp_path / "links.json").read_text())["tables"] if t["name"] == "links"
    )
    links = [line["link"]["text"] for line in table["lines"]]
    assert len(links) == 2
    for link, known in zip(links, PRESETS[preset], strict=True):
        context = browser.new_context()
        if preset == "point-light":
            context.add_init_script(BUSY)
        Scripted(context.new_page(), known).go(link)
        context.close()
    served.process.terminate()
    served.process.wait()
    # A studio is of one process.
    subprocess.run([sys.executable, "-m", "vidence", "study", "close", folder], check=True)
    answers = read_answers(folder)
    assert {one.state for one in answers.participants} == {"finished"}
    vidence("study", "report", folder, "--json", tmp_path / "report.json")
    tables = {t["name"]: t for t in json.loads((tmp_path / "report.json").read_text())["tables"]}
    rows = {line["key"].partition(":")[0]: line for line in tables["study-scores"]["lines"]}
    found = {name: (line["right"]["value"], line["answers"]["value"]) for name, line in rows.items()}
    assert found == SCORES[preset]
    if preset == "point-light":
        asked = [one for one in answers.responses if one.trial.kind == "asked"]
        assert {(one.values["words"], one.n_plays) for one in asked} == {("It turns a card.", 1)}
        assert {round(one.calibration_px_per_cm, 1) for one in answers.participants} == {37.9}
        late = [json.loads(e.note) for e in answers.events if e.kind == "late-frames"]
        assert sum(map(len, late)) == sum(one.late_frames for one in answers.responses) > 0
        assert {play for some in late for play, _, _ in some} == {1}
        n_failed = sum(one.late_frames > 5 for one in asked)
        assert tables["study-time"]["lines"][0]["failed"]["value"] == n_failed
    assert SENTINEL not in json.dumps(table)
