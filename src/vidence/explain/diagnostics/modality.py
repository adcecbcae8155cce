"""What of the video a score needs: the words alone, one frame, the frames in another order, all of it."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import cast

import numpy as np

from vidence.catalog import take_options
from vidence.contracts import Diagnostic, Examined, Flow, Subject, View
from vidence.explain.diagnostics import modality_sheets
from vidence.explain.diagnostics._settings import check_at_least
from vidence.explain.diagnostics.modality_sheets import CONDITIONS, ModalityFinding
from vidence.explain.diagnostics.paired import Figures, side_by_side
from vidence.explain.diagnostics.sitting import Mark, Sitting, n_right, sit
from vidence.option_readers import positive_whole, whole_from_zero
from vidence.records import Record
from vidence.tables.findings import Statement

FULL, CENTRAL = "full", "central"


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

    def __init__(self, *, repeats: int, at_least: int, seed: int) -> None:
        self.repeats = repeats
        self.at_least = at_least
        self.seed = seed

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
        sittings = [
            sitting
            for repeat in range(self.repeats)
            for sitting in self._sittings(subject.item.item_id, n_frames, repeat=repeat)
        ]
        found = yield from sit(subject, sittings)
        marks: dict[str, tuple[Mark, ...]] = {
            name: tuple(found[i :: len(CONDITIONS)]) for i, name in enumerate(CONDITIONS)
        }
        return ModalityFinding(
            marks=marks,
            n_frames=n_frames,
            solved={
                name: None if any(m.value is None for m in some) else n_right(some) >= self.at_least
                for name, some in marks.items()
            },
        )

    def _sittings(self, item_id: str, n_frames: int, *, repeat: int) -> list[Sitting]:
        """One for each condition, in the order of `CONDITIONS`."""
        key = hashlib.sha256(f"{self.seed}\n{repeat}\n{item_id}".encode()).digest()
        order = shuffled(n_frames, np.random.default_rng(int.from_bytes(key)))
        full = partial(Sitting, view=FULL, sample=repeat)
        sittings = {
            "full": full(),
            "text": full(positions=()),
            "central": Sitting(view=CENTRAL, sample=repeat),
            "shuffled": full(positions=order),
            "reversed": full(positions=tuple(reversed(range(n_frames)))),
        }
        return [sittings[name] for name in CONDITIONS]

    def summarise(
        self, examined: Sequence[Examined], *, rng: np.random.Generator, level: float
    ) -> tuple[Statement, ...]:
        """Scores and ratios by condition, what is solved without the video, scores by tag, the questions."""
        found = side_by_side(
            examined, lambda finding: cast("ModalityFinding", finding).marks, conditions=CONDITIONS
        )
        sheets = modality_sheets.Sheets(
            found=found,
            figures=Figures(rng=rng, level=level),
            repeats=self.repeats,
            at_least=self.at_least,
        )
        return sheets.all()


def create(options: Mapping[str, str]) -> Diagnostic:
    """The diagnostic.

    Options: `repeats` (1), how often each condition is asked; `at_least` (all of them), how many of these
    must be right for a question to count as solved; `seed` (0) of the shuffled orders.

    Raises:
        UsageError: an option that is not known or cannot be read, or `at_least` above `repeats`.
    """
    read = take_options(
        "modality",
        options,
        {
            "repeats": positive_whole,
            "at_least": positive_whole,
            "seed": whole_from_zero,
        },
    )
    numbers = cast("dict[str, int]", read)
    repeats = numbers.get("repeats", 1)
    at_least = numbers.get("at_least", repeats)
    check_at_least(at_least, repeats, owner="modality")
    return Modality(repeats=repeats, at_least=at_least, seed=numbers.get("seed", 0))
