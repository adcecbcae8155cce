"""``vidence doctor`` names the extras that there are."""

import tomllib
from pathlib import Path

from vidence.cli.doctor import EXTRAS

PROJECT = Path(__file__).parents[3] / "pyproject.toml"


def test_every_extra_is_named_and_no_other():
    extras = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(EXTRAS) == set(extras) - {"all"}
