"""Laws of cards, changes and shots."""

from itertools import pairwise

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from vidence.make.herbench.cards.falsifying import check_changes
from vidence.make.herbench.cards.swapping import perturb_by_rules
from vidence.make.pipeline.material import Change, Dropped, SceneCard
from vidence.seeing.shooting import Gap, spans_between
from vidence.seeing.shots.jumps import CutRule, cuts_in
from vidence.seeing.shots.transnetv2 import joined, transitions


@given(
    st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta", "the", "in"]), min_size=6, max_size=25),
    st.sets(st.integers(0, 24), min_size=2, max_size=5),
    st.integers(0, 24),
)
def test_changes_hold_if_and_only_if_all_are_listed(words, places, extra):
    """Words are made distinct by their place; one more change that is not listed is always found."""
    words = [word if word in ("the", "in") else f"{word}{i}" for i, word in enumerate(words)]
    places = {i for i in places if i < len(words) and words[i] not in ("the", "in")}
    assume(2 <= len(places) <= 5)
    false = [f"new{i}" if i in places else word for i, word in enumerate(words)]
    changes = [Change(kind="modification", before=words[i], after=f"new{i}") for i in sorted(places)]
    assert check_changes(" ".join(words), " ".join(false), changes) is None
    if extra < len(words) and extra not in places and words[extra] not in ("the", "in"):
        false[extra] = "other"
        wrong = check_changes(" ".join(words), " ".join(false), changes)
        assert wrong is not None
        assert wrong.reason == "other-differences"


DETAILS = [
    "red", "coat", "two", "dogs", "young", "man", "sits", "street", "snow", "wooden", "table", "jacket",
    "car", "night", "cup", "forest",
]  # fmt: skip


@given(st.lists(st.sampled_from(DETAILS), min_size=3, max_size=14), st.integers(0, 2**32 - 1))
def test_what_the_rules_make_always_passes_the_check(words, seed):
    text = f"A {' '.join(words)} there."
    card = SceneCard(card_id="s-true", shot_id="s", text=text)
    made = perturb_by_rules(card, others=[card], rng=np.random.default_rng(seed))
    if isinstance(made, Dropped):
        assert made.reason
    else:
        assert check_changes(text, made.text, made.changes, taken=[text]) is None


@given(
    st.lists(st.tuples(st.floats(0, 1, width=32), st.floats(0, 1, width=32)), max_size=60),
    st.floats(0.05, 0.95),
    st.sets(st.integers(1, 59)),
    st.lists(st.tuples(st.integers(-1, 50), st.integers(2, 9)), max_size=3),
)
def test_shots_are_in_order_apart_and_inside_the_video(values, threshold, cuts, blanks):
    middles, parts = np.asarray(values, np.float32).reshape(-1, 2).T
    n_frames = len(values)
    inside = [Gap(last_frame=cut - 1, first_frame=cut) for cut in cuts if cut < n_frames]
    dark = [Gap(last_frame=a, first_frame=min(a + n, n_frames)) for a, n in blanks if a < n_frames - 1]
    gaps = joined(transitions(middles, parts, threshold=threshold), cuts=inside, blanks=dark)
    spans = spans_between(gaps, n_frames=n_frames)
    at = -1
    for span in spans:
        assert at < span.first_frame <= span.first_frame + span.n_mixed <= span.last_frame < n_frames
        at = span.last_frame
    seen = {i for span in spans for i in range(span.first_frame, span.last_frame + 1)}
    for gap in (*gaps, *dark):
        assert not seen & set(range(gap.last_frame + 1, gap.first_frame))
    if not dark:
        assert bool(spans) == bool(values)
    if not inside and not dark:
        # Frames of a transition are the mixed ones of the shot behind it, if there is one.
        assert seen == set(range(spans[-1].last_frame + 1 if spans else 0))
        assert all(max(middles[i], parts[i]) > threshold for i in range(n_frames) if i not in seen)
        mixed = {i for span in spans for i in range(span.first_frame, span.first_frame + span.n_mixed)}
        assert all(max(middles[i], parts[i]) > threshold for i in mixed)


@given(st.lists(st.floats(0, 1), max_size=30), st.floats(1.1, 10), st.integers(1, 5))
def test_no_two_cuts_are_nearer_than_the_window(values, ratio, window):
    found = cuts_in(values, CutRule(ratio=ratio, window=window))
    assert all(b - a > window for a, b in pairwise(found))
    assert all(0 < i < len(values) for i in found)
