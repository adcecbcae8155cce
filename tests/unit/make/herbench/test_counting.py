"""A detector's recall in a making: frames that people counted or marked, and the sheet that asks for them."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from vidence.ask.phantom.looks import LOOKS
from vidence.errors import DataError, UsageError
from vidence.make.herbench.config import TrackingRules
from vidence.make.herbench.counting import N_FRAMES, read_counts
from vidence.make.makers import herbench
from vidence.make.pipeline.session import BuildContext, MakeOverrides
from vidence.make.planted.street import Street, plan_street, write_street

CONFIG = """name = "counted"
seed = 1
videos = "."

[[sources]]
path = "*.mp4"
detections = "{video_id}.txt"

[tracking]
tracker = "motion"
{more}

[tracking.refine.filter]
least_area_px = 1000.0

[tasks.rlpc]
options = { confidence = 0.5, widest = 9.0 }
"""
HEAD = "video_id,frame,region,n_people,n_false\n"


def test_a_file_of_counts_that_is_not_there_is_missed_before_anything_is_watched(tmp_path):
    making = Making(tmp_path)
    with pytest.raises(DataError, match=r"none.csv is not there, which counted in \[tracking\] names"):
        making.make('counted = "none.csv"')
    assert not list((tmp_path / "made").rglob("boxes*"))
    assert not (tmp_path / "made" / "stages").exists()


class Making:
    """One drawn street of eight people, made over and over; boxes of every figure, or of every second one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        looks = list(range(min(8, len(LOOKS))))
        self.street: Street = plan_street("street", looks=looks, rng=np.random.default_rng(3))
        write_street(self.street, folder)

    def make(self, more: str = "", **overrides: str) -> tuple[list[dict], list[dict], dict]:
        """Items, what was dropped, and the account."""
        config = self.folder / "config.toml"
        config.write_text(CONFIG.replace("{more}", more))
        context = BuildContext(cache_root=self.folder / "cache", memory=self.folder / "replies.sqlite")
        self.built = herbench.create().make(
            config, out=self.folder / "made", overrides=MakeOverrides(**overrides), context=context
        )
        made = self.folder / "made"
        items = made / "items.jsonl"
        return (
            [json.loads(line) for line in items.read_text().splitlines()] if items.exists() else [],
            [json.loads(line) for line in (made / "dropped.jsonl").read_text().splitlines()],
            json.loads((made / "account.json").read_text()),
        )

    def counts(self, *, every: int = 8) -> str:
        """What a person counts who sees everybody."""
        lines = [HEAD]
        for frame in range(4, self.street.n_frames, every):
            n = sum(one.box_px(frame) is not None for one in self.street.passers)
            lines.append(f"street,{frame},,{n},0\n")
        (self.folder / "counts.csv").write_text("".join(lines))
        return 'counted = "counts.csv"'


@pytest.fixture(scope="module")
def making(tmp_path_factory) -> Making:
    return Making(tmp_path_factory.mktemp("counting"))


def test_without_a_count_nobody_is_counted_and_the_account_says_what_to_do(making):
    items, dropped, _ = making.make()
    assert items == []
    (gone,) = [one for one in dropped if one["reason"] == "recall-not-known"]
    assert "--sheets" in gone["detail"]


def test_counted_frames_give_the_range_and_every_question_waits_for_a_person(making):
    items, _, account = making.make(making.counts())
    assert items
    assert all(one["tags"]["truth"].startswith("detected tracks, recall 1.00 (") for one in items)
    assert all("sure at 50%" in one["rationale"] for one in items)
    assert any("the tracks hold 100% of the people" in note for note in account["notes"])
    drafts = (making.folder / "made" / "drafts.jsonl").read_text().splitlines()
    assert {json.loads(line)["review"] for line in drafts} == {"detected-count"}


def test_marked_frames_say_the_same_as_counted_ones(making):
    lines = [
        f"{frame + 1},{number},{box[0]},{box[1]},{box[2] - box[0]},{box[3] - box[1]},1,-1,-1,-1\n"
        for frame in range(4, making.street.n_frames, 8)
        for number, one in enumerate(making.street.passers, start=1)
        if (box := one.box_px(frame)) is not None
    ]
    (making.folder / "street-marked.txt").write_text("".join(lines))
    counted = making.make(making.counts())[2]["notes"]
    marked = making.make('labelled = "mot:{video_id}-marked.txt"')[2]["notes"]
    assert counted == marked


def test_labels_that_are_not_there(making):
    with pytest.raises(DataError, match="finds no file for any of the videos street"):
        making.make('labelled = "mot:labels/{video_id}.txt"')
    with pytest.raises(UsageError, match="expected the format and the file"):
        TrackingRules(labelled="labels.txt")


def test_marked_frames_of_another_video(making):
    (making.folder / "long.txt").write_text("9000,1,10,10,20,40,1,-1,-1,-1\n")
    with pytest.raises(DataError, match="the video has the frames 1 to 168"):
        making.make('labelled = "mot:long.txt"')


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("other,4,,3,0\n", "the video 'other' is none of this set; it has street"),
        ("street,4,middle,3,0\n", "region 'middle'; expected nothing for the whole frame, or left-half"),
        ("street,4,,3,\n", "n_false is ''; expected a whole number"),
        ("street,4,,many,0\n", "n_people is 'many'; expected a whole number"),
        ("street,4,,3,0\nstreet,4,,3,0\n", "frame 4 stands at .*counts.csv:2 already; keep one"),
    ],
)
def test_lines_that_cannot_be_used_are_named(tmp_path, lines, words):
    path = tmp_path / "counts.csv"
    path.write_text(HEAD + lines)
    with pytest.raises(DataError, match=words):
        read_counts(path, videos={"street"})


def test_lines_that_nobody_filled_in_are_left_out(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text(HEAD + "street,4,,,\nstreet,9,top-half,2,1\n")
    (one,) = read_counts(path, videos={"street"})
    assert (one.frame_index, one.region, one.n_people, one.n_false, one.n_boxes) == (9, "top-half", 2, 1, -1)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("street,900,0,,0\n", "frame 900 of street, which has the frames 0 to 167"),
        ("street,80,0,7,0\n", "7 boxes were drawn in frame 80, and now there are"),
        ("street,80,0,,0\n", "but 0 were counted"),
    ],
)
def test_counts_that_do_not_fit_the_tracks_are_named(making, line, words):
    (making.folder / "bad.csv").write_text("video_id,frame,n_people,n_boxes,n_false\n" + line)
    with pytest.raises(DataError, match=words):
        making.make('counted = "bad.csv"')


def test_the_sheet_has_frames_with_boxes_and_a_table_to_fill_in(making, tmp_path):
    making.make('counted = "not-there-yet.csv"', sheets=str(tmp_path / "sheet"))
    table = tmp_path / "sheet" / "counts.csv"
    rows = list(csv.DictReader(table.read_text(encoding="utf-8-sig").splitlines()))
    assert len(rows) == N_FRAMES
    assert f"{N_FRAMES} frames to count" in making.built.sentences[-1]
    frame = int(rows[5]["frame"])
    n_boxes = sum(one.box_px(frame) is not None for one in making.street.passers)
    assert int(rows[5]["n_boxes"]) == n_boxes
    with Image.open(tmp_path / "sheet" / rows[5]["picture"]) as picture:
        assert picture.size == (320, 240)
    for row in rows:
        row |= {"n_people": row["n_boxes"], "n_false": "0"}
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    assert making.make(f'counted = "{table}"')[0]
    before = table.read_bytes()
    making.make(sheets=str(tmp_path / "sheet"))
    assert making.built.sentences[-1] == f"{table} was begun and stays as it is"
    assert table.read_bytes() == before
