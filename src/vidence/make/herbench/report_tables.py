"""What a making did, as tables: stages, reasons, tasks, structures, letters, sources."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from vidence.make.pipeline.ledger import Account
from vidence.make.pipeline.material import Draft, VideoSource, truth_kind
from vidence.make.pipeline.output import Question
from vidence.make.review.decision import ALL_TASKS, ReviewResult
from vidence.records import Estimate
from vidence.tables.table import Cell, Column, Row, Table, Value

_LETTERS = "ABCDE"


def plain_table(  # noqa: PLR0917 - in the order in which a table is read
    name: str,
    title: str,
    columns: Sequence[Column],
    rows: Iterable[Sequence[Value | Cell]],
    *,
    note: str = "",
    n_keys: int = 1,
) -> Table:
    """A table whose first column is that of the labels; the first `n_keys` values of a row are its key."""
    return Table(
        name=name,
        title=title,
        note=note,
        label=columns[0],
        columns=tuple(columns[1:]),
        rows=tuple(
            Row(key=" ".join(map(str, row[:n_keys])), label=str(row[0]), values=tuple(row[1:]))
            for row in rows
        ),
    )


def text_column(key: str, title: str = "", *, group: str = "") -> Column:
    """A column of texts; its title is its key where none is given."""
    return Column(key=key, title=title or key, group=group, kind="text")


def number_column(key: str, title: str = "", *, note: str = "") -> Column:
    """A column of numbers; its title is its key where none is given."""
    return Column(key=key, title=title or key, note=note, kind="count")


def stage_table(account: Account) -> Table:
    """What came into each stage, what came out, and what was dropped for which reasons."""
    return plain_table(
        "stages",
        "Stages",
        (
            *(text_column("stage"), text_column("unit", "counts")),
            *(number_column("in"), number_column("out"), number_column("dropped")),
            text_column("reasons", "for these reasons"),
        ),
        (
            (
                s.stage,
                s.unit,
                s.n_in,
                s.n_out,
                s.n_dropped,
                ", ".join(f"{n:,} {r}" for r, n in s.dropped.items()),
            )
            for s in account.stages
        ),
        note="What came into a stage came out or was dropped; the program checks the sums.",
    )


def task_table(drafts: Sequence[Draft]) -> Table:
    """How many questions there are of each task, about how many videos, with how much evidence."""
    by_task: dict[str, list[Draft]] = defaultdict(list)
    for draft in drafts:
        by_task[draft.task].append(draft)
    return plain_table(
        "tasks",
        "Questions by task",
        (
            *(text_column("task"), number_column("n", "questions"), number_column("videos")),
            number_column("k", "least k", note="The fewest moments that an answer needs by construction"),
            number_column("spans", note="Spans of evidence, mean"),
            number_column("seconds", note="From the first span to the end of the last, mean"),
            number_column("model", "by a model", note="What a model wrote waits for a person"),
        ),
        (_task_row(task, mine) for task, mine in sorted(by_task.items())),
    )


def _task_row(task: str, mine: Sequence[Draft]) -> tuple[Value | Cell, ...]:
    spans = [len(draft.evidence) for draft in mine]
    reach = []
    for draft in mine:
        starts = [span.start_s for span in draft.evidence if span.start_s is not None]
        ends = [span.end_s for span in draft.evidence if span.end_s is not None]
        if starts and ends:
            reach.append(max(ends) - min(starts))
    return (
        task,
        len(mine),
        len({draft.video_id for draft in mine}),
        min((draft.k for draft in mine if draft.k is not None), default=0),
        f"{sum(spans) / len(spans):.1f}",
        f"{sum(reach) / len(reach):.1f}" if reach else None,
        sum(draft.is_by_model for draft in mine),
    )


def structure_table(drafts: Sequence[Draft]) -> Table:
    """How many questions there are of each form."""
    counts = Counter((draft.task, draft.structure) for draft in drafts)
    columns = (text_column("task"), text_column("structure", "form"), number_column("n", "questions"))
    rows = ((*form, n) for form, n in sorted(counts.items()))
    return plain_table("structures", "Forms of question", columns, rows, n_keys=2)


def letter_table(drafts: Sequence[Draft]) -> Table:
    """How often each letter is right, by task and in all."""
    by_task: dict[str, Counter[int]] = defaultdict(Counter)
    for draft in drafts:
        by_task[draft.task][draft.answer_index] += 1
        by_task["all"][draft.answer_index] += 1
    order = [*sorted(name for name in by_task if name != "all"), *(["all"] if drafts else [])]
    return plain_table(
        "letters",
        "Letters of the right answers",
        (text_column("task"), *map(number_column, _LETTERS)),
        (
            (
                name,
                *(
                    Cell(value=by_task[name][i] / by_task[name].total(), kind="share")
                    for i in range(len(_LETTERS))
                ),
            )
            for name in order
        ),
        note="Shares are in per cent; 20 each would be even.",
    )


def source_table(videos: Sequence[VideoSource], drafts: Sequence[Draft], *, most: int = 200) -> Table:
    """The videos, what is known of them, their licences, and how many questions each has."""
    counts = Counter(draft.video_id for draft in drafts)
    return plain_table(
        "sources",
        "Sources",
        (
            *(text_column("video"), text_column("collection"), text_column("licence")),
            *(number_column("seconds"), text_column("size"), number_column("n", "questions")),
        ),
        (
            (
                *(video.video_id, video.collection, video.licence),
                f"{video.duration_s:,.1f}",
                f"{video.width_px} x {video.height_px}" if video.width_px else "",
                counts[video.video_id],
            )
            for video in videos[:most]
        ),
        note=f"{len(videos) - most:,} more are not listed." if len(videos) > most else "",
    )


# --------------------------------------------------------------------------- of a release


def truth_table(questions: Sequence[Question]) -> Table:
    """What the answers of each task rest on; figures that differ between videos are left to the items."""
    counts = Counter((one.task.title, truth_kind(one.draft)) for one in questions)
    return plain_table(
        "truths",
        "What the right answers rest on",
        (text_column("task"), text_column("rests on"), number_column("questions")),
        ((task, truth or "not said", n) for (task, truth), n in sorted(counts.items())),
        note="Each item says it in its tag `truth`, for detected tracks with the recall that was measured.",
        n_keys=2,
    )


def demand_table(drafts: Sequence[Draft]) -> Table:
    """For each task `k` by construction, how many were tried, and what proved needed."""
    tasks: dict[str, list[Draft]] = defaultdict(list)
    for one in drafts:
        tasks[one.task].append(one)
    return plain_table(
        "demand",
        "How many moments, apart from each other, an answer needs by the construction of the question (k)",
        (
            *(text_column("task"), number_column("least k"), text_column("mean k"), number_column("tried")),
            *(text_column("least verified"), text_column("mean verified")),
        ),
        (_demand_row(task, mine) for task, mine in sorted(tasks.items())),
    )


def _demand_row(task: str, mine: Sequence[Draft]) -> tuple[Value | Cell, ...]:
    ks = [one.k for one in mine if one.k is not None]
    proved = [one.k_verified for one in mine if one.k_verified is not None]
    least, mean = (str(min(proved)), f"{sum(proved) / len(proved):.1f}") if proved else ("-", "-")
    usual = f"{sum(ks) / len(ks):.1f}" if ks else "-"
    return task, min(ks, default=0), usual, len(proved), least, mean


def demand_words(drafts: Sequence[Draft]) -> str:
    """What was tried of the evidence that questions are said to need, and what was not."""
    n = sum(one.k_verified is not None for one in drafts)
    if not n:
        return "Nobody tried whether an answer needs each of them: spans are stored, not proved necessary."
    rest = len(drafts) - n
    said = (
        f"A model that is right with all spans was tried with one after the other withheld, for {n:,} of "
        f"{len(drafts):,} questions: so many moments proved needed to it as the table says."
    )
    return f"{said} Of the other {rest:,} spans are stored, not proved necessary." if rest else said


def review_table(result: ReviewResult) -> Table:
    """What people said of the questions of each task, and what became of the rest."""
    return plain_table(
        "review",
        "Review by people",
        (
            *(text_column("task"), number_column("questions"), number_column("sample")),
            *(text_column("rejected"), text_column("weighted"), number_column("queued")),
            *(number_column("rejected of these"), text_column("the rest")),
        ),
        (
            (
                *(line.task, line.n, line.n_sample),
                "-" if line.rejected is None else _share(line.rejected),
                "-" if line.weighted is None else f"{100 * line.weighted:.1f} %",
                *(line.n_queued, line.n_queued_rejected),
                "by task" if line.task == ALL_TASKS else f"{line.n_rest} {line.rest}",
            )
            for line in result.tasks
        ),
    )


def _share(share: Estimate) -> str:
    return f"{100 * share.value:.1f} % [{100 * share.low:.1f}, {100 * share.high:.1f}]"
