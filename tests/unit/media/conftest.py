"""Clips are made once per session, when a test asks for them."""

from functools import cache

import pytest

from servers.objects import on_loopback
from vidence.media.video import open_video
from videos.special import MAKERS


@pytest.fixture(scope="session")
def clip_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("clips")


@pytest.fixture(scope="session")
def clip(clip_folder):
    """The clip of that name (see `videos/special.py`)."""
    made = {}

    def get(name):
        if name not in made:
            made[name] = MAKERS[name](clip_folder)
        return made[name]

    return get


@pytest.fixture(scope="session")
def opened(clip):
    """The clip of that name as a video, whose packets are read once."""
    return cache(lambda name: open_video(clip(name).path))


@pytest.fixture
def plain(clip):
    """120 frames of H.264 in MP4."""
    return clip("h264").path


@pytest.fixture
def objects(monkeypatch):
    """A server of objects; addresses of S3 lead to it, and no pause is made before another try."""
    with on_loopback(monkeypatch) as server:
        yield server


@pytest.fixture(params=["s3", "http"])
def folder(request, objects):
    """The address of the bucket ``lab``, as a store and as a web server."""
    if request.param == "http":
        return f"{objects.url}/lab"
    pytest.importorskip("s3fs", reason="s3:// needs s3fs: pip install 'vidence[remote]'")
    return "s3://lab"
