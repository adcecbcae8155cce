"""What every selector that goes by scores must do, whatever the scores."""

import json
from pathlib import Path

import numpy as np
import pytest

from subjects.clips import timed_clip
from vidence import catalog
from vidence.ask.selection.scored import ScoredSettings
from vidence.contracts import ScoringSelector
from vidence.errors import DataError, UsageError
from vidence.media.clip import Clip
from vidence.records import Item

NAMES = tuple(
    name
    for name in catalog.names("selector")
    if (settings := catalog.settings_type("selector", name)) is not None
    and issubclass(settings, ScoredSettings)
)
# Those that follow released code, which does other things with a budget that does not fit.
OFFICIAL = ("aks:x?mode=official", "bolt:x?mode=official")
ARGUMENTS = {"frag-scores": "model:x"}
SPECS = (
    *(f"{name}:{ARGUMENTS.get(name, 'x')}" for name in NAMES),
    "aks:x?ratio=3",
    "bolt:x?duplicates=drop",
    "tstar:x?pick=drawn&side=2",
)
# Those that may give fewer frames than there are candidates and budget.
SHORT = ("aks:x?ratio=3", "bolt:x?duplicates=drop")
ITEM = Item(item_id="q1", question="?", answer="A", choices=("x", "y"))
CLIPS = {
    "one frame": timed_clip(np.zeros(1), fps=0.0),
    "two frames": timed_clip(np.array([0.0, 0.5]), fps=2.0),
    "steady": timed_clip(np.arange(970) / 25, fps=25.0),
    "variable": timed_clip(np.cumsum(np.tile([0.02, 0.4, 0.1], 200)) - 0.02, fps=5.8),
    "cut": timed_clip(5 + np.arange(400) / 10, fps=10.0, first_index=50),
    "two media": Clip(
        times_s=np.concatenate([np.arange(90) / 10, np.arange(60) / 5]),
        media_indices=np.repeat([0, 1], [90, 60]),
        frame_indices=np.concatenate([np.arange(90), np.arange(60)]),
        fps=0.0,
    ),
}
BUDGETS = (1, 2, 3, 7, 16, 64, 500)


def make(spec: str) -> ScoringSelector:
    return catalog.create("selector", spec)


def scores_for(selector: ScoringSelector, clip: Clip, kind: str) -> np.ndarray:
    n = len(selector.candidates(clip))
    draws = np.random.default_rng(n)
    kinds = {
        "different": draws.random(n),
        "tied": draws.integers(0, 3, n) / 4,
        "constant": np.full(n, 0.25),
        "one peak": np.eye(n)[n // 3],
    }
    return kinds[kind]


@pytest.mark.parametrize("clip", CLIPS.values(), ids=CLIPS)
@pytest.mark.parametrize("spec", [*SPECS, *OFFICIAL])
def test_candidates_are_in_range_and_ascend(spec: str, clip: Clip) -> None:
    candidates = make(spec).candidates(clip)
    assert len(candidates) >= 1
    assert candidates.dtype == np.int64
    assert ((candidates >= 0) & (candidates < clip.n_frames)).all()
    steps = np.diff(candidates)
    assert (steps >= 0).all() if spec in OFFICIAL else (steps > 0).all()
    assert set(clip.media_indices[candidates]) == set(clip.media_indices)


@pytest.mark.parametrize("kind", ["different", "tied", "constant", "one peak"])
@pytest.mark.parametrize("clip", CLIPS.values(), ids=CLIPS)
@pytest.mark.parametrize("spec", SPECS)
def test_a_choice_fills_the_budget_and_is_the_ranking_in_the_order_of_time(spec, clip, kind):
    selector = make(spec)
    candidates = selector.candidates(clip)
    scores = scores_for(selector, clip, kind)
    for n_frames in BUDGETS:
        shown = selector.select(clip, ITEM, n_frames=n_frames, scores=scores)
        ranking = selector.rank(clip, ITEM, n_frames=n_frames, scores=scores)
        assert shown.dtype == ranking.dtype == np.int64
        assert shown.tolist() == sorted(ranking.tolist())
        assert set(shown.tolist()) <= set(candidates.tolist())
        assert (np.diff(shown) > 0).all()
        fill = min(n_frames, len(candidates))
        assert 1 <= len(shown) <= fill if spec in SHORT else len(shown) == fill


@pytest.mark.parametrize("spec", OFFICIAL)
def test_released_rules_stay_within_the_candidates_and_the_budget(spec: str) -> None:
    selector, clip = make(spec), CLIPS["steady"]
    scores = scores_for(selector, clip, "different")
    for n_frames in (2, 3, 7, 16, 64):
        shown = selector.select(clip, ITEM, n_frames=n_frames, scores=scores)
        ranking = selector.rank(clip, ITEM, n_frames=n_frames, scores=scores)
        assert sorted(set(shown.tolist())) == sorted(ranking.tolist())
        assert len(shown) <= n_frames
        assert (np.diff(shown) >= 0).all()


@pytest.mark.parametrize("spec", [*SPECS, *OFFICIAL])
def test_the_same_scores_give_the_same_frames_and_no_frames_give_none(spec: str) -> None:
    clip, selector = CLIPS["variable"], make(spec)
    scores = scores_for(selector, clip, "different")
    before = scores.copy()
    first = selector.rank(clip, ITEM, n_frames=7, scores=scores)
    assert make(spec).rank(clip, ITEM, n_frames=7, scores=scores).tolist() == first.tolist()
    np.testing.assert_array_equal(scores, before)
    empty = timed_clip(np.empty(0), fps=0.0)
    selector = make(spec)
    assert selector.candidates(empty).tolist() == []
    assert selector.select(empty, ITEM, n_frames=4).tolist() == []
    assert selector.rank(empty, ITEM, n_frames=4, scores=np.empty(0)).tolist() == []
    assert make(spec).version >= 1


@pytest.mark.parametrize("spec", [*SPECS, *OFFICIAL])
def test_scores_that_are_no_scores_are_refused(spec: str) -> None:
    clip, selector = CLIPS["steady"], make(spec)
    good = scores_for(selector, clip, "different")
    for bad in (np.nan, np.inf, -np.inf, 1e305):
        broken = good.copy()
        broken[3] = bad
        with pytest.raises(DataError, match=r"'q1': score 3 of \d+ is .*expected finite numbers"):
            selector.rank(clip, ITEM, n_frames=4, scores=broken)
    with pytest.raises(DataError, match=f"{len(good) - 1} scores for {len(good)} candidates"):
        selector.select(clip, ITEM, n_frames=4, scores=good[1:])
    with pytest.raises(DataError, match="2 dimensions"):
        selector.select(clip, ITEM, n_frames=4, scores=good[None])
    with pytest.raises(UsageError, match=r"given none for item 'q1'.*scores=FILE"):
        selector.select(clip, ITEM, n_frames=4)
    with pytest.raises(UsageError, match="budget of 0 frames"):
        selector.select(clip, ITEM, n_frames=0, scores=good)


@pytest.mark.parametrize("name", NAMES)
def test_scores_may_come_from_a_file(name: str, tmp_path: Path) -> None:
    clip = CLIPS["steady"]
    computed = make(f"{name}:{ARGUMENTS.get(name, 'x')}")
    scores = scores_for(computed, clip, "different")
    file = tmp_path / "scores.jsonl"
    file.write_text(json.dumps({"item_id": "q1", "scores": scores.tolist()}))
    read = make(f"{name}?scores={file}")
    assert read.score_rules.file == str(file)
    assert read.score_rules.embedder == ""
    expected = computed.rank(clip, ITEM, n_frames=8, scores=scores)
    assert read.rank(clip, ITEM, n_frames=8).tolist() == expected.tolist()  # type: ignore[call-arg]


@pytest.mark.parametrize("name", NAMES)
def test_exactly_one_source_of_scores_is_wanted(name: str, tmp_path: Path) -> None:
    def create(argument: str, options: dict[str, str]) -> ScoringSelector:
        spec = catalog.Spec(name=name, argument=argument, options=options)
        return catalog.create("selector", spec)

    argument = ARGUMENTS.get(name, "x")
    with pytest.raises(UsageError, match="was given neither"):
        create("", {})
    with pytest.raises(UsageError, match="was given both"):
        create(argument, {"scores": str(tmp_path / "s.json")})
    with pytest.raises(UsageError, match=r"options for an embedder \(device\), and the scores are from"):
        create("", {"scores": str(tmp_path / "s.json"), "embedder.device": "cpu"})
    with pytest.raises(UsageError, match="no option 'no-such'"):
        create(argument, {"no-such": "1"})
    made = create(argument, {"query": "question+choices", "max_tokens": "9", "embedder.device": "cuda:1"})
    assert made.score_rules.query == "question+choices"
    assert made.score_rules.max_tokens == 9
    assert catalog.parse_spec(f"x:{made.score_rules.embedder}").options == {"device": "cuda:1"}
