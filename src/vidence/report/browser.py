"""The questions that a page shows one by one, with the replies of all runs, and their filters."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from vidence.records import Item, by_key
from vidence.report.provenance import prompt_note, shown_note
from vidence.report.questions import ContactSheet, ContactSheets, shown_words
from vidence.report.results import STATUSES, Row, Run, with_prompts

LONG_TEXT = 20_000
SHORT_TEXT = 2_000
# All texts together; beyond it, long ones are cut shorter.
TEXT_BUDGET = 4_000_000
MOST_TAG_VALUES = 60
MOST_NAMES = 3  # of runs beside the choice that they took

ThingT = TypeVar("ThingT")


@dataclass(frozen=True, kw_only=True)
class RunReply:
    """One run's reply to a question, in one of its repeats.

    `name` is that of the run and, with several repeats, of the repeat; empty if there is only one trial.
    `prompt_note` says why there is no prompt to show; empty if a prompt was sent.
    """

    run_id: str
    name: str
    row: Row
    sheet_id: str
    shown: str
    prompt_note: str


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One question on the page, with the trials of all runs.

    `is_one_order` is whether all trials showed the choices in the same order; `item` has the order of the
    first.
    """

    id: str
    item: Item
    told: tuple[RunReply, ...]
    tag_ids: str
    is_one_order: bool

    @property
    def row(self) -> Row:
        """Return the first trial."""
        return self.told[0].row

    @property
    def is_single(self) -> bool:
        """Whether there is exactly one trial."""
        return len(self.told) == 1

    @property
    def one_sheet(self) -> str:
        """Return the contact sheet of the frames if all trials showed the same; empty otherwise."""
        ways = {(trial.sheet_id, trial.shown) for trial in self.told}
        return self.told[0].sheet_id if len(ways) == 1 else ""

    @property
    def marks(self) -> str:
        """Return run and status of each trial, for the filters."""
        return " ".join(f"{reply.run_id}:{reply.row.status}" for reply in self.told)

    @property
    def n_right(self) -> int:
        """Return the number of trials with a right answer."""
        return sum(reply.row.status == "right" for reply in self.told)

    def readers(self, letter: str) -> str:
        """Name the trials whose answer was this letter; empty if there are none."""
        who = [reply.name for reply in self.told if reply.row.read == letter]
        if self.is_single or not who:
            return "read" if who else ""
        names = ", ".join(who) if len(who) <= MOST_NAMES else f"{len(who)} of {len(self.told)}"
        return f"read in {names}"


@dataclass(kw_only=True)
class Browser:
    """All entries, their filters as (value, label) pairs, and the amount of text shown."""

    note: str
    entries: tuple[Entry, ...]
    statuses: tuple[tuple[str, str], ...]
    tags: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    sheets: Mapping[str, ContactSheet]
    n_characters: int = 0

    def cut(self, text: str) -> str:
        """Truncate a text to fit the page; shorter once much text has been printed."""
        most = LONG_TEXT if self.n_characters < TEXT_BUDGET else SHORT_TEXT
        self.n_characters += min(len(text), most)
        if len(text) <= most:
            return text
        half = most // 2
        return f"{text[:half]}\n[… {len(text) - most:,} characters are left out here …]\n{text[-half:]}"


@dataclass(frozen=True, kw_only=True, slots=True)
class _TrialOfRun:
    """One trial with its run, and the run's id and name."""

    run_id: str
    name: str
    run: Run
    row: Row


def pick(things: Sequence[ThingT], fates: Sequence[Hashable], n: int) -> list[ThingT]:
    """Choose about `n` things, balanced over fates and evenly spread, in order.

    Rare fates are shown completely, and the room they leave goes to the others.

    Args:
        things: what to choose from.
        fates: the outcome of each.
        n: how many.
    """
    positions = by_key((fate, i) for i, fate in enumerate(fates))
    chosen: list[int] = []
    groups = sorted(positions.values(), key=len)
    for n_done, group in enumerate(groups):
        quota = min(len(group), (n - len(chosen)) // (len(groups) - n_done))
        chosen += [group[(2 * k + 1) * len(group) // (2 * quota)] for k in range(quota)]
    return [things[i] for i in sorted(chosen)]


def chosen_questions(runs: Sequence[tuple[str, str, Run]], *, n_items: int) -> list[list[_TrialOfRun]]:
    """Return the questions to show with their trials in all runs, about `n_items` trials in total.

    Args:
        runs: for each run its id on the page, its name, and the run.
        n_items: the maximum number of trials.
    """
    if len(runs) == 1 and runs[0][2].plan.repeats == 1:  # the same, without a list for each of very many
        ((run_id, name, run),) = runs
        chosen = pick(run.rows, [row.status for row in run.rows], n_items)
        return _with_prompts([[_TrialOfRun(run_id=run_id, name=name, run=run, row=row)] for row in chosen])
    by_question = by_key(
        ((row.item.item_id, row.item.question), _TrialOfRun(run_id=run_id, name=name, run=run, row=row))
        for run_id, name, run in runs
        for row in run.rows
    )
    questions = list(by_question.values())
    if not questions:
        return []
    most = max(map(len, questions))
    fates = [tuple((trial.run_id, trial.row.status) for trial in trials) for trials in questions]
    return _with_prompts(pick(questions, fates, max(n_items // most, min(1, n_items))))


def _with_prompts(questions: Sequence[Sequence[_TrialOfRun]]) -> list[list[_TrialOfRun]]:
    """Load the complete prompts, which runs may have skipped; each run is opened once."""
    by_run = by_key((trial.run_id, trial) for trials in questions for trial in trials)
    whole: dict[tuple[str, str, int], Row] = {}
    for run_id, some in by_run.items():
        for row in with_prompts(some[0].run, [trial_of_run.row for trial_of_run in some]):
            whole[run_id, row.item.item_id, row.trial.repeat] = row
    return [
        [
            replace(trial, row=whole[trial.run_id, trial.row.item.item_id, trial.row.trial.repeat])
            for trial in trials
        ]
        for trials in questions
    ]


def browse(runs: Sequence[tuple[str, str, Run]], *, sheets: ContactSheets, n_items: int) -> Browser:
    """Choose questions from all runs and prepare them.

    Args:
        runs: for each run its id on the page, its name, and the run.
        sheets: makes the contact sheets.
        n_items: the maximum number of trials.
    """
    tag_ids: dict[tuple[str, str], str] = {}  # short ids for tag values, which may be any text
    chosen = chosen_questions(runs, n_items=n_items)
    sheets.make_room(
        len({(run.row.item.video_id, run.row.trial.selection) for some in chosen for run in some})
    )
    entries = tuple(
        _entry(f"q{i}", trials, sheets=sheets, tag_ids=tag_ids, has_runs=len(runs) > 1)
        for i, trials in enumerate(chosen, start=1)
    )
    results = {reply.row.status for entry in entries for reply in entry.told}
    statuses = [(str(status), words) for status, words in STATUSES.items() if status in results]
    missed = " ".join(status for status, _ in statuses if status not in {"right", "unmarked"})
    if "right" in results and missed:
        statuses.insert(1, (missed, "not right"))
    tags = []
    for name in dict.fromkeys(name for name, _ in tag_ids):
        values = sorted((value, tag_id) for (of, value), tag_id in tag_ids.items() if of == name)
        if 1 < len(values) <= MOST_TAG_VALUES:
            tags.append((name, tuple((tag_id, value) for value, tag_id in values)))
    return Browser(
        note=_how_many(runs, entries),
        entries=entries,
        statuses=tuple(statuses),
        tags=tuple(tags),
        sheets=sheets.sheets,
    )


def _entry(
    entry_id: str,
    trials: Sequence[_TrialOfRun],
    *,
    sheets: ContactSheets,
    tag_ids: dict[tuple[str, str], str],
    has_runs: bool,
) -> Entry:
    has_repeats = any(run.row.trial.repeat for run in trials)
    entries = []
    for trial in trials:
        pictured = sheets.of(trial.run, trial.row)
        parts = [trial.name] if has_runs else []
        parts += [f"repeat {trial.row.trial.repeat}"] if has_repeats else []
        entries.append(
            RunReply(
                run_id=trial.run_id,
                name=", ".join(parts),
                row=trial.row,
                sheet_id=pictured.sheet_id,
                shown=shown_note(trial.run, trial.row)
                or f"{shown_words(trial.row.trial)} {pictured.note}".strip(),
                prompt_note=prompt_note(trial.run, trial.row),
            )
        )
    item = trials[0].row.item
    ids = [tag_ids.setdefault(tag, f"t{len(tag_ids)}") for tag in item.tags.items()]
    return Entry(
        id=entry_id,
        item=item,
        told=tuple(entries),
        tag_ids=" ".join(ids),
        is_one_order=all(run.row.item.choices == item.choices for run in trials),
    )


def _how_many(runs: Sequence[tuple[str, str, Run]], entries: Sequence[Entry]) -> str:
    """Say how many of all questions are shown, and how they were chosen."""
    n, n_all = sum(len(entry.told) for entry in entries), sum(len(run.rows) for _, _, run in runs)
    questions = f" on {len(entries):,} questions" if n != len(entries) else ""
    if n == n_all:
        return f"All {n:,} trials{questions}."
    return (
        f"{n:,} of {n_all:,} trials{questions}: alike many right, wrong, unreadable, refused and failed ones "
        "as far as there are, spread evenly over the run. The shares here are not those of the run."
    )
