"""Keeps the index of the viewer up to date with the runs on disk: only rows that came in are read."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from operator import attrgetter
from threading import Lock
from typing import Final

from django.db import connection, transaction

from vidence.engine.store import RunStore, is_in_use
from vidence.errors import VidenceError
from vidence.records import Item
from vidence.studio.bridge.later import Worker
from vidence.studio.bridge.places import ViewablePath
from vidence.studio.bridge.runs import Entry, Reader, content_key
from vidence.studio.records.index import TABLES, IndexRunRow, IndexTagRow, IndexTrialRow

_log = logging.getLogger(__name__)
BATCH: Final = 500
"""Rows that are read at a time; each may hold a long reply."""
_KEYS: Final = ["place", "item_id", "repeat"]
_COLUMNS: Final = [field.name for field in fields(Entry) if field.name != "words"]
"""The columns of a row that an entry has."""


class Indexer:
    """Brings runs up to date, one at a time, in a thread of its own: each holds all its questions.

    Args:
        wait_s: how long a page waits for the rows of its runs before it shows what is there.
    """

    def __init__(self, *, wait_s: float) -> None:
        self._wait_s = wait_s
        self._lock = Lock()
        self._worker = Worker("viewer-index")
        self._comparer = Worker("viewer-readers")
        self._asked: dict[str, Future[None]] = {}
        self._late: set[Future[None]] = set()
        self._kept: tuple[str, Reader] | None = None

    def freshen(self, places: Iterable[ViewablePath]) -> None:
        """Have the rows of some runs read that came in, and wait a little for it, once for each reading."""
        asked = {self._ask(place) for place in places if place.kind == "run"}
        done, late = wait(asked - self._late, timeout=self._wait_s)
        late |= self._late
        self._late = {entry for entry in late if not entry.done()}
        for future in done | (late - self._late):
            future.result()  # what went wrong beside a run that cannot be read is no secret

    def _ask(self, place: ViewablePath) -> "Future[None]":
        with self._lock:
            asked = self._asked.get(place.id)
            if asked is None or asked.done():
                asked = self._asked[place.id] = self._worker.submit(partial(self._work, place))
            return asked

    def _work(self, place: ViewablePath) -> None:
        try:
            self._index(place)
        finally:
            connection.close()

    def _index(self, place: ViewablePath) -> None:
        """Index new rows of a run, or note what is wrong with the run."""
        try:
            self._bring_up(place)
        except VidenceError as error:
            _log.info("%s is not indexed: %s", place.path, error)
            with transaction.atomic():
                _run(place)
                for table in TABLES.values():
                    table.objects.filter(place=place.id).delete()
                IndexRunRow.objects.create(place=place.id, content="", problem=str(error))

    def _reader(self, place: ViewablePath, content: str) -> Reader:
        """The reader of a run; that of one that goes on is kept, with its questions."""
        kept = self._kept
        if kept is not None and kept[0] == content:
            return kept[1]
        reader = Reader(place.folder)
        self._kept = (content, reader) if is_in_use(place.folder) else None
        return reader

    def _bring_up(self, place: ViewablePath) -> None:
        content = content_key(place.folder)
        run = IndexRunRow.objects.filter(place=place.id).first()
        if run is None or run.content != content:
            run = _begin(place, content)
        with RunStore(place.folder) as store:
            _, last = store.line()
        if run.last_seq < last:
            reader = self._reader(place, content)
            numbers = _tag_numbers(item for _, item in reader.items.values())
            while entries := reader.after(run.last_seq, BATCH):
                with _step(place, content) as now:
                    if now is None:  # another run lies there now, and another process has begun with it
                        return
                    if now.last_seq == run.last_seq:
                        if not run.last_seq:
                            _put_tags(place, reader, numbers)
                        _put(place, entries, partial(_tags_of, reader, numbers))
                        now.last_seq = entries[-1].seq
                        now.save(update_fields=["last_seq"])
                    run = now
        if run.compared_seq < last:  # takes longer; lists do not wait for it
            self._comparer.submit(partial(self._finish, place, content))

    def _finish(self, place: ViewablePath, content: str) -> None:
        """Have each reply of a run read by every reader; unless it has become another run meanwhile."""
        try:
            run = IndexRunRow.objects.filter(place=place.id, content=content).first()
            if run is not None and run.compared_seq < run.last_seq:
                _compare(place, run, Reader(place.folder))
        except VidenceError as error:  # whoever asks for its rows is told
            _log.info("%s is not indexed: %s", place.path, error)
        finally:
            connection.close()


def _compare(place: ViewablePath, run: IndexRunRow, reader: Reader) -> None:
    n = 1
    while n:
        entries, compared, n = reader.disagreeing(run.compared_seq, BATCH)
        with _step(place, run.content) as now:
            if now is None:
                return
            if now.compared_seq == run.compared_seq:
                for item_id, repeat in entries:
                    rows = IndexTrialRow.objects.filter(place=place.id, item_id=item_id, repeat=repeat)
                    rows.update(readers_differ=True)
                now.compared_seq = compared
                now.save(update_fields=["compared_seq"])
            run = now


def _run(place: ViewablePath) -> IndexRunRow | None:
    """How far a run was read, by whichever process; held until the transaction ends."""
    result: IndexRunRow | None = IndexRunRow.objects.select_for_update().filter(place=place.id).first()
    return result


@contextmanager
def _step(place: ViewablePath, content: str) -> Iterator[IndexRunRow | None]:
    """One step of reading a run, with how far it is now; None if its index is that of another run.

    Note [several processes]: viewers share one index, and any of them may read the same rows at the same
    time. Each reads ahead without a lock, looks in the transaction that writes how far the run is by now,
    and puts in what nobody has put in before it.
    """
    with transaction.atomic():
        step = _run(place)
        yield step if step is not None and step.content == content else None


def _begin(place: ViewablePath, content: str) -> IndexRunRow:
    """Forget what there is of another run at this path, unless another process has done so."""
    with transaction.atomic():
        begin = _run(place)
        if begin is not None and begin.content == content:
            return begin
        for table in TABLES.values():
            table.objects.filter(place=place.id).delete()
        result: IndexRunRow = IndexRunRow.objects.create(place=place.id, content=content)
        return result


def _tag_numbers(items: Iterable[Item]) -> dict[tuple[str, str], int]:
    """A number for each value of each tag, by where it occurs first."""
    numbers: dict[tuple[str, str], int] = {}
    for item in items:
        for tag in item.tags.items():
            numbers.setdefault(tag, len(numbers))
    return numbers


def _put_tags(place: ViewablePath, reader: Reader, numbers: Mapping[tuple[str, str], int]) -> None:
    counts = Counter(tag for _, item in reader.items.values() for tag in item.tags.items())
    IndexTagRow.objects.bulk_create(
        (
            IndexTagRow(place=place.id, number=number, name=tag[0], value=tag[1], n_items=counts[tag])
            for tag, number in numbers.items()
        ),
        batch_size=BATCH,
    )


def _put(place: ViewablePath, entries: Sequence[Entry], tags_of: Callable[[Entry], str]) -> None:
    """Put rows in; of a question that was asked again the later one counts."""
    last = {(entry.item_id, entry.repeat): entry for entry in entries}.values()
    columns, words = attrgetter(*_COLUMNS), attrgetter("item_id", "repeat", "words")
    _upsert(
        "studio_index_trial",
        ["place", "tags", "readers_differ", *_COLUMNS],
        [(place.id, tags_of(entry), False, *columns(entry)) for entry in last],
    )
    _upsert("studio_index_words", [*_KEYS, "words"], [(place.id, *words(entry)) for entry in last])


def _upsert(table: str, names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> None:
    """Insert rows or replace those of the same keys; Django's own way takes several times the CPU."""
    quote = connection.ops.quote_name
    columns, keys = (", ".join(map(quote, some)) for some in (names, _KEYS))
    changed = ", ".join(f"{quote(name)} = excluded.{quote(name)}" for name in names if name not in _KEYS)
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {quote(table)} ({columns}) "  # noqa: S608 - names of our own
            f"VALUES ({', '.join(['%s'] * len(names))}) ON CONFLICT ({keys}) DO UPDATE SET {changed}",
            rows,
        )


def _tags_of(reader: Reader, numbers: Mapping[tuple[str, str], int], entry: Entry) -> str:
    item = reader.items.get(entry.item_id)
    tags = () if item is None else item[1].tags.items()
    return "," + "".join(f"{numbers[tag]}," for tag in tags)
