"""Laws of the tasks on event logs, for logs of any shape."""

import re
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import IS_THOROUGH
from subjects.kitchens import event, kitchens, material
from vidence import catalog
from vidence.make.herbench.tasks.counts import LEAST_COUNT, counts_around, shared_options
from vidence.make.herbench.tasks.orders import exists, perturbed, wrong_orders
from vidence.make.pipeline.material import Corpus, Draft, Dropped, Event, Made
from vidence.text import seconds

TASKS = {name: catalog.create("task", name) for name in ("fam", "fom", "asii", "ac")}
CORPUS = kitchens(12, overlapping=True)

kinds = st.sampled_from(
    [
        ("wash", "carrot"), ("open", "kettle"), ("cut", "lemon"), ("stir", "rice"), ("fold", "apron"),
        ("dry", "cork"),
    ]
)  # fmt: skip


@st.composite
def logs(draw: st.DrawFn) -> tuple[Event, ...]:
    """Up to forty events, in any order, overlapping or not."""
    drawn = draw(st.lists(st.tuples(kinds, st.integers(0, 60), st.integers(1, 4)), max_size=40))
    return tuple(
        event(i, *kind, video_id="own", start_s=float(start), end_s=float(start + lasts))
        for i, (kind, start, lasts) in enumerate(drawn)
    )


def made_of(name: str, log: tuple[Event, ...], seed: int, most: int = 6) -> list[Made]:
    corpus = Corpus(events={**CORPUS.events, "own": log})
    flow = TASKS[name].draft(
        material(log, video_id="own"), corpus, most=most, rng=np.random.default_rng(seed)
    )
    with pytest.raises(StopIteration) as stop:
        next(flow)
    return list(stop.value.value)


@settings(max_examples=25 if IS_THOROUGH else 10)
@given(log=logs(), seed=st.integers(0, 2**32 - 1), name=st.sampled_from(sorted(TASKS)))
def test_any_log_gives_sound_drafts_or_a_reason(log: tuple[Event, ...], seed: int, name: str) -> None:
    made = made_of(name, log, seed)
    drafts = [one for one in made if isinstance(one, Draft)]
    spans = {(one.start_s, one.end_s) for one in log}
    assert len(drafts) == 6 or any(isinstance(one, Dropped) for one in made)
    for draft in drafts:
        assert len(set(draft.choices)) == 5
        assert draft.k >= 3
        assert {(e.start_s, e.end_s) for e in draft.evidence} <= spans
    # The order of the rows and of other videos in the corpus says nothing.
    assert made_of(name, tuple(reversed(log)), seed) == made


@settings(max_examples=25 if IS_THOROUGH else 10)
@given(log=logs(), seed=st.integers(0, 2**32 - 1), name=st.sampled_from(["fam", "fom"]))
def test_only_the_right_choice_never_occurs(log: tuple[Event, ...], seed: int, name: str) -> None:
    there = {f"{one.verb} {one.noun}" if name == "fam" else one.noun for one in log}
    for draft in made_of(name, log, seed):
        if isinstance(draft, Draft) and draft.structure == "absent":
            occurs = [choice in there for choice in draft.choices]
            assert occurs == [place != draft.answer_index for place in range(5)]


@settings(max_examples=25 if IS_THOROUGH else 10)
@given(log=logs(), seed=st.integers(0, 2**32 - 1))
def test_counts_are_those_of_plain_counting(log: tuple[Event, ...], seed: int) -> None:
    counts = Counter(f"{one.verb} {one.noun}" for one in log)
    for draft in made_of("ac", log, seed):
        if isinstance(draft, Draft) and draft.structure == "pair":
            (text,) = re.findall(r"'([^']+)'", draft.question)
            assert int(draft.choices[draft.answer_index]) == counts[text] >= LEAST_COUNT
        elif isinstance(draft, Draft) and draft.structure == "most-often":
            best, second = sorted((counts[text] for text in draft.choices), reverse=True)[:2]
            assert counts[draft.choices[draft.answer_index]] == best >= second + 2


@settings(max_examples=25 if IS_THOROUGH else 10)
@given(log=logs(), seed=st.integers(0, 2**32 - 1))
def test_only_the_right_order_exists(log: tuple[Event, ...], seed: int) -> None:
    starts: dict[str, list[float]] = {}
    for one in log:
        starts.setdefault(f"{one.verb} {one.noun}", []).append(one.start_s)
    for draft in made_of("asii", log, seed):
        if isinstance(draft, Draft) and draft.structure == "own-events":
            for number, choice in enumerate(draft.choices):
                ways = product(*(starts[text] for text in choice.split(" -> ")))
                is_there = any(all(a <= b for a, b in pairwise(way)) for way in ways)
                assert is_there == (number == draft.answer_index)


@given(count=st.integers(4, 10_000), rank=st.integers(0, 4), seed=st.integers(0, 99))
def test_counts_to_choose_among_keep_the_rank(count: int, rank: int, seed: int) -> None:
    options = counts_around(count, rank=rank, rng=np.random.default_rng(seed))
    assert len(set(options)) == 5
    assert options[rank] == count
    assert list(options) == sorted(options)
    assert options[0] >= 0


@given(counts=st.lists(st.integers(3, 40), max_size=200))
def test_each_of_five_shared_counts_is_right_in_as_many_questions(counts: list[int]) -> None:
    shared = shared_options(counts)
    right: dict[tuple[int, ...], list[int]] = {}
    for count, options in zip(counts, shared, strict=True):
        if options:
            right.setdefault(options, []).append(count)
    for options, found in right.items():
        assert sorted(found) == sorted(list(options) * (len(found) // 5))
        assert len(set(options)) == 5
        assert options[-1] <= 4 * options[0]


@given(starts=st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=3), min_size=1, max_size=4))
def test_an_order_exists_just_where_trying_all_ways_finds_one(starts: list[list[int]]) -> None:
    ascending = [sorted(float(one) for one in some) for some in starts]
    tried = any(all(a <= b for a, b in pairwise(way)) for way in product(*ascending))
    assert exists(ascending) == tried


@given(
    refused=st.sets(st.sampled_from([one.order for one in perturbed((0, 1, 2, 3, 4))])),
    seed=st.integers(0, 99),
)
def test_wrong_orders_differ_and_none_is_refused(refused: set[tuple[int, ...]], seed: int) -> None:
    found = wrong_orders(5, is_wrong=lambda order: order not in refused, rng=np.random.default_rng(seed))
    orders = {one.order for one in found}
    assert len(orders) == 4
    assert not orders & (refused | {(0, 1, 2, 3, 4)})
    assert all(sorted(order) == [0, 1, 2, 3, 4] for order in orders)


@given(text=st.text(max_size=12))
def test_a_time_is_a_number_from_zero_or_nothing(text: str) -> None:
    found = seconds(text)
    assert found is None or (found >= 0 and found < float("inf"))
