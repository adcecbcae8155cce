"""Text-only readers: the score of each of their rules, and whether it is more than chance.

A `Board` is a set of texts of which some are right: the choices of a question, or descriptions of which some
are false. A rule chooses a text, from the texts alone or with the boards of other sources; the right ones are
drawn at random many times, and the set's best rule is compared with the best rule of each draw.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.records import Estimate, Item
from vidence.statistics.chance import (
    SIZE_RULES,
    choice_sizes,
    longest_choice,
    margin,
    numeric_median,
    shortest_choice,
)
from vidence.statistics.exact import binomial_tail
from vidence.text import letter_index, normal_form

Weights: TypeAlias = NDArray[np.float64]  # (boards, texts): the share of a pick; a row of zeros is silent
Verdict: TypeAlias = Literal["chance", "above", "untold"]

# Of the way from guessing to always right (five choices: 62 %): what must not pass for luck in a test.
TELLING: Final = 0.525
_BATCH: Final = 100
_ENOUGH: Final = 30  # draws as good as the set, after which no more are needed
_ADDED: Final = 0.5  # to the count of every word
_MOST_NEEDED: Final = 2_000
_POWER: Final = 0.8
LEAST_SOURCES: Final = 4  # with fewer an interval by source hides nearly every leak


@dataclass(frozen=True, kw_only=True)
class Board:
    """Texts of which some are right. `about` is the question they answer, `cluster` names the source."""

    texts: tuple[str, ...]
    right: frozenset[int]
    cluster: str
    about: str = ""

    def __post_init__(self) -> None:
        n = len(self.texts)
        if not 0 < len(self.right) < n or not self.right <= set(range(n)):
            raise UsageError(
                f"{sorted(self.right)} of {n} texts are right; expected places below {n}, at least one and "
                "not all"
            )

    @property
    def chance(self) -> float:
        """Return the probability that a random text is right."""
        return len(self.right) / len(self.texts)


@dataclass(frozen=True, kw_only=True)
class BlindScore:
    """A rule's score on the `n` boards that it applies to.

    `p_value` is adjusted for all rules of the test: the share of draws of the right texts in which some rule
    stands out as much. `margin` is over guessing.
    """

    key: str
    title: str
    n: int
    score: float
    chance: float
    margin: Estimate
    p_value: float


@dataclass(frozen=True, kw_only=True)
class BlindTest:
    """Scores of rules on boards, the best first. `n_needed` boards suffice to tell a leak from chance."""

    n: int
    n_clusters: int
    scores: tuple[BlindScore, ...]
    n_needed: int


# --------------------------------------------------------------------------- boards


def board_of(item: Item) -> Board | None:
    """Return a question's choices as a board; None if there are fewer than two."""
    if item.answer_kind != "choice" or len(item.choices) < 2:
        return None
    right = frozenset({letter_index(item.answer)})
    return Board(texts=item.choices, right=right, cluster=item.source_id, about=item.question)


_NUMBERED: Final = re.compile(r"^(\d+)\. +(.*\S)\s*$", re.MULTILINE)


def statements_of(question: str, false: Sequence[int], *, cluster: str) -> Board | None:
    r"""Return a question's numbered lines as a board, to find the `false` ones (from 1); None without both.

    >>> statements_of("Two shots:\n1. A dog.\n2. A cat.\nWhich?", [2], cluster="film").right
    frozenset({1})
    """
    texts = tuple(text for _, text in _NUMBERED.findall(question))
    right = frozenset(number - 1 for number in false)
    if not 0 < len(right) < len(texts) or max(right) >= len(texts):
        return None
    return Board(texts=texts, right=right, cluster=cluster)


@dataclass(frozen=True, kw_only=True)
class _Table:
    """Boards padded to one width; `is_there` marks existing texts."""

    boards: tuple[Board, ...]
    is_there: NDArray[np.bool_]
    n_texts: NDArray[np.int64]
    n_right: NDArray[np.int64]
    cluster: NDArray[np.int64]

    @classmethod
    def of(cls, boards: Sequence[Board]) -> "_Table":
        n_texts = np.array([len(board.texts) for board in boards], np.int64)
        _, cluster = np.unique([board.cluster for board in boards], return_inverse=True)
        return cls(
            boards=tuple(boards),
            is_there=np.arange(n_texts.max()) < n_texts[:, None],
            n_texts=n_texts,
            n_right=np.array([len(board.right) for board in boards], np.int64),
            cluster=cluster.reshape(-1),
        )

    @property
    def right(self) -> NDArray[np.bool_]:
        values = np.zeros_like(self.is_there)
        for row, board in enumerate(self.boards):
            values[row, list(board.right)] = True
        return values

    def drawn(self, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Draw as many right texts per board as it has, uniformly."""
        keys = np.where(self.is_there, rng.random(self.is_there.shape), np.inf)
        ranks = keys.argsort(axis=1).argsort(axis=1)
        return np.asarray(ranks < self.n_right[:, None])

    def best(self, scores: NDArray[np.float64]) -> Weights:
        """Return each board's highest-scoring text; ties share, and none is chosen if all are equal."""
        scores = np.where(self.is_there & ~np.isnan(scores), scores, -np.inf)
        top = scores.max(axis=1, keepdims=True)
        is_top = self.is_there & (scores >= top - 1e-12) & np.isfinite(top)
        is_top[is_top.sum(axis=1) == self.n_texts] = False
        weights: Weights = is_top / np.maximum(is_top.sum(axis=1, keepdims=True), 1)
        return weights

    def filled(self, of_board: Callable[[Board], Sequence[float]]) -> NDArray[np.float64]:
        """Return a score per text, NaN elsewhere."""
        scores = np.full(self.is_there.shape, np.nan)
        for row, board in enumerate(self.boards):
            scores[row, : len(board.texts)] = of_board(board)
        return scores


# --------------------------------------------------------------------------- rules that see texts alone

Picker: TypeAlias = Callable[[_Table], Weights]


def _picked(pick: Callable[[Sequence[str]], int | None]) -> Picker:
    def weights(table: _Table) -> Weights:
        values = np.zeros(table.is_there.shape)
        for row, board in enumerate(table.boards):
            if (place := pick(board.texts)) is not None:
                values[row, place] = 1.0
        return values

    return weights


def _sequence(text: str) -> list[str]:
    """Return a text's words and adjacent word pairs."""
    words = normal_form(text).split()
    return [*words, *(" ".join(pair) for pair in pairwise(words))]


def _likeness(board: Board) -> list[float]:
    """Return each text's similarity to the others of its board (Jaccard)."""
    parts = [frozenset(_sequence(text)) for text in board.texts]
    return [
        sum(len(part & other) / max(1, len(part | other)) for j, other in enumerate(parts) if j != i)
        for i, part in enumerate(parts)
    ]


def _overlap(board: Board) -> list[float]:
    """Return the share of each text's words that occur in the question."""
    asked = set(normal_form(board.about).split())
    words = [set(normal_form(text).split()) for text in board.texts]
    return [len(some & asked) / len(some) if some else 0.0 for some in words]


def _surprise(table: _Table) -> NDArray[np.float64]:
    """Return how unusual each text's words are given the texts of other sources, in bits per word.

    Words and pairs with the preceding word are counted in all other sources' texts, right and wrong alike,
    once per source.
    """
    texts = {(g, t) for g, b in zip(table.cluster.tolist(), table.boards, strict=True) for t in b.texts}
    total: Counter[str] = Counter()
    own: dict[int, Counter[str]] = {int(g): Counter() for g in np.unique(table.cluster)}
    for group, text in texts:
        names = _sequence(text)
        total.update(names)
        own[group].update(names)
    n_words = {group: sum(total.values()) - sum(counts.values()) for group, counts in own.items()}
    scores = np.full(table.is_there.shape, np.nan)
    for row, board in enumerate(table.boards):
        group = int(table.cluster[row])
        if not n_words[group]:
            continue
        for column, text in enumerate(board.texts):
            sequence = _sequence(text)
            seen = [total[part] - own[group][part] for part in sequence]
            bits = [-math.log2((n + _ADDED) / (n_words[group] + _ADDED * len(total))) for n in seen]
            scores[row, column] = sum(bits) / max(1, len(bits))
    return scores


_FIXED: Final[tuple[tuple[str, str, Picker], ...]] = (
    ("longest", "longest", _picked(longest_choice)),
    ("shortest", "shortest", _picked(shortest_choice)),
    ("median", "median number", _picked(numeric_median)),
    *((key, title, _picked(pick)) for key, (title, pick) in SIZE_RULES.items()),
    ("question-words", "most words of the question", lambda table: table.best(table.filled(_overlap))),
    ("typical", "most like the others", lambda table: table.best(table.filled(_likeness))),
    ("odd-one", "least like the others", lambda table: table.best(-table.filled(_likeness))),
    ("odd-words", "most unusual words", lambda table: table.best(_surprise(table))),
    ("plain-words", "most usual words", lambda table: table.best(-_surprise(table))),
)


# --------------------------------------------------------------------------- rules that learn from a key


@dataclass(frozen=True, kw_only=True)
class _Learner:
    """A rule that learns from the right texts of other sources, by features of texts.

    The features of all texts are concatenated; `row` and `column` locate the text, `feature` identifies the
    feature, `pair` numbers features within clusters. Independent of the key are the share of right texts
    (`chance`), how often other sources show the feature (`shown`), and its log odds there by chance alone
    (`usual`).
    """

    table: _Table
    row: NDArray[np.int64]
    column: NDArray[np.int64]
    feature: NDArray[np.int64]
    pair: NDArray[np.int64]
    chance: NDArray[np.float64]
    shown: NDArray[np.float64]
    usual: NDArray[np.float64]

    @classmethod
    def of(cls, table: _Table, features: Callable[[Board], Sequence[Sequence[str]]]) -> "_Learner | None":
        """Return None if no text has a feature."""
        numbers: dict[str, int] = {}
        entries: list[tuple[int, int, int]] = []
        for row, board in enumerate(table.boards):
            for column, some in enumerate(features(board)):
                entries += [
                    (row, column, numbers.setdefault(name, len(numbers))) for name in dict.fromkeys(some)
                ]
        if not entries:
            return None
        row, column, feature = np.array(entries, np.int64).T
        _, pair = np.unique(table.cluster[row] * len(numbers) + feature, return_inverse=True)
        pair = pair.reshape(-1)
        chance = (table.n_right / table.n_texts)[row]
        values = _elsewhere(np.ones(len(row)), feature, pair)
        usual = (_elsewhere(chance, feature, pair) + 2 * chance) / (values + 2)
        return cls(
            table=table,
            row=row,
            column=column,
            feature=feature,
            pair=pair,
            chance=chance,
            shown=values,
            usual=np.log(usual / (1 - usual)),
        )

    def weights(self, right: NDArray[np.bool_]) -> Weights:
        """Return what it chooses given these right texts, by log odds of features in other sources."""
        won = _elsewhere(right[self.row, self.column].astype(np.float64), self.feature, self.pair)
        rate = (won + 2 * self.chance) / (self.shown + 2)
        gain = np.log(rate / (1 - rate)) - self.usual
        shape = self.table.is_there.shape
        scores = np.bincount(self.row * shape[1] + self.column, gain, minlength=shape[0] * shape[1])
        return self.table.best(np.round(scores.reshape(shape), 9))


def _elsewhere(
    values: NDArray[np.float64], feature: NDArray[np.int64], pair: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return, for each text and feature, the sum of a value over other sources' texts with that feature."""
    sums = np.bincount(feature, values)[feature] - np.bincount(pair, values)[pair]
    return sums.astype(np.float64)


def _ranks(sizes: Sequence[float]) -> list[list[str]]:
    """Return the rank of each size, from the smallest; none for ties."""
    ordered = sorted(sizes)
    return [[f"{ordered.index(siz)} of {len(sizes)}"] if ordered.count(siz) == 1 else [] for siz in sizes]


def _of_sizes(board: Board) -> list[list[str]]:
    sizes = choice_sizes(board.texts)
    return [[] for _ in board.texts] if sizes is None else _ranks(sizes)


_LEARNED: Final[tuple[tuple[str, str, Callable[[Board], Sequence[Sequence[str]]]], ...]] = (
    ("popular", "most popular answer", lambda b: [[" ".join(text.casefold().split())] for text in b.texts]),
    (
        "popular-words",
        "words of right answers",
        lambda b: [sorted({*normal_form(t).split()}) for t in b.texts],
    ),
    ("popular-size", "most popular rank by size", _of_sizes),
    ("popular-length", "most popular rank by length", lambda b: _ranks([len(t.strip()) for t in b.texts])),
)
WORD_RULES: Final = frozenset({"odd-words", "plain-words", "popular-words"})
TITLES: Final = {key: title for key, title, _ in (*_FIXED, *_LEARNED)}


# --------------------------------------------------------------------------- the test


class _Rules:
    """All rules on the same boards."""

    def __init__(self, table: _Table) -> None:
        self._table = table
        self._fixed = [(key, title, pick(table)) for key, title, pick in _FIXED]
        result = ((key, title, _Learner.of(table, features)) for key, title, features in _LEARNED)
        self._learned = [(key, title, learner) for key, title, learner in result if learner is not None]
        self.names = [(key, title) for key, title, _ in (*self._fixed, *self._learned)]

    def weights(self, right: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return what every rule chooses, shape (rules, boards, texts)."""
        return np.array(
            [w for *_, w in self._fixed] + [learner.weights(right) for *_, learner in self._learned]
        )

    def z(self, weights: NDArray[np.float64], right: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return each rule's distance above guessing in standard deviations; -inf if it does not apply."""
        n, k = self._table.n_texts, self._table.n_right
        chance, both = k / n, k * (k - 1) / (n * (n - 1))
        speaks = weights.sum(axis=2)
        squares = (weights**2).sum(axis=2)
        variance = (squares * chance + (speaks - squares) * both - speaks * chance**2).sum(axis=1)
        gain = ((weights * right).sum(axis=2) - speaks * chance).sum(axis=1)
        return np.where(variance > 1e-9, gain / np.sqrt(np.maximum(variance, 1e-9)), -np.inf)


def blind_test(
    boards: Sequence[Board], *, rng: np.random.Generator, level: float = 0.95, n_draws: int = 1999
) -> BlindTest:
    """Test every rule against guessing, and the best one against the best of random keys.

    Each draw chooses as many right texts per board, uniformly, and retrains learning rules. A rule's p-value
    is the share of draws in which the best rule is as far above guessing, in standard deviations, as this
    one: ``(1 + #{draws}) / (1 + n)``. Draws end early once enough of them are as good as the set. Because
    questions about one source are correlated, a rule counts as above guessing only if its margin's interval,
    clustered by source, is also above 0.

    Args:
        boards: choices of questions, or statements.
        rng: source of the draws.
        level: coverage of the intervals.
        n_draws: maximum number of draws.

    Raises:
        UsageError: no boards.

    Source: Westfall & Young, Resampling-Based Multiple Testing (1993), chapter 2 (single-step maxT);
        Besag & Clifford, Sequential Monte Carlo p-values, Biometrika 78 (1991).
    Departs: draws are evaluated in batches.
    """
    if not boards:
        raise UsageError("no boards; expected questions with choices")
    table = _Table.of(boards)
    rules, right = _Rules(table), table.right
    weights = rules.weights(right)
    seen = rules.z(weights, right)
    n_reached, n_done = np.zeros(len(seen)), 0
    furthest = int(seen.argmax())
    while n_done < n_draws and n_reached[furthest] < _ENOUGH:
        for _ in range(min(_BATCH, n_draws - n_done)):
            drawn = table.drawn(rng)
            n_reached += rules.z(rules.weights(drawn), drawn).max() >= seen - 1e-9
            n_done += 1
    p_values = (1 + n_reached) / (1 + n_done)
    scores = [
        _score(table, weights[i], right, name=name, p_value=float(p_values[i]), level=level)
        for i, name in enumerate(rules.names)
        if np.isfinite(seen[i])
    ]
    order = sorted(range(len(scores)), key=lambda i: (scores[i].p_value, -scores[i].margin.value))
    n_rules = max(1, int(np.isfinite(seen).sum()))
    return BlindTest(
        n=len(boards),
        n_clusters=len(set(table.cluster.tolist())),
        scores=tuple(scores[i] for i in order),
        n_needed=n_needed(float(np.mean([b.chance for b in boards])), alpha=(1 - level) / n_rules),
    )


def gains_of(boards: Sequence[Board], key: str) -> NDArray[np.float64]:
    """Return a rule's margin over guessing on each board; 0 if it does not apply."""
    table = _Table.of(boards)
    rules, right = _Rules(table), table.right
    weights = rules.weights(right)[[name for name, _ in rules.names].index(key)]
    gains = (weights * right).sum(axis=1) - weights.sum(axis=1) * table.n_right / table.n_texts
    return np.asarray(gains, np.float64)


def _score(
    table: _Table,
    weights: Weights,
    right: NDArray[np.bool_],
    *,
    name: tuple[str, str],
    p_value: float,
    level: float,
) -> BlindScore:
    speaks = np.flatnonzero(weights.sum(axis=1) > 0)
    hits = (weights * right).sum(axis=1)[speaks]
    chance = np.array([table.boards[i].chance for i in speaks])
    clusters = [table.boards[i].cluster for i in speaks]
    return BlindScore(
        key=name[0],
        title=name[1],
        n=len(speaks),
        score=float(hits.mean()),
        chance=float(chance.mean()),
        margin=margin(hits, chance, clusters=clusters, level=level),
        p_value=p_value,
    )


def n_needed(chance: float, *, alpha: float) -> int:
    """Return the fewest boards for 80 % power against a rule clearly above guessing (`TELLING`).

    >>> n_needed(0.2, alpha=0.005), n_needed(0.5, alpha=0.005)
    (15, 39)
    """
    telling = chance + TELLING * (1 - chance)
    for n in range(1, _MOST_NEEDED):
        fewest = next((k for k in range(n + 1) if binomial_tail(n, k, chance) <= alpha), None)
        if fewest is not None and binomial_tail(n, fewest, telling) >= _POWER:
            return n
    return _MOST_NEEDED
