"""A made set of a drawn street, opened; rows that people give, and what the next making does with them."""

import json
from dataclasses import replace
from shutil import copytree

import numpy as np
import pytest

from subjects.streets import plan_street, write_street
from vidence.errors import DataError, UsageError
from vidence.make.herbench.opened_set import OpenedSet, remade_by
from vidence.make.makers import herbench
from vidence.make.pipeline.ledger import Trouble, UnitDone
from vidence.make.pipeline.session import BuildContext, MakeOverrides
from vidence.make.review.people.checks import check_of_shots, check_of_track
from vidence.make.review.people.rows import Act, ShotRow, TrackRow, append_row, read_rows, remove_row

CONFIG = """
name = "street"
seed = 7
videos = "videos"
[[sources]]
path = "*.mp4"
detections = "videos/{video_id}.txt"
[tracking]
tracker = "deepsort"
[tracking.refine.filter]
least_area_px = 1000.0
[tracking.pick]
n_tracks = 5
[shots]
[cards]
file = "cards/{video_id}.jsonl"
[cards.crops]
gap_s = 0.25
[people]
[tasks.rlpc]
[tasks.aglt]
"""


KEPT = ("videos", "cache", "made/stages", "made/pictures")


class Street:
    """Two drawn streets, and makings of them; `made_units` are what the last one did not find kept.

    With `like` they are copied out of another folder, with the results of stages that were made of them.
    """

    def __init__(self, folder, *, like=None):
        self.folder = folder
        for part in KEPT if like else ():
            copytree(like / part, folder / part)
        if like:
            (folder / "made" / ".vidence-make-herbench").touch()
        for name, looks in (("north", [0, 2, 4, 6, 8]), ("south", [1, 3, 5, 7, 9])) if not like else ():
            write_street(plan_street(name, looks=looks, rng=np.random.default_rng(7)), folder / "videos")
        self.people = folder / "people"
        self.configure()

    def configure(self, text=CONFIG):
        (self.folder / "config.toml").write_text(text)

    def make(self, **overrides):
        self.troubles, self.made_units = [], []
        context = BuildContext(
            cache_root=self.folder / "cache", memory=self.folder / "replies.sqlite", on_event=self._hear
        )
        return herbench.create().make(
            self.folder / "config.toml",
            overrides=MakeOverrides(out=self.folder / "made", **overrides),
            context=context,
        )

    def _hear(self, event):
        if isinstance(event, Trouble):
            self.troubles.append(event.message)
        if isinstance(event, UnitDone) and not event.was_cached:
            self.made_units.append(f"{event.stage} {event.unit}")

    def opened(self):
        return OpenedSet.open(self.folder / "made")

    def account(self):
        return json.loads((self.folder / "made" / "account.json").read_text())

    def dropped(self):
        lines = (self.folder / "made" / "dropped.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def bytes(self):
        """Everything of the set but what is kept of stages, and the pictures beside them."""
        made = self.folder / "made"
        files = [
            path
            for path in made.rglob("*")
            if path.is_file() and not {"stages", "pictures"} & set(path.parts)
        ]
        return {path.relative_to(made).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    one = Street(tmp_path_factory.mktemp("street"))
    one.make()
    return one


@pytest.fixture
def street(tmp_path, first):
    one = Street(tmp_path, like=first.folder)
    one.make()
    return one


def say(street, track_id, act, *, video="north", opened=None):
    """A row on a track as the board shows it, written; the row."""
    one = (opened or street.opened()).video(video)
    shown = [*one.tracked.tracks, *one.tracked.others]
    (track,) = [track for track in shown if track.track_id == track_id]
    row = TrackRow(video_id=video, check=check_of_track(track), track_id=track_id, act=act, by="P03")
    append_row(street.people, row)
    return row


def test_a_set_is_opened_under_the_numbers_of_its_account(first):
    opened = first.opened()
    assert opened.videos == ("north", "south")
    north = opened.video("north")
    assert [track.track_id for track in north.tracked.tracks] == ["1", "2", "3", "4", "5"]
    assert set(north.pictures) == set(north.described.chosen) == {"1", "2", "3", "4", "5"}
    assert set(north.portraits) == {"1", "2", "3", "4", "5"}
    assert all(opened.pictures.get(crop.digest) for crop in north.pictures["1"].appearance)
    assert north.found_shots == north.shots
    assert len(north.times_s) == 168
    tracks = next(one for one in first.account()["stages"] if one["stage"] == "tracks")
    assert tracks["n_out"] == 10


def test_what_is_no_set_is_refused_with_what_to_do(tmp_path, first):
    with pytest.raises(UsageError, match="make the set with `vidence make herbench`"):
        OpenedSet.open(tmp_path)
    with pytest.raises(UsageError, match="has no video 'east'; it has north, south"):
        first.opened().video("east")
    folder = tmp_path / "stages"
    folder.mkdir()
    (folder / "index.jsonl").write_text("{}\n")
    with pytest.raises(DataError, match=r"index\.jsonl:1: "):
        OpenedSet.open(tmp_path)
    away = '{"stage":"../x","unit":"north","key":"k","digest":"d","suffix":".json"}\n'
    (folder / "index.jsonl").write_text(away)
    with pytest.raises(DataError, match="leads elsewhere"):
        OpenedSet.open(tmp_path)


def test_a_kept_result_that_was_changed_is_not_shown(street):
    opened = street.opened()
    row = opened.kept["tracks", "north"]
    path = street.folder / "made" / "stages" / "tracks" / f"{row.key}.json"
    path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))
    with pytest.raises(DataError, match="is not what the index says"):
        opened.video("north")


def test_rows_on_tracks_remake_one_video_and_undone_give_the_first_bytes(street):
    before, kept = street.bytes(), street.opened()
    say(street, "3", "split:100")
    say(street, "4", "phantom")
    say(street, "1", "ok")
    rows = [say(street, "5", "join:2")]
    opened = kept.video("north")
    said = read_rows(street.people, TrackRow, videos=["north", "south"])
    cost = remade_by(opened, tracks=said)
    assert cost.tracks == ("3/1", "3/2")
    assert cost.n_gone == 2  # 3 and the phantom; 5 cannot be joined with 2
    assert cost.words == "crops of 2 tracks, drafts of this video"
    assert remade_by(kept.video("south"), tracks=said).words == ""

    street.make()
    assert all("south" not in unit for unit in street.made_units), street.made_units
    assert "crops north" in street.made_units
    north = street.opened().video("north")
    assert [track.track_id for track in north.tracked.tracks] == ["1", "2", "3/1", "3/2", "5"]
    assert [track.track_id for track in north.found.tracks] == ["1", "2", "3", "4", "5"]
    by_people = {one["what"]: one["detail"] for one in street.dropped() if one["reason"] == "by-a-person"}
    assert set(by_people) == {"north: 3", "north: 4"}
    assert by_people["north: 4"] == "a person saw that it shows no one: phantom, P03"
    (unused,) = [one for one in street.account()["notes"] if "not used" in one]
    assert unused.startswith("people/tracks.csv:5: not used: the tracks 5 and 2 cannot be one person")
    assert remade_by(north, tracks=said).words == ""

    street.make()
    assert street.made_units == []

    for row in (*said, *rows):
        remove_row(street.people, row)
    assert list(street.people.iterdir()) == []
    street.make()
    assert street.bytes() == before
    assert street.made_units == []


def test_a_part_is_known_to_the_board_as_the_next_session_left_it(street):
    say(street, "3", "split:100")
    street.make()
    say(street, "3/2", "drop:100-110")
    street.make()
    north = street.opened().video("north")
    (part,) = [track for track in north.tracked.tracks if track.track_id == "3/2"]
    assert part.first_frame == 111
    assert any(one.what == "3/2, frames 100 to 110" for one in north.dropped)


def test_a_row_on_another_track_than_there_is_now_is_named_and_not_used(street):
    before = street.bytes()
    append_row(
        street.people, TrackRow(video_id="north", check="a" * 12, track_id="3", act="phantom", by="P03")
    )
    street.make()
    why = "people/tracks.csv:2: not used: the track 3 has changed since; look at it again"
    assert why in street.troubles
    assert why in street.account()["notes"]
    changed = {name for name, data in street.bytes().items() if before.get(name) != data}
    assert changed == {"account.json", "report.html"}


def test_a_cut_is_added_tracks_follow_and_undone_the_first_bytes_are_back(street):
    before = street.bytes()
    north = street.opened().video("north")
    act = Act(name="cut-at", first=100, last=100)
    row = ShotRow(video_id="north", check=check_of_shots(north.shots, act), act="cut-at:100", by="P03")
    append_row(street.people, row)
    said = remade_by(north, shots=[row])
    assert (said.has_tracks, said.n_shots) == (True, 2)
    assert said.words == (
        "pictures of 2 shots, tracks, crops and cards of changed tracks, drafts of this video"
    )
    assert north.scores is not None
    assert north.scores.values.shape == (len(north.times_s),)
    street.make()
    again = street.opened().video("north")
    assert [shot.first_frame for shot in again.shots] == [0, 100]
    assert [shot.first_frame for shot in again.found_shots] == [0]
    assert all(track.last_frame < 100 or track.first_frame >= 100 for track in again.tracked.tracks)
    without_tracks = replace(again, found=None, tracked=None)
    assert remade_by(without_tracks, shots=[row]).words == ""
    remove_row(street.people, row)
    street.make()
    assert street.bytes() == before
