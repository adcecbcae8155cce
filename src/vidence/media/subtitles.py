"""Subtitles: SRT, WebVTT, and the JSON of LongVideoBench and Video-MME-v2."""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Final

import msgspec

from vidence.errors import MediaError, cause
from vidence.media.bounded import text_bounded
from vidence.records import Record
from vidence.text import seconds

_CLOCK: Final = r"((?:\d+:)?\d{1,2}:\d{1,2}(?:[.,]\d{1,6})?)"
_SPAN: Final = re.compile(rf"\s*{_CLOCK}\s*-->\s*{_CLOCK}")
_MARK: Final = re.compile(r"<[^<>]{0,200}>|\{\\[^{}]{0,200}\}")
_SHORTEST_S: Final = 1.0
_FROM: Final = ("start", "start_time")
_TO: Final = ("end", "end_time")
_WORDS: Final = ("line", "text")


class Line(Record):
    """A subtitle line with its display times, in seconds of its medium."""

    start_s: float
    end_s: float
    text: str

    def is_at(self, time_s: float) -> bool:
        """Whether a time is within the line; lines under one second count as one second.

        Source: LongVideoBench, the authors' loader.
        """
        more_s = max(0.0, _SHORTEST_S - (self.end_s - self.start_s)) / 2
        return self.start_s - more_s <= time_s <= self.end_s + more_s


def read_subtitles(path: Path, *, from_s: float = 0.0) -> tuple[Line, ...]:
    """Return a file's lines in time order, without markup such as ``<font>``.

    Args:
        path: a file ending in .srt, .vtt, .json or .jsonl.
        from_s: where the medium begins in it; lines that end before are left out.

    Raises:
        MediaError: it cannot be read, or is none of these.
    """
    try:
        text = text_bounded(path).lstrip("\ufeff")
        lines = _objects(text) if path.suffix in (".json", ".jsonl") else _blocks(text)
    except (OSError, ValueError, msgspec.DecodeError, RecursionError) as error:
        raise MediaError(f"the subtitles {path} cannot be read: {cause(error)}") from error
    moved = (Line(start_s=line.start_s - from_s, end_s=line.end_s - from_s, text=line.text) for line in lines)
    return tuple(
        sorted((line for line in moved if line.text and line.end_s > 0), key=lambda line: line.start_s)
    )


def shown_lines(lines: Sequence[Line], times_s: Sequence[float]) -> list[Line]:
    """Return the lines at these times; of consecutive equal ones, the first."""
    entries = [line for line in lines if any(line.is_at(time_s) for time_s in times_s)]
    return [next(same) for _, same in groupby(entries, key=attrgetter("text"))]


def _blocks(text: str) -> list[Line]:
    lines = []
    for block in re.split(r"\n\s*\n", text.replace("\r\n", "\n")):
        for number, line in enumerate(rows := block.split("\n")):
            if (span := _SPAN.match(line)) is not None:
                start_s, end_s = map(_seconds, span.groups())
                words = " ".join(_MARK.sub("", " ".join(rows[number + 1 :])).split())
                lines.append(Line(start_s=start_s, end_s=end_s, text=words))
                break
    return lines


def _objects(text: str) -> list[Line]:
    decoder = msgspec.json.Decoder()
    rows = decoder.decode(text) if text.lstrip()[:1] == "[" else decoder.decode_lines(text)
    lines = []
    for row in rows if isinstance(rows, list) else []:
        if not isinstance(row, Mapping):
            raise ValueError(f"{row!r:.60} found; expected an object with times and words")
        span = row.get("timestamp")
        start, end = (
            span if isinstance(span, list) and len(span) == 2 else (_first(row, _FROM), _first(row, _TO))
        )
        start_s = _seconds(start)
        end_s = start_s + _SHORTEST_S if end is None else _seconds(end)
        lines.append(
            Line(start_s=start_s, end_s=end_s, text=" ".join(str(_first(row, _WORDS) or "").split()))
        )
    return lines


def _first(row: Mapping[str, object], names: Sequence[str]) -> object:
    return next((row[name] for name in names if name in row), None)


def _seconds(value: object) -> float:
    time_s = seconds(str(value).replace(",", "."))
    if time_s is None:
        raise ValueError(f"{value!r:.60} is not a time; expected seconds or h:m:s")
    return time_s
