"""The annotated evidence as a ranking."""

import numpy as np
import pytest

from subjects.clips import timed_clip
from vidence import catalog
from vidence.ask.selection.evidence import AnnotatedEvidence
from vidence.ask.selection.oracle import Oracle
from vidence.errors import DataError, UsageError
from vidence.records import Evidence, Item

CLIP = timed_clip(np.arange(100) / 10, fps=10.0)


def asking(*evidence: Evidence) -> Item:
    return Item(item_id="q1", question="?", answer="A", evidence=evidence)


def make(argument: str = "") -> Oracle:
    return catalog.create("selector", catalog.Spec(name="oracle", argument=argument))


# Frames 0-9, 50-59, and three frames that one piece of evidence lists.
THREE = asking(Evidence(start_s=0, end_s=1), Evidence(start_s=5, end_s=6), Evidence(frames=(80, 85, 90)))


def test_every_piece_has_a_frame_before_any_has_two() -> None:
    ranking = make().rank(CLIP, THREE, n_frames=7).tolist()
    # Three, two and two frames: middles of 0-9 are 1, 5, 8; of 50-59 are 52, 57; of the list 80 and 90.
    assert ranking == [5, 57, 90, 1, 52, 80, 8]
    assert make().select(CLIP, THREE, n_frames=7).tolist() == sorted(ranking)
    item = asking(Evidence(frames=(10, 11, 12)), Evidence(frames=(50,)))
    assert make().rank(CLIP, item, n_frames=2).tolist() == [11, 50]
    # The selector evidence gives every listed frame a turn of its own, and ranks what it chose by piece.
    listed = AnnotatedEvidence(only=True)
    assert listed.select(CLIP, item, n_frames=2).tolist() == [10, 11]
    assert listed.rank(CLIP, item, n_frames=4).tolist() == [11, 50, 10, 12]


def test_the_budget_is_filled_when_asked() -> None:
    item = asking(Evidence(frames=(40,)), Evidence(frames=(60,)))
    assert make().select(CLIP, item, n_frames=6).tolist() == [40, 60]
    ranking = make("fill").rank(CLIP, item, n_frames=6).tolist()
    assert ranking[:2] == [40, 60]
    assert make("fill").select(CLIP, item, n_frames=6).tolist() == sorted(ranking)
    assert len(ranking) == 6
    with pytest.raises(UsageError, match="expected one of fill, only"):
        make("all")


@pytest.mark.parametrize("item", [asking(), asking(Evidence(note="somewhere"))])
def test_an_item_without_evidence_is_refused_or_filled(item: Item) -> None:
    for method in (make().select, make().rank):
        with pytest.raises(DataError, match="item 'q1' has no annotated evidence"):
            method(CLIP, item, n_frames=4)
    assert make("fill").select(CLIP, item, n_frames=4).tolist() == [12, 37, 62, 87]
    assert make("fill").rank(CLIP, item, n_frames=4).tolist() == [62, 37, 87, 12]
