"""What the player fetches: the bytes of a medium in ranges, its table of times, stills, and its copy."""

import gzip
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import wraps
from http import HTTPStatus
from typing import Final

import msgspec
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern

from vidence.errors import MediaError, UsageError
from vidence.media.encode import EncodedFrame, Encoding, Size
from vidence.records import Record
from vidence.studio.access import EVERY_ROLE, Rule, route
from vidence.studio.media import FileState, MediaDesk, MediumFile, desk
from vidence.studio.pages.answers import as_json
from vidence.studio.rules.frames import PackedTable
from vidence.studio.rules.ranges import Beyond, ByteRange, holds, is_known, wanted_bytes

View = Callable[..., Awaitable[HttpResponse]]
Finder = Callable[[HttpRequest, str], Awaitable[MediumFile | None]]
"""Says what the token of a request stands for; None if it is not for the sender."""
# A browser may keep what it got, and asks each time whether it is still so.
_KEPT: Final = "private, no-cache"
_USUAL: Final = Encoding(size=Size(kind="short", pixels=720))


class Frames(Record):
    """What the player knows of a medium; `plays` says whether browsers play the file itself."""

    kind: str
    plays: bool
    table: PackedTable


def _json(record: object, *, status: int = HTTPStatus.OK) -> HttpResponse:
    answer = as_json(record, status)
    answer.headers["Cache-Control"] = _KEPT
    return answer


def _on_desk(view: Callable[..., Awaitable[HttpResponse]], find: Finder, *, is_blind: bool) -> View:
    """A view of a medium: 404 for a token that the finder does not know, and for what cannot be read.

    Args:
        view: takes the request, the desk and the file.
        find: what a token of the request stands for.
        is_blind: messages about files, which name them, are not sent.
    """

    @wraps(view)
    async def answer(request: HttpRequest, token: str, **named: object) -> HttpResponse:
        known = await find(request, token)
        named.pop("study", None)
        if known is None:
            return _json({"error": "there is no such medium here"}, status=HTTPStatus.NOT_FOUND)
        try:
            return await view(request, desk(), known, **named)
        except MediaError as error:
            words = "it cannot be read" if is_blind else str(error)
            return _json({"error": words}, status=HTTPStatus.NOT_FOUND)
        except UsageError as error:
            return _json({"error": str(error)}, status=HTTPStatus.BAD_REQUEST)

    return answer


async def _of_project(request: HttpRequest, token: str) -> MediumFile | None:
    """The file of a token that was handed out, unless it is of a project that the person has no say in."""
    known = desk().known(token)
    return None if known is None or (known.project and not request.person.is_in(known.project)) else known


async def file(request: ASGIRequest, there: MediaDesk, known: MediumFile) -> HttpResponse:
    """The bytes of a video or an image."""
    return ranged(request, there.file_state(known))


async def frames(request: HttpRequest, there: MediaDesk, known: MediumFile) -> HttpResponse:
    """When each frame is presented, packed."""
    plays = known.kind == "video" and (await there.copy_of(known)).state == "not-needed"
    return _packed(request, Frames(kind=known.kind, plays=plays, table=await there.table(known)))


async def still(request: HttpRequest, there: MediaDesk, known: MediumFile, *, index: int) -> HttpResponse:
    """One frame as models are sent it: ``?size=short:720&format=jpeg&quality=85``."""
    return _picture(request, await there.still(known, index, encoding=_encoding(request.GET)))


async def strip(request: HttpRequest, there: MediaDesk, known: MediumFile) -> HttpResponse:
    """Small pictures in one row: ``?n=12``."""
    return _picture(request, await there.strip(known, n_pictures=_number(request.GET, "n", usual=12)))


async def copy(request: HttpRequest, there: MediaDesk, known: MediumFile) -> HttpResponse:
    """How far the copy for browsers is; one that is needed is begun, and with ``?need=1`` in any case."""
    return _json(await there.copy_of(known, is_needed=request.GET.get("need") == "1"))


async def copy_file(request: ASGIRequest, there: MediaDesk, known: MediumFile) -> HttpResponse:
    """The bytes of the copy."""
    return ranged(request, await there.copy_file(known))


async def copy_frames(request: HttpRequest, there: MediaDesk, known: MediumFile) -> HttpResponse:
    """When each frame of the copy is presented: the numbers are those of the original."""
    table = await there.copy_table(known)
    return _packed(request, Frames(kind="video", plays=True, table=table))


def ranged(request: ASGIRequest, state: FileState) -> HttpResponse:
    """A file, or the part of it that a request asks for."""
    headers = {
        "Accept-Ranges": "bytes",
        "ETag": state.etag,
        "Last-Modified": state.changed,
        "Cache-Control": _KEPT,
    }
    if is_known(request.headers.get("If-None-Match"), etag=state.etag):
        return HttpResponse(status=HTTPStatus.NOT_MODIFIED, headers=headers)
    asked = request.headers.get("Range")
    if not holds(request.headers.get("If-Range"), etag=state.etag, changed=state.changed):
        asked = None
    wanted = wanted_bytes(asked, size=state.size)
    headers |= {"Content-Type": state.media_type}
    status = HTTPStatus.OK
    if isinstance(wanted, Beyond):
        return HttpResponse(
            status=HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE,
            headers=headers | {"Content-Range": wanted.content_range},
        )
    headers |= {"Content-Length": str(wanted.n_bytes if isinstance(wanted, ByteRange) else wanted.size)}
    if isinstance(wanted, ByteRange):
        status = HTTPStatus.PARTIAL_CONTENT
        headers |= {"Content-Range": wanted.content_range}
    if request.method != "HEAD":
        desk().promise(request.scope, state, wanted)
    return HttpResponse(status=status, headers=headers)


def _packed(request: HttpRequest, record: Record) -> HttpResponse:
    """A record, compressed where the browser takes it: tables of varying rates become a quarter."""
    body = msgspec.json.encode(record)
    answer = HttpResponse(content_type="application/json", headers={"Cache-Control": _KEPT})
    answer.headers["Vary"] = "Accept-Encoding"
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        body = gzip.compress(body, 6, mtime=0)
        answer.headers["Content-Encoding"] = "gzip"
    answer.content = body
    return answer


def _picture(request: HttpRequest, frame: EncodedFrame) -> HttpResponse:
    etag = f'"{frame.digest}"'
    headers = {"ETag": etag, "Cache-Control": _KEPT}
    if is_known(request.headers.get("If-None-Match"), etag=etag):
        return HttpResponse(status=HTTPStatus.NOT_MODIFIED, headers=headers)
    return HttpResponse(frame.data, content_type=frame.media_type, headers=headers)


def _encoding(values: Mapping[str, str]) -> Encoding:
    """Return the encoding of a still; parameters not given have their defaults.

    Raises:
        UsageError: there is no such encoding.
    """
    size = Size.parse(values["size"]) if "size" in values else _USUAL.size
    quality = _number(values, "quality", usual=_USUAL.quality)
    match values.get("format", "jpeg"):
        case "jpeg":
            return Encoding(size=size, format="jpeg", quality=quality)
        case "png":
            return Encoding(size=size, format="png", quality=quality)
        case other:
            raise UsageError(f"stills of format {other!r} are not supported; use jpeg or png")


def _number(values: Mapping[str, str], name: str, *, usual: int) -> int:
    text = values.get(name, "")
    if not text:
        return usual
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        raise UsageError(f"{name} is {text!r:.50}; expected a whole number")
    return int(text)


def media_urls(
    prefix: str, *, name: str, find: Finder, roles: Collection[Rule], is_blind: bool = False
) -> list[URLPattern]:
    """The addresses of media under a prefix, which the player appends to that of a medium.

    Args:
        prefix: before the token.
        name: the beginning of the names of these addresses.
        find: what a token stands for.
        roles: who may ask.
        is_blind: messages about files, which name them, are not sent.
    """
    views: dict[str, tuple[str, View]] = {
        "file": ("file", file),
        "frames": ("frames.json", frames),
        "still": ("still/<int:index>.jpg", still),
        "strip": ("strip.jpg", strip),
        "copy": ("copy.json", copy),
        "copy-file": ("copy/file", copy_file),
        "copy-frames": ("copy/frames.json", copy_frames),
    }
    return [
        route(
            f"{prefix}<str:token>/{tail}",
            _on_desk(view, find, is_blind=is_blind),
            name=f"{name}-{short}",
            roles=roles,
        )
        for short, (tail, view) in views.items()
    ]


urls = media_urls("media/", name="media", find=_of_project, roles=EVERY_ROLE)
