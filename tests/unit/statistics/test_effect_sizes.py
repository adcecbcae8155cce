"""Two groups against hand calculation, scipy, and draws done one by one."""

import math

import numpy as np
import pytest
from scipy import stats

from vidence.errors import UsageError
from vidence.statistics import resampling
from vidence.statistics.effect_sizes import two_groups
from vidence.statistics.resampling import Resampling, cluster_draws

FEW = Resampling(n_boot=200)
FIRST, SECOND = [3.0, 5.0, 4.0], [1.0, 3.0, 2.0, 2.0]
CLUSTERS = (["a", "a", "b"], ["a", "b", "b", "c"])


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_figures_equal_those_worked_out_by_hand() -> None:
    # Means 4 and 2; squared deviations 2 and 2, pooled variance 4 / 5; of 12 pairs 11 up, 1 even.
    found = two_groups(FIRST, SECOND, clusters=CLUSTERS, rng=generator())
    assert (found.mean_first.value, found.mean_second.value, found.difference.value) == (4.0, 2.0, 2.0)
    assert found.cohens_d.value == pytest.approx(2 / math.sqrt(0.8))
    assert found.cliffs_delta.value == pytest.approx(11 / 12)
    assert (found.mean_first.n, found.mean_first.n_clusters) == (3, 2)
    assert (found.mean_second.n, found.mean_second.n_clusters) == (4, 3)
    assert (found.difference.n, found.difference.n_clusters) == (7, 3)


def test_delta_is_that_of_the_u_statistic() -> None:
    rng = generator(3)
    first, second = rng.integers(0, 6, 40), rng.integers(1, 8, 55)
    found = two_groups(
        first, second, clusters=([str(i) for i in range(40)], [str(i) for i in range(55)]), rng=generator()
    )
    u = stats.mannwhitneyu(first, second).statistic
    assert found.cliffs_delta.value == pytest.approx(2 * u / (40 * 55) - 1)


def by_hand(first: np.ndarray, second: np.ndarray) -> tuple[float, float, float]:
    """Difference, d and delta of values written out as they were drawn; NaN where there are none."""
    if not len(first) or not len(second):
        return math.nan, math.nan, math.nan
    difference = float(first.mean() - second.mean())
    freedom = len(first) + len(second) - 2
    squares = ((first - first.mean()) ** 2).sum() + ((second - second.mean()) ** 2).sum()
    d = difference / math.sqrt(squares / freedom) if freedom and squares > 1e-12 else math.nan
    return difference, d, float(np.sign(first[:, None] - second[None, :]).mean())


@pytest.mark.parametrize("cells", [2**20, 7])
def test_intervals_equal_those_of_draws_done_one_by_one(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "BLOCK_CELLS", cells)
    first, second = np.array(FIRST), np.array(SECOND)
    rows = []
    for block in cluster_draws(3, generator(5), FEW.n_boot):
        for weights in block:
            times = dict(zip("abc", weights.astype(int), strict=True))
            drawn = [
                np.repeat(v, [times[c] for c in names])
                for v, names in zip((first, second), CLUSTERS, strict=True)
            ]
            rows.append(by_hand(*drawn))
    found = two_groups(first, second, clusters=CLUSTERS, rng=generator(5), settings=FEW)
    wanted = np.array(rows)
    for column, estimate in enumerate((found.difference, found.cohens_d, found.cliffs_delta)):
        known = wanted[:, column][~np.isnan(wanted[:, column])]
        low, high = np.quantile(known, [0.025, 0.975])
        assert (estimate.low, estimate.high) == (pytest.approx(low), pytest.approx(high))
        assert f"left out {FEW.n_boot - len(known)} draws" in estimate.method


def test_values_that_do_not_vary_have_no_d() -> None:
    found = two_groups([0.1] * 3, [0.3] * 3, clusters=(list("abc"), list("abc")), rng=generator())
    assert math.isnan(found.cohens_d.value)
    assert "does not exist" in found.cohens_d.method
    assert found.cliffs_delta.value == -1.0
    assert found.difference.value == pytest.approx(-0.2)


def test_one_value_on_each_side_has_no_d() -> None:
    found = two_groups([2.0], [1.0], clusters=(["a"], ["a"]), rng=generator())
    assert math.isnan(found.cohens_d.value)
    assert found.difference.value == 1.0
    assert "single cluster" in found.difference.method


def test_intervals_cover_a_planted_difference() -> None:
    rng, hits = generator(11), 0
    for seed in range(60):
        videos = [f"v{i}" for i in range(40) for _ in range(3)]
        shared = np.repeat(rng.normal(0, 1, 40), 3)
        first, second = shared + rng.normal(0.5, 1, 120), shared + rng.normal(0, 1, 120)
        found = two_groups(
            first, second, clusters=(videos, videos), rng=generator(seed), settings=Resampling(n_boot=300)
        )
        hits += found.difference.low <= 0.5 <= found.difference.high
    assert hits >= 51  # a share of 0.95 falls below this once in about 1,000 times


def test_bad_input_is_refused_with_what_was_seen() -> None:
    with pytest.raises(UsageError, match="at least one value"):
        two_groups([], [1.0], clusters=([], ["a"]), rng=generator())
    with pytest.raises(UsageError, match="2 clusters for 1 values of the second group"):
        two_groups([1.0], [1.0], clusters=(["a"], ["a", "b"]), rng=generator())
    with pytest.raises(UsageError, match="not a finite number"):
        two_groups([1.0], [math.nan], clusters=(["a"], ["a"]), rng=generator())
