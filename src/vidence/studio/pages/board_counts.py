"""The board of counts: how many people come, go or are at a place; a second counter is blind.

What two counted is set side by side when both are done; then they may agree on one number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec
import numpy as np
from django.http import QueryDict

from vidence.errors import DataError
from vidence.make.herbench.tasks.counts import facts_of
from vidence.make.review.people.checks import check_of_video
from vidence.make.review.people.counting import agreed_counts, settle
from vidence.make.review.people.rows import WHOLE, CountRow
from vidence.seeing.boxes import BANDS, EDGES, named_regions
from vidence.studio.bridge.board_sets import counted_by_tracks
from vidence.studio.pages.answers import whole_number
from vidence.studio.pages.board_tracks import tracks_now
from vidence.studio.pages.boards import BoardPage, OpenBoard, Shown, board_route
from vidence.studio.rules.boards import Moment, agreement, moments
from vidence.studio.verdicts import Refused, Said, said_on, say

_KINDS: Final = (("entered", "come into view through"), ("left", "go out of view through"))
_SAME_S: Final = 1.0
"""Within this many seconds the notes of two counters are of one person."""


@dataclass(frozen=True, kw_only=True)
class CountedWindow:
    """A window and place: who counted and who agreed, and what the tracks say.

    `moments` are the people whom counters noted, `settled` says whether they agreed since.
    """

    window: str
    place: str
    words: str
    rows: tuple[CountRow, ...]
    later: tuple[CountRow, ...]
    moments: tuple[Moment, ...] = ()
    agreement: str = ""
    settled: str = ""
    by_tracks: str = ""

    @property
    def when(self) -> str:
        """The window in words."""
        return when(self.window)

    @property
    def span(self) -> tuple[str, ...]:
        """The window as the fields of the form have it."""
        return ("", "") if self.window == WHOLE else tuple(self.window.split("-"))

    @property
    def may_agree(self) -> bool:
        """Whether there are others to agree with."""
        return len(self.rows) > 1

    @property
    def frames(self) -> str:
        """The frames of all who were noted, as the form has them."""
        return " ".join(str(moment.frame) for moment in self.moments)

    @property
    def apart(self) -> tuple[Moment, ...]:
        """People noted by some counters but not by all."""
        return tuple(moment for moment in self.moments if moment.missed_by)


def places(width_px: int, height_px: int) -> dict[str, str]:
    """What may be counted, and in which words."""
    places = {f"{kind}:{edge}": f"{words} the {edge} edge" for kind, words in _KINDS for edge in EDGES}
    places |= {
        f"crossed:{comes}-{goes}": f"come through the {comes} edge and go through the {goes} one"
        for comes in EDGES
        for goes in EDGES
        if comes != goes
    }
    names = named_regions(width_px, height_px)
    places[f"visited:{WHOLE}"] = "are in the frame at some time"
    return places | {f"visited:{name}": f"are in the {name.replace('-', ' ')} at some time" for name in names}


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
    high, wide = float(height_px), float(width_px)
    shapes = {
        "top": (0.0, 0.0, wide, BANDS["top"] * high),
        "bottom": (0.0, (1 - BANDS["bottom"]) * high, wide, BANDS["bottom"] * high),
        "left": (0.0, 0.0, BANDS["left"] * wide, high),
        "right": ((1 - BANDS["right"]) * wide, 0.0, BANDS["right"] * wide, high),
    }
    return [shapes[edge] for edge in name.split("-") if edge in shapes]


def when(window: str) -> str:
    """A window in words.

    >>> when("whole"), when("8-80")
    ('in the whole video', 'in frames 8-80')
    """
    return "in the whole video" if window == WHOLE else f"in frames {window}"


def _window(given: QueryDict) -> str:
    first, last = (given.get(name, "").strip() for name in ("first", "last"))
    return f"{first}-{last}" if first or last else WHOLE


def _counts(board: OpenBoard, given: QueryDict) -> Shown:
    """What others counted, and the tracks, is shown of windows that this person has counted."""
    video = board.video
    known = places(video.width_px, video.height_px)
    place = given.get("place", "") if given.get("place", "") in known else ""
    window = _window(given) if place else ""
    shapes = rectangles(place, video.width_px, video.height_px) if place else []
    by_place: dict[tuple[str, str], list[CountRow]] = {}
    for row in said_on(board.made, CountRow, video_id=video.video_id):
        by_place.setdefault((row.window, row.place), []).append(row)
    done, to_do = [], []
    for (at, where), rows in by_place.items():
        counted = CountedWindow(
            window=at,
            place=where,
            words=known.get(where, where),
            rows=tuple(row for row in rows if not row.agreed),
            later=tuple(row for row in rows if row.agreed),
        )
        if any(row.counter == board.person.name for row in counted.rows):
            done.append(_compared(board, counted, rows))
        else:
            to_do.append(counted)
    again = next((entry for entry in done if (entry.window, entry.place) == (window, place)), None)
    return {
        "places": known,
        "place": place,
        "words": known.get(place, ""),
        "window": window,
        "window_words": when(window),
        "given": {name: given.get(name, "") for name in ("first", "last", "n", "n_low", "n_high", "note")},
        "at": (whole_number(given.get("first", "")) or 0) if place else 0,
        "n_others": sum(not row.agreed for row in by_place.get((window, place), [])),
        "again": again,
        "shapes": shapes,
        "shapes_json": msgspec.json.encode(shapes).decode(),
        "done": done,
        "to_do": to_do,
        "lanes_json": _lanes(board, window, again),
        "counter": board.person.name,
    }


def _lanes(board: OpenBoard, window: str, again: CountedWindow | None) -> str:
    """The window on the time line of the player, and with a count that is done who noted a person when."""
    lanes: list[Mapping[str, object]] = []
    try:
        first, last = (int(part) for part in window.split("-"))
        times = board.video.times_s
        spans = [[float(times[first]), float(times[min(last, len(times) - 1)])]]
        lanes.append({"name": "window", "spans": spans})
    except (ValueError, IndexError):
        pass  # the whole video, or no window: it is refused when somebody counts in it
    if again is not None:
        lanes += [{"name": row.counter, "frames": row.frames} for row in again.rows if row.frames]
    return msgspec.json.encode(lanes).decode()


def _compared(board: OpenBoard, counted: CountedWindow, rows: Sequence[CountRow]) -> CountedWindow:
    """The same with how far its counters agree, and with what the tracks clearly show there."""
    steps = np.diff(board.video.times_s)
    within = max(1, round(_SAME_S / float(np.median(steps)))) if len(steps) else 1
    settled, source = settle(rows), board.video.opened.described.source
    now, by_tracks = tracks_now(board), "there are no tracks"
    n = None if now is None else counted_by_tracks(now[1], place=counted.place, window=rows[0].span)
    if n is not None:
        true, _ = agreed_counts(rows, sha256=source.sha256, n_frames=source.n_frames)
        share = facts_of(true[0], n_by_tracks=n).get("share found by tracks") if true else None
        by_tracks = f"the tracks clearly show {n}" + (f" of {true[0].n}: recall {share}" if share else "")
    return replace(
        counted,
        moments=moments(counted.rows, within=within),
        agreement=agreement(counted.rows),
        settled=settled.why
        if settled.row is None
        else f"agreed on {settled.row.n} ({settled.row.n_low} to {settled.row.n_high})",
        by_tracks=by_tracks,
    )


def _count(board: OpenBoard, given: QueryDict) -> Said | Refused:
    n, low, high = (whole_number(given.get(name, "")) for name in ("n", "n_low", "n_high"))
    frames = [whole_number(part) for part in given.get("frames", "").split()]
    if n is None or low is None or high is None or None in frames:
        return Refused(reason="the count, its limits and the frames must be whole numbers")
    row = CountRow(
        video_id=board.video.video_id,
        check=check_of_video(board.video.opened.described.source.sha256),
        window=_window(given),
        place=given.get("place", ""),
        n=n,
        n_low=low,
        n_high=high,
        counter=board.person.name,
        frames=tuple(sorted(frame for frame in frames if frame is not None)),
        note=" ".join(given.get("note", "").split()),
    )
    if given.get("act") == "agree":
        rows = said_on(board.made, CountRow, video_id=row.video_id)
        same = [entry for entry in rows if (entry.window, entry.place) == (row.window, row.place)]
        names = sorted(entry.counter for entry in same if not entry.agreed)
        if row.counter not in names or len(names) < 2:
            return Refused(reason="only people who counted this can agree on it, each after their own count")
        row = msgspec.structs.replace(row, agreed=tuple(names))
    try:
        row.see()
    except DataError as error:
        return Refused(reason=str(error))
    if row.span is not None and row.span[1] >= board.video.n_frames:
        return Refused(reason=f"the last frame of the video is {board.video.n_frames - 1}")
    return say(board.made, row)


urls = [
    board_route(
        BoardPage(
            name="counts",
            template="boards/counts.html",
            shown=_counts,
            say=_count,
            after=lambda board, _given, _said: board.address(anchor="done"),
        )
    )
]
