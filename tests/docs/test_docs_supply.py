"""The table of what the core installs names each package, and the release's files state its version."""

import importlib.metadata
import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

from vidence.installation import __version__

ROOT = Path(__file__).parents[2]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(requirements: list[str], seen: set[str], extras: frozenset[str] = frozenset({""})) -> set[str]:
    """The packages of requirements and of what these need in turn, by the metadata that is installed."""
    for wanted in map(Requirement, requirements):
        is_asked = not wanted.marker or any(wanted.marker.evaluate({"extra": extra}) for extra in extras)
        if is_asked and normal(wanted.name) not in seen:
            seen.add(normal(wanted.name))
            needed(importlib.metadata.requires(wanted.name) or [], seen, frozenset({"", *wanted.extras}))
    return seen


def test_every_package_of_the_core_is_in_the_table(page):
    table = page["docs/design/supply.md"].text.split("## What the core")[1]
    cells = re.findall(r"^\| (`.+?) \|", table.split("## ")[0], re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {normal(name) for cell in cells for name in re.findall(r"`([\w-]+)`", cell)}
    assert named == needed(project["dependencies"], {"vidence"})


def test_the_citation_has_the_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (\S+)$", text, re.MULTILINE)[1] == __version__
