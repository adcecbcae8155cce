"""Rendered worlds: what was planned is what the files show."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import av
import msgspec
import numpy as np
import pytest

from vidence.ask.phantom.code import read
from vidence.ask.phantom.plan import RECIPES, WorldSpec, plan_world
from vidence.ask.phantom.world import World, read_world, render
from vidence.errors import DataError, MediaError, UsageError
from vidence.records import Item

SPEC = WorldSpec(n_videos=3, min_s=20, max_s=21, n_variable=1, sizes=((320, 180),), rates=(10, 12))
SEED = 11


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("phantom") / "world"
    render(folder, SPEC, seed=SEED)
    return folder


def items_of(folder: Path) -> list[Item]:
    return [
        msgspec.json.decode(line, type=Item) for line in (folder / "items.jsonl").read_bytes().splitlines()
    ]


def test_every_frame_shows_its_planted_card_at_its_planted_time(folder: Path):
    world = read_world(folder)
    plan = plan_world(SPEC, seed=SEED)
    assert [video.is_variable for video in world.videos] == [False, False, True]
    for video, planned in zip(world.videos, plan.videos, strict=True):
        with av.open(str(folder / video.path)) as container:
            frames = list(container.decode(video=0))
        assert len(frames) == video.n_frames == len(planned.pts)
        assert sum(frame.key_frame for frame in frames) == 1 + (len(frames) - 1) // 250
        for frame, time_s in zip(frames, planned.times_s, strict=True):
            assert frame.time == pytest.approx(time_s, abs=1e-6)
            shown = [p for p in video.pieces if p.start_s <= frame.time < p.end_s]
            code = read(frame.to_ndarray(format="rgb24"))
            said = None if code is None else (code.world, code.piece, code.value)
            assert said == ((world.number, shown[0].piece, shown[0].value) if shown else None)


def test_the_world_file_says_what_lies_there(folder: Path):
    world = read_world(folder)
    assert world.seed == SEED
    assert world.spec == SPEC
    assert set(world.versions) == {"phantom", "pyav", "libavcodec"}
    for video in world.videos:
        assert hashlib.sha256((folder / video.path).read_bytes()).hexdigest() == video.sha256
    assert hashlib.sha256((folder / "items.jsonl").read_bytes()).hexdigest() == world.items_sha256
    assert world.n_items == len(items_of(folder)) == 30
    assert sorted(path.name for path in folder.iterdir()) == [
        *(".vidence-world", "items.jsonl", "videos", "world.json")
    ]
    world = read_world(folder)
    assert msgspec.json.decode(msgspec.json.encode(world), type=World) == world


def test_the_same_seed_gives_the_same_files_and_another_seed_other_items(folder: Path, tmp_path: Path):
    again = render(tmp_path / "again", SPEC, seed=SEED, n_workers=1)
    assert again == read_world(folder)
    assert (tmp_path / "again" / "items.jsonl").read_bytes() == (folder / "items.jsonl").read_bytes()
    assert plan_world(SPEC, seed=SEED + 1).items != plan_world(SPEC, seed=SEED).items


def test_evidence_names_the_cards_and_their_sum(folder: Path):
    world = read_world(folder)
    for item in items_of(folder):
        [video] = [v for v in world.videos if v.path == item.media[0].path]
        pieces = {(p.start_s, p.end_s): p for p in video.pieces}
        needed = [pieces[e.start_s, e.end_s] for e in item.evidence]
        assert len(set(needed)) == len(needed) == int(item.tags["demand"])
        assert all(e.kind == "oracle" for e in item.evidence)
        asked = item.question.rpartition("What is")[2]
        assert [p.colour for p in needed] == [
            word.strip(",") for word in asked.split() if word.strip(",") in {p.colour for p in video.pieces}
        ]
        total = sum(p.value for p in needed)
        assert item.choices[item.letters.index(item.answer)] == str(total)
        assert (f"the answer is {total}." in item.question) == (item.tags["leak"] == "yes")
        shortest = min(needed, key=lambda p: ("short", "long", "lasting").index(p.lifetime))
        assert item.tags["lifetime"] == shortest.lifetime


def test_spans_of_a_video_do_not_overlap_and_no_frame_lies_on_a_border():
    plan = plan_world(WorldSpec(n_variable=6), seed=3)
    for video in plan.videos:
        for before, after in zip(video.pieces, video.pieces[1:], strict=False):
            assert before.end_s <= after.start_s
        for piece in video.pieces:
            for border in (piece.start_s, piece.end_s):
                assert np.abs(video.times_s - border).min() > 0.015
            assert ((video.times_s >= piece.start_s) & (video.times_s < piece.end_s)).sum() >= 2
        assert len({p.value for p in video.pieces}) == len(video.pieces)
        assert min(p.value for p in video.pieces) >= 1


def test_the_default_world_is_balanced():
    items = plan_world(WorldSpec(), seed=0).items
    assert len(items) == len({item.item_id for item in items}) == 120
    assert Counter(item.answer for item in items) == dict.fromkeys("ABCDE", 24)
    demands = Counter(item.tags["demand"] for item in items if item.tags["leak"] == "no")
    assert demands == {"1": 24, **dict.fromkeys("2345678", 12)}
    assert Counter(item.tags["leak"] for item in items) == {"no": 108, "yes": 12}
    short = Counter(item.tags["lifetime"] == "short" for item in items if item.tags["leak"] == "no")
    assert short[True] == short[False] == 54
    for video in {item.media for item in items}:
        questions = [item.question for item in items if item.media == video]
        assert len(set(questions)) == len(questions) == len(RECIPES)


def test_a_small_demand_leaves_out_the_others_and_a_negative_seed_is_refused():
    items = plan_world(WorldSpec(n_videos=4, n_variable=0, max_demand=2), seed=0).items
    assert {item.tags["demand"] for item in items} == {"1", "2"}
    with pytest.raises(UsageError, match="seed -1"):
        plan_world(WorldSpec(), seed=-1)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_videos": 0}, "n_videos=0 must be in 1..256"),
        ({"max_demand": 9}, r"max_demand=9 must be in 1\.\.8"),
        ({"items_per_video": 11}, "items_per_video=11"), ({"min_s": 40, "max_s": 30}, r"40\.\.30 s"),
        ({"n_variable": 13}, "n_variable=13"), ({"sizes": ()}, "must not be empty"),
        ({"sizes": ((320, 181),)}, "must be even"), ({"sizes": ((96, 90),)}, "at least 160x90"),
        ({"rates": (5,)}, "frames per second"), ({"crf": 51}, "crf=51"),
    ],
)  # fmt: skip
def test_a_world_that_cannot_be_made_is_refused(wrong: dict[str, object], message: str, tmp_path: Path):
    with pytest.raises(UsageError, match=message):
        render(tmp_path / "world", WorldSpec(**wrong), seed=0)
    assert not (tmp_path / "world").exists()


def tiny(**changes: object) -> WorldSpec:
    return WorldSpec(
        **{"n_videos": 1, "min_s": 20, "max_s": 20, "n_variable": 0, "items_per_video": 1, **changes}
    )


def test_an_encoder_that_is_not_there_leaves_no_questions(tmp_path: Path):
    with pytest.raises(MediaError, match="no-such-codec"):
        render(tmp_path / "world", tiny(codecs=("no-such-codec",)), seed=0)
    assert not (tmp_path / "world" / "items.jsonl").exists()
    assert list((tmp_path / "world" / "videos").iterdir()) == []


def test_rendering_again_replaces_an_older_world_also_an_unfinished_one(tmp_path: Path):
    render(tmp_path, tiny(n_videos=2), seed=0)
    (tmp_path / "items.jsonl").unlink()
    (tmp_path / "videos" / "mine.mp4").touch()
    world = render(tmp_path, tiny(), seed=1)
    assert sorted(path.name for path in (tmp_path / "videos").iterdir()) == ["mine.mp4", "v000.mp4"]
    assert read_world(tmp_path) == world


@pytest.mark.parametrize("name", ["thesis.tex", "videos/holiday.mov"])
def test_a_folder_with_something_else_is_left_alone(name: str, tmp_path: Path):
    (tmp_path / "videos").mkdir()
    (tmp_path / name).write_text("years of work")
    with pytest.raises(UsageError, match="is not empty: it holds"):
        render(tmp_path, tiny(), seed=0)
    assert (tmp_path / name).read_text() == "years of work"


def test_a_damaged_world_and_a_file_in_place_of_the_folder_are_said(tmp_path: Path):
    with pytest.raises(DataError, match="vidence demo"):
        read_world(tmp_path)
    (tmp_path / "world.json").write_text(json.dumps({"seed": 1}))
    with pytest.raises(DataError, match="render it again"):
        read_world(tmp_path)
    (tmp_path / "world").write_text("a file")
    with pytest.raises(UsageError, match="is a file"):
        render(tmp_path / "world", tiny(), seed=0)
