"""A study from its draw to a panel, with scripted people; kills of server and browser; one view."""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from playwright.sync_api import expect

from conftest import need
from subjects.open_study import ONCE, draw_study, plain, write_questions

EXECUTABLE = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
CLIPS = ("intel_one_by_one", "sintel_trailer", "big_buck_bunny")
STUDY = """title = "Three films"
items = "items.jsonl"
media = "{media}"
n_people = 5
consent = "consent.txt"

[draw]
n = 12

[[phases]]
name = "free"
title = "Watch and answer"

[[form]]
name = "answer"
kind = "answer"
title = "Your answer"

[practice]
n = 1

[catch]
n = 2

[exclude]
catch_below = 0.5

[pay]
flat = 4.0
"""


def command(*words, cwd):
    done = subprocess.run(
        [sys.executable, "-m", "vidence", *map(str, words)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode in (0, 3), done.stdout + done.stderr
    return done.stdout + done.stderr


def opened(serve, folder, *more):
    """Open a study; its server, and the links that it printed."""
    path = folder / "links.json"
    served = serve("study", "open", folder, "--port", "0", "--json", path, *more)
    lines = json.loads(path.read_text())["tables"][0]["lines"]
    return served, [line["link"]["text"] for line in lines]


class Solver:
    """A participant who has a keyboard alone."""

    def __init__(self, browser, link, *, sees=True):
        self.context = browser.new_context(viewport={"width": 1000, "height": 800})
        if not sees:  # the films take the server's time, and their frames are tested elsewhere
            self.context.route("**/media/**", lambda route: route.abort())
        self.page = self.context.new_page()
        self.page.goto(link)
        self.press("I agree and take part")

    def press(self, name):
        self.page.get_by_role("button", name=name).focus()
        self.page.keyboard.press("Enter")

    def begin(self):
        expect(self.page.get_by_text("Practice, trial 1")).to_be_visible()
        self.page.keyboard.press("1")
        self.send()
        expect(self.page.get_by_text("The right answer:")).to_be_visible()
        self.page.get_by_role("link", name="Go on").focus()
        self.page.keyboard.press("Enter")
        self.press("Begin")

    def send(self):
        before = self.page.url
        self.page.keyboard.press("Control+Enter")
        self.page.wait_for_url(lambda url: url != before)

    def solve(self, n, choose):
        """Answer some trials; `choose` says of a question which of its options."""
        for _ in range(n):
            expect(self.page.get_by_text(re.compile(r"^Trial \d"))).to_be_visible()
            question = self.page.locator(".asked .words").first.inner_text()
            options = self.page.locator("fieldset.options label").all_inner_texts()
            self.page.keyboard.press(str(choose(question, options) + 1))
            self.send()


@pytest.mark.parity
def test_five_people_solve_a_study_and_stand_beside_two_models(browser, serve, data_dir, tmp_path):
    lines = need(data_dir / "questions.jsonl").read_text().splitlines()
    own = [json.loads(line) for line in lines if any(clip in line for clip in CLIPS)]
    folder = tmp_path / "films"
    folder.mkdir()
    (folder / "items.jsonl").write_text("".join(json.dumps(one) + "\n" for one in own))
    (folder / "study.toml").write_text(STUDY.format(media=data_dir))
    (folder / "consent.txt").write_text("A study of films. You may stop at any time.\n")
    answers = {one["question"]: one["choices"]["ABCDEFGH".index(one["answer"])] for one in own}
    command("study", "draw", "films", cwd=tmp_path)
    links = opened(serve, folder)[1]
    assert len(links) == 5

    def knows(share):
        seen = []

        def choose(question, options):
            if asked := re.search(r"give the answer (\w+)", question):
                return next(i for i, words in enumerate(options) if asked[1] in words)
            seen.append(question)
            right = next(i for i, words in enumerate(options) if answers[question] in words)
            return right if len(seen) <= 12 * share else (right + 1) % len(options)

        return choose

    good, fair, leaves, careless, gone = (Solver(browser, link, sees=n == 0) for n, link in enumerate(links))
    for person in (good, fair, leaves, careless, gone):
        person.begin()
    good.solve(14, knows(1.0))
    fair.solve(14, knows(0.5))
    careless.solve(14, lambda question, options: len(options) - 1 if "answer amber" in question else 0)
    for person in (good, fair, careless):
        person.press("Finish")
        expect(person.page.get_by_role("heading", name="Thank you")).to_be_visible()
    leaves.solve(3, lambda *_: 0)
    leaves.page.get_by_role("link", name="Leave the study").click()
    leaves.press("Leave the study and remove what I wrote")
    gone.solve(5, lambda *_: 0)
    gone.context.close()
    told = command("study", "close", "films", cwd=tmp_path)
    assert "5 people began: 3 finished, 1 withdrawn, 0 declined; left out: P04 (catch_below)" in told
    good.page.goto(links[0])
    expect(good.page.get_by_text("Your answers are kept").first).to_be_visible()
    for model in ("baseline:longest", "baseline:random"):
        out = tmp_path / "runs" / model[9:]
        command("run", "--study", "films", "--model", model, "--out", out, "--no-page", cwd=tmp_path)
    (tmp_path / "panel.toml").write_text(
        'title = "Films"\n[[runs]]\nfolder = "films"\n[[runs]]\nfolder = "runs/longest"\n'
        '[[runs]]\nfolder = "runs/random"\n'
    )
    panel = command("panel", "panel.toml", cwd=tmp_path)
    assert re.search(r"people\b.*75\.0", panel)
    assert re.search(r"excluded: catch_below +1\b", panel), panel
    assert re.search(r"in the scores +2\b", panel)
    assert "Reporting checklist" in panel
    assert "longest" in panel
    assert "random" in panel
    report = command("study", "report", "films", "runs/longest", cwd=tmp_path)
    assert "75.0" in report


def rows_of(folder, query):
    with closing(sqlite3.connect(folder / "studio" / "studio.sqlite3", timeout=20)) as db:
        return db.execute(query).fetchall()


def test_a_video_that_is_seen_once_has_one_view_in_all_tabs(page, serve, tmp_path):
    write_questions(tmp_path, n=2, clips=1)
    draw_study(tmp_path, plain(phases=ONCE, n=2))
    links = opened(serve, tmp_path)[1]
    page.goto(links[0])
    page.get_by_role("button", name="I agree").click()
    page.get_by_role("button", name="Begin").click()
    where, show = page.url, page.get_by_role("button", name="Show the video")
    with page.expect_response(re.compile("/once/")) as first:
        show.click()
    address = first.value.url
    assert first.value.status in (200, 206)
    other = page.context.new_page()
    other.goto(where)
    expect(other.get_by_text("it has been shown")).to_be_visible()
    expect(page.get_by_text("The video was shown.")).to_be_visible(timeout=10_000)
    page.reload()
    expect(page.get_by_text("is shown only once, and it has been shown")).to_be_visible()
    expect(show).to_have_count(0)
    status = "async address => (await fetch(address, {headers: {Range: 'bytes=0-99'}})).status"
    assert page.evaluate(status, address) == 410
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda url: url != where)
    page.go_back()
    expect(show).to_have_count(1)  # that of the next trial: the first one is over
    assert page.url != where
    kinds = [kind for (kind,) in rows_of(tmp_path, "SELECT kind FROM studio_studyeventrow ORDER BY id")]
    assert kinds.count("played") == 1
    assert kinds.count("viewed") <= 1  # none where the machine is so busy that the time of the view is over
    assert "refused-view" in kinds


FROZEN = plain(
    phases='[[phases]]\nname = "free"\ntitle = "Watch and answer"\nlimit_s = 600.0\n',
    more="\n[practice]\nn = 1\n",
    n=2,
).replace(
    "[[form]]",
    '[[form]]\nname = "words"\nkind = "text"\nis_frozen = true\ntitle = "In your words"\n[[form]]',
    1,
)


class Killed:
    """A server and a browser that are killed, as where the power goes, and started again."""

    def __init__(self, serve, chromium, folder, profile) -> None:
        self.serve, self.chromium, self.folder, self.profile = serve, chromium, folder, profile
        self.served, (self.link, *_) = opened(serve, folder)
        self.start_browser()

    def start_browser(self):
        port = self.profile / "DevToolsActivePort"
        port.unlink(missing_ok=True)
        words = [EXECUTABLE, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        words += [f"--user-data-dir={self.profile}", "--remote-debugging-port=0", "about:blank"]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not (port.exists() and port.read_text().count("\n")):
            assert self.process.poll() is None
        at = f"http://127.0.0.1:{port.read_text().splitlines()[0]}"
        self.browser = self.chromium.connect_over_cdp(at)
        self.page = self.browser.contexts[0].new_page()

    def kill_server(self):
        """Kill it, and serve at the same address."""
        os.kill(self.served.process.pid, signal.SIGKILL)
        self.served.process.wait()
        port = self.served.url.rpartition(":")[2]
        self.served = self.serve("study", "open", self.folder, "--port", port)

    def kill_browser(self):
        """Kill it and start it again; where its cookie was not on the disk yet, the operator gives a link."""
        where = self.page.url
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.start_browser()
        self.page.goto(where)
        if not self.page.get_by_text("is not part").count():
            return
        self.page.goto(self.link)
        expect(self.page.get_by_text("already used in another browser")).to_be_visible()
        self.page.goto(self.served.door)
        self.page.goto(f"{self.served.url}/studies/")
        self.page.get_by_role("link", name="Cards").click()
        self.page.get_by_role("button", name="Make another link for P01").click()
        self.link = self.page.locator("code", has_text="/j/").first.inner_text()
        self.page.goto(self.link)
        self.page.get_by_role("button", name="Go on in this browser").click()


@pytest.fixture
def killed(browser, serve, tmp_path):
    """A study whose server and browser can be killed."""
    folder, profile = tmp_path / "study", tmp_path / "profile"
    folder.mkdir()
    profile.mkdir()
    write_questions(folder, n=3, clips=1)
    draw_study(folder, FROZEN)
    made = Killed(serve, browser.browser_type, folder, profile)
    yield made
    os.kill(made.process.pid, signal.SIGKILL)
    made.process.wait()


def left_s(page):
    minutes, seconds = page.locator("[data-clock]").inner_text().removesuffix(" left").split(":")
    return int(minutes) * 60 + int(seconds)


def test_nothing_is_lost_where_server_and_browser_are_killed_at_every_step(killed):
    page = killed.page
    page.goto(killed.link)
    killed.kill_server()
    page.get_by_role("button", name="I agree").click()
    expect(page.get_by_text("Practice, trial 1 of 1")).to_be_visible()
    killed.kill_server()
    killed.kill_browser()
    page = killed.page
    page.get_by_label("In your words").fill("a practised word")
    page.get_by_role("button", name="Send and go on").click()
    expect(page.get_by_text("a practised word")).to_be_visible()
    killed.kill_server()
    page.keyboard.press("2")
    page.get_by_role("button", name="Send the answer").click()
    page.get_by_role("link", name="Go on").click()
    killed.kill_browser()
    page = killed.page
    page.get_by_role("button", name="Begin").click()
    page.get_by_label("In your words").fill("a hand")
    saved = page.locator("[data-save-state]")
    expect(saved).to_have_text(re.compile(r"^saved \d"))
    began, left = page.url, left_s(page)
    killed.kill_server()
    page.get_by_label("In your words").press_sequentially(" turns a card")
    expect(saved).to_have_text(re.compile(r"^saved \d"), timeout=15_000)
    killed.kill_browser()
    page = killed.page
    assert page.url == began
    assert left_s(page) < left
    expect(page.get_by_label("In your words")).to_have_value("a hand turns a card")
    page.get_by_role("button", name="Send and go on").click()
    expect(page.get_by_text("a hand turns a card")).to_be_visible()
    killed.kill_server()
    killed.kill_browser()
    page = killed.page
    expect(page.get_by_text("a hand turns a card")).to_be_visible()
    expect(page.get_by_label("In your words")).to_have_count(0)
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda url: url != began)
    rows = rows_of(killed.folder, "SELECT place, entered FROM studio_responserow ORDER BY place")
    assert [json.loads(entered) for _, entered in rows[:2]] == [
        {"words": "a practised word", "answer": "B"},
        {"words": "a hand turns a card", "answer": "A"},
    ]
