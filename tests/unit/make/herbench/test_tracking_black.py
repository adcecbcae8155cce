"""A film with black between its shots, through the maker: its tracks know where its pictures go and come."""

import numpy as np
import pytest

from subjects.tracks import ways
from vidence.make.herbench.tracking import Tracks
from vidence.make.makers import herbench
from vidence.make.pipeline.cache import Stage
from vidence.make.pipeline.session import BuildContext, MakeOverrides
from videos import edited

CONFIG = """
name = "black"
videos = "."

[[sources]]
path = "film.mp4"
detections = "boxes.txt"

[tracking]
detector = "hog"
tracker = "sort?n_init=1"

[tracking.refine.filter]
least_area_px = 100.0
least_in_middle_s = 0

[shots]
detector = "content"

[tasks.rlpc]
"""
# Black from 0 to 4, from 40 to 59, and from 90 to 94.
PICTURES = ((5, 39), (60, 89))


@pytest.fixture
def folder(tmp_path):
    shade = np.linspace(-30, 30, edited.WIDTH)[None, :, None]
    film = np.zeros((95, edited.HEIGHT, edited.WIDTH, 3))
    for (first, last), ground in zip(PICTURES, ((90, 120, 160), (180, 150, 100)), strict=True):
        film[first : last + 1] = np.array(ground) + shade
    edited.write(tmp_path / "film.mp4", (picture.astype(np.uint8) for picture in film))
    # Somebody stands at the left edge of either picture.
    frames = [frame for first, last in PICTURES for frame in range(first, last + 1)]
    rows = [f"{frame + 1},-1,0,20,40,80,0.9,-1,-1,-1" for frame in frames]
    (tmp_path / "boxes.txt").write_text("\n".join(rows) + "\n")
    (tmp_path / "config.toml").write_text(CONFIG)
    return tmp_path


def test_tracks_are_kept_with_the_shots_and_nobody_leaves_into_black(folder):
    context = BuildContext(cache_root=folder / "cache", memory=folder / "replies.sqlite")
    out = folder / "out"
    herbench.create().make(folder / "config.toml", out=out, overrides=MakeOverrides(), context=context)
    (kept,) = (out / "stages" / "tracks").iterdir()
    video = Stage(name="tracks", kind=Tracks).decode(kept.read_bytes()).video
    assert [(shot.first_frame, shot.clear_frame, shot.last_frame) for shot in video.shots] == [
        (first, first, last) for first, last in PICTURES
    ]
    people = (*video.tracks, *video.others)
    # The tracker begins with the second box.
    assert sorted((one.first_frame - 1, one.last_frame) for one in people) == list(PICTURES)
    assert {ways(one, video, unclear_s=0.5) for one in people} == {("unclear", "unclear")}
