"""Boards: sets in the making, the tracks and shots of their videos, and what people say of them."""

import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Final, TypeVar, cast
from uuid import UUID

import msgspec
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse

from vidence.errors import DataError, MediaError, UsageError, VidenceError
from vidence.make.review.people.checks import check_of_shots, check_of_track
from vidence.make.review.people.rows import Act, ShotRow, TrackRow
from vidence.make.review.people.shot_acts import ShotsByPeople, apply_shots
from vidence.make.review.people.track_acts import TracksByPeople, apply_tracks, left_by_people
from vidence.media.encode import EncodedFrame
from vidence.seeing.shooting import Shot, ShotScores
from vidence.seeing.tracks import Track, TrackedVideo, listed_others
from vidence.studio.access import BOTH, EVERY_ROLE, Person, Rule, route
from vidence.studio.bridge.board_sets import BoardSet, BoardVideo, Offered, board_set, crop, offered
from vidence.studio.media import token_of
from vidence.studio.pages.answers import whole_number
from vidence.studio.records.boards import MadeSetRow, ShotEditRow, TrackVerdictRow
from vidence.studio.records.people import ProjectRow
from vidence.studio.rules.boards import (
    WAY_WIDTH,
    Meeting,
    Neighbour,
    crop_frames,
    meetings,
    neighbours,
    suspicions,
    way,
)
from vidence.studio.settings import current
from vidence.studio.verdicts import (
    TABLES,
    BoardName,
    BoardRow,
    Refused,
    rows_of,
    said,
    say,
    sent_back,
    take_back,
    take_in,
)

ACTORS: Final[frozenset[Rule]] = frozenset({"author", "reviewer", "meta", "operator"})
"""Who may say something on a board; whoever has signed in may look."""
PAGE: Final = 25
VIDEO: Final = "sets/<uuid:made>/<str:video>"
RowT = TypeVar("RowT", bound="BoardRow")
_BOARDS: Final[tuple[tuple[BoardName, str], ...]] = (
    ("shots", "Shots"),
    ("tracks", "Tracks"),
    ("cards", "Cards"),
    ("false-cards", "False cards"),
    ("counts", "Counts"),
)


@dataclass(frozen=True, kw_only=True)
class OpenBoard:
    """One board of one video, as a request finds it."""

    made: MadeSetRow
    opened: BoardSet
    video: BoardVideo
    person: Person
    name: BoardName

    @property
    def may_act(self) -> bool:
        """Whether this person may say something here."""
        return may_act(self.person, self.made) and current().settings.mode != "view"

    def address(self, anchor: str = "") -> str:
        """Where this board is."""
        found = reverse(f"board-{self.name}", args=(self.made.public, self.video.video_id))
        return f"{found}#{anchor}" if anchor else found

    def rows(self, table: Any) -> Any:  # noqa: ANN401 - a table of Django, and its rows
        """What people have said of this video in a table."""
        return table.objects.filter(made_set=self.made, video_id=self.video.video_id)

    def row(self, table: type[RowT], **said: object) -> RowT:
        """A new row of a table about this video, not kept yet."""
        return table(made_set=self.made, video_id=self.video.video_id, **said)

    def told(self, **more: object) -> dict[str, object]:
        """What every board is drawn with."""
        last = self.rows(TABLES[self.name]).filter(by_name=self.person.name).order_by("-pk").first()
        return {
            "made": self.made,
            "set_name": self.opened.name,
            "video": self.video,
            "board": self.name,
            "boards": boards_of(self.made, self.video.video_id),
            "may_act": self.may_act,
            "last_said": "" if last is None else said(cast("BoardRow", last)),
            "remake": self.opened.remake(self.video.video_id),
            "media": medium(self),
            "lanes_json": "[]",
            **more,
        }


# --------------------------------------------------------------------------- finding things


def told_why(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """A page of a set that says why the set, or a file of it, cannot be used."""

    @wraps(view)
    def answer(request: HttpRequest, **named: object) -> HttpResponse:
        try:
            return view(request, **named)
        except VidenceError as error:
            status = 404 if isinstance(error, UsageError) else 409
            return render(request, "boards/refused.html", {"fault": str(error)}, status=status)

    return answer


def boards_of(made: MadeSetRow, video_id: str) -> list[tuple[str, str, str, int]]:
    """The boards of a video: name, title, address, and how many rows people have written there."""
    return [
        (
            name,
            title,
            reverse(f"board-{name}", args=(made.public, video_id)),
            TABLES[name].objects.filter(made_set=made, video_id=video_id).count(),
        )
        for name, title in _BOARDS
    ]


def may_act(person: Person, made: MadeSetRow) -> bool:
    """Whether somebody may say something about a set."""
    roles = person.roles_in(made.project.slug if made.project else "")
    return bool(roles & ACTORS)


def set_of(request: HttpRequest, public: UUID) -> tuple[MadeSetRow, BoardSet]:
    """A set that was opened, for somebody who has a say in its project.

    Raises:
        Http404: there is none, or it is of a project that this person has no role in.
    """
    made = MadeSetRow.objects.select_related("project").filter(public=public).first()
    person: Person = request.person
    if made is None or not person.roles_in(made.project.slug if made.project else ""):
        raise Http404
    return made, board_set(current().settings.paths, Path(made.folder))


def board_of(request: HttpRequest, public: UUID, video: str, *, name: BoardName) -> OpenBoard:
    """A board of a video; errors as for `set_of`, and 404 for a video that the set has not."""
    made, opened = set_of(request, public)
    found = opened.videos.get(video)
    if found is None:
        raise Http404
    return OpenBoard(made=made, opened=opened, video=found, person=request.person, name=name)


def mask(board: OpenBoard, name: str) -> str:
    """What stands on a page for a name that would tell the answer."""
    words = f"mask|{board.made.public}|{board.video.video_id}|{name}"
    return hmac.new(current().secret, words.encode(), hashlib.sha256).hexdigest()[:16]


def medium(board: OpenBoard) -> str:
    """The address of the film for a player; empty where it is not here."""
    if board.video.file is None:
        return ""
    project = board.made.project.slug if board.made.project else ""
    try:
        return f"/media/{token_of(board.video.file, roots=board.opened.media_roots, project=project)}"
    except MediaError:
        return ""


def tried(
    request: HttpRequest, board: OpenBoard, say_it: Callable[[HttpRequest, OpenBoard], BoardRow | Refused]
) -> tuple[BoardRow | None, str]:
    """What became of a form: the row that was said or taken back, or why there is none; neither without one.

    Raises:
        PermissionDenied: this person may not act.
    """
    if request.method != "POST":
        return None, ""
    refuse_idle(board)
    if request.POST.get("act") == "undo":
        done = take_back(board.made, board.name, board.person, video_id=board.video.video_id)
    else:
        done = say_it(request, board)
    return (None, done.reason) if isinstance(done, Refused) else (done, "")


def refuse_idle(board: OpenBoard) -> None:
    """See that this person may act.

    Raises:
        PermissionDenied: they may not.
    """
    if not board.may_act:
        raise PermissionDenied("another role")


# --------------------------------------------------------------------------- sets


def sets(request: HttpRequest) -> HttpResponse:
    """The sets that are open, and those that this studio was told of."""
    person: Person = request.person
    fault, status = "", 200
    if request.method == "POST":
        found = _open(request)
        if isinstance(found, MadeSetRow):
            return redirect("board-set", found.public)
        fault, status = found, 400
    rows = MadeSetRow.objects.select_related("project").order_by("folder")
    shown = [row for row in rows if person.roles_in(row.project.slug if row.project else "")]
    known = {row.folder for row in rows}
    told = {
        "sets": shown,
        "offered": [one for one in _offered() if str(one.folder) not in known],
        "projects": [
            one for one in ProjectRow.objects.order_by("slug") if "operator" in person.roles_in(one.slug)
        ],
        "may_open": "operator" in person.roles_in(None),
        "fault": fault,
    }
    return render(request, "boards/sets.html", told, status=status)


def _offered() -> tuple[Offered, ...]:
    return offered(current().settings.paths)


def _open(request: HttpRequest) -> MadeSetRow | str:
    """Open one of the sets that this studio was told of; in words why not."""
    wanted, slug = request.POST.get("folder", ""), request.POST.get("project", "")
    project = ProjectRow.objects.filter(slug=slug).first() if slug else None
    person: Person = request.person
    if "operator" not in person.roles_in(slug if project else ""):
        return "An operator opens sets: of a project its own, without a project one of all."
    one = next((one for one in _offered() if str(one.folder) == wanted), None)
    known = MadeSetRow.objects.filter(folder=wanted).first()
    if one is None or (known is not None and known.project != project):
        return "That is none of the sets that this studio was told of and that nobody has opened."
    try:
        opened = board_set(current().settings.paths, one.folder)
        made, _ = MadeSetRow.objects.get_or_create(
            folder=str(one.folder),
            defaults={"project": project, "people_folder": str(opened.people_folder)},
        )
        take_in(made)
    except VidenceError as error:
        return str(error)
    return made


@told_why
def set_page(request: HttpRequest, made: UUID) -> HttpResponse:
    """The videos of a set, and how much was said of each."""
    row, opened = set_of(request, made)
    may, fault = may_act(request.person, row), ""
    if request.method == "POST":
        if not may:
            raise PermissionDenied("another role")
        try:
            take_in(row)
        except DataError as error:
            fault = str(error)
    videos = [{"video": one, "boards": boards_of(row, one.video_id)} for one in opened.videos.values()]
    told = {
        "made": row,
        "set_name": opened.name,
        "videos": videos,
        "titles": [title for _, title in _BOARDS],
        "notes": opened.notes,
        "may_act": may,
        "fault": fault,
        "command": opened.command,
    }
    return render(request, "boards/set.html", told, status=400 if fault else 200)


# --------------------------------------------------------------------------- tracks


@dataclass(frozen=True, kw_only=True)
class TrackShown:
    """One row of the board of tracks."""

    track: Track
    check: str
    start_s: float
    end_s: float
    is_picked: bool
    reasons: tuple[str, ...]
    near: tuple[Neighbour, ...]
    crops: tuple[tuple[int, float], ...]
    way: str
    said: tuple[TrackVerdictRow, ...]

    @property
    def is_open(self) -> bool:
        """Whether nobody has said anything of it."""
        return not self.said

    @property
    def first_frame(self) -> int:
        """Its first frame."""
        return self.track.first_frame

    @property
    def last_frame(self) -> int:
        """Its last frame."""
        return self.track.last_frame

    @property
    def anchor(self) -> str:
        """Its name in the address of the page."""
        return anchor_of(self.track.track_id)


def anchor_of(track_id: str) -> str:
    """The name of a track in the address of the page of tracks."""
    return f"t-{track_id.replace('/', '.')}"


def tracks_now(board: OpenBoard) -> tuple[TracksByPeople, TrackedVideo] | None:
    """The tracks of a video as people have left them by now; None where it has none.

    Raises:
        DataError: the people's file has lines that cannot be used.
    """
    if board.video.tracked is None:
        return None
    rows = rows_of(board.made, TrackRow, video_id=board.video.video_id)
    now = apply_tracks(board.video.tracked, rows)
    return now, left_by_people(board.video.tracked, now)


@told_why
def tracks(request: HttpRequest, made: UUID, video: str) -> HttpResponse:
    """The tracks of a video, suspicious ones first."""
    board = board_of(request, made, video, name="tracks")
    done, fault = tried(request, board, _say_of_track)
    if done is not None:
        return HttpResponseRedirect(board.address(_anchor_after(done, request)))
    page = max(1, whole_number(request.GET.get("page", "1")) or 1)
    told = board.told(fault=fault, page=page, **_tracks_shown(board, tracks_now(board), page=page))
    return render(request, "boards/tracks.html", told, status=400 if fault else 200)


@dataclass(frozen=True, kw_only=True)
class _BoardReview:
    """The tracks of a board with what people have said of them, looked at one by one."""

    board: OpenBoard
    result: TracksByPeople
    video: TrackedVideo
    everybody: tuple[Track, ...]
    verdicts: Mapping[str, list[TrackVerdictRow]]
    mixed: Mapping[tuple[str, str], str]

    @classmethod
    def of(cls, board: OpenBoard, now: tuple[TracksByPeople, TrackedVideo] | None) -> "_BoardReview":
        """The tracks as people have left them; none where the video has none."""
        verdicts: dict[str, list[TrackVerdictRow]] = {}
        for row in board.rows(TrackVerdictRow).order_by("pk"):
            verdicts.setdefault(row.track_id, []).append(row)
        if now is None:
            result = TracksByPeople(tracks=(), others=())
            video = TrackedVideo(width_px=1, height_px=1, times_s=board.video.times_s, tracks=())
        else:
            result, video = now
        everybody = (*result.tracks, *listed_others(result.others, video))
        return cls(
            board=board,
            result=result,
            video=video,
            everybody=everybody,
            verdicts=verdicts,
            mixed=sent_back(board.made, board.video.video_id),
        )

    def left_out(self, track: Track) -> str:
        """Why a program left a track out; empty where it counts."""
        is_counting = any(track is one for one in self.result.tracks)
        return "" if is_counting else self.board.video.reason(track.track_id)

    def reasons(self, track: Track, met: Sequence[Meeting]) -> tuple[str, ...]:
        """Why somebody should look at a track; first, that the board of cards sent it back."""
        back = self.mixed.get((track.track_id, check_of_track(track)))
        return (
            *((back,) if back else ()),
            *suspicions(track, self.video, met=met, left_out=self.left_out(track)),
        )

    def row(self, track: Track, met: Sequence[Meeting] | None = None) -> TrackShown:
        """The row of a track."""
        video = self.video
        met = meetings(track, self.everybody) if met is None else met
        start_s, end_s = video.span_s(track)
        frames = crop_frames(track, met=met, usual=self.board.video.portraits(track))
        return TrackShown(
            track=track,
            check=check_of_track(track),
            start_s=start_s,
            end_s=end_s,
            is_picked=track.track_id in self.board.video.chosen,
            reasons=self.reasons(track, met),
            near=neighbours(track, video, self.everybody),
            crops=tuple((frame, float(video.times_s[frame])) for frame in frames),
            way=way(track, width_px=video.width_px, height_px=video.height_px),
            said=tuple(self.verdicts.get(track.track_id, ())),
        )

    def in_order(self) -> list[tuple[Track, tuple[Meeting, ...]]]:
        """The tracks with whom they meet.

        Those without a verdict come first, of these the ones sent back, then those with most reasons.
        """
        met = {one.track_id: meetings(one, self.everybody) for one in self.everybody}

        def rank(one: Track) -> tuple[object, ...]:
            mine = met[one.track_id]
            n_reasons = len(self.reasons(one, mine)) + len(mine)
            is_back = (one.track_id, check_of_track(one)) in self.mixed
            is_seen = one.track_id in self.verdicts
            return (is_seen, not is_back, -n_reasons, self.video.span_s(one)[0], one.track_id)

        return [(one, met[one.track_id]) for one in sorted(self.everybody, key=rank)]

    def told(self) -> dict[str, object]:
        """What stands above and below the rows."""
        return {
            "all_ids": [one.track_id for one in self.everybody],
            "n_open": sum(one.track_id not in self.verdicts for one in self.everybody),
            "n_all": len(self.everybody),
            "way_height": round(WAY_WIDTH * self.video.height_px / self.video.width_px),
            "unused": [str(one) for one in self.result.unused],
            "gone": [f"{one.what}: {one.detail}" for one in self.result.dropped],
        }


def _tracks_shown(
    board: OpenBoard, now: tuple[TracksByPeople, TrackedVideo] | None, *, page: int
) -> dict[str, object]:
    """The rows of a page in the order in which they are looked at, and what stands around them."""
    looks = _BoardReview.of(board, now)
    ordered = looks.in_order()
    return {
        **looks.told(),
        "all_ids": [one.track_id for one, _ in ordered],
        "rows": [looks.row(one, met) for one, met in ordered[(page - 1) * PAGE : page * PAGE]],
        "n_pages": max(1, -(-len(ordered) // PAGE)),
    }


def _say_of_track(request: HttpRequest, board: OpenBoard) -> BoardRow | Refused:
    said_of = request.POST
    act = said_of.get("act", "")
    match act:
        case "ok" | "phantom":
            whole = act
        case "split":
            if not said_of.get("frame"):
                return Refused(reason="choose the first crop of the other person, then split")
            whole = f"split:{said_of['frame']}"
        case "join" | "same-as":
            if not said_of.get("other"):
                return Refused(reason="choose the other track first")
            whole = f"{act}:{said_of['other']}"
        case "drop":
            whole = f"drop:{said_of.get('first', '')}-{said_of.get('last', '')}"
        case _:
            return Refused(reason=f"there is no act {act[:40]!r}")
    row = board.row(
        TrackVerdictRow,
        seen=said_of.get("check", ""),
        track_id=said_of.get("track", ""),
        act=whole,
        note=" ".join(said_of.get("note", "").split()),
    )
    wrong = _would_not_count(board, row)
    return Refused(reason=wrong) if wrong else say(row, board.person)


def _would_not_count(board: OpenBoard, row: TrackVerdictRow) -> str:
    """Why a verdict would say nothing of the tracks as they are; empty where it would."""
    if board.video.tracked is None:
        return "the video has no tracks"
    if board.video.is_given:
        return "people gave these tracks, and they are taken as they are; correct the file of tracks"
    try:
        before = rows_of(board.made, TrackRow, video_id=row.video_id)
        new = TrackRow(
            video_id=row.video_id,
            check=row.seen,
            track_id=row.track_id,
            act=row.act,
            by=board.person.name,
            where="this act",
        )
        new.see()
        unused = apply_tracks(board.video.tracked, (*before, new)).unused
    except (DataError, ValueError) as error:
        return str(error)
    return next((one.why for one in unused if one.where == "this act"), "")


def _anchor_after(done: BoardRow, request: HttpRequest) -> str:
    """Where to go on: to a track that was taken back, otherwise to the first open one."""
    if request.POST.get("act") == "undo" and isinstance(done, TrackVerdictRow):
        return anchor_of(done.track_id)
    return ""


# --------------------------------------------------------------------------- shots


@dataclass(frozen=True, kw_only=True)
class CutShown:
    """The cut before a shot; the first shot has none."""

    number: int
    shot: Shot
    before: Shot | None
    check: str
    is_by_people: bool
    score: float | None

    @property
    def n_between(self) -> int:
        """How many frames before the shot are in none."""
        return 0 if self.before is None else self.shot.first_frame - self.before.last_frame - 1


def shots_now(board: OpenBoard) -> ShotsByPeople | None:
    """The shots of a video as people have left them by now; None where none were looked for.

    Raises:
        DataError: the people's file has lines that cannot be used.
    """
    if not board.video.shots:
        return None
    rows = rows_of(board.made, ShotRow, video_id=board.video.video_id)
    return apply_shots(board.video.shots, rows, times_s=board.video.times_s)


@told_why
def shots(request: HttpRequest, made: UUID, video: str) -> HttpResponse:
    """The shots of a video: each cut with the frames on both sides."""
    board = board_of(request, made, video, name="shots")
    done, fault = tried(request, board, _say_of_shot)
    if done is not None:
        return HttpResponseRedirect(board.address(_anchor_of_cut(board, done)))
    now = shots_now(board)
    told = board.told(
        fault=fault,
        cuts=_cuts(board, now),
        unused=[] if now is None else [str(one) for one in now.unused],
        lanes_json=_lanes(board, now),
    )
    return render(request, "boards/shots.html", told, status=400 if fault else 200)


def _anchor_of_cut(board: OpenBoard, done: BoardRow) -> str:
    """Where to go on: the shot that has the frame that was spoken of."""
    now = shots_now(board)
    if now is None or not isinstance(done, ShotEditRow):
        return ""
    at = int(done.act.split(":")[1].split("-")[0])
    first = [one.first_frame for one in now.shots if one.first_frame <= at]
    return f"s-{first[-1] if first else now.shots[0].first_frame}"


def _cuts(board: OpenBoard, now: ShotsByPeople | None) -> list[CutShown]:
    if now is None:
        return []
    found, scores = {shot.first_frame for shot in board.video.shots}, board.video.scores
    every = [None, *now.shots]
    return [
        CutShown(
            number=number,
            shot=shot,
            before=before,
            check="" if before is None else check_of_shots(now.shots, _act("no-cut-at", shot.first_frame)),
            is_by_people=shot.first_frame not in found,
            score=None if scores is None or before is None else _score(scores, before, shot),
        )
        for number, (before, shot) in enumerate(zip(every, now.shots, strict=False), 1)
    ]


def _score(scores: ShotScores, before: Shot, shot: Shot) -> float:
    """The highest score from the last frame of a shot to the first clear one of the next."""
    return float(scores.values[before.last_frame : shot.clear_frame + 1].max(initial=0))


def _lanes(board: OpenBoard, now: ShotsByPeople | None) -> str:
    """The time line of the player, as JSON: the shots, and the changes that show two of them."""
    shots, times_s = () if now is None else now.shots, board.video.times_s
    lanes = [{"name": "shots", "spans": [[shot.start_s, shot.end_s] for shot in shots]}]
    if mixed := [[shot.start_s, float(times_s[shot.clear_frame])] for shot in shots if shot.n_mixed]:
        lanes.append({"name": "gradual", "spans": mixed})
    return msgspec.json.encode(lanes).decode()


def _act(name: str, first: int, last: int | None = None) -> Act:
    return Act(name=name, first=first, last=first if last is None else last)


def _say_of_shot(request: HttpRequest, board: OpenBoard) -> BoardRow | Refused:
    said_of = request.POST
    name = said_of.get("act", "")
    first, last = whole_number(said_of.get("frame", "")), whole_number(said_of.get("last", ""))
    if name not in ("cut-at", "no-cut-at", "gradual"):
        return Refused(reason=f"there is no act {name[:40]!r}")
    if first is None or (name == "gradual" and last is None):
        return Refused(
            reason="say the frame as a whole number" + (", and the last one" * (name == "gradual"))
        )
    act = _act(name, first, last if name == "gradual" else None)
    try:
        now = shots_now(board)
        if now is None:
            return Refused(reason="no shots were looked for in this video")
        row = board.row(
            ShotEditRow,
            seen=check_of_shots(now.shots, act),
            act=f"{name}:{first}-{last}" if name == "gradual" else f"{name}:{first}",
            note=" ".join(said_of.get("note", "").split()),
        )
        before = rows_of(board.made, ShotRow, video_id=row.video_id)
        new = ShotRow(
            video_id=row.video_id, check=row.seen, act=row.act, by=board.person.name, where="this act"
        )
        new.see()
        unused = apply_shots(board.video.shots, (*before, new), times_s=board.video.times_s).unused
    except (DataError, ValueError) as error:
        return Refused(reason=str(error))
    wrong = next((one.why for one in unused if one.where == "this act"), "")
    return Refused(reason=wrong) if wrong else say(row, board.person)


# --------------------------------------------------------------------------- pictures


async def picture(request: HttpRequest, made: UUID, video: str) -> HttpResponse:
    """The crop of a track in a frame, or with ``whole=1`` the frame with the box drawn."""
    from asgiref.sync import sync_to_async

    try:
        board = await sync_to_async(board_of)(request, made, video, name="tracks")
        now = tracks_now(board)
    except VidenceError as error:
        raise Http404 from error
    frame = whole_number(request.GET.get("frame", ""))
    name = request.GET.get("track", "")
    everybody: Mapping[str, Track] = {}
    if now is not None:
        everybody = {one.track_id: one for one in (*now[0].tracks, *now[0].others)}
    who = request.GET.get("who", "")
    track = next((one for one in everybody.values() if who and mask(board, one.track_id) == who), None)
    track = track or everybody.get(name)
    if track is None or frame is None or frame not in track.frame_indices or board.video.file is None:
        raise Http404
    try:
        cut: EncodedFrame = await crop(
            board.video,
            track,
            frame,
            roots=board.opened.media_roots,
            is_whole=request.GET.get("whole") == "1",
        )
    except VidenceError as error:
        raise Http404 from error
    headers = {"ETag": f'"{cut.digest}"', "Cache-Control": "private, max-age=3600"}
    return HttpResponse(cut.data, content_type=cut.media_type, headers=headers)


urls = [
    route("sets/", sets, name="board-sets", roles=EVERY_ROLE, to=BOTH),
    route("sets/<uuid:made>/", set_page, name="board-set", roles=EVERY_ROLE, to=BOTH),
    route(f"{VIDEO}/tracks", tracks, name="board-tracks", roles=EVERY_ROLE, to=BOTH),
    route(f"{VIDEO}/shots", shots, name="board-shots", roles=EVERY_ROLE, to=BOTH),
    route(f"{VIDEO}/crop.jpg", picture, name="board-crop", roles=EVERY_ROLE),
]
