"""The evidence-demand report card: an audit in one table, and the paragraphs of a datasheet."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from vidence.explain.audit import sheets
from vidence.explain.audit.audit import ItemAudit
from vidence.explain.audit.reasons import Reason, Suspect, count_severity
from vidence.explain.audit.rules import FEW, Rule
from vidence.explain.audit.sheets import Key, read_key
from vidence.records import Estimate
from vidence.report.item_asked import MODALITY, MRFS, PANEL, Asked
from vidence.tables.findings import Entry, Heading, Sheet, Statement, Value
from vidence.tables.format import has_interval, p_text, percent

Verdict = Literal["good", "look", "bad", "not known"]
# Where a report card stops saying "good": shares of questions. They are conventions, and ours.
LITTLE, MUCH = 0.02, 0.10
SMALL_P = 0.01
_REPEATS = frozenset({"repeat", "near-repeat", "contradiction"})
_CHOICES = frozenset({"identical-choices", "overlapping-choices", "refers-to-choices"})
_WORDS = frozenset({"garbled", "invisible", "placeholder", "mixed-script", "markup"})
_GIVEN = frozenset({"answer-in-question", "choices-in-question", "letter-in-question"})


@dataclass(frozen=True, kw_only=True)
class Card:
    """Everything that an audit has to say.

    `name` is what was audited, `n_asked` how many questions were put to models (0: none).
    """

    name: str
    audit: ItemAudit
    key: Key | None
    asked: Asked | None
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
        made += [sheets.reasons_sheet(self.suspects), sheets.suspects_sheet(self.suspects)]
        if self.audit.twins.groups:
            made.append(sheets.groups_sheet(self.audit))
        return (*made, sheets.set_sheet(self.audit))

    def sentences(self) -> tuple[str, ...]:
        """What was audited, in two or three sentences."""
        n = len(self.audit.items)
        n_videos = len({item.video_id for item in self.audit.items})
        made = [
            f"{n:,} questions about {n_videos:,} videos: {self.n_severe:,} with something severe, "
            f"{count_severity(self.suspects, 'warning'):,} with a warning, "
            f"{count_severity(self.suspects, 'note'):,} with a note."
        ]
        if self.asked is not None and self.asked.found:
            first = next(iter(self.asked.found.values()))
            made.append(f"{self.n_asked:,} of them were put to {first.plan.model}.")
            made += [sentence for one in self.asked.found.values() for sentence in one.sentences[1:]]
        else:
            made.append("No model was asked: nothing is known of what needs the video.")
        return tuple(made)


def make_card(name: str, audit: ItemAudit, *, asked: Asked | None, seed: int, level: float) -> Card:
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


@dataclass(frozen=True, kw_only=True)
class _Line:
    key: str
    title: str
    finding: str
    verdict: Verdict


def card_sheet(card: Card) -> Sheet:
    """One line for each question that a user of the set would ask."""
    lines = [*_asked_lines(card), *_key_lines(card), *_text_lines(card)]
    return Sheet(
        name="card",
        title="Evidence-demand report card",
        label="",
        headings=(Heading(key="verdict", title="verdict"), Heading(key="finding", title="finding")),
        entries=tuple(
            Entry(key=one.key, label=one.title, values=(one.verdict, one.finding)) for one in lines
        ),
        note=f"Verdicts are conventions: of rules and blind answers 'bad' from {100 * MUCH:.0f} points above "
        f"guessing (over {FEW} questions or more), of faulty questions from {100 * LITTLE:.0f} % of all; "
        f"'look' where there is anything. Intervals are at {100 * card.level:g} %.",
    )


def share_words(value: Value) -> str:
    """An estimate of a share in words: "31.5 % (28.0 to 35.1)"."""
    if isinstance(value, Estimate):
        low, high = percent(value.low), percent(value.high)
        has_width = has_interval(value) and low != high
        return f"{percent(value.value)} %" + (f" ({low} to {high})" if has_width else " (no interval)")
    return f"{percent(float(value))} %" if isinstance(value, int | float) else "not known"


def number_words(value: Value) -> str:
    """An estimate of a number in words: "3.41 (3.10 to 3.72)"."""
    if not isinstance(value, Estimate):
        return "not known"
    low, high = f"{value.low:.2f}", f"{value.high:.2f}"
    has_width = has_interval(value) and low != high
    return f"{value.value:.2f}" + (f" ({low} to {high})" if has_width else " (no interval)")


def _above(margin: Value) -> Verdict:
    """What a share above guessing means."""
    if not isinstance(margin, Estimate) or math.isnan(margin.value):
        return "not known"
    if margin.n >= FEW and margin.value >= MUCH and margin.low > 0:
        return "bad"
    return "look" if margin.low > 0 or margin.value >= MUCH else "good"


def _asked_lines(card: Card) -> list[_Line]:
    asked = card.asked or Asked(found={})
    blind = asked.value(PANEL, "blind-panel", at=("flagged", "share"))
    chance = asked.value(PANEL, "blind-panel", at=("flagged", "chance"))
    above = asked.value(PANEL, "blind-panel", at=("flagged", "above"))
    frame = asked.value(MODALITY, "solved", at=("one-frame-only", "share"))
    frame_chance = asked.value(MODALITY, "solved", at=("one-frame-only", "chance"))
    full = asked.value(MODALITY, "modality", at=("full", "accuracy"))
    demand = asked.value(MRFS, "mrfs", at=("all", "mean"))
    n_demand = asked.value(MRFS, "mrfs", at=("all", "n"))
    none = "not asked; give --model"
    lines = [
        _Line(
            key="blind",
            title="Can it be solved without the video?",
            finding=none
            if blind is None
            else f"{share_words(blind)} of the questions are; guessing would give {share_words(chance)}",
            verdict=_above(above),
        ),
        _Line(
            key="one-frame",
            title="... from one frame?",
            finding=none
            if frame is None
            else f"{share_words(frame)} are, and not from the words alone; guessing would give "
            f"{share_words(frame_chance)}",
            verdict=_frame_verdict(frame, frame_chance),
        ),
        _Line(
            key="demand",
            title="How many frames does it demand?",
            finding=none
            if n_demand is None
            else f"{number_words(demand)} on average (MRFS), of {n_demand:,} questions that need the video",
            verdict="not known"
            if not isinstance(demand, Estimate)
            else "good"
            if demand.value >= 2
            else "look",
        ),
    ]
    if full is not None:
        finding = f"{share_words(full)} with all frames that were shown"
        lines.append(
            _Line(key="full", title="Can it be solved at all?", finding=finding, verdict=_solved(full))
        )
    return lines


def _frame_verdict(share: Value, chance: Value) -> Verdict:
    if not isinstance(share, Estimate) or not isinstance(chance, float):
        return "not known"
    if share.value - chance >= 0.5:
        return "bad"
    return "look" if share.low > chance else "good"


def _solved(full: Value) -> Verdict:
    if not isinstance(full, Estimate):
        return "not known"
    return "look" if full.value >= 0.95 or full.value <= 0.05 else "good"


def _key_lines(card: Card) -> list[_Line]:
    key = card.key
    if key is None:
        return []
    best = max(range(len(key.balance.right)), key=lambda i: key.balance.right[i])
    share, expected = key.balance.right[best] / key.n, key.balance.expected[best] / key.n
    is_uneven = key.balance.p_value < SMALL_P
    return [
        _Line(
            key="letters",
            title="Are the right letters balanced?",
            finding=f"{key.balance.letters[best]} is right most often: {percent(share)} %, "
            f"{percent(expected)} % if balanced (p {p_words(key.balance.p_value)})",
            verdict="bad" if is_uneven and share - expected >= MUCH else "look" if is_uneven else "good",
        ),
        _rule_line(key.rule("longest"), key="longest", title="Is the longest choice right?"),
        _rule_line(key.rule("shortest"), key="shortest", title="... the shortest?"),
        _rule_line(key.rule("median"), key="median", title="... the middle number?"),
        _rule_line(
            key.rule("question-words"),
            key="question-words",
            title="... the one in the words of the question?",
        ),
        _rule_line(key.rule("popular"), key="popular", title="... the one that is right in other videos?"),
    ]


def p_words(p_value: float) -> str:
    """A p-value with its sign: "= 0.03", "< 0.001"."""
    text = p_text(p_value)
    return text if text.startswith("<") else f"= {text}"


def _rule_line(rule: Rule, *, key: str, title: str) -> _Line:
    if rule.accuracy is None:
        return _Line(key=key, title=title, finding="does not apply to any question", verdict="good")
    return _Line(
        key=key,
        title=title,
        finding=f"in {share_words(rule.accuracy)} of {rule.n:,} questions; guessing gets "
        f"{percent(rule.guessing)} %",
        verdict=_above(rule.margin),
    )


def _text_lines(card: Card) -> list[_Line]:
    made = [
        _fault_line(card, _REPEATS, key="repeats", title="Is anything asked twice about a video?"),
        _fault_line(card, _CHOICES, key="choices", title="Do choices break their questions?"),
        _fault_line(card, _GIVEN, key="given-away", title="Do questions give answers away?"),
        _fault_line(card, _WORDS, key="texts", title="Are the texts sound?"),
    ]
    if any(item.evidence for item in card.audit.items):
        kinds = frozenset({"evidence-outside", "no-evidence"})
        made.append(_fault_line(card, kinds, key="evidence", title="Is the evidence in the video?"))
    if card.audit.problems:
        n = len(card.audit.problems)
        finding = "1 line holds no usable question" if n == 1 else f"{n:,} lines hold no usable question"
        made.append(_Line(key="unusable", title="Can every line be used?", finding=finding, verdict="bad"))
    return made


def _fault_line(card: Card, kinds: frozenset[str], *, key: str, title: str) -> _Line:
    """How many questions have a warning or worse of these kinds."""
    n = len(card.audit.items)
    found = [_worst(one, kinds) for one in card.suspects]
    n_severe = sum(severity == "severe" for severity in found)
    n_warned = sum(severity in ("severe", "warning") for severity in found)
    n_noted = sum(severity == "note" for severity in found)
    verdict: Verdict = "bad" if n_warned > LITTLE * n else "look" if n_warned else "good"
    finding = (
        f"{n_warned:,} of {n:,} questions with a warning ({percent(n_warned / n)} %), {n_severe:,} of these "
        f"severe; {n_noted:,} with a note"
    )
    return _Line(key=key, title=title, finding=finding, verdict="bad" if n_severe else verdict)


def _worst(one: Suspect, kinds: frozenset[str]) -> str:
    reasons: Sequence[Reason] = [reason for reason in one.reasons if reason.kind in kinds]
    return reasons[0].severity if reasons else ""
