"""The boards of what programs found: tracks, and the cuts between shots."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, TypeAlias, TypeVar
from uuid import UUID

import msgspec
from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponse, QueryDict

from vidence.errors import DataError, VidenceError
from vidence.make.review.people.checks import check_of_everybody, check_of_shots, check_of_track
from vidence.make.review.people.rows import EVERYBODY, ShotRow, TrackRow, Unused
from vidence.make.review.people.track_acts import (
    ShotsByPeople,
    TracksByPeople,
    apply_shots,
    apply_tracks,
    left_by_people,
)
from vidence.seeing.shooting import Shot
from vidence.seeing.tracks import Track, TrackedVideo, listed_others
from vidence.studio.access import EVERY_ROLE, route
from vidence.studio.bridge.board_sets import crop
from vidence.studio.pages.answers import whole_number
from vidence.studio.pages.boards import (
    VIDEO,
    ActButton,
    BoardPage,
    Field,
    Line,
    OpenBoard,
    Picture,
    Shown,
    board_of,
    board_route,
)
from vidence.studio.rules.boards import Meeting, crop_frames, meetings, neighbours, suspicions
from vidence.studio.verdicts import Refused, Said, rows_of, said_on, say, sent_back

PAGE: Final = 25
_WHERE: Final = "this act"
Acts: TypeAlias = Mapping[str, Sequence[str]]
"""The acts of a board, each with the fields of its form that stand behind it."""
_TRACK_ACTS: Final[Acts] = {
    **dict.fromkeys(("ok", "phantom", "aside", "all"), ()),
    "split": ("frame",),
    "join": ("other",),
    "same-as": ("other",),
    "drop": ("first", "last"),
}
_SHOT_ACTS: Final[Acts] = {"cut-at": ("frame",), "no-cut-at": ("frame",), "gradual": ("frame", "last")}
_TRACK_BUTTONS: Final = (
    ActButton(act="ok", words="One person", key="v"),
    ActButton(act="aside", words="One person, ask nothing", key="a"),
    ActButton(act="phantom", words="No one", key="x"),
    ActButton(act="split", words="Split at the crop", key="s"),
    ActButton(act="join", words="Join", key="+"),
    ActButton(act="same-as", words="Same person, away between", key="="),
    ActButton(act="drop", words="Drop these frames", key="d"),
)
RowT = TypeVar("RowT", TrackRow, ShotRow)


def _act(given: QueryDict, acts: Acts) -> str:
    """The act that a form says, as rows have it.

    Raises:
        DataError: there is no such act, or a field that it needs is empty.
    """
    name = given.get("act", "")
    if name not in acts:
        raise DataError(f"there is no act {name[:40]!r}")
    values = [given.get(field, "").strip() for field in acts[name]]
    if not all(values):
        raise DataError(f"{name} needs: {', '.join(acts[name])}; choose or type it first")
    return f"{name}:{'-'.join(values)}" if values else name


def _say(
    board: OpenBoard,
    row: RowT,
    *,
    before: Sequence[RowT],
    apply: Callable[[Sequence[RowT]], Sequence[Unused]],
) -> Said | Refused:
    """Keep a row that counts now; one that would say nothing is refused with the reason of the making."""
    row.see()
    rows = list(before)
    rows.append(msgspec.structs.replace(row, where=_WHERE))
    unused = apply(rows)
    why = next((entry.why for entry in unused if entry.where == _WHERE), "")
    return Refused(reason=why) if why else say(board.made, row)


# --------------------------------------------------------------------------- tracks


def anchor_of(track_id: str) -> str:
    """The name of a track in the address of the page of tracks."""
    return f"t-{track_id.replace('/', '.')}"


def tracks_now(board: OpenBoard) -> tuple[TracksByPeople, TrackedVideo] | None:
    """The tracks of a video as people have left them by now; None if it has none.

    Raises:
        DataError: the people's file has lines that cannot be used.
    """
    if board.video.tracked is None:
        return None
    now = apply_tracks(board.video.tracked, rows_of(board.made, TrackRow, video_id=board.video.video_id))
    return now, left_by_people(board.video.tracked, now)


def crop_address(board: OpenBoard, frame: int, **who: str) -> str:
    """The address of the picture of a track, by its name or its mask; with ``whole`` of the whole frame."""
    query = QueryDict(mutable=True)
    query.update({"frame": str(frame), **who})
    return f"{board.address('crop')}?{query.urlencode()}"


def _tracks(board: OpenBoard, given: QueryDict) -> Shown:
    now = tracks_now(board)
    if now is None:
        return {"groups": [("", ())], "n_open": 0, "n_all": 0}
    result, video = now
    everybody = (*result.tracks, *listed_others(result.others, video))
    verdicts: dict[str, list[tuple[str, str]]] = {}
    for row in said_on(board.made, TrackRow, video_id=board.video.video_id):
        verdicts.setdefault(row.track_id, []).append((row.act, row.by))
    mixed = sent_back(board.made, board.video.video_id)
    met = {track.track_id: meetings(track, everybody) for track in everybody}
    reasons = {}
    for entry in everybody:
        is_counting = any(entry is track for track in result.tracks)
        left_out = "" if is_counting else board.video.reason(entry.track_id)
        back = mixed.get((entry.track_id, check_of_track(entry)))
        why = suspicions(entry, video, met=met[entry.track_id], left_out=left_out)
        reasons[entry.track_id] = (*((back,) if back else ()), *why)

    def rank(element: Track) -> tuple[object, ...]:
        """Those without a verdict first, of these the ones sent back, then those with most reasons."""
        name = element.track_id
        is_back = (name, check_of_track(element)) in mixed
        n_reasons = len(reasons[name]) + len(met[name])
        return (name in verdicts, not is_back, -n_reasons, video.span_s(element)[0], name)

    ordered = sorted(everybody, key=rank)
    page = max(1, whole_number(given.get("page", "1")) or 1)
    lines = [
        replace(
            _track_line(board, track, video=video, among=ordered, met=met[track.track_id]),
            reasons="; ".join(reasons[track.track_id]),
            verdicts=verdicts.get(track.track_id, ()),
            is_open=track.track_id not in verdicts,
        )
        for track in ordered[(page - 1) * PAGE : page * PAGE]
    ]
    return {
        "groups": [("", lines), ("All tracks", [_everybody_line(board, verdicts.get(EVERYBODY, ()))])],
        "n_open": sum(track.track_id not in verdicts for track in everybody),
        "n_all": len(everybody),
        "page": page,
        "n_pages": max(1, -(-len(ordered) // PAGE)),
        "unused": [str(unused) for unused in result.unused],
        "gone": [f"{track.what}: {track.detail}" for track in result.dropped],
    }


def _track_line(
    board: OpenBoard, track: Track, *, video: TrackedVideo, among: Sequence[Track], met: Sequence[Meeting]
) -> Line:
    name, (start_s, end_s) = track.track_id, video.span_s(track)
    frames = crop_frames(track, met=met, usual=board.video.portraits(track))
    near = [
        (neighbour.track_id, f"{neighbour.track_id}, {neighbour.words}")
        for neighbour in neighbours(track, video, among)
    ]
    others = [(entry.track_id, entry.track_id) for entry in among if entry is not track]
    chosen = ", chosen" if name in board.video.chosen else ""
    about = f"{start_s:.1f} to {end_s:.1f} s, frames {track.first_frame} to {track.last_frame}{chosen}"
    options = [("", ""), *near, *(other for other in others if other[0] not in dict(near))]
    return Line(
        anchor=anchor_of(name),
        title=f"Track {name}",
        name=name,
        about=about,
        pictures=[
            Picture(
                src=crop_address(board, frame, track=name),
                alt=f"track {name}, frame {frame}",
                caption=f"{video.times_s[frame]:.1f} s",
                value=str(frame),
            )
            for frame in frames
        ],
        hidden={"track": name, "check": check_of_track(track)},
        fields=()
        if board.video.is_given
        else (
            Field(name="other", label="Other track", kind="choice", options=options),
            Field(name="first", label="First frame to drop"),
            Field(name="last", label="Last frame to drop"),
        ),
        acts=() if board.video.is_given else _TRACK_BUTTONS,
    )


def _everybody_line(board: OpenBoard, verdicts: Sequence[tuple[str, str]]) -> Line:
    """The row in which a person answers for all tracks."""
    if board.video.tracked is None:
        raise AssertionError(board.video.video_id)
    return Line(
        anchor=anchor_of(EVERYBODY),
        title="Everybody",
        name=EVERYBODY,
        about="each track has a verdict, and each person in the video has a track",
        verdicts=verdicts,
        hidden={"track": EVERYBODY, "check": check_of_everybody(board.video.tracked)},
        acts=() if board.video.is_given else (ActButton(act="all", words="That is all of them"),),
        is_open=not verdicts,
    )


def _say_of_track(board: OpenBoard, given: QueryDict) -> Said | Refused:
    tracked = board.video.tracked
    if tracked is None:
        return Refused(reason="the video has no tracks")
    if board.video.is_given:
        return Refused(reason="these tracks were given in a file; correct them in that file")
    try:
        row = TrackRow(
            video_id=board.video.video_id,
            check=given.get("check", ""),
            track_id=given.get("track", ""),
            act=_act(given, _TRACK_ACTS),
            by=board.person.name,
            note=" ".join(given.get("note", "").split()),
        )
        before = rows_of(board.made, TrackRow, video_id=row.video_id)
        return _say(board, row, before=before, apply=lambda rows: apply_tracks(tracked, rows).unused)
    except (DataError, ValueError) as error:
        return Refused(reason=str(error))


def _after_track(board: OpenBoard, given: QueryDict, result: Said) -> str:
    """Where to go on: to a track that was taken back, otherwise to the first open one."""
    if given.get("act") == "undo" and isinstance(result, TrackRow):
        return board.address(anchor=anchor_of(result.track_id))
    return board.address()


# --------------------------------------------------------------------------- shots


def shots_now(board: OpenBoard) -> ShotsByPeople | None:
    """The shots of a video as people have left them by now; None if none were looked for.

    Raises:
        DataError: the people's file has lines that cannot be used.
    """
    if not board.video.shots:
        return None
    rows = rows_of(board.made, ShotRow, video_id=board.video.video_id)
    return apply_shots(board.video.shots, rows, times_s=board.video.times_s)


def still(board: OpenBoard, frame: int, alt: str, *, caption: str = "") -> Picture:
    """A whole frame of the film, which is here."""
    src = f"{board.medium}/still/{frame}.jpg?size=long:320"
    return Picture(src=src, alt=alt, caption=caption or f"frame {frame}")


def _shots(board: OpenBoard, _given: QueryDict) -> Shown:
    now = shots_now(board)
    shots = () if now is None else now.shots
    lanes = [{"name": "shots", "spans": [[shot.start_s, shot.end_s] for shot in shots]}]
    times_s = board.video.times_s
    if mixed := [[shot.start_s, float(times_s[shot.clear_frame])] for shot in shots if shot.n_mixed]:
        lanes.append({"name": "gradual", "spans": mixed})
    lines = [
        _shot_line(board, shot, number=number, before=before, is_last=shot is shots[-1])
        for number, (before, shot) in enumerate(pairwise((None, *shots)), 1)
        if shot is not None
    ]
    return {
        "groups": [("", lines)],
        "n_shots": len(shots),
        "unused": [] if now is None else [str(unused) for unused in now.unused],
        "lanes_json": msgspec.json.encode(lanes).decode(),
    }


def _shot_line(board: OpenBoard, shot: Shot, *, number: int, before: Shot | None, is_last: bool) -> Line:
    first, last, clear = shot.first_frame, shot.last_frame, shot.clear_frame
    about = [f"{shot.start_s:.2f} to {shot.end_s:.2f} s, frames {first} to {last}"]
    if shot.n_mixed:
        about.append(f"the first {shot.n_mixed} show both shots")
    if before is not None and (n_between := first - before.last_frame - 1):
        about.append(f"{n_between} frame{'s' * (n_between > 1)} before it in none")
    if board.video.scores is not None and before is not None:
        score = float(board.video.scores.values[before.last_frame : clear + 1].max(initial=0))
        about.append(f"score {score:.3f}")
    if first not in {entry.first_frame for entry in board.video.shots}:
        about.append("begun by people")
    pictures = []
    if board.medium:
        if before is not None:
            pictures.append(still(board, before.last_frame, "last frame before the cut"))
        pictures.append(still(board, first, "first frame of the shot"))
        if shot.n_mixed:
            pictures.append(
                still(board, clear, "first clear frame of the shot", caption=f"clear from {clear}")
            )
        if is_last:
            pictures.append(still(board, last, "last frame of the film's last shot"))
    cut = before is not None
    return Line(
        anchor=f"s-{first}",
        title=f"Shot {number}",
        about=", ".join(about),
        pictures=pictures,
        hidden={"frame": str(first)} if cut else {},
        fields=(Field(name="last", label="gradual until frame", value=str(clear)),) if cut else (),
        acts=(
            ActButton(act="no-cut-at", words="No cut here", key="x"),
            ActButton(act="gradual", words="Gradual"),
        )
        if cut
        else (),
    )


def _say_of_shot(board: OpenBoard, given: QueryDict) -> Said | Refused:
    try:
        now = shots_now(board)
        if now is None:
            return Refused(reason="shots were not detected in this video")
        row = ShotRow(
            video_id=board.video.video_id,
            check="",
            act=_act(given, _SHOT_ACTS),
            by=board.person.name,
            note=" ".join(given.get("note", "").split()),
        )
        row = msgspec.structs.replace(row, check=check_of_shots(now.shots, row.parsed))
        shots, times_s = board.video.shots, board.video.times_s
        before = rows_of(board.made, ShotRow, video_id=row.video_id)
        return _say(
            board, row, before=before, apply=lambda rows: apply_shots(shots, rows, times_s=times_s).unused
        )
    except (DataError, ValueError) as error:
        return Refused(reason=str(error))


def _after_shot(board: OpenBoard, _given: QueryDict, result: Said) -> str:
    """Where to go on: the shot that has the frame that was spoken of."""
    now = shots_now(board)
    if now is None or not isinstance(result, ShotRow):
        return board.address()
    first = [shot.first_frame for shot in now.shots if shot.first_frame <= result.parsed.first]
    return board.address(anchor=f"s-{first[-1] if first else now.shots[0].first_frame}")


# --------------------------------------------------------------------------- pictures


async def picture(request: HttpRequest, made_set: UUID, video: str) -> HttpResponse:
    """The crop of a track in a frame, or with ``whole=1`` the frame with the box drawn."""
    given, frame = request.GET, whole_number(request.GET.get("frame", ""))
    try:
        board = await sync_to_async(board_of)(request, made_set, video, name="tracks")
        now = tracks_now(board)
        everybody = () if now is None else (*now[0].tracks, *now[0].others)
        who = given.get("who", "")
        track = next(
            (entry for entry in everybody if who and board.mask(entry.track_id) == who), None
        ) or next((entry for entry in everybody if entry.track_id == given.get("track")), None)
        if track is None or frame is None or frame not in track.frame_indices:
            raise Http404
        is_whole, roots = given.get("whole") == "1", board.opened.media_roots
        cut = await crop(board.video, track, frame, roots=roots, is_whole=is_whole)
    except VidenceError as error:
        raise Http404 from error
    headers = {"ETag": f'"{cut.digest}"', "Cache-Control": "private, max-age=3600"}
    return HttpResponse(cut.data, content_type=cut.media_type, headers=headers)


urls = [
    board_route(
        BoardPage(
            name="tracks", template="boards/tracks.html", shown=_tracks, say=_say_of_track, after=_after_track
        )
    ),
    board_route(
        BoardPage(
            name="shots", template="boards/shots.html", shown=_shots, say=_say_of_shot, after=_after_shot
        )
    ),
    route(f"{VIDEO}/crop.jpg", picture, name="board-crop", roles=EVERY_ROLE),
]
