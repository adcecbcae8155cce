"""``vidence list``: names, a line for each, and all options of one thing."""

import json
from typing import Annotated, ClassVar, Literal

import pytest
from click.testing import CliRunner
from msgspec import Meta

from vidence import catalog
from vidence.ask.mapping.mapping import presets, read_map
from vidence.cli.commands.list import PURPOSES, list_names, plurals
from vidence.engine.panel import paper_rows
from vidence.errors import UnknownNameError, UsageError
from vidence.explain.published import published
from vidence.records import Record
from vidence.report.panel_registry import paper_views


class Settings(Record):
    """Options of a made-up thing."""

    positional: ClassVar[str] = "rate"

    rate: Annotated[float, Meta(gt=0, description="frames per second")]
    mode: Annotated[Literal["fast", "exact"], Meta(description="how it works")] = "exact"
    names: Annotated[tuple[str, ...], Meta(description="who is asked")] = ()


@pytest.fixture
def made_up(monkeypatch):
    monkeypatch.setattr(catalog, "settings_type", lambda kind, name: Settings)
    monkeypatch.setattr(catalog, "summary", lambda kind, name: "A thing.")


def said(*arguments: str) -> str:
    done = CliRunner().invoke(list_names, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


def test_without_a_kind_every_name_is_there_with_a_line():
    lines = said().splitlines()
    headings = dict(line.split(": ", 1) for line in lines if not line.startswith(" "))
    assert tuple(headings) == plurals() == tuple(PURPOSES)
    assert headings["benchmarks"] == "sets of questions, for vidence run"
    assert any(line.startswith("  table ") for line in lines)
    n_described = (
        sum(len(catalog.names(kind)) for kind in catalog.FOLDERS)
        + len(paper_rows())
        + len(paper_views())
        + len(presets())
        + len(published.names())
    )
    assert len(lines) == len(plurals()) + n_described + 3  # protocols, prompts and prices are lists of names
    assert json.loads(said("--json", "-"))["kinds"]["trackers"] == list(catalog.names("tracker"))


@pytest.mark.parametrize("kind", [k for k in plurals() if k not in {"protocols", "prompts", "prices"}])
def test_every_thing_says_in_one_line_what_it_is(kind):
    described = json.loads(said(kind, "--json", "-"))["names"]
    assert described
    assert all(len(text) > 10 for text in described.values()), described
    assert said(kind).splitlines()[0].split()[0] == next(iter(described))


def test_one_thing_shows_its_options_with_type_bounds_default_and_help(made_up):
    assert said("selectors", "thing") == (
        "selector thing:RATE: A thing.\n"
        "  rate: a number above 0 (must be given)\n"
        "      frames per second\n"
        '  mode: one of exact, fast (default "exact")\n'
        "      how it works\n"
        "  names: several values split by |, each a text (default [])\n"
        "      who is asked\n"
    )


def test_the_same_as_json(made_up):
    described = json.loads(said("selectors", "thing", "--json", "-"))
    assert described["options"][0] == {
        "name": "rate",
        "expects": "a number above 0",
        "is_required": True,
        "default": None,
        "is_argument": True,
        "help": "frames per second",
    }
    assert described["options"][1]["default"] == "exact"


def test_a_mapping_is_shown_as_the_file_that_one_of_ones_own_begins_with(tmp_path):
    (tmp_path / "mine.toml").write_text(said("mappings", "video-mme"))
    assert read_map(str(tmp_path / "mine.toml")) == read_map("video-mme")
    described = json.loads(said("mappings", "video-mme", "--json", "-"))
    assert described["fields"]["item_id"] == "question_id"
    with pytest.raises(UnknownNameError, match="Did you mean 'video-mme'"):
        said("mappings", "videomme")


def test_a_thing_without_options_says_so():
    assert said("benchmarks", "mmvu").endswith("no options\n")


def test_wrong_kinds_and_names_are_answered_with_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'selectors'"):
        said("selectrs")
    with pytest.raises(UnknownNameError, match="Did you mean 'midpoints'"):
        said("selectors", "midpoint")
    with pytest.raises(UsageError, match="have no options"):
        said("protocols", "table/default")
