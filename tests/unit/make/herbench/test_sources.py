"""Videos that are not here are used with what a table says of them; a wrong table is named with its line."""

from pathlib import Path

import pytest

from vidence.errors import DataError
from vidence.make.herbench.config import HerbenchConfig, LogRule, SourceRule
from vidence.make.herbench.sources import Sources, find_sources

LOG = "video_id,start,end,narration,verb,noun\nv1,1,2,take cup,take,cup\nv2,1,2,take cup,take,cup\n"


def found(folder: Path, table: str) -> Sources:
    (folder / "log.csv").write_text(LOG)
    (folder / "videos.csv").write_text(table)
    log = LogRule(format="plain", path="log.csv", media="{video_id}.mp4", table="videos.csv")
    return find_sources(HerbenchConfig(name="n", logs=(log,)), folder, cache_root=None, limit=None)


def test_a_table_says_how_long_and_how_large_a_video_is(tmp_path):
    known, other = found(tmp_path, "video_id,duration,fps,resolution\nv1,8.5,10,640x360\n").sources
    video = known.video
    assert known.file is None
    assert (video.duration_s, video.fps, video.n_frames) == (8.5, 10.0, 85)
    assert (video.width_px, video.height_px) == (640, 360)
    assert (other.video.duration_s, other.video.n_frames, other.video.width_px) == (2.0, 0, 0)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("video_id,duration,fps\nv1,8,10\n", r"videos\.csv:1: columns: no column resolution"),
        ("video_id,duration,fps,resolution\nv1,8,0,640x360\n", r"videos\.csv:2: duration '8', fps '0'"),
        ("video_id,duration,fps,resolution\nv1,8,10,640\n", "WIDTHxHEIGHT"),
    ],
)
def test_a_wrong_table_is_named_with_its_line(tmp_path, table, said):
    with pytest.raises(DataError, match=said):
        found(tmp_path, table)


def test_given_tracks_need_their_video(tmp_path):
    rule = SourceRule(path="v.mp4", tracks="mot:gt.txt")
    here = find_sources(HerbenchConfig(name="n", sources=(rule,)), tmp_path, cache_root=None, limit=None)
    (gone,) = here.dropped
    assert (gone.what, gone.reason) == ("v", "unreadable-video")
    assert gone.detail.endswith("its tracks need it: size, times and looks are read from it")
