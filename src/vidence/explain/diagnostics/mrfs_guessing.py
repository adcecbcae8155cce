"""The MRFS that guessing produces: reference lines for the mean."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np

from vidence.explain.diagnostics.tables import Figures
from vidence.records import Estimate, Item
from vidence.statistics.guessing import ChanceSearch, Guesser, SamePairs, Search, Stickiness, luck, stickiness
from vidence.tables.table import Measure, RowSpec, Table, has_interval, number, share, tabulate

LEAST_PAIRS: Final = 50  # of wrong letters, from which it is told how much guesses stick
MOST_STICKY: Final = 0.95  # the most that guesses are thought to stick where it cannot be told
N_RHOS: Final = 7  # at which the lines between are looked at


@dataclass(frozen=True, kw_only=True)
class QuestionLuck:
    """What one question with choices reveals about guessing.

    `is_found` is whether the search found a number of frames, `mrfs`; None for questions that are right
    without frames or have no score. `letters` are the answers at each number of frames.
    """

    item: Item
    is_found: bool | None
    mrfs: int | None
    n_frames: int
    letters: Mapping[int, str]


Some: TypeAlias = Sequence[QuestionLuck]


# --------------------------------------------------------------------------- how guesses stick


def wrong_pairs(some: Some) -> tuple[SamePairs, ...]:
    """Return pairs of wrong letters at adjacent numbers of frames, without the one with no frames.

    If a question needs more frames, both are guesses, or both come from the same few frames.
    """
    counted: Counter[tuple[int, int, bool]] = Counter()
    for question_luck in some:
        seen = [(n, letter) for n, letter in sorted(question_luck.letters.items()) if n]
        for (n, letter), (more, after) in pairwise(seen):
            if letter and after and question_luck.item.answer not in (letter, after):
                counted[len(question_luck.item.choices), more - n, letter == after] += 1
    return tuple(
        SamePairs(
            n_choices=n_choices,
            distance=distance,
            n_same=counted[n_choices, distance, True],
            n=counted[n_choices, distance, True] + counted[n_choices, distance, False],
        )
        for n_choices, distance in sorted({(n, d) for n, d, _ in counted})
        if n_choices > 2
    )


# --------------------------------------------------------------------------- the lines


@dataclass(frozen=True, kw_only=True)
class Lines:
    """What guessing gives on these questions: how often a number is found, and its mean."""

    chance: float
    mean: float
    least: float

    def of_one_frame(self, accuracy: float) -> float:
        """Return the mean if known answers need one frame and others are guessed, at this accuracy.

        The accuracy is with all frames, on the questions that are wrong without. The known share is (accuracy
        - chance) / (1 - chance), 0 below chance.
        """
        known = max(0.0, (accuracy - self.chance) / (1 - self.chance))
        by_luck = (1 - known) * self.chance
        return (known * self.least + by_luck * self.mean) / (known + by_luck)


def lines_of(
    some: Some, *, rho: float, least: int, n_orders: int, search: Callable[[int], Search]
) -> Lines | None:
    """Return the lines for these questions' choices and frames; None without questions.

    Each question is weighted by the probability that guessing finds a number. Guesses without and with frames
    are independent; those with k and k + 1 frames are equal with probability `rho`.
    """
    kinds = Counter((len(q.item.choices), q.n_frames) for q in some if q.n_frames)
    lines: dict[tuple[int, int], ChanceSearch] = {}
    for n_choices, n_frames in kinds:
        guesser = Guesser(n_choices=n_choices, rho=rho, n_orders=min(n_orders, n_choices))
        lines[n_choices, n_frames] = luck(search(n_frames), guesser)
    n = sum(kinds.values())
    if not n:
        return None
    chance = sum(times * lines[kind].chance for kind, times in kinds.items()) / n
    total = sum(times * lines[kind].chance * lines[kind].mean for kind, times in kinds.items()) / n
    return Lines(chance=chance, mean=total / chance, least=max(1, least))


# --------------------------------------------------------------------------- tables


@dataclass(frozen=True, kw_only=True)
class _Row:
    mean: Estimate | float | None
    found: Estimate | float | None


def guess_tables(
    lucks: Some, *, least: int, n_orders: int, search: Callable[[int], Search], n_open: int, figures: Figures
) -> list[Table]:
    """Return the mean MRFS next to what guessing gives.

    Args:
        lucks: the questions with choices.
        least: the smallest number of frames tried.
        n_orders: number of choice orders for each number of frames.
        search: the search by number of frames.
        n_open: number of questions without choices, which are excluded.
        figures: how intervals are computed.
    """
    some = [q for q in lucks if q.is_found is not None and q.n_frames]
    if not any(question_luck.is_found for question_luck in some):
        return []
    pairs = wrong_pairs(some)
    n_pairs = sum(pair.n for pair in pairs)
    sticky = stickiness(pairs, level=figures.level) if n_pairs >= LEAST_PAIRS else None
    unknown = Stickiness(rho=0.0, low=0.0, high=MOST_STICKY)
    rhos = np.linspace((sticky or unknown).low, (sticky or unknown).high, N_RHOS).tolist()
    lines = {
        rho: lines_of(some, rho=rho, least=least, n_orders=n_orders, search=search)
        for rho in dict.fromkeys([(sticky or unknown).rho, 0.0, *rhos])
    }
    known = {rho: line for rho, line in lines.items() if line is not None}
    around = [known[rho] for rho in rhos if rho in known]
    notes = (
        _of_stickiness(sticky, n_pairs),
        "Each order of the choices is guessed independently: a guesser that keeps a letter gets less, one "
        "that keeps a text gets what one order gives."
        if n_orders > 1
        else "",
        f"{n_open:,} questions without choices are left out." if n_open else "",
    )
    tables = {rho: known[rho] for rho in dict.fromkeys([sticky.rho if sticky else 0.0, 0.0])}
    return [_lines(some, tables, around=around, notes=notes, figures=figures)]


def _lines(
    some: Some,
    values: Mapping[float, Lines],
    *,
    around: Sequence[Lines],
    notes: Sequence[str],
    figures: Figures,
) -> Table:
    """Return the mean and the reference lines; the first counts, with the range `around` it."""
    lucks = [question_luck for question_luck in some if question_luck.is_found]
    most = max(question_luck.n_frames for question_luck in lucks)
    mean = figures.over(lucks, lambda question_luck: question_luck.mrfs or 0, bounds=(1.0, float(most)))
    accuracy = figures.over(some, lambda question_luck: bool(question_luck.is_found))
    rows: list[RowSpec[_Row]] = [RowSpec("measured", "these answers", _Row(mean=mean, found=accuracy))]
    first: Estimate | float | None = None
    for rho, lines in values.items():
        key, how = ("", f"guesses kept with {rho:.2f}") if rho else ("-independent", "independent guesses")
        line = _at(lines, accuracy, around=around if first is None else (lines,))
        first = line if first is None else first
        guesser = _Row(mean=lines.mean, found=lines.chance)
        rows.append(RowSpec(f"guesser{key}", "guesses only", guesser, detail=how))
        one_frame = _Row(mean=line, found=accuracy)
        rows.append(
            RowSpec(f"one-frame{key}", "needs one frame, with the same accuracy", one_frame, detail=how)
        )
    measures: tuple[Measure[_Row], ...] = (
        number("mean", lambda row: row.mean, "mean MRFS"),
        share("found", lambda row: row.found, "right with all frames", note="Of those wrong without frames."),
    )
    return tabulate(
        "guessing",
        "What guessing alone would give",
        label="who answers",
        rows=rows,
        measures=measures,
        notes=(
            _verdict(mean, first),
            "The interval of the first one-frame line covers that of the accuracy and of how often a guess "
            "stays. A guess without frames counts as independent of guesses with frames.",
            "One stickiness holds for all questions. Where guesses stick in only half of them, the lines are "
            "off by about 0.45 frames, and their interval misses the truth in 5 of 12 simulated designs.",
            *notes,
        ),
    )


def _at(lines: Lines, accuracy: Estimate | None, *, around: Sequence[Lines]) -> Estimate | float | None:
    """Return the one-frame line, with the interval from the accuracy and the lines around it."""
    if accuracy is None:
        return None
    value = lines.of_one_frame(accuracy.value)
    if not has_interval(accuracy):
        return value
    ends = [entry.of_one_frame(end) for entry in (lines, *around) for end in (accuracy.low, accuracy.high)]
    return Estimate(
        value=value,
        low=min(ends),
        high=max(ends),
        level=accuracy.level,
        n=accuracy.n,
        n_clusters=accuracy.n_clusters,
        method="line of one-frame demand; at the ends of the intervals of accuracy and stickiness",
    )


def _verdict(mean: Estimate | None, line: Estimate | float | None) -> str:
    if mean is None or not has_interval(mean) or not isinstance(line, Estimate) or not has_interval(line):
        return ""
    if mean.low <= line.high and line.low <= mean.high:
        return "Not distinguishable from one-frame demand: the intervals overlap."
    side = "More" if mean.value > line.value else "Less"
    return f"{side} than a model that needs one frame and is right as often: the intervals do not overlap."


def _of_stickiness(sticky: Stickiness | None, n_pairs: int) -> str:
    if sticky is None:
        return (
            f"How much guesses stick could not be measured ({n_pairs:,} pairs of wrong answers with "
            f"neighbouring numbers of frames, expected {LEAST_PAIRS} or more; mode=exhaustive gives most): "
            f"the lines are of independent guesses, and the interval holds all from 0 to {MOST_STICKY}."
        )
    return (
        f"A guess is kept with probability {sticky.rho:.2f} ({sticky.low:.2f} to {sticky.high:.2f}) when a "
        f"frame is added, by {n_pairs:,} pairs of wrong answers."
    )
