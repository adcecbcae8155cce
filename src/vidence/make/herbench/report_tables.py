"""Tables of a `make` run: stages, reasons, tasks, structures, letters, sources."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Final

from vidence.make.pipeline.ledger import Account
from vidence.make.pipeline.material import Draft, VideoSource, truth_kind
from vidence.make.pipeline.output import Question
from vidence.make.review.decision import ALL_TASKS, ReviewResult
from vidence.records import Estimate, by_key
from vidence.tables.table import Cell, Column, RowSpec, Table, count, lines, tabulate, words

_LETTERS = "ABCDE"
_MOST_SOURCES = 200
_SPANS: Final = "Spans of evidence, mean"
_BY_MODEL: Final = "What a model wrote waits for a person"
TASK: Final = Column(key="task", title="task", kind="text")


def _mean(values: Sequence[float]) -> str:
    return f"{sum(values) / len(values):.1f}"


def _by_task(drafts: Sequence[Draft]) -> dict[str, list[Draft]]:
    return dict(sorted(by_key((draft.task, draft) for draft in drafts).items()))


def stage_table(account: Account) -> Table:
    """What came into each stage, what came out, and what was dropped for which reasons."""
    return tabulate(
        "stages",
        "Stages",
        label=Column(key="stage", title="stage", kind="text"),
        rows=lines((stage.stage, stage) for stage in account.stages),
        measures=(
            words("unit", lambda stage_account: stage_account.unit, "counts"),
            count("in", lambda stage_account: stage_account.n_in),
            count("out", lambda stage_account: stage_account.n_out),
            count("dropped", lambda stage_account: stage_account.n_dropped),
            words(
                "reasons",
                lambda stage_account: ", ".join(f"{n:,} {why}" for why, n in stage_account.dropped.items()),
                "for these reasons",
            ),
        ),
        notes=("What came into a stage came out or was dropped; the program checks the sums.",),
    )


def task_table(drafts: Sequence[Draft]) -> Table:
    """How many questions there are of each task, about how many videos, with how much evidence."""
    return tabulate(
        "tasks",
        "Questions by task",
        label=TASK,
        rows=lines(_by_task(drafts).items()),
        measures=(
            count("n", len, "questions"),
            count("videos", lambda mine: len({draft.video_id for draft in mine})),
            count(
                "k",
                lambda mine: min((draft.k for draft in mine if draft.k is not None), default=0),
                "least k",
                note="The fewest moments that an answer needs by construction",
            ),
            count("spans", lambda mine: _mean([len(draft.evidence) for draft in mine]), note=_SPANS),
            count("seconds", _seconds, note="From the first span to the end of the last, mean"),
            count(
                "model", lambda mine: sum(draft.is_by_model for draft in mine), "by a model", note=_BY_MODEL
            ),
        ),
    )


def _seconds(drafts: Sequence[Draft]) -> str | None:
    reach = []
    for draft in drafts:
        starts = [span.start_s for span in draft.evidence if span.start_s is not None]
        ends = [span.end_s for span in draft.evidence if span.end_s is not None]
        if starts and ends:
            reach.append(max(ends) - min(starts))
    return _mean(reach) if reach else None


def structure_table(drafts: Sequence[Draft]) -> Table:
    """How many questions there are of each form."""
    counts = Counter((draft.task, draft.structure) for draft in drafts)
    return tabulate(
        "structures",
        "Forms of question",
        label=TASK,
        rows=(RowSpec(" ".join(form), form[0], form) for form in sorted(counts)),
        measures=(words("structure", lambda form: form[1], "form"), count("n", counts.get, "questions")),
    )


def letter_table(drafts: Sequence[Draft]) -> Table:
    """How often each letter is right, by task and in all."""

    def share_of(place: int, mine: Sequence[Draft]) -> Cell:
        return Cell(value=sum(draft.answer_index == place for draft in mine) / len(mine), kind="share")

    everything = {"all": drafts} if drafts else {}
    return tabulate(
        "letters",
        "Letters of the right answers",
        label=TASK,
        rows=lines((_by_task(drafts) | everything).items()),
        measures=[count(letter, partial(share_of, i)) for i, letter in enumerate(_LETTERS)],
        notes=("Shares are in per cent; 20 each would be even.",),
    )


def source_table(videos: Sequence[VideoSource], drafts: Sequence[Draft]) -> Table:
    """The videos, what is known of them, their licences, and how many questions each has."""
    counts = Counter(draft.video_id for draft in drafts)
    more = len(videos) - _MOST_SOURCES
    return tabulate(
        "sources",
        "Sources",
        label=Column(key="video", title="video", kind="text"),
        rows=lines((video.video_id, video) for video in videos[:_MOST_SOURCES]),
        measures=(
            words("collection", lambda video: video.collection),
            words("licence", lambda video: video.licence),
            count("seconds", lambda video: f"{video.duration_s:,.1f}"),
            words("size", lambda video: f"{video.width_px} x {video.height_px}" if video.width_px else ""),
            count("n", lambda video: counts[video.video_id], "questions"),
        ),
        notes=(f"{more:,} more are not listed." if more > 0 else "",),
    )


# --------------------------------------------------------------------------- of a release


def truth_table(questions: Sequence[Question]) -> Table:
    """What the answers of each task rest on; figures that differ between videos are left to the items."""
    counts = Counter((question.task.title, truth_kind(question.draft)) for question in questions)
    return tabulate(
        "truths",
        "What the right answers rest on",
        label=TASK,
        rows=(RowSpec(f"{task} {on or 'not said'}", task, (task, on)) for task, on in sorted(counts)),
        measures=(words("rests on", lambda pair: pair[1] or "not said"), count("questions", counts.get)),
        notes=(
            "Each item says it in its tag `truth`, for detected tracks with the recall that was measured.",
        ),
    )


def demand_table(drafts: Sequence[Draft]) -> Table:
    """For each task `k` by construction, how many were tried, and what proved needed."""

    def ks(mine: Sequence[Draft]) -> list[int]:
        return [draft.k for draft in mine if draft.k is not None]

    def proved(mine: Sequence[Draft]) -> list[int]:
        return [draft.k_verified for draft in mine if draft.k_verified is not None]

    return tabulate(
        "demand",
        "How many moments, apart from each other, an answer needs by the construction of the question (k)",
        label=TASK,
        rows=lines(_by_task(drafts).items()),
        measures=(
            count("least k", lambda mine: min(ks(mine), default=0)),
            words("mean k", lambda mine: _mean(ks(mine)) if ks(mine) else "-"),
            count("tried", lambda mine: len(proved(mine))),
            words("least verified", lambda mine: str(min(proved(mine), default="-"))),
            words("mean verified", lambda mine: _mean(proved(mine)) if proved(mine) else "-"),
        ),
    )


def demand_words(drafts: Sequence[Draft]) -> str:
    """Summarize which claimed evidence was tested for necessity."""
    n = sum(draft.k_verified is not None for draft in drafts)
    if not n:
        return "No gate tested whether an answer needs each of them: spans are stored, not proved necessary."
    rest = len(drafts) - n
    demand_words = (
        f"A model that is right with all spans was tried with one after the other withheld, for {n:,} of "
        f"{len(drafts):,} questions: so many moments proved needed to it as the table says."
    )
    return (
        f"{demand_words} Of the other {rest:,} spans are stored, not proved necessary."
        if rest
        else demand_words
    )


def review_table(result: ReviewResult) -> Table:
    """Tabulate the review by task, and the outcome of unreviewed questions."""
    return tabulate(
        "review",
        "Review by people",
        label=TASK,
        rows=lines((line.task, line) for line in result.tasks),
        measures=(
            count("questions", lambda line: line.n),
            count("sample", lambda line: line.n_sample),
            words("rejected", lambda line: "-" if line.rejected is None else _share(line.rejected)),
            words("weighted", lambda line: "-" if line.weighted is None else f"{100 * line.weighted:.1f} %"),
            count("queued", lambda line: line.n_queued),
            count("rejected of these", lambda line: line.n_queued_rejected),
            words(
                "the rest", lambda line: "by task" if line.task == ALL_TASKS else f"{line.n_rest} {line.rest}"
            ),
        ),
    )


def _share(share: Estimate) -> str:
    return f"{100 * share.value:.1f} % [{100 * share.low:.1f}, {100 * share.high:.1f}]"
