"""Source videos of clips: metadata, lengths, licences, selection."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Final

import msgspec

from vidence.ask.benchmarks.mmvu import youtube_id
from vidence.ask.files import FieldError, csv_rows, decoded, objects, read
from vidence.errors import DataError
from vidence.make.gates.licences import LicenceCheck, believed, read_looks, read_sheet
from vidence.make.gates.video_gates import SOURCES_FILE
from vidence.make.pipeline.material import Dropped
from vidence.records import Record

VIDEOS, LICENCE = "videos", "licence"
_YOUTUBE: Final = re.compile(r"(?:^|[/.@])(?:youtube\.com|youtu\.be)(?:[/:?]|$)", re.IGNORECASE)
_NAME: Final = re.compile(r"[\w-]{11}", re.ASCII)


class Film(Record, omit_defaults=True):
    """A video: its address, its file in the media folder, or both.

    `duration_s` counts where the file is not here, `published` is the day on which it was. `licence` is said
    of videos that no platform has. `refused` says why people left it out: a lecture, much text on the screen,
    sound that is needed.
    """

    video_id: str
    url: str = ""
    path: str = ""
    source_id: str = ""
    duration_s: float | None = None
    published: date | None = None
    licence: str = ""
    refused: str = ""
    looked_by: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """Return what clips of one film share."""
        return self.source_id or (youtube_id(self.url) if self.url else self.video_id)

    @property
    def film(self) -> str:
        """Return the platform's id; else its own id."""
        return youtube_id(self.url) if self.url else self.video_id


class Length(Record, omit_defaults=True):
    """A file's stated length; `why` says why there is none."""

    duration_s: float | None = None
    sha256: str = ""
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Films:
    """All videos of a file, in order, and why some are unusable."""

    films: tuple[Film, ...]
    dropped: tuple[Dropped, ...]


def read_films(path: Path) -> Films:
    """Read the videos of a JSON lines file.

    Reasons: ``unreadable``, ``repeated-id``, ``no-place`` (neither address nor file), ``no-film-name`` (an
    address on YouTube that names no film), ``refused-by-people``.

    Raises:
        DataError: the file cannot be read.
    """
    decoder = msgspec.json.Decoder(Film)
    films: list[Film] = []
    dropped: list[Dropped] = []
    known: set[str] = set()
    for place, raw in objects(read(path, what="videos")):
        try:
            film = decoded(raw, decoder)
        except FieldError as error:
            film = Film(video_id=f"line {place}")
            dropped.append(_dropped(film, "unreadable", f"{path.name}:{place}: {error}"))
        else:
            if film.video_id in known:
                film = msgspec.structs.replace(film, video_id=f"{film.video_id} (line {place})")
                dropped.append(_dropped(film, "repeated-id", "an earlier video has this id"))
            elif fault := _fault(film):
                dropped.append(_dropped(film, *fault))
        known.add(film.video_id)
        films.append(film)
    return Films(films=tuple(films), dropped=tuple(dropped))


def _fault(film: Film) -> tuple[str, str] | None:
    if not film.url.strip() and not film.path:
        return "no-place", "neither url nor path; say where the video is"
    if _YOUTUBE.search(film.url) and not _NAME.fullmatch(youtube_id(film.url)):
        return "no-film-name", f"{film.url!r} names no film; expected https://www.youtube.com/watch?v=NAME"
    if film.refused:
        return "refused-by-people", film.refused
    return None


def _dropped(film: Film, reason: str, detail: str, *, stage: str = VIDEOS) -> Dropped:
    return Dropped(what=film.video_id, stage=stage, reason=reason, detail=detail)


def day_of(moment: str) -> date | None:
    """Parse the day of a platform's timestamp; None if it is invalid.

    >>> day_of("2024-05-01T12:00:00Z"), day_of("")
    (datetime.date(2024, 5, 1), None)
    """
    try:
        return datetime.fromisoformat(moment).date()
    except ValueError:
        return None


@dataclass(frozen=True, kw_only=True)
class LicenceDesk:
    """All stored licence checks, people's findings, and the current time."""

    kept: Sequence[LicenceCheck]
    by_people: Mapping[str, LicenceCheck]
    now: datetime
    days: float

    @classmethod
    def open(cls, kept: Path, *, manual: Path | None, now: datetime, days: float) -> "LicenceDesk":
        """Read the files.

        Raises:
            DataError: one cannot be used.
        """
        people = {} if manual is None else read_sheet(manual, today=now.date())
        return cls(kept=read_looks(kept, LicenceCheck), by_people=people, now=now, days=days)

    def look(self, films: Sequence[Film]) -> tuple[dict[str, LicenceCheck | None], tuple[Dropped, ...]]:
        """Return each video's passing check by id (None: it states its own licence), and the other videos.

        Reasons: ``licence-refused``, ``licence-gone``, ``licence-unknown``, ``licence-old``,
        ``licence-not-checked``. Nothing is asked of a platform here.
        """
        final = {**believed(self.kept, now=self.now, days=self.days), **self.by_people}
        last = {entry.video: entry for entry in self.kept} | dict(self.by_people)
        passed: dict[str, LicenceCheck | None] = {}
        dropped: list[Dropped] = []
        for film in films:
            licence = final.get(film.film)
            if licence is not None and licence.outcome == "passed":
                passed[film.video_id] = licence
            elif licence is None and film.film not in last and film.licence and not film.url:
                passed[film.video_id] = None
            else:
                reason, detail = _unpassed(film, licence, last.get(film.film), days=self.days)
                dropped.append(_dropped(film, reason, detail, stage=LICENCE))
        return passed, tuple(dropped)


def _unpassed(
    film: Film, licence: LicenceCheck | None, last: LicenceCheck | None, *, days: float
) -> tuple[str, str]:
    if licence is not None:
        return f"licence-{licence.outcome}", licence.why or licence.licence
    if last is None:
        return "licence-not-checked", f"{film.film}; run vidence videos licence"
    if last.is_final:
        return "licence-old", f"{film.film} was checked on {last.at:%Y-%m-%d}, {days:g} days are believed"
    return f"licence-{last.outcome}", last.why


_KEPT: Final = "kept"
_MOST_NAMED: Final = 3


@dataclass(frozen=True, kw_only=True)
class Selection:
    """A selection's verdicts on videos, by name and by file hash.

    `kept` are those that it kept, `refused` the others with the reasons, `published` the days that it knows.
    """

    kept: frozenset[str]
    refused: Mapping[str, str] = field(default_factory=dict)
    published: Mapping[str, date] = field(default_factory=dict)


def read_selection(path: Path) -> Selection:
    """Read a list of kept videos; ``sources.csv`` next to it gives the reasons for the others.

    A video is known by its name (`video`) and, where the list has it, by the SHA-256 of its file.

    Raises:
        DataError: a file cannot be read, or rows of it are none; the first are named.
    """
    paths = [path]
    selection = path.parent / SOURCES_FILE
    if selection.is_file() and selection != path:
        paths.append(selection)
    kept: set[str] = set()
    refused: dict[str, str] = {}
    published: dict[str, date] = {}
    faults: list[str] = []
    for entry in paths:
        for line, row in csv_rows(read(entry, what="a selection of videos"), needed=("video", "outcome")):
            if not isinstance(row, dict):
                faults.append(f"{entry}:{line}: {row}")
                continue
            names = [name for name in (row["video"], row.get("sha256", "")) if name]
            if row["outcome"] == _KEPT and entry == path:
                kept.update(names)
            elif row["outcome"] != _KEPT:
                refused |= dict.fromkeys(names, row.get("reasons", "") or row["outcome"])
            try:
                if day := row.get("published", ""):
                    published |= dict.fromkeys(names, date.fromisoformat(day))
            except ValueError:
                faults.append(f"{entry}:{line}: {row['published']!r} is no day; expected YYYY-MM-DD")
    if faults:
        more = f"; and {len(faults) - _MOST_NAMED:,} more" if len(faults) > _MOST_NAMED else ""
        raise DataError("; ".join(faults[:_MOST_NAMED]) + more)
    return Selection(kept=frozenset(kept), refused=refused, published=published)


def not_selected(
    films: Sequence[Film], lengths: Mapping[str, Length], selection: Selection
) -> tuple[Dropped, ...]:
    """Return the videos dropped by a selection, with the reason ``not-selected`` and its text.

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
    """Return the names that a list may use for a video, most reliable first."""
    sha256 = lengths[film.video_id].sha256 if film.video_id in lengths else ""
    return tuple(filter(None, (sha256, film.path, film.video_id, film.url.strip())))
