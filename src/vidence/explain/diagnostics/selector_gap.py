"""Where a score is lost: on the way to the evidence, or with the evidence in sight."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import cast

import numpy as np

from vidence.ask.selection.evidence import located
from vidence.catalog import take_options
from vidence.contracts import Diagnostic, Examined, Flow, Subject, View
from vidence.errors import UsageError
from vidence.explain.diagnostics import gap_sheets
from vidence.explain.diagnostics.gap_sheets import ORACLE, PLAN, TEXT, GapFinding
from vidence.explain.diagnostics.paired import Figures
from vidence.explain.diagnostics.sitting import Sitting, sit
from vidence.option_readers import number_from_zero, one_of, words_apart, yes_or_no
from vidence.records import Item, Record
from vidence.tables.findings import Statement


def recall(item: Item, times_s: Sequence[float], *, slack_s: float = 0.0) -> float | None:
    """The share of the spans of evidence of which at least one frame is shown.

    Args:
        item: the question; evidence that lists frames without a span says no time and does not count.
        times_s: presentation times of the frames shown, in seconds from the first frame of the file.
        slack_s: how far outside a span ``[start_s, end_s)`` a frame still shows it, in seconds.

    Returns:
        None where no evidence has a time, or where there are several media, of which evidence does not say
        which one it is in.

    Source: what HERBench, section 5.1, calls evidence retrieval.
    Departs: the paper gives no number for it.

    >>> from vidence.records import Evidence
    >>> spans = (Evidence(start_s=1, end_s=2), Evidence(start_s=5, end_s=6))
    >>> recall(Item(item_id="q", question="?", answer="x", evidence=spans), [0.5, 1.5, 6.0])
    0.5
    """
    spans = [e for e in located(item) if e.start_s is not None or e.end_s is not None]
    if not spans or len(item.media) > 1:
        return None
    hits = [
        any(
            (e.start_s is None or e.start_s - slack_s <= t) and (e.end_s is None or t < e.end_s + slack_s)
            for t in times_s
        )
        for e in spans
    ]
    return sum(hits) / len(hits)


class SelectorGap:
    """Each question with the frames of the plan, of every selector, and of the annotated evidence.

    All on the same questions with the same budget, asked together. With a(s) the accuracy on the frames of
    selector s, and a(o) that on the frames of the evidence::

        1 - a(s) = [a(o) - a(s)] + [1 - a(o)] = retrieval gap of s + fusion gap

    The retrieval gap is what the selector loses on the way to the evidence; it is below 0 where it finds
    better frames than the annotation. The fusion gap is what is lost with the evidence in sight: not put
    together, not recognised, not answered, or wrongly annotated. How often a question can be guessed, and how
    often the words alone are enough, stands beside them: both make either gap smaller than it is.

    Questions without evidence are refused, skipped, or filled: then the frames of the plan stand in for
    those of the evidence, as HERBench does in the tasks without curated frames, and their retrieval gap for
    the plan is 0.

    Source: HERBench, sections 5.1 and 8.2 and tables 3 and 5 (selectors and oracle frames on the same
        questions; footnote 1 for the oracle frames, which are filled up to the budget).
    Departs: the paper prints accuracies and names the two deficits; the split into two terms, the pairing,
        the intervals, the p-values and the recall are ours. Means are over questions; the paper's 100
        questions of each task make that the same as its mean over tasks.
    """

    name = "selector-gap"
    version = 1
    finding: type[Record] = GapFinding

    def __init__(self, settings: gap_sheets.Settings) -> None:
        self.settings = settings

    def views(self, *, selector: str, n_frames: int) -> Mapping[str, View]:
        """The frames of the plan, of each selector and of the evidence, with one budget."""
        specs = {PLAN: self.settings.base or selector}
        specs |= {spec: spec for spec in self.settings.selectors}
        specs |= {ORACLE: self.settings.oracle}
        return {name: View(selector=spec, n_frames=n_frames) for name, spec in specs.items()}

    def models(self) -> Mapping[str, str]:
        """No others."""
        return {}

    def examine(self, subject: Subject) -> Flow[GapFinding]:
        """Ask with all frames at once, or not at all where there is no evidence and that is to be skipped."""
        item, settings = subject.item, self.settings
        n_pieces = len(located(item))
        is_filled = not n_pieces and settings.missing == "fill"
        if not n_pieces and settings.missing == "skip":
            return GapFinding(marks={}, recall={}, n_frames={}, n_pieces=0)
        shown = {name: name for name in settings.shown}
        if is_filled:
            shown[ORACLE] = PLAN
        sittings = {name: Sitting(view=view) for name, view in shown.items()}
        if settings.is_blind:
            sittings[TEXT] = Sitting(view=PLAN, positions=())
        marks = yield from sit(subject, list(sittings.values()))
        return GapFinding(
            marks={name: (mark,) for name, mark in zip(sittings, marks, strict=True)},
            recall={
                name: recall(item, subject.times_s(view), slack_s=settings.slack_s)
                for name, view in shown.items()
            },
            n_frames={name: subject.n_frames(view) for name, view in shown.items()},
            n_pieces=n_pieces,
            is_filled=is_filled,
        )

    def summarise(
        self, examined: Sequence[Examined], *, rng: np.random.Generator, level: float
    ) -> tuple[Statement, ...]:
        """Both gaps of each selector; where questions are lost; how much evidence is found; by tag."""
        sheets = gap_sheets.Sheets.of(examined, settings=self.settings, figures=Figures(rng=rng, level=level))
        return sheets.all()


_KNOWN: Mapping[str, Callable[[str], object]] = MappingProxyType(
    {
        "selectors": words_apart,
        "base": str,
        "oracle": str,
        "missing": one_of("refuse", "skip", "fill"),
        "blind": yes_or_no,
        "slack_s": number_from_zero,
    }
)


def create(options: Mapping[str, str]) -> Diagnostic:
    """The diagnostic.

    Options: `selectors`, specs split by ``|`` (none: the plan's frames alone are compared with the evidence);
    `base`, a selector in place of the plan's; `oracle`, the selector of the evidence (``evidence``, which
    fills up to the budget; ``oracle`` or ``evidence:only`` show the evidence alone); `missing`, what becomes
    of questions without evidence (``refuse``, ``skip`` or ``fill``); `blind` (``yes``), whether the words
    alone are asked too; `slack_s` (0), how far from a span of evidence a frame still shows it.

    Raises:
        UsageError: an option that is not known or cannot be read, or a selector with a name of ours.
    """
    given = take_options("selector-gap", options, _KNOWN)
    selectors = cast("tuple[str, ...]", given.get("selectors", ()))
    taken = {PLAN, TEXT, ORACLE}.intersection(selectors)
    if taken:
        raise UsageError(
            f"selector-gap: {taken.pop()!r} is shown anyway; expected specs of selectors, such as "
            "selectors=aks:clip:WEIGHTS|bolt:clip:WEIGHTS"
        )
    return SelectorGap(
        gap_sheets.Settings(
            selectors=selectors,
            base=cast("str", given.get("base", "")),
            oracle=cast("str", given.get("oracle", "evidence")),
            missing=cast("str", given.get("missing", "refuse")),
            is_blind=cast("bool", given.get("blind", True)),
            slack_s=cast("float", given.get("slack_s", 0.0)),
        )
    )
