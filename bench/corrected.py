"""How often corrected scores hold the truth, and how much narrower they are than the sample alone.

    python bench/corrected.py [--quick] [--write docs/design/coverage.md]

Everything is simulated with the code that makes the numbers of reports and comparisons. 1, 5 or
15 questions lie on a video, right answers go together as an intra-class correlation of 0, 0.2 or 0.6 says
(beta-binomial), and a program marks replies with errors: a parser that leaves some unread or reads some
otherwise, or a judge that is right in 80 to 98 %. A person reads 50 to 200. Prints Markdown, or writes it
between the marks in a page. About ten minutes on one core; with ``--quick`` two.
"""

import itertools
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from simulated import print_page, table

from vidence.statistics.intervals import SHARE, ClusteredMean
from vidence.statistics.prediction_powered import APART, PseudoMarks, allocated, reaching
from vidence.statistics.sandwich import Layout

QUESTIONS = (200, 1000, 5000)
VIDEOS = ((1, 0.0), (5, 0.2), (15, 0.2), (15, 0.6))
SHARES = (0.05, 0.3, 0.7, 0.95)
READ = (50, 100, 200)
# The program: how many replies it leaves unread, how many right ones it takes for wrong, and the other way.
PROGRAMS = {
    "no errors": (0.0, 0.0, 0.0),
    "1 % unread": (0.01, 0.0, 0.0),
    "10 % unread": (0.1, 0.0, 0.0),
    "1 % of the right read as wrong": (0.0, 0.01, 0.0),
    "5 % of the right read as wrong": (0.0, 0.05, 0.0),
    "2 % read otherwise": (0.02, 0.02, 0.02),
    "judge, 98 % right": (0.0, 0.02, 0.02),
    "judge, 90 % right": (0.0, 0.1, 0.1),
    "judge, 90 % right, lenient": (0.0, 0.02, 0.18),
    "judge, 80 % right": (0.0, 0.2, 0.2),
}
LEAST = 0.93
BEGIN, END = "<!-- made by bench/corrected.py -->", "<!-- end of bench/corrected.py -->"


@dataclass(frozen=True)
class Case:
    """What is simulated."""

    n: int
    each: int
    icc: float
    share: float
    n_read: int
    program: str


def cases() -> Iterator[Case]:
    for n, (each, icc), share, n_read, program in itertools.product(
        QUESTIONS, VIDEOS, SHARES, READ, PROGRAMS
    ):
        yield Case(n, each, icc, share, n_read, program)


def truth(case: Case, videos: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """What a person would say of each reply."""
    chances: np.ndarray | float = case.share
    if case.icc > 0:
        strength = (1 - case.icc) / case.icc
        drawn = rng.beta(case.share * strength, (1 - case.share) * strength, size=videos.max() + 1)
        chances = drawn[videos]
    return (rng.random(len(videos)) < chances).astype(float)


def marked(right: np.ndarray, program: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """What a program makes of replies: 0 wrong, 1 right, 2 unread; and its marks."""
    unread, missed, given = PROGRAMS[program]
    draw = rng.random(len(right))
    kind = np.where(draw < np.where(right == 1, missed, given), 1 - right, right)
    kind = np.where(rng.random(len(right)) < unread, 2, kind).astype(int)
    return kind, (kind == 1).astype(float)


def read_some(
    right: np.ndarray, kind: np.ndarray, n_read: int, *, is_judge: bool, rng: np.random.Generator
) -> np.ndarray:
    """The marks of a person, NaN where none: drawn by strata as `vidence replies check-sample` draws."""
    spreads = (0.3, 0.3, 0.5) if is_judge else (0.15, 0.15, 0.5)
    there = [k for k in range(3) if (kind == k).any()]
    sizes = [int((kind == k).sum()) for k in there]
    read = np.full(len(right), np.nan)
    for k, n in zip(there, allocated(sizes, [spreads[k] for k in there], n_read), strict=True):
        chosen = rng.choice(np.flatnonzero(kind == k), n, replace=False)
        read[chosen] = right[chosen]
    return read


def clustered(values: np.ndarray, videos: np.ndarray, layout: Layout) -> ClusteredMean:
    return ClusteredMean(
        totals=np.bincount(videos, weights=values).astype(float)[:, None],
        layout=layout,
        spread=float(values.var()),
        least=float(values.min()),
        most=float(values.max()),
        n_apart=int(np.count_nonzero(values)),
    )


def of_all(values: np.ndarray, videos: np.ndarray, layout: Layout) -> tuple[float, float]:
    """The interval of the project's rule on marks of all replies."""
    found = clustered(values, videos, layout).interval()
    return found.low, found.high


def one_run(
    case: Case, videos: np.ndarray, layout: Layout, rng: np.random.Generator
) -> list[tuple[float, float]]:
    """Four intervals: corrected, the sample alone, the program alone, and a person who reads all."""
    right = truth(case, videos, rng)
    kind, marks = marked(right, case.program, rng)
    read = read_some(right, kind, case.n_read, is_judge="judge" in case.program, rng=rng)
    pseudo = PseudoMarks.of(marks, read=read, strata=kind.astype("U1").tolist())
    weights = np.full(case.n, 1 / case.n)
    found = clustered(pseudo.values, videos, layout)
    corrected = reaching(found, pseudo.slack(weights, level=0.95), bounds=SHARE, level=0.95)[0]
    alone = rng.choice(case.n, case.n_read, replace=False)
    _, own, counts = np.unique(videos[alone], return_inverse=True, return_counts=True)
    sample = clustered(right[alone], own, Layout.of(counts[:, None].astype(float))).interval()
    return [
        (corrected.low, corrected.high),
        (sample.low, sample.high),
        of_all(marks, videos, layout),
        of_all(right, videos, layout),
    ]


def simulated(case: Case, n_runs: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """How often each of the four intervals holds the share, and their mean widths."""
    rng = np.random.default_rng([seed, *map(ord, repr(case))])
    videos = np.arange(case.n) // case.each
    layout = Layout.of(np.bincount(videos)[:, None].astype(float))
    ends = np.array([one_run(case, videos, layout, rng) for _ in range(n_runs)])
    held = (ends[..., 0] <= case.share) & (case.share <= ends[..., 1])
    return held.mean(axis=0), np.nanmean(ends[..., 1] - ends[..., 0], axis=0)


def by_program(cases: Sequence[Case], held: np.ndarray, ratio: np.ndarray) -> list[list[str]]:
    """For each program: how often the four intervals hold the truth, and how wide the first one is."""
    rows = []
    for program in PROGRAMS:
        at = [i for i, case in enumerate(cases) if case.program == program]
        rows.append(
            [
                program,
                *(
                    f"{100 * held[at, k].mean():.1f} ({100 * (held[at, k] >= LEAST).mean():.0f})"
                    for k in range(4)
                ),
                f"{np.median(ratio[at]):.2f}",
                f"{100 * (ratio[at] < 1).mean():.0f} %",
            ]
        )
    return rows


def mean_tables(n_runs: int, seed: int) -> list[str]:
    """How often intervals of means hold the truth, and how wide they are."""
    found = {case: simulated(case, n_runs, seed) for case in cases()}
    held, width = (np.array([one[i] for one in found.values()]) for i in (0, 1))
    good = 100 * (held >= LEAST).mean(axis=0)
    ratio = width[:, 0] / width[:, 1]
    rows = by_program(list(found), held, ratio)
    lines = [
        f"The corrected 95 % interval holds the score that a person would give in 93 % or more of {n_runs:,} "
        f"simulated runs in **{good[0]:.1f} %** of {len(found):,} designs; that of the sample alone in "
        f"{good[1]:.1f} %, of the program in {good[2]:.1f} %, and of a person who reads every reply in "
        f"{good[3]:.1f} %. It is narrower than that of the sample alone in {100 * (ratio < 1).mean():.0f} % "
        f"of the designs, in the median {np.median(ratio):.2f} times as wide. Cells: mean coverage in per "
        "cent, and in brackets the share of designs with 93 % or more.",
        "",
        *table(
            ["program", "corrected", "sample alone", "program alone", "all read", "width", "narrower in"],
            rows,
        ),
        "",
        "Width of the intervals in points (median over designs):",
        "",
    ]
    rows = []
    for n, n_read in itertools.product(QUESTIONS, READ):
        row = [f"{n:,}", str(n_read)]
        for names in (list(PROGRAMS)[:6], list(PROGRAMS)[6:]):
            at = [i for i, c in enumerate(found) if (c.n, c.n_read) == (n, n_read) and c.program in names]
            row += [f"{100 * np.median(width[at, k]):.1f}" for k in (0, 1, 3)]
        rows.append(row)
    kinds = [
        f"{what}, {name}" for name in ("parsers", "judges") for what in ("corrected", "sample", "all read")
    ]
    lines += table(["questions", "read", *kinds], rows)
    return lines


PAIRS = (
    ("no errors", "no errors"),
    ("1 % unread", "10 % unread"),
    ("1 % of the right read as wrong", "5 % of the right read as wrong"),
    ("judge, 98 % right", "judge, 90 % right, lenient"),
    ("judge, 80 % right", "judge, 80 % right"),
)


def one_pair(
    case: Case, other: str, *, videos: np.ndarray, layout: Layout, rng: np.random.Generator
) -> tuple[float, float, float, float, float]:
    """P-values of the corrected difference with both sides read and with the first alone, and of the raw one.

    Both runs are equally good, and alike in three of five questions. Then the widths of the corrected and of
    the raw interval.
    """
    first = truth(case, videos, rng)
    second = np.where(rng.random(case.n) < 0.6, first, truth(case, videos, rng))
    sides, weights = [], np.full(case.n, 1 / case.n)
    for right, program in ((first, case.program), (second, other)):
        kind, marks = marked(right, program, rng)
        read = read_some(right, kind, case.n_read, is_judge="judge" in program, rng=rng)
        sides.append((marks, PseudoMarks.of(marks, read=read, strata=kind.astype("U1").tolist())))
    (a, ours), (b, theirs) = sides
    slacks = [one.slack(weights, level=0.95) for one in (ours, theirs)]
    both = (slacks[0][0] + slacks[1][1], slacks[0][1] + slacks[1][0])
    corrected, p_both = reaching(
        clustered(ours.values - theirs.values, videos, layout), both, bounds=APART, level=0.95
    )
    _, p_first = reaching(clustered(ours.values - b, videos, layout), slacks[0], bounds=APART, level=0.95)
    raw, p_raw = clustered(a - b, videos, layout).difference()
    return p_both, p_first, p_raw, corrected.high - corrected.low, raw.high - raw.low


def pair_table(n_runs: int, seed: int) -> list[str]:
    """How often two runs that are equally good are told apart."""
    rows = []
    for (program, other), n_read in itertools.product(PAIRS, READ[1:]):
        found = []
        for n, (each, icc), share in itertools.product(QUESTIONS[:2], VIDEOS, (0.3, 0.7, 0.95)):
            case = Case(n, each, icc, share, n_read, program)
            rng = np.random.default_rng([seed, *map(ord, repr(case))])
            videos = np.arange(n) // each
            layout = Layout.of(np.bincount(videos)[:, None].astype(float))
            some = [one_pair(case, other, videos=videos, layout=layout, rng=rng) for _ in range(n_runs)]
            values = np.array(some)
            found.append([*(values[:, :3] < 0.05).mean(axis=0), *np.nanmean(values[:, 3:], axis=0)])
        means, highest = np.mean(found, axis=0), np.max(found, axis=0)
        cells = [f"{means[i]:.3f} ({highest[i]:.3f})" for i in range(3)]
        rows.append([program, other, str(n_read), *cells, *(f"{100 * means[i]:.1f}" for i in (3, 4))])
    heads = ["first run", "second run", "read of each", "corrected", "first alone corrected", "raw"]
    return table([*heads, "width corrected, points", "raw, points"], rows)


FEWEST = (5, 10, 20, 40)


def part_table(n_runs: int, seed: int) -> list[str]:
    """How often the corrected mean of a part of a run holds the truth, by how much was read of the part."""
    found: dict[int, list[tuple[bool, bool, float, float]]] = {fewest: [] for fewest in FEWEST}
    designs = itertools.product(QUESTIONS[:2], VIDEOS[:2], SHARES, READ, list(PROGRAMS)[1:], (0.05, 0.2, 0.5))
    for n, (each, icc), share, n_read, program, size in designs:
        case = Case(n, each, icc, share, n_read, program)
        rng = np.random.default_rng([seed, *map(ord, repr((case, size)))])
        videos = np.arange(n) // each
        for _ in range(max(1, n_runs // 20)):
            right, part = truth(case, videos, rng), np.flatnonzero((rng.random(n) < size)[videos])
            kind, marks = marked(right, program, rng)
            read = read_some(right, kind, n_read, is_judge="judge" in program, rng=rng)
            pseudo = PseudoMarks.of(marks, read=read, strata=kind.astype("U1").tolist()).part(part.tolist())
            if pseudo.n_read < FEWEST[0] or len(set(videos[part])) < 2:
                continue
            _, own, counts = np.unique(videos[part], return_inverse=True, return_counts=True)
            layout = Layout.of(counts[:, None].astype(float))
            slack = pseudo.slack(np.full(len(part), 1 / len(part)), level=0.95)
            ends = reaching(clustered(pseudo.values, own, layout), slack, bounds=SHARE, level=0.95)[0]
            low, high = of_all(marks[part], own, layout)
            fewest = max(one for one in FEWEST if one <= pseudo.n_read)
            holds = ends.low <= share <= ends.high, low <= share <= high
            found[fewest].append((*holds, ends.high - ends.low, high - low))
    rows = []
    for fewest, some in found.items():
        means = 100 * np.mean(some, axis=0)
        rows.append([f"{fewest} or more", f"{len(some):,}", *(f"{one:.1f}" for one in means)])
    heads = ["read of the part", "simulated parts", "corrected holds, %", "raw holds, %"]
    return table([*heads, "width corrected, points", "raw, points"], rows)


def page(n_runs: int, seed: int) -> str:
    """The tables, as Markdown."""
    return "\n".join(
        [
            *mean_tables(n_runs, seed),
            "",
            "How often two runs that a person would find equally good are told apart (level 0.05; mean over "
            "24 designs, in brackets the highest):",
            "",
            *pair_table(n_runs, seed),
            "",
            "Parts of 5, 20 and 50 % of a run, such as the values of a tag:",
            "",
            *part_table(n_runs, seed),
        ]
    )


if __name__ == "__main__":
    sys.exit(print_page(page, (BEGIN, END), n_runs=(40, 200)))
