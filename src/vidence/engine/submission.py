"""Submitted answers to questions with hidden answers: read, checked, and scored next to the answers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final

import msgspec

from vidence.ask import files
from vidence.ask.benchmarks.question_files import letter_of, said_answer
from vidence.ask.files import FieldError, decoded, explained, text_of, usable
from vidence.ask.mapping.columns import Row, as_text
from vidence.ask.mapping.rows import Table, read_rows
from vidence.catalog import create, names
from vidence.contracts import AskingRules, Benchmark, Scorer
from vidence.engine.engine import Context
from vidence.engine.environment import Environment
from vidence.engine.evaluate import Summary, opened_run, own_run
from vidence.engine.events import Listener, Started, TrialStored
from vidence.engine.importing import ITEMS_FILE
from vidence.engine.limits import Budget
from vidence.engine.plan import PLAN_FILE, PlanOverrides, read_overrides
from vidence.engine.prepare import PreparedRun, make_plan
from vidence.engine.scoring import score_reply
from vidence.engine.session import each, opened_session
from vidence.engine.store import SUBMISSION_FILE
from vidence.errors import DataError, StoreError, UnknownNameError, UsageError
from vidence.media.whole import write_records
from vidence.records import Answered, Failed, Item, Record, Reply, Score, Trial, Unreadable

ANSWERS_FILE: Final = "answers.jsonl"
SUBMITTED: Final = "submitted answers"
MOST_REPEATS: Final = 100
MOST_NAMED: Final = 5
"""Most lines listed per fault."""
_MOST_CHARACTERS: Final = 60
_NOT_SUBMITTED = Failed(
    stage="model", error="RejectedRequestError", message="the submission has no answer to this question"
)
_EMPTY = Unreadable(reason="the submission leaves the answer empty")
_OUTSIDE = Unreadable(reason="the submitted answer is none of the options")


class SubmittedAnswer(Record):
    """An answer to one question: a line of a submission.

    `answer` is a choice's letter in the item's own order, or the text of an open answer; it is what counts.
    `reply` is the text that it was parsed from, for a judge; an empty `answer` is parsed from it.
    """

    item_id: Annotated[str, msgspec.Meta(min_length=1)]
    answer: str
    reply: str = ""
    repeat: Annotated[int, msgspec.Meta(ge=0, lt=MOST_REPEATS)] = 0

    @property
    def key(self) -> tuple[str, int]:
        """Return the trial that it answers."""
        return self.item_id, self.repeat


@dataclass(frozen=True, kw_only=True)
class Submission:
    """The rows of a submission, and their positions in the file."""

    content_hash: str
    rows: tuple[SubmittedAnswer, ...]
    places: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SubmissionCheck:
    """A submission compared with its questions; independent of the right answers.

    `rows` has the answers to known questions, at most one per trial, with letters for choices. `unknown` ids
    are left out; of `doubled` ones the first counts; `missing` answers and those `outside` the options count
    as wrong.
    """

    items: tuple[Item, ...]
    rows: tuple[SubmittedAnswer, ...]
    n_repeats: int
    unknown: tuple[str, ...]
    doubled: tuple[str, ...]
    missing: tuple[str, ...]
    outside: tuple[str, ...]

    @property
    def is_clean(self) -> bool:
        """Whether each question has an answer among its options, and there are no other rows."""
        return not (self.unknown or self.doubled or self.missing or self.outside)

    def sentences(self, *, is_taken: bool = True) -> tuple[str, ...]:
        """Describe the faults, one sentence per kind with its first lines; empty if there are none.

        Args:
            is_taken: also say how such lines are scored.
        """
        sentences = (
            (self.unknown, "unknown id", "unknown ids", "left out"),
            (self.doubled, "id given again", "ids given again", "the first line of each counts"),
            (self.missing, "missing answer", "missing answers", "counted as wrong"),
            (self.outside, "answer outside the options", "answers outside the options", "counted as wrong"),
        )
        return tuple(
            f"{len(lines):,} {name if len(lines) == 1 else many}{f' ({end})' if is_taken else ''}: "
            f"{'; '.join(lines[:MOST_NAMED])}"
            f"{f'; and {len(lines) - MOST_NAMED:,} more' if len(lines) > MOST_NAMED else ''}"
            for lines, name, many, end in sentences
            if lines
        )


# --------------------------------------------------------------------------- reading and checking


def read_submission(path: Path) -> Submission:
    """Read a submission: a run folder, its ``submission.jsonl``, or a table with the same columns.

    Raises:
        DataError: no such file, or an invalid row; the message has its line.
        UsageError: the file format needs a library that is not installed.
    """
    file = path / SUBMISSION_FILE if path.is_dir() else path
    if path.is_dir() and not file.exists():
        raise DataError(f"{path} has no {SUBMISSION_FILE}; expected the folder of a run on hidden answers")
    return submission_in(read_rows(file, what=SUBMITTED))


def submission_in(table: Table) -> Submission:
    """Return the rows of a submission from a table.

    Raises:
        DataError: an invalid row; the message has its line.
    """
    rows, places = [], []
    for place, row in table.lines:
        try:
            rows.append(_submitted(usable(row)))
        except FieldError as error:
            raise DataError(f"{table.file.path}, line {place}: {error}") from error
        places.append(f"line {place}")
    return Submission(content_hash=table.file.content_hash, rows=tuple(rows), places=tuple(places))


def hidden_items(folder: Path, split: str | None = None) -> tuple[Item, ...]:
    """Return the complete items of a hidden split, from the folder of ``vidence items release --hide``.

    Args:
        folder: the folder with the answers.
        split: the split; None if there is only one.

    Raises:
        DataError: not such a folder, or it cannot be read.
        UsageError: no such split, or several to choose from.
    """
    rows = files.objects(files.read(folder / ANSWERS_FILE, what="hidden answers"))
    splits = sorted({text_of(row, "split") for _, row in rows})
    if split is None and len(splits) > 1:
        raise UsageError(f"{folder} has answers of {', '.join(splits)}; name one with --split")
    if split is not None and split not in splits:
        raise UnknownNameError("hidden split", split, splits)
    file = files.read(folder / f"{split or splits[0]}.jsonl")
    decoder = msgspec.json.Decoder(Item)
    try:
        return tuple(decoded(row, decoder) for _, row in files.objects(file))
    except FieldError as error:
        raise DataError(f"{file.path} is not as vidence items release writes it: {error}") from error


def _submitted(row: Row) -> SubmittedAnswer:
    """Return the answer in a row; other columns are ignored."""
    known = [name for name in SubmittedAnswer.__struct_fields__ if row.get(name) not in (None, "")]
    if absent := [name for name in ("item_id", "answer") if name not in row]:
        columns = _short(", ".join(name for name in row if not name.startswith("@")))
        raise FieldError(absent[0], f"no such column; found {columns}; expected item_id, answer and reply")
    fields = {name: row[name] for name in known}
    for name in ("item_id", "answer"):  # numbers in a table are texts here
        fields[name] = as_text(row[name], name).strip()
    if not fields["item_id"]:
        raise FieldError("item_id", "empty; expected the id of a question")
    try:
        return msgspec.convert(fields, SubmittedAnswer, strict=False)
    except msgspec.ValidationError as error:
        raise explained(error, record=SubmittedAnswer) from error


def checked(submission: Submission, items: Sequence[Item]) -> SubmissionCheck:
    """Check a submission against its questions, with or without answers."""
    by_id = {item.item_id: item for item in items}
    rows: dict[tuple[str, int], SubmittedAnswer] = {}
    unknown, doubled, outside = [], [], []
    for row, place in zip(submission.rows, submission.places, strict=True):
        item, line = by_id.get(row.item_id), f"{place}: {_short(row.item_id)}"
        if item is None:
            unknown.append(line)
        elif row.key in rows:
            doubled.append(line)
        else:
            rows[row.key] = _in_letters(row, item)
            if _is_outside(rows[row.key], item):
                options = f"{item.letters[0]} to {item.letters[-1]}"
                outside.append(f"{line}: {_short(row.answer)}, expected {options}")
    n_repeats = 1 + max((repeat for _, repeat in rows), default=0)
    trials = [(item.item_id, repeat) for item in items for repeat in range(n_repeats)]
    missing = (
        _short(item_id) + (f", repeat {repeat}" if n_repeats > 1 else "")
        for item_id, repeat in trials
        if (item_id, repeat) not in rows
    )
    return SubmissionCheck(
        items=tuple(items),
        rows=tuple(rows[key] for key in trials if key in rows),
        n_repeats=n_repeats,
        unknown=tuple(unknown),
        doubled=tuple(doubled),
        missing=tuple(missing),
        outside=tuple(outside),
    )


def _in_letters(row: SubmittedAnswer, item: Item) -> SubmittedAnswer:
    """Return the row with a choice's letter as answer, given as letter or text; otherwise unchanged."""
    if item.answer_kind == "text" or not row.answer:
        return row
    try:
        return msgspec.structs.replace(row, answer=letter_of(item, row.answer))
    except FieldError:
        return row


def _is_outside(row: SubmittedAnswer, item: Item) -> bool:
    return item.answer_kind == "choice" and row.answer != "" and row.answer not in item.letters


def _short(text: str) -> str:
    return repr(text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 1] + "…")


# --------------------------------------------------------------------------- scoring


def rules_for(items: Sequence[Item], *, is_judged: bool) -> PlanOverrides:
    """Return how answers to these questions are scored by default: by their benchmark's protocol.

    Args:
        items: the questions.
        is_judged: whether a judge model is given; without one, no judge is used.
    """
    rules = AskingRules()
    if items and items[0].benchmark in names("benchmark"):
        benchmark: Benchmark = create("benchmark", items[0].benchmark)
        rules = next(iter(benchmark.protocols.values()))
    given = ("parser", "text_parser", "headline", *(["judge"] if is_judged else []))
    return read_overrides({name: getattr(rules, name) for name in given})


async def score_submission(
    check: SubmissionCheck,
    folder: Path,
    *,
    overrides: PlanOverrides,
    environment: Environment,
    now: datetime,
    on_event: Listener,
) -> Summary:
    """Score a checked submission as a run: with the plan's parsers, then its judges, if any.

    The resulting run folder contains the questions with their answers, and can be reported and compared.

    Args:
        check: the result of `checked` for the questions with answers.
        folder: the run folder; it must not contain a run.
        overrides: fields of the plan, such as `parser`, `headline`, `judge` and `judge_models`.
        environment: cache and workers.
        now: recorded in the facts of the run.
        on_event: called for each trial.

    Returns:
        The summary, mainly of judges.

    Raises:
        DataError: the submission answers none of the questions.
        StoreError: the folder contains a run, or cannot be written.
        VidenceError: a judge cannot be opened or asked; verdicts so far are kept.
    """
    if not check.rows:
        raise DataError(f"the submission answers none of the {len(check.items):,} questions; check its ids")
    if (folder / PLAN_FILE).exists():
        raise StoreError(f"{folder} holds a run already; choose another --out")
    own_run(folder)
    written = (msgspec.structs.replace(item, answer=said_answer(item)) for item in check.items)
    write_records(folder / ITEMS_FILE, written)
    write_records(folder / SUBMISSION_FILE, check.rows)
    model = f"replay:{folder / SUBMISSION_FILE}?text=answer&sample=repeat"
    given: PlanOverrides = {**overrides, "repeats": check.n_repeats}
    plan = make_plan("table", data=folder / ITEMS_FILE, model=model, overrides=given)
    async with opened_session(plan, environment=environment, now=now, on_event=on_event) as session:
        trials = tuple(_trials(session.prepared, check, is_judged=session.pool is not None))
        summary = Summary(n_planned=len(trials), n_answered_before=0)
        with opened_run(folder, session.prepared) as store:
            on_event(Started(n_planned=len(trials), n_answered_before=0))

            async def score(pair: tuple[Item, Trial]) -> None:
                item, trial = pair
                if session.pool is not None and trial.reply is not None:
                    judging = session.pool.score(item, trial.reply, ruled=trial.score)
                    judged = await session.engine.drive(judging, Context(item_id=item.item_id))
                    trial = msgspec.structs.replace(trial, score=judged)
                store.add(trial)
                summary.add(trial)
                on_event(TrialStored(trial=trial, cost=0.0))

            await each(trials, score, n_consumers=plan.concurrency)
            summary.close(Budget(), session.judging)
    return summary


def _trials(
    prepared: PreparedRun, check: SubmissionCheck, *, is_judged: bool
) -> Iterator[tuple[Item, Trial]]:
    """Yield the questions and their trials as scored by the parsers."""
    rows = {row.key: row for row in check.rows}
    for item in prepared.items:
        for repeat in range(check.n_repeats):
            row, parser = rows.get((item.item_id, repeat)), prepared.parser_for(item)
            reply, score = _read(row, item, parser)
            if is_judged and reply is None:  # no judge sees it, so that it would wait for ever, in no mean
                score = msgspec.structs.replace(score, scorer="submission", value=0.0)
            yield item, Trial(item_id=item.item_id, repeat=repeat, reply=reply, score=score)


def _read(row: SubmittedAnswer | None, item: Item, parser: Scorer) -> tuple[Reply | None, Score]:
    """Return the text of a submitted answer, and its score.

    The whole reply is used if the parser finds the submitted answer in it, so that a judge sees what it would
    see in a run; otherwise the answer is used alone.
    """
    words = "" if row is None else row.reply or row.answer
    if row is None or not words.strip():
        return None, score_reply(item, _NOT_SUBMITTED if row is None else _EMPTY, parser)
    if _is_outside(row, item):
        return None, score_reply(item, _OUTSIDE, parser)
    whole = Reply(text=words)
    ruled = score_reply(item, whole, parser)
    is_so = isinstance(ruled.outcome, Answered) and ruled.outcome.answer == row.answer
    if is_so or not row.answer:
        return whole, ruled
    outcome = Answered(answer=row.answer, rule="submitted")
    alone = said_answer(msgspec.structs.replace(item, answer=row.answer)) if item.choices else row.answer
    return Reply(text=alone), score_reply(item, outcome, parser)
