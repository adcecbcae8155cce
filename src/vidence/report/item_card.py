"""The audit card of a set: ten checks in one table, their detailed tables, and its files."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec
import numpy as np

from vidence.explain.audit import sheets
from vidence.explain.audit.audit import ItemAudit
from vidence.explain.audit.blind import BlindScore
from vidence.explain.audit.key import FEW, Key, StructureFinding, beats_guessing, read_key
from vidence.explain.audit.reasons import Suspect, count_severity
from vidence.media.whole import own_folder, write_into
from vidence.statistics.answer_keys import LetterBalance
from vidence.statistics.paired import holm
from vidence.tables.charts import Statement
from vidence.tables.export import csv_text, statement_as_json
from vidence.tables.rendering import render
from vidence.tables.table import Column, Row, Table, p_words, percent, several

JSON_FORMAT = "vidence-item-audit/1"
PAGE, JSON = "audit.html", "audit.json"
SUSPECTS_JSONL, SUSPECTS_CSV = "suspicious.jsonl", "suspicious.csv"
Verdict: TypeAlias = Literal["good", "look", "bad", "not known"]
# Where a report card stops saying "good": shares of questions. They are conventions, and ours.
LITTLE, MUCH = 0.02, 0.10
SMALL_P = 0.01
# The checks by rules: the title, and the rules of which the best is shown.
_RULES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "length": ("Does length give answers away?", ("longest", "shortest", "popular-length")),
    "numbers": (
        "Does the size of numbers?",
        ("median", "smallest", "second-smallest", "second-largest", "largest", "popular-size"),
    ),
    "words": (
        "Do the words of choices and question?",
        ("question-words", "typical", "odd-one", "odd-words", "plain-words"),
    ),
    "popular": ("Do right answers of other videos?", ("popular", "popular-words")),
}
# The checks of single questions: the title, and the kinds of reasons that are counted.
_FAULTS: Final[Mapping[str, tuple[str, frozenset[str]]]] = {
    "repeats": (
        "Is anything asked twice about a video?",
        frozenset({"repeat", "near-repeat", "contradiction"}),
    ),
    "choices": (
        "Do choices break their questions?",
        frozenset(
            {"identical-choices", "overlapping-choices", "refers-to-choices", "odd-kind", "odd-length"}
        ),
    ),
    "given-away": (
        "Do questions hold their answers?",
        frozenset({"answer-in-question", "choices-in-question", "letter-in-question"}),
    ),
    "sound": (
        "Are lines, texts, media and evidence sound?",
        frozenset(
            {
                *("unusable", "garbled", "invisible", "placeholder", "mixed-script", "markup"),
                *("no-media", "missing-media", "evidence-outside", "no-evidence"),
            }
        ),
    ),
}


@dataclass(frozen=True, kw_only=True)
class Card:
    """The complete audit of the set `name`."""

    name: str
    audit: ItemAudit
    key: Key | None
    suspects: tuple[Suspect, ...]
    level: float

    @property
    def n_severe(self) -> int:
        """Return the number of questions and lines with severe findings."""
        return count_severity(self.suspects, "severe")

    def statements(self) -> tuple[Statement, ...]:
        """Return the card and the tables of the checks."""
        tables: list[Statement] = [card_sheet(self)]
        if self.key is not None:
            tables += [sheets.rules_sheet(self.key), sheets.letters_sheet(self.key)]
            tables.append(sheets.structures_sheet(self.key))
        return (*tables, sheets.reasons_sheet(self.suspects), sheets.suspects_sheet(self.suspects))

    def sentences(self) -> tuple[str, ...]:
        """Describe what was audited, with the loader's notes."""
        warned, noted = (count_severity(self.suspects, severity) for severity in ("warning", "note"))
        return (
            f"{several(len(self.audit.items), 'question')} about {several(self.audit.n_videos, 'video')}: "
            f"{self.n_severe:,} with something severe, {warned:,} with a warning, {noted:,} with a note.",
            *(f"{note[0].upper()}{note[1:]}." for note in self.audit.notes),
        )


def make_card(name: str, audit: ItemAudit, *, seed: int, level: float = 0.95) -> Card:
    """Test the answer key, and list suspects.

    Args:
        name: of the set.
        audit: the findings on single questions.
        seed: of the random tests.
        level: coverage of the intervals.
    """
    return Card(
        name=name,
        audit=audit,
        key=read_key(audit.items, rng=np.random.default_rng(seed), level=level),
        suspects=audit.suspects(),
        level=level,
    )


# --------------------------------------------------------------------------- the card


def card_sheet(card: Card) -> Table:
    """Return a table with a row per check; the last four need questions with choices."""
    return Table(
        name="card",
        title="Report card",
        label="",
        columns=(Column(key="verdict", title="verdict"), Column(key="finding", title="finding")),
        rows=(*_key_lines(card.key), *_fault_lines(card)),
        note=f"Verdicts are conventions: of rules 'bad' from {100 * MUCH:.0f} points above guessing (over "
        f"{FEW} questions or more), of faulty questions from {100 * LITTLE:.0f} % of all; 'look' where there "
        f"is anything. Intervals are at {100 * card.level:g} % for all rules at once.",
    )


def _line(key: str, title: str, values: tuple[Verdict, str]) -> Row:
    return Row(key=key, label=title, values=values)


def _key_lines(key: Key | None) -> Iterator[Row]:
    if key is None:
        return
    yield _line("letters", "Are the right letters balanced?", _letters(key.balance, key.n))
    for name, (title, rules) in _RULES.items():
        some = [rule for rule in key.rules if rule.key in rules]
        yield _line(name, title, _rule(max(some, key=_evidence, default=None)))
    yield _line("forms", "Do texts alone solve a form of question?", _forms(key.structures))


def _letters(balance: LetterBalance, n: int) -> tuple[Verdict, str]:
    best = max(range(len(balance.right)), key=lambda i: balance.right[i])
    share, expected = balance.right[best] / n, balance.expected[best] / n
    verdict: Verdict = "good"
    if balance.p_value < SMALL_P:
        verdict = "bad" if share - expected >= MUCH else "look"
    return verdict, (
        f"{balance.letters[best]} is right most often: {percent(share)} %, {percent(expected)} % if balanced "
        f"(p {p_words(balance.p_value)})"
    )


def _evidence(rule: BlindScore) -> tuple[bool, float]:
    """Sort key: rules with enough questions first, then by evidence of being above chance."""
    return rule.n >= FEW, -math.inf if math.isnan(rule.margin.low) else rule.margin.low


def _rule(rule: BlindScore | None) -> tuple[Verdict, str]:
    if rule is None:
        return "good", "no rule applies to any question"
    margin = rule.margin
    verdict: Verdict = "good"
    if rule.n < FEW or math.isnan(margin.low):
        verdict = "not known"
    elif beats_guessing(rule):
        verdict = "bad" if margin.value >= MUCH else "look"
    interval = "no interval" if math.isnan(margin.low) else f"{percent(margin.low)} to {percent(margin.high)}"
    return verdict, (
        f"{rule.title}: {percent(rule.score)} % of {rule.n:,} questions, guessing {percent(rule.chance)} %; "
        f"{percent(margin.value)} points above it ({interval})"
    )


def _forms(structures: Sequence[StructureFinding]) -> tuple[Verdict, str]:
    n = len(structures)
    above = sorted(
        (structure for structure in structures if structure.verdict == "above"),
        key=lambda entry: entry.p_value,
    )
    n_untold = sum(structure.verdict == "untold" for structure in structures)
    finding = f"{len(above)} of {n} above guessing, {n_untold} cannot be told"
    if above:
        finding += f"; worst {above[0].name}: {above[0].says()}"
    adjusted = holm([1.0 if s.same is None else s.same.p_value for s in structures]) if n else ()
    p, worst = min(zip(adjusted, structures, strict=True), key=lambda pair: pair[0], default=(1.0, None))
    is_same = worst is not None and worst.same is not None and p < SMALL_P
    if worst is not None and worst.same is not None and is_same:
        finding += (
            f"; in {worst.name} “{worst.same.text[:60]}” is right in {worst.same.n} of {worst.n}, by "
            f"guessing in {worst.same.expected:.1f} (p {p_words(p)})"
        )
    is_clear = n_untold < n
    return "bad" if above else "look" if is_same else "good" if is_clear else "not known", finding


def _fault_lines(card: Card) -> Iterator[Row]:
    n = len(card.audit.items)
    for key, (title, kinds) in _FAULTS.items():
        worst = [next((r.severity for r in s.reasons if r.kind in kinds), "") for s in card.suspects]
        n_severe, n_noted = worst.count("severe"), worst.count("note")
        n_warned = n_severe + worst.count("warning")
        verdict: Verdict = "bad" if n_severe or n_warned > LITTLE * n else "look" if n_warned else "good"
        finding = (
            f"{n_warned:,} of {n:,} with a warning, {n_severe:,} of these severe; {n_noted:,} with a note"
        )
        yield _line(key, title, (verdict, finding))


# --------------------------------------------------------------------------- the files


def write_audit(card: Card, folder: Path, *, with_page: bool) -> tuple[Path, ...]:
    """Write an audit's files to a folder that is new, empty or from an earlier audit.

    Raises:
        UsageError: the folder contains other files.
        StoreError: the folder cannot be created, or a file cannot be written.
    """
    own_folder(folder, ".vidence-audit")
    contents: dict[str, str | bytes] = {
        JSON: audit_json(card),
        SUSPECTS_JSONL: b"".join(msgspec.json.encode(suspect) + b"\n" for suspect in card.suspects),
        SUSPECTS_CSV: suspects_csv(card.suspects),
    }
    if with_page:
        contents[PAGE] = audit_page(card)
    return write_into(folder, contents)


def audit_json(card: Card) -> bytes:
    """Return the complete audit as one JSON object."""
    whole = {
        "format": JSON_FORMAT,
        "name": card.name,
        "n_items": len(card.audit.items),
        "n_severe": card.n_severe,
        "sentences": card.sentences(),
        "problems": card.audit.problems,
        "notes": card.audit.notes,
        "statements": [statement_as_json(statement) for statement in card.statements()],
        "groups": card.audit.twins.groups,
        "suspects": card.suspects,
    }
    return msgspec.json.encode(whole) + b"\n"


def audit_page(card: Card) -> str:
    """Return the audit as one self-contained HTML file."""
    return render(
        "diagnosis.html.j2",
        eyebrow="vidence items audit",
        title=card.name,
        sentences=card.sentences(),
        statements=card.statements(),
        facts=(("Audit", {"set": card.name, "level": card.level}),),
    )


def suspects_csv(suspects: tuple[Suspect, ...]) -> str:
    """Return the suspects as CSV, one line per reason."""
    rows = [
        (
            suspect.item_id,
            suspect.video_id,
            reason.severity,
            reason.kind,
            reason.says,
            " ".join(reason.others),
        )
        for suspect in suspects
        for reason in suspect.reasons
    ]
    return csv_text([("item_id", "video_id", "severity", "kind", "reason", "others"), *rows])
