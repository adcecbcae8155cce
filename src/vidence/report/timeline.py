"""One line of time per question: where its evidence lies, and which frames each run showed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from vidence.records import Item, Selection
from vidence.tables import svg
from vidence.tables.svg import Drawing, Tick

LANE_PX = 34
MOST_CHARACTERS = 28  # of a name, so that it leaves room for a number beside it on a narrow screen
MOST_TICKS = 256  # of one lane; more would be one solid bar, and a slow page
_SHOT = '<path d="M8 2V14" class="shot"/>'
_SPAN = '<rect y="3" width="16" height="10" class="span"/>'


@dataclass(frozen=True, kw_only=True)
class Lane:
    """The frames that were shown, `times_s` in seconds of presentation time, and by whom."""

    name: str
    times_s: tuple[float, ...]


def lanes(shown: Sequence[tuple[str, Selection | None]]) -> list[Lane]:
    """The frames of some trials, each set of them once, under the names of all that showed it.

    Args:
        shown: for each trial the name of its run, and what was selected; None where nothing was.
    """
    names: dict[tuple[float, ...], list[str]] = {}
    for name, selection in shown:
        if selection is not None and selection.frames:
            times = tuple(sorted(frame.time_s for frame in selection.frames))
            found = names.setdefault(times, [])
            if name and name not in found:
                found.append(name)
    return [Lane(name=_together(some), times_s=times) for times, some in names.items()]


def _together(names: Sequence[str]) -> str:
    """The names of some runs, or how many they are where there is no room for their names."""
    whole = ", ".join(names) or "frames shown"
    return whole if len(names) < 2 or len(whole) <= MOST_CHARACTERS else f"{len(names)} runs"


def spans_of(item: Item, *, end_s: float = math.inf) -> list[tuple[float, float]]:
    """The spans of the evidence of a question in seconds; those that are open end at the ends of the video.

    Evidence that is told by the numbers of frames alone has no place here.
    """
    (media,) = item.media
    first = media.start_s or 0.0
    last = end_s if media.end_s is None else media.end_s
    found = [
        (first if one.start_s is None else one.start_s, last if one.end_s is None else one.end_s)
        for one in item.evidence
        if one.start_s is not None or one.end_s is not None
    ]
    return sorted(found)


def timeline(item: Item, found: Sequence[Lane]) -> Drawing | None:
    """The evidence and the frames on one axis; None where there is nothing to draw.

    The axis ends with the last thing that is known: how long a video lasts is not stored. Questions about
    several media have no common time and get none.

    Args:
        item: the question.
        found: as from `lanes`.
    """
    if len(item.media) != 1 or item.media[0].kind == "image":
        return None
    (media,) = item.media
    first = media.start_s or 0.0
    known = [time for lane in found for time in lane.times_s]
    known += [end for span in spans_of(item) for end in span if math.isfinite(end)]
    last = media.end_s if media.end_s is not None else max(known, default=first)
    if not last > first:
        return None
    spans = spans_of(item, end_s=last)
    x = svg.scale(first, last, start=0.0, end=100.0)
    n_lanes = len(found) + bool(spans)
    if not n_lanes:
        return None
    bottom = n_lanes * LANE_PX
    body = _evidence(item, spans, x) if spans else []
    for i, lane in enumerate(found, start=int(bool(spans))):
        body += _frames(lane, spans, x, top=i * LANE_PX)
    body += svg.axis(_ticks(first, last), bottom=bottom, has_lines=False)
    legend = [(svg.swatch(_SPAN), "evidence")] if spans else []
    legend += [(svg.swatch(_SHOT), "a frame that was shown")] if found else []
    whole = svg.whole(body, height=bottom + svg.AXIS_PX, title=f"Timeline of {item.item_id}")
    return Drawing(svg=whole, legend=tuple(legend))


def _evidence(item: Item, spans: Sequence[tuple[float, float]], x: svg.Scale) -> list[str]:
    kinds = ", ".join(dict.fromkeys(one.kind for one in item.evidence))
    words = "; ".join(f"{start:.1f} to {end:.1f} s" for start, end in spans)
    body = [
        svg.text(f"evidence ({kinds})", x="0", y=12, style="label"),
        svg.text(svg.shorten(words, most=MOST_CHARACTERS), x="100%", y=12, anchor="end", style="axis"),
    ]
    body += [
        svg.rect(x=x(start), width=max(x(end) - x(start), 0.3), y=17, height=11, style="span")
        for start, end in spans
    ]
    return body


def _frames(lane: Lane, spans: Sequence[tuple[float, float]], x: svg.Scale, *, top: float) -> list[str]:
    n = len(lane.times_s)
    said = f"{n:,} frames" if n > 1 else "1 frame"
    if spans:
        inside = sum(any(start <= time < end for start, end in spans) for time in lane.times_s)
        said = f"{inside:,} of {n:,} in the evidence"
    step = -(-n // MOST_TICKS)
    body = [
        svg.text(svg.shorten(lane.name, most=MOST_CHARACTERS), x="0", y=top + 12, style="label"),
        svg.text(said, x="100%", y=top + 12, anchor="end", style="axis"),
        svg.rect(x=0, width=100, y=top + 22, height=1, style="ground"),
    ]
    body += [
        svg.rect(x=x(start), width=max(x(end) - x(start), 0.3), y=top + 16, height=13, style="span-behind")
        for start, end in spans
    ]
    return body + [
        svg.line(x1=x(time), x2=x(time), y1=top + 17, y2=top + 28, style="shot")
        for time in lane.times_s[::step]
    ]


def _ticks(first: float, last: float) -> list[Tick]:
    places = [first + (last - first) * i / 4 for i in range(5)]
    digits = 0 if last - first >= 20 else 1
    return [Tick(at=25.0 * i, words=f"{place:.{digits}f} s") for i, place in enumerate(places)]
