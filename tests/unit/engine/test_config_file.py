"""Strict TOML: what is wrong is named with its line and the nearest name that there is."""

from typing import Literal

import msgspec
import pytest

from vidence.engine.config_file import Share, read_config
from vidence.errors import UsageError
from vidence.records import Record


class Inner(Record):
    detector: str = "hog"
    high: float = 0.5


class Source(Record):
    path: str
    licence: str = ""


class Whole(Record):
    name: str
    tracking: Inner | None = None
    sources: tuple[Source, ...] = ()
    models: dict[str, str | Inner] = msgspec.field(default_factory=dict)
    seed: int = 0
    kind: Literal["a", "b"] = "a"
    share: Share = 1.0

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise UsageError(f"seed is {self.seed}; expected 0 or more")


GOOD = """
name = "street"  # a name
seed = 3

[tracking]
detector = "boxes"

[[sources]]
path = "a.mp4"

[[sources]]
path = "b.mp4"
licence = "CC0"

[models.cards]
detector = "x"

[models]
scenes = "scripted:x"
"""


def read(tmp_path, text: str) -> Whole:
    path = tmp_path / "config.toml"
    path.write_text(text)
    return read_config(path, Whole)


def test_a_good_file_is_its_record(tmp_path):
    found = read(tmp_path, GOOD)
    assert found == Whole(
        name="street",
        seed=3,
        tracking=Inner(detector="boxes"),
        sources=(Source(path="a.mp4"), Source(path="b.mp4", licence="CC0")),
        models={"cards": Inner(detector="x"), "scenes": "scripted:x"},
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('detector = "boxes"', 'detektor = "boxes"', ("config.toml:6:", "'tracking.detektor'", "'detector'")),
        ('licence = "CC0"', 'license = "CC0"', ("config.toml:13:", "'sources[1].license'", "'licence'")),
        ("[tracking]", "[trackin]", ("config.toml:5:", "'trackin'", "'tracking'")),
        ("seed = 3", 'seed = "three"', ("config.toml:3: seed: 'three' found; expected a whole number",)),
        ('path = "b.mp4"', "", ("config.toml:11: sources[1]: `path` is missing; give it",)),
        ('scenes = "scripted:x"', "scenes = 3", ("models.scenes: 3 found; expected a text or a table",)),
        ("seed = 3", "seed = []", ("config.toml:3: seed: a list found; expected a whole number",)),
        ("seed = 3", 'kind = "c"', ("config.toml:3: kind: 'c' found; expected one of 'a', 'b'",)),
        ("seed = 3", "share = 1.5", ("config.toml:3: share: 1.5 found; expected a number of 1 or less",)),
        ("seed = 3", "share = 0.0", ("config.toml:3: share: 0.0 found; expected a number of more than 0",)),
        ('detector = "x"', 'detecter = "x"', ("config.toml:16:", "'models.cards.detecter'", "'detector'")),
        ('name = "street"', "", ("config.toml:", "`name`")),
        ("seed = 3", "seed = -1", ("config.toml:", "seed is -1", "0 or more")),
        ("seed = 3", "seed = ", ("config.toml", "not TOML", "line 3")),
        ("seed = 3", "tracking.hih = 3", ("config.toml:3:", "'high'")),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, old, new, said):
    text = GOOD.replace(old, new, 1)
    if new.startswith("tracking."):
        text = text.replace('[tracking]\ndetector = "boxes"\n', "")
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    for words in said:
        assert words in str(caught.value)


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_said(tmp_path, content):
    path = tmp_path / "config.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match="cannot be read"):
        read_config(path, Whole)
