"""Which part of the video a score needs: text only, one frame, reordered frames, all frames."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated

import numpy as np
from msgspec import Meta

from vidence.contracts import Diagnostic, Examined, Flow, Subject, View
from vidence.explain.diagnostics.conditions import (
    Condition,
    Count,
    Examination,
    ReplyScore,
    ask_together,
    check_at_least,
    n_right,
    rng_of,
)
from vidence.explain.diagnostics.tables import (
    Figures,
    Flagged,
    SideBySide,
    chance_of,
    difference,
    flagged,
    guesses,
    holm,
    kinds,
    side_by_side,
)
from vidence.records import Estimate, Item, Record
from vidence.tables.charts import Statement
from vidence.tables.table import RowSpec, Table, several, share, tabulate

FULL, CENTRAL = "full", "central"
LABELS: Mapping[str, str] = {
    "full": "all frames",
    "text": "words alone",
    "central": "one central frame",
    "shuffled": "frames shuffled",
    "reversed": "frames reversed",
}
CONDITIONS = tuple(LABELS)


class Settings(Record):
    """Options of the diagnostic."""

    repeats: Annotated[Count, Meta(description="how often each condition is asked")] = 1
    at_least: Annotated[
        Count | None, Meta(description="how many repeats must be right to count as solved; otherwise all")
    ] = None
    seed: Annotated[int, Meta(ge=0, description="of the orders of the shuffled frames")] = 0

    def __post_init__(self) -> None:
        check_at_least(self.n_wanted, self.repeats, owner="modality")

    @property
    def n_wanted(self) -> int:
        """Return how many repeats must be right."""
        return self.repeats if self.at_least is None else self.at_least


class ModalityFinding(Record):
    """One question's scores under each of `CONDITIONS`.

    Source: HumanPCR, table 5.
    Departs: see `Modality`.
    """

    marks: dict[str, tuple[ReplyScore, ...]]
    """Scores of the repeats by condition."""
    n_frames: int
    """Number of frames; with fewer than two, the last two conditions equal the first."""
    solved: dict[str, bool | None]
    """Whether enough repeats are right, by condition; None if one has no score."""


def shuffled(n_frames: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Return a uniformly drawn order of frames other than time order; a single frame stays.

    >>> shuffled(2, np.random.default_rng(0))
    (1, 0)
    """
    in_time = tuple(range(n_frames))
    while n_frames > 1:
        shuffled = tuple(int(i) for i in rng.permutation(n_frames))
        if shuffled != in_time:
            return shuffled
    return in_time


class Modality(Examination[Settings]):
    """Each question as it is, without frames, with the central frame, and with its frames in other orders.

    All conditions of a question are asked together, `repeats` times each; every repeat draws an order of its
    own, from `seed` and the id of the question. A question counts as solved under a condition when at least
    `at_least` of the repeats are right.

    Source: HumanPCR, section 4.4 and table 5 (text, image and video; the image is the central frame).
    Departs: shuffled and reversed frames, repeats, intervals and what guessing gets are ours. The paper's
        central frame is taken as the one at the middle position; of several images it is the middle one.
    """

    name = "modality"
    version = 1
    finding: type[Record] = ModalityFinding

    def views(self, *, selector: str, n_frames: int) -> Mapping[str, View]:
        """Return the plan's frames, and the central one."""
        return {
            FULL: View(selector=selector, n_frames=n_frames),
            CENTRAL: View(selector="central", n_frames=1),
        }

    def most_asks(self, item: Item, *, n_frames: int) -> int:
        """Return conditions times repeats."""
        return len(CONDITIONS) * self.settings.repeats

    def examine(self, subject: Subject) -> Flow[ModalityFinding]:
        """Ask under every condition at once."""
        n_frames = subject.n_frames(FULL)
        conditions = [
            condition
            for repeat in range(self.settings.repeats)
            for condition in self._conditions(subject.item.item_id, n_frames, repeat=repeat)
        ]
        scores = yield from ask_together(subject, conditions)
        marks = {name: tuple(scores[i :: len(CONDITIONS)]) for i, name in enumerate(CONDITIONS)}
        return ModalityFinding(
            marks=marks,
            n_frames=n_frames,
            solved={
                name: None if any(m.value is None for m in some) else n_right(some) >= self.settings.n_wanted
                for name, some in marks.items()
            },
        )

    def _conditions(self, item_id: str, n_frames: int, *, repeat: int) -> list[Condition]:
        """Return the conditions in the order of `CONDITIONS`."""
        order = shuffled(n_frames, rng_of(self.settings.seed, repeat, item_id))
        full = partial(Condition, view=FULL, sample=repeat)
        conditions = {
            "full": full(),
            "text": full(positions=()),
            "central": Condition(view=CENTRAL, sample=repeat),
            "shuffled": full(positions=order),
            "reversed": full(positions=tuple(reversed(range(n_frames)))),
        }
        return [conditions[name] for name in CONDITIONS]

    def summarise(
        self, examined: Sequence[Examined], *, rng: np.random.Generator, level: float
    ) -> tuple[Statement, ...]:
        """Return scores and ratios by condition, and what is solved without the video."""
        figures = Figures(rng=rng, level=level)
        side = side_by_side(
            examined, ModalityFinding, lambda finding: finding.marks, conditions=CONDITIONS, figures=figures
        )
        return _headline(side), _flags(side, self.settings)


def create(settings: Settings) -> Diagnostic:
    """Create the diagnostic."""
    return Modality(settings)


# --------------------------------------------------------------------------- what all questions say

Found = SideBySide[ModalityFinding]


def _headline(side: Found) -> Table:
    less_full = side.differences({name: (name, FULL) for name in CONDITIONS[1:]})
    n_short = sum(finding.n_frames < 2 for finding in side.findings)
    short = (
        f"{several(n_short, 'question')} with fewer than two frames: no order of frames differs from another."
    )

    def ratio(name: str) -> Estimate | None:
        return side.ratio(side.values[name], side.values[FULL]) if name in less_full else None

    return tabulate(
        "modality",
        "What the score needs of the video",
        label="shown",
        rows=side.rows(CONDITIONS, LABELS),
        measures=(
            side.questions(),
            share("accuracy", side.accuracy),
            difference("difference", less_full, "less all frames"),
            share("ratio", ratio, "ratio to all frames", note="of the accuracies, paired"),
            holm(less_full),
            *kinds(side.marks),
        ),
        notes=(side.guessing_note(", whatever is shown"), short if n_short else "", side.left_out),
        figure="scores",
    )


@dataclass(frozen=True)
class Flag:
    """A property of a question, and the probability that guessing alone produces it.

    `chance` takes the chance of guessing one condition. `is_plain` is True where the flag is a single
    condition, so that what is known beyond guessing can be told.
    """

    key: str
    title: str
    is_so: Callable[[Mapping[str, bool | None]], bool | None]
    chance: Callable[[float], float] = float
    is_plain: bool = field(default=False, kw_only=True)


FLAGS = (
    Flag("without-video", "solved without video", lambda s: s["text"], is_plain=True),
    Flag("one-frame", "solved from one frame", lambda s: s["central"], is_plain=True),
    Flag(
        "one-frame-only",
        "solved from one frame, not without",
        lambda s: s["central"] and not s["text"],
        chance=lambda c: c * (1 - c),
    ),
    Flag(
        "needs-frames",
        "solved with all frames, not from one, not without",
        lambda s: s["full"] and not s["central"] and not s["text"],
        chance=lambda c: c * (1 - c) ** 2,
    ),
    Flag(
        "needs-order",
        "solved in order, neither shuffled nor reversed",
        lambda s: s["full"] and not s["shuffled"] and not s["reversed"],
        chance=lambda c: c * (1 - c) ** 2,
    ),
)


def _flags(side: Found, settings: Settings) -> Table:
    repeats, n_wanted = settings.repeats, settings.n_wanted

    def flags(flag: Flag) -> Flagged:
        is_so = np.array([flag.is_so(finding.solved) for finding in side.findings], np.float64)
        chances = guesses(side.items, lambda c: flag.chance(chance_of(n_wanted, repeats, c)))
        known = side.beyond_guessing(is_so, chances) if flag.is_plain else None
        return Flagged(is_so=is_so, chances=chances, beyond=known)

    repeated = (
        f"Solved: at least {n_wanted} of {repeats} repeats right. The chance is that of independent "
        "guesses in each repeat; a model that repeats its guesses is right more often."
    )
    known_note = "the share known, if the rest is guessed"
    return tabulate(
        "solved",
        "Questions that need less than the video",
        label="questions that are",
        rows=(RowSpec(flag.key, flag.title, flags(flag)) for flag in FLAGS if side.items),
        measures=(
            *flagged(side.mean, note="expected of guesses alone"),
            share("known", lambda row: row.beyond, "beyond guessing", note=known_note),
        ),
        notes=(repeated if repeats > 1 else "", "Open questions cannot be guessed: their chance is 0."),
        figure="shares",
    )
