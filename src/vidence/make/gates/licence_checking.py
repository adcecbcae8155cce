"""Check the licences of the videos in a list, and report the results."""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, get_args

import msgspec

from vidence.ask.benchmarks.mmvu import youtube_id
from vidence.ask.files import FieldError, csv_rows, ending_of, lines, objects, read, usable
from vidence.errors import DataError, UsageError
from vidence.make.gates.licence_youtube import YouTube
from vidence.make.gates.licences import (
    DAYS,
    LicenceCheck,
    Outcome,
    believed,
    read_looks,
    read_sheet,
    write_checks,
)
from vidence.tables.table import DASH, Cell, RowSpec, Table, number, several, tabulate, words

_OWN: Final = "a video of one's own, with its licence"
_log = logging.getLogger(__name__)
FIELDS: Final = ("youtube_url", "video", "url", "video_url", "source", "source_id")
"""Columns and question fields that may hold a video's address or name, in order of preference."""


@dataclass(frozen=True, kw_only=True)
class CheckedVideos:
    """The latest check of each video, in list order; `n_asked` were asked now."""

    checks: tuple[LicenceCheck, ...]
    n_asked: int

    @property
    def is_free(self) -> bool:
        """Whether every video may be used."""
        return all(check.outcome == "passed" for check in self.checks)


def named_videos(named: Sequence[str]) -> list[str]:
    """Return the distinct videos named by words or files.

    Args:
        named: addresses on YouTube, names of 11 characters, or files: a list with one a line (.txt), a table
            (.csv), or questions (.json, .jsonl; packed with gzip, too). A row that says a ``licence`` and no
            film of YouTube is of a video of one's own, and is passed over with a warning.

    Raises:
        DataError: a file cannot be read, or names no film; every faulty row is named.
        UsageError: a word names no film and is no file.
    """
    videos: dict[str, None] = {}
    for name in named:
        path = Path(name)
        if path.is_file():
            videos.update(dict.fromkeys(_of_file(path)))
        elif (film := film_in(name)) is not None:
            videos[film] = None
        else:
            raise UsageError(
                f"{name!r} is neither a file nor a YouTube video; expected an address such as "
                "https://youtu.be/NAME, a name of 11 characters, or a file that lists them"
            )
    return list(videos)


def check_licences(
    videos: Sequence[str],
    *,
    kept: Path,
    now: datetime,
    api: Callable[[], YouTube],
    manual: Path | None = None,
    days: float = DAYS,
) -> Iterator[CheckedVideos]:
    """Return each video's licence: from people's sheet, from stored checks, else from the API.

    What was found stands in `kept` before the next 50 are asked for, so that nothing is asked twice.

    Args:
        videos: the films.
        kept: the file of all looks; a look that found an answer is believed for `days` days.
        now: the time, by which looks are too old.
        api: makes the client; called only where something must be asked.
        manual: the sheet of people, which goes before.
        days: how long an answer is believed.

    Yields:
        What is known so far; the last holds all.

    Raises:
        DataError: a file cannot be used.
        AccessError: there is no key, or it is refused.
    """
    history = read_looks(kept, LicenceCheck)
    by_people = {} if manual is None else read_sheet(manual, today=now.date())
    known = {**believed(history, now=now, days=days), **by_people}
    asked = [video for video in videos if video not in known]
    if fresh := [person for person in by_people.values() if person not in history]:
        history += fresh
        write_checks(kept, history)
    n_asked = 0
    for answers in api().check(asked) if asked else ():
        history += answers
        write_checks(kept, history)
        known |= {answer.video: answer for answer in answers}
        n_asked += len(answers)
        yield CheckedVideos(checks=tuple(known[video] for video in videos if video in known), n_asked=n_asked)
    if not asked:
        yield CheckedVideos(checks=tuple(known[video] for video in videos), n_asked=0)


def licence_table(checked: CheckedVideos) -> Table:
    """Return a table with a row per video."""
    return tabulate(
        "licences",
        "Licences",
        label="video",
        rows=(RowSpec(check.video, check.video, check) for check in checked.checks),
        measures=[
            words("outcome", lambda licence: licence.outcome),
            words("licence", lambda licence: licence.licence or Cell(text=DASH)),
            words("at", lambda licence: f"{licence.at:%Y-%m-%d}", "looked at"),
            words("way", lambda licence: "API" if licence.way == "api" else ", ".join(licence.by), "by"),
            number("duration", lambda licence: licence.duration_s, "seconds"),
            words("why", lambda licence: licence.why),
        ],
    )


def summary(checked: CheckedVideos) -> str:
    """Summarize the number of videos by outcome."""
    counts = Counter(check.outcome for check in checked.checks)
    summary = ", ".join(f"{counts[outcome]:,} {outcome}" for outcome in get_args(Outcome) if counts[outcome])
    return f"{several(len(checked.checks), 'video')}: {summary}; {checked.n_asked:,} asked for now"


def film_in(text: str) -> str | None:
    """Return the YouTube id in a URL, or an 11-character id; None for other text."""
    film = youtube_id(text)
    is_name = len(film) == 11 and film.replace("-", "").replace("_", "").isalnum() and film.isascii()
    return film if is_name else None


def _of_file(path: Path) -> list[str]:
    file = read(path, what="a list of videos")
    ending = ending_of(path)
    if ending == ".csv":
        rows = [(line, _cell(row)) for line, row in csv_rows(file)]
    elif ending in {".json", ".jsonl"}:
        rows = [(line, _field(raw)) for line, raw in objects(file)]
    else:
        rows = [(line, raw.decode(errors="replace").strip()) for line, raw in lines(file)]
    if n_own := sum(message == _OWN for _, message in rows):
        _log.warning("%s: %s of one's own with a licence: not asked about", path, several(n_own, "video"))
    faults = [
        f"{path}:{line}: {message}" for line, message in rows if message != _OWN and film_in(message) is None
    ]
    if faults:
        more = f"; and {len(faults) - 1:,} more such rows" if len(faults) > 1 else ""
        raise DataError(
            f"{faults[0]!r} names no YouTube video{more}; expected an address or a name of 11 characters, in "
            f"a table or a question under {', '.join(FIELDS)}"
        )
    return [film for _, message in rows if (film := film_in(message)) is not None]


def _cell(row: Mapping[str, str] | FieldError) -> str:
    try:
        return _named(usable(row), _first(usable(row)))
    except FieldError as error:
        return str(error)


def _field(raw: bytes) -> str:
    try:
        values = msgspec.json.decode(raw)
    except msgspec.DecodeError as error:
        return str(error)
    if not isinstance(values, dict):
        return str(values)
    media = values.get("media")
    places = [values, *(media if isinstance(media, list) else ()), values.get("provenance")]
    texts = (_first(place) for place in places if isinstance(place, dict))
    known = [text for text in texts if text]
    return _named(values, next((text for text in known if film_in(text)), known[0] if known else ""))


def _named(row: Mapping[str, object], message: str) -> str:
    return _OWN if film_in(message) is None and row.get("licence") else message


def _first(row: Mapping[str, object]) -> str:
    """Return the first field of a row that names a video, else the first with text."""
    texts = [value for name in FIELDS if isinstance(value := row.get(name), str) and value.strip()]
    return next((text for text in texts if film_in(text) is not None), texts[0] if texts else "")
