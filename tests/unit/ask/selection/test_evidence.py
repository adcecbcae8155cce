"""Frames that the annotation points at."""

import math

import numpy as np
import pytest

from subjects.clips import timed_clip
from vidence import catalog
from vidence.ask.selection.evidence import AnnotatedEvidence
from vidence.errors import DataError, UsageError
from vidence.media.clip import Clip
from vidence.records import Evidence, Item

# Ten frames per second for ten seconds: frame i is at i / 10 s.
CLIP = timed_clip(np.arange(100) / 10, fps=10.0)


def asking(*evidence: Evidence) -> Item:
    return Item(item_id="q7", question="?", answer="A", evidence=evidence)


def span(start_s: float | None, end_s: float | None) -> Evidence:
    return Evidence(start_s=start_s, end_s=end_s)


def create(argument: str = "") -> AnnotatedEvidence:
    return catalog.create("selector", catalog.Spec(name="evidence", argument=argument))


def select(*evidence: Evidence, n_frames: int, argument: str = "", clip: Clip = CLIP) -> list[int]:
    return create(argument).select(clip, asking(*evidence), n_frames=n_frames).tolist()


def test_spans_share_the_budget_and_give_middles_and_the_rest_is_uniform() -> None:
    # Two of [20, 30): middles of 5 frames each are 22, 27; two of [60, 100): 70, 90.
    assert select(span(2, 3), span(6, 10), n_frames=4) == [22, 27, 70, 90]
    assert select(span(2, 2.3), n_frames=9, argument="only") == [20, 21, 22]
    # Evidence 0..1; outside are 2..99, 98 frames: middles of two segments are the 24th and 73rd of them.
    assert select(span(0, 0.2), n_frames=4) == [0, 1, 26, 75]
    assert select(span(0, 0.2), n_frames=4, argument="only") == [0, 1]
    assert select(span(9.8, None), n_frames=5, argument="only") == [98, 99]
    assert select(span(None, 0.2), n_frames=5, argument="only") == [0, 1]
    assert select(span(3.41, 3.49), n_frames=1) == [34]
    assert select(span(3.4, 3.4), n_frames=1) == [34]


def test_each_span_gives_one_frame_before_any_gives_two() -> None:
    # Five frames for three spans: 2, 2, 1 in the order of the annotation.
    chosen = select(span(5, 6), span(1, 2), span(8, 9), n_frames=5)
    assert chosen == [12, 17, 52, 57, 85]
    assert select(span(5, 6), span(1, 2), span(8, 9), n_frames=2) == [15, 55]
    listed = Evidence(frames=(3, 90), start_s=2, end_s=4)
    # 3 and 90, then the middles of two halves of [50, 60).
    assert select(listed, span(5, 6), n_frames=4) == [3, 52, 57, 90]


def test_a_cut_counts_frames_of_the_file_and_seconds_of_the_video() -> None:
    cut = timed_clip(np.arange(50, 70) / 10, fps=10.0, first_index=50)
    assert select(Evidence(frames=(55,)), n_frames=1, clip=cut) == [5]
    cut = timed_clip(np.arange(50, 70) / 10, fps=10.0, first_index=50)
    with pytest.raises(DataError, match=r"from 5\.000 s to 7\.000 s"):
        select(span(1, 2), n_frames=4, clip=cut)
    cut = timed_clip(np.arange(50, 70) / 10, fps=10.0, first_index=50)
    assert select(span(4.5, 4.9), n_frames=1, clip=cut) == [0]


def test_a_span_may_stick_out_by_a_second_but_no_more() -> None:
    assert select(span(9.8, 11), n_frames=9, argument="only") == [98, 99]
    with pytest.raises(DataError, match=r"'q7'.*9\.8 s to 11\.1 s.*0\.000 s to 10\.000 s"):
        select(span(9.8, 11.1), n_frames=9)


@pytest.mark.parametrize(
    ("start_s", "end_s"),
    [(10.5, 10.9), (5, 4), (-2, 3), (math.nan, 3), (1, math.nan), (0, math.inf), (2000, 3000)],
)
def test_a_span_outside_the_video_is_an_error(start_s: float, end_s: float) -> None:
    with pytest.raises(DataError, match="correct the times"):
        select(span(start_s, end_s), n_frames=4)


def test_a_frame_outside_the_video_and_several_media_are_errors() -> None:
    with pytest.raises(DataError, match="names frame 100, but its video has frames 0 to 99"):
        select(Evidence(frames=(4, 100)), n_frames=4)
    clip = Clip(
        times_s=np.array([0.0, 0.1, 0.0]), media_indices=np.array([0, 0, 1]),
        frame_indices=np.array([0, 1, 0]), fps=10.0,
    )  # fmt: skip
    with pytest.raises(DataError, match="2 media"):
        select(span(0, 0.1), n_frames=2, clip=clip)
    with pytest.raises(UsageError, match="expected one of fill, only"):
        create("first")


@pytest.mark.parametrize("evidence", [(), (Evidence(note="somewhere in the kitchen"),)])
def test_an_item_without_located_evidence_is_an_error(evidence: tuple[Evidence, ...]) -> None:
    with pytest.raises(DataError, match="'q7' has no annotated evidence"):
        select(*evidence, n_frames=4)
