"""Frames of the evidence and of the witnesses, for the report of a set of composed questions."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from vidence.errors import DataError, MediaError
from vidence.make.pipeline.ledger import write_file
from vidence.make.pipeline.material import Draft
from vidence.make.pipeline.report_pictures import frames_sheet
from vidence.make.pipeline.session import BuildContext
from vidence.make.sources.proof import Proof, Witness
from vidence.make.sources.scene import Span
from vidence.media.files import resolve
from vidence.media.video import Video
from vidence.records import Media

FOLDER = "report-pictures"
MOST_PICTURED = 100
"""Questions with pictures."""
_MOST_FRAMES, _N_COLUMNS, _THUMB_PX = 12, 6, 200


def picture_questions(
    drafts: Sequence[Draft],
    proofs: Mapping[str, Proof],
    *,
    media_root: Path,
    out: Path,
    context: BuildContext,
) -> tuple[dict[str, str], list[str]]:
    """Write a sheet of frames for each question whose video is here and whose facts have times.

    Args:
        drafts: the questions; those after the first `MOST_PICTURED` get none.
        proofs: their proofs by name.
        media_root: the folder that paths of videos start from.
        out: the folder of the set; sheets go into a folder below it.
        context: what is taken from outside.

    Returns:
        The paths of the sheets, from `out`, by question; and notes on what could not be shown.
    """
    videos = {
        path: _video(path, media_root, context) for path in dict.fromkeys(one.video_id for one in drafts)
    }
    sheets: dict[str, str] = {}
    for draft in drafts[:MOST_PICTURED]:
        video = videos[draft.video_id]
        frames = frames_of(proofs[draft.draft_id], video) if isinstance(video, Video) else {}
        if not isinstance(video, Video) or not frames:
            continue
        try:
            sheet = frames_sheet(video, frames, n_columns=_N_COLUMNS, thumb_px=_THUMB_PX)
        except MediaError as error:
            videos[draft.video_id] = str(error)
            continue
        name = f"{FOLDER}/{draft.draft_id.replace('/', '-')}.jpg"
        write_file(out / name, sheet.jpeg)
        sheets[draft.draft_id] = name
    notes = [f"No frames of {path}: {why}" for path, why in videos.items() if isinstance(why, str)]
    if len(drafts) > MOST_PICTURED:
        notes.append(f"{MOST_PICTURED} of {len(drafts):,} questions are pictured.")
    return sheets, notes


def _video(path: str, media_root: Path, context: BuildContext) -> Video | str:
    """A video, or why it cannot be shown."""
    try:
        return context.video(resolve(media_root, Media(path=path)))
    except (MediaError, DataError) as error:
        return str(error)


def frames_of(proof: Proof, video: Video) -> dict[int, str]:
    """Which frames show what an answer rests on and where each witness is, with their labels."""
    frames: dict[int, str] = {}
    shown: list[tuple[str, Sequence[float], Sequence[Span]]] = [("right", (), proof.spans)]
    shown += [
        (f"without {one.id}", witness.seen_at, own_spans(witness, proof))
        for one in proof.conditions
        if (witness := one.without.witness) is not None
    ]
    for label, seen_at, spans in shown:
        times = [*seen_at] or [(start + end) / 2 for start, end in spans]
        for time_s in times:
            if len(frames) < _MOST_FRAMES and 0 <= time_s <= float(video.times_s[-1]):
                index = video.index_at(time_s)
                told = f"{label}, {float(video.times_s[index]):.1f} s"
                frames[index] = f"{frames[index]}; {label}" if index in frames else told
    return frames


def own_spans(witness: Witness, proof: Proof) -> list[Span]:
    """The spans of a witness that are not those of the answer anyway."""
    return [span for span in witness.spans if span not in proof.spans]
