"""What became of tracks: which were dropped and why, which were joined, how many boxes came and went."""

from vidence.records import Record


class DroppedTrack(Record, kw_only=True, omit_defaults=True):
    """A track that was not used.

    `what` is its id, `stage` the step that dropped it. `reason` is a short name that accounts are kept by,
    `detail` what was seen.
    """

    what: str
    stage: str
    reason: str
    detail: str = ""


class Merge(Record, kw_only=True):
    """Two fragments that were joined: `before` ends where `after` begins; both are now `into`.

    `gap_frames` is the number of frames between them that have a box of neither; `cost` is eq. 2.
    """

    before: str
    after: str
    into: str
    gap_frames: int
    distance_px: float
    iou: float
    cost: float


class StepCount(Record, kw_only=True):
    """What went into one step and what came out.

    ``tracks_out = tracks_in - tracks_dropped - tracks_merged`` and
    ``boxes_out = boxes_in - boxes_dropped + boxes_added``. `tracks_changed` had boxes moved, added or
    dropped; the boxes of dropped tracks are among `boxes_dropped`.
    """

    step: str
    tracks_in: int
    tracks_out: int
    tracks_dropped: int = 0
    tracks_merged: int = 0
    tracks_changed: int = 0
    boxes_in: int
    boxes_out: int
    boxes_dropped: int = 0
    boxes_added: int = 0


class Account(Record, kw_only=True):
    """What refining did, step by step; every track that went in came out, was dropped, or was merged."""

    steps: tuple[StepCount, ...] = ()
    dropped: tuple[DroppedTrack, ...] = ()
    merges: tuple[Merge, ...] = ()
