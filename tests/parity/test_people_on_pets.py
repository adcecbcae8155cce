"""What a person says of the tracks of PETS09-S2L1, made of the boxes that SORT was published with."""

import json
import shutil

import pytest

from conftest import need
from vidence.make.herbench.opened_set import OpenedSet, remade_by
from vidence.make.makers import herbench
from vidence.make.pipeline.ledger import UnitDone
from vidence.make.pipeline.session import BuildContext, MakeOverrides
from vidence.make.review.people.checks import check_of_track
from vidence.make.review.people.rows import TrackRow, append_row, read_rows, remove_row

pytestmark = pytest.mark.parity

CONFIG = """
name = "pets"
seed = 7
videos = "."
[[sources]]
path = "pets.mp4"
detections = "boxes.txt"
[tracking]
tracker = "deepsort"
[tracking.refine.filter]
least_area_px = 800.0
[shots]
[cards]
model = "people"
[people]
[tasks.rlpc]
[tasks.aglt]
"""


def make(folder, units, **overrides):
    def hear(event):
        if isinstance(event, UnitDone) and not event.was_cached:
            units.append(f"{event.stage} {event.unit}")

    context = BuildContext(cache_root=folder / "cache", memory=folder / "replies.sqlite", on_event=hear)
    return herbench.create().make(
        folder / "config.toml", out=folder / "made", overrides=MakeOverrides(**overrides), context=context
    )


def contents(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    kept = {"stages", "pictures"}
    return {path.name: path.read_bytes() for path in files if not kept & set(path.parts)}


def test_rows_on_the_tracks_of_a_real_video_and_undone_the_first_bytes(data_dir, tmp_path):
    shutil.copy(need(data_dir / "video" / "pets09_s2l1_view1_768x576.mp4"), tmp_path / "pets.mp4")
    shutil.copy(need(data_dir / "tracking" / "PETS09-S2L1_det_sort.txt"), tmp_path / "boxes.txt")
    (tmp_path / "config.toml").write_text(CONFIG)
    built = make(tmp_path, [])
    assert any(one.startswith("People are still to write ") for one in built.sentences)
    before = contents(tmp_path / "made")
    opened = OpenedSet.open(tmp_path / "made").video("pets")
    tracks = sorted(opened.tracked.tracks, key=lambda one: len(one.frame_indices), reverse=True)
    assert len(tracks) >= 11
    people = tmp_path / "people"
    said = []

    def say(track, act):
        row = TrackRow(
            video_id="pets", check=check_of_track(track), track_id=track.track_id, act=act, by="P03"
        )
        append_row(people, row)
        said.append(row)

    pairs = ((a, b) for a in tracks for b in tracks if a.last_frame < b.first_frame)
    first, later = next(pairs)
    others = [one for one in tracks if one is not first and one is not later]
    for one in others[:2]:
        say(one, f"split:{int(one.frame_indices[len(one.frame_indices) // 2])}")
    say(later, f"join:{first.track_id}")
    for one in others[2:5]:
        say(one, "phantom")
    for one in others[5:10]:
        say(one, "ok")
    rows = read_rows(people, TrackRow, videos=["pets"])
    cost = remade_by(opened, tracks=rows)
    assert len(cost.tracks) == 5  # four parts, and the joined one
    units = []
    make(tmp_path, units)
    assert {unit.split()[0] for unit in units} <= {"crops", "portraits", "draft-rlpc", "draft-aglt"}
    after = OpenedSet.open(tmp_path / "made").video("pets")
    assert len(after.tracked.tracks) == len(opened.tracked.tracks) + 2 - 1 - 3
    lines = (tmp_path / "made" / "dropped.jsonl").read_text().splitlines()
    gone = [json.loads(line) for line in lines]
    by_a_person = {one["what"] for one in gone if one["reason"] == "by-a-person"}
    assert by_a_person == {f"pets: {one.track_id}" for one in (*others[:5], later)}
    for row in said:
        assert remove_row(people, row)
    make(tmp_path, [])
    assert contents(tmp_path / "made") == before
