"""The audit of a sample as a review: questions, page, verdicts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Final

from vidence.errors import MediaError
from vidence.make.gates.frames import middle_frame
from vidence.make.pipeline.report_pictures import frames_sheet
from vidence.make.review.files import read_reviews
from vidence.make.review.protocol import Stage, load_protocol, protocol_bytes
from vidence.make.review.recording import after, begin, submit, write
from vidence.make.review.sample import ToReview
from vidence.make.review.states import failed_checks
from vidence.media.video import Video
from vidence.records import Evidence
from vidence.report.questions import ContactSheet
from vidence.tables.rendering import render

PROTOCOL: Final = "herbench"
MAKER: Final = "make-herbench"
"""Pseudonym of the program as submitter."""
PAGE_VERSION: Final = 3
_THUMB_PX: Final = 300


@dataclass(frozen=True, kw_only=True)
class Reviewed:
    """A person's verdict on a question."""

    item_id: str
    is_accepted: bool
    failed_checks: tuple[str, ...] = ()
    note: str = ""


def audit() -> Stage:
    """The audit protocol (HERBench, 7.7), with a single stage."""
    return load_protocol(PROTOCOL).stages[0]


def read_audit(rows: Sequence[ToReview], *, folder: Path, at: str) -> tuple[Reviewed, ...]:
    """Return people's decisions on questions, in the order of `rows`; waiting and disputed ones are left out.

    Args:
        rows: the questions that are looked at.
        folder: of `vidence items review`; created if absent, and questions that it lacks are added.
        at: when this is done, in UTC.

    Raises:
        UsageError: the folder is reviewed by another protocol.
        DataError: lines of the review cannot be used.
        StoreError: the folder cannot be written.
    """
    begin(folder, protocol_bytes(PROTOCOL))
    reviews = read_reviews(folder)
    names = [review_id(row) for row in rows]
    fresh = {
        name: wording_of(row)
        for name, row in zip(names, rows, strict=True)
        if name not in reviews.states or reviews.states[name].state == "drafting"
    }
    put, _ = submit(reviews, fresh, by=MAKER, role="author", at=at)
    write(folder, put)
    reviews = after(reviews, put)
    return tuple(
        Reviewed(
            item_id=row.question.question_id,
            is_accepted=event.kind == "accept",
            failed_checks=failed_checks(event, audit()),
            note=event.message,
        )
        for name, row in zip(names, rows, strict=True)
        if (event := reviews.deciding(name)) is not None
    )


def review_id(row: ToReview) -> str:
    """Return a question's name in a review; it changes with the question's content.

    Numbers of questions move when a video is added, so that they are no names here.
    """
    return f"{row.question.draft.draft_id}.{row.check}"


def wording_of(row: ToReview) -> dict[str, object]:
    """Return what a review stores of a question and shows to reviewers."""
    draft = row.question.draft
    return {
        "item_id": review_id(row),
        "question_id": row.question.question_id,
        "why": f"{row.why} ({row.note})" if row.note else row.why,
        "video": draft.video_id,
        "source_id": draft.video_id,
        "question": draft.question,
        "choices": list(draft.choices),
        "answer": ascii_uppercase[draft.answer_index],
        "rests on": draft.truth,
        "evidence": [span_words(span) for span in draft.evidence],
        "facts": [f"{name}: {value}" for name, value in draft.facts.items()],
        "tags": {"task": draft.task, "structure": draft.structure},
    }


def span_words(span: Evidence) -> str:
    """Format a span for people.

    >>> span_words(Evidence(start_s=1.0, end_s=2.5, note="opens the door"))
    '1.0-2.5 s: opens the door'
    """
    if span.start_s is None or span.end_s is None:
        where = ", ".join(f"frame {index}" for index in span.frames) or "the whole video"
    else:
        where = f"{span.start_s:.1f}-{span.end_s:.1f} s"
    return f"{where}: {span.note}" if span.note else where


def as_page(rows: Sequence[ToReview], videos: Mapping[str, Video], *, title: str, n_frames: int) -> str:
    """Return the review page: every question with frames of its evidence, self-contained.

    Args:
        rows: the questions.
        videos: those that are here, by id; of the others no frames are shown.
        title: the name of the set.
        n_frames: how many frames of a question are shown at most.
    """
    sheets = [_frames(row, videos.get(row.question.draft.video_id), n_frames) for row in rows]
    return render(
        "review.html.j2",
        title=title,
        checks=tuple((check.id, check.words) for check in audit().checks),
        counts=tuple(sorted(Counter(row.why for row in rows).items())),
        questions=tuple(zip(rows, sheets, strict=True)),
        letters=ascii_uppercase,
        span_words=span_words,
    )


def _frames(row: ToReview, video: Video | None, n_frames: int) -> ContactSheet | None:
    """Return the middle frame of each evidence span; None if the video is missing or unreadable."""
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
