"""A Python function as a model: ``python:FILE.py:NAME``, or ``FILE.py:NAME``.

The function receives what its parameters name: ``prompt`` (the text), ``images`` (PIL images in display
order), ``choices``, ... and returns the reply's text, or a `Reply`. It may be a coroutine function. A
`contracts.Model` under the name is used directly.
"""

import io
import threading
from collections.abc import Awaitable
from operator import attrgetter
from typing import Annotated, cast

import anyio.to_thread
import msgspec
from msgspec import Meta
from PIL import Image

from vidence.ask.functions import Call, FunctionSettings, FunctionSource, Offered, find, has_all
from vidence.ask.models.local import LocalModel, images_shown, said
from vidence.contracts import Model, Request
from vidence.errors import AccessError, RejectedRequestError, cause
from vidence.records import Reply


def _images(request: Request) -> list[Image.Image]:
    try:
        return [
            Image.open(io.BytesIO(request.images[part.digest])).convert("RGB")
            for part in images_shown(request, owner="a Python function")
        ]
    except OSError as error:
        raise RejectedRequestError(f"a picture of the prompt cannot be read: {cause(error)}") from error


OFFERED: Offered = {
    "prompt": ("the words, one text", attrgetter("prompt.text")),
    "images": ("the images of the prompt, a list of PIL images", _images),
    "choices": ("the texts of the choices", attrgetter("prompt.choices")),
    "system": ("the system message", attrgetter("prompt.system")),
    "sampling": ("temperature, max_tokens, ...", attrgetter("sampling")),
    "sample": ("which of several replies to one prompt, from 0", attrgetter("sample")),
    "item_id": ("the id of the question", attrgetter("item_id")),
    "request": ("a vidence.contracts.Request, with all of this", lambda request: request),
}
RETURNS = "the reply as a str or a vidence.Reply"

WANTED = ("identity", "looks", "by_item", "max_in_flight", "reply", "close")


class Settings(FunctionSettings):
    """Options of ``python:`` models."""

    threads: Annotated[int, Meta(ge=1, description="calls at the same time, unless it is a coroutine")] = 1


class FunctionModel(LocalModel):
    """Calls a function; one that is not a coroutine runs in threads, at most `threads` at a time."""

    def __init__(self, result: FunctionSource, *, threads: int) -> None:
        self.identity = result.identity
        self._call = Call.of(result, "model", offered=OFFERED, returns=RETURNS, attributes=WANTED)
        self.looks = bool({"images", "request"} & set(self._call.names))
        # What the words and images of a prompt do not tell.
        self.by_item = bool({"item_id", "choices", "request"} & set(self._call.names))
        self._slots = threading.BoundedSemaphore(threads)

    async def reply(self, request: Request) -> Reply:
        """Return the function's reply.

        Raises:
            AccessError: it returns something other than a text or a `Reply`.
        """
        if self._call.is_async:
            awaited = self._call(request)
            returned = await awaited if isinstance(awaited, Awaitable) else awaited
        else:
            returned = await anyio.to_thread.run_sync(self._in_turn, request, abandon_on_cancel=True)
        if isinstance(returned, Reply):
            return returned
        if not isinstance(returned, str):
            expected = f"{RETURNS}; '' is a reply without an answer, and an error fails the question"
            raise AccessError(self._call.wrong(returned, expected=expected))
        return msgspec.structs.replace(said(returned, request), model=self.identity)

    def _in_turn(self, request: Request) -> object:
        with self._slots:  # held to the end of the call, also where nobody waits for it any more
            return self._call(request)


def create(settings: Settings) -> Model:
    """Create the model of a function, or return the model of that name."""
    result = find("model", settings.function)
    if has_all(result.thing, WANTED):
        return cast(Model, result.thing)
    return FunctionModel(result, threads=max(settings.threads, result.threads))
