"""Guesses at what is right that look at the options alone."""

from collections.abc import Sequence


def by_size(options: Sequence[int]) -> dict[str, int]:
    """What guesses would answer that look at nothing but the five counts, by the name of the guess."""
    low = sorted(options)
    mean = sum(low) / len(low)
    near = {n: min(abs(n - other) for other in low if other != n) for n in low}
    places = {f"place {place}": low[place] for place in range(5)}
    bounds = {f"from {n} on": next((one for one in low if one >= n), low[-1]) for n in range(3, 9)}
    around = {f"about {n}": min(low, key=lambda one, n=n: abs(one - n)) for n in range(3, 13)}
    return (
        places
        | bounds
        | around
        | {
            "closest to the mean": min(low, key=lambda one: abs(one - mean)),
            "farthest from the mean": max(low, key=lambda one: abs(one - mean)),
            "closest to another": min(low, key=lambda one: near[one]),
            "farthest from all others": max(low, key=lambda one: near[one]),
            "longest text": max(options, key=lambda one: len(str(one))),
        }
    )
