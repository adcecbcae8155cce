"""The time stamps of HERBench questions: ``"02:04.9-02:06.0"`` is a span of evidence."""

import re

from vidence.records import Evidence

# Minutes and seconds, perhaps with hours before them; stamps count tenths of a second.
_STAMP = r"(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)"
_SPAN = re.compile(rf"\s*{_STAMP}\s*(?:[-\N{{EN DASH}}]\s*{_STAMP}\s*)?")
_RESOLUTION_S = 0.1


def evidence(timestamps: object) -> tuple[Evidence, ...] | None:
    """The spans that a question rests on, in their order; None where they cannot be read.

    Args:
        timestamps: what the release has: a list of ``MM:SS.s-MM:SS.s`` or ``HH:MM:SS.s-HH:MM:SS.s``, or
            nothing. A single stamp, or a span that ends where it begins, lasts a tenth of a second.

    >>> evidence(["00:08.0-00:09.5", "1:02:04-1:02:06"])[1].start_s
    3724.0
    """
    if timestamps is None:
        return ()
    if not isinstance(timestamps, list | tuple):
        return None
    spans = [_span(stamp) for stamp in timestamps]
    return None if None in spans else tuple(span for span in spans if span is not None)


def _span(stamp: object) -> Evidence | None:
    found = _SPAN.fullmatch(stamp) if isinstance(stamp, str) else None
    if found is None:
        return None
    hours, minutes, seconds, *ends = found.groups()
    start_s = _seconds(hours, minutes, seconds)
    end_s = start_s if ends[1] is None else _seconds(*ends)
    if end_s < start_s:
        return None
    if end_s == start_s:
        end_s = round(start_s + _RESOLUTION_S, 6)
    return Evidence(kind="oracle", start_s=start_s, end_s=end_s)


def _seconds(hours: str | None, minutes: str, seconds: str) -> float:
    return round(3600 * int(hours or 0) + 60 * int(minutes) + float(seconds), 6)
