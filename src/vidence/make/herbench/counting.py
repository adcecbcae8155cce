"""Recall of the detector: frames that people counted or marked, and the sheet that asks them to count."""

import io
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from PIL import Image

from vidence.errors import DataError, MediaError
from vidence.make.herbench.config import TrackingRules
from vidence.make.herbench.session import HerbenchSession, VideoState
from vidence.make.pipeline.ledger import write_file
from vidence.make.sources.logs.files import Fault, csv_rows
from vidence.media.encode import Size
from vidence.media.video import FrameProblem
from vidence.seeing.pictures import Mark, colour_of, draw
from vidence.seeing.recall import (
    LabelledFrame,
    counted_frame,
    marked_frame,
    people_of,
    pooled_recall,
    recall_of,
    sample_of,
    shown,
    with_recall,
)
from vidence.seeing.space import Region, named_regions
from vidence.seeing.track_files import read_mot
from vidence.seeing.tracks import Recall, TrackedVideo
from vidence.tables.export import csv_text
from vidence.tables.table import several
from vidence.text import first_lines

COUNTS_FILE: Final = "counts.csv"
N_FRAMES: Final = 12
"""So many frames of each video are put on the sheet."""
_NEEDS: Final = ("video_id", "frame", "n_people", "n_false")
_COLUMNS: Final = ("video_id", "frame", "region", "n_boxes", "n_people", "n_false", "picture")
_PICTURE_PX = 1600
_PEDESTRIAN = 1


@dataclass(frozen=True, kw_only=True)
class CountLine:
    """One line of the file of counts. `n_boxes` is how many were drawn, -1 where it does not say so."""

    where: str
    video_id: str
    frame_index: int
    region: str
    n_people: int
    n_false: int
    n_boxes: int


def calibrate(work: HerbenchSession, videos: Sequence[VideoState]) -> None:
    """Write into the tracks that a detector found how much of the people they hold, as far as is known.

    A video's own frames decide; without any, those of the other videos do (`pooled_recall`).

    Raises:
        DataError: the counted or marked frames cannot be used; each fault with its line.
    """
    rules = work.config.tracking
    if rules is None or work.overrides.sheets:
        return
    detected = {
        one.video_id: one
        for one in videos
        if one.material.tracked is not None and not one.material.tracked.basis.is_trusted
    }
    looked = _looked(work, rules, videos, detected=detected)
    own: dict[str, dict[str, Recall]] = defaultdict(dict)
    for (video_id, region), frames in looked.items():
        tracked = detected[video_id].material.tracked
        if tracked is None:
            continue
        found = recall_of(sample_of(tracked, frames), confidence=rules.recall_confidence)
        if found is not None:
            own[video_id][region] = found
    pooled = pooled_recall(
        [there[""] for there in own.values() if "" in there], confidence=rules.recall_confidence
    )
    for video_id, one in detected.items():
        tracked = one.material.tracked
        if tracked is None:
            continue
        regions = dict(own.get(video_id, {}))
        recall = regions.pop("", pooled)
        name = tracked.basis.detector or one.source.rule.detections or rules.detector
        tracked = replace(tracked, basis=msgspec.structs.replace(tracked.basis, detector=name))
        one.material = replace(one.material, tracked=with_recall(tracked, recall, regions))
        if recall is not None:
            work.ledger.notes.append(f"{video_id}: {recall_words(recall)}")


def check_counts(work: HerbenchSession, videos: Sequence[VideoState]) -> None:
    """See before anything is watched that the counted frames are there, and what can be seen without boxes.

    Raises:
        DataError: the file of counts is not there, or has lines that cannot be used.
    """
    rules = work.config.tracking
    if rules is None or not rules.counted or work.overrides.sheets:
        return
    path = work.root / rules.counted
    if not path.exists():
        raise DataError(
            f"{path} is not there, which counted in [tracking] names; --sheets DIR writes DIR/{COUNTS_FILE} "
            "to fill in, or leave counted out"
        )
    read_counts(path, videos={one.video_id for one in videos})


def recall_words(recall: Recall) -> str:
    """What was measured, as a note."""
    return (
        f"the tracks hold {recall.share:.0%} of the people ({recall.low:.0%} to {recall.high:.0%} at "
        f"{recall.confidence:.0%}), and {recall.false_share:.0%} of the tracks are false (at most "
        f"{recall.false_high:.0%}), by {recall.method}"
    )


def _looked(
    work: HerbenchSession,
    rules: TrackingRules,
    videos: Sequence[VideoState],
    *,
    detected: Mapping[str, VideoState],
) -> dict[tuple[str, str], list[LabelledFrame]]:
    """The frames that were looked at, by video and part of the frame."""
    looked: dict[tuple[str, str], list[LabelledFrame]] = defaultdict(list)
    faults: list[str] = []
    if rules.counted:
        known = {one.video_id for one in videos}
        for row in read_counts(work.root / rules.counted, videos=known):
            one = detected.get(row.video_id)
            tracked = None if one is None else one.material.tracked
            if tracked is None:  # given tracks need no count; without tracks there is nothing to measure
                continue
            try:
                looked[row.video_id, row.region].append(_count(tracked, row))
            except ValueError as error:
                faults.append(f"{row.where}: {error}")
    if faults:
        raise DataError(_listed(work.root / rules.counted, faults))
    for video_id, one in detected.items() if rules.labelled else ():
        tracked = one.material.tracked
        path = work.root / rules.labelled.removeprefix("mot:").format(video_id=video_id)
        if tracked is not None and path.is_file():
            for region, frames in _marked(tracked, path).items():
                looked[video_id, region] += frames
    if rules.labelled and not any(looked.values()):
        raise DataError(
            f"labelled = {rules.labelled!r} finds no file for any of the videos {', '.join(detected)}; "
            "expected mot:FOLDER/{video_id}.txt from the folder of the configuration"
        )
    return looked


def _listed(path: Path, faults: Sequence[str]) -> str:
    return f"{path}: {len(faults)} lines cannot be used\n{first_lines(faults)}"


def read_counts(path: Path, *, videos: set[str]) -> tuple[CountLine, ...]:
    """The counted frames of a file; lines that nobody filled in are left out.

    Raises:
        DataError: it cannot be read, lacks a column, or has lines that cannot be used; the first are named.
    """
    found: list[CountLine] = []
    faults: list[str] = []
    places: dict[tuple[str, int, str], str] = {}
    for where, row in csv_rows(path, needs=_NEEDS):
        if isinstance(row, Fault):
            faults.append(row.at(where))
            continue
        one = _row(row, where, videos)
        if isinstance(one, str):
            faults.append(f"{where}: {one}")
        elif one is not None:
            key = (one.video_id, one.frame_index, one.region)
            if key in places:
                faults.append(f"{where}: frame {one.frame_index} stands at {places[key]} already; keep one")
            places[key] = where
            found.append(one)
    if faults:
        raise DataError(_listed(path, faults))
    return tuple(found)


def _row(row: Mapping[str, str], where: str, videos: set[str]) -> CountLine | str | None:
    """One line, what is wrong with it, or None where nobody has filled it in."""
    if not row["n_people"] and not row["n_false"]:
        return None
    if row["video_id"] not in videos:
        return f"the video {row['video_id']!r} is none of this set; it has {', '.join(sorted(videos))}"
    region = row.get("region", "")
    if region and region not in named_regions(2, 2):
        return f"region {region!r}; expected nothing for the whole frame, or {', '.join(named_regions(2, 2))}"
    numbers: dict[str, int] = {}
    for name in ("frame", "n_people", "n_false", "n_boxes"):
        text = row.get(name, "")
        if name == "n_boxes" and not text:
            numbers[name] = -1
        elif not text.isdecimal():
            return f"{name} is {text!r}; expected a whole number, 0 or more, as n_people and n_false both are"
        else:
            numbers[name] = int(text)
    return CountLine(
        where=where,
        video_id=row["video_id"],
        frame_index=numbers["frame"],
        region=region,
        n_people=numbers["n_people"],
        n_false=numbers["n_false"],
        n_boxes=numbers["n_boxes"],
    )


def _count(tracked: TrackedVideo, row: CountLine) -> LabelledFrame:
    region = _region(tracked, row.region)
    if row.frame_index >= len(tracked.times_s):
        raise ValueError(
            f"frame {row.frame_index} of {row.video_id}, which has the frames 0 to {len(tracked.times_s) - 1}"
        )
    n_boxes = len(shown(tracked, row.frame_index, region))
    if row.n_boxes not in (-1, n_boxes):
        raise ValueError(
            f"{row.n_boxes} boxes were drawn in frame {row.frame_index}, and now there are {n_boxes}: the "
            "tracks have changed; write the sheet anew into another folder (--sheets)"
        )
    return counted_frame(tracked, row.frame_index, n_people=row.n_people, n_false=row.n_false, region=region)


def _region(tracked: TrackedVideo, name: str) -> Region | None:
    return named_regions(tracked.width_px, tracked.height_px)[name] if name else None


def _marked(tracked: TrackedVideo, path: Path) -> dict[str, list[LabelledFrame]]:
    """The frames of a labelled sample, for the whole frame and for each part of it."""
    rows = read_mot(path)
    frames = np.unique(rows.frame_indices)
    if len(frames) == 0 or frames[-1] >= len(tracked.times_s):
        raise DataError(
            f"{path} has boxes in {len(frames)} frames up to {frames[-1] + 1 if len(frames) else 0}, and the "
            f"video has the frames 1 to {len(tracked.times_s)}; expected the marked frames of this video"
        )
    counts = rows.marks != 0
    if rows.has_classes:
        counts &= rows.class_ids == _PEDESTRIAN
    regions = {"": None, **named_regions(tracked.width_px, tracked.height_px)}
    found: dict[str, list[LabelledFrame]] = {name: [] for name in regions}
    for frame in frames.tolist():
        there = rows.frame_indices == frame
        for name, region in regions.items():
            found[name].append(
                marked_frame(
                    tracked,
                    int(frame),
                    people_px=rows.boxes_px[there & counts],
                    ignored_px=rows.boxes_px[there & ~counts],
                    region=region,
                )
            )
    return found


# --------------------------------------------------------------------------- the sheet to fill in


def write_count_sheet(
    work: HerbenchSession, videos: Sequence[VideoState], folder: Path
) -> tuple[tuple[Path, ...], str]:
    """Write frames of each video with the boxes of its tracks, and a table that a person fills in.

    `n_people` is how many people the frame shows, `n_false` how many boxes show nobody, or somebody who has
    another box. Tracks that people gave or reviewed need no count. A table that somebody has begun to fill in
    stays as it is.

    Returns:
        The files, none where nothing is to be counted; and words for the user, empty where there are none.

    Raises:
        StoreError: they cannot be written.
    """
    table = folder / COUNTS_FILE
    if table.exists() and _is_begun(table):
        return (), f"{table} was begun and stays as it is"
    rows: list[Sequence[str | float | None]] = [_COLUMNS]
    files = [table]
    for one in videos:
        tracked = one.material.tracked
        if tracked is None or tracked.basis.is_trusted:
            continue
        for index, picture in _pictures(work, one, tracked):
            path = folder / f"{one.video_id}-{index:06d}.jpg"
            rows.append((one.video_id, index, "", len(shown(tracked, index)), "", "", path.name))
            files.append(path)
            write_file(path, picture)
    if len(files) == 1:
        return (), ""
    write_file(table, b"\xef\xbb\xbf" + csv_text(rows).encode())
    said = (
        f"{several(len(files) - 1, 'frame')} to count: fill in n_people and n_false in {table}, and name it "
        "as counted in [tracking]."
    )
    return tuple(files), said


def _is_begun(table: Path) -> bool:
    return any(
        isinstance(row, Fault) or row["n_people"] or row["n_false"]
        for _, row in csv_rows(table, needs=_NEEDS)
    )


def _pictures(work: HerbenchSession, one: VideoState, tracked: TrackedVideo) -> Iterator[tuple[int, bytes]]:
    """Frames spread evenly over a video, as JPEG with the boxes of its people drawn."""
    try:
        video = one.open(work)
    except MediaError as error:
        work.trouble(str(error))
        return
    if video is None:
        return
    indices = sorted({(2 * i + 1) * video.n_frames // (2 * N_FRAMES) for i in range(N_FRAMES)})
    tracks = {track.track_id: (place, track) for place, track in enumerate(people_of(tracked))}
    for index, image in zip(
        indices, video.frames(indices, size=Size(kind="long", pixels=_PICTURE_PX)), strict=True
    ):
        if isinstance(image, FrameProblem):
            continue
        marks = [
            Mark(box_px=track.boxes_px[track.frame_indices == index][0], text=name, colour=colour_of(place))
            for name, (place, track) in tracks.items()
            if name in shown(tracked, index)
        ]
        buffer = io.BytesIO()
        drawn = draw(np.asarray(image), marks, scale=image.shape[1] / tracked.width_px)
        Image.fromarray(drawn).save(buffer, format="JPEG", quality=90)
        yield index, buffer.getvalue()
