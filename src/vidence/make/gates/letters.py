"""Right answers spread evenly over the letters, with as few moves as that takes."""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from vidence.explain.audit.checks import text_reasons
from vidence.make.gates.model_gates import plain_item
from vidence.make.pipeline.material import Draft
from vidence.records import Record
from vidence.statistics.answer_keys import letter_balance

_FIXED = frozenset({"refers-to-choices", "letters-as-names", "letter-in-question", "choices-in-question"})
_N_DRAWS = 999
# Without one of these no text names a letter or other choices.
_MAY_NAME = re.compile(
    r"\b(?:all|none|both|neither|any|above|below|option|choice|answer)\b|(?<!\w)[B-H](?!\w)|(?<!\w)A[.):]",
    re.IGNORECASE,
)


class LetterCounts(Record, omit_defaults=True):
    """How often each letter is right, before and after; `chi_square` is Pearson's against even letters.

    `n_fixed` drafts cannot be moved, since their words name letters or other choices.
    """

    task: str
    before: tuple[int, ...]
    after: tuple[int, ...]
    n_moved: int
    n_fixed: int
    chi_square: float
    p_value: float


@dataclass(frozen=True, kw_only=True)
class Spread:
    """The drafts with their letters, and the counts of each task; the last are those of all."""

    drafts: tuple[Draft, ...]
    counts: tuple[LetterCounts, ...]


def spread_letters(drafts: Sequence[Draft], *, seed: int) -> Spread:
    """Move right choices so that every task has each letter equally often, give or take one, and all do.

    Only surplus letters are moved. Who moves is drawn from the seed and the id of the draft, and so is the
    order of the wrong choices of a draft that is moved: nothing of their order tells where the right one was.

    Source: HERBench, section 3.3 (answers balanced over A to E).
    Departs: the paper does not say how; the seeded moves are ours.
    """
    fixed = {draft.draft_id for draft in drafts if _is_fixed(draft)}
    groups: dict[tuple[str, int], list[Draft]] = defaultdict(list)
    for draft in drafts:
        groups[draft.task, len(draft.choices)].append(draft)
    overall: Counter[int] = Counter()
    places: dict[str, int] = {}
    for (_, width), mine in sorted(groups.items(), key=lambda group: group[0]):
        places |= _places(mine, width, fixed=fixed, overall=overall, seed=seed)
    moved = tuple(_moved(draft, places[draft.draft_id], seed=seed) for draft in drafts)
    return Spread(drafts=moved, counts=tuple(_counts(drafts, moved, fixed=fixed, seed=seed)))


def _is_fixed(draft: Draft) -> bool:
    if not any(map(_MAY_NAME.search, (draft.question, *draft.choices))):
        return False
    item = plain_item(draft)
    return any(reason.kind in _FIXED for reason in text_reasons(item))


def _places(
    drafts: Sequence[Draft], width: int, *, fixed: set[str], overall: Counter[int], seed: int
) -> dict[str, int]:
    """Where the right choice of each draft of one task goes; `overall` counts on over the tasks."""
    have = Counter(draft.answer_index for draft in drafts)
    floor, extra = divmod(len(drafts), width)
    # The letters that get one more: those that are short overall, then those that need no move for it.
    favoured = sorted(range(width), key=lambda i: (overall[i], -have[i], i))[:extra]
    wanted = {i: floor + (i in favoured) for i in range(width)}
    places = {draft.draft_id: draft.answer_index for draft in drafts}
    movable = sorted((d for d in drafts if d.draft_id not in fixed), key=lambda d: _drawn(seed, d.draft_id))
    for draft in movable:
        here = draft.answer_index
        if have[here] <= wanted[here]:
            continue
        there = min(range(width), key=lambda i: (have[i] - wanted[i], i))
        places[draft.draft_id] = there
        have[here] -= 1
        have[there] += 1
    overall.update(places.values())
    return places


def _drawn(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"letters/{seed}/{name}".encode()).digest()


def _moved(draft: Draft, place: int, *, seed: int) -> Draft:
    if place == draft.answer_index:
        return draft
    rng = np.random.default_rng(list(_drawn(seed, draft.draft_id)))
    wrong = [text for i, text in enumerate(draft.choices) if i != draft.answer_index]
    choices = [wrong[i] for i in rng.permutation(len(wrong))]
    choices.insert(place, draft.choices[draft.answer_index])
    return msgspec.structs.replace(draft, choices=tuple(choices), answer_index=place)


def _counts(
    before: Sequence[Draft], after: Sequence[Draft], *, fixed: set[str], seed: int
) -> list[LetterCounts]:
    pairs = list(zip(before, after, strict=True))
    tasks: dict[str, list[tuple[Draft, Draft]]] = defaultdict(list)
    for pair in pairs:
        tasks[pair[0].task].append(pair)
    named = [*sorted(tasks.items()), *([("all", pairs)] if pairs else [])]
    return [_count(name, mine, fixed=fixed, seed=seed) for name, mine in named]


def _count(name: str, pairs: Sequence[tuple[Draft, Draft]], *, fixed: set[str], seed: int) -> LetterCounts:
    width = max(len(old.choices) for old, _ in pairs)
    letters = [chr(ord("A") + new.answer_index) for _, new in pairs]
    sizes = [len(new.choices) for _, new in pairs]
    balance = letter_balance(letters, n_choices=sizes, rng=np.random.default_rng(seed), n_draws=_N_DRAWS)
    old = Counter(one.answer_index for one, _ in pairs)
    gaps = [(n - e) ** 2 / e for n, e in zip(balance.right, balance.expected, strict=True)]
    return LetterCounts(
        task=name,
        before=tuple(old[i] for i in range(width)),
        after=balance.right,
        n_moved=sum(one.answer_index != new.answer_index for one, new in pairs),
        n_fixed=sum(one.draft_id in fixed for one, _ in pairs),
        chi_square=float(sum(gaps)),
        p_value=balance.p_value,
    )
