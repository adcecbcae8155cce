"""Judge stored replies of a run, or compare several judges on them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec

from vidence.ask.judging.verdict_request import TemplateJudge
from vidence.ask.models.batches import Batches
from vidence.catalog import create
from vidence.contracts import Judge, Scorer
from vidence.engine.batching import open_batches
from vidence.engine.engine import AskCount, Context, Engine
from vidence.engine.environment import Environment
from vidence.engine.evaluate import Summary
from vidence.engine.events import Listener, Started, TrialStored
from vidence.engine.executor import executor_of
from vidence.engine.limits import AskLimits, Budget
from vidence.engine.plan import Plan, read_plan, write_plan
from vidence.engine.scoring import JudgeModel, JudgePool, score_reply
from vidence.engine.session import add_judges, each, in_waves, judge_model, judge_of
from vidence.engine.store import RunStore
from vidence.errors import NoVerdictsError, UsageError
from vidence.records import EXTRACT, Item, Record, Reply, Score, Trial, Unreadable, Verdict
from vidence.text import quoted

_WITHHELD = Unreadable(reason="withheld from the judge")
N_FIRST = 20
"""Replies that a judge must have seen before verdicts are stored."""
_MOST_LOST = 0.1


async def judge_run(plan: Plan, folder: Path, *, environment: Environment, on_event: Listener) -> Summary:
    """Put every stored reply of a run to the judge that `plan` names; the run then carries this judge.

    Trials that this judge and these models have scored before are left alone, tied panels too; those without
    a reply stay as they are. Where they were asked and gave no verdict they are asked again, and not out of
    the memory, which would repeat what could not be read. A trial that had a mark keeps it until there is a
    new one, and one that waits goes on waiting; the verdicts that failed are kept beside. Nothing is removed:
    a trial that is judged is stored once more, and the last counts. Nothing is stored, and the folder keeps
    its judge, until `N_FIRST` replies were asked about.

    Args:
        plan: the plan in the folder with `judge` and `judge_models` as they shall be.
        folder: the run.
        environment: where the reply memory is, and judges with weights work.
        on_event: told of every trial.

    Raises:
        UsageError: no judge model is named, or all answers are hidden.
        NoVerdictsError: more than a tenth of the first replies got no verdict; the run is as it was.
        StoreError: not a run folder, or another process works in it.
        VidenceError: the judges cannot go on; every verdict so far is kept.
    """
    before, facts = read_plan(folder)
    judging = Budget(prices=plan.judge_prices, max_cost=plan.max_cost)
    memory = environment.memory(plan.memory)
    open_model = executor_of(environment.on).opener(plan.judge_models)
    async with Engine(memory=memory, limits=plan.limits, on_event=on_event, open_model=open_model) as engine:
        if not plan.judge_models:
            raise UsageError(
                "no judge model is named; add --judge-model, for example --judge-model openai:gpt-4o"
            )
        pool = add_judges(engine, plan, judging)
        facts = msgspec.convert(msgspec.to_builtins(facts) | pool.facts, type(facts))
        with RunStore(folder, is_writer=True) as store:
            check_known(store.items(), folder)
            _check_free(store, plan, folder)

            def begin() -> None:
                # Before the first verdict: it says by whom they are.
                write_plan(folder, _kept(plan, before), facts)
                # Where these judges have marked before others failed, nothing is to be asked again.
                for trial in list(store.trials()):
                    if trial.score.unanswered and pool.has_judged(trial.score):
                        score = msgspec.structs.replace(trial.score, unanswered=())
                        store.add(msgspec.structs.replace(trial, score=score))

            is_new_rule = len(pool.models) > 1 and before.judge_panel != plan.judge_panel
            held = _Held(store=store, begin=begin)
            batches = open_batches(plan, engine, [model.name for model in pool.models], views=())
            summary = await _judge_all(
                engine, pool, plan, held=held, batches=batches, is_new_rule=is_new_rule
            )
    summary.close(Budget(), judging)
    return summary


def _kept(plan: Plan, before: Plan) -> Plan:
    """The plan as the folder keeps it: whether it was answered in batches stays, which sets its prices."""
    limit = None if before.batch else plan.max_cost
    return msgspec.structs.replace(plan, batch=before.batch, max_cost=limit)


def check_known(items: Sequence[Item], folder: Path) -> None:
    """Check that a judge can be asked about a run.

    Raises:
        UsageError: the answers of all its questions are hidden.
    """
    if items and all(item.is_hidden for item in items):
        raise UsageError(
            f"answers hidden: a judge needs those of the {len(items):,} questions of {folder}; score the "
            f"submission with `vidence items score {quoted(folder)} --answers FOLDER --judge-model SPEC`"
        )


def _check_free(store: RunStore, plan: Plan, folder: Path) -> None:
    """Check that no verdict on a free answer is lost to a judge that reads choices alone.

    Raises:
        UsageError: there are such verdicts.
    """
    free = {item.item_id for item in store.items() if item.answer_kind == "text"}
    if plan.judge == EXTRACT and free and any(t.score.verdicts for t in store.trials() if t.item_id in free):
        raise UsageError(
            f"{folder} holds verdicts on free answers, which {EXTRACT} does not judge; use --judge "
            "rule-first --judge-model SPEC"
        )


async def _judge_all(
    engine: Engine,
    pool: JudgePool,
    plan: Plan,
    *,
    held: "_Held",
    batches: Sequence[Batches],
    is_new_rule: bool,
) -> Summary:
    store, on_event = held.store, engine.on_event
    items = {item.item_id: item for item in store.items()}
    parsers: dict[str, Scorer] = {
        "choice": create("parser", plan.parser),
        "text": create("parser", plan.text_parser),
    }
    trials = list(store.trials())
    n_stored = store.n_stored()
    # Verdicts under another rule of the panel are combined anew; they come out of the memory.
    todo = [
        (t, t.reply)
        for t in trials
        if t.reply is not None
        and not items[t.item_id].is_hidden
        and (is_new_rule or not pool.has_judged(t.score))
    ]
    summary = Summary(n_planned=len(trials), n_answered_before=len(trials) - len(todo))
    summary.n_hidden = sum(item.is_hidden for item in items.values())
    on_event(Started(n_planned=summary.n_planned, n_answered_before=summary.n_answered_before))

    async def judge(pair: tuple[Trial, Reply]) -> None:
        trial, reply = pair
        order = items[trial.item_id].with_order(trial.choice_order)
        ruled = score_reply(order, reply, parsers[order.answer_kind])
        is_lost = not pool.has_judged(trial.score)
        is_again = is_lost and (pool.has_asked(trial.score) or pool.has_asked_in_vain(trial.score))
        attempt = n_stored[trial.item_id, trial.repeat] if is_again else 0
        context = Context(item_id=order.item_id, repeat=attempt)
        score = await engine.drive(pool.score(order, reply, ruled=ruled), context)
        if is_kept := score.has_judge_error:
            kept = ruled if trial.score.has_judge_error else trial.score
            score = msgspec.structs.replace(kept, unanswered=score.verdicts)
        judged = msgspec.structs.replace(trial, score=score)
        held.add(judged)
        summary.add(msgspec.structs.replace(judged, is_remembered=False))
        summary.n_scores_kept += is_kept
        on_event(TrialStored(trial=judged, cost=0.0))

    work = partial(each, consume=judge, n_consumers=plan.concurrency)
    try:
        await in_waves(todo, work, batches=batches, on_event=on_event)
    finally:
        held.release()
    return summary


@dataclass(kw_only=True)
class _Held:
    """The first judged trials, which are stored once they show that the judge can give verdicts."""

    store: RunStore
    begin: Callable[[], None]
    trials: list[Trial] | None = field(default_factory=list)
    is_refused: bool = False

    def add(self, judged: Trial) -> None:
        """Store a trial, or hold it while fewer than `N_FIRST` replies were asked about.

        Raises:
            NoVerdictsError: too many of these got no verdict.
        """
        if self.trials is None:
            self.store.add(judged)
            return
        self.trials.append(judged)
        scores = [trial.score for trial in self.trials]
        lost = [score.unanswered for score in scores if score.unanswered]
        n_asked = sum(bool(score.verdicts) for score in scores if not score.unanswered) + len(lost)
        if n_asked < N_FIRST:
            return
        if len(lost) > _MOST_LOST * n_asked:
            self.is_refused = True
            raise NoVerdictsError(
                f"the judge gave no verdict on {len(lost)} of the first {n_asked} replies (limit "
                f"{_MOST_LOST:.0%}); all scores are unchanged. The first: {lost[0][0].error}. Name another "
                "--judge-model or --judge"
            )
        self.release()

    def release(self) -> None:
        """Store what is held, unless the judge was refused; what follows is stored at once."""
        if self.trials is not None and not self.is_refused:
            self.begin()
            for judged in self.trials:
                self.store.add(judged)
            self.trials = None


class JudgedReply(Record):
    """What one judge made of one reply: a line of ``--lines``."""

    run: str
    """What the run is called in tables and figures."""
    item_id: str
    repeat: int = 0
    """Of the run."""
    judge: str
    """The protocol, such as ``humanpcr``."""
    judge_version: int = 1
    words: str = ""
    """Whose words the judge is asked in: empty for ours, else how the digest of the templates begins, behind
    ``authors`` or ``unchecked`` where the system messages are imported."""
    judge_model: str
    """The spec of the model that judges."""
    is_asked: bool = True
    """False if the rules of the protocol decided without a judge."""
    value: float | None = None
    """1 for right, 0 for wrong; None if there is no verdict, or the protocol leaves the reply to rules."""
    points: float | None = None
    verdict: Verdict | None = None
    is_remembered: bool = False

    @property
    def reply(self) -> tuple[str, str, int]:
        """Which reply it is about: run, question, repeat."""
        return self.run, self.item_id, self.repeat


class JudgesWanted(Record):
    """Which judges are asked: every model as every protocol."""

    models: tuple[str, ...]
    judges: tuple[str, ...]
    prompts_dir: str | None = None
    """A folder whose files replace the words of the one protocol; None for ours."""
    limits: AskLimits = AskLimits()

    def __post_init__(self) -> None:
        """Reject a list without judges, or with the same judge twice.

        Raises:
            UsageError: the message says what.
        """
        if not self.models:
            raise UsageError(
                "no judge model is named; add --judge-model, such as --judge-model openai:gpt-4o"
            )
        for flag, names in (("--judge-model", self.models), ("--judge", self.judges)):
            if len(set(names)) < len(names):
                raise UsageError(f"{flag} repeats a name: {', '.join(names)}; give each name once")


@dataclass(frozen=True, kw_only=True)
class _Case:
    """A reply with its prompt, and the rules' verdict if they decide."""

    run: str
    item: Item
    trial: Trial
    reply: Reply
    ruled: Score


async def ask_judges(
    folders: Mapping[str, Path],
    wanted: JudgesWanted,
    *,
    judges_of: Mapping[str, Sequence[str]],
    environment: Environment,
    on_event: Listener,
) -> tuple[JudgedReply, ...]:
    """Let every judge score every stored reply; the run folders stay as they are.

    A letter that a rule could read is withheld, so that the judge decides on choices, too; a protocol that
    leaves choices to the rules says nothing of them. Free answers are judged as in a run. The first verdict
    is the one that ``vidence replies judge`` gets: it is asked for under the same key of the reply memory.

    Args:
        folders: the run folders, by what they are called.
        wanted: who is asked.
        judges_of: for each run the protocols.
        environment: where the reply memory is, and judges with weights work.
        on_event: told of every verdict.

    Raises:
        UsageError: words are given, which are for one protocol, and there are several.
        StoreError: not a run folder.
        VidenceError: a judge cannot be opened or asked; every reply so far is in the memory.
    """
    protocols = sorted({judge for some in judges_of.values() for judge in some})
    if wanted.prompts_dir is not None and len(protocols) > 1:
        raise UsageError(
            f"--judge-prompts-dir holds the templates of one protocol, and {', '.join(protocols)} are asked; "
            "name one with --judge, or ask each on its own with --lines, and pass all files to --recorded"
        )
    async with Engine(
        memory=environment.memory(),
        limits=wanted.limits,
        on_event=on_event,
        open_model=executor_of(environment.on).opener(wanted.models),
    ) as engine:
        tasks: list[tuple[_Case, JudgePool, str]] = []
        for name, folder in folders.items():
            plan, _ = read_plan(folder)
            pools = _pools(engine, wanted, plan, judges=judges_of[name])
            for case in _cases(name, folder, plan):
                tasks += [(case, pool, model) for model, pool in pools]
        on_event(Started(n_planned=len(tasks), n_answered_before=0))
        judges: dict[int, JudgedReply] = {}

        async def judge(position: int) -> None:
            case, pool, model = tasks[position]
            words = _words(pool.judge, wanted.prompts_dir)
            judges[position], score = await _judged(engine, case, pool, model=model, words=words)
            on_event(TrialStored(trial=msgspec.structs.replace(case.trial, score=score), cost=0.0))

        await each(range(len(tasks)), judge, n_consumers=wanted.limits.concurrency)
    return tuple(judges[position] for position in range(len(tasks)))


def _pools(
    engine: Engine, wanted: JudgesWanted, plan: Plan, *, judges: Iterable[str]
) -> list[tuple[str, JudgePool]]:
    """Every model as every protocol, with the seed of the run; each model is opened once."""
    pools = []
    plan = msgspec.structs.replace(plan, judge_prompts_dir=wanted.prompts_dir)
    for name in judges:
        judge: Judge = judge_of(name, plan)
        for position, text in enumerate(wanted.models):
            model: JudgeModel = judge_model(
                engine, text, judge=judge, name=f"judge {position}", budget=Budget()
            )
            pools.append((text, JudgePool(judge=judge, models=(model,))))
    return pools


def _words(judge: Judge, prompts_dir: str | None) -> str:
    """What `JudgedReply.words` says."""
    if prompts_dir is None:
        return ""
    wording = judge.wording if isinstance(judge, TemplateJudge) else "own"
    digest = judge.prompts_digest[:8]
    return digest if wording == "own" else f"{wording} {digest}"


def _cases(name: str, folder: Path, plan: Plan) -> Iterable[_Case]:
    """Yield the stored replies of a run."""
    parser: Scorer = create("parser", plan.text_parser)
    with RunStore(folder) as store:
        items = {item.item_id: item for item in store.items()}
        check_known(tuple(items.values()), folder)
        for trial in list(store.trials(are_brief=True)):
            if trial.reply is None or items[trial.item_id].is_hidden:
                continue
            order = items[trial.item_id].with_order(trial.choice_order)
            if order.answer_kind == "choice":
                ruled = Score(outcome=_WITHHELD, value=0.0, scorer=plan.parser, scorer_version=1)
            else:
                ruled = score_reply(order, trial.reply, parser)
            yield _Case(run=name, item=order, trial=trial, reply=trial.reply, ruled=ruled)


async def _judged(
    engine: Engine, case: _Case, pool: JudgePool, *, model: str, words: str
) -> tuple[JudgedReply, Score]:
    count, context = AskCount(), Context(item_id=case.item.item_id)
    flow = pool.score(case.item, case.reply, ruled=case.ruled)
    score = await engine.drive(flow, context, count=count)
    verdict = score.verdicts[0] if score.verdicts else None
    ruled = score.value if case.item.answer_kind == "text" else None
    value = ruled if verdict is None else verdict.value
    line = JudgedReply(
        run=case.run,
        item_id=case.item.item_id,
        repeat=case.trial.repeat,
        judge=pool.judge.name,
        judge_version=pool.judge.version,
        words=words,
        judge_model=model,
        is_asked=verdict is not None,
        value=value,
        points=score.points,
        verdict=verdict,
        is_remembered=count.n_asked == 0 and count.n_remembered > 0,
    )
    return line, score
