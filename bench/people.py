"""How often the interval over people and items, crossed, holds the truth: part of `coverage.py`.

Right answers are those of a probit model: a person is able, an item is hard, its video is hard, and the rest
is chance. The variances of people and of items are shares of the whole, so the true share of right answers is
known: 2 to 12 people, 10, 50 and 200 items, one or four on a video, shares from 10 to 95 %. All people answer
every question, or 30 to 100 % of them, or every question is dealt to two people.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from vidence.statistics.crossed import between, crossed_layout
from vidence.statistics.intervals import p_values, share_ends
from vidence.statistics.sandwich import Layout

PEOPLE = (2, 3, 4, 6, 8, 12)
ITEMS = (10, 50, 200)
EACH = (1, 4)
SHARES = (0.1, 0.3, 0.5, 0.8, 0.95)
# Shares of the variance that people and items have.
VARIANCES = ((0.0, 0.0), (0.0, 0.3), (0.1, 0.1), (0.05, 0.4), (0.3, 0.1))
ANSWERED = ("all", "30 to 100 %", "two people an item")
GOOD = 0.93


@dataclass(frozen=True)
class Case:
    """What is simulated."""

    answered: str
    n_people: int
    n_items: int
    each: int
    variances: tuple[float, float]
    share: float = 0.5

    def videos(self) -> np.ndarray:
        return np.asarray(np.arange(self.n_items) // self.each)

    def mask(self, rng: np.random.Generator) -> np.ndarray:
        size = (self.n_people, self.n_items)
        if self.answered == "30 to 100 %":
            mask = rng.random(size) < np.linspace(0.3, 1, self.n_people)[:, None]
            mask[np.arange(self.n_people), np.arange(self.n_people) % self.n_items] = True
            return mask
        if self.answered == "all":
            return np.ones(size, bool)
        mask, items = np.zeros(size, bool), np.arange(self.n_items)
        mask[items % self.n_people, items] = True
        step = 1 + (items // self.n_people) % (self.n_people - 1)
        mask[(items + step) % self.n_people, items] = True
        return mask

    def right(
        self, n_runs: int, rng: np.random.Generator, seen: Sequence[np.ndarray], *, is_model: bool = False
    ) -> np.ndarray:
        """Right answers, shape (n_runs, n_people, n_items); `seen` are effects that two phases share.

        Of a model, which is no sample of models, shape (n_runs, 1, n_items).
        """
        items = self.variances[1]
        people = 0.0 if is_model else self.variances[0]
        videos = self.videos()
        able = _mixed(rng.normal(size=(n_runs, self.n_people)), seen[0])[:, : 1 if is_model else None]
        hard = _mixed(rng.normal(size=(n_runs, videos[-1] + 1)), seen[1])[:, videos]
        own = _mixed(rng.normal(size=(n_runs, self.n_items)), seen[2])
        effect = np.sqrt(people) * able[:, :, None] + np.sqrt(items / 2) * (hard + own)[:, None, :]
        rest = np.sqrt(1 - people - items) * rng.normal(size=effect.shape)
        return np.asarray(effect + rest < ndtri(self.share), float)

    def effects(self, n_runs: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        sizes = (self.n_people, self.videos()[-1] + 1, self.n_items)
        return tuple(rng.normal(size=(n_runs, size)) for size in sizes)


def _mixed(own: np.ndarray, shared: np.ndarray) -> np.ndarray:
    return np.asarray((own + shared) / np.sqrt(2))


def cases(n_people: int, shares: Sequence[float] = SHARES) -> Iterator[Case]:
    for answered, n_items, each, variances, share in itertools.product(
        ANSWERED, ITEMS, EACH, VARIANCES, shares
    ):
        if n_people > 2 or answered != ANSWERED[2]:
            yield Case(answered, n_people, n_items, each, variances, share)


@dataclass(frozen=True)
class Rule:
    """Means and what the rule of `statistics.crossed` needs of them; shapes (n_runs,)."""

    means: np.ndarray
    variances: np.ndarray
    layout: Layout
    by_video: tuple[np.ndarray, Layout]

    @classmethod
    def of(cls, values: np.ndarray, mask: np.ndarray, videos: np.ndarray) -> "Rule":
        of_video = np.eye(videos[-1] + 1)[videos]
        cells, counts = (values * mask) @ of_video, mask.astype(float) @ of_video
        n_runs = len(values)

        def layout(sums: np.ndarray, n: np.ndarray) -> tuple[Layout, np.ndarray]:
            return Layout.of(n[n > 0][:, None]), sums[:, n > 0][..., None]

        people, of_people = layout(cells.sum(2), counts.sum(1))
        sources, of_sources = layout(cells.sum(1), counts.sum(0))
        both, of_both = layout(cells.reshape(n_runs, -1), counts.reshape(-1))
        alone = sources.variance(of_sources)
        return cls(
            means=people.mean(of_people),
            variances=between(people.variance(of_people), alone, both.variance(of_both)),
            layout=crossed_layout(people, sources),
            by_video=(alone, sources),
        )

    def held(self, share: float) -> tuple[float, float, float]:
        """How often the interval holds the share, its width, and how often that by videos alone holds it."""
        ends = [
            share_ends(self.means, variance, layout=layout, level=0.95)
            for variance, layout in ((self.variances, self.layout), self.by_video)
        ]
        (low, high), (least, most) = ends
        holds = ((low <= share) & (share <= high)).mean()
        return float(holds), float((high - low).mean()), float(((least <= share) & (share <= most)).mean())


def false_finding(case: Case, n_runs: int, rng: np.random.Generator, *, against_model: bool) -> float:
    """How often two phases, or people and a model, that are equally good are told apart."""
    seen, mask = case.effects(n_runs, rng), case.mask(rng)
    second = case.right(n_runs, rng, seen, is_model=against_model)
    values = (case.right(n_runs, rng, seen) - second) * mask
    rule = Rule.of(values, mask, case.videos())
    n_apart = (values != 0).any(axis=1).sum(axis=1)
    dof, n_alike = rule.layout.dof, rule.layout.n_alike
    found = p_values(rule.means, rule.variances, n_apart=n_apart, dof=dof, n_alike=n_alike)
    return float((found < 0.05).mean())


def people_tables(n_runs: int, rng: np.random.Generator) -> tuple[str, list[list[str]], list[list[str]]]:
    """A sentence, rows on coverage by number of people, and the worst designs."""
    rows, everything = [], []
    for n_people in PEOPLE:
        found = []
        for case in cases(n_people):
            right = case.right(n_runs, rng, case.effects(n_runs, rng))
            found.append((*Rule.of(right, case.mask(rng), case.videos()).held(case.share), case))
        held, widths, alone = (np.array([one[i] for one in found]) for i in range(3))
        wrong = [
            [false_finding(c, n_runs, rng, against_model=it) for c in cases(n_people, (0.3, 0.8))]
            for it in (False, True)
        ]
        rows.append(
            [
                str(n_people),
                str(len(found)),
                f"{100 * held.mean():.1f} ({100 * (held >= GOOD).mean():.0f})",
                f"{100 * alone.mean():.1f} ({100 * (alone >= GOOD).mean():.0f}; "
                f"lowest {100 * alone.min():.0f})",
                f"{100 * widths.mean():.0f}",
                *(f"{np.mean(some):.3f} ({np.quantile(some, 0.95):.3f})" for some in wrong),
            ]
        )
        everything += found
    good = np.mean([one[0] >= GOOD for one in everything])
    said = (
        f"The 95 % interval holds the truth in 93 % or more of {n_runs:,} simulated studies in "
        f"**{100 * good:.1f} %** of {len(everything):,} designs. Cells: mean coverage in per cent, in "
        "brackets the share of designs with 93 % or more; of false findings at the level 0.05 the mean, in "
        "brackets the 95th percentile."
    )
    worst = sorted(everything, key=lambda one: one[0])[:8]
    return (
        said,
        rows,
        [
            [
                str(c.n_people),
                str(c.n_items),
                str(c.each),
                c.answered,
                f"{100 * c.share:g} %",
                f"{c.variances[0]:g}, {c.variances[1]:g}",
                f"{100 * held:.1f}",
            ]
            for held, *_, c in worst
        ],
    )
