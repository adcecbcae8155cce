"""After the gates: human review, and release."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vidence.errors import MediaError
from vidence.make.gates.gate_sequence import VERDICTS_FILE, Gated
from vidence.make.gates.model_gates import open_ones
from vidence.make.gates.rules import ReviewRules
from vidence.make.herbench.report_tables import (
    demand_table,
    demand_words,
    letter_table,
    review_table,
    truth_table,
)
from vidence.make.herbench.session import HerbenchSession, VideoState
from vidence.make.pipeline.cache import digest_of
from vidence.make.pipeline.ledger import write_file
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.output import Question, json_file, json_lines
from vidence.make.release.made_release import ReleaseExtras, release_questions
from vidence.make.release.papers import NO_SECTION, Section
from vidence.make.review.audit import PAGE_VERSION, as_page, read_audit, wording_of
from vidence.make.review.decision import (
    REVIEW,
    ReviewResult,
    clean_needed,
    decide_review,
    plan_review,
    plan_table,
    plan_words,
)
from vidence.make.review.sample import ReviewSample, draw_sample
from vidence.media.video import Video
from vidence.records import by_key
from vidence.text import quoted

RESULT_FILE, DRAWN_FILE = "result.json", "questions.jsonl"
"""What was decided, and the questions that people look at as a review keeps them."""
_ON_A_PAGE = 200


@dataclass(frozen=True, kw_only=True)
class Reviewing:
    """Questions left after review; `result` is None without review; `is_pending` if some wait."""

    questions: tuple[Question, ...]
    result: ReviewResult | None = None
    is_pending: bool = False


def review(
    work: HerbenchSession, questions: tuple[Question, ...], videos: Sequence[VideoState], *, gated: Gated
) -> Reviewing:
    """Submit questions for review and apply the verdicts; files and messages go to the session.

    Raises:
        UsageError: the folder is reviewed by another protocol.
        DataError: the review has faults.
        StoreError: it cannot be written.
    """
    rules, config = work.config.review, work.config
    if rules is None:
        if config.release is None:
            return Reviewing(questions=questions)
        work.ledger.notes.append("the configuration has no [review]; no person looks at the questions")
        return Reviewing(questions=_without_doubtful(work, questions, gated))
    drawn = draw_sample(questions, rules, seed=config.seed, open_gates=open_ones(gated.verdicts))
    folder, place = work.out / REVIEW, work.root / rules.folder
    work.files += _pages(work, drawn, videos, folder=folder, n_frames=rules.frames)
    at = work.context.clock().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    spoken = read_audit(drawn.rows, folder=place, at=at)
    draw = (
        f"`vidence items review draw {quoted(place)} --by NAME` writes a sheet, "
        "`vidence items review read` reads it"
    )
    if not spoken:
        review = (
            f"{len(drawn.rows):,} questions wait for people: look at {work.files[-1]}; {draw}; then call "
            "this again."
        )
        work.ledger.notes.append("no person has looked at the questions yet")
        plans = plan_review(questions, drawn, rules)
        if config.release is not None and config.release.unreviewed:
            questions = _without_doubtful(work, questions, gated)
        work.sentences += (review, f"Review: {plan_words(plans, rules)}")
        work.tables.append(plan_table(plans))
        return Reviewing(questions=questions, is_pending=True)
    result, kept, dropped = decide_review(questions, drawn, said=spoken, rules=rules)
    _close(work, REVIEW, questions, kept=kept, dropped=dropped)
    write_file(folder / RESULT_FILE, json_file(result))
    work.files.append(folder / RESULT_FILE)
    rests = ", ".join(f"{line.task} {line.rest}" for line in result.tasks[:-1])
    work.sentences.append(f"Review: {len(kept):,} of {len(questions):,} questions stay ({rests}).")
    n_waiting = len(drawn.rows) - len(spoken)
    if n_waiting:
        work.sentences.append(
            f"{n_waiting:,} questions wait for people: {draw}; then call this again; what depends on them is "
            "held back."
        )
    work.sentences += _ways_on(result, rules)
    if any(task.rest == "held-back" for task in result.tasks) and config.release is not None:
        work.sentences.append(
            "What is released stays as it is: give a larger release another version in [release]."
        )
    return Reviewing(questions=kept, result=result, is_pending=bool(n_waiting))


def _ways_on(result: ReviewResult, rules: ReviewRules) -> Iterator[str]:
    """Return what is held back and how to continue."""
    held = [task for task in result.tasks if task.rest == "held-back"]
    for review in held:
        needed = clean_needed(rules, n_rejected=review.n_sample_rejected, start=review.n_sample)
        way = (
            f"each_task = {needed} in [review] and {needed - review.n_sample:,} more reviews without "
            "a rejection"
        )
        if needed >= review.n_sample + review.n_rest:
            way = "looking at all of them (share = 1.0 in [review])"
        yield (
            f"{review.task}: {review.n_rest:,} held back, {review.n_sample_rejected} of "
            f"{review.n_sample} looked at were "
            f"rejected; {way} would release them, and this command goes on."
        )


def _without_doubtful(
    work: HerbenchSession, questions: tuple[Question, ...], gated: Gated
) -> tuple[Question, ...]:
    """Drop questions that need a person: unverified by programs, or left open by a gate."""
    opened = open_ones(gated.verdicts)
    dropped = [
        Dropped(what=question.draft.draft_id, stage=REVIEW, reason="not-confirmed-by-a-person")
        for question in questions
        if question.draft.doubt or question.draft.draft_id in opened
    ]
    gone = {entry.what for entry in dropped}
    kept = tuple(question for question in questions if question.draft.draft_id not in gone)
    _close(work, REVIEW, questions, kept=kept, dropped=dropped)
    return kept


def _close(
    work: HerbenchSession,
    stage: str,
    questions: Sequence[Question],
    *,
    kept: Sequence[Question],
    dropped: Sequence[Dropped],
) -> None:
    """Close the account of a stage that keeps some of the questions."""
    work.close(
        stage,
        unit="drafts",
        taken=[question.draft.draft_id for question in questions],
        kept=[question.draft.draft_id for question in kept],
        dropped=dropped,
    )


def _pages(
    work: HerbenchSession, drawn: ReviewSample, videos: Sequence[VideoState], *, folder: Path, n_frames: int
) -> tuple[Path, ...]:
    """Write what is missing of the pages to look at, with at most 200 questions each."""
    write_file(folder / DRAWN_FILE, json_lines(wording_of(row) for row in drawn.rows))
    pages = [drawn.rows[i : i + _ON_A_PAGE] for i in range(0, max(1, len(drawn.rows)), _ON_A_PAGE)]
    files: list[Path] = []
    for number, rows in enumerate(pages, start=1):
        path = folder / (f"sheet-{number}.html" if len(pages) > 1 else "sheet.html")
        files.append(path)
        asked = [(r.question.question_id, r.why, r.note, r.check, r.question.draft.facts) for r in rows]
        here = [video.video_id for video in videos if video.source.file is not None]
        key = digest_of([PAGE_VERSION, work.config.name, n_frames, asked, here])
        mark = f"<!-- {key} -->\n".encode()
        if _ends_with(path, mark):
            continue
        opened = _opened(work, videos, {row.question.draft.video_id for row in rows})
        page = as_page(rows, opened, title=work.config.name, n_frames=n_frames)
        write_file(path, page.encode() + b"\n" + mark)
    return tuple(files)


def _ends_with(path: Path, mark: bytes) -> bool:
    """Return whether an up-to-date page exists."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - len(mark)))
            return file.read() == mark
    except OSError:
        return False


def _opened(work: HerbenchSession, videos: Sequence[VideoState], needed: Collection[str]) -> dict[str, Video]:
    opened: dict[str, Video] = {}
    for state in videos:
        try:
            if state.video_id in needed and (video := state.open(work)) is not None:
                opened[state.video_id] = video
        except MediaError as error:
            work.trouble(f"review: no frames of {state.video_id} ({error})")
    return opened


def release(work: HerbenchSession, reviewing: Reviewing, *, gated: Gated) -> tuple[Question, ...]:
    """Release what the review left, if it is complete; return the remaining questions.

    Raises:
        VidenceError: as for `release_questions`.
    """
    config, questions = work.config, reviewing.questions
    rules, drafts = config.release, [question.draft for question in questions]
    if rules is not None and reviewing.is_pending and not rules.unreviewed:
        work.sentences.append(
            "Nothing is released while questions wait for people, unless [release] says unreviewed = true."
        )
        return questions
    verdicts = by_key((verdict.item_id, verdict) for verdict in gated.verdicts)
    result = reviewing.result
    extras = ReleaseExtras(
        rows={
            VERDICTS_FILE: {
                question.question_id: json_lines(verdicts[question.draft.draft_id]).rstrip()
                for question in questions
                if question.draft.draft_id in verdicts
            }
        },
        making=Section(
            sentences=(*gated.words, *gated.notes, demand_words(drafts)),
            tables=(truth_table(questions), demand_table(drafts), letter_table(drafts)),
        ),
        reviewed=NO_SECTION
        if result is None
        else Section(sentences=(result.rule,), tables=(review_table(result),)),
        is_decided=True,
    )
    items = [question.item for question in questions]
    left = release_questions(work, items, config, media_root=work.out, extras=extras)
    kept = {item.item_id for item in left}
    return tuple(question for question in questions if question.question_id in kept)
