"""How much one person may do in a day, and how much of it is left."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from vidence.make.review.protocol import Protocol
from vidence.make.review.revisions import Role
from vidence.records import Record

Piece = Literal["annotation", "validation"]


class DailyAllowance(Record):
    """What is left of one kind of work today.

    `n_done` were done today, `n_held` are begun and not ended; `most` are allowed in a day. The next day
    begins at `again_at`.
    """

    piece: Piece
    most: int
    n_done: int
    n_held: int
    again_at: datetime

    @property
    def n(self) -> int:
        """How many more may be begun today.

        >>> DailyAllowance(piece="validation", most=3, n_done=1, n_held=1, again_at=datetime.max).n
        1
        """
        return max(0, self.most - self.n_done - self.n_held)

    @property
    def refusal(self) -> str:
        """Why no more may be begun, in words that name the rule; empty if more may."""
        if self.n:
            return ""
        held = f" and holds {self.n_held}" if self.n_held else ""
        return (
            f"the protocol allows {self.most} {self.piece}s a day; this person has done {self.n_done}{held}; "
            f"the next day begins at {self.again_at:%Y-%m-%d %H:%M} UTC"
        )


_PIECES: Final[Mapping[Role, Piece]] = {
    "author": "annotation",
    "reviewer": "validation",
    "meta": "validation",
}


def piece_of(role: Role) -> Piece | None:
    """What a role does: authors annotate, both kinds of reviewers validate, operators are not counted.

    >>> piece_of("author"), piece_of("meta"), piece_of("operator")
    ('annotation', 'validation', None)
    """
    return _PIECES.get(role)


def most_of(protocol: Protocol, piece: Piece) -> int:
    """How many a person may do in a day; 0: any number."""
    if protocol.pay is None:
        return 0
    return protocol.pay.most_annotations if piece == "annotation" else protocol.pay.most_validations


def day_of(at: datetime) -> tuple[datetime, datetime]:
    """The day of a time in UTC: its beginning and that of the next one.

    >>> [f"{one:%d %H:%M}" for one in day_of(datetime(2026, 11, 23, 23, 59, tzinfo=UTC))]
    ['23 00:00', '24 00:00']
    """
    begin = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return begin, begin + timedelta(days=1)
