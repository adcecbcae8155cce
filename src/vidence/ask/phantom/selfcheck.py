"""Does decoding work on this machine? Render a clip with known codes, and read them back."""

from pathlib import Path

import numpy as np

from vidence.ask.phantom.code import read
from vidence.ask.phantom.plan import WorldSpec, plan_world
from vidence.ask.phantom.world import render
from vidence.media.video import FrameProblem, open_video

_SPEC = WorldSpec(n_videos=1, items_per_video=1, min_s=20, max_s=20, n_variable=1, sizes=((320, 180),))
_SEED = 0


def decodes_exactly(folder: Path, *, n_frames: int = 24) -> tuple[int, int]:
    """How many frames of a test clip show what was drawn in them, and how many were looked at.

    The clip has a variable frame rate and few keyframes; the frames are spread over it. A frame is
    right when it comes at its planted time and shows its own card, or no card where none was drawn.

    Args:
        folder: where the clip may be written; it must be empty or not there.
        n_frames: how many frames to look at.

    Raises:
        MediaError: the clip cannot be encoded or opened.
        DataError: the folder holds something else.
    """
    world = render(folder, _SPEC, seed=_SEED)
    plan = plan_world(_SPEC, seed=_SEED)
    drawn, times_s = plan.videos[0].cards(plan.number), plan.videos[0].times_s
    video = open_video(folder / world.videos[0].path)
    indices = np.linspace(0, len(drawn) - 1, n_frames).astype(int).tolist()
    n_right = 0
    for index, picture in zip(indices, video.frames(indices), strict=True):
        card = drawn[index]
        is_there = index < video.n_frames and abs(video.times_s[index] - times_s[index]) < 1e-3
        is_right = not isinstance(picture, FrameProblem) and read(picture) == (card and card.payload)
        n_right += bool(is_there and is_right)
    return n_right, len(indices)
