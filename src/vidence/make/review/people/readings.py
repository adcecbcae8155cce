"""Readings of cards: verdicts of readers, resulting drops, recognition of false cards without video.

Several people read the same sentences: answers to one sentence go together, and so do those of one reader.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, TypeVar

from vidence.make.pipeline.material import Card, Dropped, SceneCard
from vidence.make.review.people.checks import check_of_card, check_of_scene
from vidence.make.review.people.rows import CardCheckRow, FalseCheckRow, Unused
from vidence.statistics.intervals import mean_interval
from vidence.tables.table import several

CARD_STAGE: Final = "card-checks"
FALSE_STAGE: Final = "false-checks"
RowT = TypeVar("RowT", CardCheckRow, FalseCheckRow)

CHANCE: Final = 0.5
"""Expected share right when guessing, with equally many true and false sentences."""
Word: TypeAlias = Literal["true", "false", "cannot-say"]


@dataclass(frozen=True, kw_only=True)
class WordsOnlyAnswer:
    """A reader's guess about a sentence without the video, and whether the sentence is true."""

    card: str
    reader: str
    is_true: bool
    said: Word


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """The ends of a 95 % interval; 0 and 1 if it cannot be computed."""

    low: float = 0.0
    high: float = 1.0

    def __str__(self) -> str:
        return f"{self.low:.0%} to {self.high:.0%}"


@dataclass(frozen=True, kw_only=True)
class Share:
    """A share of `n` readings, with two intervals.

    `here` holds for these readers and other cards like these; `anyone` for other readers, too.
    """

    n: int
    n_cards: int
    n_readers: int
    value: float
    here: Bounds
    anyone: Bounds

    @property
    def words(self) -> str:
        """Return the share with its intervals.

        >>> share_of([1, 1, 1], cards=["a", "b", "c"], readers=["p1"] * 3).words
        '100% (31% to 100% at 95% over 3 cards, of one reader: others may tell more or fewer)'
        """
        words = f"{self.value:.0%} ({self.here} at 95% over {several(self.n_cards, 'card')}"
        if self.n_readers == 1:
            return f"{words}, of one reader: others may tell more or fewer)"
        return f"{words} for these {self.n_readers} readers; {self.anyone} for others)"


def share_of(values: Sequence[float], *, cards: Sequence[str], readers: Sequence[str]) -> Share:
    """Return the mean of 0/1 values per reading, with intervals that respect dependence.

    Of the interval that takes the answers to one card for a cluster, and that of those of one reader, the
    one that is wider decides how sure it is for other readers. A single reader says nothing of others.

    Raises:
        UsageError: there are no values, or not one card and reader for each.
    """
    here, by_reader = _bounds(values, cards), _bounds(values, readers)
    return Share(
        n=len(values),
        n_cards=len(set(cards)),
        n_readers=len(set(readers)),
        value=sum(values) / len(values),
        here=here,
        anyone=Bounds(low=min(here.low, by_reader.low), high=max(here.high, by_reader.high)),
    )


def _bounds(values: Sequence[float], clusters: Sequence[str]) -> Bounds:
    estimate = mean_interval(values, clusters=clusters)
    if estimate.reason or estimate.low is None or estimate.high is None:
        return Bounds()
    return Bounds(low=estimate.low, high=estimate.high)


@dataclass(frozen=True, kw_only=True)
class WordsOnlyRate:
    """How well readers separate true from false sentences by words alone.

    `n_unsure` said that they cannot say, and count nowhere. `share` is None if none was told.
    """

    n_right: int
    n_unsure: int
    share: Share | None

    @property
    def n(self) -> int:
        """Return the number of answers that count."""
        return 0 if self.share is None else self.share.n

    @property
    def is_above_chance(self) -> bool:
        """Whether readers recognize false sentences above chance."""
        return self.share is not None and self.share.here.low > CHANCE

    @property
    def words(self) -> str:
        """Return the rate as a sentence."""
        unsure = f"; {self.n_unsure} cannot say" if self.n_unsure else ""
        if self.share is None:
            return f"no readings yet{unsure}"
        return (
            f"{self.n_right} of {self.n} right without the film: {self.share.words}; by guessing "
            f"{CHANCE:.0%}{unsure}"
        )


def told(readings: Sequence[WordsOnlyAnswer]) -> WordsOnlyRate:
    """Return how well readers separate true from false sentences by words alone.

    >>> told([WordsOnlyAnswer(card="a", reader="p1", is_true=False, said="false")]).n_right
    1
    """
    answers = [reading for reading in readings if reading.said != "cannot-say"]
    right = [float(answer.is_true == (answer.said == "true")) for answer in answers]
    return WordsOnlyRate(
        n_right=int(sum(right)),
        n_unsure=len(readings) - len(answers),
        share=share_of(right, cards=[a.card for a in answers], readers=[answer.reader for answer in answers])
        if answers
        else None,
    )


def told_false(readings: Sequence[WordsOnlyAnswer]) -> Share | None:
    """The rate of false sentences recognized, None without readings; "cannot say" is not recognition."""
    if not readings:
        return None
    return share_of(
        [float(reading.said == "false") for reading in readings],
        cards=[reading.card for reading in readings],
        readers=[reading.reader for reading in readings],
    )


@dataclass(frozen=True, kw_only=True)
class Readings:
    """The results of the readings of some cards, by card name.

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
    """Return readers' results on a video's cards, named ``TRACK/KIND``.

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
            message = "; ".join(f"{row.by}: fits {row.fits}, leaks {row.leaks}" for row in mine)
            dropped.append(Dropped(what=name, stage=CARD_STAGE, reason=reasons[0], detail=message))
        else:
            alone.append(name)
    return Readings(read=tuple(by_card), alone=tuple(alone), dropped=tuple(dropped), unused=unused)


def read_false_by_people(
    cards: Sequence[SceneCard], rows: Sequence[FalseCheckRow], *, most_told: float
) -> Readings:
    """Return readers' results on a video's false scene cards, by id.

    A card that happens in the film for a single reader is true (``is-true``); one of which a larger share
    than `most_told` of its readers said without the film that it is false is ``told-by-its-words``.
    """
    known = {card.card_id: check_of_scene(card) for card in cards if not card.is_faithful}
    by_card, unused = _matched(rows, known, names=[row.card_id for row in rows])
    dropped: list[Dropped] = []
    for name, mine in by_card.items():
        n_told = sum(row.told == "false" for row in mine)
        message = f"{n_told} of {len(mine)} said without the film that it is false"
        if occurs := [row.by for row in mine if row.occurs == "yes"]:
            detail = f"it happens in the film, say {', '.join(occurs)}"
            dropped.append(Dropped(what=name, stage=FALSE_STAGE, reason="is-true", detail=detail))
        elif n_told > most_told * len(mine):
            dropped.append(Dropped(what=name, stage=FALSE_STAGE, reason="told-by-its-words", detail=message))
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
    """Return each card's rows in card order, and the rows about missing or changed cards."""
    values: dict[str, list[RowT]] = {}
    unused: list[Unused] = []
    for name, row in zip(names, rows, strict=True):
        if known.get(name) == row.check:
            values.setdefault(name, []).append(row)
        else:
            why = "has changed since; read it again" if name in known else "is not there"
            unused.append(Unused(where=row.where, why=f"the card {name} {why}"))
    return {name: values[name] for name in known if name in values}, tuple(unused)
