"""Draw wrong choices jointly, so that answers elsewhere do not reveal the right one."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.make.pipeline.writer import Objection
from vidence.records import by_key
from vidence.text import normal_form

TOLD: Final = "told-by-words"
_FEW: Final = 75  # questions: five points are one standard error of guessing one of four
_ELSEWHERE: Final = 50.0  # in questions of a source: how much the shares in the task weigh
_STEPS: Final = 50  # of scaling
_UNSEEN: Final = 0.5  # added to the count of every answer
_SETS: Final = 4  # drawn, of which that with most near pairs is taken
_RARE: Final = 0.2  # of the questions: those whose answer is right in no other
_LEAST: Final = 1e-9


@dataclass(frozen=True, kw_only=True)
class Known:
    """Training data of a blind reader: question words, right answers, source."""

    question: str
    right: str
    source: str


@dataclass(frozen=True, kw_only=True)
class Unmatched(Known):
    """A question that wants `n` choices, with `others` than the right one to choose from.

    Of sets that are as likely, that with most of the `best` is taken.
    """

    others: tuple[str, ...]
    n: int
    best: frozenset[str] = frozenset()


def inclusion(likely: NDArray[np.float64], *, n: int) -> tuple[NDArray[np.float64], float]:
    """How often to offer each answer so that it is right in 1 / `n` of its offers; share kept.

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
    """Wrong answers for each question, such that each choice of a set is equally likely right.

    `likelihoods` says how likely each answer is. Sets are drawn with unequal probabilities (`inclusion`)
    under the condition that the right answer is in them; answers that cannot be offered with it count for
    it. Of questions with too likely an answer as many are left out as it needs, and none of fewer than 75
    questions: a reader of so few cannot be told from guessing by five points.

    Reasons: ``told-by-words``, ``overlapping`` (too few answers that can be distinguished).

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
    answers, likely = likelihoods(asked, known=known)
    number = {answer: i for i, answer in enumerate(answers)}
    matched: list[tuple[str, ...] | Objection] = []
    for question, row in zip(asked, likely, strict=True):
        by_group = by_key((group[name], number[name]) for name in question.others)
        others = list(by_group.values())
        if len(others) < question.n - 1:
            detail = f"{len(others)} wrong answers can be told apart; {question.n - 1} are wanted"
            matched.append(Objection(reason="overlapping", detail=detail))
            continue
        wrong = [float(row[some].sum()) for some in others]
        shares = np.array([max(_LEAST, 1.0 - sum(wrong)), *wrong])
        offered, kept = inclusion(shares / shares.sum(), n=question.n)
        if len(asked) >= _FEW and rng.random() * question.n * shares[0] > kept * shares.sum():
            detail = (
                f"{question.right!r} is right in {100 * shares[0]:.0f} % of such questions; "
                f"{question.n} choices allow {100 * kept / question.n:.0f} %"
            )
            matched.append(Objection(reason=TOLD, detail=detail))
            continue
        sets: list[tuple[str, ...]] = []
        for _ in range(_SETS):
            drawn = [others[i - 1] for i in _drawn(offered, rng=rng)]
            sets.append(
                tuple(answers[int(rng.choice(some, p=row[some] / row[some].sum()))] for some in drawn)
            )
        close = [
            sum(near(*pair) for pair in combinations((question.right, *some), 2))
            + len(question.best.intersection(some))
            for some in sets
        ]
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


def likelihoods(
    asked: Sequence[Unmatched], *, known: Sequence[Known]
) -> tuple[list[str], NDArray[np.float64]]:
    """All answers, and the likelihood of each for each question to a reader of other sources.

    Shapes: of the array (questions, answers), rows sum to 1.

    An answer is as likely as it is often right in the source itself, drawn towards its share in the task:
    what is offered in one source then does not tell what is right in another. That is multiplied by the
    weight of its band (`_bands`). Weights are fitted so that as many answers of each band are right as are
    expected, whatever the band says about the answer.

    Source: Darroch, Ratcliff, Generalized iterative scaling for log-linear models, Annals of Mathematical
    Statistics 43 (1972).
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
    share = own.sum(axis=0) + _UNSEEN
    start = (own + _ELSEWHERE * share / share.sum())[sources]
    bands = _bands(asked, known=known, number=number)
    actual = np.bincount(bands[np.arange(len(asked)), right], minlength=bands.max() + 1)
    weights = np.ones(len(actual))
    for _ in range(_STEPS):
        likely = start * weights[bands]
        likely /= likely.sum(axis=1, keepdims=True)
        weights *= (actual + 1) / (np.bincount(bands.ravel(), likely.ravel()) + 1)
    return answers, likely


def _bands(
    asked: Sequence[Unmatched], *, known: Sequence[Known], number: Mapping[str, int]
) -> NDArray[np.int64]:
    """Number the bands of answers that other sources rate alike.

    The answers of a band are right there about as often (by powers of 2), and are so with the words of the
    question about as many times more often than with others (by powers of 4). Where many answers are right
    in one question only, a band also has a number of such questions elsewhere (by powers of 2).
    """
    none = np.zeros(len(number))
    counts: dict[tuple[str | None, str | None], NDArray[np.float64]] = defaultdict(none.copy)
    for entry in known:
        for key in product((None, entry.source), (None, *_words(entry))):
            counts[key][number[entry.right]] += 1
    rights: dict[str | None, NDArray[np.float64]] = defaultdict(none.copy)
    for entry in asked:
        for source in (None, entry.source):
            rights[source][number[entry.right]] += 1
    is_rare = (rights[None] == 1).sum() > _RARE * len(asked)
    levels: list[NDArray[np.complex128]] = []
    for unmatched in asked:
        usual, *seen = (
            counts[None, word] - counts[unmatched.source, word] for word in (None, *_words(unmatched))
        )
        share = (usual + _UNSEEN) / (usual + _UNSEEN).sum()
        lifts = [np.log2((some / share + 1) / (some.sum() + 1)) for some in seen]
        asked_elsewhere = is_rare * np.ceil(np.log2(rights[None] - rights[unmatched.source] + 1))
        level = np.ceil(np.log2(usual + 1)) + 100 * asked_elsewhere
        levels.append(level + 1j * np.round(np.sum(lifts, axis=0) / 2))
    return np.unique(levels, return_inverse=True)[1].reshape(len(asked), len(number))


def _words(known: Known) -> list[str]:
    """The words, and all of them joined."""
    text = normal_form(known.question)
    return sorted({text, *text.split()})
