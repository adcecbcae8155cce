"""The page of tracks of one video: scenes with boxes, the ways, and crops of each track over time."""

from pathlib import Path
from typing import Final

from markupsafe import Markup

from vidence.make.pipeline.report_pictures import track_crops, tracks_sheet, ways
from vidence.media.video import Video
from vidence.media.whole import write_whole
from vidence.report.questions import ContactSheet
from vidence.seeing.track_run import TrackRecord
from vidence.seeing.tracks import Track, TrackedVideo
from vidence.tables.rendering import render
from vidence.tables.table import several

_MOST: Final = 40  # tracks with colours and crops


def write_track_page(path: Path, video: Video, *, tracked: TrackedVideo, record: TrackRecord) -> None:
    """Write the page of a video's tracks; the longest of many have colours and crops.

    Raises:
        MediaError: no frame of the page can be read.
    """
    name, n = Path(record.video).name, len(tracked.tracks)
    longest = sorted(tracked.tracks, key=lambda track: len(track.frame_indices), reverse=True)
    ids = {track.track_id for track in longest[:_MOST]}
    shown = [track for track in tracked.tracks if track.track_id in ids]
    left_out = n - len(shown)
    chosen, crops = [track.track_id for track in shown], track_crops(video, shown)
    pictured = {
        "video_id": name,
        "notes": [],
        "tracks": tracks_sheet(video, tracked, chosen),
        "ways": Markup(ways(tracked, chosen)),  # noqa: S704 - our own SVG
        "people": [_person(track, tracked, crops.get(track.track_id)) for track in shown],
        "shots": None,
        "scenes": (),
    }
    counts = [(key.replace("_", " "), f"{value:,}") for key, value in record.counts.items()]
    html = render(
        "made.html.j2",
        command="videos track",
        title=f"{name}: {several(n, 'track')}",
        sentences=["A row of crops that shows two people is a mistake.", *filter(None, [record.caution])],
        tables=(),
        videos=[pictured],
        videos_note=f"{several(left_out, 'track')} without crops, the shortest of all." if left_out else "",
        questions=(),
        facts=[("Counts", counts), ("By", list(record.identities.items()))],
        notes=record.problems,
    )
    write_whole(path, html.encode())


def _person(track: Track, tracked: TrackedVideo, crops: ContactSheet | None) -> dict[str, object]:
    """A track as the template shows people."""
    start_s, end_s = tracked.span_s(track)
    n_filled = int((~track.is_detected).sum())
    boxes = f"{len(track.frame_indices)} boxes, {n_filled} filled in"
    span = f"{start_s:.2f} to {end_s:.2f} s, {boxes}, confidence {track.confidences.mean():.2f}"
    return {"track_id": track.track_id, "span": span, "crops": crops, "cards": (), "flags": ()}
