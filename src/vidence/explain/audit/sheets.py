"""The tables of an audit without models: the set, its key, rules that beat guessing, suspects."""

import statistics
from collections import Counter
from collections.abc import Sequence

from vidence.explain.audit.audit import ItemAudit
from vidence.explain.audit.key import Key, choice_items
from vidence.explain.audit.reasons import KINDS, SEVERITIES, Suspect
from vidence.tables.table import Column, Row, Table, Value
from vidence.text import scripts

MOST_SUSPECTS = 200
_LISTED_GROUPS = 50


def set_sheet(audit: ItemAudit) -> Table:
    """How many there are of everything."""
    items = audit.items
    videos = Counter(item.video_id for item in items)
    sizes = Counter(len(item.choices) for item in choice_items(items))
    written = Counter(_main_script(item.question) for item in items)
    lines: list[tuple[str, str, Value]] = [
        ("questions", "questions", len(items)),
        ("unusable", "lines left out as unusable", len(audit.problems)),
        ("videos", "videos", len(videos)),
        ("per-video", "questions per video, mean", len(items) / len(videos)),
        ("most", "questions about one video at most", max(videos.values())),
        ("open", "open questions", sum(item.answer_kind == "text" for item in items)),
        ("choices", "questions by number of choices", _counts(sizes)),
        ("evidence", "questions with evidence", sum(bool(item.evidence) for item in items)),
        ("words", "words of a question, median", statistics.median(len(i.question.split()) for i in items)),
        ("scripts", "questions by script", _counts(written)),
        ("missing", "questions whose media are not there", len(audit.missing)),
        ("repeats", "exact repeats of an earlier question", len(audit.twins.repeats)),
        ("groups", "groups of (nearly) equal questions, whatever the video", len(audit.twins.groups)),
    ]
    return Table(
        name="set",
        title="The set",
        label="",
        columns=(Column(key="value", title="value"),),
        rows=tuple(Row(key=key, label=label, values=(value,)) for key, label, value in lines),
        note=" ".join(f"{note[0].upper()}{note[1:]}." for note in audit.notes),
    )


def _counts(counts: Counter[int] | Counter[str]) -> str:
    return ", ".join(f"{name}: {n:,}" for name, n in sorted(counts.items(), key=lambda c: -c[1])) or "none"


def _main_script(text: str) -> str:
    counts = Counter(name for character in text for name in scripts(character))
    return counts.most_common(1)[0][0].capitalize() if counts else "none"


def letters_sheet(key: Key) -> Table:
    """How often each letter is right."""
    balance = key.balance
    return Table(
        name="letters",
        title="Where the right answers stand",
        label="letter",
        columns=(
            Column(key="right", title="right"),
            Column(key="share", title="share", kind="share"),
            Column(key="expected", title="if balanced", kind="share"),
        ),
        rows=tuple(
            Row(key=letter, label=letter, values=(right, right / key.n, expected / key.n))
            for letter, right, expected in zip(balance.letters, balance.right, balance.expected, strict=True)
        ),
        note=f"p = {balance.p_value:.2g} ({balance.method}). Shuffled choices undo an unbalanced key.",
    )


def rules_sheet(key: Key) -> Table:
    """What rules get that look at no video."""
    entries = []
    for rule in key.rules:
        values = (rule.n, rule.accuracy, rule.guessing if rule.n else None, rule.margin)
        entries.append(Row(key=rule.key, label=rule.title, values=values, detail=rule.meaning))
    return Table(
        name="rules",
        title="What rules get that look at no video",
        label="rule",
        columns=(
            Column(key="n", title="questions", note="of which the rule says something"),
            Column(key="accuracy", title="accuracy", kind="share"),
            Column(key="guessing", title="guessing", kind="share", note="on the same questions"),
            Column(key="margin", title="above guessing", kind="share"),
        ),
        rows=tuple(entries),
        note="Intervals are by video and not adjusted for the number of rules. The best letter is chosen on "
        "these very questions, so that it is above guessing by its making.",
    )


def reasons_sheet(suspects: Sequence[Suspect]) -> Table:
    """How many questions each kind of reason speaks against, by severity."""
    found = {(reason.kind, reason.severity, one.item_id) for one in suspects for reason in one.reasons}
    counts = Counter((kind, severity) for kind, severity, _ in found)
    by_kind = {kind: tuple(counts[kind, severity] for severity in SEVERITIES) for kind in KINDS}
    severe = "no single right answer, one that is given away, or evidence not shown"
    return Table(
        name="reasons",
        title="What speaks against questions",
        label="reason",
        columns=(
            Column(key="severe", title="severe", note=severe),
            Column(key="warning", title="warning", note="somebody should look"),
            Column(key="note", title="note", note="often harmless"),
        ),
        rows=tuple(
            Row(key=kind, label=KINDS[kind], values=values) for kind, values in by_kind.items() if any(values)
        ),
        note="Questions by reason; one question may have several. These checks look at texts: they find "
        "candidates for a person to look at, and cannot see a wrong answer.",
    )


def groups_sheet(audit: ItemAudit) -> Table:
    """The largest groups of questions that are equal or nearly so."""
    by_id = {item.item_id: item for item in audit.items}
    entries = []
    for group in sorted(audit.twins.groups, key=lambda group: -len(group))[:_LISTED_GROUPS]:
        label = " ".join(by_id[group[0]].question.split())[:160]
        values = (len(group), len({by_id[i].video_id for i in group}), ", ".join(group[:8]))
        entries.append(Row(key=group[0], label=label, values=values))
    return Table(
        name="groups",
        title="Questions that are asked again",
        label="the first of them",
        columns=(
            Column(key="n", title="questions"),
            Column(key="videos", title="videos"),
            Column(key="ids", title="ids"),
        ),
        rows=tuple(entries),
        note=f"{len(audit.twins.groups):,} groups; question and choices resemble each other by 0.8 or more.",
    )


def suspects_sheet(suspects: Sequence[Suspect]) -> Table:
    """The suspects but for those with nothing but notes, the worst first."""
    worth = [one for one in suspects if one.severity != "note"]
    entries = []
    for one in sorted(worth, key=lambda one: SEVERITIES.index(one.severity))[:MOST_SUSPECTS]:
        says = "; ".join(reason.says for reason in one.reasons if reason.severity != "note")
        entries.append(Row(key=one.item_id, label=one.item_id, values=(one.severity, says)))
    more = f"The first {len(entries):,} of {len(worth):,}. " if len(worth) > len(entries) else ""
    return Table(
        name="suspects",
        title="Suspicious questions",
        label="question",
        columns=(Column(key="severity", title="severity"), Column(key="reasons", title="reasons")),
        rows=tuple(entries),
        note=f"{more}All of them, with the notes, are in suspicious.jsonl and suspicious.csv.",
    )
