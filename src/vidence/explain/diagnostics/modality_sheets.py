"""What the diagnostic `modality` has to say: its findings, and the sheets over all questions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np

from vidence.explain.diagnostics._summary import by_tag
from vidence.explain.diagnostics.paired import (
    KINDS,
    P_HOLM,
    QUESTIONS,
    Conditions,
    Figures,
    Values,
    beyond_guessing,
    chance_of,
    count_kinds,
    guesses,
    holm,
    note,
)
from vidence.explain.diagnostics.sitting import Mark
from vidence.records import Item, Record
from vidence.tables.findings import Entry, Heading, Sheet, Value

CONDITIONS: tuple[str, ...] = ("full", "text", "central", "shuffled", "reversed")
LABELS: Mapping[str, str] = {
    "full": "all frames",
    "text": "words alone",
    "central": "one central frame",
    "shuffled": "frames shuffled",
    "reversed": "frames reversed",
}
ACCURACY = Heading(key="accuracy", title="accuracy", is_share=True)


class ModalityFinding(Record, kw_only=True):
    """What one question got under each condition.

    `marks` has one mark for each repeat, `solved` whether enough of them are right (None where one has no
    mark), both by condition: ``full``, ``text``, ``central``, ``shuffled``, ``reversed``. `n_frames` is how
    many frames all of them were; with fewer than two the last two conditions are the first.

    Source: HumanPCR, table 5.
    Departs: see `vidence.explain.diagnostics.modality.Modality`.
    """

    marks: dict[str, tuple[Mark, ...]]
    n_frames: int
    solved: dict[str, bool | None]


@dataclass(frozen=True, kw_only=True)
class Flag:
    """Something to know of a question: whether it is so, and how often guessing alone makes it so.

    `chance` takes the chance of guessing one condition. `is_plain` is True where the flag is a single
    condition, so that what is known beyond guessing can be told.
    """

    key: str
    title: str
    is_so: Callable[[Mapping[str, bool | None]], bool | None]
    chance: Callable[[float], float]
    is_plain: bool = False


FLAGS = (
    Flag(
        key="without-video",
        title="solved without video",
        is_so=lambda s: s["text"],
        chance=lambda c: c,
        is_plain=True,
    ),
    Flag(
        key="one-frame",
        title="solved from one frame",
        is_so=lambda s: s["central"],
        chance=lambda c: c,
        is_plain=True,
    ),
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


@dataclass(frozen=True, kw_only=True)
class Sheets:
    """The sheets over the questions that have a mark under every condition."""

    found: Conditions
    figures: Figures
    repeats: int
    at_least: int

    def all(self) -> tuple[Sheet, ...]:
        """The headline first."""
        return (self._headline(), self._flags(), *self._tags(), self._questions())

    def _headline(self) -> Sheet:
        values, items = self.found.values, self.found.items
        differences = {
            name: self.figures.difference(values[name], values["full"], items)
            for name in CONDITIONS[1:]
            if items
        }
        adjusted = holm({name: p for name, (_, p) in differences.items()})
        entries = []
        for name in CONDITIONS if items else ():
            is_control = name in differences
            numbers: tuple[Value, ...] = (
                len(items),
                self.figures.mean(values[name], items),
                differences[name][0] if is_control else None,
                self.figures.ratio(values[name], values["full"], items) if is_control else None,
                adjusted[name] if is_control else None,
                *count_kinds(self.found.marks[name]),
            )
            entries.append(Entry(key=name, label=LABELS[name], values=numbers))
        return Sheet(
            name="modality",
            title="What of the video the score needs",
            label="shown",
            headings=(
                QUESTIONS,
                ACCURACY,
                Heading(key="difference", title="less all frames", is_share=True, note="paired"),
                Heading(
                    key="ratio", title="ratio to all frames", is_share=True, note="of the accuracies, paired"
                ),
                P_HOLM,
                *KINDS,
            ),
            entries=tuple(entries),
            note=note(self._guessing_note(), self._short_note(), self.found.left_out),
        )

    def _guessing_note(self) -> str:
        if not self.found.items:
            return ""
        chance = float(guesses(self.found.items, lambda c: c).mean())
        return f"Guessing alone gets {100 * chance:.1f} %, whatever is shown."

    def _short_note(self) -> str:
        n_short = sum(cast("ModalityFinding", one).n_frames < 2 for one in self.found.findings)
        if not n_short:
            return ""
        return f"{n_short:,} questions have fewer than two frames: no order of frames differs from another."

    def _solved(self, flag: Flag) -> Values:
        rows = [cast("ModalityFinding", one).solved for one in self.found.findings]
        return np.array([flag.is_so(row) for row in rows], np.float64)

    def _chances(self, flag: Flag) -> Values:
        return guesses(self.found.items, lambda c: flag.chance(chance_of(self.at_least, self.repeats, c)))

    def _flags(self) -> Sheet:
        items, entries = self.found.items, []
        for flag in FLAGS if items else ():
            is_so, chances = self._solved(flag), self._chances(flag)
            known = beyond_guessing(is_so, chances, items, figures=self.figures) if flag.is_plain else None
            numbers: tuple[Value, ...] = (
                int(is_so.sum()),
                self.figures.mean(is_so, items),
                float(chances.mean()),
                known,
            )
            entries.append(Entry(key=flag.key, label=flag.title, values=numbers))
        repeated = ""
        if self.repeats > 1:
            repeated = (
                f"Solved: at least {self.at_least} of {self.repeats} repeats right. The chance is that of "
                "guesses drawn anew for each repeat; a model that guesses alike each time is right more "
                "often."
            )
        return Sheet(
            name="solved",
            title="Questions that need less than the video",
            label="questions that are",
            headings=(
                Heading(key="questions", title="questions"),
                Heading(key="share", title="share", is_share=True),
                Heading(key="chance", title="by guessing", is_share=True, note="expected of guesses alone"),
                Heading(
                    key="known",
                    title="beyond guessing",
                    is_share=True,
                    note="the share that is known if whoever does not know guesses",
                ),
            ),
            entries=tuple(entries),
            note=note(repeated, "Open questions cannot be guessed: their chance is 0."),
        )

    def _tags(self) -> list[Sheet]:
        return [self._tag(tag, values) for tag, values in by_tag(self.found.items).items()]

    def _tag(self, tag: str, values: Mapping[str, tuple[int, ...]]) -> Sheet:
        entries = []
        for value, positions in values.items():
            some = self.found.of(positions)
            full = some.values["full"]
            numbers: tuple[Value, ...] = (
                len(some.items),
                *(self.figures.mean(some.values[name], some.items) for name in CONDITIONS),
                self.figures.ratio(some.values["text"], full, some.items),
                self.figures.ratio(some.values["central"], full, some.items),
            )
            entries.append(Entry(key=value, label=value, values=numbers))
        return Sheet(
            name=f"modality:{tag}",
            title=f"What of the video the score needs, by {tag}",
            label=tag,
            headings=(
                QUESTIONS,
                *(Heading(key=name, title=LABELS[name], is_share=True) for name in CONDITIONS),
                Heading(key="text_ratio", title="words / all", is_share=True),
                Heading(key="central_ratio", title="one frame / all", is_share=True),
            ),
            entries=tuple(entries),
            note="No adjustment for the number of lines.",
        )

    def _questions(self) -> Sheet:
        items = self.found.items
        flagged = [self._solved(flag) for flag in SUSPICIOUS]
        entries = [
            _question(item, [column[i] > 0 for column in flagged])
            for i, item in enumerate(items)
            if any(column[i] > 0 for column in flagged)
        ]
        return Sheet(
            name="questions",
            title="The questions that are solved without video or from one frame",
            label="question",
            headings=tuple(Heading(key=flag.key, title=flag.title) for flag in SUSPICIOUS),
            entries=tuple(entries),
            note="Some of them were guessed: the sheet above says how many to expect.",
        )


def _question(item: Item, flags: list[bool]) -> Entry:
    values = tuple("yes" if flag else "no" for flag in flags)
    return Entry(key=item.item_id, label=item.item_id, values=values)
