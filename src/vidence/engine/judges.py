"""Several judges on the replies of several runs, to be set beside people, rules and each other."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from vidence.ask.judging.verdict_request import TemplateJudge
from vidence.catalog import create
from vidence.contracts import Judge, Scorer
from vidence.engine.engine import AskCount, Context, Engine
from vidence.engine.environment import Environment
from vidence.engine.events import Listener, Started, TrialStored
from vidence.engine.executor import executor_of
from vidence.engine.limits import AskLimits, Budget
from vidence.engine.plan import Plan, read_plan
from vidence.engine.scoring import JudgeModel, JudgePool, score_reply
from vidence.engine.session import each, judge_model, judge_of
from vidence.engine.store import RunStore
from vidence.errors import UsageError
from vidence.records import Item, Record, Reply, Score, Trial, Unreadable, Verdict

_WITHHELD = Unreadable(reason="withheld from the judge")


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
    """False: the rules of the protocol decided, and nobody was asked."""
    value: float | None = None
    """1 for right, 0 for wrong; None where there is no verdict, or the protocol leaves the reply to rules."""
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
        """Refuse what would ask nobody, or the same judge twice.

        Raises:
            UsageError: the message says what.
        """
        if not self.models:
            raise UsageError(
                "no judge model is named; say --judge-model, such as --judge-model openai:gpt-4o"
            )
        for flag, names in (("--judge-model", self.models), ("--judge", self.judges)):
            if len(set(names)) < len(names):
                raise UsageError(f"{flag} names one twice: {', '.join(names)}; give each one once")


@dataclass(frozen=True, kw_only=True)
class _Case:
    """One reply, as it was shown, with what the rules make of it where they may."""

    run: str
    item: Item
    trial: Trial
    reply: Reply
    ruled: Score


@dataclass(frozen=True, kw_only=True)
class _Task:
    case: _Case
    pool: JudgePool
    model: str


async def ask_judges(
    folders: Mapping[str, Path],
    wanted: JudgesWanted,
    *,
    judges_of: Mapping[str, Sequence[str]],
    environment: Environment,
    on_event: Listener,
) -> tuple[JudgedReply, ...]:
    """What every judge makes of every stored reply; the run folders stay as they are.

    A letter that a rule could read is withheld, so that the judge decides on choices, too; a protocol that
    leaves choices to the rules says nothing of them. Free answers are judged as in a run. The first verdict
    is the one that ``vidence judge`` gets: it is asked for under the same key of the reply memory.

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
            f"--judge-prompts are words for one protocol, and here are {', '.join(protocols)}; name one with "
            "--judge, or ask for each in a command of its own with --lines, and give --recorded every file"
        )
    async with Engine(
        memory=environment.replies(),
        limits=wanted.limits,
        on_event=on_event,
        open_model=executor_of(environment.on).opener(wanted.models),
    ) as engine:
        tasks: list[_Task] = []
        for name, folder in folders.items():
            plan, _ = read_plan(folder)
            pools = _pools(engine, wanted, plan, judges=judges_of[name])
            for case in _cases(name, folder, plan):
                tasks += [_Task(case=case, pool=pool, model=model) for model, pool in pools]
        on_event(Started(n_planned=len(tasks), n_answered_before=0))
        found: dict[int, JudgedReply] = {}

        async def judge(one: tuple[int, _Task]) -> None:
            position, task = one
            line, score = await _judged(engine, task, wanted)
            found[position] = line
            on_event(TrialStored(trial=msgspec.structs.replace(task.case.trial, score=score), cost=0.0))

        await each(list(enumerate(tasks)), judge, n_consumers=wanted.limits.concurrency)
    return tuple(found[position] for position in range(len(tasks)))


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
    """The stored replies of a run."""
    parser: Scorer = create("parser", plan.text_parser)
    with RunStore(folder) as store:
        items = {item.item_id: item for item in store.items()}
        for trial in list(store.trials(are_brief=True)):
            if trial.reply is None:
                continue
            shown = items[trial.item_id].with_order(trial.choice_order)
            if shown.answer_kind == "choice":
                ruled = Score(outcome=_WITHHELD, value=0.0, scorer=plan.parser, scorer_version=1)
            else:
                ruled = score_reply(shown, trial.reply, parser)
            yield _Case(run=name, item=shown, trial=trial, reply=trial.reply, ruled=ruled)


async def _judged(engine: Engine, task: _Task, wanted: JudgesWanted) -> tuple[JudgedReply, Score]:
    case, count = task.case, AskCount()
    context = Context(item_id=case.item.item_id)
    flow = task.pool.score(case.item, case.reply, ruled=case.ruled)
    score = await engine.drive(flow, context, count=count)
    verdict = score.verdicts[0] if score.verdicts else None
    ruled = score.value if case.item.answer_kind == "text" else None
    value = ruled if verdict is None else verdict.value
    line = JudgedReply(
        run=case.run,
        item_id=case.item.item_id,
        repeat=case.trial.repeat,
        judge=task.pool.judge.name,
        judge_version=task.pool.judge.version,
        words=_words(task.pool.judge, wanted.prompts_dir),
        judge_model=task.model,
        is_asked=verdict is not None,
        value=value,
        points=score.points,
        verdict=verdict,
        is_remembered=count.n_asked == 0 and count.n_remembered > 0,
    )
    return line, score
