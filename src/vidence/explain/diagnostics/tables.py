"""Tables of diagnostics: figures with intervals, columns that say how they are computed, tables by tag."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.explain.diagnostics.conditions import ReplyScore, Values
from vidence.records import Estimate, Item
from vidence.statistics import intervals, paired
from vidence.statistics.ratios import ratio_of_means
from vidence.statistics.resampling import Resampling
from vidence.tables.findings import Entry, Heading, Sheet, Value

# Below it percentile intervals are too narrow (`intervals.mean`), and Student's t is used in their place.
FEW_VIDEOS = 30
LEAST_VALUES, MOST_VALUES = 2, 40  # of a tag that parts the questions
NO_ADJUSTMENT = "No adjustment for the number of lines."
_ROUNDING = 1e-9

RowT = TypeVar("RowT")
AboutT_co = TypeVar("AboutT_co", covariant=True)


class _OfItem(Protocol):
    @property
    def item(self) -> Item: ...


OfItemT = TypeVar("OfItemT", bound=_OfItem)


# --------------------------------------------------------------------------- figures


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A paired difference of means, and its p-value adjusted for all that are in the same table."""

    estimate: Estimate
    p_holm: float


@dataclass(frozen=True, kw_only=True)
class Figures:
    """How every figure gets its interval: by video, with Student's t where there are few videos."""

    rng: np.random.Generator
    level: float

    def gain(self, values: Values, items: Sequence[Item]) -> Estimate:
        """The mean of what has no bounds, such as a difference, over questions, one or more."""
        videos = [item.video_id for item in items]
        if len(set(videos)) < FEW_VIDEOS:
            return intervals.mean_analytic(values, clusters=videos, level=self.level)
        return intervals.mean(values, clusters=videos, rng=self.rng, level=self.level)

    def mean(
        self, values: Values, items: Sequence[Item], *, bounds: tuple[float, float] = (0.0, 1.0)
    ) -> Estimate:
        """The mean over questions, one or more; where all values are within `bounds`, so is its interval.

        Student's t does not know that there is nothing beyond.
        """
        found = self.gain(values, items)
        least, most = float(values.min()), float(values.max())
        is_within = bounds[0] - _ROUNDING <= least and most <= bounds[1] + _ROUNDING
        if math.isnan(found.low) or not is_within:
            return found
        low, high = max(found.low, min(bounds[0], least)), min(found.high, max(bounds[1], most))
        return msgspec.structs.replace(found, low=low, high=high)

    def over(
        self,
        some: Sequence[OfItemT],
        of: Callable[[OfItemT], float],
        *,
        bounds: tuple[float, float] = (0.0, 1.0),
    ) -> Estimate | None:
        """The mean of something over questions, or the share of which it is true; None of no questions."""
        if not some:
            return None
        return self.mean(
            np.array([float(of(one)) for one in some]), [one.item for one in some], bounds=bounds
        )

    def where(
        self,
        is_in: NDArray[np.bool_],
        values: Values,
        items: Sequence[Item],
        *,
        of: Callable[[Values, Sequence[Item]], Estimate],
    ) -> Estimate | None:
        """`mean` or `gain` (`of`) over some of the questions; None where these are none."""
        chosen: list[int] = np.flatnonzero(is_in).tolist()
        return of(values[chosen], [items[i] for i in chosen]) if chosen else None

    def difference(self, first: Values, second: Values, items: Sequence[Item]) -> tuple[Estimate, float]:
        """The first less the second on the same questions, and the p-value of the sign-flip test."""
        videos = [item.video_id for item in items]
        found = paired.compare(
            first, second, clusters=videos, rng=self.rng, settings=Resampling(level=self.level)
        )
        is_few = found.difference.n_clusters < FEW_VIDEOS
        return found.analytic if is_few else found.difference, found.p_value

    def differences(
        self, pairs: Mapping[str, tuple[Values, Values]], items: Sequence[Item]
    ) -> dict[str, Difference]:
        """The first of each pair less the second, adjusted for their number; nothing of no questions."""
        if not items or not pairs:
            return {}
        found = {name: self.difference(*pair, items) for name, pair in pairs.items()}
        adjusted = paired.holm([p for _, p in found.values()])
        return {
            name: Difference(estimate=estimate, p_holm=p)
            for (name, (estimate, _)), p in zip(found.items(), adjusted, strict=True)
        }

    def ratio(self, first: Values, second: Values, items: Sequence[Item]) -> Estimate:
        """The mean of the first over the mean of the second on the same questions."""
        videos = [item.video_id for item in items]
        found = ratio_of_means(
            first, second, clusters=videos, rng=self.rng, settings=Resampling(level=self.level)
        )
        return found.fieller if found.fieller.n_clusters < FEW_VIDEOS else found.bootstrap


# --------------------------------------------------------------------------- columns and tables


@dataclass(frozen=True, kw_only=True)
class Measure(Generic[RowT]):
    """A column of a table: its heading, and its value for what a row is about (a condition, questions, …)."""

    heading: Heading
    of: Callable[[RowT], Value]


def number(key: str, title: str, of: Callable[[RowT], Value], *, note: str = "") -> Measure[RowT]:
    """A column of numbers or words."""
    return Measure(heading=Heading(key=key, title=title, note=note), of=of)


def share(key: str, title: str, of: Callable[[RowT], Value], *, note: str = "") -> Measure[RowT]:
    """A column of shares from 0 to 1, or of their differences; shown in per cent."""
    return Measure(heading=Heading(key=key, title=title, note=note, is_share=True), of=of)


def difference(
    key: str, title: str, found: Mapping[str, Difference], *, note: str = "paired"
) -> Measure[str]:
    """A column of paired differences, for rows by name; empty where a row has none."""
    return share(key, title, lambda name: found[name].estimate if name in found else None, note=note)


def holm(found: Mapping[str, Difference]) -> Measure[str]:
    """A column of the p-values of these differences."""
    return Measure(
        heading=Heading(
            key="p_holm",
            title="p (Holm)",
            note="cluster sign-flip test of the difference, adjusted for all lines of this table that have "
            "one",
            is_p=True,
        ),
        of=lambda name: found[name].p_holm if name in found else None,
    )


def counted(
    items: Sequence[Item], figures: Figures
) -> tuple[Measure[Sequence[bool]], Measure[Sequence[bool]]]:
    """Two columns for rows that say whether something is so of each question: its share, and of how many."""
    return (
        share("share", "share", lambda is_so: figures.mean(np.array(is_so, np.float64), items)),
        number("n", "questions", sum),
    )


def kinds(scores_of: Callable[[RowT], Sequence[Sequence[ReplyScore]]]) -> tuple[Measure[RowT], ...]:
    """Columns that count the replies that were unreadable, refused, and cut off at their length limit."""

    def n_of(is_so: Callable[[ReplyScore], bool]) -> Callable[[RowT], Value]:
        return lambda row: sum(is_so(score) for scores in scores_of(row) for score in scores)

    return (
        number(
            "unreadable",
            "unreadable",
            n_of(lambda one: one.kind == "unreadable"),
            note="replies without an answer; they count as wrong",
        ),
        number(
            "refused",
            "refused",
            n_of(lambda one: one.kind == "refused"),
            note="replies that decline; they count as wrong",
        ),
        number(
            "cut", "cut off", n_of(lambda one: one.is_cut), note="replies that ended at the limit of tokens"
        ),
    )


@dataclass(frozen=True, kw_only=True)
class Line(Generic[AboutT_co]):
    """A row of a table before it is computed: what it is called, and what it is about."""

    key: str
    label: str
    about: AboutT_co
    detail: str = ""


def lines(rows: Iterable[tuple[str, RowT]], labels: Mapping[str, str] | None = None) -> Iterator[Line[RowT]]:
    """Lines by key and what they are about, called as `labels` say, otherwise by their key."""
    return (Line(key=key, label=(labels or {}).get(key, key), about=about) for key, about in rows)


def by_name(names: Iterable[str], labels: Mapping[str, str] | None = None) -> Iterator[Line[str]]:
    """Lines that are about what their key says, such as a condition."""
    return lines(((name, name) for name in names), labels)


def tabulate(
    name: str,
    title: str,
    *,
    label: str,
    rows: Iterable[Line[RowT]],
    measures: Sequence[Measure[RowT]],
    note: str = "",
) -> Sheet:
    """A table of these measures.

    Args:
        name: unique within a diagnostic.
        title: what it shows.
        label: the heading over the names of the rows.
        rows: taken one after another, each with all measures.
        measures: the columns.
        note: what must be known to read it.
    """
    return Sheet(
        name=name,
        title=title,
        label=label,
        headings=tuple(measure.heading for measure in measures),
        entries=tuple(
            Entry(
                key=row.key,
                label=row.label,
                values=tuple(measure.of(row.about) for measure in measures),
                detail=row.detail,
            )
            for row in rows
        ),
        note=note,
    )


def tag_tables(
    prefix: str,
    title: str,
    items: Sequence[Item],
    *,
    about: Callable[[tuple[int, ...]], RowT],
    measures: Sequence[Measure[RowT]],
    note: str = NO_ADJUSTMENT,
) -> list[Sheet]:
    """A table for each tag by which the questions can be parted, with a row for each of its values.

    Args:
        prefix: of the names of the tables; the tag follows.
        title: of the tables; ``, by TAG`` follows.
        items: the questions.
        about: what a row is about, of the positions of its questions.
        measures: the columns.
        note: what must be known to read them.
    """
    return [
        tabulate(
            prefix + tag,
            f"{title}, by {tag}",
            label=tag,
            rows=lines((value, about(positions)) for value, positions in values.items()),
            measures=measures,
            note=note,
        )
        for tag, values in by_tag(items).items()
    ]


def by_tag(items: Sequence[Item]) -> dict[str, dict[str, tuple[int, ...]]]:
    """For each tag with 2 to 40 values the positions of the items that have each value."""
    found: dict[str, dict[str, list[int]]] = {}
    for position, item in enumerate(items):
        for tag, value in item.tags.items():
            found.setdefault(tag, {}).setdefault(value, []).append(position)
    return {
        tag: {value: tuple(values[value]) for value in sorted(values, key=_in_order)}
        for tag, values in found.items()
        if LEAST_VALUES <= len(values) <= MOST_VALUES
    }


def _in_order(value: str) -> tuple[bool, float, str]:
    """Numbers first, by size; then words."""
    is_number = value.isascii() and value.isdecimal()
    return not is_number, float(value) if is_number else 0.0, value


def note(*sentences: str) -> str:
    """Sentences as one note; empty ones fall away."""
    return " ".join(filter(None, sentences))


# --------------------------------------------------------------------------- guessing


def guess(item: Item) -> float:
    """The chance to name the right choice blindly; 0 for an open question."""
    if item.answer_kind == "choice" and item.choices:
        return 1 / len(item.choices)
    return 0.0


def guesses(items: Sequence[Item], chance: Callable[[float], float] = float) -> Values:
    """What guessing alone gets on each question, of the chance of one guess; shape (n_items,)."""
    return np.array([chance(guess(item)) for item in items], np.float64)


def guessing_note(items: Sequence[Item], more: str = "") -> str:
    """What guessing alone gets on these questions, as a sentence; empty of none."""
    return f"Guessing alone gets {100 * float(guesses(items).mean()):.1f} %{more}." if items else ""


def chance_of(n_least: int, n_tries: int, chance: float) -> float:
    """The chance of at least so many hits in independent tries.

    >>> round(chance_of(3, 4, 0.25), 4)
    0.0508
    """
    return sum(
        math.comb(n_tries, k) * chance**k * (1 - chance) ** (n_tries - k) for k in range(n_least, n_tries + 1)
    )


def beyond_guessing(
    values: Values, chances: Values, items: Sequence[Item], *, figures: Figures
) -> Estimate | None:
    """The share that is known, if whoever does not know guesses: ``(share - chance) / (1 - chance)``.

    None where guessing alone gets everything.
    """
    left = float((1 - chances).mean())
    if left <= 0:
        return None
    found = figures.gain(values - chances, items)
    _, *rest = found.method.split(";")
    return msgspec.structs.replace(
        found,
        value=found.value / left,
        low=found.low / left,
        high=found.high / left,
        method=";".join(["share known beyond guessing", *rest]),
    )
