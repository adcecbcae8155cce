"""Laws of the tasks on tracks and shots, over planted people and shots; truth is recomputed independently."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import IS_THOROUGH
from subjects.planted_people import strangers, street, trailer
from subjects.task_claims import has_three_apart, true_options
from vidence.catalog import create
from vidence.make.herbench.tasks.tso import ABSTAIN
from vidence.make.pipeline.material import Corpus, Draft, Dropped, Material
from vidence.statistics.chance import SIZE_RULES
from vidence.statistics.intervals import mean_interval

ON_TRACKS, ON_SHOTS = ("mpdr", "aglt", "megl", "rlpc"), ("tso", "sva")


def made_by(
    name: str, material: Material, *, seed: int = 0, most: int = 30, corpus: Corpus | None = None
) -> tuple[Draft | Dropped, ...]:
    """What a task makes without asking anybody."""
    task = create("task", name)
    flow = task.draft(material, corpus or strangers(0), most=most, rng=np.random.default_rng(seed))
    with pytest.raises(StopIteration) as stopped:
        next(flow)
    return tuple(stopped.value.value)


def drafts_of(name: str, material: Material, *, seed: int = 0, most: int = 30) -> list[Draft]:
    return [one for one in made_by(name, material, seed=seed, most=most) if isinstance(one, Draft)]


NEED_FEWER = ("AGLT", "AGBI", "AGAR")
"""Tasks of which some forms need fewer than three moments."""


def check(draft: Draft, material: Material) -> None:
    """One option is true, and it is the one that is said to be; the evidence lies in the video."""
    assert true_options(draft, material) == [draft.answer_index], draft
    assert len(set(draft.choices)) == 5
    assert not draft.is_by_model
    assert draft.k >= (1 if draft.task in NEED_FEWER else 3)
    assert has_three_apart(draft)
    times = material.tracked.times_s if material.tracked else np.arange(material.source.n_frames) / 10.0
    for one in draft.evidence:
        assert one.start_s is not None
        assert one.end_s is not None
        assert 0 <= one.start_s < one.end_s <= times[-1] + 0.1 + 1e-6
        assert one.frames
        assert all(one.start_s - 1e-3 <= times[frame] < one.end_s for frame in one.frames)


@pytest.mark.parametrize("name", ON_TRACKS)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=8 if IS_THOROUGH else 4)
def test_one_option_is_true_of_planted_people(name: str, seed: int) -> None:
    n_people, n_others = (6, 0) if name == "mpdr" else (9, 12 if name == "rlpc" else 0)
    material = street(seed, n_people=n_people, n_others=n_others).material
    for draft in drafts_of(name, material, seed=seed, most=18):
        check(draft, material)


@pytest.mark.parametrize("name", ON_SHOTS)
@given(seed=st.integers(0, 10_000), with_false=st.booleans())
@settings(max_examples=10)
def test_one_option_is_true_of_planted_shots(name: str, seed: int, with_false: bool) -> None:
    material = trailer(seed, with_false=with_false)
    drafts = drafts_of(name, material, seed=seed)
    for draft in drafts:
        check(draft, material)
    assert drafts or name == "sva"


@pytest.mark.parametrize("name", [*ON_TRACKS, *ON_SHOTS])
def test_every_structure_is_made(name: str) -> None:
    task = create("task", name)
    seen: set[str] = set()
    for seed in range(12):
        crowd = street(seed, n_people=8, n_others=16 if name == "rlpc" else 0).material
        material = trailer(seed) if name in ON_SHOTS else crowd
        seen |= {draft.structure for draft in drafts_of(name, material, seed=seed, most=21)}
        if seen == set(task.structures):
            break
    assert seen == set(task.structures)


def test_no_place_by_size_is_right_more_often_in_rlpc() -> None:
    """What rules of size get is chance within its interval; the smallest range was right in 46 % once."""
    found = {
        seed: drafts_of("rlpc", street(seed, n_people=(6, 9, 14, 20)[seed % 4]).material, seed=seed, most=30)
        for seed in range(60)
    }
    assert sum(map(len, found.values())) > 500
    videos = [str(seed) for seed, drafts in found.items() for _ in drafts]
    for _, pick in SIZE_RULES.values():
        hits = [float(pick(one.choices) == one.answer_index) for drafts in found.values() for one in drafts]
        share = mean_interval(hits, clusters=videos)
        assert share.low <= 0.2 <= share.high


def test_abstaining_is_right_as_often_as_other_options() -> None:
    """Over many drafts of each structure of TSO the share is that of one option in five."""
    n = right = 0
    for seed in range(6):
        for draft in drafts_of("tso", trailer(seed), seed=seed, most=60):
            assert draft.choices.count(ABSTAIN) == 1
            n += 1
            right += draft.choices[draft.answer_index] == ABSTAIN
    assert abs(right / n - 0.2) < 0.03


def test_sva_answers_are_spread_over_counts_and_sets() -> None:
    counts: Counter[str] = Counter()
    for seed in range(6):
        for draft in drafts_of("sva", trailer(seed), seed=seed, most=100):
            if draft.structure == "how-many":
                counts[draft.choices[draft.answer_index]] += 1
    assert len(counts) == 5
    assert max(counts.values()) <= 2 * min(counts.values())


@given(seed=st.integers(0, 10_000))
@settings(max_examples=6)
def test_times_of_people_are_clear_of_the_tie_band(seed: int) -> None:
    """No two durations that an answer compares differ by 2 to 4 s."""
    crowd = street(seed, n_people=6)
    for draft in drafts_of("mpdr", crowd.material, seed=seed, most=30):
        if draft.structure not in ("longest", "shortest"):
            continue
        people = [crowd.of(line[3:]) for line in draft.question.splitlines()[1:4]]
        lengths = sorted(((p.last - p.first) / 10 for p in people), reverse=draft.structure == "longest")
        tied = [x for x in lengths if abs(x - lengths[0]) < 3]
        assert all(abs(x - lengths[0]) <= 2 + 1e-9 for x in tied)
        assert all(abs(x - y) >= 4 - 1e-9 for x in lengths if x not in tied for y in tied)
        assert ("tie" in draft.tags) == (len(tied) > 1)
