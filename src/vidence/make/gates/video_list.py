"""List candidate videos from a folder or table, with people's ratings."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

from vidence.ask.files import csv_rows, read
from vidence.errors import DataError, UsageError
from vidence.records import Record
from vidence.tables.export import csv_text

ENDINGS: Final = frozenset(
    (".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".mpg", ".mpeg", ".ts", ".flv", ".wmv", ".ogv")
)
COLUMNS: Final = ("video", "domain", "published", "people")
SHEET_COLUMNS: Final = ("video", "text", "lecture", "by")
_MOST_NAMED: Final = 3
_IN_WORDS: Final[Mapping[str, float]] = {"yes": 1.0, "no": 0.0}


class ListedVideo(Record, omit_defaults=True):
    """A candidate video. `video_id` is its path in the list, `domain` its kind for quotas.

    `published` is the day of its publication, `people` how many a frame shows as a person counted; None where
    nobody says.
    """

    video_id: str
    path: str
    domain: str = ""
    published: date | None = None
    people: float | None = None


class PeopleSaid(Record):
    """A person's rating of a video: shares of on-screen text and of lecture-like footage."""

    text: float | None
    lecture: float | None
    by: str


@dataclass(frozen=True, kw_only=True)
class VideoListing:
    """The videos in order, and unusable rows and files with their places."""

    videos: tuple[ListedVideo, ...]
    problems: tuple[str, ...] = ()


def list_videos(source: Path) -> VideoListing:
    """Return the videos of a table, or of a folder and its subfolders.

    In a folder, a video's domain is the folder in which it lies, from `source` on. A table is CSV with the
    column `video` (a path, from the folder of the table on) and, where they are known, `domain`, `published`
    (YYYY-MM-DD) and `people` (a frame, counted by a person; 0: nobody is there).

    Raises:
        DataError: the table cannot be read, names a column that is not known, or one video twice.
        UsageError: there is no such folder or file, or no video in it.
    """
    if source.is_dir():
        listing = _of_folder(source)
    elif source.is_file():
        listing = _of_table(source)
    else:
        raise UsageError(f"there is no file or folder {source}; expected a folder of videos, or a CSV")
    if not listing.videos and not listing.problems:
        raise UsageError(
            f"{source} lists no video; expected files that end with {', '.join(sorted(ENDINGS))}, or a CSV "
            "with the column video"
        )
    return listing


def _of_folder(source: Path) -> VideoListing:
    files = sorted(
        path
        for path in source.rglob("*")
        if path.suffix.lower() in ENDINGS
        and path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(source).parts)
    )
    names = [path.relative_to(source) for path in files]
    videos = (
        ListedVideo(
            video_id=name.as_posix(),
            path=str(path),
            domain="" if name.parent == Path() else name.parent.as_posix(),
        )
        for name, path in zip(names, files, strict=True)
    )
    return VideoListing(videos=tuple(videos))


def _of_table(source: Path) -> VideoListing:
    rows = csv_rows(read(source, what="a list of videos"), needed=("video",), known=COLUMNS)
    videos: dict[str, ListedVideo] = {}
    problems: list[str] = []
    for line, row in rows:
        if not isinstance(row, dict):
            problems.append(f"{source}:{line}: {row}")
            continue
        name = row.get("video", "")
        try:
            day, people = row.get("published", ""), _count(row.get("people", ""))
            published = date.fromisoformat(day) if day else None
        except ValueError:
            expected = "YYYY-MM-DD under published and a number under people, or empty cells"
            problems.append(f"{source}:{line}: {', '.join(row.values())}; expected {expected}")
            continue
        if not name or name in videos:
            what = f"{name!r} stands there twice" if name else "no video is named"
            problems.append(f"{source}:{line}: {what}; expected each path once")
            continue
        path, domain = str(source.parent / name), row.get("domain", "")
        videos[name] = ListedVideo(
            video_id=name, path=path, domain=domain, published=published, people=people
        )
    return VideoListing(videos=tuple(videos.values()), problems=tuple(problems))


def _count(text: str) -> float | None:
    if text and not 0 <= float(text) < math.inf:
        raise ValueError(text)
    return float(text) if text else None


def empty_sheet(videos: Sequence[ListedVideo]) -> str:
    """Return an empty rating sheet with one row per video."""
    rows = [[video.video_id, "", "", ""] for video in videos]
    return csv_text([list(SHEET_COLUMNS), *rows], is_data=True)


def read_sheet(path: Path, videos: Sequence[ListedVideo]) -> dict[str, PeopleSaid]:
    """Return people's ratings; rows without values are skipped.

    `text` and `lecture` are shares from 0 to 1, or yes and no; who says anything says who they are (`by`).

    Raises:
        DataError: a row cannot be used; all of them are counted and the first are named.
    """
    known = {video.video_id for video in videos}
    values: dict[str, PeopleSaid] = {}
    faults: list[str] = []
    rows = csv_rows(read(path, what="a sheet"), needed=SHEET_COLUMNS, known=SHEET_COLUMNS)
    for line, row in rows:
        fault = str(row) if not isinstance(row, dict) else _fault(row, known, values)
        if fault or not isinstance(row, dict):
            faults.append(f"{path}:{line}: {fault}")
        elif row["text"] or row["lecture"]:
            result = PeopleSaid(text=_share(row["text"]), lecture=_share(row["lecture"]), by=row["by"])
            values[row["video"]] = result
    if faults:
        more = f"; and {len(faults) - _MOST_NAMED:,} more rows" if len(faults) > _MOST_NAMED else ""
        raise DataError("; ".join(faults[:_MOST_NAMED]) + more)
    return values


def _fault(row: Mapping[str, str], known: set[str], values: Mapping[str, PeopleSaid]) -> str:
    """Return what is wrong with a row; empty if nothing is."""
    if row["video"] not in known:
        return f"{row['video']!r} is not among the videos; expected a name as the sheet had it"
    if row["video"] in values:
        return f"{row['video']!r} stands there twice; expected one row a video"
    for name in ("text", "lecture"):
        try:
            _share(row[name])
        except ValueError:
            return f"{name} is {row[name]!r}; expected 0 to 1, yes, no, or an empty cell"
    if (row["text"] or row["lecture"]) and not row["by"]:
        return "no signature; expected a name under by"
    return ""


def _share(text: str) -> float | None:
    """Parse a share in a cell.

    Raises:
        ValueError: it is none.
    """
    if not text:
        return None
    value = _IN_WORDS.get(text.casefold())
    value = float(text) if value is None else value
    if not 0 <= value <= 1:
        raise ValueError(text)
    return value
