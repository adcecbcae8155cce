"""Videos of a making are watched in chunks: gone on with after a stop, by several processes, told of."""

import csv
from pathlib import Path

import numpy as np
import pytest

from vidence.engine.side_by_side import Parallelism
from vidence.make.makers import herbench
from vidence.make.pipeline.ledger import FramesDone, StageBegan, Trouble
from vidence.make.pipeline.session import BuildContext, MakeOverrides
from vidence.make.review.people.rows import ShotRow
from vidence.make.review.people.track_acts import apply_shots
from vidence.seeing import chunks
from vidence.seeing.shooting import Shot
from videos import pans
from videos.stamped import damage, packet_places
from videos.walkers import STREET, Walker, film

CONFIG = """
name = "street"
videos = "videos"

[[sources]]
path = "*.mp4"

[tracking]
detector = "hog:?least_px=90&ladder=1.3"
rate = 2.0

[shots]
detector = "content"
"""
N_LONG = 300
ALONE = Parallelism()
LONG = (Walker(left_px=5, top_px=70, speed_px=(0.8, 0.0)), Walker(left_px=250, top_px=90))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("cv2", reason="needs the extra 'build'")
    folder = tmp_path_factory.mktemp("watched")
    (folder / "videos").mkdir()
    film(folder / "videos" / "long.mp4", LONG, n_frames=N_LONG)
    film(folder / "videos" / "short.mp4", STREET, n_frames=40)
    whole = film(folder / "whole.mp4", LONG, n_frames=100)
    places = [place + 8 for place, _, _, _ in packet_places(whole)][30:40]
    damage(whole, folder / "videos" / "bad.mp4", places=places)
    (folder / "config.toml").write_text(CONFIG)
    return folder


def make(folder, out, *, parallel=ALONE, heard=None):
    context = BuildContext(
        cache_root=folder / f"cache-{out}",
        memory=folder / "replies.sqlite",
        parallel=parallel,
        on_event=lambda event: None if heard is None else heard.append(event),
    )
    overrides = MakeOverrides(out=folder / out, until="watching")
    herbench.create().make(folder / "config.toml", overrides=overrides, context=context)
    return files_of(folder / out)


def files_of(folder):
    return {
        path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


@pytest.fixture(scope="module")
def whole(folder):
    """What one process makes in one go, and what it tells."""
    heard = []
    return make(folder, "whole", heard=heard), heard


def test_frames_are_counted_while_videos_are_watched(folder, whole):
    _, heard = whole
    (began,) = (one for one in heard if isinstance(one, StageBegan) and one.stage == "watching")
    assert (began.n_units, began.n_done, began.counts_frames) == (N_LONG + 40 + 100, 0, True)
    done = [one for one in heard if isinstance(one, FramesDone)]
    assert {one.video_id for one in done} == {"long", "short", "bad"}
    assert sum(one.n_frames for one in done) == N_LONG + 40 + 100
    assert len([one for one in done if one.video_id == "long"]) >= 8


def test_nothing_is_left_of_chunks_when_videos_are_done(folder, whole):
    left = {path.parts[1] for path in whole[0] if path.parts[0] == "stages"}
    assert left == {"boxes", "shot-scores", "shots", "tracks", "opened", "index.jsonl"}


def test_two_processes_make_the_same(folder, whole, monkeypatch):
    def here(*given):
        raise AssertionError("a chunk was watched in this process")

    monkeypatch.setattr(chunks, "watch_chunk", here)
    assert make(folder, "two", parallel=Parallelism(n_workers=2)) == whole[0]


def test_a_stopped_making_goes_on_at_the_chunk_where_it_was(folder, whole, monkeypatch):
    monkeypatch.setattr(chunks, "_LEAST_FRAMES", chunks.CHUNK_FRAMES)
    plain, seen = chunks.watch_chunk, []

    def stopped(*given):
        if len(seen) == 2:  # of four chunks
            raise KeyboardInterrupt
        seen.append(given)
        return plain(*given)

    monkeypatch.setattr(chunks, "watch_chunk", stopped)
    with pytest.raises(KeyboardInterrupt):
        make(folder, "stopped")
    monkeypatch.setattr(chunks, "watch_chunk", lambda *given: seen.append(given) or plain(*given))
    heard = []
    assert make(folder, "stopped", heard=heard) == whole[0]
    assert len(seen) == 4
    began = next(one for one in heard if isinstance(one, StageBegan) and one.stage == "watching")
    assert began.n_done == 200  # of the long one, up to a keyframe; the damaged one was done altogether
    assert began.n_units == N_LONG + 40


SECOND = """
name = "places"
videos = "videos"
[[sources]]
path = "*.mp4"
[shots]
detector = "content"
options = { dissolves = false }
second = "content"
[tasks.tso]
"""


def test_what_the_second_shot_detector_sees_alone_is_proposed_and_can_be_signed(tmp_path):
    """Two places with a dissolve of 20 frames between them are one shot to the first detector."""
    rng = np.random.default_rng(4)
    one, other = (np.kron(rng.integers(20, 235, (16, 24, 3)), np.ones((8, 8, 1))) for _ in range(2))
    shares = np.clip((np.arange(100) - 39) / 21, 0, 1)
    (tmp_path / "videos").mkdir()
    film = [np.round((1 - share) * one + share * other).astype(np.uint8) for share in shares]
    pans.write(tmp_path / "videos" / "two.mp4", film)
    (tmp_path / "config.toml").write_text(SECOND)
    heard = []
    make(tmp_path, "out", heard=heard)
    text = (tmp_path / "out" / "proposed_shots.csv").read_text(encoding="utf-8-sig")
    head, *row = csv.reader(text.splitlines())
    assert head == ["video_id", "check", "act", "by", "note"]
    ((video_id, check, act, by, _),) = row
    first, last = map(int, act.removeprefix("gradual:").split("-"))
    assert (video_id, by) == ("two", "")
    assert abs(first - 40) <= 4
    assert abs(last - 59) <= 4
    assert any(isinstance(one, Trouble) and "sees 1 transition" in one.message for one in heard)
    # Signed and put where people's rows lie, it parts the shot.
    shots = (Shot(shot_id="shot-0001", first_frame=0, last_frame=99, start_s=0.0, end_s=10.0),)
    signed = ShotRow(video_id=video_id, check=check, act=act, by="Ann")
    assert len(apply_shots(shots, [signed], times_s=np.arange(100) / 10).shots) == 2


def sentences(folder: Path, config: str, **overrides: str) -> list[str]:
    (folder / "config.toml").write_text(config)
    context = BuildContext(cache_root=folder / "cache", memory=folder / "replies.sqlite")
    wanted = MakeOverrides(out=folder / "out", only=("rlpc",), **overrides)
    built = herbench.create().make(folder / "config.toml", overrides=wanted, context=context)
    return [sentence for sentence in built.sentences if "false people" in sentence]


def test_false_people_are_counted_where_another_look_sees_nobody(tmp_path):
    """The detector sees somebody in frames 1 to 20 of 40, the second from 11 on, people in none."""
    (tmp_path / "videos").mkdir()
    film(tmp_path / "videos" / "v.mp4", STREET, n_frames=40)
    box = "{},-1,10,20,60,180,0.9\n".format
    (tmp_path / "first.txt").write_text("".join(box(n) for n in range(1, 21)))
    (tmp_path / "second-v.txt").write_text("".join(box(n) for n in range(11, 41)))
    config = CONFIG.replace("hog:?least_px=90&ladder=1.3", f"boxes:{tmp_path}/first.txt").replace(
        "rate = 2.0", f'tracker = "sort?n_init=1"\nsecond = "boxes:{tmp_path}/second-{{video_id}}.txt"'
    )
    told = (
        "false people of boxes in {} % (no interval from one video) of {} frames of 1 video that are empty "
        "by {}"
    )
    by_second = told.format("100.0", 10, "boxes (people that it misses count as false)")
    assert sentences(tmp_path, config) == [by_second]
    assert sentences(tmp_path, config) == [by_second]  # what was seen is kept
    assert by_second in next((tmp_path / "out").glob("*.html")).read_text()
    assert sentences(tmp_path, config, sheets=str(tmp_path / "people")) == [by_second]
    sheet = tmp_path / "people" / "tracks.csv"
    head, *rows = csv.reader(sheet.read_text(encoding="utf-8-sig").splitlines())
    filled = [dict(zip(head, row, strict=True)) for row in rows]
    for row in filled:
        row |= {"act": "all" if row["track_id"] == "everybody" else "phantom", "by": "Ann"}
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, head)
        writer.writeheader()
        writer.writerows(filled)
    assert sentences(tmp_path, f"{config}[people]\n") == [told.format("50.0", 40, "people")]
