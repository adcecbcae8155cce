"""The street of the worked examples, as it is or changed, and what is said of programs in it."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from vidence.make.compose.program import read_compositions
from vidence.make.compose.prove import Rules, prove
from vidence.make.compose.world import World
from vidence.make.sources.proof import Verdict
from vidence.make.sources.scene import Scene
from vidence.make.sources.scene_files import read_scenes

GOLDEN = Path(__file__).parents[3] / "golden" / "compose"


def written_scene(folder: Path, *, without: Iterable[dict] = (), more: Iterable[dict] = ()) -> Path:
    """The street without the lines that have all of some fields, and with more lines."""
    lines = [json.loads(line) for line in (GOLDEN / "lane.jsonl").read_text().splitlines()]
    kept = [line for line in lines if not any(one.items() <= line.items() for one in without)]
    (folder / "street.toml").write_text((GOLDEN / "street.toml").read_text())
    path = folder / "lane.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in [*kept, *more]) + "\n")
    return path


def say(folder: Path, scenes: dict[str, Scene], text: str, rules: Rules) -> list[Verdict]:
    path = folder / "mine.txt"
    path.write_text(text)
    worlds = {name: World(scene) for name, scene in scenes.items()}
    return [
        prove(one, worlds[one.scene], rules=rules, line=line) for one, line in read_compositions(path, scenes)
    ]


@pytest.fixture
def verdict(tmp_path) -> Callable[..., Verdict]:
    """What is said of one program in the street."""

    def ask(text: str, *, without=(), more=(), rules: Rules | None = None) -> Verdict:
        scenes = read_scenes(written_scene(tmp_path, without=without, more=more))
        (found,) = say(tmp_path, scenes, f'scene = "lane"\n{text}', rules or Rules())
        return found

    return ask


@pytest.fixture
def examples(tmp_path) -> list[Verdict]:
    """What is said of the worked examples."""
    return say(tmp_path, read_scenes(GOLDEN / "lane.jsonl"), (GOLDEN / "examples.txt").read_text(), Rules())


@pytest.fixture
def said_in(tmp_path) -> Callable[[dict[str, Scene], str], list[Verdict]]:
    """What is said of programs in given scenes."""
    return lambda scenes, text: say(tmp_path, scenes, text, Rules())
