"""A run: show every question of a benchmark, answer it with a strategy, and score the answer."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path

import anyio.to_thread
import msgspec

from vidence.ask.benchmarks.question_files import said_answer
from vidence.engine.engine import LONG_CHARACTERS, AskCount, Context
from vidence.engine.environment import Environment
from vidence.engine.events import Listener, Started, TrialStored
from vidence.engine.limits import Budget
from vidence.engine.plan import PLAN_FILE, Plan, read_plan, write_plan
from vidence.engine.prepare import PreparedRun, check_same
from vidence.engine.samples import SUBSET_FILE
from vidence.engine.session import Session, ShownSubject, opened_session
from vidence.engine.specs import differing
from vidence.engine.stopping import StopRule
from vidence.engine.store import RUN_FILE, SUBMISSION_FILE, RunStore
from vidence.engine.views import DecodeCount
from vidence.errors import BudgetSpentError, MediaError, MissingKeyError, StoreError, UsageError
from vidence.explain.diagnostics.conditions import own_letter
from vidence.media.whole import own_folder, write_file, write_records
from vidence.records import Answered, Failed, Trial
from vidence.statistics.paired import Decision
from vidence.text import quoted

_MOST_KINDS = 3  # of errors that are named
_MOST_MESSAGES = 2
_MOST_CHARACTERS = 300  # of a message


@dataclass(kw_only=True)
class Failures:
    """Counts of failed questions by kind of error, with example messages."""

    n: Counter[str] = field(default_factory=Counter)
    messages: dict[str, set[str]] = field(default_factory=dict)

    def add(self, failed: Failed) -> None:
        """Count a failure; keep up to two messages per kind, to tell one from several."""
        self.n[failed.error] += 1
        known = self.messages.setdefault(failed.error, set())
        if len(known) < _MOST_MESSAGES:
            known.add(failed.message)

    def __str__(self) -> str:
        """List the kinds, most frequent first, with a message each; only the kind if messages differ."""
        entries = []
        for error, n in self.n.most_common(_MOST_KINDS):
            known = self.messages[error]
            message = min(known)[:_MOST_CHARACTERS]
            example = message if len(known) == 1 else f"for example {message}"
            entries.append(example if len(self.n) == 1 else f"{n:,} {error}, {example}")
        more = len(self.n) - len(entries)
        return "; ".join([*entries, *([f"and {more:,} more kinds of errors"] if more > 0 else [])])


@dataclass(kw_only=True)
class Summary:
    """Results of one session of a run. `cost` is in US dollars, judges included; judge tokens are apart.

    `n_failed` includes judge errors but not tied panels (`n_undecided`). `n_scores_kept` counts trials that
    keep their score because judges gave no verdict. `failures` has the reasons. `n_cut` counts replies
    truncated at the token limit. `n_left_out` counts lines of the question files without a usable question;
    `gaps` is as in `Facts`.
    """

    n_planned: int
    n_answered_before: int
    n_left_out: int = 0
    gaps: tuple[str, ...] = ()
    n_hidden: int = 0
    """Questions with hidden answers; the run folder holds a submission for them."""
    decoding: DecodeCount = field(default_factory=DecodeCount)
    n_tried: int = 0
    n_failed: int = 0
    failures: Failures = field(default_factory=Failures)
    n_cut: int = 0
    n_remembered: int = 0
    cost: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """Input tokens read from the provider's cache."""
    n_judge_errors: int = 0
    n_undecided: int = 0
    n_scores_kept: int = 0
    judge_input_tokens: int = 0
    judge_output_tokens: int = 0
    ended: Decision | None = None
    """State of the comparison that ends a run with ``--until``."""

    def add(self, trial: Trial) -> None:
        """Count a trial."""
        self.n_tried += 1
        is_tied = trial.score.is_undecided
        self.n_undecided += is_tied
        if isinstance(trial.score.outcome, Failed) and not is_tied:
            self.n_failed += 1
            self.failures.add(trial.score.outcome)
        self.n_cut += trial.score.is_cut(trial.reply)
        self.n_remembered += trial.is_remembered
        self.n_judge_errors += trial.score.has_judge_error

    @property
    def n_amiss(self) -> int:
        """Return how many trials failed, were truncated or otherwise incomplete."""
        return self.n_failed + self.n_left_out + len(self.gaps)

    def close(self, asking: Budget, judging: Budget) -> None:
        """Record tokens and cost."""
        self.cost = asking.cost + judging.cost
        self.input_tokens, self.output_tokens = asking.input_tokens, asking.output_tokens
        self.cached_tokens = asking.cached_tokens
        self.judge_input_tokens = judging.input_tokens
        self.judge_output_tokens = judging.output_tokens


async def run(
    plan: Plan, folder: Path, *, environment: Environment, now: datetime, on_event: Listener
) -> Summary:
    """Run a plan in a folder; a run that the folder already contains is resumed.

    Raises:
        StoreError: the folder contains another run, or is in use.
        VidenceError: the run cannot continue; everything answered so far is kept.
    """
    is_new = not (folder / PLAN_FILE).exists()
    try:
        async with opened_session(plan, environment=environment, now=now, on_event=on_event) as session:
            before = None if is_new else read_plan(folder)[1].ended
            rule = StopRule(session.prepared, before) if plan.until else None
            with opened_run(folder, session.prepared) as store:
                summary = await _answer_all(session, store, rule)
                if rule is not None:
                    kept, facts = read_plan(folder)
                    write_plan(folder, kept, msgspec.structs.replace(facts, ended=summary.ended))
                summary.n_hidden = write_submission(session.prepared, store, folder)
                return summary
    except MissingKeyError:
        if is_new:
            _remove_unbegun(folder)
        raise


def own_run(folder: Path) -> None:
    """Create a private run folder, recognised by its trials and plan; errors as for `own_folder`."""
    own_folder(folder, RUN_FILE, PLAN_FILE, mode=0o700)


@contextmanager
def opened_run(folder: Path, prepared: PreparedRun) -> Iterator[RunStore]:
    """Open the store of a new or existing run folder, with plan and questions written."""
    plan, facts = prepared.plan, prepared.facts
    own_run(folder)
    with RunStore(folder, is_writer=True) as store:
        if (folder / PLAN_FILE).exists():
            earlier, began = read_plan(folder)
            _check_plan(earlier, plan, folder=folder)
            check_same(began, facts, folder=folder)
            # Media may have come or gone since (--allow-missing); all else is as it was.
            facts = msgspec.structs.replace(began, n_planned=facts.n_planned, notes=facts.notes)
            plan = msgspec.structs.replace(plan, name=plan.name or earlier.name)
        store.put_items(prepared.items)
        if plan.subset and not (folder / SUBSET_FILE).exists():
            write_file(folder / SUBSET_FILE, Path(plan.subset).read_bytes())
        write_plan(folder, plan, facts)
        yield store


def write_submission(prepared: PreparedRun, store: RunStore, folder: Path) -> int:
    """Write the answers to questions with hidden answers, in the format of `engine.submission`.

    An answer is a letter in the item's original choice order, or a text; empty if none could be parsed.

    Returns:
        The number of such questions; nothing is written if it is 0.

    Raises:
        StoreError: the file cannot be written.
    """
    hidden = {item.item_id: item for item in prepared.items if item.is_hidden}
    if not hidden:
        return 0
    rows = []
    for trial in store.trials(are_brief=True):
        if (item := hidden.get(trial.item_id)) is None:
            continue
        outcome, answer = trial.score.outcome, ""
        if isinstance(outcome, Answered):
            answer = own_letter(outcome.answer, trial.choice_order) if item.choices else outcome.answer
        answer = said_answer(msgspec.structs.replace(item, answer=answer))
        text = "" if trial.reply is None else trial.reply.text
        row: dict[str, str | int] = {"item_id": trial.item_id, "answer": answer, "reply": text}
        rows.append(row | ({"repeat": trial.repeat} if prepared.plan.repeats > 1 else {}))
    write_records(folder / SUBMISSION_FILE, rows)
    return len(hidden)


def _remove_unbegun(folder: Path) -> None:
    """Remove a run folder created in this session if nothing was answered."""
    if not (folder / RUN_FILE).exists():
        return
    with RunStore(folder) as store:
        is_empty = not store.n_stored()
    if is_empty:
        for name in (PLAN_FILE, RUN_FILE):
            (folder / name).unlink(missing_ok=True)
        with suppress(OSError):
            folder.rmdir()


def _check_plan(earlier: Plan, now: Plan, *, folder: Path) -> None:
    """Reject a folder whose plan differs; the message lists the differing fields with both values.

    Raises:
        StoreError: the plans differ.
    """
    if values := differing(earlier, now):
        listed = "".join(
            f"\n  {name}: {_said(before)} there, {_said(after)} here"
            for name, (before, after) in values.items()
        )
        raise StoreError(
            f"{folder} holds another run:{listed}\nChoose another --out, or continue it with vidence resume "
            f"{quoted(folder)}"
        )


def _said(value: object) -> str:
    return "not set" if value in (None, "", [], {}) else msgspec.json.encode(value).decode()


class _DecidedError(BudgetSpentError):
    """Raised when the comparison is decided, to stop new requests as an exhausted budget does."""


async def _answer_all(session: Session, store: RunStore, rule: StopRule | None) -> Summary:
    prepared, plan = session.prepared, session.prepared.plan
    done = store.answered()
    repeats = range(plan.repeats)
    todo = [(item, k) for item in prepared.items for k in repeats if (item.item_id, k) not in done]
    n_planned = len(prepared.items) * plan.repeats
    summary = Summary(
        n_planned=n_planned,
        n_answered_before=n_planned - len(todo),
        n_left_out=len(prepared.facts.problems),
        gaps=prepared.facts.gaps,
    )
    if rule is not None:
        todo = rule.left(todo, list(store.trials(are_brief=True)))
    session.on_event(
        Started(
            n_planned=summary.n_planned,
            n_answered_before=summary.n_answered_before,
            notes=prepared.facts.notes,
            problems=prepared.facts.problems,
        )
    )

    counts: dict[tuple[str, int], AskCount] = {}  # of questions that wait for a batch, over all their passes

    async def ask(subject: ShownSubject) -> None:
        if rule is not None and rule.is_decided:
            raise _DecidedError
        key = (subject.item.item_id, subject.repeat)
        count = counts.setdefault(key, AskCount(keeps=True))
        tried = TrialStored(trial=await _trial(session, subject, count), cost=count.cost)
        del counts[key]
        store.add(tried.trial)
        summary.add(tried.trial)
        if rule is not None:
            rule.add(tried.trial)
        session.on_event(tried)

    if todo:
        n_consumers = min(plan.concurrency, prepared.model.max_in_flight or plan.concurrency)
        with suppress(_DecidedError):
            await session.work(todo, ask, n_consumers=n_consumers, count=summary.decoding)
        summary.close(session.asking, session.judging)
    if rule is not None:
        n_left = len(prepared.items) - len({item_id for item_id, _ in store.n_stored()})
        summary.ended = msgspec.structs.replace(rule.ended, n_left=n_left)
    return summary


async def _trial(session: Session, subject: ShownSubject, count: AskCount) -> Trial:
    """Answer one question with the strategy of the plan, and score the answer."""
    prepared = session.prepared
    if prepared.plan.layout.startswith("montage"):  # pictures are made: not on the event loop
        with suppress(UsageError, MediaError):  # raised again where the strategy wants the prompt
            await anyio.to_thread.run_sync(partial(subject.compose_ahead, next(iter(session.views))))
    answer = await session.engine.run(prepared.strategy.answer(subject), subject.context, count=count)
    if isinstance(answer, Failed):
        return Trial(
            item_id=subject.item.item_id,
            repeat=subject.repeat,
            choice_order=subject.choice_order,
            selection=subject.selection(subject.last_view),
            prompt=subject.last_prompt if answer.stage == "model" else None,
            score=subject.ruled(answer),
        )
    if len(answer.reply.text) > LONG_CHARACTERS:
        score = await anyio.to_thread.run_sync(subject.ruled, answer.reply)
    else:
        score = subject.ruled(answer.reply)
    if session.pool is not None:
        judging = session.pool.score(subject.item, answer.reply, ruled=score)
        score = await session.engine.drive(judging, Context(item_id=subject.item.item_id))
    return Trial(
        item_id=subject.item.item_id,
        repeat=subject.repeat,
        choice_order=subject.choice_order,
        selection=subject.selection(answer.view),
        prompt=answer.prompt,
        reply=answer.reply,
        score=score,
        is_remembered=count.n_asked == 0,
        steps=tuple(
            msgspec.structs.replace(
                step, is_remembered=any(step.reply is reply for reply in count.remembered)
            )
            for step in answer.steps
        ),
    )
