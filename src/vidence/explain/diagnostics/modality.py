"""What of the video a score needs: the words alone, one frame, the frames in another order, all of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np
from msgspec import Meta

from vidence.contracts import Diagnostic, Examined, Flow, Subject, View
from vidence.explain.diagnostics.conditions import (
    Condition,
    ReplyScore,
    SideBySide,
    Values,
    ask_together,
    check_at_least,
    n_right,
    rng_of,
    side_by_side,
)
from vidence.explain.diagnostics.tables import (
    Figures,
    Line,
    Measure,
    beyond_guessing,
    by_name,
    chance_of,
    difference,
    guesses,
    guessing_note,
    holm,
    kinds,
    lines,
    note,
    number,
    share,
    tabulate,
    tag_tables,
)
from vidence.records import Record
from vidence.tables.findings import Sheet, Statement, Value

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

    repeats: Annotated[int, Meta(ge=1, description="how often each condition is asked")] = 1
    at_least: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(description="how many repeats must be right for a question to count as solved; all without it"),
    ] = None
    seed: Annotated[int, Meta(ge=0, description="of the orders of the shuffled frames")] = 0

    def __post_init__(self) -> None:
        check_at_least(self.n_wanted, self.repeats, owner="modality")

    @property
    def n_wanted(self) -> int:
        """How many repeats must be right."""
        return self.repeats if self.at_least is None else self.at_least


class ModalityFinding(Record, kw_only=True):
    """What one question got under each of `CONDITIONS`.

    Source: HumanPCR, table 5.
    Departs: see `Modality`.
    """

    marks: dict[str, tuple[ReplyScore, ...]]
    """By condition one score for each repeat."""
    n_frames: int
    """How many frames all of them were; with fewer than two the last two conditions are the first."""
    solved: dict[str, bool | None]
    """By condition whether enough repeats are right; None where one has no score."""


def shuffled(n_frames: int, rng: np.random.Generator) -> tuple[int, ...]:
    """An order of so many frames that is not the order of time, all of them alike; one frame stays.

    >>> shuffled(2, np.random.default_rng(0))
    (1, 0)
    """
    in_time = tuple(range(n_frames))
    while n_frames > 1:
        found = tuple(int(i) for i in rng.permutation(n_frames))
        if found != in_time:
            return found
    return in_time


class Modality:
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

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def views(self, *, selector: str, n_frames: int) -> Mapping[str, View]:
        """The frames of the plan, and the central one."""
        return {
            FULL: View(selector=selector, n_frames=n_frames),
            CENTRAL: View(selector="central", n_frames=1),
        }

    def models(self) -> Mapping[str, str]:
        """No others."""
        return {}

    def examine(self, subject: Subject) -> Flow[ModalityFinding]:
        """Ask under every condition at once."""
        n_frames = subject.n_frames(FULL)
        conditions = [
            condition
            for repeat in range(self.settings.repeats)
            for condition in self._conditions(subject.item.item_id, n_frames, repeat=repeat)
        ]
        found = yield from ask_together(subject, conditions)
        marks = {name: tuple(found[i :: len(CONDITIONS)]) for i, name in enumerate(CONDITIONS)}
        return ModalityFinding(
            marks=marks,
            n_frames=n_frames,
            solved={
                name: None if any(m.value is None for m in some) else n_right(some) >= self.settings.n_wanted
                for name, some in marks.items()
            },
        )

    def _conditions(self, item_id: str, n_frames: int, *, repeat: int) -> list[Condition]:
        """One for each condition, in the order of `CONDITIONS`."""
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
        """Scores and ratios by condition, what is solved without the video, scores by tag, the questions."""
        found = side_by_side(examined, ModalityFinding, lambda one: one.marks, conditions=CONDITIONS)
        figures = Figures(rng=rng, level=level)
        return (
            _headline(found, figures),
            _flags(found, figures, self.settings),
            *_tags(found, figures),
            _questions(found),
        )


def create(settings: Settings) -> Diagnostic:
    """The diagnostic."""
    return Modality(settings)


# --------------------------------------------------------------------------- what all questions say

Found = SideBySide[ModalityFinding]


def _headline(found: Found, figures: Figures) -> Sheet:
    values, items, controls = found.values, found.items, CONDITIONS[1:]
    full = values[FULL]
    less_full = figures.differences({name: (values[name], full) for name in controls}, items)
    n_short = sum(one.n_frames < 2 for one in found.findings)
    short = f"{n_short:,} questions have fewer than two frames: no order of frames differs from another."
    return tabulate(
        "modality",
        "What of the video the score needs",
        label="shown",
        rows=by_name(CONDITIONS if items else (), LABELS),
        measures=(
            number("questions", "questions", lambda _: len(items)),
            share("accuracy", "accuracy", lambda name: figures.mean(values[name], items)),
            difference("difference", "less all frames", less_full),
            share(
                "ratio",
                "ratio to all frames",
                lambda name: figures.ratio(values[name], full, items) if name in controls else None,
                note="of the accuracies, paired",
            ),
            holm(less_full),
            *kinds(lambda name: found.marks[name]),
        ),
        note=note(guessing_note(items, ", whatever is shown"), short if n_short else "", found.left_out),
    )


@dataclass(frozen=True, kw_only=True)
class Flag:
    """Something to know of a question: whether it is so, and how often guessing alone makes it so.

    `chance` takes the chance of guessing one condition. `is_plain` is True where the flag is a single
    condition, so that what is known beyond guessing can be told.
    """

    key: str
    title: str
    is_so: Callable[[Mapping[str, bool | None]], bool | None]
    chance: Callable[[float], float] = float
    is_plain: bool = False

    def among(self, found: Found) -> Values:
        """1 for each question of which it is so."""
        return np.array([self.is_so(one.solved) for one in found.findings], np.float64)


FLAGS = (
    Flag(key="without-video", title="solved without video", is_so=lambda s: s["text"], is_plain=True),
    Flag(key="one-frame", title="solved from one frame", is_so=lambda s: s["central"], is_plain=True),
    Flag(
        key="one-frame-only",
        title="solved from one frame, not without",
        is_so=lambda s: s["central"] and not s["text"],
        chance=lambda c: c * (1 - c),
    ),
    Flag(
        key="needs-frames",
        title="solved with all frames, not from one, not without",
        is_so=lambda s: s["full"] and not s["central"] and not s["text"],
        chance=lambda c: c * (1 - c) ** 2,
    ),
    Flag(
        key="needs-order",
        title="solved in order, neither shuffled nor reversed",
        is_so=lambda s: s["full"] and not s["shuffled"] and not s["reversed"],
        chance=lambda c: c * (1 - c) ** 2,
    ),
)
SUSPICIOUS = FLAGS[:2]


def _flags(found: Found, figures: Figures, settings: Settings) -> Sheet:
    items, repeats, n_wanted = found.items, settings.repeats, settings.n_wanted

    def chances(flag: Flag) -> Values:
        return guesses(items, lambda c: flag.chance(chance_of(n_wanted, repeats, c)))

    def known(flag: Flag) -> Value:
        if not flag.is_plain:
            return None
        return beyond_guessing(flag.among(found), chances(flag), items, figures=figures)

    repeated = (
        f"Solved: at least {n_wanted} of {repeats} repeats right. The chance is that of guesses drawn anew "
        "for each repeat; a model that guesses alike each time is right more often."
    )
    return tabulate(
        "solved",
        "Questions that need less than the video",
        label="questions that are",
        rows=(Line(key=flag.key, label=flag.title, about=(flag, known(flag))) for flag in FLAGS if items),
        measures=(
            number("questions", "questions", lambda row: int(row[0].among(found).sum())),
            share("share", "share", lambda row: figures.mean(row[0].among(found), items)),
            share(
                "chance",
                "by guessing",
                lambda row: float(chances(row[0]).mean()),
                note="expected of guesses alone",
            ),
            share(
                "known",
                "beyond guessing",
                lambda row: row[1],
                note="the share that is known if whoever does not know guesses",
            ),
        ),
        note=note(repeated if repeats > 1 else "", "Open questions cannot be guessed: their chance is 0."),
    )


def _tags(found: Found, figures: Figures) -> list[Sheet]:
    def accuracy(name: str) -> Measure[Found]:
        return share(name, LABELS[name], lambda some: figures.mean(some.values[name], some.items))

    def ratio(name: str, title: str) -> Measure[Found]:
        return share(
            f"{name}_ratio",
            title,
            lambda some: figures.ratio(some.values[name], some.values[FULL], some.items),
        )

    measures = (
        number("questions", "questions", lambda some: len(some.items)),
        *map(accuracy, CONDITIONS),
        ratio("text", "words / all"),
        ratio("central", "one frame / all"),
    )
    return tag_tables(
        "modality:", "What of the video the score needs", found.items, about=found.of, measures=measures
    )


def _questions(found: Found) -> Sheet:
    def says(flag: Flag) -> Measure[Mapping[str, bool | None]]:
        return number(flag.key, flag.title, lambda solved: "yes" if flag.is_so(solved) else "no")

    solved = [(item.item_id, one.solved) for item, one in zip(found.items, found.findings, strict=True)]
    return tabulate(
        "questions",
        "The questions that are solved without video or from one frame",
        label="question",
        rows=lines((item_id, one) for item_id, one in solved if any(f.is_so(one) for f in SUSPICIOUS)),
        measures=tuple(map(says, SUSPICIOUS)),
        note="Some of them were guessed: the sheet above says how many to expect.",
    )
