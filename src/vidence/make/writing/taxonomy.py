"""Taxonomies: levels, dimensions, tasks; a TOML file, shipped or the user's."""

from collections import Counter
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Final, Literal

import msgspec

from vidence.engine.config_file import CountOrNone, read_config
from vidence.errors import UsageError
from vidence.records import Record

OURS: Final = "humanpcr"


class TaxonomyTask(Record, omit_defaults=True):
    """A task: its `aspect` in words, for use in questions, and its medium, if any."""

    name: str
    title: str = ""
    aspect: str = ""
    medium: Literal["", "image", "images", "video"] = ""
    difficulty: str = ""


class Dimension(Record, omit_defaults=True):
    """A group of tasks. With `n_tasks` it may have other tasks than so many, and the account says so."""

    name: str
    tasks: tuple[TaxonomyTask, ...] = ()
    n_tasks: CountOrNone | None = None


class Level(Record, omit_defaults=True):
    """A group of dimensions."""

    name: str
    dimensions: tuple[Dimension, ...]


class Home(Record):
    """A task's place in the taxonomy."""

    level: str
    dimension: str
    task: TaxonomyTask


class Taxonomy(Record, omit_defaults=True):
    """Levels of dimensions of tasks, each name once.

    Source: HumanPCR, section 3.1 and figure 2 (two levels with choices, nine dimensions, 34 tasks).
    Departs: the names of 32 of the tasks are not in the text; they are the user's.
    """

    title: str = ""
    levels: tuple[Level, ...]

    def __post_init__(self) -> None:
        dimensions = [dimension.name for level in self.levels for dimension in level.dimensions]
        tasks = [task.name for _, _, task in self._tasks()]
        for what, names in (("levels", [level.name for level in self.levels]), ("dimensions", dimensions)):
            if twice := _twice(names):
                raise UsageError(f"two {what} are called {twice!r}; expected each name once")
        if twice := _twice(tasks):
            raise UsageError(f"two tasks are called {twice!r}; a task stands in one dimension")
        empty = [
            dimension.name
            for level in self.levels
            for dimension in level.dimensions
            if not dimension.tasks and dimension.n_tasks is None
        ]
        if empty:
            raise UsageError(f"the dimension {empty[0]!r} has no task; give it one, or leave it out")

    def _tasks(self) -> Iterator[tuple[Level, Dimension, TaxonomyTask]]:
        for level in self.levels:
            for dimension in level.dimensions:
                for task in dimension.tasks:
                    yield level, dimension, task

    @property
    def homes(self) -> dict[str, Home]:
        """Return the place of each task, by name."""
        return {
            task.name: Home(level=level.name, dimension=dimension.name, task=task)
            for level, dimension, task in self._tasks()
        }

    def with_tasks(self, tasks: Mapping[str, tuple[str, TaxonomyTask]]) -> "Taxonomy":
        """Add tasks by name, each with its dimension.

        Raises:
            UsageError: there is no such dimension, or a task is there already.
        """
        known = [entry.name for level in self.levels for entry in level.dimensions]
        for name, (dimension, _) in tasks.items():
            if dimension not in known:
                raise UsageError(
                    f"the task {name!r} is of the dimension {dimension!r}; expected one of {', '.join(known)}"
                )
        return Taxonomy(
            title=self.title,
            levels=tuple(
                msgspec.structs.replace(
                    level,
                    dimensions=tuple(
                        msgspec.structs.replace(
                            entry, tasks=(*entry.tasks, *(t for d, t in tasks.values() if d == entry.name))
                        )
                        for entry in level.dimensions
                    ),
                )
                for level in self.levels
            ),
        )

    def words(self) -> str:
        """Return counts by level, and dimensions whose number of tasks differs from the stated one."""
        counts = Counter(level.name for level, _, _ in self._tasks())
        words = ", ".join(f"{level.name} {counts[level.name]}" for level in self.levels)
        other = [
            f"{dimension.name} {len(dimension.tasks)} of {dimension.n_tasks}"
            for level in self.levels
            for dimension in level.dimensions
            if dimension.n_tasks is not None and dimension.n_tasks != len(dimension.tasks)
        ]
        more = f"; not as declared: {', '.join(other)}" if other else ""
        return f"tasks by level: {words}{more}"


def load_taxonomy(name: str, root: Path) -> Taxonomy:
    """Load a shipped taxonomy by name, or a ``.toml`` file.

    Raises:
        UsageError: there is no such thing, or it is invalid.
    """
    if name.endswith(".toml"):
        return read_config(root / name, Taxonomy)
    if name != OURS:
        raise UsageError(f"taxonomy is {name!r}; expected {OURS!r} or a file that ends in .toml")
    with resources.as_file(resources.files("vidence.make.writing") / f"{OURS}.toml") as path:
        return read_config(path, Taxonomy)


def _twice(names: list[str]) -> str:
    return next((name for name, n in Counter(names).items() if n > 1), "")
