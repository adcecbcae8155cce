"""Sheets of a drawn street: written, filled in as a person would, read by the next making."""

import csv
import json
import re
from pathlib import Path
from shutil import copytree

import msgspec
import numpy as np
import pytest

from subjects.streets import plan_street, write_street
from unit.make.herbench.test_opened_set import KEPT
from vidence.ask.phantom.scene import LOOKS
from vidence.errors import DataError, UsageError
from vidence.make.herbench.config import CardStep, HerbenchConfig, SourceRule
from vidence.make.herbench.sheets import SheetShot, SheetTrack, VideoSheet, page, scenes_csv
from vidence.make.makers import herbench
from vidence.make.pipeline.session import BuildContext, MakeOverrides
from vidence.seeing.shooting import Shot

CONFIG = """
name = "street"
seed = 7
videos = "videos"
{sources}
[tracking]
tracker = "deepsort"
[tracking.refine.filter]
least_area_px = 1000.0
[tracking.pick]
n_tracks = 5
[shots]
{people}[cards]
file = "sheets/{{video_id}}/cards.csv"
[cards.crops]
gap_s = 0.25
[tasks.aglt]
[tasks.mpdr]
"""
SOURCE = '[[sources]]\npath = "{name}.mp4"\ndetections = "videos/{{video_id}}.txt"\n'
ACCOUNT = ("account.json", "dropped.jsonl")


class Street:
    """A folder with one drawn street, and makings in it; with `like` one that has the results of stages."""

    def __init__(self, folder: Path, *, like: Path | None = None) -> None:
        self.folder = folder
        self.plan = plan_street("north", looks=[0, 2, 4, 6, 8], rng=np.random.default_rng(7))
        if like is None:
            write_street(self.plan, folder / "videos")
        else:
            for part in KEPT:
                copytree(like / part, folder / part)
            (folder / "made" / ".vidence-make-herbench").touch()
        self.mine = folder / "sheets" / "north"
        self.configure()

    def configure(self, *, people: bool = False, also: str = "") -> None:
        sources = SOURCE.format(name="north") + also
        text = CONFIG.format(sources=sources, people='[people]\nfolder = "sheets"\n' if people else "")
        (self.folder / "config.toml").write_text(text)

    def make(self, **overrides):
        context = BuildContext(cache_root=self.folder / "cache", memory=self.folder / "replies.sqlite")
        return herbench.create().make(
            self.folder / "config.toml",
            overrides=MakeOverrides(out=self.folder / "made", **overrides),
            context=context,
        )

    def sheets(self):
        return self.make(sheets=str(self.folder / "sheets"))

    def table(self, name):
        return (self.mine.parent if name in ("tracks.csv", "shots.csv") else self.mine) / name

    def rows(self, name):
        with self.table(name).open(encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file))

    def fill(self, name, rows):
        with self.table(name).open("w", encoding="utf-8", newline="") as file:
            lines = csv.DictWriter(file, rows[0].keys())
            lines.writeheader()
            lines.writerows(rows)

    def data(self):
        return msgspec.json.decode((self.mine / "sheet.json").read_bytes(), type=VideoSheet)

    def looks_of(self, row):
        """The description of whoever the plan has where a track begins."""
        (track,) = [one for one in self.data().tracks if one.track_id == row["track_id"]]
        near = [p for p in self.plan.passers if abs(p.first_frame - track.first_frame) <= 2]
        assert near, row
        return LOOKS[near[0].look].words

    def fill_cards(self, fits):
        rows = self.rows("cards.csv")
        for row in rows:
            row["appearance"] = self.looks_of(row)
            row["fits"] = fits(row["track_id"])
        self.fill("cards.csv", rows)

    def drafts(self):
        return [json.loads(line) for line in (self.folder / "made" / "drafts.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    one = Street(tmp_path_factory.mktemp("kept"))
    one.sheets()
    return one.folder


@pytest.fixture
def street(tmp_path, kept):
    return Street(tmp_path, like=kept)


def stages(built):
    return {one.stage: one for one in built.account.stages}


def test_the_sheet_of_a_video_has_a_page_its_data_and_three_tables(street):
    built = street.sheets()
    names = {path.name for path in built.files if path.suffix != ".jpg"}
    assert names == {"sheet.html", "sheet.json", "cards.csv", "tracks.csv", "shots.csv", *ACCOUNT}
    assert built.sentences == ("1 sheet to fill in.",)
    data = street.data()
    picked = [one for one in data.tracks if one.is_picked]
    assert [row["track_id"] for row in street.rows("cards.csv")][: len(picked)] == [
        one.track_id for one in picked
    ]
    assert [row["track_id"] for row in street.rows("tracks.csv")] == [
        *(one.track_id for one in data.tracks),
        "everybody",
    ]
    assert [row["note"] for row in street.rows("shots.csv")] == ["shot-0001: cut-at or gradual in 1 to 167"]
    assert all(one.portraits for one in data.tracks)
    assert all(one.looks and one.way and one.frames for one in picked)
    assert "drafts" not in stages(built)


def test_the_page_holds_every_picture_and_loads_nothing(street):
    street.sheets()
    page = (street.mine / "sheet.html").read_text("utf-8")
    data = street.data()
    n_crops = sum(len(one.portraits) + len(one.looks) + len(one.way) + len(one.frames) for one in data.tracks)
    n_shots = sum(len(row.pictures) for row in data.shots)
    assert page.count('src="data:image/jpeg;base64,') == n_crops + n_shots
    assert not re.search(r"(?:src|href)=\"(?!data:|#)", page)


def test_cards_of_people_become_questions_where_the_description_fits_one(street):
    street.sheets()
    street.fill_cards(lambda name: name)
    built = street.make()
    assert street.drafts()
    assert stages(built)["identified"].n_dropped == 0
    assert {draft["facts"]["identified"] for draft in street.drafts()} == {"by people"}


def test_where_nobody_compared_the_questions_say_so(street):
    street.sheets()
    street.fill_cards(lambda name: "")
    built = street.make()
    assert "identified" not in stages(built)
    assert {draft["facts"]["identified"] for draft in street.drafts()} == {"by words only"}
    assert {draft["review"] for draft in street.drafts()} == {"by-words-only"}


def test_a_table_that_was_begun_is_not_written_over(street):
    street.sheets()
    street.fill_cards(lambda name: name)
    before = (street.mine / "cards.csv").read_bytes()
    built = street.sheets()
    assert (street.mine / "cards.csv").read_bytes() == before
    assert any("cards.csv was begun and stays as it is" in said for said in built.sentences)
    assert "tracks.csv" in {path.name for path in built.files}


def row_of(street, row):
    (track,) = [one for one in street.data().tracks if one.track_id == row["track_id"]]
    return track


def test_tracks_that_people_gave_are_corrected_in_their_own_file(street):
    """They have a sheet for cards, and none for rows on tracks."""
    lines = [
        f"{frame + 1},{number},{box[0]},{box[1]},{box[2] - box[0]},{box[3] - box[1]},1,-1,-1,-1\n"
        for number, one in enumerate(street.plan.passers, start=1)
        for frame in range(street.plan.n_frames)
        if (box := one.box_px(frame)) is not None
    ]
    (street.folder / "gt.txt").write_text("".join(lines))
    path = street.folder / "config.toml"
    path.write_text(path.read_text().replace('detections = "videos/{video_id}.txt"', 'tracks = "mot:gt.txt"'))
    built = street.sheets()
    assert {one.name for one in built.files} == {
        "sheet.html",
        "sheet.json",
        "cards.csv",
        "shots.csv",
        *ACCOUNT,
    }
    assert street.data().is_given
    assert built.sentences == ("1 sheet to fill in.",)


def test_tracks_that_people_answer_for_need_no_count(street):
    street.sheets()
    rows = street.rows("tracks.csv")
    for row in rows:
        row |= {"act": "all" if row["track_id"] == "everybody" else "ok", "by": "P1"}
    street.fill("tracks.csv", rows)
    street.configure(people=True)
    street.sheets()
    street.fill_cards(lambda name: name)
    street.make()
    assert {draft["truth"] for draft in street.drafts()} == {"reviewed tracks; cards by a person"}
    assert not any(draft.get("review") for draft in street.drafts())


def test_cuts_of_people_part_the_shots_of_the_detector(street):
    street.sheets()
    (row,) = street.rows("shots.csv")
    street.fill("shots.csv", [row | {"act": "gradual:80-83", "by": "P1"}])
    street.configure(people=True)
    street.sheets()
    shots = [one.shot for one in street.data().shots]
    assert [(one.first_frame, one.last_frame, one.n_mixed) for one in shots] == [(0, 79, 0), (80, 167, 4)]
    assert all(one.last_frame < 80 or one.first_frame >= 80 for one in street.data().tracks)
    scenes = street.rows("scenes.csv")
    assert [row["shot_id"] for row in scenes] == [one.shot_id for one in shots]
    scenes[0] |= {"text": "A street with five people.", "false": "A square with six dogs."}
    street.fill("scenes.csv", scenes)
    assert any("scenes.csv was begun and stays as it is" in said for said in street.sheets().sentences)


def test_a_row_of_the_sheet_takes_a_cut_away(street, tmp_path):
    street.sheets()
    (row,) = street.rows("shots.csv")
    there = row | {"act": "cut-at:80", "by": "P1"}
    street.fill("shots.csv", [there])
    street.configure(people=True)
    street.make(sheets=str(tmp_path / "again"))
    with (tmp_path / "again" / "shots.csv").open(encoding="utf-8-sig", newline="") as file:
        first, cut, second = csv.DictReader(file)
    assert [first["note"][:9], cut["note"][:12], second["note"][:9]] == [
        "shot-0001",
        "no-cut-at:80",
        "shot-0002",
    ]
    street.fill("shots.csv", [there, cut | {"act": "no-cut-at:80", "by": "P1"}])
    street.sheets()
    assert [(one.shot.first_frame, one.shot.last_frame) for one in street.data().shots] == [(0, 167)]


def test_one_file_for_all_videos_may_speak_of_those_beyond_the_limit(street, tmp_path):
    also = plan_street("south", looks=[1, 3], rng=np.random.default_rng(1))
    write_street(also, tmp_path / "videos")
    lines = "video_id,check,track_id,act,by\n{},abcdefghijkl,1,ok,P1\n"
    folder = tmp_path / "sheets"
    folder.mkdir(exist_ok=True)
    (folder / ".vidence-sheets").touch()
    (folder / "tracks.csv").write_text(lines.format("south"))
    street.configure(people=True, also=SOURCE.format(name="south"))
    assert len(street.make(sheets=str(folder), limit=1).files) == 4 + len(ACCOUNT)
    (folder / "tracks.csv").write_text(lines.format("east"))
    with pytest.raises(DataError, match="'east' found; the videos of the set are north, south"):
        street.sheets()


def test_a_session_with_sheets_takes_no_last_stage_and_needs_something_to_show(street):
    with pytest.raises(UsageError, match="leave out --until"):
        street.make(sheets="sheets", until="watching")
    path = street.folder / "config.toml"
    path.write_text('name = "street"\nvideos = "videos"\n[[sources]]\npath = "north.mp4"\n')
    with pytest.raises(UsageError, match="neither \\[tracking\\] nor \\[shots\\]"):
        street.sheets()


def test_a_configuration_says_who_writes_cards():
    with pytest.raises(UsageError, match="has no writer"):
        HerbenchConfig(name="x", sources=(SourceRule(path="a.mp4"),), cards=CardStep())
    HerbenchConfig(name="x", sources=(SourceRule(path="a.mp4", cards="c.csv"),), cards=CardStep())
    HerbenchConfig(name="x", sources=(SourceRule(path="a.mp4"),), cards=CardStep(file="c.csv"))


SHOTS = (
    Shot(shot_id="shot-0001", first_frame=0, last_frame=9, start_s=0.0, end_s=1.0),
    Shot(shot_id="shot-0002", first_frame=10, last_frame=29, start_s=1.0, end_s=3.0),
)
TRACK = SheetTrack(
    track_id="7",
    check="abc",
    is_picked=True,
    is_left_out=False,
    first_frame=0,
    last_frame=29,
    first_s=0.0,
    last_s=3.0,
    begins="middle left",
    ends="middle right",
)


def sheet(*, n_shots: int = 0, tracks: tuple[SheetTrack, ...] = (), is_given: bool = False) -> VideoSheet:
    return VideoSheet(
        video_id="v",
        path="v.mp4",
        sha256="0" * 64,
        fps=10.0,
        n_frames=30,
        width_px=64,
        height_px=36,
        is_given=is_given,
        tracks=tracks,
        shots=tuple(SheetShot(shot=shot) for shot in SHOTS[:n_shots]),
    )


def told(of: VideoSheet) -> list[str]:
    """The tables that the page speaks of."""
    text = page(of, picture=lambda _: b"")
    names = ("cards.csv", "tracks.csv", "shots.csv", "scenes.csv")
    return [name for name in names if f"<b>{name}</b>" in text]


def test_the_page_speaks_of_no_table_that_the_video_does_not_have() -> None:
    assert told(sheet(n_shots=2)) == ["shots.csv", "scenes.csv"]
    assert told(sheet(n_shots=1, tracks=(TRACK,))) == ["cards.csv", "tracks.csv", "shots.csv"]
    assert told(sheet(tracks=(TRACK,), is_given=True)) == ["cards.csv"]
    assert " tracks, " not in page(sheet(n_shots=2), picture=lambda _: b"")


def test_the_sheet_of_scenes_has_a_row_for_each_shot() -> None:
    head, first, second = scenes_csv("v", SHOTS).decode("utf-8-sig").splitlines()
    assert head == "video_id,shot_id,start_s,end_s,text,false,note"
    assert (first, second) == ("v,shot-0001,0.000,1.000,,,", "v,shot-0002,1.000,3.000,,,")
