"""The audit of a sample as a review: drawn questions are revisions, filled lines of a sheet are events."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Final

from vidence.make.review.files import Reviews, read_reviews
from vidence.make.review.filled_sheets import ACCEPT, REJECT, Filled, read_filled, refuse
from vidence.make.review.protocol import load_protocol, protocol_bytes
from vidence.make.review.recording import Recorder, begin, refuse_all, write
from vidence.make.review.revisions import Event, Kind
from vidence.make.review.sample import ToReview
from vidence.make.review.sheet import PROTOCOL, Reviewed, audit, span_words
from vidence.make.review.states import failed_checks

MAKER, SHEET = "make-herbench", "sheet"
"""The pseudonyms of the program that puts questions in, and of whoever filled a sheet in."""
_UNKNOWN_TIME: Final = "1970-01-01T00:00:00.000000Z"
_VERDICTS: Final[Mapping[str, Kind]] = {ACCEPT: "accept", REJECT: "reject"}


def read_csv(paths: Sequence[Path], rows: Sequence[ToReview]) -> tuple[Reviewed, ...]:
    """What people filled in, in the order of `rows`, by the rules of `filled_sheets.read_filled`.

    The lines become events of a review that is kept nowhere; what counts are the states that they lead to.

    Raises:
        DataError: a file cannot be read, lacks a column, or lines of it cannot be used.
    """
    reviews = put_in(Reviews.of(load_protocol(PROTOCOL), (), ()), rows, at=_UNKNOWN_TIME)[1]
    return said_of(take_sheets(reviews, paths, rows, at=_UNKNOWN_TIME)[1], rows)


def read_folder(
    folder: Path, paths: Sequence[Path], rows: Sequence[ToReview], *, at: str
) -> tuple[Reviewed, ...]:
    """What a review of `vidence review` says of questions, in the order of `rows`.

    The folder is begun where it is not there; questions that it lacks and lines of sheets that it does not
    have yet are added to it.

    Args:
        folder: of the review.
        paths: filled sheets; empty where people work in the folder alone.
        rows: the questions that are looked at.
        at: when this is done, in UTC.

    Raises:
        UsageError: the folder is reviewed by another protocol.
        DataError: a sheet cannot be used, or says something else than the review.
        StoreError: the folder cannot be written.
    """
    begin(folder, protocol_bytes(PROTOCOL))
    put, reviews = put_in(read_reviews(folder), rows, at=at)
    taken, reviews = take_sheets(reviews, paths, rows, at=at)
    write(folder, (put, taken))
    return said_of(reviews, rows)


def review_id(row: ToReview) -> str:
    """The name of a question in a review: another one where what is asked was changed.

    Numbers of questions move when a video is added, so that they are no names here.
    """
    return f"{row.question.draft.draft_id}.{row.check}"


def wording_of(row: ToReview) -> dict[str, object]:
    """What a review keeps of a question, and shows to whoever looks at it."""
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
        "facts": dict(draft.facts),
        "tags": {"task": draft.task, "structure": draft.structure},
    }


def put_in(reviews: Reviews, rows: Sequence[ToReview], *, at: str) -> tuple[Recorder, Reviews]:
    """Questions that a review does not have, as events; and the review with them.

    Raises:
        DataError: a question cannot be put in.
    """
    recorder = Recorder(reviews, by=MAKER, role="author", at=at)
    faults = []
    for row in rows:
        name = review_id(row)
        if name not in reviews.states or reviews.states[name].state == "drafting":
            faults.append(recorder.revise(name, wording_of(row), kind="submit", origin="import"))
    refuse_all(list(filter(None, faults)), what="questions cannot be put into the review")
    return recorder, _with(reviews, recorder)


def take_sheets(
    reviews: Reviews, paths: Sequence[Path], rows: Sequence[ToReview], *, at: str
) -> tuple[Recorder, Reviews]:
    """The lines of sheets as events, but for those that the review has already; and the review with them.

    Raises:
        DataError: a file or a line cannot be used, or a line says something else than the review does.
    """
    names = {row.question.question_id: review_id(row) for row in rows}
    checks = {row.question.question_id: row.check for row in rows}
    recorder = Recorder(reviews, by=SHEET, role="reviewer", at=at)
    faults = []
    for one in read_filled(paths, checks, stage=audit(), verdicts=tuple(_VERDICTS)):
        if fault := _taken(recorder, reviews, one, name=names[one.item_id]):
            faults.append(f"line {one.line}: {fault}")
    refuse(paths, faults)
    return recorder, _with(reviews, recorder)


def _taken(recorder: Recorder, reviews: Reviews, one: Filled, *, name: str) -> str:
    """Record a line; what is wrong with it, empty where nothing is."""
    last = _deciding(reviews, name)
    if last is None:
        return recorder.add("claim", name) or recorder.add(_VERDICTS[one.verdict], name, said=one)
    is_known = last.kind == one.verdict and (last.by != SHEET or last.message == one.note.strip())
    return "" if is_known else f"{one.item_id} is decided in the review already, {last.kind} by {last.by}"


def said_of(reviews: Reviews, rows: Sequence[ToReview]) -> tuple[Reviewed, ...]:
    """What people decided of questions; those that wait, or are disputed, are not among them."""
    found = []
    for row in rows:
        event = _deciding(reviews, review_id(row))
        if event is not None:
            found.append(
                Reviewed(
                    item_id=row.question.question_id,
                    is_accepted=event.kind == "accept",
                    failed_checks=failed_checks(event, audit()),
                    note=event.message,
                )
            )
    return tuple(found)


def _deciding(reviews: Reviews, name: str) -> Event | None:
    """The last event that says what an item came to; None where it has not come to an end."""
    state = reviews.states.get(name)
    kind = {"accepted": "accept", "rejected": "reject"}.get(state.state, "") if state is not None else ""
    refused = {event.event_id for event, _ in reviews.folded.refused}
    mine = reversed(reviews.events_of.get(name, ()))
    return next((one for one in mine if one.kind == kind and one.event_id not in refused), None)


def _with(reviews: Reviews, recorder: Recorder) -> Reviews:
    return Reviews.of(
        reviews.protocol,
        (*reviews.revisions.values(), *recorder.revisions),
        (*reviews.events, *recorder.events),
    )
