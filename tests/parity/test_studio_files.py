"""The released questions of MMVU and PerceptionComp go through a studio and come out as they were."""

from pathlib import Path

import msgspec
import pytest

from conftest import IS_THOROUGH, need
from servers.studio import configured, studio
from vidence.ask.benchmarks import mmvu, perceptioncomp, table
from vidence.contracts import Loaded
from vidence.records import Item

configured()

pytestmark = pytest.mark.parity


def loaded(checks: Path, name: str) -> Loaded:
    """The released file of a benchmark."""
    if name == "mmvu":
        path = need(checks / "mmvu" / "validation.json.gz")
        return mmvu.create().load(path, split="validation", strict=True)
    path = need(checks / "perceptioncomp" / "annotations_1-1114.json")
    return perceptioncomp.create().load(path, split="all", strict=True)


@pytest.mark.parametrize(("name", "n"), [("mmvu", 1000), ("perceptioncomp", 1114)])
def test_released_questions_come_out_as_they_went_in(
    checks_dir: Path, tmp_path: Path, name: str, n: int
) -> None:
    from vidence.studio.bridge.files import export_studio
    from vidence.studio.bridge.recorded_files import take_items
    from vidence.studio.upkeep import verify

    questions = loaded(checks_dir, name).items[:: 1 if IS_THOROUGH else 10]
    n = n if IS_THOROUGH else len(questions)
    with studio("team", tmp_path / "one") as tried:
        taken = take_items(tried.project(name, name), questions)
        assert (taken.n_new, taken.n_same) == (n, 0)
        assert take_items(the_project(name), questions).n_same == n
        assert list(verify()) == []
        export_studio(tmp_path / "out")
    path = tmp_path / "out" / "projects" / name / "items.jsonl"
    out = [msgspec.json.decode(line, type=Item) for line in path.read_bytes().splitlines()]
    assert sorted(out, key=_name) == sorted(questions, key=_name)
    # In released questions of PerceptionComp a choice is called as the letter of another one is.
    read = table.create().load(path, split="all", strict=name == "mmvu")
    assert len(read.items) + len(read.problems) == n


def the_project(name: str) -> object:
    """The project of this name."""
    from vidence.studio.accounts import project_of

    return project_of(name)


def _name(item: Item) -> str:
    return item.item_id
