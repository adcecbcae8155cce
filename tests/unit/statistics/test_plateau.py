"""The bend of a curve: hand calculation, and simulated curves that saturate, do not, or are too noisy."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from vidence.errors import UsageError
from vidence.statistics.plateau import Plateau, find_plateau
from vidence.statistics.resampling import Resampling

FEW = Resampling(n_boot=400)
FRAMES = np.array([8.0, 16, 32, 64, 128])


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def simulated(
    accuracy: np.ndarray, *, n_items: int, seed: int, per_video: int = 4
) -> tuple[np.ndarray, list[str]]:
    """Right and wrong of items at several budgets, with these chances; videos and items differ in ease."""
    rng = generator(seed)
    videos = np.repeat(np.arange(n_items // per_video), per_video)
    ease = 0.5 * rng.normal(size=len(videos))[videos] + 0.75 * rng.normal(size=n_items)
    noise = math.sqrt(1 - 0.5**2 - 0.75**2) * rng.normal(size=(n_items, len(accuracy)))
    return (ease[:, None] + noise < stats.norm.ppf(accuracy)).astype(float), [f"v{v}" for v in videos]


def courses(
    accuracy: np.ndarray, *, n_items: int, n_sets: int = 60, amounts: np.ndarray = FRAMES
) -> list[Plateau]:
    found = []
    for seed in range(n_sets):
        values, videos = simulated(accuracy, n_items=n_items, seed=seed)
        found.append(find_plateau(values, amounts, clusters=videos, rng=generator(seed), settings=FEW))
    return found


def share(found: list[Plateau], course: str) -> float:
    return sum(one.course == course for one in found) / len(found)


def knee(rise: float, *, at: float, then: float = 0.0, start: float = 0.3) -> np.ndarray:
    doublings, bend = np.log2(FRAMES) - 3, np.log2(at) - 3
    return start + rise * np.minimum(doublings, bend) + then * np.maximum(doublings - bend, 0)


# ------------------------------------------------------------------------------ by hand


def test_three_amounts_are_two_differences() -> None:
    # Means 0.25, 0.75, 0.5 at 8, 16, 64: + 0.5 for one doubling, then - 0.25 for two.
    values = [[0, 1, 0], [0, 1, 1], [1, 1, 1], [0, 0, 0]]
    found = find_plateau(values, [8, 16, 64], clusters=list("abcd"), rng=generator(), settings=FEW)
    assert found.early.value == pytest.approx(0.5)
    assert found.late.value == pytest.approx(-0.125)
    assert found.excess.value == pytest.approx(-0.125 - 0.25)
    assert found.split == 16
    assert found.amounts == (8.0, 16.0, 64.0)


def test_slopes_are_a_mean_gain_and_a_least_squares_line() -> None:
    means = np.array([0.31, 0.42, 0.47, 0.49, 0.50])
    videos = [str(i) for i in range(6)]
    found = find_plateau(np.tile(means, (6, 1)), FRAMES, clusters=videos, rng=generator(), settings=FEW)
    assert found.course == "rises"
    assert found.split == 32
    assert found.early.value == pytest.approx((0.47 - 0.31) / 2)
    assert found.late.value == pytest.approx(stats.linregress([0, 1, 2], means[2:]).slope)
    assert "says nothing" in found.early.method


# ------------------------------------------------------------------------------ planted curves


def test_a_knee_is_found_at_its_place() -> None:
    found = courses(knee(0.12, at=32), n_items=400)
    assert share(found, "saturates") > 0.8
    saturated = [one for one in found if one.course == "saturates"]
    assert np.mean([one.point == 32 for one in saturated]) > 0.85
    assert np.mean([one.below == 16 for one in saturated]) > 0.85
    assert np.mean([one.early.low <= 0.12 <= one.early.high for one in saturated]) > 0.85


def test_a_knee_before_many_level_amounts_is_found() -> None:
    amounts = 2.0 ** np.arange(3, 10)
    accuracy = np.array([0.3, 0.4, 0.5, 0.5, 0.5, 0.5, 0.5])
    found = courses(accuracy, n_items=400, amounts=amounts)
    assert share(found, "saturates") > 0.85
    assert np.mean([one.point == 32 for one in found if one.point is not None]) > 0.8


def test_a_curve_that_begins_at_the_level_of_guessing_may_saturate() -> None:
    # Rising steeply in the middle only: no two straight lines describe it.
    amounts = 2.0 ** np.arange(3, 10)
    accuracy = np.array([0.2, 0.21, 0.25, 0.45, 0.6, 0.6, 0.6])
    found = courses(accuracy, n_items=400, amounts=amounts)
    assert share(found, "saturates") > 0.75
    assert np.mean([one.point == 128 for one in found if one.point is not None]) > 0.85


@pytest.mark.parametrize("n_items", [200, 800])
@pytest.mark.parametrize("rise", [0.03, 0.06, 0.12])
def test_a_straight_rise_does_not_saturate(rise: float, n_items: int) -> None:
    assert share(courses(knee(rise, at=128), n_items=n_items), "saturates") <= 0.05


def test_a_straight_rise_that_can_be_seen_is_said_to_rise() -> None:
    assert share(courses(knee(0.1, at=128), n_items=800), "rises") > 0.9


def test_a_curve_that_rises_on_less_steeply_does_not_saturate() -> None:
    assert share(courses(knee(0.1, at=32, then=0.06), n_items=800), "saturates") <= 0.05


@pytest.mark.parametrize("n_items", [100, 800])
def test_no_rise_at_all_does_not_saturate(n_items: int) -> None:
    found = courses(np.full(5, 0.4), n_items=n_items)
    assert share(found, "saturates") <= 0.05
    assert share(found, "flat") > 0.7


def test_a_knee_in_too_few_items_is_not_reported() -> None:
    found = courses(knee(0.04, at=32), n_items=80)
    assert share(found, "saturates") < 0.25
    assert share(found, "flat") + share(found, "unclear") > 0.6


def test_a_curve_that_falls_after_its_peak_does_not_saturate() -> None:
    # HumanPCR, section 4.3: more frames may hurt.
    found = courses(knee(0.1, at=32, then=-0.08), n_items=800)
    assert share(found, "falls") > 0.9
    assert all(one.point is None for one in found if one.course == "falls")


def test_a_smooth_curve_that_has_come_to_rest_saturates() -> None:
    accuracy = 0.6 - 0.4 * np.exp(-(FRAMES - 8) / 12)
    found = courses(accuracy, n_items=800)
    assert share(found, "saturates") > 0.8
    assert all(one.point in {32, 64} for one in found if one.point is not None)


# ------------------------------------------------------------------------------ courses by their intervals


def steady(curve: Callable[[float], float]) -> Plateau:
    """The course of items that all follow the same curve: intervals have no width."""
    values = np.tile([curve(x) for x in np.log2(FRAMES)], (8, 1))
    return find_plateau(values, FRAMES, clusters=[str(i) for i in range(8)], rng=generator(), settings=FEW)


@pytest.mark.parametrize(
    ("curve", "course", "point"),
    [
        (lambda x: min(x, 5) / 10, "saturates", 32),
        (lambda x: min(x, 4) / 10, "saturates", 16),
        (lambda x: min(x, 6) / 10, "saturates", 64),
        (lambda x: x / 10, "rises", None),
        (lambda x: max(x, 5) / 10, "rises", None),
        (lambda x: min(x, 5) / 10 + max(x - 5, 0) / 30, "rises", None),
        (lambda x: -abs(x - 5) / 10, "falls", None),
        (lambda x: -x / 10, "falls", None),
        (lambda x: -min(x, 5) / 10, "unclear", None),
        (lambda x: 0.5, "flat", None),
        # The slope from 32 on is 0, and yet these scores are not the same.
        (lambda x: {3: 0.1, 4: 0.2, 5: 0.4, 6: 0.5, 7: 0.4}[int(x)], "unclear", None),
    ],
)
def test_every_course_has_its_curve(
    curve: Callable[[float], float], course: str, point: float | None
) -> None:
    """Items that all follow the same curve: intervals have no width."""
    values = np.tile([curve(x) for x in np.log2(FRAMES)], (8, 1))
    videos = [str(i) for i in range(8)]
    found = find_plateau(values, FRAMES, clusters=videos, rng=generator(), settings=FEW)
    assert (found.course, found.point) == (course, point)
    assert found.below == (None if point is None else point / 2)


def test_a_plateau_that_no_single_amount_is_clearly_below() -> None:
    # Rarely the gain up to the plateau is clear, and the plateau as a whole is not clearly above its start.
    values, videos = simulated(np.array([0.3, 0.36, 0.36, 0.36, 0.36]), n_items=120, seed=14)
    found = find_plateau(values, FRAMES, clusters=videos, rng=generator(14), settings=FEW)
    assert found.course == "saturates"
    assert found.below is None
    assert found.early.low > 0


def test_without_an_interval_nothing_is_claimed() -> None:
    values = np.tile([0.1, 0.4, 0.6, 0.6, 0.6], (4, 1))
    found = find_plateau(values, FRAMES, clusters=["a"] * 4, rng=generator(), settings=FEW)
    assert found.course == "unclear"
    assert found.point is None
    assert math.isnan(found.early.low)
    assert "single cluster" in found.early.method


# ------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("values", "amounts", "message"),
    [
        ([[1, 0]], [8, 16], "3 or more"),
        ([[1, 0, 1]], [8, 16, 16], "ascend"),
        ([[1, 0, 1]], [0, 8, 16], "above 0"),
        ([[1, 0, 1]], [1, 8, math.inf], "above 0"),
        ([[1, 0, 1]], [8, 16, 32, 64], "one column for each amount"),
        ([1, 0, 1], [8, 16, 32], "shape"),
        (np.empty((0, 3)), [8, 16, 32], "at least one"),
        ([[1, 0, math.nan]], [8, 16, 32], "not a finite number"),
    ],
)
def test_what_makes_no_curve_is_refused(values: object, amounts: list[float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find_plateau(values, amounts, clusters=["a"], rng=generator())  # type: ignore[arg-type]


def test_the_same_state_gives_the_same_course() -> None:
    values, videos = simulated(knee(0.1, at=32), n_items=120, seed=1)
    found = [find_plateau(values, FRAMES, clusters=videos, rng=generator(4)) for _ in range(2)]
    assert found[0] == found[1]
