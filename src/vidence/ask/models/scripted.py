"""A model that replies with a given text, ``scripted:TEXT``: for tests, dry runs, and simulated failures.

``scripted:B?delay_s=1`` answers B after a second; ``scripted:B?fail=429&fail_share=0.3`` lets three
tries in ten fail, the same ones each time.
"""

import hashlib
from collections import Counter
from collections.abc import Callable
from typing import Annotated, ClassVar, Literal
from urllib.parse import quote, unquote

import anyio
import msgspec
from msgspec import Meta

from vidence.ask.models.local import LocalModel, said
from vidence.contracts import Request
from vidence.errors import AccessError, ModelError, RejectedRequestError, TransientModelError, UsageError
from vidence.records import Record, Reply

_FAULTS: dict[str, Callable[[str], ModelError]] = {
    "429": lambda message: TransientModelError(message, is_overload=True),
    "500": lambda message: TransientModelError(message, is_server_error=True),
    "400": RejectedRequestError,
    "401": AccessError,
}


class Settings(Record):
    """Options of ``scripted:`` models."""

    positional: ClassVar[str] = "text"

    text: Annotated[str, Meta(description="text of every reply; may be percent-encoded")] = ""
    delay_s: Annotated[float, Meta(ge=0, description="seconds before each answer")] = 0.0
    fail: Annotated[Literal["429", "500", "400", "401"] | None, Meta(description="status to fail with")] = (
        None
    )
    fail_share: Annotated[
        Annotated[float, Meta(ge=0, le=1)] | None,
        Meta(description="share of tries that fail; by default all"),
    ] = None
    fail_seed: Annotated[int, Meta(description="which tries fail")] = 0
    looks: Annotated[bool, Meta(description="whether frames are read at all")] = True

    def __post_init__(self) -> None:
        """Reject a share without a failure."""
        if self.fail_share is not None and self.fail is None:
            raise UsageError("scripted: fail_share says how often; also say how, for example fail=429")


def _is_chosen(share: float, *words: object) -> bool:
    digest = hashlib.sha256(":".join(map(str, words)).encode()).digest()
    return int.from_bytes(digest[:8]) < share * 2**64


def _drill(settings: Settings) -> str:
    """Return the identity's part about failures, so that simulated failures share no cache with real runs."""
    given = {name: getattr(settings, name) for name in ("fail", "fail_share", "fail_seed")}
    message = "&".join(f"{name}={value}" for name, value in given.items() if value is not None)
    return f"?{message}" if settings.fail else ""


class ScriptedModel(LocalModel):
    """Replies to every request with one text."""

    def __init__(self, settings: Settings) -> None:
        self._text = unquote(settings.text)
        self.identity = f"scripted:{quote(self._text, safe=' ')}" + _drill(settings)
        self.looks = settings.looks
        self._settings = settings
        self._n_tries: Counter[tuple[str, int]] = Counter()

    async def reply(self, request: Request) -> Reply:
        """Return the text, truncated to `max_tokens` words, or the simulated failure."""
        await anyio.sleep(self._settings.delay_s)
        self._fail_if_chosen(request)
        reply = said(self._text, request)
        return msgspec.structs.replace(reply, model="scripted", latency_s=self._settings.delay_s)

    def _fail_if_chosen(self, request: Request) -> None:
        fail = self._settings.fail
        if fail is None:
            return
        share = 1.0 if self._settings.fail_share is None else self._settings.fail_share
        key = (request.item_id, request.sample)
        self._n_tries[key] += 1
        if _is_chosen(share, self._settings.fail_seed, *key, self._n_tries[key]):
            raise _FAULTS[fail](
                f"scripted failure {fail} for item {request.item_id!r}, "
                f"try {self._n_tries[key]}, as asked for with fail={fail}"
            )


def create(settings: Settings) -> ScriptedModel:
    """Create the model that always replies the same."""
    return ScriptedModel(settings)
