"""Licence checks of videos with date and source, in a file or on a sheet.

Source: MMVU, §3.2 and figure 6: only videos under a Creative Commons licence are taken, others cannot be
submitted; the paper knows the API only. Departs: how long an answer is believed, the way by two people where
there is no key, and that "unknown" never passes are ours.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Final, Literal, TypeAlias, TypeVar

import msgspec

from vidence.ask.benchmarks.mmvu import youtube_id
from vidence.ask.files import DataFile, FieldError, csv_rows, decoded, lines, read, usable
from vidence.errors import DataError, cause
from vidence.make.pipeline.output import json_lines
from vidence.media.whole import write_whole
from vidence.records import Record
from vidence.text import first_lines

Outcome: TypeAlias = Literal["passed", "refused", "gone", "unknown"]
CREATIVE_COMMONS: Final = "creativeCommon"
STANDARD: Final = "youtube"
DAYS: Final = 30
LookT = TypeVar("LookT", bound=Record)


class LicenceCheck(Record, omit_defaults=True):
    """One licence check of a video.

    `licence` is the platform's word: ``creativeCommon`` (CC BY, as the uploader declared it at that time) or
    ``youtube`` (the standard one). `outcome` is ``passed`` for the first and ``refused`` for the second;
    ``gone`` is a video that the platform does not list to the public, ``unknown`` one of which nothing could
    be found out, for the reason in `why`. `answer` is what the platform said of this video, and
    `answer_sha256` the hash of its whole answer. `by` are the people who looked, where people did.
    """

    video: str
    outcome: Outcome
    at: datetime
    way: Literal["api", "manual"] = "api"
    licence: str = ""
    why: str = ""
    privacy: str = ""
    title: str = ""
    published: str = ""
    duration_s: float | None = None
    by: tuple[str, ...] = ()
    page: str = ""
    answer: dict[str, object] = msgspec.field(default_factory=dict)
    answer_sha256: str = ""

    @property
    def is_final(self) -> bool:
        """Return whether the check has an answer that stays valid until it expires."""
        return self.outcome in {"passed", "refused"}


def outcome_of(licence: str) -> Outcome:
    """Return the outcome that a licence has for questions."""
    if licence == CREATIVE_COMMONS:
        return "passed"
    return "refused" if licence == STANDARD else "unknown"


def read_looks(path: Path, kind: type[LookT], *, what: str = "questions") -> list[LookT]:
    """Return the checks in a file, oldest first; empty without a file.

    Raises:
        DataError: it cannot be read, or a line is none; it is named.
    """
    if not path.exists():
        return []
    decoder = msgspec.json.Decoder(kind)
    looks = []
    content = DataFile(path, b"") if path.is_file() and not path.stat().st_size else read(path, what=what)
    for line, row in lines(content):
        try:
            looks.append(decoded(row, decoder))
        except FieldError as error:
            raise DataError(f"{path}:{line}: {error}; mend or remove that line") from error
    return looks


def write_checks(path: Path, checks: Sequence[Record]) -> None:
    """Write the checks as JSON lines, atomically.

    Raises:
        DataError: the file cannot be written.
    """
    try:
        write_whole(path, json_lines(checks))
    except OSError as error:
        raise DataError(f"{path} cannot be written ({cause(error)})") from error


def believed(checks: Iterable[LicenceCheck], *, now: datetime, days: float = DAYS) -> dict[str, LicenceCheck]:
    """Return each video's latest answered check not older than `days`."""
    last: dict[str, LicenceCheck] = {}
    for check in checks:
        if check.is_final and timedelta() <= now - check.at <= timedelta(days=days):
            before = last.get(check.video)
            if before is None or check.at >= before.at:
                last[check.video] = check
    return last


COLUMNS: Final = ("video", "licence", "by", "date", "page")
"""`video` is an address or a name, `licence` one of the platform's two words, `by` who looked, `date` when
(YYYY-MM-DD), `page` the saved page or a picture of it."""
_NEEDED = 2
_WORDS = {
    "creativecommon": CREATIVE_COMMONS,
    "creative commons": CREATIVE_COMMONS,
    "cc by": CREATIVE_COMMONS,
    "cc-by": CREATIVE_COMMONS,
    "youtube": STANDARD,
    "standard": STANDARD,
}


def read_sheet(path: Path, *, today: date) -> dict[str, LicenceCheck]:
    """Return the sheet's result by video: ``passed`` or ``refused`` if at least two people agree.

    One look alone, or two that differ, leave it ``unknown``. The date is that of the first look.

    Raises:
        DataError: the sheet cannot be used; every faulty row is named.
    """
    looks: dict[str, dict[str, tuple[str, date, str]]] = defaultdict(dict)
    faults = []
    for line, row in csv_rows(read(path, what="a sheet of licences"), needed=COLUMNS, known=COLUMNS):
        try:
            video, by, look = _look(usable(row), today=today)
            if by in looks[video] and looks[video][by] != look:
                raise FieldError("by", f"{by} has checked {video} before, with another result")
            looks[video][by] = look
        except FieldError as error:
            faults.append(f"{path}:{line}: {error}")
    if faults:
        raise DataError(first_lines(faults))
    return {video: _found(video, by_whom) for video, by_whom in looks.items() if by_whom}


def sheet(videos: Sequence[str]) -> str:
    """Return an empty sheet with two rows per video."""
    lines = [",".join(COLUMNS), *(f"{video},,,," for video in videos for _ in range(_NEEDED))]
    return "\n".join(lines) + "\n"


def _look(row: Mapping[str, str], *, today: date) -> tuple[str, str, tuple[str, date, str]]:
    if absent := [name for name in COLUMNS if not row[name]]:
        raise FieldError(absent[0], "the cell is empty; expected all of video, licence, by, date and page")
    word = re.sub(r"\s+", " ", row["licence"].strip().lower())
    if word not in _WORDS:
        raise FieldError("licence", f"{row['licence']!r}; expected {CREATIVE_COMMONS} or {STANDARD}")
    try:
        at = date.fromisoformat(row["date"])
    except ValueError:
        raise FieldError("date", f"{row['date']!r}; expected a day such as 2026-01-31") from None
    if at > today:
        raise FieldError("date", f"{row['date']} lies in the future")
    name = re.sub(r"\s+", " ", row["by"].strip()).casefold()
    return youtube_id(row["video"]), name, (_WORDS[word], at, row["page"])


def _found(video: str, looks: Mapping[str, tuple[str, date, str]]) -> LicenceCheck:
    licences = {licence for licence, _, _ in looks.values()}
    first = min(at for _, at, _ in looks.values())
    why = ""
    if len(licences) > 1:
        why = "people found different licences: " + ", ".join(
            f"{who} {look[0]}" for who, look in looks.items()
        )
    elif len(looks) < _NEEDED:
        why = f"only {next(iter(looks))} has looked; a second person must"
    (licence, *_) = sorted(licences)
    return LicenceCheck(
        video=video,
        outcome="unknown" if why else outcome_of(licence),
        at=datetime.combine(first, time(), tzinfo=UTC),
        way="manual",
        licence="" if why else licence,
        why=why,
        by=tuple(sorted(looks)),
        page=" | ".join(page for _, _, page in looks.values()),
    )
