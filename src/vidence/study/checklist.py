"""The reporting checklist for human baselines, filled in with what a study has recorded and nothing else."""

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import resources
from statistics import median
from typing import Final

from vidence.engine.specs import label as label_of
from vidence.records import Estimate, Record
from vidence.report.results import Run
from vidence.study.problems import frames_run
from vidence.study.report import StudyOutcome
from vidence.study.study import Phase
from vidence.tables.latex import escaped
from vidence.tables.table import RowSpec, Table, interval_text, percent, several, tabulate, words

TO_FILL: Final = "to fill in by the authors"
Fill = Callable[[StudyOutcome], str]


class Entry(Record, omit_defaults=True):
    """An item of the checklist, by its number there; `asks` is what it asks for, in our words.

    `recorded` is what the study says of it, `left` what the authors have to add: all of it where nothing was
    recorded, and nothing where that is empty.
    """

    number: str
    section: str
    asks: str
    recorded: str = ""
    left: str = ""

    @property
    def text(self) -> str:
        """What is printed."""
        return " ".join(filter(None, (self.recorded, self.left and f"[{self.left}]")))


def checklist(found: StudyOutcome, tables: Sequence[Table]) -> tuple[Entry, ...]:
    """Every item of the checklist, in its order.

    Args:
        found: the study.
        tables: those of its report.

    Source: Wei and others (2025), arXiv 2506.13776, appendix "Human Baselines Checklist".
    Departs: items are in our words. What the paper answers with yes, partial or no is said with the numbers
        and texts that the study holds; the program assumes none of the paper's default answers.
    """
    entries = []
    for section, asked in _items().items():
        for number, asks in asked.items():
            name, of_table = _FROM_TABLES.get(number, ("", _tested))
            own = [of_table(table) for table in tables if table.name == name]
            recorded = "".join(own) or (_FILLED[number](found) if number in _FILLED else "")
            left = _LEFT.get(number, "") if recorded else TO_FILL
            entries.append(Entry(number=number, section=section, asks=asks, recorded=recorded, left=left))
    return tuple(entries)


def _items() -> dict[str, dict[str, str]]:
    text = resources.files("vidence.study").joinpath("checklist.toml").read_text("utf-8")
    return {name: some for name, some in tomllib.loads(text).items() if isinstance(some, dict)}


def checklist_sentence(entries: Sequence[Entry]) -> str:
    """How far the program could fill it in."""
    n_left = sum(bool(one.left) for one in entries)
    return (
        f"Reporting checklist for human baselines (arXiv 2506.13776): {len(entries) - n_left} of "
        f"{len(entries)} items are filled in from what the study recorded; {n_left} are left, at least in "
        "part, to the authors."
    )


def checklist_table(entries: Sequence[Entry]) -> Table:
    """A row for each item."""
    return tabulate(
        "checklist",
        "Reporting checklist",
        label="item",
        rows=[RowSpec(one.number, f"{one.number} {one.asks}", one) for one in entries],
        measures=(words("text", lambda one: one.text, "this study"),),
        notes=("After arXiv 2506.13776, with its numbers. In brackets: what the program cannot know.",),
    )


def checklist_latex(entries: Sequence[Entry]) -> str:
    """The items as a list for an appendix, in plain LaTeX."""
    lines = ["% Written by vidence, after the checklist of arXiv 2506.13776.", "\\begin{description}"]
    for one in entries:
        text = r"\textit{" + escaped(f"[{one.left}]") + "}" if one.left else ""
        said = " ".join(filter(None, (escaped(" ".join(one.recorded.split())), text)))
        lines.append(f"\\item[{one.number}] {escaped(one.asks)}: {said}")
    return "\n".join([*lines, "\\end{description}", ""])


# --------------------------------------------------------------------------- what is known


def _by_phase(found: StudyOutcome, of: Callable[[Phase], str]) -> str:
    """What is said of each phase that says something, the phase before it where there are several."""
    phases = found.file.study.phases
    said = [(phase.title or phase.name, of(phase)) for phase in phases]
    return "; ".join(f"{name}: {text}" if len(phases) > 1 else text for name, text in said if text)


def _range(numbers: Iterable[int], noun: str) -> str:
    some = sorted(numbers)
    if not some:
        return ""
    return several(some[0], noun) if some[0] == some[-1] else f"{some[0]} to {some[-1]} {noun}s"


def _of_models(found: StudyOutcome, of: Callable[[Run], str]) -> str:
    return "; ".join(f"{label_of(run.plan)}: {of(run)}" for run in found.models)


def _modes(found: StudyOutcome) -> str:
    kinds = {
        "whole": "videos in a player",
        "once": "videos played once",
        "frames": "frames of the benchmark's protocol",
        "dots": "point lights",
        "none": "text alone",
    }

    def of(phase: Phase) -> str:
        run = frames_run(phase.condition)
        return f"the frames that {run} was sent" if run else kinds.get(phase.condition, phase.condition)

    return _by_phase(found, of)


def _people(found: StudyOutcome) -> str:
    return f"{len(found.kept)} of {_n_began(found)} who began"


def _n_began(found: StudyOutcome) -> int:
    return sum(one.state in ("begun", "finished", "withdrawn") for one in found.answers.participants)


def _asked(found: StudyOutcome) -> str:
    return several(len({one.item_id for one in found.drawn.asked}), "item") + f" of {found.drawn.benchmark}"


def _draw(found: StudyOutcome) -> str:
    draw = found.file.study.draw
    how = {"items": "of the set", "same": "that all runs answered", "wrong": "that runs answered wrong"}
    if draw.n is None:
        return f"All items {how[draw.of]}."
    each = f" of each value of {draw.by}" if draw.by else ""
    return f"{draw.n} items{each} {how[draw.of]}, at random with seed {draw.seed}."


def _per_item(found: StudyOutcome) -> str:
    return _by_phase(
        found,
        lambda phase: _range(Counter(r.trial.item_id for r in found.given(phase.name)).values(), "answer"),
    )


def _per_person(found: StudyOutcome) -> str:
    return _by_phase(
        found,
        lambda phase: _range(Counter(r.participant for r in found.given(phase.name)).values(), "item"),
    )


def _limits(found: StudyOutcome) -> str:
    def of(phase: Phase) -> str:
        whole = f"{phase.limit_s / 60:g} minutes for the phase" if phase.limit_s else ""
        each = f"{phase.trial_limit_s:g} seconds an item" if phase.trial_limit_s else ""
        return ", ".join(filter(None, (whole, each))) or "no limit of time"

    return f"People: {_by_phase(found, of)}."


def _recruited(found: StudyOutcome) -> str:
    names = {
        "account": "with an account of the studio",
        "link": "by a link for one person",
        "recruiter": "by a recruiter's link for many",
        "file": "in a file of answers",
    }
    counts = Counter(names[one.recruited] for one in found.answers.participants)
    return ", ".join(f"{n} {how}" for how, n in counts.items()) + "." if counts else ""


def _trained(found: StudyOutcome) -> str:
    n = found.file.study.practice.n
    return f"Yes: {several(n, 'practice trial')} before the data." if n else "No practice trials."


def _training(found: StudyOutcome) -> str:
    practice = found.file.study.practice
    told = "with the right answer after each" if practice.tells else "without right answers"
    return f"{several(practice.n, 'trial')} like those of the data, {told}." if practice.n else ""


def _paid(found: StudyOutcome) -> str:
    pay = found.file.study.pay
    amounts = {"flat": pay.flat, "an hour": pay.per_hour, "an answer": pay.per_answer}
    said = [f"{pay.currency} {amount:g} {what}" for what, amount in amounts.items() if amount]
    return "; ".join(said)


def _bonus(found: StudyOutcome) -> str:
    pay = found.file.study.pay
    return f"{pay.currency} {pay.per_right:g} for a right answer" if pay.per_right else ""


def _is_paid(found: StudyOutcome) -> str:
    return "Yes, by the rules of study.toml." if _paid(found) or _bonus(found) else ""


def _sitting(found: StudyOutcome) -> str:
    n_catch = found.file.study.catch.n
    more = f"; and {several(n_catch, 'catch trial')} in each phase" if n_catch else ""
    return f"{_per_person(found)}{more}"


def _order(found: StudyOutcome) -> str:
    study = found.file.study
    mixed = f"Yes, for each person and phase, with seed {study.draw.seed}."
    return mixed if study.order == "mixed" else "No: the same order for everyone."


def _rules(found: StudyOutcome) -> str:
    rule = found.file.study.exclude
    said = {
        f"less than {percent(rule.catch_below or 0, digits=0)} % of the catch trials right": rule.catch_below,
        f"a median answer in less than {rule.faster_than_s or 0:g} s": rule.faster_than_s,
        "no calibration": rule.without_calibration or None,
        f"technical failures in more than {percent(rule.problems_above or 0, digits=0)} % of the trials": (
            rule.problems_above
        ),
    }
    kept = [text for text, value in said.items() if value is not None]
    is_same = found.drawn.study_sha256 == found.file.sha256
    since = "unchanged since the draw" if is_same else "which was changed after the draw"
    return f"Left out, by the rules of study.toml, {since}: {'; '.join(kept)}." if kept else ""


def _checked(found: StudyOutcome) -> str:
    n_catch = found.file.study.catch.n
    return "Yes." if _rules(found) or n_catch else "No catch trials and no rules of exclusion."


def _left_out(found: StudyOutcome) -> str:
    if not _rules(found):
        return ""
    rules = Counter(rule for one in found.excluded for rule in one.excluded)
    why = f" ({', '.join(f'{rule}: {n}' for rule, n in rules.items())})" if rules else ""
    return f"{len(found.excluded)} of {_n_began(found)} people{why}."


def _interface(found: StudyOutcome) -> str:
    names = {"sheets" if one.recruited == "file" else "pages in a browser" for one in found.kept}
    return " or ".join(sorted(names))


def _frames(found: StudyOutcome) -> str:
    runs = dict.fromkeys(run for phase in found.file.study.phases if (run := frames_run(phase.condition)))
    return f"Partly: a phase shows the very frames that {', '.join(runs)} was sent." if runs else ""


def _same_words(found: StudyOutcome) -> str:
    if not found.models:
        return ""
    ours = {item_id: item.question for item_id, item in found.items.items()}

    def of(run: Run) -> str:
        theirs = {row.item.item_id: row for row in run.rows}
        same = [i for i in theirs if i in ours and ours[i] == theirs[i].item.question]
        is_own = run.facts.study_sha256 == found.file.sha256
        words = f"the same words of {len(same)} of {len(found.drawn.asked)} questions"
        return f"{'put through this very study, ' if is_own else ''}{words}, {run.plan.protocol} prompts"

    return _of_models(found, of) + ". People had the instructions of 5.1.2."


def _explained(found: StudyOutcome) -> str:
    fields = [field.title or field.name for field in found.file.study.form if field.kind == "text"]
    return f"Yes: {', '.join(fields)}." if fields else "No."


def _tested(table: Table) -> str:
    said = (
        f"{row.label} less {table.value(row.key, 'model')}: {_points(table.estimate(row.key, 'difference'))}"
        for row in table.rows
    )
    return f"Yes. {'; '.join(said)}."


def _points(estimate: Estimate | None) -> str:
    return "" if estimate is None else f"{100 * estimate.value:+.1f} points ({interval_text(estimate)})"


def _test(found: StudyOutcome) -> str:
    if not found.models:
        return ""
    return (
        "Student's t on the paired differences by answer, people and videos as crossed random factors "
        "(two-way clustered variance, CR2), Holm over all pairs."
    )


def _scored_alike(found: StudyOutcome) -> str:
    if not (found.models and found.runs):
        return ""
    ours = next(iter(found.runs.values())).plan

    def of(run: Run) -> str:
        theirs = run.plan
        alike = (ours.parser, ours.text_parser, ours.judge_models) == (
            theirs.parser,
            theirs.text_parser,
            theirs.judge_models,
        )
        return "yes" if alike else f"no: {theirs.parser} for the model, {ours.parser} for people"

    return _of_models(found, of)


def _robust(table: Table) -> str:
    said = []
    for row in table.rows:
        without, whole = table.estimate(row.key, "without"), table.estimate(row.key, "with")
        if without is not None and whole is not None:
            said.append(
                f"{row.label}: {percent(without.value)} % without, {percent(whole.value)} % with them"
            )
    return "; ".join(said) + "."


def _none_excluded(found: StudyOutcome) -> str:
    return "No person was excluded." if _rules(found) and not found.excluded else ""


def _instructions(found: StudyOutcome) -> str:
    study = found.file.study
    aids = _by_phase(found, lambda phase: phase.aids)
    return " ".join(filter(None, (study.instructions.strip(), f"Aids: {aids}" if aids else "")))


def _time(found: StudyOutcome) -> str:
    def of(phase: Phase) -> str:
        seconds = [one.seconds for one in found.given(phase.name) if one.seconds]
        return f"median {median(seconds):.1f} s an answer" if seconds else ""

    return _by_phase(found, of)


def _completion(found: StudyOutcome) -> str:
    states = Counter[str](one.state for one in found.answers.participants)
    return (
        f"Of {_n_began(found)} who began, {states['finished']} finished, {states['begun']} stopped, "
        f"{states['withdrawn']} withdrew; {states['declined']} declined before."
    )


_FILLED: Final[Mapping[str, Fill]] = {
    "0.6": _modes,
    "0.9": lambda found: _of_models(found, lambda run: str(len({row.item.item_id for row in run.rows}))),
    "0.10": lambda found: _of_models(found, lambda run: str(run.plan.repeats)),
    "1.1": _people,
    "1.2": _asked,
    "1.2.1": _draw,
    "1.3": _per_item,
    "1.4": _per_person,
    "1.7": _limits,
    "2.2": _recruited,
    "2.6": _trained,
    "2.6.1": _training,
    "2.7": _is_paid,
    "2.7.1": _paid,
    "2.7.2": lambda found: "Yes." if _bonus(found) else "",
    "2.7.2.1": _bonus,
    "2.7.3": lambda found: "Yes: study.toml has one rule for all." if _is_paid(found) else "",
    "3.1": _sitting,
    "3.1.1": _order,
    "3.2": _checked,
    "3.2.1": _rules,
    "3.2.2": _left_out,
    "3.3": lambda found: f"No: people had {_interface(found)}, models prompts." if found.models else "",
    "3.3.1": lambda found: f"Models had prompts, people {_interface(found)}." if found.models else "",
    "3.3.2": _frames,
    "3.4": _same_words,
    "3.5": lambda found: (aids := _by_phase(found, lambda phase: phase.aids)) and f"People: {aids}",
    "3.6": _explained,
    "4.1.1": _test,
    "4.2": lambda found: "Yes, for people and models." if found.runs else "",
    "4.2.1": lambda found: "An interval: people and videos are crossed random factors." if found.runs else "",
    "4.3": lambda found: "Yes: the mean of right answers." if found.models and found.runs else "",
    "4.4": _scored_alike,
    "4.5": _scored_alike,
    "4.6": _none_excluded,
    "5.1.2": _instructions,
    "5.1.3": _time,
    "5.1.5": _completion,
    "5.4": lambda found: (
        f"The tables are made by vidence {next(iter(found.runs.values())).facts.vidence}."
        if found.runs
        else ""
    ),
}
_FROM_TABLES: Final[Mapping[str, tuple[str, Callable[[Table], str]]]] = {
    "4.1": ("study-models", _tested),
    "4.6": ("study-exclusions", _robust),
}
_LEFT: Final[Mapping[str, str]] = {
    "1.7": "effort and cost of models",
    "2.2": "how these people were chosen",
    "2.6": "any other training",
    "3.1": "whether a phase was one sitting",
    "3.5": "tools of the models",
    "5.4": "whether all other code is public",
}
"""What the program cannot know of items of which it knows something."""
