"""What tracks rest on, as it is kept with them."""

import msgspec
import pytest

from vidence.seeing.tracks import TrackBasis


def test_tracks_of_which_nothing_is_said_were_detected():
    basis = msgspec.json.decode(b"{}", type=TrackBasis)
    assert (basis.kind, basis.detector, basis.is_trusted) == ("detected", "", False)


@pytest.mark.parametrize("kind", ["given", "reviewed"])
def test_tracks_that_people_answer_for_are_trusted(kind):
    assert msgspec.convert({"kind": kind, "detector": "gt.txt"}, TrackBasis).is_trusted
