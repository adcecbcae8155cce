"""Clips are made once per session, when a test asks for them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from videos.special import MAKERS, Clip


@pytest.fixture(scope="session")
def clip_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("clips")


@pytest.fixture(scope="session")
def clip(clip_folder: Path) -> Callable[[str], Clip]:
    """The clip of that name (see `videos/special.py`)."""
    made: dict[str, Clip] = {}

    def get(name: str) -> Clip:
        if name not in made:
            made[name] = MAKERS[name](clip_folder)
        return made[name]

    return get


@pytest.fixture
def plain(clip) -> Path:
    """120 frames of H.264 in MP4."""
    return clip("h264").path
