"""Dissolves of drawn pictures: found where they were made, and nowhere else."""

import numpy as np
import pytest

from vidence.seeing.shots.dissolves import DissolveMeter

SIZE = (27, 48)


def picture(seed):
    """Blobs of four cells."""
    coarse = np.random.default_rng(seed).integers(10, 245, (7, 12, 3))
    return np.kron(coarse, np.ones((4, 4, 1)))[: SIZE[0], : SIZE[1]]


def found(pictures):
    meter = DissolveMeter()
    for one in pictures:
        meter.see(np.clip(np.round(one), 0, 255).astype(np.uint8))
    return [(gap.first_frame, gap.clear_frame) for gap in meter.gaps()]


def dissolve(n, *, still=30):
    one, other = picture(1), picture(2)
    shares = np.clip((np.arange(2 * still + n) - still + 1) / (n + 1), 0, 1)
    return [(1 - share) * one + share * other for share in shares]


@pytest.mark.parametrize("n", [6, 12, 24, 40])
def test_a_dissolve_is_found_where_it_was_made(n):
    [(first, clear)] = found(dissolve(n))
    assert abs(first - 30) <= 1 + n // 12
    assert abs(clear - (30 + n)) <= 1 + n // 12


@pytest.mark.parametrize("gain", [0.2, 0.6, 1.8])
def test_a_lamp_or_a_fade_is_no_dissolve(gain):
    one = picture(1)
    assert not found([one * g for g in [*[1.0] * 20, *np.linspace(1, gain, 20), *[gain] * 20]])


@pytest.mark.parametrize("step", [0.25, 0.5, 1, 3])
def test_a_pan_is_no_dissolve(step):
    wide = np.concatenate([picture(seed) for seed in range(12)], axis=1)
    places = np.arange(0, min(step * 150, wide.shape[1] - SIZE[1] - 1), step)
    between = [(int(place), place % 1) for place in places]
    assert not found(
        [
            (1 - part) * wide[:, at : at + SIZE[1]] + part * wide[:, at + 1 : at + 1 + SIZE[1]]
            for at, part in between
        ]
    )


def test_a_cut_and_a_flash_are_no_dissolves():
    one, other = picture(1), picture(2)
    assert not found([*[one] * 30, *[other] * 30])
    assert not found([*[one] * 30, *[np.full_like(one, 255.0)] * 3, *[one] * 30])
    rng = np.random.default_rng(0)
    assert not found([rng.integers(0, 255, (*SIZE, 3)) for _ in range(40)])
    assert found([one] * 3) == found([]) == []


def test_a_dissolve_that_the_video_ends_in_is_found_only_when_it_is_over():
    assert len(found(dissolve(12)[:46])) == 1
    assert not found(dissolve(24)[:33])
