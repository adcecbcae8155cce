"""The gates on the questions of any file, one behind the other."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from types import MappingProxyType
from typing import Final, Literal

import msgspec

from vidence.errors import UsageError
from vidence.explain.audit.key import StructureFinding, structures_of
from vidence.make.gates.blind import BLIND, tested
from vidence.make.gates.checks import CHECKS, check
from vidence.make.gates.frames import FrameSource
from vidence.make.gates.model_gates import AskSettings, Decision, GateVerdict
from vidence.make.gates.rules import (
    ALL_TASKS,
    AskingGates,
    BlindRules,
    CheckRules,
    JudgeRules,
    NeedsAllRules,
    OneFrameRules,
    Preset,
    TextOnlyRules,
)
from vidence.make.gates.splits import shared_between
from vidence.make.gates.trying import Asking, AskingRules, asking_gates, judge_pool, judges_words, try_gate
from vidence.make.gates.verdicts import content_of
from vidence.make.pipeline.ledger import Ledger
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.models import Models
from vidence.records import Item

LEAKS: Final = "leaks"
_WHY_OPEN: Final[Mapping[str, str]] = MappingProxyType(
    {
        LEAKS: "share something with another split and are left open; cut the set with vidence split, or "
        "drop them with --drop dropped,open",
        BLIND: "are of structures that texts give away and are left open for people to look at",
    }
)


class ItemGateRules(AskingGates, omit_defaults=True):
    """Which gates questions are put through; those without rules are left out.

    With `to_people` a question that a model solves, or that texts give away and that is held back, is left
    open, not dropped. `judge` says who judges free answers. `split_tag` names the splits of a set: what
    shares something with another split is left open, what does with another set is dropped.
    """

    checks: CheckRules | None = CheckRules()
    split_tag: str = "split"
    balance: BlindRules | None = BlindRules()
    judge: JudgeRules | None = None
    to_people: bool = False

    @classmethod
    def of(
        cls,
        preset: Preset,
        *,
        text_only: tuple[str, ...] = (),
        one_frame: str = "",
        needs_all: str = "",
        runs: int | Literal["auto"] | None = None,
    ) -> "ItemGateRules":
        """The rules of a paper for models by their names; gates without one are left out.

        Args:
            preset: the rules of the paper.
            text_only: the models that see the words alone.
            one_frame: the model that sees one frame.
            needs_all: the model from which evidence is withheld.
            runs: how often readers of words are asked (None: as the paper does).
        """
        forced, words = preset.forced, None
        if text_only:
            words = TextOnlyRules(
                models=text_only,
                at_least=preset.at_least or len(text_only),
                runs=preset.runs if runs is None else runs,
                forced=forced,
            )
        return cls(
            text_only=words,
            one_frame=OneFrameRules(model=one_frame, forced=forced) if one_frame else None,
            needs_all=NeedsAllRules(model=needs_all, forced=forced) if needs_all else None,
            to_people=preset.to_people,
        )


@dataclass(frozen=True, kw_only=True)
class GateDesk:
    """What gates on items work with; without models none is asked.

    `frames` is where media are cut. `others` are sets, by their names, that share nothing with this one, and
    `hashes` those of media files, see `splits.hashes_of`.
    """

    seed: int
    models: Models | None = None
    frames: FrameSource | None = None
    others: Mapping[str, Sequence[Item]] = field(default_factory=dict)
    hashes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class GatedItems:
    """What came of the gates: what is left, every verdict, the account, the balance of answers, and words."""

    items: tuple[Item, ...]
    verdicts: tuple[GateVerdict, ...]
    ledger: Ledger
    balance: tuple[StructureFinding, ...]
    words: tuple[str, ...]


def gate_items(items: Sequence[Item], rules: ItemGateRules, desk: GateDesk) -> GatedItems:
    """Put questions through the gates; what one drops, the next one does not see.

    The gates in order: ``checks`` (doubled, ambiguous, giving themselves away), ``leaks`` (shared with
    another split or set), ``text-only``, ``one-frame``, ``needs-all``, ``blind`` (answers that texts give
    away, by structure). Letters stay as they are.

    Raises:
        UsageError: a gate asks a model, and there is none; or the media are needed, and nowhere.
        VidenceError: a model answers nobody any more; every reply so far is remembered.
    """
    line = _GateCall(rules=rules, desk=desk)
    left = tuple(items)
    if rules.checks is not None:
        wanted = rules.checks
        left = line.dropping(CHECKS, left, lambda some: check(some, wanted)[1])
    if desk.others or any(rules.split_tag in item.tags for item in left):
        between = _between_splits(left, rules.split_tag, desk)
        left = line.dropping(LEAKS, left, lambda some: _with_others(some, desk), is_open=between)
    for gate, asking, reason in asking_gates(rules):
        left = left if asking is None else line.asked(gate, left, asking, reason=reason)
    findings: tuple[StructureFinding, ...] = ()
    if rules.balance is not None:
        findings = read_balance(left, rules.balance, seed=desk.seed)
        left = line.held(left, _held(left, findings, rules.balance))
    return GatedItems(
        items=left,
        verdicts=tuple(line.verdicts),
        ledger=line.ledger,
        balance=findings,
        words=tuple(line.words),
    )


def read_balance(items: Sequence[Item], rules: BlindRules, *, seed: int) -> tuple[StructureFinding, ...]:
    """What each structure gives away to readers of texts, by the rules of `vidence audit`."""
    return tested(structures_of(items), rules, seed=seed)


def _held(
    items: Sequence[Item], findings: Sequence[StructureFinding], rules: BlindRules
) -> tuple[Dropped, ...]:
    """The questions of structures that are given away and held back."""
    above = {one.name: one for one in findings if one.verdict == "above"}
    hold = rules.hold or ()
    held = {name: one for name, one in above.items() if ALL_TASKS in hold or name in hold}
    return tuple(
        Dropped(what=item.item_id, stage=BLIND, reason="solved-by-texts", detail=held[name].says())
        for name, some in structures_of(items).items()
        if name in held
        for item in some
    )


def _between_splits(items: Sequence[Item], split_tag: str, desk: GateDesk) -> dict[str, str]:
    """What questions share with another split of their set; of two splits the first in the data is free."""
    splits: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        if split_tag in item.tags:
            splits[item.tags[split_tag]].append(item)
    found: dict[str, str] = {}
    for one, other in combinations(splits, 2):
        for shared in shared_between(splits[one], splits[other], hashes=desk.hashes):
            says = f"shares {shared.kind} {shared.what!r} with {shared.first[0]!r} of the split {one!r}"
            for name in shared.second:
                found.setdefault(name, says)
    return found


def _with_others(items: Sequence[Item], desk: GateDesk) -> tuple[Dropped, ...]:
    """The questions that share something with another set."""
    found: dict[str, Dropped] = {}
    for name, others in desk.others.items():
        for shared in shared_between(items, others, hashes=desk.hashes):
            detail = f"{shared.what} with {shared.second[0]} of {name}"
            for item_id in shared.first:
                one = Dropped(what=item_id, stage=LEAKS, reason=f"shares-{shared.kind}", detail=detail)
                found.setdefault(item_id, one)
    return tuple(found.values())


class _GateCall:
    """The gates of one call, with their verdicts and accounts."""

    def __init__(self, *, rules: ItemGateRules, desk: GateDesk) -> None:
        self._rules, self._desk = rules, desk
        self.ledger = Ledger()
        self.verdicts: list[GateVerdict] = []
        self.words: list[str] = []

    def dropping(
        self,
        gate: str,
        items: tuple[Item, ...],
        find: Callable[[Sequence[Item]], Sequence[Dropped]],
        *,
        is_open: Mapping[str, str] = MappingProxyType({}),
    ) -> tuple[Item, ...]:
        """A gate that needs no model: what it does not drop is kept, or open for the reason in `is_open`."""
        gone = {one.what: one for one in find(items)}
        for item in items:
            one = gone.get(item.item_id)
            why = is_open.get(item.item_id, "") if one is None else one.detail
            decision: Decision = "dropped" if one is not None else "open" if why else "kept"
            self.verdicts.append(
                GateVerdict(
                    item_id=item.item_id,
                    content=content_of(item),
                    gate=gate,
                    decision=decision,
                    reason="" if one is None else one.reason,
                    why=why,
                )
            )
        if n_open := sum(name not in gone for name in is_open):
            self.words.append(f"{gate}: {n_open:,} questions {_WHY_OPEN[gate]}")
        return self._close(gate, items, gone)

    def held(self, items: tuple[Item, ...], found: Sequence[Dropped]) -> tuple[Item, ...]:
        """The questions of structures that texts give away: dropped, or left open for people."""
        if self._rules.to_people:
            is_open = {one.what: one.detail for one in found}
            return self.dropping(BLIND, items, lambda some: (), is_open=is_open)
        return self.dropping(BLIND, items, lambda some: found)

    def asked(
        self, gate: str, items: tuple[Item, ...], rules: AskingRules, *, reason: str
    ) -> tuple[Item, ...]:
        """A gate that asks a model."""
        models, seed = self._models(gate), self._desk.seed
        asking = Asking(
            frames=lambda: self._frames(gate),
            models=models,
            seed=seed,
            how=AskSettings(pool=judge_pool(self._rules.judge, models, seed=seed)),
            to_people=self._rules.to_people,
        )
        tried = try_gate(gate, items, rules, asking=asking, reason=reason)
        n_free = sum(item.answer_kind != "choice" for item in items)
        self.words += (*tried.words, *judges_words(self._rules.judge, gate=gate, n_free=n_free))
        self.verdicts += [
            msgspec.structs.replace(one, content=content_of(item))
            for one, item in zip(tried.verdicts, items, strict=True)
        ]
        return self._close(gate, items, tried.dropped)

    def _close(self, gate: str, items: tuple[Item, ...], gone: Mapping[str, Dropped]) -> tuple[Item, ...]:
        kept = tuple(item for item in items if item.item_id not in gone)
        self.ledger.close(
            gate,
            unit="questions",
            taken=[item.item_id for item in items],
            kept=[item.item_id for item in kept],
            dropped=list(gone.values()),
        )
        return kept

    def _models(self, gate: str) -> Models:
        if self._desk.models is None:
            raise UsageError(f"the gate {gate} asks a model; none is given")
        return self._desk.models

    def _frames(self, gate: str) -> FrameSource:
        if self._desk.frames is None:
            raise UsageError(f"the gate {gate} shows frames; it is not said where the media lie")
        return self._desk.frames
