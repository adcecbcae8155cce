"""The benchmark ``phantom``: reads a rendered world, and says how to get one."""

import hashlib
from pathlib import Path

import pytest

from vidence.ask.benchmarks import phantom
from vidence.ask.phantom.plan import WorldSpec, plan_world
from vidence.ask.phantom.world import render
from vidence.errors import DataError
from vidence.records import Media

SPEC = WorldSpec(n_videos=1, min_s=20, max_s=20, n_variable=0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    render(folder, SPEC, seed=2)
    return folder


def test_a_rendered_world_loads_as_it_was_planned(folder: Path):
    loaded = phantom.create().load(folder, split="all", strict=True)
    assert loaded.items == plan_world(SPEC, seed=2).items
    assert loaded.media_root == folder
    assert loaded.problems == loaded.notes == ()
    assert loaded.content_hash == hashlib.sha256((folder / "items.jsonl").read_bytes()).hexdigest()
    for item in loaded.items:
        assert item.media == (Media(path="videos/v000.mp4"),)
        assert (loaded.media_root / "videos/v000.mp4").is_file()
    benchmark = phantom.create()
    by_file = benchmark.load(folder / "items.jsonl", split="all")
    assert by_file == benchmark.load(folder, split="all")


@pytest.mark.parametrize("data", [".", "absent"])
def test_a_folder_without_a_world_says_what_makes_one(tmp_path: Path, data: str):
    with pytest.raises(DataError, match=r"`vidence demo` or vidence\.ask\.phantom\.world\.render"):
        phantom.create().load(tmp_path / data, split="all")
    assert list(tmp_path.iterdir()) == []


def test_bad_lines_are_left_out_and_listed_or_end_a_strict_reading(folder: Path, tmp_path: Path):
    lines = (folder / "items.jsonl").read_text().splitlines()
    lines[1] = "{"
    lines[3] = lines[3].replace('"answer":"', '"answer":"Z')
    (tmp_path / "items.jsonl").write_text("\n".join([*lines, lines[0]]))
    loaded = phantom.create().load(tmp_path, split="all")
    assert len(loaded.items) == len(lines) - 2
    assert [problem.split(":")[1] for problem in loaded.problems] == ["2", "4", str(len(lines) + 1)]
    with pytest.raises(DataError, match=r"items\.jsonl:2: JSON"):
        phantom.create().load(tmp_path, split="all", strict=True)
