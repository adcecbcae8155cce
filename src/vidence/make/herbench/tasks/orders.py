"""Wrong orders: of events, by swaps and rotations that the log does not contain; of numbers."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import TypeAlias

import numpy as np

from vidence.errors import UsageError
from vidence.make.herbench.tasks.candidates import one_of_each
from vidence.make.pipeline.english import order_of

# Which of the events, in their true order, stands at each place.
Order: TypeAlias = tuple[int, ...]

N_WRONG = 4


def swap_mid(order: Order, first: int, second: int) -> Order:
    """The order with two events swapped that are not neighbours.

    Raises:
        UsageError: the places are neighbours or the same.

    Source: HERBench, section 7.5 (``swap_mid``).
    Departs: no.

    >>> swap_mid((0, 1, 2, 3, 4), 1, 3)
    (0, 3, 2, 1, 4)
    """
    if abs(first - second) < 2:
        raise UsageError(f"places {first} and {second} are neighbours; expected places with one between them")
    swapped = list(order)
    swapped[first], swapped[second] = swapped[second], swapped[first]
    return tuple(swapped)


def rotate(order: Order, by: int) -> Order:
    """The order with its first `by` events moved to the end.

    Raises:
        UsageError: a rotation that changes nothing.

    Source: HERBench, section 7.5 (``rotate``).
    Departs: the paper does not say by how much; here by 1 to one less than there are events.

    >>> rotate((0, 1, 2, 3, 4), 2)
    (2, 3, 4, 0, 1)
    """
    if not 0 < by < len(order):
        raise UsageError(f"{len(order)} events rotated by {by}; expected 1 to {len(order) - 1}")
    return (*order[by:], *order[:by])


@dataclass(frozen=True, kw_only=True)
class Perturbed:
    """A wrong order and how it was made, such as ``swap_mid 1 3``."""

    order: Order
    how: str


@lru_cache(maxsize=2**8)
def perturbed(order: Order) -> tuple[Perturbed, ...]:
    """Return all orders one swap or rotation away."""
    n = len(order)
    swaps = [
        Perturbed(order=swap_mid(order, i, j), how=f"swap_mid {i + 1} {j + 1}")
        for i in range(n)
        for j in range(i + 2, n)
    ]
    rotations = [Perturbed(order=rotate(order, by), how=f"rotate {by}") for by in range(1, n)]
    return (*swaps, *rotations)


def exists(starts_s: Iterable[Sequence[float]]) -> bool:
    """Whether events of these kinds come one by one somewhere in the log.

    Args:
        starts_s: for each kind, in the order in question, when its events start, ascending. Events that start
            together count as in order either way.

    >>> exists([[1.0, 9.0], [5.0], [6.0]]), exists([[5.0], [1.0]])
    (True, False)
    """
    reached = float("-inf")
    for starts in starts_s:
        if starts[-1] < reached:
            return False
        reached = starts[bisect_left(starts, reached)]
    return True


def wrong_orders(
    n: int, *, is_wrong: Callable[[Order], bool], rng: np.random.Generator
) -> tuple[Perturbed, ...]:
    """Four wrong orders of `n` events; fewer where there are fewer.

    They are one `swap_mid` or `rotate` away from an order that is not offered, as the right one is: were they
    made from the right one, it would be the one that the others resemble most, and could be told without the
    video. Where there are not four, they are drawn from all that one or two of these functions make of the
    right order.

    Args:
        n: how many events, in their true order 0 to n - 1.
        is_wrong: whether an order does not exist in the log.
        rng: draws them.

    Source: HERBench, section 7.5.
    Departs: the paper applies one function once, to the right order.
    """
    steps = _two_steps(n)
    first = perturbed(tuple(range(n)))
    hidden = first[int(rng.integers(len(first)))]
    near = {step.order for step in perturbed(hidden.order)}
    pool = [step for step in steps if step.order in near and is_wrong(step.order)]
    if len(pool) < N_WRONG:
        pool = [step for step in steps if is_wrong(step.order)]
    return tuple(pool[i] for i in rng.permutation(len(pool))[:N_WRONG])


def wrong_order(n: int, *, is_wrong: Callable[[Order], bool], rng: np.random.Generator) -> Perturbed | None:
    """Return a wrong order of `n` events by `swap_mid` or `rotate`, equally often; None if impossible.

    Source: HERBench, section 7.5.
    Departs: no.
    """
    entries = [perturbed for perturbed in perturbed(tuple(range(n))) if is_wrong(perturbed.order)]
    name = ("swap_mid", "rotate")[int(rng.integers(2))]
    pool = [perturbed for perturbed in entries if perturbed.how.startswith(name)] or entries
    return pool[int(rng.integers(len(pool)))] if pool else None


@lru_cache(maxsize=8)
def _two_steps(n: int) -> tuple[Perturbed, ...]:
    """All orders that one or two steps lead to, those of one step first."""
    right = tuple(range(n))
    steps = {right: Perturbed(order=right, how="")}
    for entry in perturbed(right):
        steps.setdefault(entry.order, entry)
    for entry in tuple(steps.values())[1:]:
        for two in perturbed(entry.order):
            steps.setdefault(two.order, Perturbed(order=two.order, how=f"{entry.how} then {two.how}"))
    return tuple(steps.values())[1:]


# --------------------------------------------------------------------------- of numbered things


def other_orders(right: Sequence[int], *, rng: np.random.Generator, n: int = N_WRONG) -> tuple[str, ...]:
    """`n` orders of the same numbers that are not the right one, as texts; fewer where there are fewer.

    They are drawn from all orders and not made from the right one by small changes: otherwise the right one
    would be the one that the others resemble most.
    """
    pool = [order_of(order) for order in permutations(sorted(right))]
    return one_of_each(order_of(right), pool, n=n, rng=rng)
