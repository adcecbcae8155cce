"""The evidence-demand report card: an audit in one table, and the paragraphs of a datasheet."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from vidence.explain.audit import sheets
from vidence.explain.audit.audit import ItemAudit
from vidence.explain.audit.key import FEW, Key, read_key
from vidence.explain.audit.reasons import Suspect, count_severity
from vidence.explain.audit.structures import StructureFinding
from vidence.records import Estimate
from vidence.report.item_diagnoses import MODALITY, MRFS, PANEL, ItemDiagnoses
from vidence.statistics.paired import holm
from vidence.tables.charts import Statement
from vidence.tables.table import Column, Row, Table, Value, has_interval, p_words, percent

Verdict = Literal["good", "look", "bad", "not known"]
# Where a report card stops saying "good": shares of questions. They are conventions, and ours.
LITTLE, MUCH = 0.02, 0.10
SMALL_P = 0.01
# The lines of the card about rules, by their keys.
_RULES: Mapping[str, str] = {
    "longest": "Is the longest choice right?",
    "shortest": "... the shortest?",
    "median": "... the middle number or range?",
    "smallest": "... the smallest number or range?",
    "second-smallest": "... the second smallest?",
    "second-largest": "... the second largest?",
    "largest": "... the largest?",
    "question-words": "... the one in the words of the question?",
    "popular": "... the one that is right in other videos?",
    "typical": "... the one most like the others?",
    "odd-words": "... the one with the oddest words?",
    "popular-words": "... the one in words of right answers elsewhere?",
    "popular-size": "... the rank by size that is right elsewhere?",
}
# The lines about faults of questions: the title, and the kinds of reasons that are counted.
_FAULTS: Mapping[str, tuple[str, frozenset[str]]] = {
    "repeats": (
        "Is anything asked twice about a video?",
        frozenset({"repeat", "near-repeat", "contradiction"}),
    ),
    "choices": (
        "Do choices break their questions?",
        frozenset({"identical-choices", "overlapping-choices", "refers-to-choices"}),
    ),
    "given-away": (
        "Do questions give answers away?",
        frozenset({"answer-in-question", "choices-in-question", "letter-in-question"}),
    ),
    "texts": (
        "Are the texts sound?",
        frozenset({"garbled", "invisible", "placeholder", "mixed-script", "markup"}),
    ),
    "evidence": ("Is the evidence in the video?", frozenset({"evidence-outside", "no-evidence"})),
}


@dataclass(frozen=True, kw_only=True)
class Card:
    """Everything that an audit has to say.

    `name` is what was audited, `n_asked` how many questions were put to models (0: none).
    """

    name: str
    audit: ItemAudit
    key: Key | None
    asked: ItemDiagnoses | None
    suspects: tuple[Suspect, ...]
    level: float

    @property
    def n_asked(self) -> int:
        """How many questions were put to models."""
        if self.asked is None or not self.asked.found:
            return 0
        return max(len(one.examined) for one in self.asked.found.values())

    @property
    def n_severe(self) -> int:
        """How many questions and lines have something severe against them."""
        return count_severity(self.suspects, "severe")

    def statements(self) -> tuple[Statement, ...]:
        """The card, what models found, and the tables of the checks."""
        made: list[Statement] = [card_sheet(self)]
        if self.asked is not None:
            made += self.asked.statements()
        if self.key is not None:
            made += [sheets.rules_sheet(self.key), sheets.letters_sheet(self.key)]
            made.append(sheets.structures_sheet(self.key))
        made += [sheets.reasons_sheet(self.suspects), sheets.suspects_sheet(self.suspects)]
        if self.audit.twins.groups:
            made.append(sheets.groups_sheet(self.audit))
        return (*made, sheets.set_sheet(self.audit))

    def sentences(self) -> tuple[str, ...]:
        """What was audited, in two or three sentences."""
        n = len(self.audit.items)
        made = [
            f"{n:,} questions about {self.audit.n_videos:,} videos: {self.n_severe:,} with something severe, "
            f"{count_severity(self.suspects, 'warning'):,} with a warning, "
            f"{count_severity(self.suspects, 'note'):,} with a note."
        ]
        if self.asked is not None and self.asked.found:
            first = next(iter(self.asked.found.values()))
            made.append(f"{self.n_asked:,} of them were put to {first.plan.model}.")
            said = (sentence for one in self.asked.found.values() for sentence in one.sentences[1:])
            made += dict.fromkeys(said)
        else:
            made.append("No model was asked: nothing is known of what needs the video.")
        return tuple(made)


def make_card(name: str, audit: ItemAudit, *, asked: ItemDiagnoses | None, seed: int, level: float) -> Card:
    """Put together what the checks and the models found.

    Args:
        name: what was audited.
        audit: what the checks found.
        asked: what models found; None where none was asked.
        seed: where the draws of intervals and tests come from.
        level: coverage of the intervals.
    """
    return Card(
        name=name,
        audit=audit,
        key=read_key(audit.items, rng=np.random.default_rng(seed), level=level),
        asked=asked,
        suspects=audit.suspects(asked.reasons() if asked is not None else None),
        level=level,
    )


# --------------------------------------------------------------------------- the card


def card_sheet(card: Card) -> Table:
    """One line for each question that a user of the set would ask."""
    return Table(
        name="card",
        title="Evidence-demand report card",
        label="",
        columns=(Column(key="verdict", title="verdict"), Column(key="finding", title="finding")),
        rows=(
            *_asked_lines(card.asked or ItemDiagnoses(found={})),
            *_key_lines(card.key),
            *_text_lines(card),
        ),
        note=f"Verdicts are conventions: of rules and blind answers 'bad' from {100 * MUCH:.0f} points above "
        f"guessing (over {FEW} questions or more), of faulty questions from {100 * LITTLE:.0f} % of all; "
        f"'look' where there is anything. Intervals are at {100 * card.level:g} %.",
    )


def _line(key: str, title: str, values: tuple[Verdict, str]) -> Row:
    return Row(key=key, label=title, values=values)


def share_words(value: Value) -> str:
    """An estimate of a share in words: "31.5 % (28.0 to 35.1)"."""
    if isinstance(value, Estimate):
        return f"{percent(value.value)} % {_interval(value, percent)}"
    return f"{percent(float(value))} %" if isinstance(value, int | float) else "not known"


def number_words(value: Value) -> str:
    """An estimate of a number in words: "3.41 (3.10 to 3.72)"."""
    return (
        f"{value.value:.2f} {_interval(value, '{:.2f}'.format)}"
        if isinstance(value, Estimate)
        else "not known"
    )


def _interval(estimate: Estimate, text: Callable[[float], str]) -> str:
    low, high = text(estimate.low), text(estimate.high)
    is_one = not has_interval(estimate) or low == high
    return f"({estimate.reason or 'no interval'})" if is_one else f"({low} to {high})"


def _above(margin: Value) -> Verdict:
    """What a share above guessing means: only what its interval shows is said, be the share what it may."""
    if not isinstance(margin, Estimate) or math.isnan(margin.low) or margin.n < FEW:
        return "not known"
    if margin.low > 0:
        return "bad" if margin.value >= MUCH else "look"
    return "good"


def _asked_lines(asked: ItemDiagnoses) -> Iterator[Row]:
    blind, chance, above = (
        asked.value(PANEL, "blind-panel", at=("flagged", key)) for key in ("share", "chance", "above")
    )
    frame, by_guess = (
        asked.value(MODALITY, "solved", at=("one-frame-only", key)) for key in ("share", "chance")
    )
    full = asked.value(MODALITY, "modality", at=("full", "accuracy"))
    demand, n_demand = (asked.value(MRFS, "mrfs", at=("all", key)) for key in ("mean", "n"))
    none = "not asked; give --model"
    finding = f"{share_words(blind)} of the questions are; guessing would give {share_words(chance)}"
    title = "Can it be solved without the video?"
    yield _line("blind", title, (_above(above), none if blind is None else finding))
    finding = f"{share_words(frame)} are, and not from the words alone; guessing would give "
    finding = none if frame is None else finding + share_words(by_guess)
    yield _line("one-frame", "... from one frame?", (_frame_verdict(frame, by_guess), finding))
    verdict: Verdict = "not known"
    if isinstance(demand, Estimate):
        verdict = "good" if demand.value >= 2 else "look"
    finding = none
    if n_demand is not None:
        finding = f"{number_words(demand)} on average (MRFS), of {n_demand:,} questions that need the video"
    yield _line("demand", "How many frames does it demand?", (verdict, finding))
    if full is not None:
        finding = f"{share_words(full)} with all frames that were shown"
        yield _line("full", "Can it be solved at all?", (_solved(full), finding))


def _frame_verdict(share: Value, chance: Value) -> Verdict:
    if not isinstance(share, Estimate) or not isinstance(chance, float):
        return "not known"
    if math.isnan(share.low):
        return "not known"
    if share.low > chance:
        return "bad" if share.value - chance >= 0.5 else "look"
    return "good"


def _solved(full: Value) -> Verdict:
    if not isinstance(full, Estimate):
        return "not known"
    return "look" if full.value >= 0.95 or full.value <= 0.05 else "good"


def _key_lines(key: Key | None) -> Iterator[Row]:
    if key is None:
        return
    balance = key.balance
    best = max(range(len(balance.right)), key=lambda i: balance.right[i])
    share, expected = balance.right[best] / key.n, balance.expected[best] / key.n
    verdict: Verdict = "good"
    if balance.p_value < SMALL_P:
        verdict = "bad" if share - expected >= MUCH else "look"
    finding = (
        f"{balance.letters[best]} is right most often: {percent(share)} %, "
        f"{percent(expected)} % if balanced (p {p_words(balance.p_value)})"
    )
    yield _line("letters", "Are the right letters balanced?", (verdict, finding))
    for name, title in _RULES.items():
        rule = key.rule(name)
        if rule.accuracy is None:
            yield _line(name, title, ("good", "does not apply to any question"))
            continue
        finding = f"in {share_words(rule.accuracy)} of {rule.n:,} questions; guessing gets "
        yield _line(name, title, (_above(rule.margin), f"{finding}{percent(rule.guessing)} %"))
    if key.structures:
        yield from _structure_lines(key.structures)


def _structure_lines(structures: Sequence[StructureFinding]) -> Iterator[Row]:
    n = len(structures)
    above = sorted((one for one in structures if one.verdict == "above"), key=lambda one: one.p_value)
    told = sum(one.verdict != "untold" for one in structures)
    verdict: Verdict = "bad" if above else "good" if told else "not known"
    finding = f"{len(above)} of {n} above guessing, {n - told} cannot be told"
    if above:
        finding += f"; worst {above[0].name}: {above[0].says()}"
    yield _line("blind-structures", "Do texts alone solve a form of question?", (verdict, finding))
    adjusted = holm([1.0 if one.same is None else one.same.p_value for one in structures])
    found = [(p, one) for p, one in zip(adjusted, structures, strict=True) if one.same is not None]
    same = sorted((p, i) for i, (p, one) in enumerate(found) if p < SMALL_P)
    finding = f"in {len(same)} of {n} forms of question one answer is right too often"
    if same:
        p, place = same[0]
        worst = found[place][1]
        if worst.same is not None:
            finding += (
                f"; {worst.name}: “{worst.same.text[:60]}” in {worst.same.n} of {worst.n}, by guessing in "
                f"{worst.same.expected:.1f} (p {p_words(p)})"
            )
    yield _line(
        "same-answer", "Is the same answer right within a form?", ("look" if same else "good", finding)
    )


def _text_lines(card: Card) -> Iterator[Row]:
    has_evidence = any(item.evidence for item in card.audit.items)
    n = len(card.audit.items)
    for key, (title, kinds) in _FAULTS.items():
        if key == "evidence" and not has_evidence:
            continue
        worst = [next((r.severity for r in one.reasons if r.kind in kinds), "") for one in card.suspects]
        n_severe, n_noted = worst.count("severe"), worst.count("note")
        n_warned = n_severe + worst.count("warning")
        verdict: Verdict = "bad" if n_severe or n_warned > LITTLE * n else "look" if n_warned else "good"
        finding = (
            f"{n_warned:,} of {n:,} questions with a warning ({percent(n_warned / n)} %), {n_severe:,} of "
            f"these severe; {n_noted:,} with a note"
        )
        yield _line(key, title, (verdict, finding))
    if n_lines := len(card.audit.problems):
        finding = "1 line holds" if n_lines == 1 else f"{n_lines:,} lines hold"
        yield _line("unusable", "Can every line be used?", ("bad", f"{finding} no usable question"))
