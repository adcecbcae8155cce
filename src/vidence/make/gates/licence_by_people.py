"""Licences that people looked up: a sheet with a row for each look, where two people must agree.

Source: MMVU, §3.2 knows only the API; this is the way where there is no key, or another platform. The two
people are ours.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Final

from vidence.ask.benchmarks.mmvu import youtube_id
from vidence.ask.files import FieldError, csv_rows, read, usable
from vidence.errors import DataError
from vidence.make.gates.licence_checks import CREATIVE_COMMONS, STANDARD, LicenceCheck, outcome_of

COLUMNS: Final = ("video", "licence", "by", "date", "page")
"""`video` is an address or a name, `licence` one of the platform's two words, `by` who looked, `date` when
(YYYY-MM-DD), `page` the saved page or a picture of it."""
_NEEDED = 2
_MOST_FAULTS = 20
_WORDS = {
    "creativecommon": CREATIVE_COMMONS,
    "creative commons": CREATIVE_COMMONS,
    "cc by": CREATIVE_COMMONS,
    "cc-by": CREATIVE_COMMONS,
    "youtube": STANDARD,
    "standard": STANDARD,
}


def read_sheet(path: Path, *, today: date) -> dict[str, LicenceCheck]:
    """What people found, by video: ``passed`` or ``refused`` where two people or more say the same.

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
                raise FieldError("by", f"{by} has looked at {video} before, and found otherwise")
            looks[video][by] = look
        except FieldError as error:
            faults.append(f"{path}:{line}: {error}")
    if faults:
        more = [f"and {len(faults) - _MOST_FAULTS} more"] if len(faults) > _MOST_FAULTS else []
        raise DataError("\n".join([*faults[:_MOST_FAULTS], *more]))
    return {video: _found(video, by_whom) for video, by_whom in looks.items() if by_whom}


def sheet(videos: Sequence[str]) -> str:
    """An empty sheet: two rows for each video."""
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
        raise FieldError("date", f"{row['date']} is yet to come")
    name = re.sub(r"\s+", " ", row["by"].strip()).casefold()
    return youtube_id(row["video"]), name, (_WORDS[word], at, row["page"])


def _found(video: str, looks: Mapping[str, tuple[str, date, str]]) -> LicenceCheck:
    licences = {licence for licence, _, _ in looks.values()}
    first = min(at for _, at, _ in looks.values())
    why = ""
    if len(licences) > 1:
        why = "people found different licences: " + ", ".join(f"{who} {one[0]}" for who, one in looks.items())
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
