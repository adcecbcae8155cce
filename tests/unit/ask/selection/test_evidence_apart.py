"""Frames of the evidence, and as many well apart from it."""

import numpy as np
import pytest

from subjects.clips import timed_clip
from vidence import catalog
from vidence.contracts import Selector
from vidence.errors import DataError, UsageError
from vidence.media.clip import Clip
from vidence.records import Evidence, Item

# Ten frames per second for ten seconds: frame i is at i / 10 s.
CLIP = timed_clip(np.arange(100) / 10, fps=10.0)


def select(*evidence: Evidence, n_frames: int, clip: Clip = CLIP, **options: str) -> list[int]:
    made: Selector = catalog.create("selector", catalog.Spec(name="evidence-apart", options=options))
    item = Item(item_id="q7", question="?", answer="A", evidence=evidence)
    return made.select(clip, item, n_frames=n_frames).tolist()


def test_half_is_evidence_and_as_many_lie_apart() -> None:
    # Evidence 40..49; apart are 0..20 and 69..99, 52 frames: middles of two halves are the 14th and 40th.
    assert select(Evidence(start_s=4, end_s=5), n_frames=4) == [13, 42, 47, 87]
    chosen = select(Evidence(start_s=4, end_s=4.2), n_frames=16)
    assert len(chosen) == 4
    assert {40, 41} <= set(chosen)
    assert select(Evidence(start_s=0, end_s=10), n_frames=4) == [25, 75]
    empty = timed_clip(np.empty(0), fps=10.0)
    assert select(Evidence(start_s=0, end_s=1), n_frames=4, clip=empty) == []
    assert select(Evidence(start_s=4, end_s=5), n_frames=1) == [45]
    assert len(select(Evidence(start_s=4, end_s=5), n_frames=3)) == 2
    with pytest.raises(DataError, match="'q7' has no annotated evidence"):
        select(n_frames=4)
    with pytest.raises(UsageError):
        select(Evidence(start_s=4, end_s=5), n_frames=0)
    with pytest.raises(UsageError, match="gap_s"):
        select(Evidence(start_s=4, end_s=5), n_frames=2, gap_s="-1")


def test_the_gap_is_from_every_span_and_to_both_sides() -> None:
    spans = Evidence(start_s=2, end_s=3), Evidence(start_s=6, end_s=7)
    of_spans = {*range(20, 30), *range(60, 70)}
    assert all(t == 0 or t >= 89 for t in set(select(*spans, n_frames=60)) - of_spans)
    near = set(select(*spans, n_frames=60, gap_s="0.5")) - of_spans
    assert near
    assert all(t <= 15 or 34 <= t <= 55 or t >= 74 for t in near)
    chosen = select(Evidence(frames=(10, 90)), n_frames=4, gap_s="3")
    assert chosen == [10, 45, 55, 90]  # apart are 40..60, 21 frames: middles of two halves
