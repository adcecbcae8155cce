"""Pieces of work that many machines do: who has which, and what becomes of those of a machine that is lost.

It knows nothing of Ray, and waits for nobody.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sized
from dataclasses import dataclass
from typing import Final, Generic, TypeAlias, TypeVar

from vidence.errors import VidenceError

T = TypeVar("T")
DEADLINE_S: Final = 24 * 3600.0
"""A piece of work may well take an hour on a large picture; a decoder that hangs must end some day."""
MOST_LOSSES: Final = 3
"""So many machines may be lost with one piece; it may well be what they die of."""
_SLOW: Final = 2.0
_LEAST_S: Final = 2.0

Piece: TypeAlias = tuple[str, Callable[[], T]]
"""The file that the work is about, for messages, and the work; picklable, as `Workers.run` wants it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended(Generic[T]):
    """What came of a piece: what was made, or the error that it ended with."""

    number: int
    made: T | VidenceError


@dataclass(frozen=True, kw_only=True, slots=True)
class Lost:
    """A machine is lost; others go on."""

    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class End:
    """All pieces are done, or a problem ended the work."""

    problem: BaseException | None


Told: TypeAlias = Ended[T] | Lost | End


@dataclass(kw_only=True)
class _AssignedPiece(Generic[T]):
    """A piece that machines are at."""

    piece: Piece[T]
    since_s: float
    holders: set[str]


class PieceQueue(Generic[T]):
    """Gives pieces to machines as they have room for them.

    A piece whose machine is lost is given to another one, before all that are new. When all are given out, a
    piece that takes `_SLOW` times as long as the longest before it is given to a second machine as well; what
    comes first counts.

    Args:
        pieces: the work; the next piece is taken when a machine has room for it.
        clock: the time in seconds.
    """

    def __init__(self, pieces: Iterable[Piece[T]], *, clock: Callable[[], float]) -> None:
        self._n_to_come = len(pieces) if isinstance(pieces, Sized) else None
        self._new = enumerate(pieces)
        self._again: deque[tuple[int, Piece[T]]] = deque()
        self._given: dict[int, _AssignedPiece[T]] = {}
        self._n_lost: Counter[int] = Counter()
        self._longest_s: float | None = None
        self._clock = clock
        self._has_new = True

    @property
    def is_over(self) -> bool:
        """Whether every piece has ended."""
        return not (self._has_new or self._again or self._given)

    @property
    def is_waiting(self) -> bool:
        """Whether a piece is with no machine."""
        return bool(self._again) or (self._n_to_come is None and self._has_new) or bool(self._n_to_come)

    @property
    def n_left(self) -> int | None:
        """How many pieces have not ended; None where nobody knows yet how many there are."""
        if self._n_to_come is None and self._has_new:
            return None
        return (self._n_to_come or 0) + len(self._again) + len(self._given)

    def has_work(self, machine: str) -> bool:
        """Whether a piece is with this machine, or could be."""
        return self.is_waiting or any(machine in given.holders for given in self._given.values())

    def give(self, machine: str) -> tuple[int, Piece[T]] | None:
        """The number of a piece and the piece; None where there is none for this machine now."""
        if self._again:
            number, piece = self._again.popleft()
        elif (new := next(self._new, None)) is not None:
            number, piece = new
            if self._n_to_come:
                self._n_to_come -= 1
        else:
            self._has_new = False
            return self._slowest(machine)
        self._given[number] = _AssignedPiece(piece=piece, since_s=self._clock(), holders={machine})
        return number, piece

    def done(self, number: int) -> bool:
        """A machine has done a piece: whether it is the first that has."""
        given = self._given.pop(number, None)
        if given is None:
            return False
        self._longest_s = max(self._longest_s or 0.0, self._clock() - given.since_s)
        return True

    def lost(self, machine: str) -> dict[int, str]:
        """A machine is lost: its pieces wait for others.

        Returns:
            The pieces that are given up, since too many machines were lost with them, and their files.
        """
        given_up: dict[int, str] = {}
        for number, given in list(self._given.items()):
            if machine not in given.holders:
                continue
            given.holders.remove(machine)
            self._n_lost[number] += 1
            if self._n_lost[number] >= MOST_LOSSES:
                given_up[number] = given.piece[0]
                del self._given[number]
            elif not given.holders:
                self._again.append((number, given.piece))
                del self._given[number]
        return given_up

    def _slowest(self, machine: str) -> tuple[int, Piece[T]] | None:
        """The piece that another machine alone has had for too long."""
        if self._longest_s is None:  # nobody knows yet how long a piece takes
            return None
        now_s, long_s = self._clock(), max(_LEAST_S, _SLOW * self._longest_s)
        alone = {
            number: given
            for number, given in self._given.items()
            if len(given.holders) == 1 and machine not in given.holders and now_s - given.since_s > long_s
        }
        if not alone:
            return None
        number = min(alone, key=lambda number: alone[number].since_s)
        alone[number].holders.add(machine)
        return number, alone[number].piece
