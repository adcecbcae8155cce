"""Which videos were chosen: the list that ``vidence select videos`` keeps, with why it left others out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Final

from vidence.ask.files import csv_rows, read
from vidence.errors import DataError
from vidence.make.gates.video_report import SOURCES_FILE
from vidence.make.pipeline.material import Dropped
from vidence.make.writing.expert_films import VIDEOS, Film, Length

_KEPT: Final = "kept"
_MOST_NAMED: Final = 3


@dataclass(frozen=True, kw_only=True)
class Selection:
    """What a selection says of videos, by their names and by the hashes of their files.

    `kept` are those that it kept, `refused` the others with the reasons, `published` the days that it knows.
    """

    kept: frozenset[str]
    refused: Mapping[str, str] = field(default_factory=dict)
    published: Mapping[str, date] = field(default_factory=dict)


def read_selection(path: Path) -> Selection:
    """The list of kept videos; ``sources.csv`` beside it, where it is there, says why others were left out.

    A video is known by its name (`video`) and, where the list has it, by the SHA-256 of its file.

    Raises:
        DataError: a file cannot be read, or rows of it are none; the first are named.
    """
    paths = [path]
    beside = path.parent / SOURCES_FILE
    if beside.is_file() and beside != path:
        paths.append(beside)
    kept: set[str] = set()
    refused: dict[str, str] = {}
    published: dict[str, date] = {}
    faults: list[str] = []
    for one in paths:
        for line, row in csv_rows(read(one, what="a selection of videos"), needed=("video", "outcome")):
            if not isinstance(row, dict):
                faults.append(f"{one}:{line}: {row}")
                continue
            names = [name for name in (row["video"], row.get("sha256", "")) if name]
            if row["outcome"] == _KEPT and one == path:
                kept.update(names)
            elif row["outcome"] != _KEPT:
                refused |= dict.fromkeys(names, row.get("reasons", "") or row["outcome"])
            try:
                if day := row.get("published", ""):
                    published |= dict.fromkeys(names, date.fromisoformat(day))
            except ValueError:
                faults.append(f"{one}:{line}: {row['published']!r} is no day; expected YYYY-MM-DD")
    if faults:
        more = f"; and {len(faults) - _MOST_NAMED:,} more" if len(faults) > _MOST_NAMED else ""
        raise DataError("; ".join(faults[:_MOST_NAMED]) + more)
    return Selection(kept=frozenset(kept), refused=refused, published=published)


def not_selected(
    films: Sequence[Film], lengths: Mapping[str, Length], selection: Selection
) -> tuple[Dropped, ...]:
    """The videos that a selection did not keep, for the reason ``not-selected``, with its words.

    A video is the one of the list that has the hash of its file or, where that is in no row, its path, its
    id or its address.
    """
    dropped = []
    for film in films:
        names = names_of(film, lengths)
        known = [name for name in names if name in selection.kept or name in selection.refused]
        if known and known[0] in selection.kept:
            continue
        why = selection.refused[known[0]] if known else "the selection has no such video"
        dropped.append(Dropped(what=film.video_id, stage=VIDEOS, reason="not-selected", detail=why))
    return tuple(dropped)


def names_of(film: Film, lengths: Mapping[str, Length]) -> tuple[str, ...]:
    """The names that a list may know a video by, the surest first."""
    sha256 = lengths[film.video_id].sha256 if film.video_id in lengths else ""
    return tuple(filter(None, (sha256, film.path, film.video_id, film.url.strip())))
