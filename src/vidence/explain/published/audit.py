"""Auditing a row of a printed table: are its parts possible, do they add up, do some stand swapped?"""

from collections.abc import Iterator, Mapping
from itertools import combinations, permutations

from vidence.errors import UsageError
from vidence.explain.published.implied import Implied, SumCheck, check_sum, fitting, implied, nearby_sizes
from vidence.records import Record

# Columns that are tried in each other's place at once.
MOST_MOVED = 4


class Move(Record, kw_only=True):
    """A way to put the values of a row into other columns that makes all of them possible.

    `sources` maps a column to the one in which its value is printed; columns that keep theirs are absent.
    `adds_up` says whether the counts then add up to the whole; None where no whole is known.
    """

    sources: dict[str, str]
    adds_up: bool | None


class RowAudit(Record, kw_only=True):
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
        """Whether the row can be right as printed."""
        cells = [*self.cells.values(), *([self.whole] if self.whole else [])]
        return all(cell.all for cell in cells) and (self.sum_check is None or self.sum_check.is_possible)


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
