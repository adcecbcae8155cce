"""What readers of cards say, and which cards go for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from vidence.make.pipeline.material import Card, Dropped, SceneCard
from vidence.make.review.people.checks import check_of_card, check_of_scene
from vidence.make.review.people.rows import CardCheckRow, FalseCheckRow, Unused
from vidence.make.review.people.words_only import WordsOnlyAnswer

CARD_STAGE: Final = "card-checks"
FALSE_STAGE: Final = "false-checks"
RowT = TypeVar("RowT", CardCheckRow, FalseCheckRow)


@dataclass(frozen=True, kw_only=True)
class Readings:
    """What came of the readings of some cards, by the names of cards.

    `read` are the cards that somebody read, `alone` those of them that every reader found to fit one person.
    `heard` are the readings of false cards without the film; `unread` the false cards that nobody read.
    """

    read: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    unused: tuple[Unused, ...] = ()
    heard: tuple[WordsOnlyAnswer, ...] = ()
    unread: tuple[str, ...] = ()


def read_cards_by_people(cards: Sequence[Card], rows: Sequence[CardCheckRow]) -> Readings:
    """What readers say of the cards of a video, named ``TRACK/KIND``.

    That much doubt is enough: a card goes where a single reader finds that it fits several people
    (``fits-several``) or nobody (``fits-none``), or that words in it give away what it must not (``leaks``).
    """
    known = {f"{card.track_id}/{card.kind}": check_of_card(card) for card in cards}
    by_card, unused = _matched(rows, known, names=[f"{row.track_id}/{row.kind}" for row in rows])
    dropped: list[Dropped] = []
    alone: list[str] = []
    for name, mine in by_card.items():
        reasons = [f"fits-{row.fits}" for row in mine if row.fits != "one"]
        reasons += ["leaks" for row in mine if row.leaks == "yes"]
        if reasons:
            said = "; ".join(f"{row.by}: fits {row.fits}, leaks {row.leaks}" for row in mine)
            dropped.append(Dropped(what=name, stage=CARD_STAGE, reason=reasons[0], detail=said))
        else:
            alone.append(name)
    return Readings(read=tuple(by_card), alone=tuple(alone), dropped=tuple(dropped), unused=unused)


def read_false_by_people(
    cards: Sequence[SceneCard], rows: Sequence[FalseCheckRow], *, most_told: float
) -> Readings:
    """What readers say of the false scene cards of a video, by their ids.

    A card that happens in the film for a single reader is true (``is-true``); one of which a larger share
    than `most_told` of its readers said without the film that it is false is ``told-by-its-words``.
    """
    known = {card.card_id: check_of_scene(card) for card in cards if not card.is_faithful}
    by_card, unused = _matched(rows, known, names=[row.card_id for row in rows])
    dropped: list[Dropped] = []
    for name, mine in by_card.items():
        n_told = sum(row.told == "false" for row in mine)
        said = f"{n_told} of {len(mine)} said without the film that it is false"
        if occurs := [row.by for row in mine if row.occurs == "yes"]:
            detail = f"it happens in the film, say {', '.join(occurs)}"
            dropped.append(Dropped(what=name, stage=FALSE_STAGE, reason="is-true", detail=detail))
        elif n_told > most_told * len(mine):
            dropped.append(Dropped(what=name, stage=FALSE_STAGE, reason="told-by-its-words", detail=said))
    return Readings(
        read=tuple(by_card),
        dropped=tuple(dropped),
        unused=unused,
        heard=tuple(
            WordsOnlyAnswer(card=name, reader=row.by, is_true=False, said=row.told)
            for name, mine in by_card.items()
            for row in mine
        ),
        unread=tuple(name for name in known if name not in by_card),
    )


def _matched(
    rows: Sequence[RowT], known: Mapping[str, str], *, names: Sequence[str]
) -> tuple[dict[str, list[RowT]], tuple[Unused, ...]]:
    """The rows of each card in the order of the cards, and those on cards that there are not, or not so."""
    found: dict[str, list[RowT]] = {}
    unused: list[Unused] = []
    for name, row in zip(names, rows, strict=True):
        if known.get(name) == row.check:
            found.setdefault(name, []).append(row)
        else:
            why = "has changed since; read it again" if name in known else "is not there"
            unused.append(Unused(where=row.where, why=f"the card {name} {why}"))
    return {name: found[name] for name in known if name in found}, tuple(unused)
