"""Three real films become a released set in one sitting with ``--assist``; what hands do is counted."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter

import pytest
from playwright.sync_api import expect

from conftest import need
from vidence.make.herbench.opened_set import OpenedSet
from vidence.studio.bridge.board_sets import BoardVideo

pytestmark = pytest.mark.parity

FILMS = {
    "pets": "pets09_s2l1_view1_768x576",
    "sintel": "sintel_trailer_480x204",
    "bunny": "big_buck_bunny_60s_640x360",
}
CONFIG = """name = "set"
seed = 7
videos = "."
[[sources]]
path = "*.mp4"
licence = "research"
detections = "{video_id}.txt"
[[logs]]
format = "plain"
path = "log.csv"
[tracking]
tracker = "deepsort"
[tracking.refine.filter]
least_area_px = 800.0
[shots]
[cards]
model = "people"
[scenes]
false_model = "rules"
[people]
[release]
unreviewed = true
"""
TASKS = ("aglt", "asii", "megl", "mpdr", "rlpc", "sva", "tso", "ac")
OPTIONS = {"ac": 'options = { alone = "true" }\n'}
# A, B; seen in the crops. Track 44 shows two people.
CARDS = {
    "46": (
        "A woman with curly blond hair. She wears a long black coat and jeans.",
        "This person walks over the lawn beside a companion, and slows down. They go on to the road.",
    ),
    "53": (
        "An older man with thin grey hair. He wears a blue anorak and grey trousers and carries a paper bag.",
        "This person follows the kerb of the road alone. They pass the cones and go straight on.",
    ),
    "8": (
        "A bald man with a dark zipped jacket and light denim jeans.",
        "This person goes up the road, then comes down again and turns. They stop for a moment.",
    ),
    "50": (
        "A slim man with dark brown hair. He wears a short leather jacket over faded blue jeans.",
        "This person walks along the barrier and swings an arm. They turn round near the cones.",
    ),
    "27": (
        "A man with black hair and a grey hood. He has a brown jacket, black trousers and a rolled paper.",
        "This person crosses the wide road alone. They meet another walker near the lamp and pass him.",
    ),
    "26": (
        "A man in a knee-length black coat and black trousers; he wears glasses.",
        "This person goes past the sign to the barrier. They come to a halt behind the cones and look round.",
    ),
}
SHOTS = {
    "sintel": {
        "shot-0001": "Steep mountains covered with white snow rise under a grey sky.",
        "shot-0002": "A woman in a brown hood holds a wooden staff before white mountains.",
        "shot-0004": "An old man with a grey beard sits in a dark hut and looks to the left.",
        "shot-0005": "A young woman with red hair sits in a dark room and listens.",
        "shot-0008": "A red-haired girl runs through a narrow alley between old wooden houses.",
        "shot-0009": "A girl with short red hair looks up in a burning town.",
        "shot-0010": "A small dragon flies over broken roofs under an orange sky.",
        "shot-0011": "A small dragon circles a large brown dragon in yellow clouds.",
        "shot-0012": "The face of a red-haired woman with an open mouth fills the picture.",
        "shot-0013": "A woman with red hair reaches for a small dragon beside a large wing.",
    },
    "bunny": {
        "shot-0002": "Green hedges and a tall blue fir stand on a meadow under a pink sky.",
        "shot-0003": "White flowers stand beside a small pink stream on a green meadow.",
        "shot-0004": "A grey bird with a yellow beak stands on a brown branch.",
        "shot-0006": "A grey rabbit crawls out of a dark burrow and stretches both arms.",
        "shot-0007": "A grey rabbit looks down from a blue sky with white clouds.",
    },
}
LOG = """video_id,start,end,narration,verb,noun
sintel,5.4,9.3,walk through snow,walk,snow
sintel,6.0,8.5,hold staff,hold,staff
sintel,12.1,13.9,tell story,tell,story
sintel,14.1,16.0,hear story,hear,story
sintel,16.6,17.0,run down slope,run,slope
sintel,18.4,21.5,run through alley,run,alley
sintel,22.1,23.8,watch sky,watch,sky
sintel,23.9,25.9,chase dragon,chase,dragon
sintel,26.0,27.4,fly over clouds,fly,cloud
sintel,27.5,28.3,open mouth,open,mouth
sintel,28.4,32.1,reach for dragon,reach,dragon
sintel,32.3,35.0,raise hand,raise,hand
bunny,15.8,18.0,sit on branch,sit,branch
bunny,18.1,19.4,close eye,close,eye
bunny,19.5,20.8,leave branch,leave,branch
bunny,33.0,40.0,sleep in burrow,sleep,burrow
bunny,42.0,44.0,lift head,lift,head
bunny,44.5,47.0,look out of burrow,look,burrow
bunny,47.9,49.5,crawl out of burrow,crawl,burrow
bunny,50.5,52.4,stretch arm,stretch,arm
bunny,52.5,53.4,scratch belly,scratch,belly
bunny,53.5,55.5,stand on grass,stand,grass
bunny,56.5,59.5,sniff air,sniff,air
"""
# When people of the crowd come and go, by the tracks of the data: as lines of the log, and as counts.
GATES = {
    "entered:right": (
        "come in on the right,come,right",
        (11, 42, 115, 133, 219, 229, 421, 462, 502, 570, 656, 690),
    ),
    "left:right": ("leave on the right,leave,right", (147, 208, 363, 372, 393, 403, 519, 615)),
}
LOG += "".join(
    f"pets,{at / 7:.1f},{at / 7 + 0.5:.1f},{words}\n" for words, frames in GATES.values() for at in frames
)
LEAST_QUESTIONS, MOST_ACTS = 60, 100


class Sitting:
    """The command, and hands that do what it names; acts are counted by kind."""

    def __init__(self, folder, page) -> None:
        env = {**os.environ, "PYTHONUNBUFFERED": "1", "BROWSER": "true", "VIDENCE_CACHE": f"{folder}/cache"}
        words = ("make", "herbench", "set.toml", "--assist", "--progress", "none")
        self.folder, self.page, self.acts, self.said = folder, page, Counter[str](), []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "vidence", *words],
            cwd=folder,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def go(self) -> int:
        """Do what is named until nothing is; the exit code."""
        with self.process.stdout as lines:
            for line in lines:
                self.said.append(line)
                if door := re.search(r"http://\S+/enter\S+", line):
                    self.page.goto(door[0])
                    video, board = self.page.url.split("/")[-2:]
                    {"tracks": self.see_tracks, "counts": self.count, "cards": self.write}[board](video)
                    self.press("done", self.page.get_by_role("button", name="Done, go on"))
        return self.process.wait()

    def press(self, kind, button) -> None:
        """Press a button or a link, and wait for the next page."""
        self.acts[kind] += 1
        with self.page.expect_navigation():
            button.click()

    def see_tracks(self, _video) -> None:
        """The bald man went out of sight, and came back: two tracks are one person."""
        at, number = self.page.url, 1
        row = self.page.locator("[data-track='23']")
        while not row.count():
            number += 1
            self.page.goto(f"{at}?page={number}")
        row.locator("select[name=other]").select_option("8")
        self.press("join", row.locator("button[value=join]"))

    def count(self, _video) -> None:
        """Count who comes and goes on the right."""
        for place, (_, frames) in GATES.items():
            self.page.locator("select[name=place]").select_option(place)
            self.press("place", self.page.get_by_role("button", name="Count this"))
            expect(self.page.locator("html[data-counts=ready]")).to_have_count(1)
            form = self.page.locator("form[data-counts]")
            for name in ("n", "n_low", "n_high"):
                form.locator(f"[name={name}]").fill(str(len(frames)))
            form.locator("[name=frames]").fill(" ".join(map(str, frames)))
            self.acts["seen"] += len(frames)
            self.press("count", form.locator("button[value=count]"))

    def write(self, video) -> None:
        """Write the cards of people that one can tell, say whom they fit; a sentence about each shot."""
        at = self.page.url
        for name, texts in CARDS.items() if video == "pets" else ():
            row = self.page.locator(f"[data-track='{name}']")
            for kind, text in zip("AB", texts, strict=True):
                row.locator(f"textarea[name={kind}]").fill(text)
            self.press("card", row.locator("button[value=keep]"))
            self.line_up(name, row)
            self.page.goto(at)
        for shot, text in SHOTS.get(video, {}).items():
            row = self.page.locator(f"#{shot}")
            row.locator("textarea[name=text]").fill(text)
            self.press("scene", row.locator("button[value=keep]"))

    def line_up(self, name, row) -> None:
        """Find the person among everybody, by the pictures."""
        kept = BoardVideo.of(
            OpenedSet.open(self.folder / "made" / "set").video("pets"), self.folder / "pets.mp4"
        )
        frames = [str(at) for at in kept.portraits(kept.opened.tracked.track(name))[::3]]
        row.get_by_role("link", name="Which of them").click()
        for one in self.page.locator("li[data-row]").all():
            shown = [
                re.search(r"frame=(\d+)", img.get_attribute("src"))[1] for img in one.locator("img").all()
            ]
            if shown == frames:
                one.locator("input[name=fits]").check()
        self.press("line-up", self.page.get_by_role("button", name="Save the selection"))
        expect(self.page.get_by_role("status").first).to_contain_text("It fits")


@pytest.fixture
def films(data_dir, tmp_path):
    """A folder of three films, with boxes of a detector for the crowd, and a log of two of them."""
    for name, file in FILMS.items():
        shutil.copy(need(data_dir / "video" / f"{file}.mp4"), tmp_path / f"{name}.mp4")
        (tmp_path / f"{name}.txt").touch()
    shutil.copyfile(need(data_dir / "tracking" / "PETS09-S2L1_det_sort.txt"), tmp_path / "pets.txt")
    (tmp_path / "log.csv").write_text(LOG)
    tasks = [f"[tasks.{one}]\n{OPTIONS.get(one, '')}" for one in TASKS]
    (tmp_path / "set.toml").write_text(CONFIG + "".join(tasks))
    return tmp_path


def test_three_films_are_released_with_few_acts(films, page):
    sitting = Sitting(films, page)
    try:
        code = sitting.go()
    finally:
        if sitting.process.poll() is None:
            sitting.process.send_signal(signal.SIGINT)
    said = "".join(sitting.said)
    assert code == 0, said
    questions = json.loads((films / "made" / "set" / "account.json").read_text())["questions"]
    assert sum(questions.values()) >= LEAST_QUESTIONS, said
    assert set(questions) == {one.upper() for one in TASKS}
    assert f"Release made/set/release/set-1.0.0: {sum(questions.values())} questions." in said
    by_kind = {"join": 1, "place": 2, "seen": 20, "count": 2, "card": 6, "line-up": 6, "scene": 15, "done": 5}
    assert dict(sitting.acts) == by_kind
    assert sitting.acts.total() + LOG.count("\n") - 1 <= MOST_ACTS, "the lines of the log are acts, too"
    words = ("items", "audit", "made/set/items.jsonl", "--no-page", "--json", "audit.json")
    subprocess.run([sys.executable, "-m", "vidence", *words], cwd=films, check=True)
    (card,) = (
        sheet
        for sheet in json.loads((films / "audit.json").read_text())["statements"]
        if sheet["name"] == "card"
    )
    verdicts = {row["key"]: row["values"][0] for row in card["entries"]}
    assert {key: verdict for key, verdict in verdicts.items() if verdict != "good"} == {
        "numbers": "not known",
        "forms": "not known",
    }, "84 questions are too few to tell"
