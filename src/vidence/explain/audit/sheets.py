"""The tables of an audit: letters, rules, structures, reasons, suspects."""

from collections import Counter
from collections.abc import Sequence

from vidence.explain.audit.key import Key
from vidence.explain.audit.reasons import SEVERITIES, Suspect, kinds
from vidence.tables.table import RowSpec, Table, by_name, lines, number, share, tabulate

MOST_SUSPECTS = 200


def letters_sheet(key: Key) -> Table:
    """Return how often each letter is right."""
    balance = key.balance
    sheet = zip(balance.letters, balance.right, balance.expected, strict=True)
    return tabulate(
        "letters",
        "Letters of the right answers",
        label="letter",
        rows=(RowSpec(letter, letter, counts) for letter, *counts in sheet),
        measures=(
            number("right", lambda counts: counts[0]),
            share("share", lambda counts: counts[0] / key.n),
            share("expected", lambda counts: counts[1] / key.n, "if balanced"),
        ),
        notes=(f"p = {balance.p_value:.2g} ({balance.method}). Shuffled choices undo an unbalanced key.",),
        figure="shares",
    )


def rules_sheet(key: Key) -> Table:
    """Return the text-only rules, the furthest above guessing first."""
    return tabulate(
        "rules",
        "Rules that never see the video",
        label="rule",
        rows=(RowSpec(rule.key, rule.title, rule) for rule in key.rules),
        measures=(
            number("n", lambda rule: rule.n, "questions", note="of which the rule picks a choice"),
            share("accuracy", lambda rule: rule.score),
            share("guessing", lambda rule: rule.chance, note="on the same questions"),
            share("margin", lambda rule: rule.margin, "above guessing"),
        ),
        notes=("Intervals are by video, and adjusted for the number of rules.",),
        figure="scores",
    )


def structures_sheet(key: Key) -> Table:
    """Return what each structure gives away to readers of texts."""
    return tabulate(
        "structures",
        "What each question form gives away",
        label="structure",
        rows=(RowSpec(s.name, s.name, s, detail=s.says()) for s in key.structures),
        measures=(
            number("n", lambda finding: finding.n, "questions"),
            number(
                "rule",
                lambda finding: finding.worst.title if finding.worst else "none",
                "furthest above guessing",
            ),
            share("score", lambda f: f.worst.score if f.worst else None, note="of that rule"),
            share("guessing", lambda finding: finding.worst.chance if finding.worst else None),
            number("p", lambda finding: finding.p_value, note="adjusted for all rules and structures"),
            number("verdict", lambda finding: finding.verdict),
            number(
                "answer",
                lambda finding: finding.same.text if finding.same else "none",
                "most frequent answer",
            ),
            number("n-answer", lambda finding: finding.same.n if finding.same else None, "right"),
            number("expected", lambda f: f.same.expected if f.same else None, "by guessing"),
            number("p-answer", lambda f: f.same.p_value if f.same else None, "p of the answer"),
        ),
        notes=(
            "Rules see texts alone, or learn from questions about other sources. P-values are against keys "
            "in which any choice is right alike; 'above' also needs an interval by source above guessing. "
            "'untold': too few questions or sources.",
        ),
    )


def reasons_sheet(suspects: Sequence[Suspect]) -> Table:
    """Return how many questions each kind of reason concerns, by severity."""
    entries = {
        (reason.kind, reason.severity, suspect.item_id) for suspect in suspects for reason in suspect.reasons
    }
    counts = Counter((kind, severity) for kind, severity, _ in entries)
    severe = "no single right answer, one that is given away, or evidence not shown"
    return tabulate(
        "reasons",
        "Questions by problem",
        label="reason",
        rows=by_name((kind for kind in kinds() if any(counts[kind, name] for name in SEVERITIES)), kinds()),
        measures=(
            number("severe", lambda kind: counts[kind, "severe"], note=severe),
            number("warning", lambda kind: counts[kind, "warning"], note="a person should look"),
            number("note", lambda kind: counts[kind, "note"], note="often harmless"),
        ),
        notes=(
            "Questions by reason; one question may have several. These checks look at texts: they find "
            "candidates for a person to look at, and cannot see a wrong answer.",
        ),
        figure="counts",
    )


def suspects_sheet(suspects: Sequence[Suspect]) -> Table:
    """Return the suspects with more than notes, the worst first."""
    worth = [suspect for suspect in suspects if suspect.severity != "note"]
    listed = sorted(worth, key=lambda suspect: SEVERITIES.index(suspect.severity))[:MOST_SUSPECTS]

    def says(entry: Suspect) -> str:
        return "; ".join(reason.says for reason in entry.reasons if reason.severity != "note")

    return tabulate(
        "suspects",
        "Suspicious questions",
        label="question",
        rows=lines((suspect.item_id, suspect) for suspect in listed),
        measures=(number("severity", lambda suspect: suspect.severity), number("reasons", says)),
        notes=(
            f"The first {len(listed):,} of {len(worth):,}." if len(worth) > len(listed) else "",
            "All of them, with the notes, are in suspicious.jsonl and suspicious.csv.",
        ),
    )
