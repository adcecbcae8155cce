"""Benchmarks described by TOML files: the paper's protocol, and the layout of the release."""

from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from vidence.ask.benchmarks.paper_facts import NamedRow, OfPaper, PaperFacts
from vidence.ask.benchmarks.question_files import check_split
from vidence.ask.benchmarks.table import mapped
from vidence.ask.mapping.columns import Row, listed
from vidence.ask.mapping.mapping import NAMED, ColumnMap, Layout, read_toml
from vidence.ask.mapping.rows import files_like, read_rows
from vidence.contracts import Benchmark, Loaded, Release
from vidence.errors import DataError


class NamedFacts(PaperFacts):
    """The file of a benchmark.

    `layouts` are the layouts of its questions, the hub's first; each is also a preset of ``--map``.
    `verified` is whether everything was checked against a release; `doubts` say what was not, and what users
    should know. `releases` are the locations of splits that are not in `release`.
    """

    about: str
    home: str
    layouts: dict[str, Layout]
    releases: dict[str, Release] = msgspec.field(default_factory=dict)
    published: tuple[NamedRow, ...] = ()
    verified: bool = False
    doubts: tuple[str, ...] = ()


class Named(OfPaper):
    """The questions of a benchmark described by its file."""

    version = 1

    def __init__(self, name: str, facts: NamedFacts) -> None:
        self.name = name
        super().__init__(facts)
        self.release = replace(facts.release, takes_all=True)
        self.releases = {split: replace(release, takes_all=True) for split, release in facts.releases.items()}
        self.layouts, self.published, self.doubts = facts.layouts, facts.published, facts.doubts
        self.verified = facts.verified
        self.splits = tuple(
            dict.fromkeys(split for layout in facts.layouts.values() for split in layout.splits)
        )

    def load(self, data: Path, *, split: str, strict: bool = False) -> Loaded:
        """Read a split's questions in the folder or file `data`, in the first layout that fits.

        Raises:
            DataError: no layout fits, nothing usable, or with `strict` a bad line.
            UsageError: the split does not exist.
        """
        check_split(self.name, split, self.splits)
        layouts = [entry.of(split) for entry in self.layouts.values() if split in entry.splits]
        seen = ""
        layouts.sort(
            key=lambda column_map: (
                not any(fnmatchcase(data.name, Path(name).name) for name in column_map.files)
            )
        )
        for layout in layouts:
            if (row := _first_row(layout, data)) is not None:
                if layout.fits(row):
                    return mapped(data, layout, split="all", strict=strict)
                seen = f"; a file is there with other columns: {listed(row)} (vidence list mappings)"
        patterns = ", ".join(pattern for column_map in layouts for pattern in column_map.files)
        seen += f"; vidence get {self.name} --split {split} fetches them" if split in self.releases else ""
        raise DataError(f"{data} holds no questions as {self.name} has them; expected {patterns}{seen}")


def _first_row(layout: ColumnMap, data: Path) -> Row | None:
    """Return the first row of a layout's files, if they exist."""
    paths = [data] if data.is_file() else files_like(data, layout.files)[1]
    return read_rows(paths[0], levels=layout.levels, is_log=layout.is_log).first if paths else None


def create(name: str) -> Benchmark:
    """Create the benchmark of that name."""
    return Named(name, msgspec.convert(read_toml(NAMED / f"{name}.toml"), NamedFacts))
