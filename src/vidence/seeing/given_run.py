"""Look at a file of tracks in its video: nobody is looked for, and nothing is joined or cleaned."""

import numpy as np

from vidence.media.video import Video
from vidence.seeing.given_tracks import GivenTracks
from vidence.seeing.quality import measure
from vidence.seeing.refine import RefineSettings
from vidence.seeing.track_files import MotRows
from vidence.seeing.track_run import TrackRecord, package_versions
from vidence.seeing.tracks import Account, TrackedVideo


def show_given(
    video: Video, given: GivenTracks, *, truth: MotRows | None = None
) -> tuple[TrackedVideo, TrackRecord, tuple[str, ...]]:
    """The tracks of a file in their video, what they are, and what a person should know of them.

    With ground truth they are measured in frames and pixels of the video where the file counts in others.

    Raises:
        DataError: they are of another video.
        UsageError: the library of measures is not installed.
    """
    known, belonging = given.of(video), given.belonging(video)
    tracked = TrackedVideo(
        width_px=video.probe.width_px,
        height_px=video.probe.height_px,
        times_s=video.times_s,
        tracks=known.tracks,
        others=known.others,
        basis=given.basis,
    )
    frames = [track.frame_indices for track in known.tracks]
    record = TrackRecord(
        video=video.probe.path,
        n_frames=video.n_frames,
        width_px=tracked.width_px,
        height_px=tracked.height_px,
        fps=round(video.probe.counted.fps, 4),
        rate=0.0,
        identities={"tracks": given.identity},
        versions=package_versions(),
        counts={
            "frames_with_boxes": len(np.unique(np.concatenate(frames))),
            "tracks": len(known.tracks),
            "boxes": sum(map(len, frames)),
            "people_not_considered": len(known.others),
        },
        settings=RefineSettings(steps=()),
        account=Account(dropped=known.dropped),
        quality={} if truth is None else {"given": measure(truth, given.rows_in(video))},
    )
    doubts = (f"the tracks do not seem to be of this video: {one}" for one in belonging.against)
    return tracked, record, (*doubts, *belonging.notes)
