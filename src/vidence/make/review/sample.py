"""Which questions people review: a stratified sample, and all that no program verified."""

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from vidence.make.gates.rules import ReviewRules
from vidence.make.pipeline.material import Doubt, truth_kind
from vidence.make.pipeline.output import Question
from vidence.records import by_key

Why = Literal["sample", "open-gate", Doubt]
_LETTERS = str.maketrans("0123456789", "ghjkmnpqrs")


@dataclass(frozen=True, kw_only=True)
class ToReview:
    """A question to review, with reason and stratum."""

    question: Question
    why: Why
    stratum: str
    note: str = ""

    @property
    def check(self) -> str:
        """Return a code that changes with the question, so that an old sheet is not taken for a new one.

        They hold no digit: a spreadsheet takes ``4811828e6756`` for a number and writes another one back.
        """
        draft = self.question.draft
        asked = msgspec.json.encode([draft.question, draft.choices, draft.answer_index, draft.evidence])
        return letters_of(hashlib.sha256(asked).hexdigest())


def letters_of(hexadecimal: str) -> str:
    """Return twelve letters for a hash, without digits.

    >>> letters_of("4811828e67560000")
    'mrhhrjrepqnp'
    """
    return hexadecimal[:12].translate(_LETTERS)


@dataclass(frozen=True, kw_only=True)
class ReviewSample:
    """The questions for reviewers, in order.

    `strata` are the sizes of the strata of which the sample was drawn; questions that are looked at in any
    case are not in them.
    """

    rows: tuple[ToReview, ...]
    strata: Mapping[str, int]


def draw_sample(
    questions: Sequence[Question], rules: ReviewRules, *, seed: int, open_gates: Mapping[str, Sequence[str]]
) -> ReviewSample:
    """Draw the sample, and add the questions that people must review in any case.

    A stratum is a task on a video, of questions that rest on the same. Strata of fewer than `least_stratum`
    questions are put together, for each task those that rest on the same. Each gives at least one question;
    the sample has ``ceil(share * n)`` questions, or one for each stratum if these are more. What is left over
    after rounding down goes to the largest remainders. A task of which fewer than `each_task` are drawn gets
    more; nobody who was drawn without them is left out.

    Args:
        questions: all of them.
        rules: how much.
        seed: decides who is drawn; adding a video changes nothing in the strata of others but remainders.
        open_gates: by draft id the gates that could not decide.

    Source: HERBench, section 3.2 and 7.7 (a stratified sample of 15 %).
    Departs: the paper does not say what its strata are. Questions whose truth a model gave, counts of people
        whom a detector found, questions about people whose descriptions were tried on nobody else, and what a
        gate left open are all looked at, beside the sample.
    """
    queued: dict[str, tuple[Why, str]] = {}
    for question in questions:
        open_ones = ", ".join(open_gates.get(question.draft.draft_id, ()))
        if question.draft.doubt or open_ones:
            queued[question.question_id] = (question.draft.doubt or "open-gate", open_ones)
    strata = _strata([entry for entry in questions if entry.question_id not in queued], rules.least_stratum)
    sizes = {name: len(mine) for name, mine in strata.items()}
    chosen: dict[str, str] = {}
    counts = shares(sizes, rules.share, seed=seed)
    by_task = by_key((mine[0].draft.task, name) for name, mine in strata.items())
    for names in by_task.values():
        counts |= _raised({name: counts[name] for name in names}, sizes, rules.each_task)
    named = {
        name: {entry.draft.draft_id: entry.question_id for entry in mine} for name, mine in strata.items()
    }
    for name, drawn in first_of(named, counts, seed=seed).items():
        chosen |= {named[name][draft_id]: name for draft_id in drawn}
    rows = []
    for question in questions:
        if question.question_id in queued:
            why, note = queued[question.question_id]
            rows.append(ToReview(question=question, why=why, stratum="", note=note))
        elif question.question_id in chosen:
            rows.append(ToReview(question=question, why="sample", stratum=chosen[question.question_id]))
    return ReviewSample(rows=tuple(rows), strata=sizes)


def _strata(questions: Sequence[Question], least: int) -> dict[str, list[Question]]:
    by_pair = by_key(((q.draft.task, q.draft.video_id, truth_kind(q.draft)), q) for q in questions)
    strata: dict[str, list[Question]] = defaultdict(list)
    for (task, video_id, truth), mine in by_pair.items():
        rests = f" ({truth})" if truth else ""
        strata[f"{task}: {video_id}{rests}" if len(mine) >= least else f"{task}: small ones{rests}"] += mine
    return dict(sorted(strata.items()))


def first_of(
    strata: Mapping[str, Iterable[str]], counts: Mapping[str, int], *, seed: int
) -> dict[str, tuple[str, ...]]:
    """Return the questions drawn from each stratum, in an order determined by the seed."""
    return {
        name: tuple(sorted(strata[name], key=lambda word: _rank(seed, name, word))[:n])
        for name, n in counts.items()
    }


def shares(sizes: Mapping[str, int], share: float, *, seed: int) -> dict[str, int]:
    """How many of each stratum are drawn: at least one, ``ceil(share * n)`` in all, by largest remainders."""
    wanted = math.ceil(share * sum(sizes.values()) - 1e-9)
    counts = {name: max(1, math.floor(share * n + 1e-9)) for name, n in sizes.items()}
    rests = sorted(sizes, key=lambda name: (-((share * sizes[name]) % 1), _rank(seed, name, "")))
    for name in rests:
        if sum(counts.values()) >= wanted:
            break
        if share * sizes[name] > counts[name]:
            counts[name] += 1
    return counts


def _raised(counts: Mapping[str, int], sizes: Mapping[str, int], least: int) -> dict[str, int]:
    """Raise the counts of one task's strata to `least` in total, or everything, where most are left."""
    raised = dict(counts)
    for _ in range(min(least, sum(sizes[name] for name in counts)) - sum(counts.values())):
        raised[max(raised, key=lambda name: sizes[name] - raised[name])] += 1
    return raised


def _rank(seed: int, stratum: str, name: str) -> bytes:
    return hashlib.sha256(f"review/{seed}/{stratum}/{name}".encode()).digest()
