"""Answers recorded elsewhere: ``replay:FILE?id=COLUMN&text=COLUMN``.

FILE holds JSON lines, a JSON list or CSV, plain or gzipped. No frame is looked at.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from vidence.ask.models._recorded import Columns, Recorded, recorded, rows, unpack
from vidence.catalog import take_options
from vidence.contracts import Request
from vidence.errors import DataError, RejectedRequestError, UsageError
from vidence.records import Reply

READS_FILES = True  # plans keep the whole path


class ReplayModel:
    """Says what a file says about each item."""

    looks = False
    by_item = True
    max_in_flight: int | None = None

    def __init__(self, replies: Mapping[str, Mapping[int, Reply]], *, identity: str, source: str) -> None:
        self.identity = identity
        self._replies = replies
        self._source = source

    def recorded_ids(self) -> frozenset[str]:
        """The ids of the items that the file answers."""
        return frozenset(self._replies)

    async def reply(self, request: Request) -> Reply:
        """The recorded reply to this item and sample.

        Raises:
            RejectedRequestError: none is recorded.
        """
        samples = self._replies.get(request.item_id)
        if samples is None:
            raise RejectedRequestError(
                f"no recorded reply for item {request.item_id!r} in {self._source}; --recorded-only asks "
                "only what has one"
            )
        if request.sample not in samples:
            known = ", ".join(map(str, sorted(samples)))
            raise RejectedRequestError(
                f"no recorded reply for item {request.item_id!r}, sample {request.sample} in "
                f"{self._source}; recorded samples: {known}"
            )
        return samples[request.sample]

    async def close(self) -> None:
        """Nothing to let go of."""


def _keep_one(first: Recorded, second: Recorded) -> None:
    if first.reply != second.reply:
        raise DataError(
            f"{second.place}: a second, different reply for item {second.item_id!r} (the first is at "
            f"{first.place}); keep one, or tell them apart by a field that counts from 0, named "
            "with sample=FIELD"
        )


def _read(path: Path, content: bytes, columns: Columns) -> dict[str, dict[int, Reply]]:
    found: dict[tuple[str, int], Recorded] = {}
    for place, row in rows(path, unpack(path, content)):
        one = recorded(place, row, columns)
        _keep_one(found.setdefault((one.item_id, one.sample), one), one)
    if not found:
        raise DataError(f"{path} holds no reply; expected at least one row")
    replies: dict[str, dict[int, Reply]] = {}
    for (item_id, sample), one in found.items():
        replies.setdefault(item_id, {})[sample] = one.reply
    return replies


def create(name: str, options: Mapping[str, str]) -> ReplayModel:
    """The model that repeats the replies of the file `name`, which is read now and never again.

    The options name columns: ``id``, ``text``, ``sample``, ``reasoning``, ``refusal``, ``finish``.

    Raises:
        UsageError: no file named, or an option that is not known.
        DataError: the file cannot be read, or a row is not what it should be.
    """
    if not name:
        raise UsageError("replay: needs a file, for example replay:answers.jsonl")
    parsers = dict.fromkeys(Columns.__struct_fields__, str)
    columns = msgspec.convert(take_options("replay", options, parsers), Columns)
    if not columns.id or not columns.text:
        raise UsageError("replay: id= and text= must name a field each")
    path = Path(name).expanduser()
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"the recorded replies {path} cannot be read: {error}") from error
    named = "&".join(f"{field}={getattr(columns, field)}" for field in Columns.__struct_fields__)
    return ReplayModel(
        _read(path, content, columns),
        identity=f"replay:{hashlib.sha256(content).hexdigest()}?{named}",
        source=str(path),
    )
