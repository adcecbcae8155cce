"""How simulated models guess: with a known chance, and as sticky as is wanted, from nothing but their prompt.

Guesses are drawn from hashes, so that the same prompt gets the same guess. What tells questions apart is
their words and their choices, whatever the order of these.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np

Guessing: TypeAlias = Literal["independent", "letter", "text"]
Guess: TypeAlias = Guessing | Literal[""]


def _rng(*parts: object) -> np.random.Generator:
    key = hashlib.sha256("\n".join(map(repr, parts)).encode()).digest()
    return np.random.default_rng(int.from_bytes(key))


def guessed(
    how: Guess,
    choices: Mapping[str, int],
    *,
    question: Sequence[str],
    n_frames: int,
    shown: Sequence[str],
    stick: float,
) -> str | None:
    """The letter that is guessed; None where nothing is, or where there are no choices.

    ``independent`` guesses anew for every prompt. ``letter`` and ``text`` guess by the number of frames: with
    one frame more a guess is kept with probability `stick`, otherwise drawn anew, evenly. In another
    order of the choices ``letter`` keeps its letter and ``text`` the choice. A guess without frames is one of
    its own.

    Args:
        how: to guess.
        choices: the numbers to choose from, by letter, as shown.
        question: what tells the question apart.
        n_frames: how many frames are shown.
        shown: what is shown, in its order; for ``independent``.
        stick: the chance that a guess is kept.
    """
    if not how or not choices:
        return None
    letters, numbers = sorted(choices), sorted(choices.values())
    key = (*question, *numbers)
    if how == "independent":
        order = [choices[letter] for letter in letters]
        return letters[int(_rng(how, key, tuple(order), tuple(shown)).integers(len(letters)))]
    drawn_at = n_frames
    while drawn_at > 1 and _rng("kept", key, drawn_at).random() < stick:
        drawn_at -= 1
    i = int(_rng("drawn", key, drawn_at).integers(len(letters)))
    if how == "letter":
        return letters[i]
    return next(letter for letter in letters if choices[letter] == numbers[i])


def moved(logps: Mapping[str, float], *, noise: float, shown: Sequence[str]) -> dict[str, float]:
    """Log-probabilities with normal noise of so many nats on each logit, drawn from what is shown.

    Together they have the probability that they had.
    """
    letters = sorted(logps)
    logits = np.array([logps[letter] for letter in letters])
    moved_logits = logits + noise * _rng("noise", tuple(shown)).standard_normal(len(letters))
    total = np.logaddexp.reduce(logits) - np.logaddexp.reduce(moved_logits)
    return dict(zip(letters, (moved_logits + total).tolist(), strict=True))
