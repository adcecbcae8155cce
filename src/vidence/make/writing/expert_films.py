"""The videos that clips are cut from: what is said of them, how long they are, and their licences."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Final

import msgspec

from vidence.ask.benchmarks.mmvu import youtube_id
from vidence.ask.files import FieldError, decoded, objects, read
from vidence.make.gates.licence_by_people import read_sheet
from vidence.make.gates.licence_checks import LicenceCheck, believed, read_looks
from vidence.make.pipeline.material import Dropped
from vidence.records import Record

VIDEOS, LICENCE = "videos", "licence"
_YOUTUBE: Final = re.compile(r"(?:^|[/.@])(?:youtube\.com|youtu\.be)(?:[/:?]|$)", re.IGNORECASE)
_NAME: Final = re.compile(r"[\w-]{11}", re.ASCII)


class Film(Record, omit_defaults=True):
    """A video: its address, its file below the folder of media, or both.

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
        """What clips of one film share."""
        return self.source_id or (youtube_id(self.url) if self.url else self.video_id)

    @property
    def film(self) -> str:
        """The name that its platform knows it by; else its id."""
        return youtube_id(self.url) if self.url else self.video_id


class Length(Record, omit_defaults=True):
    """What a file says of itself; `why` says why it says nothing."""

    duration_s: float | None = None
    sha256: str = ""
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Films:
    """All videos of a file in their order, and why some cannot be used."""

    films: tuple[Film, ...]
    dropped: tuple[Dropped, ...]


def read_films(path: Path) -> Films:
    """The videos of a file of JSON lines.

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
            one = decoded(raw, decoder)
        except FieldError as error:
            one = Film(video_id=f"line {place}")
            dropped.append(_dropped(one, "unreadable", f"{path.name}:{place}: {error}"))
        else:
            if one.video_id in known:
                one = msgspec.structs.replace(one, video_id=f"{one.video_id} (line {place})")
                dropped.append(_dropped(one, "repeated-id", "an earlier video has this id"))
            elif fault := _fault(one):
                dropped.append(_dropped(one, *fault))
        known.add(one.video_id)
        films.append(one)
    return Films(films=tuple(films), dropped=tuple(dropped))


def _fault(one: Film) -> tuple[str, str] | None:
    if not one.url.strip() and not one.path:
        return "no-place", "neither url nor path; say where the video is"
    if _YOUTUBE.search(one.url) and not _NAME.fullmatch(youtube_id(one.url)):
        return "no-film-name", f"{one.url!r} names no film; expected https://www.youtube.com/watch?v=NAME"
    if one.refused:
        return "refused-by-people", one.refused
    return None


def _dropped(one: Film, reason: str, detail: str, *, stage: str = VIDEOS) -> Dropped:
    return Dropped(what=one.video_id, stage=stage, reason=reason, detail=detail)


def day_of(moment: str) -> date | None:
    """The day of a moment as platforms write it; None where it is none.

    >>> day_of("2024-05-01T12:00:00Z"), day_of("")
    (datetime.date(2024, 5, 1), None)
    """
    try:
        return datetime.fromisoformat(moment).date()
    except ValueError:
        return None


@dataclass(frozen=True, kw_only=True)
class LicenceDesk:
    """Every look at a licence that was kept, what two people found, and when it is now."""

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
        """The check that lets each video pass, by id (None: it states its licence itself), and the others.

        Reasons: ``licence-refused``, ``licence-gone``, ``licence-unknown``, ``licence-old``,
        ``licence-not-checked``. Nothing is asked of a platform here.
        """
        final = {**believed(self.kept, now=self.now, days=self.days), **self.by_people}
        last = {one.video: one for one in self.kept} | dict(self.by_people)
        passed: dict[str, LicenceCheck | None] = {}
        dropped: list[Dropped] = []
        for film in films:
            found = final.get(film.film)
            if found is not None and found.outcome == "passed":
                passed[film.video_id] = found
            elif found is None and film.film not in last and film.licence and not film.url:
                passed[film.video_id] = None
            else:
                reason, detail = _unpassed(film, found, last.get(film.film), days=self.days)
                dropped.append(_dropped(film, reason, detail, stage=LICENCE))
        return passed, tuple(dropped)


def _unpassed(
    film: Film, found: LicenceCheck | None, last: LicenceCheck | None, *, days: float
) -> tuple[str, str]:
    if found is not None:
        return f"licence-{found.outcome}", found.why or found.licence
    if last is None:
        return "licence-not-checked", f"{film.film}; run vidence licence check"
    if last.is_final:
        return "licence-old", f"{film.film} was checked on {last.at:%Y-%m-%d}, {days:g} days are believed"
    return f"licence-{last.outcome}", last.why
