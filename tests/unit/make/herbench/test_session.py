"""Pictures cut out of videos by other processes: the same bytes, also where no folder is shared."""

import pytest

from vidence.make.herbench.session import Cutting
from vidence.make.pipeline.pictures import PictureFolder
from vidence.make.pipeline.session import BuildContext
from videos import pans


def cut_two(video, pictures):
    """Two frames, as a cut makes them."""
    made = video.read([1, 3], lambda index, image: pictures.keep(image, frame_index=index, quality=90))
    return tuple(made.values())


@pytest.fixture
def cutting(tmp_path, monkeypatch):
    monkeypatch.setenv("VIDENCE_CACHE", str(tmp_path / "there"))
    context = BuildContext(cache_root=tmp_path / "cache", memory=tmp_path / "replies.sqlite")
    film = pans.write(tmp_path / "film.mp4", pans.pan(5, n_frames=6))
    return Cutting(cut=cut_two, file=film, pictures=PictureFolder(tmp_path / "pictures"), context=context)


def test_pictures_that_are_cut_on_another_machine_come_with_the_result(cutting, tmp_path):
    away = cutting.apart(is_away=True)()
    assert not (tmp_path / "pictures").exists()
    crops = cutting.make()
    assert away.value == crops
    assert away.files == {
        f"pictures/{c.digest[:2]}/{c.digest}": cutting.pictures.get(c.digest) for c in crops
    }
    assert cutting.apart(is_away=False)() == crops
