"""The configurations that the documentation shows are read, and every setting of one is described."""

import re

import msgspec
import pytest

from vidence.make.herbench.config import HerbenchConfig, LogRule, SourceRule, TaskRules, read_herbench

PAGE = "docs/making/herbench.md"


@pytest.mark.parametrize("name", ["kitchens.toml", "street.toml", "crowds.toml"])
def test_a_shown_configuration_is_read(page, tmp_path, name):
    (block,) = [b for b in page[PAGE].blocks("toml") if b.title == name]
    path = tmp_path / name
    path.write_text(block.body, encoding="utf-8")
    config = read_herbench(path)
    assert config.name == name.removesuffix(".toml")


def test_the_configuration_with_corrections_names_what_people_fill_in(page, tmp_path):
    (block,) = [one for one in page[PAGE].blocks("toml") if one.title == "corrected.toml"]
    path = tmp_path / "corrected.toml"
    path.write_text(block.body, encoding="utf-8")
    read = read_herbench(path)
    assert read.tracking.reviewed.endswith("tracks.csv")
    assert read.shots.file.endswith("shots.csv")
    assert read.cards.file.endswith("cards.csv")


def test_every_toml_block_is_tested(page):
    assert {block.title for block in page[PAGE].blocks("toml")} == {
        "kitchens.toml",
        "street.toml",
        "corrected.toml",
        "crowds.toml",
    }


def test_every_setting_is_in_the_table(page):
    rows = re.findall(r"^\| ((?:`\[?|`).*?) \|", page[PAGE].text, re.MULTILINE)
    named = {re.sub(r"[\[\]]", "", code) for cell in rows for code in re.findall(r"`([^`]+)`", cell)}
    tables = ("sources", "logs", "tracking", "shots", "models", "cards", "scenes", "asking")
    wanted = {f.name for f in msgspec.structs.fields(HerbenchConfig)} - {*tables, "tasks"}
    for rules in (SourceRule, LogRule, TaskRules):
        wanted |= {f.name for f in msgspec.structs.fields(rules)}
    assert wanted - named == set()
    assert set(tables) - named == set()
