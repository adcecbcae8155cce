"""Sets of questions of any size: the questions in a file, keys that were seen in a few bytes each."""

import tempfile
import threading
import weakref
from abc import abstractmethod
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from operator import eq
from typing import Final, TypeVar, overload

import msgspec

from vidence.errors import DataError
from vidence.records import Item

ValueT = TypeVar("ValueT")
_IN_MEMORY_BYTES: Final = 2**20  # a set of a few thousand questions makes no file
_READ_AT_ONCE: Final = 256  # values, where all are read in their order
_FREE: Final = -1


class _LazySequence(Sequence[ValueT]):
    """Values that are read when they are taken; equal to a sequence of equal values."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    @overload
    def __getitem__(self, place: int) -> ValueT: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[ValueT]: ...
    def __getitem__(self, place: int | slice) -> ValueT | Sequence[ValueT]:
        return LazySelection(self, range(len(self))[place]) if isinstance(place, slice) else self._read(place)

    @abstractmethod
    def _read(self, place: int) -> ValueT: ...


class Stored(_LazySequence[ValueT]):
    """Values that are appended to a file without a name; memory holds where each begins, 8 bytes.

    Each reading makes a new value.

    Args:
        kind: the type of the values.
    """

    def __init__(self, kind: type[ValueT]) -> None:
        self._kind = kind
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(kind)
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES)  # noqa: SIM115 - lives as long
        weakref.finalize(self, self._file.close)
        self._lock = threading.Lock()
        self._begins = array("q", [0])

    def append(self, value: ValueT) -> None:
        """Add a value at the end.

        Raises:
            DataError: there is no room for the file.
        """
        written = self._encoder.encode(value)
        try:
            with self._lock:
                self._file.seek(self._begins[-1])
                self._file.write(written)
        except OSError as error:
            raise DataError(
                f"the questions cannot be kept in {tempfile.gettempdir()} ({error.strerror}); make room, or "
                "name another folder in TMPDIR"
            ) from error
        self._begins.append(self._begins[-1] + len(written))

    def __len__(self) -> int:
        return len(self._begins) - 1

    def __iter__(self) -> Iterator[ValueT]:
        first = 0
        while first < (last := min(first + _READ_AT_ONCE, len(self))):
            begins = self._begins[first : last + 1]
            written = memoryview(self._written(first, last))
            for begin, end in pairwise(begin - begins[0] for begin in begins):
                yield self._decoder.decode(written[begin:end])
            first = last

    def _read(self, place: int) -> ValueT:
        at = range(len(self))[place]
        return self._decoder.decode(self._written(at, at + 1))

    def _written(self, first: int, last: int) -> bytes:
        """What was written of the values from `first` to before `last`."""
        begin, end = self._begins[first], self._begins[last]
        with self._lock:
            self._file.seek(begin)
            return self._file.read(end - begin)


class LazySelection(_LazySequence[ValueT]):
    """Some values of a sequence, read when they are wanted.

    Args:
        values: all of them.
        places: which ones, in their order.
    """

    def __init__(self, values: Sequence[ValueT], places: Sequence[int]) -> None:
        self._values = values
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[ValueT]:
        return map(self._values.__getitem__, self._places)

    def _read(self, place: int) -> ValueT:
        return self._values[self._places[place]]


def kept_where(items: Sequence[Item], is_kept: Callable[[Item], bool]) -> Sequence[Item]:
    """The questions of which something is true, read when they are wanted."""
    return LazySelection(items, array("q", (place for place, item in enumerate(items) if is_kept(item))))


class Numbered:
    """Numbers keys as they are first seen, from 0, in some 16 bytes each where a dict of texts takes 150.

    A table with open addressing, at most two thirds full, of numbers whose hashes are kept; where hashes are
    equal, whoever has the keys says whether these are.
    """

    def __init__(self) -> None:
        self._hashes = array("q")
        self._table = array("i", [_FREE]) * 1024

    def __len__(self) -> int:
        return len(self._hashes)

    def number(self, key: object, is_same: Callable[[int], bool]) -> int:
        """The number of a key; one that is new has the next one.

        Args:
            key: what is seen now.
            is_same: whether it is the key of this number.
        """
        hashed = hash(key)
        slot = self._slot(hashed, is_same)
        if (number := self._table[slot]) != _FREE:
            return number
        number = self._table[slot] = len(self._hashes)
        self._hashes.append(hashed)
        if 3 * len(self._hashes) > 2 * len(self._table):
            self._table = array("i", [_FREE]) * (2 * len(self._table))
            for known, one in enumerate(self._hashes):
                self._table[self._slot(one, _never)] = known
        return number

    def _slot(self, hashed: int, is_same: Callable[[int], bool]) -> int:
        """Where the number of an equal key stands, or else where it would."""
        table, hashes = self._table, self._hashes
        mask = len(table) - 1
        slot = hashed & mask
        while (number := table[slot]) != _FREE and not (hashes[number] == hashed and is_same(number)):
            slot = (slot + 1) & mask
        return slot


def _never(_: int) -> bool:
    return False
