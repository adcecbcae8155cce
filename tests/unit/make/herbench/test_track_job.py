"""One numbering: what `vidence videos track --config` follows is what a making and its sheets show."""

import msgspec
import numpy as np
import pytest

from subjects.streets import plan_street, write_street
from vidence.errors import UsageError
from vidence.make.herbench.config import read_herbench
from vidence.make.herbench.sheets import VideoSheet
from vidence.make.herbench.track_job import job_of
from vidence.make.makers import herbench
from vidence.make.pipeline.session import BuildContext, MakeOverrides
from vidence.media.video import open_video
from vidence.seeing.track_run import track_video

CONFIG = """
name = "street"
videos = "videos"
[[sources]]
path = "*.mp4"
detections = "videos/{video_id}.txt?scores=logistic"
[tracking]
rate = 5.0
tracker = "sort"
[tracking.refine]
for_height_px = 1080
[shots]
detector = "content"
options = { ratio = 3.5 }
"""


@pytest.fixture
def folder(tmp_path):
    write_street(
        plan_street("north", looks=[0, 2, 4, 6, 8], rng=np.random.default_rng(7)), tmp_path / "videos"
    )
    (tmp_path / "config.toml").write_text(CONFIG)
    return tmp_path


def test_the_job_is_that_of_the_configuration(folder):
    job = job_of(read_herbench(folder / "config.toml"), folder / "videos" / "north.mp4", root=folder)
    assert job.detector == f"boxes:{folder / 'videos/north.txt'}?scores=logistic"
    assert (job.tracker, job.cuts, job.rate) == ("sort", "content?ratio=3.5", 5.0)
    assert job.refine.for_height_px == 1080


def test_a_track_has_one_number_in_track_and_on_sheets(folder):
    config = read_herbench(folder / "config.toml")
    film = folder / "videos" / "north.mp4"
    tracked, record = track_video(open_video(film, kind="video"), job_of(config, film, root=folder))
    context = BuildContext(cache_root=folder / "cache", memory=folder / "replies.sqlite")
    herbench.create().make(
        folder / "config.toml",
        overrides=MakeOverrides(out=folder / "made", sheets=str(folder / "sheets")),
        context=context,
    )
    sheet = msgspec.json.decode((folder / "sheets/north/sheet.json").read_bytes(), type=VideoSheet)
    followed = {one.track_id: (one.first_frame, one.last_frame) for one in tracked.tracks}
    shown = {one.track_id: (one.first_frame, one.last_frame) for one in sheet.tracks if not one.is_left_out}
    assert shown
    assert {name: followed.get(name) for name in shown} == shown
    assert len(sheet.shots) == record.counts["shots"]


def test_a_video_of_elsewhere_and_a_configuration_without_tracks_are_refused(folder):
    config = read_herbench(folder / "config.toml")
    with pytest.raises(UsageError, match="none of the \\[\\[sources\\]\\]"):
        job_of(config, folder / "south.mp4", root=folder)
    bare = msgspec.structs.replace(config, tracking=None)
    with pytest.raises(UsageError, match="no \\[tracking\\]"):
        job_of(bare, folder / "videos" / "north.mp4", root=folder)
    given = msgspec.structs.replace(config.sources[0], detections="", tracks="mot:gt.txt")
    with pytest.raises(UsageError, match=r"gives the tracks of .*north\.mp4 .*say --tracks"):
        job_of(
            msgspec.structs.replace(config, sources=(given,)), folder / "videos" / "north.mp4", root=folder
        )
    followed = msgspec.structs.replace(config, shots=None)
    assert job_of(followed, folder / "videos" / "north.mp4", root=folder).cuts == "none"
