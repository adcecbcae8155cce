"""The lines of a configuration that add what is missing."""

import tomllib
from pathlib import Path

import msgspec

from vidence.make.herbench.config import HerbenchConfig, PeopleRules, SceneStep, SourceRule
from vidence.make.herbench.hints import COUNTED, NO_FILE, SCENE_WRITER, SCENES, TASK_WRITER
from vidence.make.herbench.lines import lines_that_add

PATH = Path("set") / "c.toml"
BARE = HerbenchConfig(name="n", sources=(SourceRule(path="v.mp4"),))
ALL = ("[[logs]]", "[tracking]", COUNTED, "[cards]", "[shots]", SCENES, TASK_WRITER)


def test_all_lines_together_are_tables_of_a_configuration():
    (said,) = lines_that_add([ALL[:3], ALL[2:]], BARE, path=PATH)
    _, _, rest = said.partition("\n")
    lines, _, way = rest.partition("\nWhat lies in ")
    added = tomllib.loads(lines)
    assert list(added) == ["logs", "tracking", "shots", "cards", "scenes", "models", "people"]
    read = msgspec.convert({**msgspec.to_builtins(BARE), **added}, HerbenchConfig)
    assert read.people == PeopleRules(folder="people")
    sheets = PATH.parent / "sheets"
    assert f"`vidence make herbench {PATH} --sheets {sheets}`" in way


def test_what_no_line_adds_gives_none():
    assert lines_that_add([(NO_FILE,), ()], BARE, path=PATH) == ()


def test_a_table_that_is_there_is_not_begun_again():
    there = msgspec.structs.replace(BARE, scenes=SceneStep(false_model="rules"))
    (said,) = lines_that_add([(COUNTED,), (SCENE_WRITER,)], there, path=PATH)
    assert "# into the [scenes] that is there:\nmodel = " in said
    assert "\n[scenes]" not in said
    assert "\n[people]\nfolder = " in said
