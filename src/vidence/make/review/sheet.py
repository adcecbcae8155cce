"""The sheets that people review questions with: a table to fill in, and a page with frames to look at."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Final

from vidence.errors import DataError, MediaError
from vidence.make.cards.report_pictures import frames_sheet
from vidence.make.gates.frames import middle_frame
from vidence.make.logs.files import Fault, csv_lines
from vidence.make.review.sample import ToReview
from vidence.media.video import Video
from vidence.records import Evidence
from vidence.report.questions import Sheet
from vidence.tables.export import csv_text
from vidence.tables.rendering import render

# What is looked at (HERBench, 7.7), in words for whoever looks.
CHECKS: Final[Mapping[str, str]] = {
    "frames": "Minimum frame-set: at least three distinct frames are needed; no single one suffices.",
    "unique": "Uniqueness: exactly one choice is right, it is the one that is marked, and it is objective.",
    "apart": "Disentanglement: the words that name a person do not give away the answer, nor it them.",
}
ABOUT: Final = (
    *("item_id", "check", "why", "task", "structure", "video", "question"),
    *("choices", "answer", "rests on", "evidence", "facts"),
)
VERDICT, NOTE = "verdict", "note"
TO_FILL: Final = (*CHECKS, VERDICT, NOTE)
YES, NO, NONE = "yes", "no", ""
ACCEPT, REJECT = "accept", "reject"
_THUMB_PX: Final = 300
PAGE_VERSION: Final = 2


@dataclass(frozen=True, kw_only=True)
class Reviewed:
    """What a person said of one question; `line` is where it stands in the sheet."""

    item_id: str
    is_accepted: bool
    failed_checks: tuple[str, ...] = ()
    note: str = ""
    line: int = 0


def as_csv(rows: Sequence[ToReview]) -> bytes:
    """The sheet to fill in, as CSV in UTF-8 that spreadsheets open; nothing in it is run as a formula."""
    lines = [[*ABOUT, *TO_FILL]]
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
                *([""] * len(TO_FILL)),
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


def read_csv(paths: Sequence[Path], rows: Sequence[ToReview]) -> tuple[Reviewed, ...]:
    """What people filled in, in the order of `rows`. Columns that we wrote may be left out, but not the ids.

    A question without a line, or with an empty one, waits for a person and is not among them.

    Raises:
        DataError: a file cannot be read, lacks a column, or lines of it cannot be used: a question that is
            not asked for, one that was changed since, two verdicts for one, no verdict beside checks or a
            note, words that are no verdict, or a failed check with the verdict ``accept``. The first twenty
            such lines are named.
    """
    known = {row.question.question_id: row for row in rows}
    faults: list[str] = []
    found: dict[str, Reviewed] = {}
    for path in paths:
        where = f"{path.name}, line" if len(paths) > 1 else "line"
        for line, cells in _lines(path):
            one = (
                f"{cells.field}: {cells.reason}"
                if isinstance(cells, Fault)
                else _reviewed(line, cells, known)
            )
            if isinstance(one, str):
                faults.append(f"{where} {line}: {one}")
            elif one is not None and one.item_id in found:
                before = found[one.item_id].line
                faults.append(
                    f"{where} {line}: a second line for {one.item_id}, after line {before}; keep one"
                )
            elif one is not None:
                found[one.item_id] = one
    if faults:
        more = f"\n... and {len(faults) - _MOST_FAULTS} more" if len(faults) > _MOST_FAULTS else ""
        listed = "\n".join(faults[:_MOST_FAULTS])
        told = ", ".join(map(str, paths))
        raise DataError(f"{told}: {len(faults)} faults in the filled sheet\n{listed}{more}")
    return tuple(found[name] for name in known if name in found)


_MOST_FAULTS = 20


def _lines(path: Path) -> Iterator[tuple[int, Mapping[str, str] | Fault]]:
    """The rows of a sheet, or what is wrong with them, each with the line that it begins on."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path} is no CSV in UTF-8 ({error}); save the sheet once more, as 'CSV UTF-8'"
        ) from error
    rows = csv_lines(text)
    _, heading = next(rows, (1, list[str]()))
    named = () if isinstance(heading, Fault) else heading
    if missing := [name for name in ("item_id", VERDICT) if name not in named]:
        raise DataError(
            f"{path}: line 1: no column {missing[0]!r}; expected those of the sheet that was written"
        )
    for line, cells in rows:
        yield line, cells if isinstance(cells, Fault) else dict(zip(named, cells, strict=False))


def is_begun(path: Path) -> bool:
    """Whether somebody has written into a sheet, so that it must not be written again.

    A file that cannot be read as one is somebody's, too.
    """
    if not path.exists():
        return False
    try:
        rows = [cells for _, cells in _lines(path)]
    except DataError:
        return True
    return any(isinstance(cells, Fault) or any(map(cells.get, TO_FILL)) for cells in rows)


def _reviewed(line: int, cells: Mapping[str, str], known: Mapping[str, ToReview]) -> Reviewed | str | None:
    """One line, or what is wrong with it, beginning with the id of the question; None where it is empty."""
    item_id = cells.get("item_id", "")
    if item_id not in known:
        return f"{item_id or 'an empty id'} is not in the sheet that was written; take this line out"
    if cells.get("check", known[item_id].check) != known[item_id].check:
        return f"{item_id} was changed after the sheet was written; look at it again in the new sheet"
    verdict = cells.get(VERDICT, "").strip().casefold()
    if not any(cells.get(name, "").strip() for name in TO_FILL):
        return None
    if not verdict:
        return f"{item_id} has no verdict; expected {ACCEPT} or {REJECT}"
    if verdict not in (ACCEPT, REJECT):
        return f"{item_id} has the verdict {verdict!r}; expected {ACCEPT} or {REJECT}"
    failed = []
    for name in CHECKS:
        said = cells.get(name, "").casefold()
        if said not in (YES, NO, NONE):
            return f"{item_id} has {said!r} under {name!r}; expected {YES}, {NO} or nothing"
        if said == NO:
            failed.append(name)
    if failed and verdict == ACCEPT:
        return f"{item_id} is accepted, and {failed[0]!r} is {NO}; one of them is wrong"
    return Reviewed(
        item_id=item_id,
        is_accepted=verdict == ACCEPT,
        failed_checks=tuple(failed),
        note=cells.get(NOTE, ""),
        line=line,
    )


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
        checks=tuple(CHECKS.items()),
        counts=tuple(sorted(Counter(row.why for row in rows).items())),
        questions=tuple(zip(rows, sheets, strict=True)),
        letters=ascii_uppercase,
        span_words=span_words,
    )


def _frames(row: ToReview, video: Video | None, n_frames: int) -> Sheet | None:
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
