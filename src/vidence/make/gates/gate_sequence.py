"""The sequence of gates over a maker's drafts or a file's questions, with an account of each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from vidence.ask.judging.verdict_request import TemplateJudge
from vidence.catalog import create, parse_spec
from vidence.contracts import Judge
from vidence.engine.jobs import Jobs
from vidence.engine.scoring import RECORDED, JudgeModel, JudgePool
from vidence.engine.specs import without_sampling
from vidence.errors import UsageError
from vidence.explain.audit.key import StructureFinding
from vidence.make.gates.blind import BLIND, TAG, hold_back
from vidence.make.gates.checks import CHECKS, check
from vidence.make.gates.frames import FrameSource, cut_frames, frame_source
from vidence.make.gates.letters import spread_letters
from vidence.make.gates.model_gates import (
    ONE_FRAME,
    TEXT_ONLY,
    Asked,
    AskSettings,
    GateVerdict,
    ask_blind,
    ask_with_frames,
    id_of,
    remarks,
)
from vidence.make.gates.rules import MOST_LUCK, GateRules, JudgeRules, OneFrameRules, TextOnlyRules
from vidence.make.gates.splits import shared_between
from vidence.make.gates.verdicts import content_of
from vidence.make.gates.withholding import NEEDS_ALL, ask_without, cut_evidence
from vidence.make.pipeline.ledger import Ledger, MakeListener, StageBegan, StageEnded, ignore, write_file
from vidence.make.pipeline.material import Draft, Dropped
from vidence.make.pipeline.output import json_lines
from vidence.make.pipeline.session import Session
from vidence.records import Item, Sampling, by_key


def judge_pool(rules: JudgeRules | None, models: Jobs, *, seed: int) -> JudgePool | None:
    """Return the judge of free answers with its models; None if no judge is configured.

    The ids of what judges see are made from the seed.

    Raises:
        UnknownNameError: a model is not among these.
    """
    if rules is None:
        return None
    judge: Judge = create("judge", rules.protocol)
    if isinstance(judge, TemplateJudge):
        judge = replace(judge, seed=seed)
    return JudgePool(judge=judge, models=[_model(name, judge, models) for name in rules.models])


def judges_words(rules: JudgeRules | None, *, gate: str, n_free: int) -> list[str]:
    """Return notes on how free answers were marked; empty if there were no free answers."""
    if not n_free:
        return []
    if rules is not None:
        who = ", ".join(rules.models)
        return [f"{gate}: free answers to {n_free:,} questions were judged by {who} as {rules.protocol}."]
    return [
        f"{gate}: {n_free:,} questions have free answers and no judge: an answer in the right words counts "
        "as right, any other leaves its question open. Name a judge (--judge-model, or [gates.judge])."
    ]


def _model(name: str, judge: Judge, models: Jobs) -> JudgeModel:
    identity = models.identity(name)
    spec = parse_spec(models.spec(name))
    _, sampled = without_sampling(spec)
    sampling = msgspec.convert(msgspec.to_builtins(judge.sampling) | sampled, Sampling)
    return JudgeModel(name=name, identity=identity, sampling=sampling, is_recorded=spec.name in RECORDED)


VERDICTS_FILE = "verdicts.jsonl"
LEAKS: Final = "leaks"
_REASONS: Final = {TEXT_ONLY: "solved-blind", ONE_FRAME: "solved-one-frame", NEEDS_ALL: "spans-not-needed"}
_SPLIT: Final = "split"  # the tag that names the splits of a set


@dataclass(frozen=True, kw_only=True)
class GateDesk:
    """The environment of gates; without models no model gate runs.

    `ledger` takes accounts and notes, under the names of the gates behind `prefix`; verdicts are written into
    the folder `out`, where there are rules. `frames` says where the media of these questions are cut.
    `own_words` is the user's folder of templates for questions, `judge` says who judges free answers. With
    `to_people` what a model solves, or texts give away, is left open, not dropped.

    Of drafts, `sources` are the sources of their videos by id; what is not there is its own source, or has
    one in the draft. Without rules blind readers are the only gate where `is_released`. `holds` are the tasks
    whose drafts these hold back where the rules name none, `tasks` the names of tasks in drafts by those in
    the configuration, where they differ.

    Of items, `others` are sets, by their names, that share nothing with this one, and `hashes` those of media
    files, see `splits.hashes_of`.
    """

    seed: int
    ledger: Ledger = field(default_factory=Ledger)
    on_event: MakeListener = ignore
    prefix: str = ""
    out: Path | None = None
    models: Jobs | None = None
    frames: Callable[[Sequence[Asked]], FrameSource] | None = None
    own_words: Path | None = None
    judge: JudgeRules | None = None
    to_people: bool = False
    sources: Mapping[str, str] = field(default_factory=dict)
    is_released: bool = False
    holds: tuple[str, ...] = ()
    tasks: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, Sequence[Item]] = field(default_factory=dict)
    hashes: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, work: Session, *, models: Jobs | None, seed: int, media_root: Path) -> "GateDesk":
        """Return the environment of a maker's gates, with media below `media_root`."""
        return cls(
            seed=seed,
            ledger=work.ledger,
            on_event=work.context.on_event,
            out=work.out,
            models=models,
            frames=lambda asked: frame_source(
                asked, media_root=media_root, out=work.out, cache=work.cache, context=work.context
            ),
        )

    def began(self, gate: str, asked: Sequence[Asked]) -> None:
        """Report that a gate begins."""
        self.on_event(StageBegan(stage=f"{self.prefix}{gate}", n_units=len(asked)))

    def cutting(self, gate: str, asked: Sequence[Asked]) -> FrameSource:
        """Return the source of frames.

        Raises:
            UsageError: it is not said where the media lie.
        """
        if self.frames is None:
            raise UsageError(f"the gate {gate} shows frames, but no source of frames is given")
        return self.frames(asked)


@dataclass(frozen=True, kw_only=True)
class Gated:
    """Result of the gates: remaining questions, accounts, verdicts, and text leaks by structure.

    `words` say for a datasheet what the gates do, `notes` what a person should know beside the accounts. Of
    items every gate has verdicts, of drafts those that ask models.
    """

    left: tuple[Asked, ...]
    ledger: Ledger = field(default_factory=Ledger)
    verdicts: tuple[GateVerdict, ...] = ()
    balance: tuple[StructureFinding, ...] = ()
    words: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def drafts(self) -> tuple[Draft, ...]:
        """Return the remaining drafts."""
        return tuple(entry for entry in self.left if isinstance(entry, Draft))

    @property
    def items(self) -> tuple[Item, ...]:
        """Return the remaining items."""
        return tuple(entry for entry in self.left if isinstance(entry, Item))


@dataclass(frozen=True, kw_only=True)
class _Outcome:
    """Result of one gate: drops, and open questions with reasons, by id.

    `verdicts` are those of models. `changed` are drafts that go on otherwise than they came. Without
    `is_passed` nothing was kept or dropped, and there is no account.
    """

    dropped: Mapping[str, Dropped] = field(default_factory=dict)
    is_open: Mapping[str, str] = field(default_factory=dict)
    verdicts: tuple[GateVerdict, ...] = ()
    changed: Mapping[str, Draft] = field(default_factory=dict)
    balance: tuple[StructureFinding, ...] = ()
    words: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    is_passed: bool = True


def pass_gates(asked: Sequence[Asked], rules: GateRules | None, desk: GateDesk) -> Gated:
    """Run the configured gates in sequence; each sees what the previous ones kept.

    The gates are those of `GATES` in order. Letters of drafts are spread before models are asked, so
    that questions are asked as they are released, and again behind the last gate, where only what it has
    unbalanced is moved; those of items stay.

    Raises:
        UsageError: a gate asks a model, and there is none; or the media are needed, and nowhere.
        VidenceError: a model answers nobody any more; every reply so far is remembered.
    """
    left, gates, notes, is_ruled = tuple(asked), GATES, list[str](), rules is not None
    if rules is None:
        notes = ["the configuration has no [gates]; drafts were put through no quality gate"]
        rules, gates = GateRules(), ()
        if desk.is_released:
            notes = ["the configuration has no [gates]; the only gate is that of blind readers"]
            gates = ((BLIND, _blind),)
    verdicts: list[GateVerdict] = []
    words: list[str] = []
    balance: tuple[StructureFinding, ...] = ()
    unit = "drafts" if any(isinstance(entry, Draft) for entry in left) else "questions"
    for gate, run in gates:
        outcome = run(left, rules, desk)
        if outcome is None:
            continue
        verdicts += _verdicts(gate, left, outcome)
        words += outcome.words
        notes += outcome.notes
        balance = outcome.balance or balance
        if outcome.is_passed:
            left = _close(f"{desk.prefix}{gate}", left, outcome.dropped, desk=desk, unit=unit)
        left = tuple(outcome.changed.get(id_of(entry), entry) for entry in left)
    if not is_ruled:
        words, notes = [], [*notes, *words]
    elif desk.out is not None:
        write_file(desk.out / VERDICTS_FILE, json_lines(verdicts))
    desk.ledger.notes += notes
    return Gated(
        left=left,
        ledger=desk.ledger,
        verdicts=tuple(verdicts),
        balance=balance,
        words=tuple(words),
        notes=tuple(notes),
    )


def _close(
    stage: str, asked: tuple[Asked, ...], gone: Mapping[str, Dropped], *, desk: GateDesk, unit: str
) -> tuple[Asked, ...]:
    """Close the account of a gate; return the remaining questions."""
    kept = tuple(entry for entry in asked if id_of(entry) not in gone)
    account = desk.ledger.close(
        stage,
        unit=unit,
        taken=[id_of(entry) for entry in asked],
        kept=[id_of(entry) for entry in kept],
        dropped=[msgspec.structs.replace(dropped, stage=stage) for dropped in gone.values()],
    )
    desk.on_event(StageEnded(account=account))
    return kept


def _verdicts(gate: str, asked: Sequence[Asked], outcome: _Outcome) -> Iterator[GateVerdict]:
    """Return the verdicts of models, with the content of items."""
    of_models = {element.item_id: element for element in outcome.verdicts}
    for entry in asked:
        name = id_of(entry)
        verdict = of_models.get(name)
        if isinstance(entry, Item):
            verdict = verdict or _by_rule(gate, name, outcome)
            verdict = msgspec.structs.replace(verdict, content=content_of(entry))
        if verdict is not None:
            yield verdict


def _by_rule(gate: str, name: str, outcome: _Outcome) -> GateVerdict:
    if (gone := outcome.dropped.get(name)) is not None:
        return GateVerdict(item_id=name, gate=gate, decision="dropped", reason=gone.reason, why=gone.detail)
    why = outcome.is_open.get(name, "")
    return GateVerdict(item_id=name, gate=gate, decision="open" if why else "kept", why=why)


# --------------------------------------------------------------------------- the gates


def _checks(asked: Sequence[Asked], rules: GateRules, desk: GateDesk) -> _Outcome | None:
    """Drop duplicates, ambiguous questions, and questions that reveal their answer."""
    if rules.checks is None:
        return None
    desk.began(CHECKS, asked)
    near = f"{rules.checks.near:g}"
    return _Outcome(
        dropped={dropped.what: dropped for dropped in check(asked, rules.checks)},
        words=(f"checks: what is doubled (words alike by {near}), ambiguous, or gives itself away",),
    )


def _leaks(asked: Sequence[Asked], rules: GateRules, desk: GateDesk) -> _Outcome | None:
    """Drop items shared with another dataset; leave those shared between own splits open.

    Of two splits the first in the data is free.
    """
    items = [entry for entry in asked if isinstance(entry, Item)]
    splits = by_key((item.tags[_SPLIT], item) for item in items if _SPLIT in item.tags)
    if not items or not (desk.others or splits):
        return None
    desk.began(LEAKS, asked)
    dropped: dict[str, Dropped] = {}
    for name, others in desk.others.items():
        for shared in shared_between(items, others, hashes=desk.hashes):
            reason, detail = f"shares-{shared.kind}", f"{shared.what} with {shared.second[0]} of {name}"
            for word in shared.first:
                dropped.setdefault(word, Dropped(what=word, stage=LEAKS, reason=reason, detail=detail))
    is_open: dict[str, str] = {}
    for first, second in combinations(splits, 2):
        for shared in shared_between(splits[first], splits[second], hashes=desk.hashes):
            says = f"shares {shared.kind} {shared.what!r} with {shared.first[0]!r} of the split {first!r}"
            for word in shared.second:
                is_open.setdefault(word, says)
    n_open = sum(other not in dropped for other in is_open)
    leaks = (
        f"{LEAKS}: {n_open:,} questions share something with another split and are left open; cut the set "
        "with vidence items split, or drop them with --drop dropped,open"
    )
    return _Outcome(dropped=dropped, is_open=is_open, notes=(leaks,) if n_open else ())


def _spread(asked: Sequence[Asked], rules: GateRules, desk: GateDesk) -> _Outcome | None:
    """Spread right choices evenly over the letters."""
    drafts = [entry for entry in asked if isinstance(entry, Draft)]
    if not rules.letters or not drafts:
        return None
    spread = spread_letters(drafts, seed=desk.seed)
    return _Outcome(changed={draft.draft_id: draft for draft in spread}, is_passed=False)


def _text_only(asked: Sequence[Asked], rules: GateRules, desk: GateDesk) -> _Outcome | None:
    """Drop what readers answer without the video."""
    given = rules.text_only
    if given is None or not given.models:
        return _left_out(TEXT_ONLY, asked)
    models, how = _asking(TEXT_ONLY, asked, desk)
    verdicts = ask_blind(asked, given, models=models, seed=desk.seed, how=how)
    return _answered(TEXT_ONLY, asked, verdicts, desk=desk, says=_panel_words(given, models))


def _one_frame(asked: Sequence[Asked], rules: GateRules, desk: GateDesk) -> _Outcome | None:
    """Drop what a model answers from one frame."""
    given = rules.one_frame
    if given is None:
        return _left_out(ONE_FRAME, asked)
    models, how = _asking(ONE_FRAME, asked, desk)
    tried = cut_frames(asked, given, desk.cutting(ONE_FRAME, asked))
    verdicts = ask_with_frames(asked, tried, given, models=models, seed=desk.seed, how=how)
    return _answered(ONE_FRAME, asked, verdicts, desk=desk, says=_frame_words(given, models))


def _needs_all(asked: Sequence[Asked], rules: GateRules, desk: GateDesk) -> _Outcome | None:
    """Drop what a model answers with evidence withheld; tag drafts with the number of needed moments."""
    given = rules.needs_all
    if given is None:
        return _left_out(NEEDS_ALL, asked)
    models, how = _asking(NEEDS_ALL, asked, desk)
    evidence = cut_evidence(asked, given, desk.cutting(NEEDS_ALL, asked))
    verdicts = ask_without(asked, evidence, given, models=models, seed=desk.seed, how=how)
    then = "dropped where fewer than k moments proved needed" if given.drop else "nothing is dropped"
    says = (
        f"each span of evidence is withheld in turn from {_spec(given.model, models)}, which must not be "
        f"right without it in {1 + given.permutations} orders of the choices; {then}"
    )
    outcome = _answered(NEEDS_ALL, asked, verdicts, desk=desk, says=says)
    proved = {verdict.item_id: verdict.k_verified for verdict in verdicts}
    drafts = [entry for entry in asked if isinstance(entry, Draft)]
    changed = {
        draft.draft_id: msgspec.structs.replace(draft, k_verified=proved.get(draft.draft_id))
        for draft in drafts
    }
    return replace(outcome, changed=changed)


def _left_out(gate: str, asked: Sequence[Asked]) -> _Outcome | None:
    """Note in drafts that a gate was left out."""
    if not any(isinstance(entry, Draft) for entry in asked):
        return None
    table = gate.replace("-", "_")
    out = f"{gate}: the configuration has no [gates.{table}]; this gate was left out"
    return _Outcome(notes=(out,), is_passed=False)


def _asking(gate: str, asked: Sequence[Asked], desk: GateDesk) -> tuple[Jobs, AskSettings]:
    """Begin a model gate; return the models and how they are asked.

    Raises:
        UsageError: there are no models.
    """
    if desk.models is None:
        raise UsageError(f"the gate {gate} asks a model, but none is given")
    desk.began(gate, asked)
    pool = judge_pool(desk.judge, desk.models, seed=desk.seed)
    return desk.models, AskSettings(own_words=desk.own_words, pool=pool)


def _answered(
    gate: str, asked: Sequence[Asked], gate_verdicts: Sequence[GateVerdict], *, desk: GateDesk, says: str
) -> _Outcome:
    """Apply the verdicts of models."""
    reason = _REASONS[gate]
    settled = {"reason": reason}
    if desk.to_people:
        settled = {"decision": "open", "why": f"{reason}, for people to look at"}
    verdicts = tuple(
        msgspec.structs.replace(v, **settled) if v.decision == "dropped" else v for v in gate_verdicts
    )
    n_free = sum(isinstance(entry, Item) and entry.answer_kind != "choice" for entry in asked)
    return _Outcome(
        dropped={
            verdict.item_id: Dropped(what=verdict.item_id, stage=gate, reason=reason, detail=_told(verdict))
            for verdict in verdicts
            if verdict.decision == "dropped"
        },
        verdicts=verdicts,
        words=(f"{gate}: {says}",),
        notes=(*remarks(gate, verdicts), *judges_words(desk.judge, gate=gate, n_free=n_free)),
    )


def _told(verdict: GateVerdict) -> str:
    """Return why a gate drops a question, in figures."""
    if verdict.k_verified is not None:
        return f"{verdict.k_verified} moments proved needed, {verdict.n_right} spans did not"
    return f"{verdict.n_right} of {len(verdict.votes)} right"


def _spec(name: str, models: Jobs) -> str:
    return models.spec(name).partition("?")[0]


def _panel_words(rules: TextOnlyRules, models: Jobs) -> str:
    who = ", ".join(_spec(name, models) for name in rules.models)
    orders = f", in {1 + rules.permutations} orders of the choices" if rules.permutations else ""
    if rules.runs:
        often = f"{rules.runs} times"
        if rules.runs == "auto":
            often = f"so often that guessing passes in {MOST_LUCK:.0%} at most"
        orders = f", each asked {often}, in other orders of the choices"
    return f"dropped where {rules.at_least} of {len(rules.models)} are right in words alone{orders} ({who})"


def _frame_words(rules: OneFrameRules, models: Jobs) -> str:
    tried = [f"those that show the first {rules.evidence} spans best"] * (
        rules.decisive and bool(rules.evidence)
    )
    tried += ["the central one"] * rules.central
    tried += [f"those in the middle of the first {rules.evidence} spans"] * bool(rules.evidence)
    return (
        f"dropped where {_spec(rules.model, models)} is right with one frame, for {rules.suffice} of these "
        f"frames: {', '.join(tried)}; in {1 + rules.permutations} orders of the choices"
    )


def _blind(asked: Sequence[Asked], rules: GateRules, desk: GateDesk) -> _Outcome | None:
    """Drop questions of structures answered from text; tag kept drafts with their structure's verdict."""
    if rules.blind is None or not asked:
        return None
    desk.began(BLIND, asked)
    of_drafts = isinstance(asked[0], Draft)
    wanted = rules.blind.in_maker(desk.holds, desk.tasks) if of_drafts else rules.blind
    gate = hold_back(asked, wanted, sources=desk.sources, seed=desk.seed)
    dropped = {entry.what: entry for entry in gate.dropped}
    if desk.to_people:
        is_open = {name: entry.detail for name, entry in dropped.items()}
        blind = (
            f"{BLIND}: {len(dropped):,} questions are given away by texts and left open for people to look at"
        )
        notes = (blind,) if dropped else ()
        return _Outcome(is_open=is_open, balance=gate.findings, words=gate.words, notes=notes)
    changed = {
        entry.draft_id: msgspec.structs.replace(entry, tags=entry.tags | {TAG: gate.verdicts[entry.draft_id]})
        for entry in asked
        if isinstance(entry, Draft)
    }
    return _Outcome(dropped=dropped, changed=changed, balance=gate.findings, words=gate.words)


Gate: TypeAlias = Callable[[Sequence[Asked], GateRules, GateDesk], _Outcome | None]
GATES: Final[tuple[tuple[str, Gate], ...]] = (
    (CHECKS, _checks),
    (LEAKS, _leaks),
    ("letters", _spread),
    (TEXT_ONLY, _text_only),
    (ONE_FRAME, _one_frame),
    (NEEDS_ALL, _needs_all),
    (BLIND, _blind),
    ("letters", _spread),
)
