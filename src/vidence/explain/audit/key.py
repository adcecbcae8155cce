"""What a set's answer key gives away: letter balance, blind rules, question structures."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.explain.audit.blind import (
    LEAST_SOURCES,
    TITLES,
    BlindScore,
    BlindTest,
    Board,
    Verdict,
    blind_test,
    board_of,
    statements_of,
)
from vidence.records import Item, by_key
from vidence.statistics.answer_keys import LetterBalance, letter_balance
from vidence.statistics.paired import holm
from vidence.tables.table import several

FEW = 10  # fewer questions than these tell nothing of a rule
FALSE_STATEMENTS: Final = "false_statements"  # the tag with the numbers of the listed lines that are false
CHOICES: Final = "choices"
STATEMENTS: Final = "listed statements"
_TAGS: Final = ("structure", "task", "category", "type")
_SAME_DRAWS: Final = 1999


@dataclass(frozen=True, kw_only=True)
class SameAnswer:
    """The answer that is right more often than expected, compared with random keys.

    `p_value` is that of the most extreme answer in random keys.
    """

    text: str
    n: int
    expected: float
    p_value: float


@dataclass(frozen=True, kw_only=True)
class StructureFinding:
    """What one structure gives away. `tests` are by what is judged: choices or listed statements.

    `worst` is the deciding rule: one above guessing, or else the best; None if no rule applies. `p_value` is
    adjusted for rules, kinds of boards and structures.
    """

    name: str
    n: int
    tests: Mapping[str, BlindTest]
    same: SameAnswer | None
    worst: BlindScore | None
    worst_of: str
    p_value: float
    verdict: Verdict

    @property
    def n_clusters(self) -> int:
        """Return the number of sources."""
        return self.tests[CHOICES].n_clusters

    @property
    def n_needed(self) -> int:
        """Return how many questions suffice to tell a leak from chance."""
        return self.tests[CHOICES].n_needed

    def says(self) -> str:
        """Return the finding as a sentence."""
        if self.worst is None:
            return f"no rule says anything of its {self.n} questions"
        score = self.worst
        text = (
            f"the rule '{score.title}' (of {self.worst_of}) gets {100 * score.score:.0f} % of "
            f"{score.n}, guessing "
            f"{100 * score.chance:.0f} % (p {self.p_value:.3g}, adjusted for all rules and structures)"
        )
        if self.verdict == "untold":
            few = f"{several(self.n, 'question')} about {several(self.n_clusters, 'source')}"
            return f"cannot be told with {few} ({self.n_needed} about {LEAST_SOURCES} or more can); {text}"
        return text


def structures_of(items: Sequence[Item]) -> dict[str, list[Item]]:
    """Group questions with choices by structure, from their tags.

    The tags are ``task`` and ``structure``, or the first of ``task``, ``category``, ``type`` that most
    questions have. If most have none of them, the whole set is one structure, ``all``.
    """
    some = [item for item in items if board_of(item) is not None]
    tag = next((tag for tag in _TAGS if sum(tag in entry.tags for entry in some) * 2 > len(some)), "")
    structures: dict[str, list[Item]] = defaultdict(list)
    for item in some:
        name = item.tags.get(tag, "none") if tag else "all"
        if tag == "structure" and "task" in item.tags:
            name = f"{item.tags['task']} {name}"
        structures[name].append(item)
    return dict(structures)


def read_structures(
    groups: Mapping[str, Sequence[Item]],
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    n_draws: int = 1999,
) -> tuple[StructureFinding, ...]:
    """Test all structures; the familywise error rate is 1 - level.

    Choices are tested, and also the numbered lines of questions whose tag ``false_statements`` lists the
    false ones (``2 4``). P-values are those of `blind_test`, multiplied by the kinds of boards, with Holm
    over structures.

    Raises:
        UsageError: a structure without questions with choices.
    """
    alpha = 1 - level
    tested = {
        name: {kind: blind_test(b, rng=rng, level=level, n_draws=n_draws) for kind, b in boards.items()}
        for name, boards in ((name, _boards(items)) for name, items in groups.items())
    }
    raw: dict[str, tuple[float, BlindScore | None, str]] = {}
    for name, tests in tested.items():
        structures = [
            (min(1.0, s.p_value * len(tests)), s, kind) for kind, t in tests.items() for s in t.scores
        ]
        above = [values for values in structures if values[1].margin.low > 0]
        best = min(above or structures, key=lambda values: values[0], default=(1.0, None, ""))
        raw[name] = best if above else (1.0, *best[1:])
    adjusted = holm([p for p, *_ in raw.values()]) if raw else ()
    entries = []
    for (name, (_, worst, kind)), p_value in zip(raw.items(), adjusted, strict=True):
        test = tested[name][CHOICES]
        few = test.n < test.n_needed or test.n_clusters < LEAST_SOURCES
        verdict: Verdict = "above" if p_value <= alpha + 1e-12 else "untold" if few else "chance"
        entries.append(
            StructureFinding(
                name=name,
                n=test.n,
                tests=tested[name],
                same=same_answer(groups[name], rng=rng),
                worst=worst,
                worst_of=kind,
                p_value=p_value,
                verdict=verdict,
            )
        )
    return tuple(entries)


def boards_of(item: Item) -> dict[str, Board]:
    """Return a question's boards by what is judged: its choices, and its listed statements."""
    false = [int(part) for part in item.tags.get(FALSE_STATEMENTS, "").split() if part.isdigit()]
    boards = {
        CHOICES: board_of(item),
        STATEMENTS: statements_of(item.question, false, cluster=item.source_id),
    }
    return {kind: board for kind, board in boards.items() if board is not None}


def _boards(items: Sequence[Item]) -> dict[str, list[Board]]:
    return {CHOICES: []} | by_key(pair for item in items for pair in boards_of(item).items())


def same_answer(items: Sequence[Item], *, rng: np.random.Generator) -> SameAnswer | None:
    """Return the answer that is right most above expectation; None if no answer is offered twice.

    An answer's expectation is the sum of 1 / choices over the questions that offer it. The statistic is the
    largest ``(right - expected) / sqrt(expected)`` over answers offered at least twice.
    """
    boards = [board for item in items if (board := board_of(item)) is not None]
    texts = [[" ".join(t.casefold().split()) for t in board.texts] for board in boards]
    offered = Counter(text for some in texts for text in dict.fromkeys(some))
    numbers = {text: i for i, text in enumerate(t for t, n in offered.items() if n > 1)}
    if not numbers:
        return None
    expected = np.zeros(len(numbers))
    width = max(len(some) for some in texts)
    place = np.full((len(texts), width), len(numbers))  # the last number: an answer that is offered once
    sizes = np.array([len(some) for some in texts])
    right = np.array([min(board.right) for board in boards])
    for row, some in enumerate(texts):
        for column, text in enumerate(some):
            if text in numbers:
                place[row, column] = numbers[text]
                expected[numbers[text]] += 1 / len(some)
    rows = np.arange(len(texts))

    def counted(columns: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.bincount(place[rows, columns], minlength=len(numbers) + 1)[:-1]

    def apart(counts: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray((counts - expected) / np.sqrt(expected))

    seen = counted(right)
    top = int(apart(seen).argmax())
    draws = (rng.random((_SAME_DRAWS, len(texts))) * sizes).astype(np.int64)
    n_reached = sum(float(apart(counted(draw)).max()) >= float(apart(seen)[top]) - 1e-9 for draw in draws)
    named = {number: text for text, number in numbers.items()}
    result = next(t for b in boards for t in b.texts if " ".join(t.casefold().split()) == named[top])
    return SameAnswer(
        text=result,
        n=int(seen[top]),
        expected=float(expected[top]),
        p_value=(1 + n_reached) / (1 + _SAME_DRAWS),
    )


# --------------------------------------------------------------------------- the key


@dataclass(frozen=True, kw_only=True)
class Key:
    """What the key of the questions with choices gives away.

    `rules` are those that choose in some question, with margins at a level adjusted for their number.
    `structures` are tested together.
    """

    n: int
    balance: LetterBalance
    rules: tuple[BlindScore, ...]
    structures: tuple[StructureFinding, ...]


def beats_guessing(rule: BlindScore) -> bool:
    """Whether the margin's interval is above 0, over enough questions."""
    return rule.n >= FEW and rule.margin.low > 0


def choice_items(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return the items with choices."""
    return tuple(item for item in items if item.answer_kind == "choice" and item.choices)


def read_key(items: Sequence[Item], *, rng: np.random.Generator, level: float) -> Key | None:
    """Test the key; None if no question has choices."""
    some = choice_items(items)
    if not some:
        return None
    boards = [board for item in some if (board := board_of(item)) is not None]
    each = 1 - (1 - level) / len(TITLES)
    return Key(
        n=len(some),
        balance=letter_balance(
            [item.answer for item in some], n_choices=[len(item.choices) for item in some], rng=rng
        ),
        rules=blind_test(boards, rng=rng, level=each, n_draws=0).scores if boards else (),
        structures=read_structures(structures_of(some), rng=rng, level=level),
    )
