"""The lines of a configuration that add what is missing."""

import tomllib
from pathlib import Path

import msgspec

from vidence.make.herbench.config import HerbenchConfig, SourceRule, TrackingRules
from vidence.make.herbench.hints import CARD_WRITER, COUNTED, NO_FILE, TASK_WRITER
from vidence.make.herbench.lines import lines_that_add

PATH = Path("set") / "c.toml"
BARE = HerbenchConfig(name="n", sources=(SourceRule(path="v.mp4"),))
ALL = ("[[logs]]", "[tracking]", COUNTED, "[cards]", "[shots]", "[scenes]", TASK_WRITER)


def test_all_lines_together_are_tables_of_a_configuration():
    (said,) = lines_that_add([ALL[:3], ALL[2:]], BARE, path=PATH)
    _, _, rest = said.partition("\n")
    lines, _, way = rest.partition("\nWhat lies in ")
    added = tomllib.loads(lines)
    assert list(added) == ["logs", "tracking", "shots", "cards", "scenes", "models"]
    read = msgspec.convert({**msgspec.to_builtins(BARE), **added}, HerbenchConfig)
    assert read.tracking == TrackingRules(counted="sheets/counts.csv")
    sheets = PATH.parent / "sheets"
    assert f"`vidence make herbench {PATH} --sheets {sheets}`" in way


def test_what_no_line_adds_gives_none():
    assert lines_that_add([(NO_FILE,), ()], BARE, path=PATH) == ()


def test_a_table_that_is_there_is_not_begun_again():
    there = msgspec.structs.replace(BARE, tracking=TrackingRules())
    (said,) = lines_that_add([(COUNTED,), (CARD_WRITER,)], there, path=PATH)
    assert "# into the [tracking] that is there:\ncounted = " in said
    assert "\n[tracking]" not in said
    assert "\n[cards]\nfile = " in said
