"""The configurations that the documentation shows are read, and every setting of one is described."""

import re
from pathlib import Path

import msgspec
import pytest

from vidence.engine.config_file import read_config
from vidence.make import writing
from vidence.make.herbench.config import read_herbench
from vidence.make.lights.tables import PanelRules
from vidence.make.lights.trials import read_map
from vidence.make.makers.actpld import ActpldConfig, create
from vidence.make.pipeline.session import MakeOverrides
from vidence.make.writing.draft_files import COLUMNS
from vidence.make.writing.expert_config import (
    DraftRules,
    ExpertConfig,
    ExpertGates,
    LicenceRules,
    OnlineRules,
)
from vidence.make.writing.expert_films import Film
from vidence.make.writing.session import QuestionReview
from vidence.make.writing.subjects import Concept, Subject
from vidence.pointlight.specs import spec_of
from vidence.study.study import read_study

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
    assert read.people.folder == "sheets"
    assert read.cards.file.endswith("cards.csv")


def test_every_toml_block_is_tested(page):
    assert {block.title for block in page[PAGE].blocks("toml")} == {
        "kitchens.toml",
        "street.toml",
        "corrected.toml",
        "crowds.toml",
    }


EXPERT = "docs/making/expert.md"


def test_the_shown_configuration_of_experts_is_read(page, tmp_path):
    (block,) = page[EXPERT].blocks("toml")
    path = tmp_path / "workshop.toml"
    path.write_text(block.body, encoding="utf-8")
    assert read_config(path, ExpertConfig).name == "workshop"


def test_every_setting_column_and_finding_of_experts_is_described(page):
    named = set(re.findall(r"`\[?([\w-]+)(?: = [^`]+)?\]?`", page[EXPERT].text))
    elsewhere = {"name", "out", "asking"}
    wanted = {f.encode_name for f in msgspec.structs.fields(ExpertConfig)} - elsewhere
    for rules in (DraftRules, LicenceRules, OnlineRules, ExpertGates, QuestionReview, Concept, Film, Subject):
        wanted |= {f.name for f in msgspec.structs.fields(rules)}
    assert (wanted | {*COLUMNS}) - named == set()


def test_every_kind_of_finding_of_experts_is_described(page):
    source = "".join(
        path.read_text("utf-8") for path in sorted((Path(writing.__file__).parent).glob("expert_*.py"))
    )
    kinds = set(re.findall(r'"((?:[a-z]+-)+[a-z]+)", (?:FAULT|WARNING)', source))
    kinds |= set(re.findall(r'(?:kind=|return |one, )"((?:[a-z]+-)+[a-z]+)"', source))
    assert len(kinds) > 40
    assert kinds - set(re.findall(r"`([\w-]+)`", page[EXPERT].text)) == set()


def test_the_configuration_of_point_lights_is_read_and_every_key_is_described(page, tmp_path):
    text = page["docs/making/actpld.md"].text
    (block,) = [one for one in page["docs/making/actpld.md"].blocks("toml") if one.body.startswith("name =")]
    path = tmp_path / "my.toml"
    path.write_text(block.body, encoding="utf-8")
    assert read_config(path, ActpldConfig).panel.montages == ("gemini:gemini-2.5-pro",)
    for field in msgspec.structs.fields(PanelRules):
        assert f"`{field.name}`" in text or f"{field.name} =" in text, field.name


def test_the_map_and_configuration_of_conditions_are_read(page, tmp_path):
    blocks = page["docs/making/conditions.md"].blocks("csv", "toml")
    for block in blocks:
        (tmp_path / block.title).write_text(block.body, encoding="utf-8")
    create().foresee(tmp_path / "lights.toml", overrides=MakeOverrides(), context=None)
    config = read_config(tmp_path / "lights.toml", ActpldConfig)
    read = read_map(tmp_path / "map.csv", config.rows)
    assert (len(read.trials), read.dropped) == (9, ())
    inverted, noise, scrambled, side = (read.trials[n] for n in range(1, 5))
    assert spec_of(inverted.settings).is_inverted
    assert spec_of(noise.settings).n_noise == 20
    assert spec_of(scrambled.settings).scramble == "places"
    assert side.yaw_deg == 90


def test_the_studies_that_are_shown_are_read(page, tmp_path):
    blocks = page["docs/studio/studies.md"].blocks("toml", "text")
    shown = [one for one in blocks if (one.title or "").endswith("study.toml")]
    assert [one.title for one in shown][-1] == "lights/study.toml"
    for block in shown:
        (tmp_path / "study.toml").write_text(block.body, encoding="utf-8")
        assert read_study(tmp_path).study.phases
