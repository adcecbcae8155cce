"""Point lights of a drawn study: copied under numbers, and missing ones named before anything is written."""

import pytest

from subjects.light_study import STUDY, clips, light_study
from vidence.engine.environment import Environment
from vidence.errors import DataError, UsageError
from vidence.media.lights import read_lights
from vidence.records import Item, Media
from vidence.study.dots import dots_file, light_sources
from vidence.study.drawing import draw
from vidence.study.study import read_study


def test_lights_of_drawn_items_are_copied_under_numbers(tmp_path):
    study = light_study(tmp_path)
    files = sorted(path.name for path in (tmp_path / "dots").iterdir())
    assert len(files) == 4  # three asked, one for practice; the catch trial shows nothing
    for item_id in study.items:
        if study.items[item_id].media:
            path = dots_file(tmp_path, item_id, study.items)
            number = item_id.removesuffix("/label").removeprefix("secretwalk")
            assert read_lights(path).frames[0].y_px[0] == -float(number)
    assert dots_file(tmp_path, "b", ["a", "b"]) == dots_file(tmp_path, "b", ["b", "a"])


def test_missing_lights_are_named_and_nothing_is_written(tmp_path):
    clips(tmp_path, 9)
    for path in tmp_path.glob("*.dots.json"):
        path.unlink()
    (tmp_path / "study.toml").write_text(STUDY.replace("n = 3", "n = 8"))
    with pytest.raises(
        DataError, match=r"(?s)secretwalk\d.dots.json: cannot read point lights .* and 4 more"
    ):
        draw(read_study(tmp_path), environment=Environment(cache_root=tmp_path / "cache"))
    assert not (tmp_path / "dots").exists()


def test_an_item_of_two_media_has_no_lights(tmp_path):
    item = Item(item_id="two", question="?", answer="x", media=(Media(path="a.mp4"), Media(path="b.mp4")))
    with pytest.raises(UsageError, match="'two' has 2 media, but point lights need exactly one"):
        light_sources(tmp_path, [item])
