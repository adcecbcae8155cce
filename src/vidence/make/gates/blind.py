"""The gate of blind readers: structures whose answers can be read off texts are held back."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
import numpy as np

from vidence.explain.audit.blind import WORD_RULES
from vidence.explain.audit.key import (
    FALSE_STATEMENTS,
    STATEMENTS,
    StructureFinding,
    read_structures,
)
from vidence.make.gates.model_gates import plain_item
from vidence.make.gates.rules import ALL_TASKS, BlindRules
from vidence.make.pipeline.material import Draft, Dropped
from vidence.records import Item

BLIND: Final = "blind"
TAG: Final = "blind"
WHOLE: Final = "(all structures)"


@dataclass(frozen=True, kw_only=True)
class BlindGate:
    """What the gate keeps and drops, what it found, and sentences about it.

    A draft that is kept has the tag ``blind``: the verdict on its structure.
    """

    drafts: tuple[Draft, ...]
    dropped: tuple[Dropped, ...]
    findings: tuple[StructureFinding, ...]
    words: tuple[str, ...]


def hold_back(
    drafts: Sequence[Draft], rules: BlindRules, *, sources: Mapping[str, str], seed: int
) -> BlindGate:
    """Test every structure, and drop the drafts of those that texts alone give away.

    Structures about the same true and false descriptions are also tested together: where the words of these
    tell which are false, all structures of the task go.

    Reasons: ``solved-by-texts`` (a rule that sees no video is above guessing), ``untold`` (too few to say,
    where `untold` is ``hold``).

    Args:
        drafts: what came out of the other gates.
        rules: which tasks are held back, as drafts name them in small letters; None: none.
        sources: the source of each video, by its id; a video that is not there is its own.
        seed: decides the keys that are drawn.
    """
    groups: dict[str, list[Draft]] = defaultdict(list)
    for draft in drafts:
        groups[f"{draft.task} {draft.structure}"].append(draft)
    for task in dict.fromkeys(draft.task for draft in drafts if FALSE_STATEMENTS in draft.tags):
        groups[f"{task} {WHOLE}"] = [draft for draft in drafts if draft.task == task]
    items = {name: [_item(one, sources) for one in some] for name, some in groups.items()}
    findings = tested(items, rules, seed=seed)
    by_name = {one.name: one for one in findings}
    kept: list[Draft] = []
    dropped: list[Dropped] = []
    gone: set[str] = set()
    for draft in drafts:
        one = _decisive(draft, by_name)
        reason = _reason(draft, one, rules)
        gone |= {one.name} if reason else set()
        if reason:
            dropped.append(Dropped(what=draft.draft_id, stage=BLIND, reason=reason, detail=one.says()))
        else:
            kept.append(msgspec.structs.replace(draft, tags=draft.tags | {TAG: one.verdict}))
    return BlindGate(
        drafts=tuple(kept),
        dropped=tuple(dropped),
        findings=findings,
        words=tuple(_words(findings, gone, rules)),
    )


def tested(
    groups: Mapping[str, Sequence[Item]], rules: BlindRules, *, seed: int
) -> tuple[StructureFinding, ...]:
    """Test the questions of each structure for rules that see no video; the seed decides the keys drawn."""
    rng = np.random.default_rng(list(hashlib.sha256(f"{BLIND}/{seed}".encode()).digest()))
    return read_structures(groups, rng=rng, level=rules.level, n_draws=rules.draws) if groups else ()


def _decisive(draft: Draft, found: Mapping[str, StructureFinding]) -> StructureFinding:
    """The finding on a draft's structure, or on the descriptions of its task, where their words tell."""
    alone, whole = found[f"{draft.task} {draft.structure}"], found.get(f"{draft.task} {WHOLE}")
    if alone.verdict == "above" or whole is None or whole.verdict != "above" or whole.worst is None:
        return alone
    return whole if whole.worst_of == STATEMENTS or whole.worst.key in WORD_RULES else alone


def _item(draft: Draft, sources: Mapping[str, str]) -> Item:
    source = sources.get(draft.video_id, "") or draft.source_id or draft.media_id
    return msgspec.structs.replace(plain_item(draft), source=source)


def _reason(draft: Draft, found: StructureFinding, rules: BlindRules) -> str:
    hold = rules.hold or ()
    if ALL_TASKS not in hold and draft.task.casefold() not in hold:
        return ""
    if found.verdict == "above":
        return "solved-by-texts"
    return "untold" if found.verdict == "untold" and rules.untold == "hold" else ""


def _words(findings: Sequence[StructureFinding], gone: set[str], rules: BlindRules) -> list[str]:
    """What the datasheet says: of the gate, of each structure above guessing, and of those it cannot tell."""
    told = [one for one in findings if one.verdict != "untold"]
    said = [
        f"{BLIND}: {len(findings)} structures tested for rules that see no video, {len(told)} with questions "
        f"enough to tell; held back are those above guessing at {100 * rules.level:g} % of "
        f"{', '.join(rules.hold or ()) or 'no task'}"
    ]
    for one in findings:
        if one.verdict == "above":
            what = "held back" if one.name in gone else "kept, since hold does not name its task"
            said.append(f"{BLIND}: {one.name} is {what}: {one.says()}. {_advice(one)}")
    few = [f"{one.name} ({one.n})" for one in findings if one.verdict == "untold"]
    if few:
        what = "held back" if rules.untold == "hold" else "kept with the mark 'untold'"
        said.append(
            f"{BLIND}: too few questions or sources to tell, {what}: {', '.join(few)}. More videos settle it"
        )
    return said


_ADVICE: Final = {
    "statements": "have the false descriptions written by a model (false_model), or by people",
    "plain-words": "have the false descriptions written by a model (false_model), or by people",
    "odd-words": "have the false descriptions written by a model (false_model), or by people",
    "popular-words": "look at the words of right answers in drafts.jsonl; false descriptions by a model, or "
    "cards of more videos, bring others",
    "popular": "lower same_answer of the task, or add videos with other answers",
    "popular-size": "add videos with other counts",
}


def _advice(found: StructureFinding) -> str:
    key = "" if found.worst is None else found.worst.key
    by_statements = found.worst_of == STATEMENTS
    advice = _ADVICE["statements"] if by_statements else _ADVICE.get(key, "look at its questions")
    return f"What to do: {advice}; or leave the structure out"
