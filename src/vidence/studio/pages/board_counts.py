"""The board of counts: how many people come, go or are at a place; a second counter is blind.

What two counted is set side by side when both are done; then they may agree on one number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast
from uuid import UUID

import msgspec
import numpy as np
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render

from vidence.errors import DataError
from vidence.make.herbench.tasks.person_counts import facts_of
from vidence.make.review.people.counting import agreed_counts, settle
from vidence.make.review.people.rows import WHOLE, CountRow
from vidence.seeing.space import EDGES, Bands, named_regions
from vidence.studio.access import BOTH, EVERY_ROLE, route
from vidence.studio.bridge.board_sets import counted_by_tracks
from vidence.studio.pages.answers import whole_number
from vidence.studio.pages.boards import VIDEO, OpenBoard, board_of, told_why, tracks_now, tried
from vidence.studio.records.boards import WindowCountRow
from vidence.studio.rules.counts import Moment, PersonCount, agreement, moments
from vidence.studio.verdicts import BoardRow, Refused, counts_of, file_row, say

_KINDS: Final = (("entered", "come into view through"), ("left", "go out of view through"))
_SAME_S: Final = 1.0
"""Within so many seconds the notes of two counters are of one person."""
_LONG_NAMES: Final = 600


@dataclass(frozen=True, kw_only=True)
class CountedWindow:
    """A window and place that this person has counted: what everybody said, and what the tracks say.

    `moments` are the people whom counters noted, `settled` says whether they agreed since.
    """

    window: str
    place: str
    words: str
    rows: tuple[WindowCountRow, ...]
    later: tuple[WindowCountRow, ...]
    moments: tuple[Moment, ...]
    agreement: str
    settled: str
    by_tracks: str

    @property
    def when(self) -> str:
        """The window in words."""
        return when(self.window)

    @property
    def span(self) -> tuple[str, str]:
        """The window as the fields of the form have it."""
        return ("", "") if self.window == WHOLE else cast("tuple[str, str]", tuple(self.window.split("-")))

    @property
    def may_agree(self) -> bool:
        """Whether there are others to agree with."""
        return len(self.rows) > 1

    @property
    def frames(self) -> str:
        """The frames of everybody whom anybody noted, as the form has them."""
        return " ".join(str(one.frame) for one in self.moments)

    @property
    def apart(self) -> tuple[Moment, ...]:
        """Those whom not all noted."""
        return tuple(one for one in self.moments if one.missed_by)


def places(width_px: int, height_px: int) -> dict[str, str]:
    """What may be counted, and in which words."""
    found = {f"{kind}:{edge}": f"{words} the {edge} edge" for kind, words in _KINDS for edge in EDGES}
    found |= {
        f"crossed:{comes}-{goes}": f"come through the {comes} edge and go through the {goes} one"
        for comes in EDGES
        for goes in EDGES
        if comes != goes
    }
    names = named_regions(width_px, height_px)
    found[f"visited:{WHOLE}"] = "are in the frame at some time"
    return found | {f"visited:{name}": f"are in the {name.replace('-', ' ')} at some time" for name in names}


def rectangles(place: str, width_px: int, height_px: int) -> list[tuple[float, float, float, float]]:
    """Where a place is in the frame: left, top, width, height of each part, in pixels."""
    kind, _, name = place.partition(":")
    if place == f"visited:{WHOLE}":
        return [(0.0, 0.0, float(width_px), float(height_px))]
    if kind == "visited":
        region = named_regions(width_px, height_px).get(name)
        if region is None:
            return []
        left, top, right, bottom = region.box_px.tolist()
        return [(left, top, right - left, bottom - top)]
    bands = Bands()
    high, wide = float(height_px), float(width_px)
    shapes = {
        "top": (0.0, 0.0, wide, bands.top * high),
        "bottom": (0.0, (1 - bands.bottom) * high, wide, bands.bottom * high),
        "left": (0.0, 0.0, bands.left * wide, high),
        "right": ((1 - bands.right) * wide, 0.0, bands.right * wide, high),
    }
    return [shapes[edge] for edge in name.split("-") if edge in shapes]


@told_why
def counts(request: HttpRequest, made: UUID, video: str) -> HttpResponse:
    """Count people; what others counted, and the tracks, is shown to those who have counted themselves."""
    board = board_of(request, made, video, name="counts")
    done, fault = tried(request, board, _count)
    if done is not None:
        return HttpResponseRedirect(board.address("done"))
    given = request.POST if fault else request.GET
    known = places(board.video.width_px, board.video.height_px)
    place = given.get("place", "") if given.get("place", "") in known else ""
    window = _window(given.get("first", ""), given.get("last", "")) if place else ""
    shapes = rectangles(place, board.video.width_px, board.video.height_px) if place else []
    by_place = counts_of(_rows(board))
    mine = {key for key, found in by_place.items() if _mine(board, found)}
    shown = [_done(board, key, every=by_place[key], known=known) for key in by_place if key in mine]
    again = next((one for one in shown if (one.window, one.place) == (window, place)), None)
    told = board.told(
        fault=fault,
        places=known,
        place=place,
        words=known.get(place, ""),
        window=window,
        window_words=when(window),
        given={name: given.get(name, "") for name in ("first", "last", "n", "n_low", "n_high", "note")},
        at=(whole_number(given.get("first", "")) or 0) if place else 0,
        n_others=sum(not row.agreed for row in by_place.get((window, place), [])),
        again=again,
        shapes=shapes,
        shapes_json=msgspec.json.encode(shapes).decode(),
        done=shown,
        to_do=[_to_do(key, known) for key in by_place if key not in mine],
        lanes_json=_lanes(board, window, again),
        counter=board.person.name,
    )
    return render(request, "boards/counts.html", told, status=400 if fault else 200)


def _rows(board: OpenBoard) -> Sequence[WindowCountRow]:
    return list(board.rows(WindowCountRow).order_by("pk"))


def _mine(board: OpenBoard, rows: Sequence[WindowCountRow]) -> bool:
    """Whether this person has counted here; who did not is blind to all that others say."""
    return any(row.by_name == board.person.name and not row.agreed for row in rows)


def _to_do(key: tuple[str, str], known: Mapping[str, str]) -> dict[str, object]:
    """A window and place that others counted, and this person did not."""
    window, place = key
    return {
        "window": window,
        "place": place,
        "words": known.get(place, place),
        "when": when(window),
        "span": window.split("-"),
    }


def _window(first: str, last: str) -> str:
    return f"{first.strip()}-{last.strip()}" if first.strip() or last.strip() else WHOLE


def span_of(window: str) -> tuple[int, int] | None:
    """The first and the last frame of a window; None for the whole video."""
    if window == WHOLE:
        return None
    first, last = window.split("-")
    return int(first), int(last)


def when(window: str) -> str:
    """A window in words.

    >>> when("whole"), when("8-80")
    ('in the whole video', 'in frames 8-80')
    """
    return "in the whole video" if window == WHOLE else f"in frames {window}"


def _lanes(board: OpenBoard, window: str, again: CountedWindow | None) -> str:
    """The window on the time line of the player, and with a count that is done who noted somebody when."""
    lanes: list[dict[str, object]] = []
    try:
        first, last = (int(part) for part in window.split("-"))
        times = board.video.times_s
        spans = [[float(times[first]), float(times[min(last, len(times) - 1)])]]
        lanes.append({"name": "window", "spans": spans})
    except (ValueError, IndexError):
        pass  # the whole video, or no window: it is refused when somebody counts in it
    if again is not None:
        lanes += [{"name": row.by_name, "frames": row.frames} for row in again.rows if row.frames]
    return msgspec.json.encode(lanes).decode()


# --------------------------------------------------------------------------- what was counted


def _done(
    board: OpenBoard, key: tuple[str, str], *, every: Sequence[WindowCountRow], known: dict[str, str]
) -> CountedWindow:
    window, place = key
    rows = tuple(row for row in every if not row.agreed)
    said = [
        PersonCount(
            counter=one.by_name, n=one.n, n_low=one.n_low, n_high=one.n_high, frames=tuple(one.frames)
        )
        for one in rows
    ]
    in_file = [cast("CountRow", file_row(row)) for row in every]
    settled = settle(in_file)
    return CountedWindow(
        window=window,
        place=place,
        words=known.get(place, place),
        rows=rows,
        later=tuple(row for row in every if row.agreed),
        moments=moments(said, within=_within(board)),
        agreement=agreement(said),
        settled=settled.why
        if settled.row is None
        else f"agreed on {settled.row.n} ({settled.row.n_low} to {settled.row.n_high})",
        by_tracks=_by_tracks(board, in_file, place=place, window=window),
    )


def _within(board: OpenBoard) -> int:
    """How many frames the notes of two counters of one person lie apart at most."""
    steps = np.diff(board.video.times_s)
    return max(1, round(_SAME_S / float(np.median(steps)))) if len(steps) else 1


def _by_tracks(board: OpenBoard, rows: Sequence[CountRow], *, place: str, window: str) -> str:
    """What the tracks clearly show there, and the share that this is of what counters hold for true."""
    now = tracks_now(board)
    n = None if now is None else counted_by_tracks(now[1], place=place, window=span_of(window))
    if n is None:
        return "there are no tracks"
    source = board.video.opened.described.source
    counted, _ = agreed_counts(rows, sha256=source.sha256, n_frames=source.n_frames)
    share = facts_of(counted[0], n_by_tracks=n).get("share found by tracks") if counted else None
    return f"the tracks clearly show {n}" + (f" of {counted[0].n}: recall {share}" if share else "")


# --------------------------------------------------------------------------- saying


def _count(request: HttpRequest, board: OpenBoard) -> BoardRow | Refused:
    given = request.POST
    numbers = [whole_number(given.get(name, "")) for name in ("n", "n_low", "n_high")]
    frames = [whole_number(one) for one in given.get("frames", "").split()]
    n, low, high = numbers
    if n is None or low is None or high is None or None in frames:
        return Refused(reason="n, the least and the most, and the frames are whole numbers")
    row = board.row(
        WindowCountRow,
        seen=board.video.check,
        window=_window(given.get("first", ""), given.get("last", "")),
        place=given.get("place", ""),
        n=n,
        n_low=low,
        n_high=high,
        frames=sorted(one for one in frames if one is not None),
        note=" ".join(given.get("note", "").split()),
    )
    if given.get("act") == "agree":
        names = _counters(board, row)
        if board.person.name not in names or len(names) < 2:
            return Refused(reason="two who counted this may agree on it, each after their own count")
        row.agreed = " ".join(names)
        if len(row.agreed) > _LONG_NAMES:
            return Refused(reason=f"{len(names)} people counted this: too many to agree")
    row.by_name = board.person.name
    new = cast("CountRow", file_row(row))
    try:
        new.see()
        span = new.span
    except DataError as error:
        return Refused(reason=str(error))
    if span is not None and span[1] >= board.video.n_frames:
        return Refused(reason=f"the last frame of the video is {board.video.n_frames - 1}")
    return say(row, board.person)


def _counters(board: OpenBoard, row: WindowCountRow) -> list[str]:
    """Who counted the same by themselves."""
    return sorted(
        one.by_name
        for one in _rows(board)
        if (one.window, one.place) == (row.window, row.place) and not one.agreed
    )


urls = [
    route(f"{VIDEO}/counts", counts, name="board-counts", roles=EVERY_ROLE, to=BOTH),
]
