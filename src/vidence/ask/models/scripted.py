"""Says what it is told: ``scripted:TEXT``; for tests, dry runs, and to practise failures.

``scripted:B?delay_s=1`` answers B after a second; ``scripted:B?fail=429&fail_share=0.3`` lets three
tries in ten fail, the same ones each time.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping
from urllib.parse import quote, unquote

import anyio
import msgspec

from vidence import option_readers
from vidence.catalog import take_options
from vidence.contracts import Request
from vidence.errors import (
    AccessError,
    ModelError,
    RejectedRequestError,
    TransientModelError,
    UsageError,
)
from vidence.records import Record, Reply

_FAULTS: dict[str, Callable[[str], ModelError]] = {
    "429": lambda message: TransientModelError(message, is_overload=True),
    "500": lambda message: TransientModelError(message, is_server_error=True),
    "400": RejectedRequestError,
    "401": AccessError,
}


class Options(Record, kw_only=True):
    """What can be set behind the ``?`` of the spec.

    `fail` is the status to fail with: 429 (too many requests), 500 (broken), 400 (this request is
    refused), 401 (no access). `fail_share` is the share of tries that fail, drawn from `fail_seed`,
    the item, the sample and the number of the try, so that it does not depend on the order of requests.
    With ``looks=no`` no frame is read.
    """

    delay_s: float = 0.0
    fail: str = ""
    fail_share: float = 1.0
    fail_seed: int = 0
    looks: bool = True


_READERS: Mapping[str, Callable[[str], object]] = {
    "delay_s": option_readers.number_from_zero,
    "fail": option_readers.one_of(*_FAULTS),
    "fail_share": option_readers.share,
    "fail_seed": int,
    "looks": option_readers.yes_or_no,
}


def _is_drawn(share: float, *words: object) -> bool:
    digest = hashlib.sha256(":".join(map(str, words)).encode()).digest()
    return int.from_bytes(digest[:8]) < share * 2**64


class ScriptedModel:
    """One text for every request."""

    by_item = False
    max_in_flight: int | None = None

    def __init__(self, text: str, options: Options) -> None:
        self.identity = f"scripted:{quote(text, safe=' ')}"
        self.looks = options.looks
        self._text = text
        self._options = options
        self._n_tries: Counter[tuple[str, int]] = Counter()

    async def reply(self, request: Request) -> Reply:
        """The text, cut off after `max_tokens` words; or the failure asked for."""
        await anyio.sleep(self._options.delay_s)
        self._fail_if_drawn(request)
        words = re.findall(r"\s*\S+", self._text)
        limit = request.sampling.max_tokens
        is_cut = limit is not None and limit < len(words)
        return Reply(
            text="".join(words[:limit]) if is_cut else self._text,
            finish="length" if is_cut else "stop",
            model="scripted",
            latency_s=self._options.delay_s,
        )

    def _fail_if_drawn(self, request: Request) -> None:
        options = self._options
        if not options.fail:
            return
        key = (request.item_id, request.sample)
        self._n_tries[key] += 1
        if _is_drawn(options.fail_share, options.fail_seed, *key, self._n_tries[key]):
            raise _FAULTS[options.fail](
                f"scripted failure {options.fail} for item {request.item_id!r}, "
                f"try {self._n_tries[key]}, as asked for with fail={options.fail}"
            )

    async def close(self) -> None:
        """Nothing to let go of."""


def create(name: str, options: Mapping[str, str]) -> ScriptedModel:
    """The model that always says `name`, which may be percent-encoded.

    Raises:
        UsageError: an option that is not known, cannot be read, or needs another one.
    """
    read = msgspec.convert(take_options("scripted", options, _READERS), Options)
    if "fail_share" in options and not read.fail:
        raise UsageError("scripted: fail_share says how often; also say how, for example fail=429")
    return ScriptedModel(unquote(name), read)
