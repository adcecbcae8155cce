"""Looking after every source: how often that decides falsely, and what a look says."""

import itertools

import msgspec
import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.records import Item, Media
from vidence.statistics.sequential import BettingCapital, ConfidenceSequence, Watch, source_order


def drawn(rng, n_runs, sizes, difference, *, apart=0.3, icc=0.2):
    """The sums of the differences of sources: shares of better, worse and alike answers vary by source."""
    strength = (1 - icc) / icc
    better, worse = (apart + difference) / 2, (apart - difference) / 2
    shares = rng.dirichlet(strength * np.array([better, worse, 1 - apart]), size=(n_runs, len(sizes)))
    counts = rng.multinomial(sizes, shares)
    return (counts[..., 0] - counts[..., 1]).astype(float)


def ever_above(totals, sizes, mean, level=0.95):
    """For each run whether the capital against a mean was high enough at any look."""
    capital, found = BettingCapital(np.array([mean]), most=sizes.max()), np.zeros(len(totals), bool)
    for i, size in enumerate(sizes):
        capital.add(totals[:, i : i + 1], float(size))
        found |= capital.log[:, 0] >= -np.log1p(-level)
    return found


@pytest.mark.parametrize("difference", [0.0, 0.05, -0.05])
@pytest.mark.parametrize("sizes", [np.full(60, 1), np.full(60, 5), np.array([1, 2, 8] * 30)])
def test_looks_after_every_source_decide_falsely_in_no_more_than_five_of_a_hundred(difference, sizes):
    # At a difference of the margin "equivalent" is false, and at 0 "clear" is: the capital against the truth.
    totals = drawn(np.random.default_rng(4), 1000, sizes, difference)
    assert ever_above(totals, sizes, difference).mean() <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 1000)


def test_a_large_difference_is_found_early_and_a_small_margin_never():
    sizes = np.full(150, 4)
    totals = drawn(np.random.default_rng(5), 200, sizes, 0.25)
    assert ever_above(totals[:, :75], sizes[:75], 0.0).mean() > 0.95
    assert not ever_above(np.zeros((1, 150)), sizes, 0.01).any()


def test_the_sequence_is_what_the_capital_leaves_and_only_shrinks():
    rng = np.random.default_rng(6)
    totals, means = rng.integers(-2, 5, 80).astype(float), np.array([-0.1, 0.0, 0.1, 0.3, 0.5])
    sequence, capital = ConfidenceSequence(most=4), BettingCapital(means, most=4)
    ends, excluded = [(-1.0, 1.0)], np.zeros(5, bool)
    for total in totals:
        sequence.add(total, 4.0)
        capital.add(total, 4.0)
        excluded |= capital.log >= np.log(20)
        ends.append((sequence.low, sequence.high))
        # An end is the first step that is excluded; one step around it both may be said.
        inside = (sequence.low + 0.0015 < means) & (means < sequence.high - 0.0015)
        assert not (inside & excluded).any()
        assert not (~excluded & ((means < sequence.low - 0.0015) | (means > sequence.high + 0.0015))).any()
    assert all(a[0] <= b[0] and b[1] <= a[1] for a, b in itertools.pairwise(ends))
    assert sequence.value == pytest.approx(totals.sum() / 320)
    assert 0 < sequence.low < sequence.value < sequence.high


def test_the_order_of_a_part_is_that_of_the_whole():
    names = [f"v{i}" for i in range(50)]
    whole = source_order(names, seed=3)
    assert sorted(whole) == sorted(names) != list(whole)
    assert source_order(names[::3], seed=3) == tuple(name for name in whole if name in names[::3])
    assert source_order(names, seed=4) != whole


def items(n, per_source, tags=("one",)):
    return [
        Item(
            item_id=f"q{i}",
            benchmark="b",
            media=(Media(path=f"v{i // per_source}.mp4"),),
            question="?",
            choices=("x", "y"),
            answer="A",
            tags={"task": tags[i % len(tags)]},
        )
        for i in range(n)
    ]


def test_a_source_counts_when_it_and_all_before_it_are_complete():
    questions = items(30, 3)
    watch = Watch(questions, seed=1, margin=0.9)
    second = [item for item in questions if item.source_id == watch.order[1]]
    for item in second:
        watch.add(item.item_id, 1.0)
    assert watch.look().difference.n_clusters == 0
    first = [item for item in questions if item.source_id == watch.order[0]]
    for item in first[:2]:
        watch.add(item.item_id, 1.0)
    assert watch.look().difference.n_clusters == 0
    watch.add(first[2].item_id, 1.0)
    look = watch.look()
    assert (look.difference.n_clusters, look.difference.n, look.difference.value) == (2, 6, 1.0)
    assert (look.n_sources, look.n_items, look.decided, look.n_decisive) == (10, 30, "not decided", 0)
    for item in questions:
        watch.add(item.item_id, 1.0)
    look = watch.look()
    assert look.decided == "better"
    assert 0 < look.n_decisive <= 10
    assert look.n_asked == 3 * look.n_decisive
    assert not look.is_within


def test_what_is_within_the_margin_is_equivalent_and_what_is_clear_is_better_by_less():
    def looked(n, difference, **settings):
        watch = Watch(items(n, 1), seed=1, margin=0.2, **settings)
        for i in range(n):
            watch.add(f"q{i}", difference(i))
        return watch.look()

    def said(look):
        return look.decided, look.is_within, look.n_decisive > 0

    assert said(looked(400, lambda _: 0.0)) == ("equivalent", True, True)
    small, large = (lambda i: float(i % 10 == 0)), (lambda i: float(-(i % 2)))
    assert said(looked(900, small)) == ("better", True, True)
    assert looked(900, small).word == "better, but by less than the margin"
    assert said(looked(900, large)) == ("worse", False, True)
    # Who waits for the margin goes on where the difference is clear, and may still come to lie within.
    assert looked(900, small, beyond=0.2).n_decisive > looked(900, small).n_decisive
    assert looked(900, large, beyond=0.2).n_decisive > looked(900, large).n_decisive
    assert looked(900, lambda i: 0.2 * (-1) ** i + 0.2).word == "better"


def test_open_differences_decide_nothing_until_both_ends_decide_the_same():
    watch = Watch(items(300, 1), seed=1)
    for i in range(300):
        watch.add(f"q{i}", 0.0, float(i % 2))
    assert (watch.n_decisive, watch.look().decided, watch.look().difference.value) == (0, "not decided", 0.0)
    watch = Watch(items(300, 1), seed=1)
    for i in range(300):
        watch.add(f"q{i}", 0.5, 1.0)
    look = watch.look()
    assert look.n_decisive > 0
    assert str(look) == (
        f"decided after {look.n_asked} of 300 questions ({look.n_decisive} of 300 videos): better"
    )


def test_macro_means_weigh_each_value_of_a_tag_alike():
    watch = Watch(items(8, 1, tags=("a", "b", "b", "b")), seed=0, tag="task")
    for i in range(8):
        watch.add(f"q{i}", float(i % 4 == 0))
    assert watch.look().difference.value == pytest.approx(0.5)


def test_means_of_means_weigh_each_value_as_their_mean_does():
    tags = [{"task": "b", "kind": str(i % 4)} if i % 4 else {"task": "a", "kind": "a"} for i in range(8)]
    asked = [msgspec.structs.replace(one, tags=own) for one, own in zip(items(8, 1), tags, strict=True)]
    watch = Watch(asked, seed=0, tag="task/kind")
    for i in range(8):
        watch.add(f"q{i}", float(i % 4 == 1))
    assert watch.look().difference.value == pytest.approx(1 / 6)


def test_a_sequence_that_makes_no_sense_is_refused():
    with pytest.raises(UsageError, match="expected more than 0"):
        ConfidenceSequence(most=0)
    with pytest.raises(UsageError, match="level 1"):
        ConfidenceSequence(most=1, level=1)


def test_looks_that_contradict_each_other_leave_the_interval_as_it_was():
    sequence = ConfidenceSequence(most=1)
    for _ in range(300):
        sequence.add(1.0, 1.0)
    low, high = sequence.low, sequence.high
    assert low > 0.9
    for _ in range(3000):
        sequence.add(-1.0, 1.0)
    assert low <= sequence.low < sequence.high <= high
