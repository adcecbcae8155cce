"""The sheets that people review questions with: a table to fill in, and a page with frames to look at."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Final

from vidence.errors import MediaError
from vidence.make.gates.frames import middle_frame
from vidence.make.pipeline.report_pictures import frames_sheet
from vidence.make.review.filled_sheets import columns_to_fill, has_writing
from vidence.make.review.protocol import Stage, load_protocol
from vidence.make.review.sample import ToReview
from vidence.media.video import Video
from vidence.records import Evidence
from vidence.report.questions import ContactSheet
from vidence.tables.export import csv_text
from vidence.tables.rendering import render

PROTOCOL: Final = "herbench"
ABOUT: Final = (
    *("item_id", "check", "why", "task", "structure", "video", "question"),
    *("choices", "answer", "rests on", "evidence", "facts"),
)
_THUMB_PX: Final = 300
PAGE_VERSION: Final = 2


@dataclass(frozen=True, kw_only=True)
class Reviewed:
    """What a person said of one question."""

    item_id: str
    is_accepted: bool
    failed_checks: tuple[str, ...] = ()
    note: str = ""


def audit() -> Stage:
    """What is looked at (HERBench, 7.7): the one stage of the protocol."""
    return load_protocol(PROTOCOL).stages[0]


def as_csv(rows: Sequence[ToReview]) -> bytes:
    """The sheet to fill in, as CSV in UTF-8 that spreadsheets open; nothing in it is run as a formula."""
    to_fill = columns_to_fill(audit())
    lines = [[*ABOUT, *to_fill]]
    for row in rows:
        draft = row.question.draft
        lines.append(
            [
                *(row.question.question_id, row.check, f"{row.why} ({row.note})" if row.note else row.why),
                *(draft.task, draft.structure, draft.video_id, draft.question),
                "\n".join(
                    f"{letter}. {text}" for letter, text in zip(ascii_uppercase, draft.choices, strict=False)
                ),
                row.question.letter,
                draft.truth,
                "\n".join(map(span_words, draft.evidence)),
                "\n".join(f"{name}: {value}" for name, value in draft.facts.items()),
                *([""] * len(to_fill)),
            ]
        )
    return b"\xef\xbb\xbf" + csv_text(lines).encode()


def span_words(span: Evidence) -> str:
    """A span for people.

    >>> span_words(Evidence(start_s=1.0, end_s=2.5, note="opens the door"))
    '1.0-2.5 s: opens the door'
    """
    if span.start_s is None or span.end_s is None:
        where = ", ".join(f"frame {index}" for index in span.frames) or "the whole video"
    else:
        where = f"{span.start_s:.1f}-{span.end_s:.1f} s"
    return f"{where}: {span.note}" if span.note else where


def is_begun(path: Path) -> bool:
    """Whether somebody has written into a sheet, so that it must not be written again."""
    return has_writing(path, columns_to_fill(audit()))


def as_page(
    rows: Sequence[ToReview], videos: Mapping[str, Video], *, title: str, n_frames: int, table: str
) -> str:
    """The page to look at: every question with frames of its evidence; it loads nothing from elsewhere.

    Args:
        rows: the questions.
        videos: those that are here, by id; of the others no frames are shown.
        title: the name of the set.
        n_frames: how many frames of a question are shown at most.
        table: the name of the file that is filled in.
    """
    sheets = [_frames(row, videos.get(row.question.draft.video_id), n_frames) for row in rows]
    return render(
        "review.html.j2",
        title=title,
        table=table,
        checks=tuple((one.id, one.words) for one in audit().checks),
        counts=tuple(sorted(Counter(row.why for row in rows).items())),
        questions=tuple(zip(rows, sheets, strict=True)),
        letters=ascii_uppercase,
        span_words=span_words,
    )


def _frames(row: ToReview, video: Video | None, n_frames: int) -> ContactSheet | None:
    """The middle frame of each span of evidence; None where the video is not here or cannot be read."""
    if video is None:
        return None
    labels: dict[int, str] = {}
    for number, span in enumerate(row.question.draft.evidence, start=1):
        index = middle_frame(span, row.question.video)
        if index is not None and len(labels) < n_frames:
            labels.setdefault(index, f"{number}: {index / row.question.video.fps:.1f} s")
    if not labels:
        return None
    try:
        return frames_sheet(video, labels, n_columns=3, thumb_px=_THUMB_PX)
    except MediaError:
        return None
