"""The board of counts: how many people come, go or are at a place; a second counter is blind."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

import msgspec
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render

from vidence.errors import DataError
from vidence.make.people.rows import WHOLE, CountRow
from vidence.seeing.space import EDGES, Bands, named_regions
from vidence.studio.access import EVERY_ROLE, route
from vidence.studio.bridge.board_sets import counted_by_tracks
from vidence.studio.pages.answers import whole_number
from vidence.studio.pages.boards import BOTH, OpenBoard, board_of, refuse_idle, told_why, tracks_now, undone
from vidence.studio.records.boards import WindowCountRow
from vidence.studio.rules.counts import Counted, agreement
from vidence.studio.verdicts import BoardRow, Refused, counts_of, say

_KINDS: Final = (("entered", "come into view through"), ("left", "go out of view through"))


@dataclass(frozen=True, kw_only=True)
class Done:
    """A window and place that this person has counted: what everybody said, and what the tracks say."""

    when: str
    words: str
    rows: tuple[WindowCountRow, ...]
    agreement: str
    by_tracks: str


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
    fault = ""
    if request.method == "POST":
        refuse_idle(board)
        done = undone(request, board) or _count(request, board)
        if isinstance(done, Refused):
            fault = done.reason
        else:
            return HttpResponseRedirect(board.address("done"))
    given = request.POST if fault else request.GET
    known = places(board.video.width_px, board.video.height_px)
    place = given.get("place", "")
    window = _window(given.get("first", ""), given.get("last", "")) if place in known else ""
    rows = WindowCountRow.objects.filter(made_set=board.made, video_id=video).order_by("pk")
    by_place = counts_of(list(rows))
    mine = {key for key, found in by_place.items() if any(one.by_name == board.person.name for one in found)}
    shown = [
        _done(board, key, rows=tuple(found), known=known) for key, found in by_place.items() if key in mine
    ]
    told = board.told(
        fault=fault,
        places=known,
        place=place if place in known else "",
        words=known.get(place, ""),
        window_words=when(window),
        first=given.get("first", ""),
        last=given.get("last", ""),
        n_others=len(by_place.get((window, place), [])),
        is_done=(window, place) in mine,
        shapes=rectangles(place, board.video.width_px, board.video.height_px) if place in known else [],
        done=shown,
        to_do=[
            {
                "window": key[0],
                "place": key[1],
                "words": known.get(key[1], key[1]),
                "when": when(key[0]),
                "span": key[0].split("-"),
            }
            for key in by_place
            if key not in mine
        ],
        lanes_json=_lanes(board, window),
    )
    return render(request, "boards/counts.html", told, status=400 if fault else 200)


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


def _lanes(board: OpenBoard, window: str) -> str:
    """The window on the time line of the player."""
    try:
        first, last = (int(part) for part in window.split("-"))
        times = board.video.times_s
        spans = [[float(times[first]), float(times[min(last, len(times) - 1)])]]
    except (ValueError, IndexError):
        spans = []
    return msgspec.json.encode([{"name": "window", "spans": spans}]).decode() if spans else "[]"


def _done(
    board: OpenBoard, key: tuple[str, str], *, rows: tuple[WindowCountRow, ...], known: dict[str, str]
) -> Done:
    window, place = key
    said = [Counted(counter=one.by_name, n=one.n, n_low=one.n_low, n_high=one.n_high) for one in rows]
    now = tracks_now(board)
    n = None if now is None else counted_by_tracks(now[1], place=place, window=span_of(window))
    by_tracks = "there are no tracks" if n is None else f"the tracks clearly show {n}"
    return Done(
        when=when(window),
        words=known.get(place, place),
        rows=rows,
        agreement=agreement(said),
        by_tracks=by_tracks,
    )


def _count(request: HttpRequest, board: OpenBoard) -> BoardRow | Refused:
    given = request.POST
    numbers = [whole_number(given.get(name, "")) for name in ("n", "n_low", "n_high")]
    frames = [whole_number(one) for one in given.get("frames", "").split()]
    n, low, high = numbers
    if n is None or low is None or high is None or None in frames:
        return Refused(reason="n, the least and the most, and the frames are whole numbers")
    row = WindowCountRow(
        made_set=board.made,
        video_id=board.video.video_id,
        seen=board.video.check,
        window=_window(given.get("first", ""), given.get("last", "")),
        place=given.get("place", ""),
        n=n,
        n_low=low,
        n_high=high,
        frames=[one for one in frames if one is not None],
        note=" ".join(given.get("note", "").split()),
    )
    new = CountRow(
        video_id=row.video_id,
        check=row.seen,
        window=row.window,
        place=row.place,
        n=n,
        n_low=low,
        n_high=high,
        counter=board.person.name,
        frames=tuple(row.frames),
    )
    try:
        new.see()
        span = new.span
    except DataError as error:
        return Refused(reason=str(error))
    if span is not None and span[1] >= board.video.n_frames:
        return Refused(reason=f"the last frame of the video is {board.video.n_frames - 1}")
    return say(row, board.person)


urls = [
    route("sets/<uuid:made>/<str:video>/counts", counts, name="board-counts", roles=EVERY_ROLE, to=BOTH),
]
