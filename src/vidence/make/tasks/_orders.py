"""Wrong orders of numbered things."""

from collections.abc import Iterable, Sequence
from itertools import permutations

import numpy as np

from vidence.make.tasks._drafting import one_of_each
from vidence.make.tasks._wording import order_of


def wrong_orders(
    right: Sequence[int], *, n: int, rng: np.random.Generator, always: Iterable[Sequence[int]] = ()
) -> tuple[str, ...]:
    """`n` drawn orders of the same numbers that are not the right one, as texts.

    They are drawn from all orders and not made from the right one by small changes: otherwise the right one
    would be the one that the others resemble most.

    Args:
        right: the right order.
        n: how many; fewer where there are fewer.
        rng: draws them.
        always: orders that are among them in any case.
    """
    first = [order_of(order) for order in always]
    pool = (order_of(order) for order in permutations(sorted(right)))
    rest = one_of_each(order_of(right), [text for text in pool if text not in first], n=n, rng=rng)
    return (*first, *rest)[:n]
