"""Results of gates on a question file, as tables and sentences."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from vidence.explain.audit.blind import BlindScore
from vidence.explain.audit.key import CHOICES, StructureFinding, structures_of
from vidence.make.gates.model_gates import GateVerdict
from vidence.make.gates.rules import ALL_TASKS, TextOnlyRules
from vidence.records import Item
from vidence.statistics.answer_keys import letter_balance
from vidence.tables.table import RowSpec, Table, count, lines, p_value, p_words, share, tabulate, words

_N_DRAWS: Final = 999
_MANY: Final = 10
_HALF: Final = 0.5


def luck_sentence(items: Sequence[Item], verdicts: Sequence[GateVerdict], rules: TextOnlyRules) -> str:
    """Compare the score of readers without a video with the guessing rate."""
    sizes = {item.item_id: len(item.choices) for item in items if item.answer_kind == "choice"}
    entries = [v for v in verdicts if v.votes and not v.n_unusable and v.item_id in sizes]
    if not entries:
        return "The readers without a video decided about no question with choices."
    n_found = sum(verdict.n_right >= rules.at_least for verdict in entries)
    expected = sum(rules.by_luck(sizes[verdict.item_id]) for verdict in entries)
    return (
        f"Of {len(entries):,} questions with choices that the readers without a video decided about, "
        f"{n_found:,} were answered as often as the rule wants; guessing answers {expected:.1f} so."
    )


def balance_tables(
    items: Sequence[Item], findings: Sequence[StructureFinding], *, seed: int
) -> tuple[Table, ...]:
    """Tabulate the best rule per structure, all rules, and the balance of letters."""
    groups = structures_of(items)
    return (
        tabulate(
            "balance",
            "What texts give away, by structure",
            label="structure",
            rows=lines((finding.name, finding) for finding in findings),
            measures=[
                count("n", lambda finding: finding.n, "questions"),
                count("sources", lambda finding: finding.n_clusters),
                words("rule", lambda finding: finding.worst.title if finding.worst else None, "best rule"),
                share("score", lambda finding: finding.worst.score if finding.worst else None),
                share("chance", lambda finding: finding.worst.chance if finding.worst else None),
                share(
                    "margin",
                    lambda finding: finding.worst.margin if finding.worst else None,
                    "above guessing",
                ),
                p_value("p", lambda finding: finding.p_value, "p, adjusted"),
                words("verdict", lambda finding: finding.verdict),
            ],
            notes=["The best rule of each structure; p is adjusted for all rules and structures."],
        ),
        tabulate(
            "rules",
            "Every rule on every structure",
            label="structure and rule",
            rows=_rule_lines(findings),
            measures=[
                count("n", lambda score: score.n, "questions that it says something of"),
                share("score", lambda score: score.score),
                share("chance", lambda score: score.chance),
                share("margin", lambda score: score.margin, "above guessing"),
                p_value("p", lambda score: score.p_value, "p, adjusted for rules"),
            ],
        ),
        tabulate(
            "letters",
            "How even the letters of right answers are, by structure",
            label="structure",
            rows=lines((name, _letters(some, seed=seed)) for name, some in groups.items()),
            measures=[
                count("n", lambda letters: letters.n, "questions"),
                words("letters", lambda letters: letters.counts),
                p_value("p", lambda letters: letters.p_value, "p of an even spread"),
            ],
        ),
    )


def _rule_lines(findings: Sequence[StructureFinding]) -> list[RowSpec[BlindScore]]:
    return [
        RowSpec(f"{finding.name} {kind} {score.key}", f"{finding.name}: {score.title}{_of(kind)}", score)
        for finding in findings
        for kind, test in finding.tests.items()
        for score in test.scores
    ]


def _of(kind: str) -> str:
    return "" if kind == CHOICES else f" of {kind}"


@dataclass(frozen=True, kw_only=True)
class _Letters:
    """How often each letter is right."""

    n: int
    counts: str
    p_value: float


def _letters(items: Sequence[Item], *, seed: int) -> _Letters:
    balance = letter_balance(
        [item.answer for item in items],
        n_choices=[len(item.choices) for item in items],
        rng=np.random.default_rng(seed),
        n_draws=_N_DRAWS,
    )
    counts = ", ".join(f"{letter} {n:,}" for letter, n in zip(balance.letters, balance.right, strict=True))
    return _Letters(n=len(items), counts=counts, p_value=balance.p_value)


def balance_warnings(findings: Sequence[StructureFinding]) -> tuple[str, ...]:
    """Return warnings about structures that a blind rule solves or one answer dominates."""
    warnings = [f"{entry.name}: {entry.says()}" for entry in findings if entry.verdict == "above"]
    for finding in findings:
        same = finding.same
        if same is not None and finding.n >= _MANY and same.n > _HALF * finding.n:
            warnings.append(
                f"{finding.name}: {same.text!r} is right in {same.n} of {finding.n} questions, "
                f"{same.expected:.1f} would be expected ({p_words(same.p_value)})"
            )
    return tuple(warnings)


def leaking(findings: Sequence[StructureFinding], hold: Sequence[str]) -> tuple[str, ...]:
    """Return a sentence on kept structures that leak; empty if `hold` covers them."""
    kept = [f.name for f in findings if f.verdict == "above" and not {f.name, ALL_TASKS} & {*hold}]
    leaking = f"Kept though texts give them away: {', '.join(kept)}; drop them (--hold) or say --allow-leaks."
    return (leaking,) if kept else ()
