"""GRIM: could a printed percentage be a count over the known number of questions?

A percentage over n questions is ``100 k / n`` for a whole number k. A printed value that no k gives is a
misprint, stands in the wrong column, or is over another number of questions than the paper says. All
arithmetic here is exact.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import combinations, permutations
from typing import Literal, get_args

from vidence.errors import UsageError
from vidence.records import Record

Rounding = Literal["half-up", "half-even", "half-down", "truncated"]
# Ways to print a number with fewer digits. Floating point sends a tie up or down as it happens, which is
# why half-down is among them.
ROUNDINGS: tuple[Rounding, ...] = ("half-up", "half-even", "half-down", "truncated")
NEAREST: tuple[Rounding, ...] = ROUNDINGS[:3]
# How the numbers of one row are printed, all of them.
Rule = Literal["nearest", "truncated"]
RULES: tuple[Rule, ...] = get_args(Rule)
# Columns that are tried in each other's place at once.
MOST_MOVED = 4


class Printed(Record):
    """A percentage as it stands in a table: its text, and how many digits follow the point."""

    text: str
    decimals: int

    @property
    def value(self) -> Fraction:
        """The number, exactly as printed."""
        return Fraction(Decimal(self.text))

    @property
    def step(self) -> Fraction:
        """One unit of the last digit printed."""
        return Fraction(1, 10**self.decimals)


class Implied(Record):
    """What a printed percentage says about the count behind it.

    `counts` holds for each rounding the whole numbers k, 0 to `n`, for which ``100 k / n`` prints as
    `text`.
    """

    text: str
    n: int
    counts: dict[str, tuple[int, ...]]

    @property
    def nearest(self) -> tuple[int, ...]:
        """The counts that give the text when rounded to the nearest, ties either way."""
        return tuple(sorted({k for name in NEAREST for k in self.counts[name]}))

    @property
    def truncated(self) -> tuple[int, ...]:
        """The counts that give the text when further digits are cut off."""
        return self.counts["truncated"]

    def by(self, rule: Rule) -> tuple[int, ...]:
        """The counts that give the text by that rule."""
        return self.nearest if rule == "nearest" else self.truncated

    @property
    def all(self) -> tuple[int, ...]:
        """The counts that give the text in any of these ways."""
        return tuple(sorted({*self.nearest, *self.truncated}))

    @property
    def low(self) -> int:
        """The least of these counts; the nearest count where there is none."""
        return self.all[0] if self.all else round(Fraction(self.text) * self.n / 100)

    @property
    def high(self) -> int:
        """The greatest of these counts; the nearest count where there is none."""
        return self.all[-1] if self.all else self.low

    @property
    def verdict(self) -> Literal["possible", "truncated only", "impossible"]:
        """Whether any count can be behind the text, and whether only by cutting digits off."""
        if self.nearest:
            return "possible"
        return "truncated only" if self.truncated else "impossible"


class SumCheck(Record):
    """Whether counts of the parts can add up to a count of the whole.

    `part_sums` are the lowest and the highest sum that the parts allow, None where a part is impossible;
    `whole` are the counts that the printed whole allows. `n_parts` and `n_whole` are the questions behind
    them: where they differ, some questions are missing or counted twice.
    """

    is_possible: bool
    part_sums: tuple[int, int] | None
    whole: tuple[int, ...]
    n_parts: int
    n_whole: int


class MeanCheck(Record):
    """Whether a printed mean can be that of the printed parts.

    `recomputed` is the mean of the parts as printed. The true mean lies in ``[low, high]``, since each part
    was rounded. `off_by` is how far the printed mean, rounding included, lies outside; 0.0 where it does
    not.
    """

    is_possible: bool
    recomputed: float
    low: float
    high: float
    off_by: float


def printed(value_text: str) -> Printed:
    """Read a percentage as printed; blanks around it and a percent sign after it do not count.

    Raises:
        UsageError: it is no number in digits, such as ``56.`` whose last digit is lost, or lies outside 0
            to 100.

    >>> printed("33.0 %").decimals
    1
    """
    text = value_text.strip().removesuffix("%").strip()
    whole, point, rest = text.partition(".")
    try:
        if not (text.isascii() and whole.isdigit() and (rest.isdigit() or not point)):
            raise InvalidOperation
        number = Decimal(text)
    except InvalidOperation:
        raise UsageError(
            f"{value_text!r} is no percentage in digits; expected something like 46.20"
        ) from None
    if number > 100:
        raise UsageError(f"{value_text!r} is more than 100 %; expected a percentage from 0 to 100")
    return Printed(text=text, decimals=len(rest))


def _check_n(n: int) -> None:
    if n < 1:
        raise UsageError(f"n {n}; expected the number of questions behind the percentage, 1 or more")


def _rounded(value: Fraction, step: Fraction, rounding: Rounding) -> Fraction:
    """A number of 0 or more as a multiple of `step`."""
    steps = value / step
    down = steps.numerator // steps.denominator
    rest = steps - down
    half = Fraction(1, 2)
    goes_up = {
        "truncated": False,
        "half-up": rest >= half,
        "half-down": rest > half,
        "half-even": rest > half or (rest == half and down % 2 == 1),
    }[rounding]
    return (down + goes_up) * step


def implied(value_text: str, n: int) -> Implied:
    """The counts that could be behind a printed percentage, by each way of rounding.

    Args:
        value_text: the percentage as printed, with all its digits: ``"27.00"`` says more than ``"27"``.
        n: how many questions it is over.

    Raises:
        UsageError: the text is no percentage, or n is below 1.

    Source: Brown & Heathers, "The GRIM test" (2017), for percentages.
    Departs: all usual roundings are tried, with exact arithmetic.

    >>> implied("33.07", 391).verdict
    'impossible'
    >>> implied("26.09", 391).nearest
    (102,)
    """
    _check_n(n)
    found = printed(value_text)
    least = max(0, int((found.value - found.step) * n / 100))
    most = min(n, int((found.value + found.step) * n / 100) + 1)
    shares = {k: Fraction(100 * k, n) for k in range(least, most + 1)}
    counts = {
        str(name): tuple(k for k, v in shares.items() if _rounded(v, found.step, name) == found.value)
        for name in ROUNDINGS
    }
    return Implied(text=found.text, n=n, counts=counts)


def shared_rules(cells: Sequence[Implied]) -> tuple[Rule, ...]:
    """The rules by which every one of these values can have been printed; none if there is no such one.

    A row is printed by one rule: rounded to the nearest, where ties fall as floating point has them, or cut
    off. Values that need different ones are a sign of retyping.
    """
    return tuple(rule for rule in RULES if all(cell.by(rule) for cell in cells))


def check_sum(parts: Sequence[Implied], whole: Implied) -> SumCheck:
    """Whether parts and whole can be true together: counts of the parts that add up to one of the whole.

    All of them are printed by one rule (`shared_rules`).

    Args:
        parts: what `implied` says of each part; together they hold every question of the whole once.
        whole: what it says of the whole.

    Raises:
        UsageError: no parts.
    """
    if not parts:
        raise UsageError("no parts; expected the printed value of at least one")
    counts = [part.all for part in parts]
    sums = (sum(c[0] for c in counts), sum(c[-1] for c in counts)) if all(counts) else None
    return SumCheck(
        is_possible=any(_adds_up(parts, whole, rule) for rule in shared_rules((*parts, whole))),
        part_sums=sums,
        whole=whole.all,
        n_parts=sum(part.n for part in parts),
        n_whole=whole.n,
    )


def _adds_up(parts: Sequence[Implied], whole: Implied, rule: Rule) -> bool:
    # The counts behind one text have no gaps, so neither have their sums.
    least, most = (sum(part.by(rule)[end] for part in parts) for end in (0, -1))
    return any(least <= k <= most for k in whole.by(rule))


def _range(found: Printed, *, is_truncated: bool) -> tuple[Fraction, Fraction]:
    """The least and the greatest number that prints so."""
    if is_truncated:
        return found.value, found.value + found.step
    return found.value - found.step / 2, found.value + found.step / 2


def check_mean(
    parts: Sequence[str],
    whole: str,
    *,
    weights: Sequence[int] | None = None,
    is_truncated: bool = False,
) -> MeanCheck:
    """Whether a printed mean can be the mean of its printed parts, given that all are rounded.

    Args:
        parts: the parts as printed.
        whole: the mean as printed.
        weights: how many questions (or tasks) each part is over, for a mean weighted by them; without them
            every part counts alike (macro).
        is_truncated: digits were cut off, not rounded to the nearest.

    Raises:
        UsageError: no parts, a text that is no percentage, not one weight for each part, or weights that
            are negative or all 0.

    >>> check_mean(["20.0", "30.0"], "25.2").is_possible
    False
    """
    if not parts:
        raise UsageError("no parts; expected the printed value of at least one")
    shares = [1] * len(parts) if weights is None else list(weights)
    if len(shares) != len(parts) or min(shares) < 0 or not sum(shares):
        raise UsageError(
            f"weights {shares} for {len(parts)} parts; expected one of 0 or more for each, not all 0"
        )
    cells = [printed(part) for part in parts]
    ranges = [_range(cell, is_truncated=is_truncated) for cell in cells]
    total = sum(shares)

    def mean_of(values: Iterator[Fraction]) -> Fraction:
        return sum((w * v for w, v in zip(shares, values, strict=True)), Fraction(0)) / total

    low, high = (mean_of(bounds[side] for bounds in ranges) for side in (0, 1))
    least, greatest = _range(printed(whole), is_truncated=is_truncated)
    off_by = max(least - high, low - greatest, Fraction(0))
    return MeanCheck(
        is_possible=off_by == 0,
        recomputed=float(mean_of(cell.value for cell in cells)),
        low=float(low),
        high=float(high),
        off_by=float(off_by),
    )


def fitting(value_text: str, sizes: Mapping[str, int]) -> tuple[str, ...]:
    """The columns where a printed percentage is possible.

    Args:
        value_text: the percentage as printed.
        sizes: for each column how many questions it is over.

    Raises:
        UsageError: the text is no percentage, or a size is below 1.

    >>> fitting("81.08", {"sports": 15, "home tour": 74})
    ('home tour',)
    """
    return tuple(column for column, n in sizes.items() if implied(value_text, n).all)


def nearby_sizes(value_text: str, n: int, *, reach: int = 2) -> tuple[int, ...]:
    """Other numbers of questions, at most `reach` away from n, over which a printed percentage is possible.

    A value that is impossible over n but not over n - 1 hints at a question that was left out. It says
    little where n is large against the digits printed: then nearly every number fits.

    Raises:
        UsageError: the text is no percentage, n is below 1, or `reach` below 0.

    >>> nearby_sizes("35.71", 15)
    (14,)
    """
    _check_n(n)
    if reach < 0:
        raise UsageError(f"reach {reach}; expected 0 or more")
    others = [size for size in range(max(1, n - reach), n + reach + 1) if size != n]
    return tuple(size for size in others if implied(value_text, size).all)


# --------------------------------------------------------------------------- one row of a table


class Move(Record):
    """A way to put the values of a row into other columns that makes all of them possible.

    `sources` maps a column to the one in which its value is printed; columns that keep theirs are absent.
    `adds_up` says whether the counts then add up to the whole; None where no whole is known.
    """

    sources: dict[str, str]
    adds_up: bool | None


class RowAudit(Record):
    """One row of a table whose columns are parts of a whole.

    `cells` holds what each printed part says. For the parts that are impossible, `fits` lists the other
    columns where they are possible, and `other_sizes` the nearby numbers of questions. `whole` and
    `sum_check` are None where no whole is known. `moves` are the ways to put values into other columns: of
    those that make all parts possible the ones that move fewest values, then, if none of them adds up, of
    those that do the ones that move fewest. It is empty where the row is right as printed, and where no way
    moves four values or fewer.
    """

    cells: dict[str, Implied]
    whole: Implied | None
    fits: dict[str, tuple[str, ...]]
    other_sizes: dict[str, tuple[int, ...]]
    sum_check: SumCheck | None
    moves: tuple[Move, ...]

    @property
    def is_possible(self) -> bool:
        """Whether the row can be right as printed, all of it by one rule."""
        cells = [*self.cells.values(), *([self.whole] if self.whole else [])]
        return bool(shared_rules(cells)) and (self.sum_check is None or self.sum_check.is_possible)


def _rearranged(values: Mapping[str, str], n_moved: int) -> Iterator[dict[str, str]]:
    """Every way to give exactly so many columns a different value of another column."""
    for moved in combinations(values, n_moved):
        for sources in permutations(moved):
            if all(values[a] != values[b] for a, b in zip(moved, sources, strict=True)):
                yield dict(zip(moved, sources, strict=True))


def _moves(values: Mapping[str, str], sizes: Mapping[str, int], whole: Implied | None) -> tuple[Move, ...]:
    says = {
        (column, source): implied(values[source], sizes[column]) for column in values for source in values
    }
    # A row whose parts are possible as they stand needs a move only to add up.
    is_settled = all(says[column, column].all for column in values)
    kept: list[Move] = []
    for n_moved in range(2, min(MOST_MOVED, len(values)) + 1):
        found = []
        for sources in _rearranged(values, n_moved):
            cells = [says[column, sources.get(column, column)] for column in values]
            if all(cell.all for cell in cells):
                adds_up = None if whole is None else check_sum(cells, whole).is_possible
                found.append(Move(sources=sources, adds_up=adds_up))
        kept += [move for move in found if not is_settled or move.adds_up]
        # From here on only what adds up is worth more moves.
        is_settled = is_settled or bool(kept)
        if is_settled and (whole is None or any(move.adds_up for move in kept)):
            break
    return tuple(kept)


def audit_row(
    values: Mapping[str, str], sizes: Mapping[str, int], *, whole: tuple[str, int] | None = None
) -> RowAudit:
    """Audit the parts of one row: each by itself, their sum, and whether some stand in each other's place.

    Args:
        values: for each column the percentage as printed.
        sizes: for each of these columns how many questions it is over.
        whole: the percentage of all questions as printed, and their number; then the parts must hold every
            question once.

    Raises:
        UsageError: no columns, a column without a size, a text that is no percentage, or a size below 1.

    Source: single values as `implied`.
    Departs: no.
    """
    unsized = [column for column in values if column not in sizes]
    if not values or unsized:
        raise UsageError(
            f"columns {', '.join(values) or '(none)'}, without a size: {', '.join(unsized) or 'none'}; "
            "expected one or more, each with the number of its questions"
        )
    own = {column: sizes[column] for column in values}
    cells = {column: implied(text, own[column]) for column, text in values.items()}
    total = None if whole is None else implied(whole[0], whole[1])
    impossible = [column for column, cell in cells.items() if not cell.all]
    sums = None if total is None else check_sum(list(cells.values()), total)
    is_right = not impossible and (sums is None or sums.is_possible)
    return RowAudit(
        cells=cells,
        whole=total,
        fits={column: fitting(values[column], own) for column in impossible},
        other_sizes={column: nearby_sizes(values[column], own[column]) for column in impossible},
        sum_check=sums,
        moves=() if is_right else _moves(values, own, total),
    )
