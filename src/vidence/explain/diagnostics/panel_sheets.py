"""What the diagnostic `blind-panel` has to say: its findings, and the sheets over all questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

import numpy as np

from vidence.contracts import Examined
from vidence.explain.diagnostics._summary import by_tag
from vidence.explain.diagnostics.paired import (
    KINDS,
    QUESTIONS,
    Figures,
    Values,
    chance_of,
    count_kinds,
    guesses,
    note,
)
from vidence.explain.diagnostics.sitting import Mark
from vidence.records import Failed, Item, Record
from vidence.statistics.agreement import fleiss_kappa
from vidence.statistics.resampling import Resampling
from vidence.tables.findings import Entry, Heading, Sheet, Value

UNDER_TEST = "the model under test"
NOTHING_READ = "none"
_FEWEST_RATERS = 2


class Vote(Record, kw_only=True):
    """What one member of the panel answered in one run.

    `order` is the one in which the choices were shown (empty: the item's own); the letter in `mark` is in
    the item's own order.
    """

    member: str
    run: int
    order: tuple[int, ...]
    mark: Mark


class PanelFinding(Record, kw_only=True):
    """Who was right about one question in words alone.

    `is_flagged` is True where enough answers are right, None where one of them has no mark.

    Source: HERBench, section 7.6.
    Departs: the paper keeps no votes.
    """

    votes: tuple[Vote, ...]
    n_right: int
    is_flagged: bool | None


@dataclass(frozen=True, kw_only=True)
class Sheets:
    """The sheets over the questions of which every answer has a mark."""

    items: tuple[Item, ...]
    findings: tuple[PanelFinding, ...]
    left_out: str
    figures: Figures
    at_least: int
    n_votes: int

    @classmethod
    def of(cls, examined: Sequence[Examined], *, figures: Figures, at_least: int, n_votes: int) -> "Sheets":
        """Part the questions that can be counted from those that cannot."""
        pairs = [
            (one.item, cast("PanelFinding", one.finding))
            for one in examined
            if not isinstance(one.finding, Failed)
        ]
        good = [(item, finding) for item, finding in pairs if finding.is_flagged is not None]
        reasons = {
            "failed": len(examined) - len(pairs),
            "have an answer without a mark": len(pairs) - len(good),
        }
        said = [f"{n:,} {reason}" for reason, n in reasons.items() if n]
        return cls(
            items=tuple(item for item, _ in good),
            findings=tuple(finding for _, finding in good),
            left_out=f"Left out of every number: {', '.join(said)}." if said else "",
            figures=figures,
            at_least=at_least,
            n_votes=n_votes,
        )

    def all(self) -> tuple[Sheet, ...]:
        """The headline first."""
        sheets = [self._headline(), self._members()]
        if self.items and self.n_votes >= _FEWEST_RATERS:
            sheets.append(self._agreement())
        sheets += [self._tag(tag, values) for tag, values in by_tag(self.items).items()]
        return (*sheets, self._questions())

    def _rights(self) -> Values:
        return np.array([finding.n_right for finding in self.findings], np.float64)

    def _headline(self) -> Sheet:
        """A line for each number of right answers, the one that flags first."""
        wanted = [self.at_least, *(n for n in range(1, self.n_votes + 1) if n != self.at_least)]
        entries = []
        for n in wanted if self.items else ():
            reached = (self._rights() >= n).astype(np.float64)
            chances = guesses(self.items, partial(chance_of, n, self.n_votes))
            above = self.figures.gain(reached - chances, self.items)
            numbers: tuple[Value, ...] = (
                int(reached.sum()),
                self.figures.mean(reached, self.items),
                float(chances.mean()),
                above,
            )
            is_rule = n == self.at_least
            label = f"at least {n} of {self.n_votes} right" + (" (flagged)" if is_rule else "")
            entries.append(Entry(key="flagged" if is_rule else f"at-least-{n}", label=label, values=numbers))
        return Sheet(
            name="blind-panel",
            title="Questions that are answered without the video",
            label="answers",
            headings=(
                Heading(key="questions", title="questions"),
                Heading(key="share", title="share", is_share=True),
                Heading(
                    key="chance",
                    title="by guessing",
                    is_share=True,
                    note="expected if every answer is a guess of its own",
                ),
                Heading(key="above", title="above guessing", is_share=True),
            ),
            entries=tuple(entries),
            note=note(
                f"{len(self.items):,} questions.",
                "A model that guesses guesses alike when it is shown the same: for repeats in one order of "
                "choices, and for models that share a taste, the share by guessing is too low.",
                self.left_out,
            ),
        )

    def _members(self) -> Sheet:
        votes: dict[str, list[list[Mark]]] = {}
        for finding in self.findings:
            for member in dict.fromkeys(vote.member for vote in finding.votes):
                marks = [vote.mark for vote in finding.votes if vote.member == member]
                votes.setdefault(member, []).append(marks)
        entries = [
            Entry(key=member, label=member or UNDER_TEST, values=self._member(rows))
            for member, rows in votes.items()
        ]
        return Sheet(
            name="members",
            title="The members of the panel",
            label="model",
            headings=(
                QUESTIONS,
                Heading(key="accuracy", title="accuracy", is_share=True),
                Heading(key="chance", title="by guessing", is_share=True),
                *KINDS,
            ),
            entries=tuple(entries),
            note="Who declines to answer without a video is never right, and lets questions pass.",
        )

    def _member(self, rows: Sequence[Sequence[Mark]]) -> tuple[Value, ...]:
        shares = np.array([np.mean([mark.value for mark in row]) for row in rows], np.float64)
        chance = float(guesses(self.items, lambda c: c).mean())
        return (len(rows), self.figures.mean(shares, self.items), chance, *count_kinds(rows))

    def _agreement(self) -> Sheet:
        rights = [["right" if v.mark.value == 1.0 else "wrong" for v in f.votes] for f in self.findings]
        answers = [[v.mark.answer or NOTHING_READ for v in f.votes] for f in self.findings]
        videos = [item.video_id for item in self.items]
        entries = []
        for key, label, ratings in (
            ("right", "who is right", rights),
            ("answers", "which choice is named", answers),
        ):
            kappa = fleiss_kappa(
                ratings,
                clusters=videos,
                rng=self.figures.rng,
                settings=Resampling(level=self.figures.level),
            )
            alike = np.array([len(set(row)) == 1 for row in ratings], np.float64)
            numbers: tuple[Value, ...] = (kappa, self.figures.mean(alike, self.items))
            entries.append(Entry(key=key, label=label, values=numbers))
        return Sheet(
            name="agreement",
            title="How far the answers agree",
            label="agreement on",
            headings=(
                Heading(key="kappa", title="Fleiss' kappa", note="1: always; 0: as guesses would"),
                Heading(key="alike", title="all alike", is_share=True),
            ),
            entries=tuple(entries),
            note="Choices are compared as they are, not by the letter under which they were shown.",
        )

    def _tag(self, tag: str, values: Mapping[str, tuple[int, ...]]) -> Sheet:
        flagged = (self._rights() >= self.at_least).astype(np.float64)
        entries = []
        for value, positions in values.items():
            items = [self.items[i] for i in positions]
            some = flagged[list(positions)]
            chances = guesses(items, partial(chance_of, self.at_least, self.n_votes))
            numbers: tuple[Value, ...] = (
                len(items),
                int(some.sum()),
                self.figures.mean(some, items),
                float(chances.mean()),
            )
            entries.append(Entry(key=value, label=value, values=numbers))
        return Sheet(
            name=f"blind-panel:{tag}",
            title=f"Questions that are answered without the video, by {tag}",
            label=tag,
            headings=(
                QUESTIONS,
                Heading(key="flagged", title="flagged"),
                Heading(key="share", title="share", is_share=True),
                Heading(key="chance", title="by guessing", is_share=True),
            ),
            entries=tuple(entries),
        )

    def _questions(self) -> Sheet:
        entries = [
            Entry(
                key=item.item_id,
                label=item.item_id,
                values=(finding.n_right, ", ".join(_who(finding))),
            )
            for item, finding in zip(self.items, self.findings, strict=True)
            if finding.is_flagged
        ]
        return Sheet(
            name="questions",
            title="The flagged questions",
            label="question",
            headings=(Heading(key="right", title="right"), Heading(key="who", title="by whom")),
            entries=tuple(entries),
        )


def _who(finding: PanelFinding) -> list[str]:
    """The members that were right, with how often where they were asked several times."""
    right: dict[str, list[bool]] = {}
    for vote in finding.votes:
        right.setdefault(vote.member or UNDER_TEST, []).append(vote.mark.value == 1.0)
    return [
        f"{member} ({sum(runs)} of {len(runs)})" if len(runs) > 1 else member
        for member, runs in right.items()
        if any(runs)
    ]
