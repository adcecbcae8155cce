"""A crowd whose tracks people gave: all six people tasks come out of it, with identities untouched.

Figures pass one another all the time, most wear what somebody else wears, and some go and come back: what a
detector and a tracker would make of it is another matter.
"""

import csv
import json
import re
from collections import Counter
from pathlib import Path

import msgspec
import numpy as np
import pytest

from conftest import IS_THOROUGH
from subjects.streets import FIGURE_PX, HEIGHT_PX, WIDTH_PX, Passer, Street, write_street
from subjects.task_claims import true_options
from vidence.ask.phantom.scene import LOOKS
from vidence.engine import engine
from vidence.errors import UsageError
from vidence.make.herbench.config import SourceRule
from vidence.make.makers import herbench
from vidence.make.pipeline.material import Draft
from vidence.make.pipeline.session import BuildContext, MakeOverrides
from vidence.records import Reply

N_PEOPLE, FPS, N_FRAMES = (90, 8, 480) if IS_THOROUGH else (45, 8, 240)
CONFIG = """name = "crowd"
seed = 3

[[sources]]
path = "crowd.mp4"
tracks = "mot:{video_id}-gt.txt"
cards = "{video_id}-cards.csv"

[tracking.pick]
n_tracks = 24

[models]
tasks = "scripted:tasks"

[tasks.rlpc]
per_video = 40
[tasks.mpdr]
per_video = 10
[tasks.megl]
per_video = 10
structures = ["exits", "entries", "through"]
[tasks.aglt]
per_video = 10
[tasks.agbi]
per_video = 4
[tasks.agar]
per_video = 4
"""
COLOURS = ["crimson", "emerald", "cobalt", "amber", "violet", "ivory", "teal", "maroon", "olive", "silver"]
COATS = ["anorak", "blazer", "cardigan", "poncho", "tunic", "parka", "waistcoat", "kimono", "hoodie"]
HAIR = ["braids", "ponytail", "fringe", "curls", "bun", "mohawk", "plait", "crop", "bob", "perm"]
HELD = ["umbrella", "satchel", "guitar", "lantern", "kite", "basket", "trumpet", "easel", "sledge"]


def planned() -> Street:
    """About a dozen people at once, from side to side."""
    rng = np.random.default_rng(11)
    right, bottom = WIDTH_PX - FIGURE_PX[0] - 1, HEIGHT_PX - FIGURE_PX[1] - 1
    people = []
    for i in range(N_PEOPLE):
        n_frames = int(rng.integers(4 * FPS, 9 * FPS))
        first = int(rng.integers(FPS, N_FRAMES - FPS - n_frames))
        down = float(rng.uniform(0.2, 0.8) * bottom)
        comes, goes = ("left", "right") if i % 2 else ("right", "left")
        sides = {"left": 1.0, "right": float(right)}
        people.append(
            Passer(
                look=i % len(LOOKS),
                first_frame=first,
                last_frame=first + n_frames - 1,
                enters=comes,
                leaves=goes,
                start_px=(sides[comes], down),
                end_px=(sides[goes], down),
            )
        )
    return Street(name="crowd", passers=tuple(people), n_frames=N_FRAMES, fps=FPS)


class Author:
    """Writes a question of its own for every person, always the same."""

    looks, by_item, max_in_flight, identity = True, False, None, "author"

    async def reply(self, request) -> Reply:
        said = {
            "possible": True,
            "question": "What does this person do near the others?",
            "answer": "Walks straight past",
            "distractors": ["Waves", "Sits down", "Turns round", "Ties a lace"],
        }
        return Reply(text=json.dumps(said))

    async def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def crowd(tmp_path_factory) -> Path:
    """The film, its tracks as ground truth with classes, and a card of everybody."""
    folder, street = tmp_path_factory.mktemp("crowd"), planned()
    write_street(street, folder)
    lines = []
    for number, one in enumerate(street.passers, start=1):
        for frame in range(one.first_frame, one.last_frame + 1):
            left, top, right, bottom = one.box_px(frame)
            box = f"{left:.2f},{top:.2f},{right - left:.2f},{bottom - top:.2f}"
            lines.append(f"{frame + 1},{number},{box},1,1,1\n")
    (folder / "crowd-gt.txt").write_text("".join(lines))
    with (folder / "crowd-cards.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["track_id", "kind", "text"])
        for i in range(N_PEOPLE):
            words = [f"{COLOURS[i % 10]} {COATS[i % 9]}", f"{HAIR[i // 9]} hair", f"{HELD[(i * 7) % 9]}"]
            rows.writerow([i + 1, "A", f"{words[0].capitalize()}, {words[1]}, holding a {words[2]}."])
            rows.writerow(
                [i + 1, "B", "They cross the frame on a straight line. No stop is made on the way."]
            )
    (folder / "crowd.toml").write_text(CONFIG)
    return folder


def made(folder: Path, out: str, config: str = "crowd.toml"):
    context = BuildContext(cache_root=folder / "cache", memory=folder / f"{out}.sqlite")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(engine, "create", lambda kind, spec: Author())
        return herbench.create().make(
            folder / config, overrides=MakeOverrides(out=folder / out), context=context
        )


@pytest.fixture(scope="module")
def drafts(crowd) -> list[Draft]:
    built = made(crowd, "made")
    stages = {one.stage: one for one in built.account.stages}
    assert stages["tracks"].n_in == N_PEOPLE  # nobody joined, nobody dropped for looks
    assert set(stages["tracks"].dropped) <= {"not-picked"}
    lines = (crowd / "made" / "drafts.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Draft) for line in lines]


def test_all_six_people_tasks_come_out_of_a_crowd(drafts):
    counts = Counter(one.task for one in drafts)
    assert counts.keys() == {"RLPC", "MPDR", "MEGL", "AGLT", "AGBI", "AGAR"}
    assert min(counts.values()) >= 2


def test_counts_are_those_of_the_plan(drafts):
    """Recounted from the plan, by code that knows nothing of tracks."""
    counted = [one for one in drafts if one.task == "RLPC"]
    assert {one.structure for one in counted} >= {"entered", "crossed", "visited"}
    for one in counted:
        assert true_options(one, planned().material()) == [one.answer_index], one.question


def test_tracks_that_cannot_be_of_the_video_stop_the_making(vidence, crowd):
    for name in ("crowd.mp4", "crowd-cards.csv"):
        (vidence.folder / name).write_bytes((crowd / name).read_bytes())
    (vidence.folder / "crowd-gt.txt").write_text("1,1,5,5,20,40,1\n900,1,5,5,20,40,1\n")
    (vidence.folder / "crowd.toml").write_text(CONFIG.replace("scripted:tasks", "phantom:writer"))
    done = vidence("make", "herbench", "crowd.toml")
    assert done.code == 2
    assert re.search(r"1 of 2 boxes beyond the end .* up to frame 900, ", " ".join(done.err.split()))


def test_a_source_has_tracks_or_detections():
    with pytest.raises(UsageError, match="has tracks and detections"):
        SourceRule(path="v.mp4", tracks="mot:t.txt", detections="d.txt")
