"""Spread right answers evenly over the letters with as few moves as possible."""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

import msgspec
import numpy as np

from vidence.explain.audit.checks import text_reasons
from vidence.make.gates.model_gates import plain_item
from vidence.make.pipeline.material import Draft
from vidence.records import Item, by_key

_FIXED = frozenset({"refers-to-choices", "letters-as-names", "letter-in-question", "choices-in-question"})
# Without one of these no text names a letter or other choices.
_MAY_NAME = re.compile(
    r"\b(?:all|none|both|neither|any|above|below|option|choice|answer)\b|(?<!\w)[B-H](?!\w)|(?<!\w)A[.):]",
    re.IGNORECASE,
)


def spread_letters(drafts: Sequence[Draft], *, seed: int) -> tuple[Draft, ...]:
    """Move right choices so that every task has each letter equally often, give or take one, and all do.

    Only surplus letters are moved. Who moves is drawn from the seed and the id of the draft, and so is the
    order of the wrong choices of a draft that is moved: nothing of their order tells where the right one was.

    Source: HERBench, section 3.3 (answers balanced over A to E).
    Departs: the paper does not say how; the seeded moves are ours.
    """
    fixed = {draft.draft_id for draft in drafts if names_choices(plain_item(draft))}
    groups = by_key(((draft.task, len(draft.choices)), draft) for draft in drafts)
    overall: Counter[int] = Counter()
    places: dict[str, int] = {}
    for (_, width), mine in sorted(groups.items(), key=lambda group: group[0]):
        places |= _places(mine, width, fixed=fixed, overall=overall, seed=seed)
    return tuple(_moved(draft, places[draft.draft_id], seed=seed) for draft in drafts)


def names_choices(item: Item) -> bool:
    """Whether a question refers to letters or other choices, so that choices must keep their order."""
    if not any(map(_MAY_NAME.search, (item.question, *item.choices))):
        return False
    return any(reason.kind in _FIXED for reason in text_reasons(item))


def _places(
    drafts: Sequence[Draft], width: int, *, fixed: set[str], overall: Counter[int], seed: int
) -> dict[str, int]:
    """Return where the right choice of each draft of one task moves; `overall` counts over the tasks."""
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
