"""What the player fetches: the bytes of a medium in ranges, its table of times, stills, and its copy."""

import gzip
from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from http import HTTPStatus
from typing import Final

import msgspec
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse

from vidence.errors import MediaError, UsageError
from vidence.media.encode import EncodedFrame, Encoding, Size
from vidence.records import Record
from vidence.studio.access import EVERY_ROLE, route
from vidence.studio.media import FileState, MediaDesk, MediumFile, desk
from vidence.studio.pages.answers import as_json
from vidence.studio.rules.frames import PackedTable
from vidence.studio.rules.ranges import Beyond, ByteRange, holds, is_known, wanted_bytes

View = Callable[..., Awaitable[HttpResponse]]
# A browser may keep what it got, and asks each time whether it is still so.
_KEPT: Final = "private, no-cache"
_USUAL: Final = Encoding(size=Size(kind="short", pixels=720))


class Refused(Record):
    """Why there is nothing to show."""

    error: str


class Frames(Record):
    """What the player knows of a medium; `plays` says whether browsers play the file itself."""

    kind: str
    plays: bool
    table: PackedTable


def _json(record: Record, *, status: int = HTTPStatus.OK) -> HttpResponse:
    answer = as_json(record, status)
    answer.headers["Cache-Control"] = _KEPT
    return answer


def _on_desk(view: Callable[..., Awaitable[HttpResponse]]) -> View:
    """A view of one medium: 404 for a token that was not handed out, and for what cannot be read.

    So it is for what is of a project that whoever asks has no say in.
    """

    @wraps(view)
    async def answer(request: HttpRequest, token: str, **named: object) -> HttpResponse:
        there = desk()
        known = there.known(token)
        if known is None or (known.project and not request.person.is_in(known.project)):
            return _json(Refused(error="there is no such medium here"), status=HTTPStatus.NOT_FOUND)
        try:
            return await view(request, there, known, **named)
        except MediaError as error:
            return _json(Refused(error=str(error)), status=HTTPStatus.NOT_FOUND)
        except UsageError as error:
            return _json(Refused(error=str(error)), status=HTTPStatus.BAD_REQUEST)

    return answer


@_on_desk
async def file(request: ASGIRequest, there: MediaDesk, known: MediumFile) -> HttpResponse:
    """The bytes of a video or an image."""
    return ranged(request, there.file_state(known))


@_on_desk
async def frames(request: HttpRequest, there: MediaDesk, known: MediumFile) -> HttpResponse:
    """When each frame is presented, packed."""
    plays = known.kind == "video" and (await there.copy_of(known)).state == "not-needed"
    return _packed(request, Frames(kind=known.kind, plays=plays, table=await there.table(known)))


@_on_desk
async def still(request: HttpRequest, there: MediaDesk, known: MediumFile, *, index: int) -> HttpResponse:
    """One frame as models are sent it: ``?size=short:720&format=jpeg&quality=85``."""
    return _picture(request, await there.still(known, index, encoding=_encoding(request.GET)))


@_on_desk
async def strip(request: HttpRequest, there: MediaDesk, known: MediumFile) -> HttpResponse:
    """Small pictures in one row: ``?n=12``."""
    return _picture(request, await there.strip(known, n_pictures=_number(request.GET, "n", usual=12)))


@_on_desk
async def copy(request: HttpRequest, there: MediaDesk, known: MediumFile) -> HttpResponse:
    """How far the copy for browsers is; one that is needed is begun, and with ``?need=1`` in any case."""
    return _json(await there.copy_of(known, is_needed=request.GET.get("need") == "1"))


@_on_desk
async def copy_file(request: ASGIRequest, there: MediaDesk, known: MediumFile) -> HttpResponse:
    """The bytes of the copy."""
    return ranged(request, await there.copy_file(known))


@_on_desk
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


def _packed(request: HttpRequest, told: Record) -> HttpResponse:
    """A record, compressed where the browser takes it: tables of varying rates become a quarter."""
    body = msgspec.json.encode(told)
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


def _encoding(said: Mapping[str, str]) -> Encoding:
    """How a still is to be encoded; what is not said is as usual.

    Raises:
        UsageError: there is no such encoding.
    """
    size = Size.parse(said["size"]) if "size" in said else _USUAL.size
    quality = _number(said, "quality", usual=_USUAL.quality)
    match said.get("format", "jpeg"):
        case "jpeg":
            return Encoding(size=size, format="jpeg", quality=quality)
        case "png":
            return Encoding(size=size, format="png", quality=quality)
        case other:
            raise UsageError(f"stills of format {other!r} are not made; say jpeg or png")


def _number(said: Mapping[str, str], name: str, *, usual: int) -> int:
    text = said.get(name, "")
    if not text:
        return usual
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        raise UsageError(f"{name} is {text!r:.50}; expected a whole number")
    return int(text)


urls = [
    route("media/<str:token>/file", file, name="media-file", roles=EVERY_ROLE),
    route("media/<str:token>/frames.json", frames, name="media-frames", roles=EVERY_ROLE),
    route("media/<str:token>/still/<int:index>.jpg", still, name="media-still", roles=EVERY_ROLE),
    route("media/<str:token>/strip.jpg", strip, name="media-strip", roles=EVERY_ROLE),
    route("media/<str:token>/copy.json", copy, name="media-copy", roles=EVERY_ROLE),
    route("media/<str:token>/copy/file", copy_file, name="media-copy-file", roles=EVERY_ROLE),
    route("media/<str:token>/copy/frames.json", copy_frames, name="media-copy-frames", roles=EVERY_ROLE),
]
