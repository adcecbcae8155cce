"""T*'s search on videos in which it is known where everything is."""

from collections.abc import Mapping

import numpy as np
import pytest

from subjects.clips import timed_clip
from vidence import catalog
from vidence.ask.selection import tstar_search
from vidence.ask.selection.tstar_search import (
    Objects,
    SearchSettings,
    SearchState,
    SearchStep,
    run_search,
    search,
)
from vidence.contracts import ScoringSelector
from vidence.errors import DataError, UsageError
from vidence.records import Item

CAT = Objects(targets=("cat",), cues=("sofa",))
SMALL = SearchSettings(side=2, ratio=1.0)
ITEM = Item(item_id="q1", question="?", answer="A")


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def seen_at(places: Mapping[int, Mapping[str, float]]) -> tuple[list[SearchStep], object]:
    """A detector that sees these labels in these frames and nothing elsewhere; and what it was shown."""
    looks: list[SearchStep] = []

    def look(wanted: SearchStep) -> list[Mapping[str, float]]:
        looks.append(wanted)
        return [places.get(frame, {}) for frame in wanted.frames]

    return looks, look


def found_in(
    n: int, places: Mapping[int, Mapping[str, float]], settings: SearchSettings = SMALL, seed: int = 0
) -> tuple[SearchState, list[SearchStep]]:
    looks, look = seen_at(places)
    return run_search(search(n, CAT, settings=settings, rng=rng(seed)), look), looks  # type: ignore[arg-type]


def test_the_first_mosaic_is_even_and_a_target_ends_the_search() -> None:
    found, looks = found_in(40, {10: {"cat": 0.9}})
    assert looks == [
        SearchStep(frames=(0, 10, 20, 30), is_alone=False),
        SearchStep(frames=(10,), is_alone=True),
    ]
    assert found.missing == ()
    assert found.n_shown == 5
    assert np.flatnonzero(found.is_visited).tolist() == [0, 10, 20, 30]
    # 0.9 at the frame, halved one frame away, a sixth five frames away, nothing further.
    np.testing.assert_allclose(
        found.scores[9:17], np.array([1 / 2, 1, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 6, 0]) * 0.9
    )
    assert found.best(3).tolist()[0] == 10
    assert set(found.best(3).tolist()) == {9, 10, 11}
    assert found.belief.sum() == pytest.approx(1)


def test_a_target_is_found_only_above_the_threshold_in_a_frame_alone() -> None:
    def look(wanted: SearchStep) -> list[Mapping[str, float]]:
        confidence = 0.4 if wanted.is_alone else 0.9
        return [{"cat": confidence} if frame == 10 else {} for frame in wanted.frames]

    found = run_search(search(40, CAT, settings=SMALL, rng=rng()), look)
    assert found.missing == ("cat",)
    # What was seen of it alone replaces what was seen in the mosaic.
    assert found.scores[10] == 0.4
    # A threshold is exceeded, not reached.
    at = SearchSettings(side=2, ratio=1.0, threshold=0.4)
    assert run_search(search(40, CAT, settings=at, rng=rng()), look).missing == ("cat",)
    below = SearchSettings(side=2, ratio=1.0, threshold=0.39)
    assert run_search(search(40, CAT, settings=below, rng=rng()), look).missing == ()


def test_cues_count_half_and_end_nothing_and_neighbours_inherit() -> None:
    found, looks = found_in(8, {0: {"sofa": 0.8, "dog": 1.0}}, SearchSettings(side=2, ratio=0.5))
    assert found.scores[0] == pytest.approx(0.4)
    assert found.missing == ("cat",)
    assert not any(look.is_alone for look in looks)
    found, _ = found_in(40, {0: {"cat": 0.0}, 1: {"cat": 0.8}}, SearchSettings(side=7, ratio=1.0))
    # Every frame is in the first mosaic; the upper quarter gives to both sides, to frame 0 too.
    np.testing.assert_allclose(found.scores[:4], np.array([1 / 2, 1, 1 / 2, 1 / 3]) * 0.8)


def test_the_budget_limits_the_rounds() -> None:
    # 40 frames, a tenth of them: 4 looks, one mosaic. A fifth: two.
    assert found_in(40, {}, SearchSettings(side=2, ratio=0.1))[0].n_shown == 4
    assert found_in(40, {}, SearchSettings(side=2, ratio=0.2))[0].n_shown == 8
    # Everything was looked at once, and the search ends.
    found, looks = found_in(10, {})
    assert found.is_visited.all()
    assert sorted(frame for look in looks for frame in look.frames) == list(range(10))
    # Never more than a thousand looks, in whole mosaics.
    assert found_in(5000, {}, SearchSettings(side=8, ratio=1.0))[0].n_shown == 1024


def test_later_mosaics_go_where_something_was_seen() -> None:
    places = {frame: {"sofa": 1.0} for frame in range(180, 260)}
    hits = 0
    for seed in range(20):
        _, looks = found_in(400, places, SearchSettings(side=4, ratio=0.2), seed)
        later = [frame for look in looks[1:] for frame in look.frames]
        hits += sum(150 <= frame < 290 for frame in later) / len(later) > 140 / 400
    assert hits >= 18


def test_two_targets_are_both_wanted() -> None:
    both = Objects(targets=("cat", "dog", "cat"))
    _, look = seen_at({0: {"cat": 0.9}, 20: {"dog": 0.9}})
    found = run_search(search(40, both, settings=SMALL, rng=rng()), look)  # type: ignore[arg-type]
    assert found.missing == ()
    _, look = seen_at({0: {"cat": 0.9}})
    found = run_search(search(40, both, settings=SMALL, rng=rng()), look)  # type: ignore[arg-type]
    assert found.missing == ("dog",)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_short_videos_are_searched(n: int) -> None:
    found, _ = found_in(n, {0: {"sofa": 1.0}})
    assert found.is_visited.all()
    assert found.best(8)[0] == 0
    assert len(found.best(8)) == n


def test_the_belief_and_drawn_frames_follow_what_was_seen() -> None:
    visited = np.array([True, False, False, False, True])
    belief = tstar_search.believed(np.array([0.0, 0, 0, 0, 1.0]), visited)
    # A line through two points, never below 1/5, through the sigmoid.
    line = np.array([0.2, 0.25, 0.5, 0.75, 1.0])
    expected = 1 / (1 + np.exp(-line))
    np.testing.assert_allclose(belief, expected / expected.sum(), atol=1e-9)
    scores = np.array([0.0, 1.0, 3.0, 0.0])
    found = SearchState(
        scores=scores, belief=np.array([0.1, 0.1, 0.1, 0.7]), is_visited=scores > 0, missing=(), n_shown=2
    )
    first = [found.sampled(1, rng(seed))[0] for seed in range(2000)]
    assert np.mean([f == 2 for f in first]) == pytest.approx(0.75, abs=0.03)
    for seed in range(10):
        order = found.sampled(4, rng(seed)).tolist()
        assert order[2:] == [3, 0]
        assert found.sampled(2, rng(seed)).tolist() == order[:2]


@pytest.mark.parametrize(("n", "targets"), [(0, ("cat",)), (5, ())])
def test_a_search_for_nothing_is_refused(n: int, targets: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="expected 1 or more of both"):
        next(search(n, Objects(targets=targets), settings=SMALL, rng=rng()))


@pytest.mark.parametrize("confidence", [-0.1, 1.5, float("nan")])
def test_a_confidence_is_from_0_to_1(confidence: float) -> None:
    with pytest.raises(DataError, match="a detector must give numbers from 0 to 1"):
        found_in(40, {10: {"cat": confidence}})
    with pytest.raises(DataError, match="1 answers of a detector for 4 frames"):
        run_search(search(40, CAT, settings=SMALL, rng=rng()), lambda look: [{}])


def test_cells_fill_a_mosaic_row_by_row_and_a_box_counts_for_the_cell_of_its_centre() -> None:
    cells = [np.full((2, 3, 3), value, np.uint8) for value in (10, 20, 30)]
    picture = tstar_search.mosaic(cells, 2)
    assert picture[::2, ::3, 0].tolist() == [[10, 20], [30, 0]]

    def box(left: float, top: float, confidence: float) -> tstar_search.Box:
        return tstar_search.Box(
            left_px=left, top_px=top, right_px=left + 8, bottom_px=top + 8, label="cat", confidence=confidence
        )

    # Centres at (9, 4), (11, 4) and twice at (13, 14); one beyond the corner.
    boxes = [box(5, 0, 0.1), box(7, 0, 0.2), box(9, 10, 0.5), box(9, 10, 0.4), box(90, 90, 0.3)]
    cells = tstar_search.by_cell(boxes, side=2, width_px=10, height_px=10)
    assert cells == [{"cat": 0.1}, {"cat": 0.2}, {}, {"cat": 0.5}]


@pytest.mark.parametrize("shapes", [[], [(2, 3, 3)] * 5, [(2, 3, 3), (3, 2, 3)]])
def test_a_mosaic_of_anything_else_is_refused(shapes: list[tuple[int, ...]]) -> None:
    with pytest.raises(DataError, match="2 x 2 places"):
        tstar_search.mosaic([np.zeros(shape, np.uint8) for shape in shapes], 2)


CLIP = timed_clip(np.arange(400) / 2, fps=2.0)


def make(**options: str) -> ScoringSelector:
    return catalog.create("selector", catalog.Spec(name="tstar", argument="blip-itm:w", options=options))


def test_drawing_depends_on_the_seed_and_on_the_question() -> None:
    scores = np.random.default_rng(3).random(200)
    other = Item(item_id="q2", question="?", answer="A")
    first = make(pick="drawn").rank(CLIP, ITEM, n_frames=8, scores=scores).tolist()
    assert make(pick="drawn", seed="0").rank(CLIP, ITEM, n_frames=8, scores=scores).tolist() == first
    assert make(pick="drawn", seed="1").rank(CLIP, ITEM, n_frames=8, scores=scores).tolist() != first
    assert make(pick="drawn").rank(CLIP, other, n_frames=8, scores=scores).tolist() != first
    assert make(pick="drawn").rank(CLIP, ITEM, n_frames=4, scores=scores).tolist() == first[:4]
