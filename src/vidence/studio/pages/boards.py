"""Boards: sets in the making, and what people say of their videos, row by row on one form.

A board is a `BoardPage`: what it shows of a video, and what a sent form says. `board_route` makes its page of
it: who may look and act, taking back, what is refused, and where to go on are the same on all.
"""

import hashlib
import hmac
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final, TypeAlias
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import redirect, render
from django.urls import URLPattern, reverse

from vidence.errors import DataError, MediaError, VidenceError
from vidence.studio.access import BOTH, EVERY_ROLE, Person, Rule, route
from vidence.studio.bridge.board_sets import BoardSet, BoardVideo, Offered, board_set, offered
from vidence.studio.bridge.places import place_id
from vidence.studio.media import token_of
from vidence.studio.records.boards import BoardRow, MadeSetRow
from vidence.studio.records.people import ProjectRow
from vidence.studio.settings import current
from vidence.studio.verdicts import (
    BOARDS,
    BoardName,
    Refused,
    Said,
    in_words,
    last_of,
    record_of,
    take_back,
    take_in,
)

ACTORS: Final[frozenset[Rule]] = frozenset({"author", "reviewer", "meta", "operator"})
"""Who may say something on a board; all who have signed in may look."""
VIDEO: Final = "sets/<uuid:made_set>/<str:video>"
Shown: TypeAlias = Mapping[str, object]
"""What a template is given."""


@dataclass(frozen=True, kw_only=True)
class Picture:
    """One picture of a row; with a `value` it can be chosen, for the field ``frame``."""

    src: str
    alt: str
    caption: str = ""
    value: str = ""


@dataclass(frozen=True, kw_only=True)
class Field:
    """One field of a form: a whole number, several lines of words, or a choice among `options`.

    `note` stands below it.
    """

    name: str
    label: str
    kind: str = "number"
    value: str = ""
    options: Sequence[tuple[str, str]] = ()
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class ActButton:
    """A button that says something: the act that it sends, its words, and its key."""

    act: str
    words: str
    key: str = ""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One row of a board: pictures, existing information, and the form for a verdict.

    `name` is what the row is about, as forms send it and keys mark it; `notes` are sentences below the title,
    `marked` words that leak, `verdicts` what people said, each with who did. `link` is an address and words.
    """

    anchor: str
    title: str
    name: str = ""
    about: str = ""
    reasons: str = ""
    notes: Sequence[str] = ()
    marked: Sequence[str] = ()
    verdicts: Sequence[tuple[str, str]] = ()
    pictures: Sequence[Picture] = ()
    hidden: Mapping[str, str] = field(default_factory=dict)
    fields: Sequence[Field] = ()
    acts: Sequence[ActButton] = ()
    link: tuple[str, str] = ("", "")
    is_open: bool = True


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

    def address(self, name: str = "", anchor: str = "") -> str:
        """Where this board is, or another page of the video."""
        result = reverse(f"board-{name or self.name}", args=(self.made.public, self.video.video_id))
        return f"{result}#{anchor}" if anchor else result

    def mask(self, name: str) -> str:
        """What stands on a page for a name that would tell the answer."""
        words = f"mask|{self.made.public}|{self.video.video_id}|{name}"
        return hmac.new(current().secret, words.encode(), hashlib.sha256).hexdigest()[:16]

    @cached_property
    def medium(self) -> str:
        """The address of the film for a player; empty if it is not here."""
        if self.video.file is None:
            return ""
        project = self.made.project.slug if self.made.project else ""
        try:
            return f"/media/{token_of(self.video.file, roots=self.opened.media_roots, project=project)}"
        except MediaError:
            return ""

    def told(self) -> Shown:
        """What every board is drawn with."""
        last = last_of(self.made, self.name, self.person, video_id=self.video.video_id)
        return {
            "made": self.made,
            "set_name": self.opened.name,
            "video": self.video,
            "board": self.name,
            "board_title": BOARDS[self.name].title.casefold(),
            "boards": boards_of(self.made, self.video.video_id),
            "may_act": self.may_act,
            "last_said": "" if last is None else in_words(record_of(last)),
            "remake": self.opened.remake(self.video.video_id),
            "media": self.medium,
            "lanes_json": "[]",
        }


@dataclass(frozen=True, kw_only=True)
class BoardPage:
    """What is a board's own: its template, what it shows, what a form says, and where to go on from there.

    `shown` is given what was sent, or asked for; `say` what was sent; `anchor` also what was said.
    """

    name: BoardName
    template: str
    shown: Callable[[OpenBoard, QueryDict], Shown]
    say: Callable[[OpenBoard, QueryDict], Said | Refused]
    after: Callable[[OpenBoard, QueryDict, Said], str] = lambda board, _given, _said: board.address()


def board_route(page: BoardPage) -> URLPattern:
    """The address of a board."""

    def view(request: HttpRequest, made_set: UUID, video: str) -> HttpResponse:
        board, given, fault = board_of(request, made_set, video, name=page.name), request.POST, ""
        if request.method == "POST":
            refuse_idle(board)
            if given.get("act") == "undo":
                done = take_back(board.made, board.name, board.person, video_id=board.video.video_id)
            else:
                done = page.say(board, given)
            if not isinstance(done, Refused):
                return HttpResponseRedirect(page.after(board, given, done))
            fault = done.reason
        fields = {**board.told(), "fault": fault, **page.shown(board, given if fault else request.GET)}
        return render(request, page.template, fields, status=400 if fault else 200)

    return route(f"{VIDEO}/{page.name}", view, name=f"board-{page.name}", roles=EVERY_ROLE, to=BOTH)


# --------------------------------------------------------------------------- finding things


def boards_of(row: MadeSetRow, video_id: str) -> list[tuple[str, str, str, int]]:
    """The boards of a video: name, title, address, and how many rows people have written there."""
    rows = BoardRow.objects.filter(made_set=row, video_id=video_id)
    n_rows = Counter(rows.values_list("board", flat=True))
    return [
        (name, board.title, reverse(f"board-{name}", args=(row.public, video_id)), n_rows[name])
        for name, board in BOARDS.items()
    ]


def may_act(person: Person, row: MadeSetRow) -> bool:
    """Whether a person may say something about a set."""
    return bool(person.roles_in(row.project.slug if row.project else "") & ACTORS)


def set_of(request: HttpRequest, public: UUID) -> tuple[MadeSetRow, BoardSet]:
    """A set that was opened, for a person who has a say in its project.

    Raises:
        Http404: there is none, or it is of a project that this person has no role in.
    """
    result = MadeSetRow.objects.select_related("project").filter(public=public).first()
    person: Person = request.person
    if result is None or not person.roles_in(result.project.slug if result.project else ""):
        raise Http404
    return result, board_set(current().settings.paths, Path(result.folder))


def board_of(request: HttpRequest, public: UUID, video: str, *, name: BoardName) -> OpenBoard:
    """A board of a video; errors as for `set_of`, and 404 for a video that the set has not."""
    row, opened = set_of(request, public)
    board_video = opened.videos.get(video)
    if board_video is None:
        raise Http404
    return OpenBoard(made=row, opened=opened, video=board_video, person=request.person, name=name)


def refuse_idle(board: OpenBoard) -> None:
    """Check that this person may act.

    Raises:
        PermissionDenied: they may not.
    """
    if not board.may_act:
        raise PermissionDenied("another role")


# --------------------------------------------------------------------------- sets


def sets(request: HttpRequest) -> HttpResponse:
    """List the open datasets and those available to this studio."""
    person: Person = request.person
    fault, status = "", 200
    if request.method == "POST":
        sets = _open(request)
        if isinstance(sets, MadeSetRow):
            return redirect("board-set", sets.public)
        fault, status = sets, 400
    rows = MadeSetRow.objects.select_related("project").order_by("folder")
    entries = [row for row in rows if person.roles_in(row.project.slug if row.project else "")]
    known = {row.folder for row in rows}
    fields = {
        "sets": entries,
        "offered": [
            (place_id(entry.folder), entry)
            for entry in offered(current().settings.paths)
            if str(entry.folder) not in known
        ],
        "projects": [
            value
            for value in ProjectRow.objects.order_by("slug")
            if "operator" in person.roles_in(value.slug)
        ],
        "may_open": "operator" in person.roles_in(None),
        "fault": fault,
    }
    return render(request, "boards/sets.html", fields, status=status)


def _open(request: HttpRequest) -> MadeSetRow | str:
    """Open one of the available datasets; return an error message if that fails."""
    wanted, slug = request.POST.get("set", ""), request.POST.get("project", "")
    project = ProjectRow.objects.filter(slug=slug).first() if slug else None
    person: Person = request.person
    if "operator" not in person.roles_in(slug if project else ""):
        return "Only operators open sets: those of the project or of all projects."
    sets = {place_id(entry.folder): entry for entry in offered(current().settings.paths)}
    entry = sets.get(wanted)
    known = None if entry is None else MadeSetRow.objects.filter(folder=str(entry.folder)).first()
    if entry is None or (known is not None and known.project != project):
        return "The studio does not know this set, or it is already open."
    try:
        return open_set(entry, project)
    except VidenceError as error:
        return str(error)


def open_set(entry: Offered, project: ProjectRow | None) -> MadeSetRow:
    """Open an available dataset and read its files; errors as for `board_set`."""
    opened = board_set(current().settings.paths, entry.folder)
    values = {"project": project, "people_folder": str(opened.people_folder)}
    result, _ = MadeSetRow.objects.get_or_create(folder=str(entry.folder), defaults=values)
    take_in(result)
    return result


def set_page(request: HttpRequest, made_set: UUID) -> HttpResponse:
    """List the videos of a dataset, with the number of rows for each."""
    row, opened = set_of(request, made_set)
    may, fault = may_act(request.person, row), ""
    if request.method == "POST":
        if not may:
            raise PermissionDenied("another role")
        try:
            take_in(row)
        except DataError as error:
            fault = str(error)
    fields = {
        "made": row,
        "set_name": opened.name,
        "videos": [
            {"video": video, "boards": boards_of(row, video.video_id)} for video in opened.videos.values()
        ],
        "titles": [board.title for board in BOARDS.values()],
        "notes": opened.notes,
        "may_act": may,
        "fault": fault,
        "command": opened.command,
    }
    return render(request, "boards/set.html", fields, status=400 if fault else 200)


urls = [
    route("sets/", sets, name="board-sets", roles=EVERY_ROLE, to=BOTH),
    route("sets/<uuid:made_set>/", set_page, name="board-set", roles=EVERY_ROLE, to=BOTH),
]
