"""Draw wrong choices jointly, so that other videos' answers do not reveal the right one."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.make.pipeline.writer import Objection
from vidence.text import normal_form

TOLD: Final = "told-by-words"
_STRENGTHS: Final = (1.0, 3.0, 10.0, 30.0)  # in questions: how much the shares of all answers weigh
_TRUST: Final = (0.0, 0.5, 1.0)  # of each word; several words of a question say the same in part
_STEPS: Final = 100  # of expectation and maximisation
_UNSEEN: Final = 0.5  # added to the count of every answer
_SETS: Final = 4  # drawn, of which that with most near pairs is taken
_LEAST: Final = 1e-9


@dataclass(frozen=True, kw_only=True)
class Known:
    """Training data of a blind reader: question words, right answers, source."""

    question: str
    right: str
    source: str


@dataclass(frozen=True, kw_only=True)
class Unmatched(Known):
    """A question that wants `n` choices, with `others` than the right one to choose from."""

    others: tuple[str, ...]
    n: int


def inclusion(likely: NDArray[np.float64], *, n: int) -> tuple[NDArray[np.float64], float]:
    """How often each answer is offered so that it is right in 1 / `n` of its offers, and the share kept.

    No answer can be right in more than 1 / `n` of the questions kept: it is offered in all of them at most.

    Shapes: ``likely`` (answers,), sums to 1; of the result (answers,), sums to `n`.

    >>> inclusion(np.array([0.7, 0.1, 0.1, 0.1]), n=2)[0].round(2).tolist()
    [1.0, 0.33, 0.33, 0.33]
    """
    falling = np.sort(likely)[::-1]
    kept = min(float(falling[m:].sum()) / (1 - m / n) for m in range(n))
    return np.minimum(1.0, n * likely / kept), kept


def match_choices(
    asked: Sequence[Unmatched],
    *,
    known: Sequence[Known],
    group: Mapping[str, int],
    near: Callable[[str, str], bool],
    rng: np.random.Generator,
) -> tuple[tuple[str, ...] | Objection, ...]:
    """Wrong answers for each question, so that every set of choices is as likely whichever of them is right.

    How likely an answer is, is learnt from the words of the questions about other sources and what is right
    there. Sets are drawn with unequal probabilities (`inclusion`) under the condition that the right answer
    is in them; what cannot be offered beside it counts for it. Of questions whose answer is too likely as
    many are left out as it needs.

    Reasons: ``told-by-words``, ``overlapping`` (too few answers that can be told apart).

    Args:
        asked: the questions of one task.
        known: what can be learnt from: these questions, or all of which they were drawn, answer by answer.
        group: numbers of answers; those with one number are taken for one another, and no set has two.
        near: whether two answers are hard to tell apart; of some sets that with most such pairs is taken.
        rng: draws.

    Source: Madow, On the theory of systematic sampling II, Annals of Mathematical Statistics 20 (1949).
    """
    if not asked:
        return ()
    answers, likely = learnt(asked, known=known)
    number = {answer: i for i, answer in enumerate(answers)}
    matched: list[tuple[str, ...] | Objection] = []
    for question, row in zip(asked, likely, strict=True):
        members: dict[int, list[str]] = defaultdict(list)
        for name in question.others:
            members[group[name]].append(name)
        if len(members) < question.n - 1:
            detail = f"{len(members)} wrong answers can be told apart; {question.n - 1} are wanted"
            matched.append(Objection(reason="overlapping", detail=detail))
            continue
        shares = np.array([sum(row[number[name]] for name in some) for some in members.values()])
        shares = np.array([max(_LEAST, 1.0 - shares.sum()), *shares])
        offered, kept = inclusion(shares / shares.sum(), n=question.n)
        if rng.random() * question.n * shares[0] > kept * shares.sum():
            detail = (
                f"by other sources {question.right!r} is right in {100 * shares[0]:.0f} % of such questions; "
                f"{question.n} choices allow {100 * kept / question.n:.0f} %"
            )
            matched.append(Objection(reason=TOLD, detail=detail))
            continue
        sets: list[tuple[str, ...]] = []
        for _ in range(_SETS):
            drawn = [list(members.values())[i - 1] for i in _drawn(offered, rng=rng)]
            weights = [np.array([row[number[name]] for name in some]) for some in drawn]
            sets.append(
                tuple(str(rng.choice(some, p=w / w.sum())) for some, w in zip(drawn, weights, strict=True))
            )
        close = [sum(near(*pair) for pair in combinations((question.right, *some), 2)) for some in sets]
        matched.append(sets[int(np.argmax(close))])
    return tuple(matched)


def _drawn(offered: NDArray[np.float64], *, rng: np.random.Generator) -> list[int]:
    """Return the places completing a set that contains the first, each as often as `offered` asks."""
    order = rng.permutation(len(offered))
    ends = np.cumsum(offered[order])
    ends[-1] = n = round(float(ends[-1]))
    first = int(np.flatnonzero(order == 0)[0])
    points = (ends[first] - (1.0 - rng.random()) * offered[0]) % 1.0 + np.arange(n)
    places = {int(i) for i in order[np.searchsorted(ends, points, side="right")]}
    return sorted(places - {0})


def learnt(asked: Sequence[Unmatched], *, known: Sequence[Known]) -> tuple[list[str], NDArray[np.float64]]:
    """All answers, and how likely each is for each question, by what is known of other sources.

    Shapes: of the array (questions, answers), rows sum to 1.

    An answer is as likely as it is often right in `asked`, times how much more often it is known where the
    words of the question stand than elsewhere. Shares where a word stands are drawn towards those everywhere;
    how far, and how much a word counts, is a mixture, fitted to the right answers by expectation and
    maximisation.
    """
    answers = sorted(
        {element.right for element in known}
        | {name for unmatched in asked for name in (unmatched.right, *unmatched.others)}
    )
    number = {answer: i for i, answer in enumerate(answers)}
    right = np.array([number[unmatched.right] for unmatched in asked])
    sources = np.unique([unmatched.source for unmatched in asked], return_inverse=True)[1]
    own = np.zeros((sources.max() + 1, len(answers)))
    np.add.at(own, (sources, right), 1)
    popular = own.sum(axis=0) - own[sources] + _UNSEEN
    none = np.zeros(len(answers))
    counts: dict[tuple[str | None, str | None], NDArray[np.float64]] = defaultdict(none.copy)
    for entry in known:
        for key in product((None, entry.source), (None, *_words(entry))):
            counts[key][number[entry.right]] += 1
    pairs = [
        (row, unmatched.source, word) for row, unmatched in enumerate(asked) for word in _words(unmatched)
    ]
    rows = [row for row, _, _ in pairs]
    seen = np.array([counts[None, word] - counts[source, word] for _, source, word in pairs])
    usual = np.array([counts[None, None] - counts[source, None] for _, source, _ in pairs]) + _UNSEEN
    usual /= usual.sum(axis=1, keepdims=True)
    guesses: list[NDArray[np.float64]] = []
    for strength, trust in product(_STRENGTHS, _TRUST):
        rates = (seen + strength * usual) / (seen.sum(axis=1, keepdims=True) + strength)
        scores = np.log(popular)
        np.add.at(scores, rows, trust * np.log(rates / usual))
        guesses.append(np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None]))
    at_right = np.array([guess[np.arange(len(asked)), right] for guess in guesses])
    shares = np.full(len(guesses), 1 / len(guesses))
    for _ in range(_STEPS):
        parts = shares[:, None] * at_right
        shares = (parts / parts.sum(axis=0)).mean(axis=1)
    return answers, np.tensordot(shares, np.array(guesses), axes=1)


def _words(known: Known) -> list[str]:
    """The words, and all of them as one."""
    text = normal_form(known.question)
    return sorted({text, *text.split()})
