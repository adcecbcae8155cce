"""The gate of blind readers: drop questions until no structure can be answered from text."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import msgspec
import numpy as np

from vidence.explain.audit.blind import WORD_RULES, gains_of
from vidence.explain.audit.key import (
    FALSE_STATEMENTS,
    STATEMENTS,
    StructureFinding,
    boards_of,
    read_structures,
    structures_of,
)
from vidence.make.gates.model_gates import Asked, plain_item
from vidence.make.gates.rules import ALL_TASKS, BlindRules
from vidence.make.pipeline.material import Draft, Dropped
from vidence.records import Item

BLIND: Final = "blind"
TAG: Final = "blind"
WHOLE: Final = "(all structures)"
SOLVED: Final = "solved-by-texts"
_ROUNDS: Final = 8
_NO_SOURCES: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class BlindGate:
    """Result of the gate: drops, findings, the verdict on each question's structure, and sentences."""

    dropped: tuple[Dropped, ...]
    findings: tuple[StructureFinding, ...]
    verdicts: Mapping[str, str]
    words: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _Place:
    """The structure of a question, all structures of its task, and the name in `hold`."""

    structure: str
    whole: str = ""
    held_by: str


def hold_back(
    asked: Sequence[Asked], rules: BlindRules, *, sources: Mapping[str, str] = _NO_SOURCES, seed: int
) -> BlindGate:
    """Test every structure, and drop questions until text alone answers none of them.

    Where a rule is above guessing in a structure that is held, questions in which it is right are drawn and
    dropped until it is right as often as guessing is, and all structures are tested again; what is above
    guessing after `_ROUNDS` goes whole. Structures of drafts about the same true and false descriptions are
    also tested together, as one.

    Reasons: ``solved-by-texts`` (a rule that sees no video is right), ``untold`` (too few to say, where
    `untold` is ``hold``).

    Args:
        asked: what came out of the other gates.
        rules: which tasks of drafts are held back, in small letters, or structures of items; None: none.
        sources: the source of each video, by its id; a video that does not exist is its own.
        seed: decides the keys and the questions that are drawn.
    """
    places, groups = _grouped(asked, sources)
    first = findings = tested(groups, rules, seed=seed)
    gone: dict[str, Dropped] = {}
    n_gone: Counter[str] = Counter()
    for number in range(_ROUNDS + 1):
        by_name = {entry.name: entry for entry in findings}
        decisive = {name: _decisive(place, by_name) for name, place in places.items() if name not in gone}
        leaks = {
            result.name: (result, reason)
            for name, result in decisive.items()
            if (reason := _reason(places[name], result, rules))
        }
        if not leaks:
            break
        for finding, reason in leaks.values():
            held = [item for item in groups[finding.name] if item.item_id not in gone]
            is_whole = number == _ROUNDS or reason != SOLVED
            solved = held if is_whole else _solved(held, finding, seed=seed)
            n_gone[finding.name] += len(solved)
            for item in solved:
                gone[item.item_id] = Dropped(
                    what=item.item_id, stage=BLIND, reason=reason, detail=finding.says()
                )
        left = {name: [entry for entry in some if entry.item_id not in gone] for name, some in groups.items()}
        groups = {name: some for name, some in left.items() if some}
        findings = tested(groups, rules, seed=seed)
    words = tuple(_words(first, n_gone, rules))
    verdicts = {name: decisive[name].verdict for name in places if name not in gone}
    return BlindGate(dropped=tuple(gone.values()), findings=first, verdicts=verdicts, words=words)


def _solved(items: Sequence[Item], finding: StructureFinding, *, seed: int) -> list[Item]:
    """Draw from the questions that the best text rule answers as many as exceed the guessing rate."""
    assert finding.worst is not None  # noqa: S101 - a structure above guessing has one
    boards = {
        item.item_id: board for item in items if (board := boards_of(item).get(finding.worst_of)) is not None
    }
    gains = gains_of(list(boards.values()), finding.worst.key)
    rng = np.random.default_rng(list(hashlib.sha256(f"{finding.name}/{seed}".encode()).digest()))
    order = np.lexsort((rng.random(len(gains)), -gains))
    excess = np.cumsum(gains[order])
    n = int(np.argmax(gains.sum() - excess <= 0)) + 1
    by_id = {item.item_id: item for item in items}
    return [by_id[list(boards)[i]] for i in order[:n]]


def _grouped(
    asked: Sequence[Asked], sources: Mapping[str, str]
) -> tuple[dict[str, _Place], dict[str, list[Item]]]:
    """Return each question's structure by id, and the questions of each structure."""
    drafts = [entry for entry in asked if isinstance(entry, Draft)]
    groups: dict[str, list[Item]] = structures_of([entry for entry in asked if isinstance(entry, Item)])
    places = {
        item.item_id: _Place(structure=name, held_by=name) for name, some in groups.items() for item in some
    }
    for draft in drafts:
        place = _Place(
            structure=f"{draft.task} {draft.structure}",
            whole=f"{draft.task} {WHOLE}",
            held_by=draft.task.casefold(),
        )
        places[draft.draft_id] = place
        groups.setdefault(place.structure, []).append(_item(draft, sources))
    for task in dict.fromkeys(draft.task for draft in drafts if FALSE_STATEMENTS in draft.tags):
        groups[f"{task} {WHOLE}"] = [_item(draft, sources) for draft in drafts if draft.task == task]
    return places, groups


def tested(
    groups: Mapping[str, Sequence[Item]], rules: BlindRules, *, seed: int
) -> tuple[StructureFinding, ...]:
    """Test each structure for rules that see no video; the seed decides the keys drawn."""
    rng = np.random.default_rng(list(hashlib.sha256(f"{BLIND}/{seed}".encode()).digest()))
    return read_structures(groups, rng=rng, level=rules.level, n_draws=rules.draws) if groups else ()


def _decisive(place: _Place, values: Mapping[str, StructureFinding]) -> StructureFinding:
    """Return the finding on a question's structure, or on its task's descriptions if those leak."""
    alone, whole = values[place.structure], values.get(place.whole)
    if alone.verdict == "above" or whole is None or whole.verdict != "above" or whole.worst is None:
        return alone
    return whole if whole.worst_of == STATEMENTS or whole.worst.key in WORD_RULES else alone


def _item(draft: Draft, sources: Mapping[str, str]) -> Item:
    source = sources.get(draft.video_id, "") or draft.source_id or draft.media_id
    return msgspec.structs.replace(plain_item(draft), source=source)


def _reason(place: _Place, finding: StructureFinding, rules: BlindRules) -> str:
    hold = rules.hold or ()
    if ALL_TASKS not in hold and place.held_by not in hold:
        return ""
    if finding.verdict == "above":
        return SOLVED
    return "untold" if finding.verdict == "untold" and rules.untold == "hold" else ""


def _words(findings: Sequence[StructureFinding], n_gone: Counter[str], rules: BlindRules) -> list[str]:
    """Return datasheet sentences: the gate, structures above guessing, structures it cannot decide."""
    entries = [entry for entry in findings if entry.verdict != "untold"]
    words = [
        f"{BLIND}: {len(findings)} structures tested for rules that see no video, {len(entries)} with "
        f"questions enough to tell; those above guessing at {100 * rules.level:g} % lose what is solved, of "
        f"{', '.join(rules.hold or ()) or 'no task'}"
    ]
    for finding in findings:
        if finding.verdict == "above":
            n = n_gone[finding.name]
            what = (
                f"loses {n} of {finding.n} questions" if n else "is kept, since hold does not name its task"
            )
            words.append(f"{BLIND}: {finding.name} {what}: {finding.says()}. {_advice(finding)}")
    if few := [f"{entry.name} ({entry.n})" for entry in findings if entry.verdict == "untold"]:
        what = "held back" if rules.untold == "hold" else "kept with the mark 'untold'"
        words.append(
            f"{BLIND}: too few questions or sources to tell, {what}: {', '.join(few)}. More videos settle it"
        )
    return words


_ADVICE: Final = {
    "statements": "have the false descriptions written by a model (false_model), or by people",
    "plain-words": "have the false descriptions written by a model (false_model), or by people",
    "odd-words": "have the false descriptions written by a model (false_model), or by people",
    "popular-words": "look at the words of right answers in drafts.jsonl; false descriptions by a model, or "
    "cards of more videos, bring others",
    "popular": "lower same_answer of the task, or add videos with other answers",
    "popular-size": "add videos with other counts",
}


def _advice(finding: StructureFinding) -> str:
    key = "" if finding.worst is None else finding.worst.key
    by_statements = finding.worst_of == STATEMENTS
    advice = _ADVICE["statements"] if by_statements else _ADVICE.get(key, "look at its questions")
    return f"What to do: {advice}; or leave the structure out"
