"""What tracks rest on, as it is kept with them."""

import msgspec
import pytest

from vidence.seeing.tracks import Recall, TrackBasis


def test_tracks_of_which_nothing_is_said_were_detected_and_have_no_recall() -> None:
    basis = msgspec.json.decode(b"{}", type=TrackBasis)

    assert (basis.kind, basis.detector, basis.recall, basis.is_trusted) == ("detected", "", None, False)


@pytest.mark.parametrize("kind", ["given", "reviewed"])
def test_tracks_that_people_answer_for_are_trusted(kind: str) -> None:
    assert msgspec.convert({"kind": kind, "detector": "gt.txt"}, TrackBasis).is_trusted


def test_a_measured_recall_is_kept_with_its_bounds() -> None:
    recall = Recall(share=0.8, low=0.7, high=0.9, confidence=0.95, n_people=50, n_frames=10)

    kept = msgspec.json.decode(msgspec.json.encode(TrackBasis(recall=recall)), type=TrackBasis)

    assert kept.recall == recall
