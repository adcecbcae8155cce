"""Which frames are the evidence, and which lie apart from it."""

import msgspec
import pytest

from vidence.explain.diagnostics.frame_evidence import evidence_positions, placebo_positions, stills_of
from vidence.records import Evidence, Item, Media


def asked_for(n_spans: int, **changes: object) -> Item:
    """A question with spans of ten seconds."""
    spans = tuple(Evidence(start_s=20.0 * i, end_s=20.0 * i + 10) for i in range(n_spans))
    item = Item(item_id="q1", question="?", choices=tuple("vwxyz"), answer="C", evidence=spans)
    return msgspec.structs.replace(item, **changes)


def test_each_span_gives_the_frame_nearest_to_its_middle() -> None:
    assert evidence_positions(asked_for(2), (14.0, 1.0, 4.0, 9.0, 22.0, 26.0)) == [2, 5]


def test_spans_that_overlap_give_different_frames() -> None:
    spans = (Evidence(start_s=0.0, end_s=10.0), Evidence(start_s=0.0, end_s=10.0))
    item = asked_for(0, evidence=spans)
    assert evidence_positions(item, (4.0, 5.0, 6.0)) == [0, 1]
    assert evidence_positions(item, (5.0,)) == [0]


def test_a_span_shorter_than_a_frame_has_the_one_on_screen() -> None:
    item = asked_for(0, evidence=(Evidence(start_s=3.2, end_s=3.3), Evidence(start_s=8.0, end_s=9.0)))
    assert evidence_positions(item, (1.0, 3.0, 4.0, 8.5)) == [1, 3]
    # At its very start, too, and the latest of those before it.
    item = asked_for(0, evidence=(Evidence(start_s=3.0, end_s=3.0),))
    assert evidence_positions(item, (1.0, 2.0, 3.0, 4.0)) == [2]
    assert evidence_positions(item, (1.0, 2.0, 3.5, 4.0)) == [1]
    # The frame before belongs to another span: nothing is taken twice or from elsewhere.
    item = asked_for(0, evidence=(Evidence(start_s=2.0, end_s=4.0), Evidence(start_s=5.0, end_s=5.1)))
    assert evidence_positions(item, (3.0, 6.0)) == [0]


def test_open_ends_and_listed_frames() -> None:
    item = asked_for(0, evidence=(Evidence(end_s=10.0), Evidence(start_s=20.0)))
    assert evidence_positions(item, (2.0, 5.0, 8.0, 20.0, 26.0, 30.0)) == [1, 4]
    listed = asked_for(0, evidence=(Evidence(frames=(3, 5)), Evidence(note="?")))
    assert evidence_positions(listed, (7.0, 3.0)) == [1, 0]


@pytest.mark.parametrize(
    ("kinds", "times", "kept"),
    [
        (("image", "video"), (0.0, 0.0, 4.0, 9.0, 22.0), [0, 2, 4]),
        (("video", "image"), (0.0, 4.0, 9.0, 22.0, 23.0), [1, 3, 4]),
        (("image", "frames", "image", "image"), (0.0, 4.0, 22.0, 23.0, 23.0), [0, 1, 2, 3, 4]),
        (("image", "image"), (0.0, 0.0), [0, 1]),
    ],
)
def test_single_images_beside_the_video_are_evidence(
    kinds: tuple[str, ...], times: tuple[float, ...], kept: list[int]
) -> None:
    """A picture at 0 s or behind the video lies in no span, though its time does."""
    media = tuple(Media(path=f"m{i}", kind=kind) for i, kind in enumerate(kinds))
    assert evidence_positions(asked_for(2, media=media), times) == kept
    assert stills_of(asked_for(2, media=media), len(times)) <= set(kept)


def test_frames_apart_are_as_many_as_those_of_the_evidence_and_spread() -> None:
    item, times = asked_for(2), (4.0, 12.0, 14.0, 16.0, 26.0, 40.0, 50.0)
    evidence, apart = placebo_positions(item, (4.0, 26.0), times)
    assert (evidence, apart) == ([0, 4], [2, 5])


def test_frames_of_the_evidence_that_are_not_shown_are_no_placebo() -> None:
    item, times = asked_for(2), (4.0, 8.0, 26.0, 40.0)
    assert placebo_positions(item, (4.0, 26.0), times) == ([0, 2], [3])
    assert placebo_positions(item, (4.0, 26.0), (4.0, 8.0, 26.0)) == ([0, 2], [])
    assert placebo_positions(item, (4.0, 26.0), (12.0, 40.0)) == ([], [])


def test_single_images_are_no_placebo() -> None:
    item = asked_for(2, media=(Media(path="a", kind="image"), Media(path="b")))
    evidence, apart = placebo_positions(item, (0.0, 4.0, 26.0), (0.0, 0.0, 4.0, 14.0, 26.0, 40.0))
    assert (evidence, apart) == ([0, 2, 4], [3, 5])
