"""The reporting checklist for human baselines, filled in with what a study has recorded and nothing else."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from string import Formatter
from typing import Final

import numpy as np

from vidence.engine.specs import label as label_of
from vidence.installation import packaged
from vidence.records import Record
from vidence.report.results import SEED, Run
from vidence.report.scores import Draws
from vidence.study.problems import frames_run
from vidence.study.report import StudyOutcome, StudyReport, open_study, report_of
from vidence.study.study import Pay, Phase
from vidence.tables.latex import escaped
from vidence.tables.table import RowSpec, Table, percent, several, shown, tabulate, words

TO_FILL: Final = "for the authors to fill in"
_RECRUITED: Final = {
    "account": "with an account of the studio",
    "link": "by a link for one person",
    "recruiter": "by a recruiter's link for many",
    "file": "in a file of answers",
}
_SHOWN: Final = {
    "whole": "videos in a player",
    "once": "videos played once",
    "frames": "frames of the benchmark's protocol",
    "dots": "point lights",
    "none": "text alone",
}


class _Item(Record):
    """A checklist item: its requirement, how recorded values are worded, what is left to the authors."""

    asks: str
    says: str = ""
    left: str = ""


class Entry(Record, omit_defaults=True):
    """A checklist entry with its number in the checklist; `asks` is its requirement, paraphrased.

    `recorded` is what the study says of it, `left` what the authors have to add: all of it where nothing was
    recorded, and nothing where that is empty.
    """

    number: str
    asks: str
    recorded: str = ""
    left: str = ""

    @property
    def text(self) -> str:
        """The printed text of the entry."""
        return " ".join(filter(None, (self.recorded, self.left and f"[{self.left}]")))


def reported(
    folder: Path, *, models: Sequence[Path] = (), level: float = 0.95, with_published: bool = False
) -> tuple[StudyOutcome, StudyReport, tuple[Entry, ...]]:
    """A study with its report (which ends with a sentence about the checklist) and its checklist.

    Raises:
        VidenceError: as for `open_study` and `report_of`.
    """
    outcome = open_study(folder, models=models)
    draws = Draws(rng=np.random.default_rng(SEED), level=level)
    report = report_of(outcome, draws=draws, with_published=with_published)
    entries = checklist(outcome, report.tables)
    return outcome, replace(report, sentences=(*report.sentences, checklist_sentence(entries))), entries


def checklist(outcome: StudyOutcome, tables: Sequence[Table]) -> tuple[Entry, ...]:
    """Every item of the checklist, in order.

    Args:
        outcome: the study.
        tables: those of its report.

    Source: Wei and others (2025), arXiv 2506.13776, appendix "Human Baselines Checklist".
    Departs: items are in our words. What the paper answers with yes, partial or no is said with the numbers
        and texts that the study holds; the program assumes none of the paper's default answers.
    """
    parts = packaged("vidence.study", "checklist.toml", dict[str, dict[str, _Item]])
    known = {**_of_plan(outcome), **_of_people(outcome), **_of_models(outcome), **_of_tables(outcome, tables)}
    entries = []
    for number, item in (pair for part in parts.values() for pair in part.items()):
        named = [name for _, name, *_ in Formatter().parse(item.says) if name]
        is_known = bool(named) and all(known[name] for name in named)
        recorded = item.says.format_map(known) if is_known else ""
        left = item.left if recorded else TO_FILL
        entries.append(Entry(number=number, asks=item.asks, recorded=recorded, left=left))
    return tuple(entries)


def checklist_sentence(entries: Sequence[Entry]) -> str:
    """Summarize how many items the program could fill in."""
    n_left = sum(bool(entry.left) for entry in entries)
    return (
        f"Reporting checklist for human baselines (arXiv 2506.13776): {len(entries) - n_left} of "
        f"{len(entries)} items are filled in from what the study recorded; {n_left} are left, at least in "
        "part, to the authors."
    )


def checklist_table(entries: Sequence[Entry]) -> Table:
    """Return the checklist as a table, one row per item."""
    return tabulate(
        "checklist",
        "Reporting checklist",
        label="item",
        rows=[RowSpec(entry.number, f"{entry.number} {entry.asks}", entry) for entry in entries],
        measures=(words("text", lambda entry: entry.text, "this study"),),
        notes=("After arXiv 2506.13776, with its numbers. In brackets: what the authors must add.",),
    )


def checklist_latex(entries: Sequence[Entry]) -> str:
    """Format the checklist as plain LaTeX for an appendix."""
    lines = ["% Written by vidence, after the checklist of arXiv 2506.13776.", "\\begin{description}"]
    for entry in entries:
        left = f"\\textit{{{escaped(f'[{entry.left}]')}}}" if entry.left else ""
        latex = " ".join(filter(None, (escaped(" ".join(entry.recorded.split())), left)))
        lines.append(f"\\item[{entry.number}] {escaped(entry.asks)}: {latex}")
    return "\n".join([*lines, "\\end{description}", ""])


# --------------------------------------------------------------------------- what is known


def _of_plan(outcome: StudyOutcome) -> dict[str, str]:
    """Fill in items from study.toml and the draw; empty if they have no value."""
    study, drawn = outcome.file.study, outcome.drawn
    aids = _by_phase(outcome, lambda phase: phase.aids)
    practice, n_catch = study.practice, study.catch.n
    trials = several(practice.n, "trial")
    message = "with the right answer after each" if practice.tells else "without right answers"
    texts = ", ".join(field.title or field.name for field in study.form if field.kind == "text")
    rules = _rules(outcome)
    return {
        "modes": _by_phase(outcome, _mode),
        "n_items": several(len({stimulus.item_id for stimulus in drawn.asked}), "item"),
        "benchmark": drawn.benchmark,
        "draw": _draw(outcome),
        "limits": _by_phase(outcome, _limit),
        "practice": f"Yes: {trials} of practice before the data." if practice.n else "No practice trials.",
        "training": f"{trials} like those of the data, {message}." if practice.n else "",
        "paid": _paid(study.pay),
        "bonus": f"{study.pay.currency} {study.pay.per_right:g} a right answer"
        if study.pay.per_right
        else "",
        "wage": ", ".join(
            name for name in ("flat", "per_hour", "per_answer", "per_right") if getattr(study.pay, name)
        ),
        "catch": f"; {several(n_catch, 'catch trial')} in each phase" if n_catch else ".",
        "order": f"Yes, for each person and phase, with seed {study.draw.seed}."
        if study.order == "mixed"
        else "No: one order for all.",
        "checked": "Yes." if rules or n_catch else "No catch trials and no rules of exclusion.",
        "rules": rules,
        "since": "unchanged since the draw"
        if drawn.study_sha256 == outcome.file.sha256
        else "which was changed after the draw",
        "frames_of": ", ".join(dict.fromkeys(filter(None, (frames_run(p.condition) for p in study.phases)))),
        "aids": aids,
        "explained": f"Yes: {texts}." if texts else "No.",
        "instructions": " ".join(filter(None, (study.instructions.strip(), aids and f"Aids: {aids}"))),
    }


def _of_people(outcome: StudyOutcome) -> dict[str, str]:
    """Fill in items about participants: who took part, and how much each answered."""
    states, people = outcome.states, outcome.answers.participants
    began = [person for person in people if person.state in ("begun", "finished", "withdrawn")]
    n_began, recruited = len(began), Counter(_RECRUITED[person.recruited] for person in began)
    rules = Counter(rule for participant in outcome.excluded for rule in participant.excluded)
    why = f" ({', '.join(f'{rule}: {n}' for rule, n in rules.items())})" if rules else ""
    interfaces = {"sheets" if p.recruited == "file" else "pages in a browser" for p in outcome.kept}

    def time(phase: Phase) -> str:
        seconds = [response.seconds for response in outcome.timed(phase.name)]
        return f"median {median(seconds):.1f} s an answer" if seconds else ""

    def each(phase: Phase, noun: str) -> str:
        given = outcome.given(phase.name)
        counts = Counter(r.trial.item_id if noun == "answer" else r.participant for r in given)
        if phase.items == "all":  # what has no answer counts, too
            all_of = outcome.drawn.asked if noun == "answer" else outcome.kept
            counts.update({getattr(entry, "item_id" if noun == "answer" else "name"): 0 for entry in all_of})
        return _range(counts, noun)

    return {
        "n_kept": str(len(outcome.kept)),
        "n_began": str(n_began),
        "recruited": ", ".join(f"{n} {how}" for how, n in recruited.items()),
        "per_item": _by_phase(outcome, lambda phase: each(phase, "answer")),
        "per_person": _by_phase(outcome, lambda phase: each(phase, "item")),
        "left_out": f"{len(outcome.excluded)} of {n_began} people{why}." if _rules(outcome) else "",
        "interface": " or ".join(sorted(interfaces)),
        "time": _by_phase(outcome, time),
        "completion": f"Of {n_began} who began, {states['finished']} finished, {states['begun']} stopped, "
        f"{states['withdrawn']} withdrew; {states['declined']} declined before.",
    }


def _of_models(outcome: StudyOutcome) -> dict[str, str]:
    """Fill in items about models: which were asked, and under which conditions; empty without models."""
    ours = {item_id: item.question for item_id, item in outcome.items.items()}
    person = next(iter(outcome.runs.values()), None)
    is_crossed = any(len(run.people) > 1 for run in outcome.runs.values())
    both, alone = "people and videos as crossed random factors", "videos as clusters, for one person alone"
    factors = both if is_crossed else alone

    def of(function: Callable[[Run], str]) -> str:
        return "; ".join(f"{label_of(run.plan)}: {function(run)}" for run in outcome.models)

    def same(run: Run) -> str:
        asked = {row.item.item_id: row.item.question for row in run.rows}
        n = sum(ours.get(item_id) == question for item_id, question in asked.items())
        own = "put through this very study, " if run.facts.study_sha256 == outcome.file.sha256 else ""
        return (
            f"{own}the same words of {n} of {len(outcome.drawn.asked)} questions, {run.plan.protocol} prompts"
        )

    def alike(run: Run) -> str:
        names = ("parser", "text_parser", "judge", "judge_models")
        apart = [
            name for name in names if getattr(run.plan, name) != getattr(person and person.plan, name, None)
        ]
        return f"no, another {', '.join(apart)}" if apart else "yes"

    return {
        "models": ", ".join(label_of(run.plan) for run in outcome.models),
        "model_items": of(lambda run: str(len({row.item.item_id for row in run.rows}))),
        "model_repeats": of(lambda run: str(run.plan.repeats)),
        "model_words": of(same),
        "scored_alike": of(alike) if person else "",
        "vidence": person.facts.vidence if person else "",
        "interval": f"intervals with {factors}" if person else "",
        "factors": factors,
    }


def _of_tables(outcome: StudyOutcome, tables: Sequence[Table]) -> dict[str, str]:
    """Fill in items from report tables: differences from models, scores with and without exclusions."""
    by_name = {table.name: table for table in tables}

    def rows(name: str, function: Callable[[Table, str], str]) -> str:
        table = by_name.get(name)
        return "; ".join(f"{row.label}{function(table, row.key)}" for row in table.rows) if table else ""

    def gap(table: Table, key: str) -> str:
        cell = shown(table, key, "difference")
        return f" less {table.value(key, 'model')}: {cell.text} points ({cell.detail})"

    def both(table: Table, key: str) -> str:
        return (
            f": {shown(table, key, 'without').text} % without, {shown(table, key, 'with').text} % with them"
        )

    none = "No person was excluded." if _rules(outcome) and not outcome.excluded else ""
    return {"tested": rows("study-models", gap), "robust": rows("study-exclusions", both) or none}


def _by_phase(outcome: StudyOutcome, of: Callable[[Phase], str]) -> str:
    """Join the texts of phases that have one, with the name of the phase if there are several."""
    phases = outcome.file.study.phases
    entries = [(phase.title or phase.name, of(phase)) for phase in phases]
    return "; ".join(f"{name}: {text}" if len(phases) > 1 else text for name, text in entries if text)


def _range(counts: Counter[str], noun: str) -> str:
    some = sorted(counts.values())
    if not some:
        return ""
    return several(some[0], noun) if some[0] == some[-1] else f"{some[0]} to {some[-1]} {noun}s"


def _mode(phase: Phase) -> str:
    run = frames_run(phase.condition)
    return f"the frames that {run} was sent" if run else _SHOWN.get(phase.condition, phase.condition)


def _limit(phase: Phase) -> str:
    whole = f"{phase.limit_s / 60:g} minutes for the phase" if phase.limit_s else ""
    each = f"{phase.trial_limit_s:g} seconds an item" if phase.trial_limit_s else ""
    return ", ".join(filter(None, (whole, each))) or "no limit of time"


def _draw(outcome: StudyOutcome) -> str:
    draw = outcome.file.study.draw
    how = {"items": "of the set", "same": "that all runs answered", "wrong": "that runs answered wrong"}
    if draw.n is None:
        return f"All items {how[draw.of]}."
    each = f" of each value of {draw.by}" if draw.by else ""
    return f"{draw.n} items{each} {how[draw.of]}, at random with seed {draw.seed}."


def _paid(pay: Pay) -> str:
    amounts = {"flat": pay.flat, "an hour": pay.per_hour, "an answer": pay.per_answer}
    return "; ".join(f"{pay.currency} {amount:g} {what}" for what, amount in amounts.items() if amount)


def _rules(outcome: StudyOutcome) -> str:
    rule = outcome.file.study.exclude
    rules = {
        f"less than {percent(rule.catch_below or 0, digits=0)} % of the catch trials right": rule.catch_below,
        f"a median answer in less than {rule.faster_than_s or 0:g} s": rule.faster_than_s,
        "no calibration": rule.without_calibration or None,
        f"technical failures in more than {percent(rule.problems_above or 0, digits=0)} % of the trials": (
            rule.problems_above
        ),
    }
    return "; ".join(text for text, value in rules.items() if value is not None)
