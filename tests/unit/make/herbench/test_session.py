"""Pictures cut out of videos by other processes: the same bytes, also where no folder is shared."""

from shutil import copytree, ignore_patterns

import numpy as np
import pytest

from subjects.streets import plan_street, write_street
from vidence.engine.side_by_side import Parallelism
from vidence.make.herbench.session import Cutting
from vidence.make.makers import herbench
from vidence.make.pipeline.ledger import UnitDone
from vidence.make.pipeline.pictures import PictureFolder
from vidence.make.pipeline.session import BuildContext, MakeOverrides
from videos import pans

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
file = "sheets/{video_id}/cards.csv"
[cards.crops]
gap_s = 0.25
[tasks.aglt]
"""
CUTTING = ("crops", "portraits")


def files_of(folder):
    return {p.relative_to(folder): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_two_processes_cut_the_same_pictures_as_one_and_none_again(tmp_path):
    for name, looks in (("north", [0, 2]), ("south", [4, 6])):
        write_street(plan_street(name, looks=looks, rng=np.random.default_rng(7)), tmp_path / "videos")
    (tmp_path / "config.toml").write_text(CONFIG)
    heard = []

    def make(name, parallel):
        context = BuildContext(
            cache_root=tmp_path / f"cache-{name}",
            memory=tmp_path / "replies.sqlite",
            parallel=parallel,
            on_event=heard.append,
        )
        overrides = MakeOverrides(sheets=str(tmp_path / f"sheets-{name}"))
        herbench.create().make(
            tmp_path / "config.toml", out=tmp_path / name, overrides=overrides, context=context
        )
        return files_of(tmp_path / name), files_of(tmp_path / f"sheets-{name}")

    one = make("one", Parallelism())
    assert any(path.parts[0] == "pictures" for path in one[0])
    # Tracks are taken over, so that nothing but the cutting is done anew.
    copytree(tmp_path / "one" / "stages", tmp_path / "two" / "stages", ignore=ignore_patterns(*CUTTING))
    assert make("two", Parallelism(n_workers=2)) == one
    heard.clear()
    assert make("two", Parallelism(n_workers=2)) == one
    assert {e.was_cached for e in heard if isinstance(e, UnitDone) and e.stage in CUTTING} == {True}


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
