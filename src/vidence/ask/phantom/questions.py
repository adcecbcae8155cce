"""The questions of the phantom benchmark: their wording, and how simulated models parse them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

N_CHOICES = 5

_CARDS = re.compile(r"numbers? on (the [a-z, ]+) card\?")
_TOLD = re.compile(r"says that the answer is (\d+)\.")
_CHOICE = re.compile(r"(?<![A-Za-z])([A-Z])[.:)]\s*(\d+)(?!\d)")


def wording(colours: Sequence[str], told: int | None) -> str:
    """Return the question about the cards of these colours; `told` gives the answer away.

    >>> wording(["red", "green", "blue"], None)
    'What is the sum of the numbers on the red, the green and the blue card?'
    >>> wording(["red"], 7)
    'Somebody who has watched the video says that the answer is 7. What is the number on the red card?'
    """
    names = [f"the {colour}" for colour in colours]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    asked = "the number" if len(names) == 1 else "the sum of the numbers"
    leak = "" if told is None else f"Somebody who has watched the video says that the answer is {told}. "
    return f"{leak}What is {asked} on {listed} card?"


@dataclass(frozen=True, kw_only=True)
class ParsedPrompt:
    """A parsed prompt: the cards' colours, the answer if the text tells it, the choices.

    `choices` maps letters to numbers; it is empty when an open answer is wanted.
    """

    colours: tuple[str, ...]
    told: int | None
    choices: dict[str, int]


def understand(text: str) -> ParsedPrompt | None:
    r"""Parse the question in a prompt; None if it has no question about cards.

    Where there are several questions (worked examples) the last one counts. Choices are read from
    ``A. 12``, ``A: 12``, ``A) 12`` and ``(A) 12``, on lines of their own or in one line.

    >>> understand("What is the number on the red card?\nA. 3\nB. 12")
    ParsedPrompt(colours=('red',), told=None, choices={'A': 3, 'B': 12})
    """
    questions = list(_CARDS.finditer(text))
    if not questions:
        return None
    colours = tuple(dict.fromkeys(re.findall(r"the (\w+)", questions[-1].group(1))))
    entries = _TOLD.findall(text)
    choices = {letter: int(number) for letter, number in _CHOICE.findall(text)}
    return ParsedPrompt(colours=colours, told=int(entries[-1]) if entries else None, choices=choices)


def partial_sums(values: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the sums a model may get that misses cards: those that lack one value, and all others.

    Sums over every non-empty proper part of the values, each once, in rising order.
    """
    sums = {0}
    for value in values:
        sums |= {s + value for s in sums}
    total = sum(values)
    near = {total - value for value in values} - {0}
    return sorted(near), sorted(sums - near - {0, total})


def _take(pools: Sequence[Sequence[int]], count: int, *, used: set[int], rng: np.random.Generator) -> None:
    """Add `count` numbers to `used`: randomly from the first pool, then from the next, and so on."""
    missing = count
    for pool in pools:
        fresh = [int(n) for n in rng.permutation(np.array(pool, np.int64)) if int(n) not in used]
        used.update(fresh[:missing])
        missing -= len(fresh[:missing])


def choose_numbers(needed: Sequence[int], others: Sequence[int], *, rng: np.random.Generator) -> list[int]:
    """Return the choices, including the right number, in increasing order.

    Wrong choices are sums with a card too few or a card too many, so that mistakes look real. For
    two or more cards the smallest needed value is always a choice: whoever has seen any of the cards
    then knows one choice that cannot be right. The rank of the right number is drawn evenly from
    those that are possible, so that its place says little.

    Args:
        needed: the values of the cards asked for, each 1 or more.
        others: the values of the other cards in the video.
        rng: draws the wrong choices.
    """
    total = sum(needed)
    is_single = len(needed) == 1
    least = 0 if is_single else 1
    n_below = int(rng.integers(least, min(N_CHOICES - 1, total - 1) + 1))
    used = {total} if is_single else {total, min(needed)}
    near, far = ([v for v in others if v < total], []) if is_single else partial_sums(needed)
    _take([near, far, range(1, total)], n_below - least, used=used, rng=rng)
    above = [v for v in others if v > total] if is_single else [total + v for v in others]
    _take([above, range(total + 1, total + 20)], N_CHOICES - 1 - n_below, used=used, rng=rng)
    return sorted(used)
