"""What the key of a set gives away: the balance of letters, and rules that see neither video nor answer."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vidence.explain.audit.blind import TITLES, BlindScore, blind_test, board_of
from vidence.explain.audit.structures import StructureFinding, read_structures, structures_of
from vidence.records import Item
from vidence.statistics.answer_keys import LetterBalance, letter_balance

FEW = 10  # fewer questions than these tell nothing of a rule


@dataclass(frozen=True, kw_only=True)
class Key:
    """What the key of the questions with choices gives away.

    `rules` are those that pick a choice of some question, their margins at a level adjusted for the number of
    rules. `structures` are the forms of question, each tested with all others.
    """

    n: int
    balance: LetterBalance
    rules: tuple[BlindScore, ...]
    structures: tuple[StructureFinding, ...]

    def rule(self, key: str) -> BlindScore | None:
        """The rule of that name; None where it picks no choice."""
        return next((rule for rule in self.rules if rule.key == key), None)


def beats_guessing(rule: BlindScore) -> bool:
    """Whether the interval of the margin lies above 0, over enough questions."""
    return rule.n >= FEW and rule.margin.low > 0


def choice_items(items: Sequence[Item]) -> tuple[Item, ...]:
    """Those with choices."""
    return tuple(item for item in items if item.answer_kind == "choice" and item.choices)


def read_key(items: Sequence[Item], *, rng: np.random.Generator, level: float) -> Key | None:
    """Test the key; None where no question has choices."""
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
