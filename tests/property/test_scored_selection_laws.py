"""Laws of the selectors that go by scores."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from subjects.clips import timed_clip
from vidence.ask.selection import aks, bolt, ranking
from vidence.ask.selection.evidence import pieces
from vidence.ask.selection.oracle import Oracle
from vidence.ask.selection.tstar_search import Objects, SearchSettings, run_search, search
from vidence.records import Evidence, Item

BUDGETS = st.integers(1, 80)
LENGTHS = st.integers(1, 300)
SEEDS = st.integers(0, 10**6)
KINDS = st.sampled_from(["continuous", "few values", "sparse"])


def scores_of(n: int, seed: int, kind: str) -> NDArray[np.float64]:
    draws = np.random.default_rng(seed)
    return {
        "continuous": draws.normal(size=n),
        "few values": draws.integers(0, 4, n) / 3,
        "sparse": (draws.random(n) < 0.05) * draws.random(n),
    }[kind]


@given(n=st.integers(1, 120))
def test_the_spread_order_is_a_permutation_and_its_prefixes_leave_no_wide_gap(n: int) -> None:
    order = ranking.spread(n)
    assert sorted(order.tolist()) == list(range(n))
    for k in range(1, n + 1):
        places = np.sort(order[:k])
        gaps = np.diff(np.concatenate([[-1], places, [n]]))
        # At worst one segment was halved and the next was not yet.
        assert gaps.max() <= 2 * n / (k + 1) + 2


@given(n=LENGTHS, budget=BUDGETS, depth=st.integers(0, 8), seed=SEEDS, kind=KINDS)
def test_repaired_aks_gives_out_the_budget_and_every_bin_its_share(n, budget, depth, seed, kind):
    scores = scores_of(n, seed, kind)
    ranking = aks.repaired(scores, budget, aks.Settings(all_depth=depth, t1=1.0))
    assert len(set(ranking.tolist())) == len(ranking) == min(budget, n)
    assert 0 <= ranking.min() <= ranking.max() < n
    if np.ptp(scores) > 0:
        assert scores[ranking[0]] == scores.max()
        # With a gap of 1 nothing is ever kept whole: every bin of the last depth gives its share.
        n_halvings = min(depth, min(budget, n).bit_length() - 1)
        bounds = [0, n]
        for _ in range(n_halvings):
            bounds = sorted({*bounds, *(a + (b - a) // 2 for a, b in pairwise(bounds))})
        given_out = np.histogram(ranking, bins=bounds)[0]
        sizes = np.diff(bounds)
        share = min(budget, n) // 2**n_halvings
        assert (given_out >= np.minimum(share, sizes)).all()


@given(n=LENGTHS, budget=BUDGETS, seed=SEEDS, kind=KINDS)
def test_aks_and_bolt_do_not_mind_shift_and_scale(n: int, budget: int, seed: int, kind: str) -> None:
    # Powers of two, so that nothing is rounded.
    scores = np.round(scores_of(n, seed, kind) * 64) / 64
    moved = scores * 4 + 16
    assert aks.repaired(moved, budget, aks.Settings()).tolist() == (
        aks.repaired(scores, budget, aks.Settings()).tolist()
    )
    assert bolt.repaired(moved, budget, 3.0).tolist() == bolt.repaired(scores, budget, 3.0).tolist()


@given(n=LENGTHS, budget=BUDGETS, seed=SEEDS, kind=KINDS, power=st.sampled_from([-1.0, 1.0, 2.5, 3.0]))
def test_repaired_bolt_gives_different_frames_and_all_that_were_drawn(n, budget, seed, kind, power):
    scores = scores_of(n, seed, kind)
    ranking = bolt.repaired(scores, budget, power).tolist()
    dropped = bolt.repaired(scores, budget, power, drop_repeats=True).tolist()
    assert len(set(ranking)) == len(ranking) == min(budget, n)
    assert 0 <= min(ranking) <= max(ranking) < n
    # Fillers were never drawn, so they come last.
    assert ranking[: len(dropped)] == dropped


@given(
    spans=st.lists(st.tuples(st.integers(0, 90), st.integers(1, 30)), min_size=1, max_size=6),
    budget=BUDGETS,
    fill=st.booleans(),
)
def test_the_first_k_frames_of_the_oracle_show_k_pieces(spans, budget, fill):
    clip = timed_clip(np.arange(120) / 10, fps=10.0)
    evidence = tuple(Evidence(start_s=a / 10, end_s=(a + length) / 10) for a, length in spans)
    item = Item(item_id="q1", question="?", answer="A", evidence=evidence)
    ranking = Oracle(fill=fill).rank(clip, item, n_frames=budget).tolist()
    chosen = Oracle(fill=fill).select(clip, item, n_frames=budget).tolist()
    assert sorted(ranking) == chosen
    shown_by = [set(group.tolist()) for (group,) in pieces(clip, item)]
    for k in range(1, min(budget, len(spans)) + 1):
        n_shown = sum(bool(group & set(ranking[:k])) for group in shown_by)
        assert n_shown >= min(k, len(ranking))
    if fill:
        assert len(ranking) == min(budget, 120)


@given(n=LENGTHS, seed=SEEDS, kind=KINDS, side=st.integers(1, 5), ratio=st.sampled_from([0.1, 0.5, 1.0]))
def test_a_search_keeps_its_budget_and_what_it_saw(n, seed, kind, side, ratio):
    scores = np.clip(np.abs(scores_of(n, seed, kind)), 0, 1)
    looked: list[int] = []

    def look(wanted):
        looked.extend(wanted.frames * (not wanted.is_alone))
        return [{"cue": float(scores[f])} for f in wanted.frames]

    objects = Objects(targets=("target",), cues=("cue",))
    settings_ = SearchSettings(side=side, ratio=ratio)
    found = run_search(search(n, objects, settings=settings_, rng=np.random.default_rng(seed)), look)
    assert len(set(looked)) == len(looked) <= n * ratio + side**2
    assert sorted(looked) == np.flatnonzero(found.is_visited).tolist()
    assert (found.scores[looked] >= scores[looked] / 2 - 1e-12).all()
    assert found.scores.max() <= max(scores[looked]) / 2 + 1e-12
    assert found.belief.sum() == pytest.approx(1)
    order = found.best(n).tolist()
    assert sorted(order) == list(range(n))
    assert found.best(3).tolist() == order[:3]
