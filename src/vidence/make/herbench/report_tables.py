"""What a making did, as tables: stages, reasons, tasks, structures, letters, sources."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from vidence.make.pipeline.accounts import Account
from vidence.make.pipeline.material import Draft, VideoSource
from vidence.tables.table import Cell, Column, Row, Table, Value

_LETTERS = "ABCDE"


def _text(key: str, title: str, note: str = "") -> Column:
    return Column(key=key, title=title, note=note, kind="text")


def _number(key: str, title: str, note: str = "") -> Column:
    return Column(key=key, title=title, note=note, kind="count")


def stage_table(account: Account) -> Table:
    """What came into each stage, what came out, and what was dropped for which reasons."""
    return Table(
        name="stages",
        title="Stages",
        note="What came into a stage came out or was dropped; the program checks the sums.",
        label=_text("stage", "stage"),
        columns=(
            _text("unit", "counts"),
            _number("in", "in"),
            _number("out", "out"),
            _number("dropped", "dropped"),
            _text("reasons", "for these reasons"),
        ),
        rows=tuple(
            Row(
                key=stage.stage,
                label=stage.stage,
                values=(
                    stage.unit,
                    stage.n_in,
                    stage.n_out,
                    stage.n_dropped,
                    ", ".join(f"{n:,} {reason}" for reason, n in stage.dropped.items()),
                ),
            )
            for stage in account.stages
        ),
    )


def task_table(drafts: Sequence[Draft]) -> Table:
    """How many questions there are of each task, about how many videos, with how much evidence."""
    by_task: dict[str, list[Draft]] = defaultdict(list)
    for draft in drafts:
        by_task[draft.task].append(draft)
    return Table(
        name="tasks",
        title="Questions by task",
        label=_text("task", "task"),
        columns=(
            _number("n", "questions"),
            _number("videos", "videos"),
            _number("k", "least k", "The fewest separate spans of evidence that an answer needs"),
            _number("spans", "spans", "Spans of evidence, mean"),
            _number("seconds", "seconds", "From the first span to the end of the last, mean"),
            _number("model", "by a model", "What a model wrote waits for a person"),
        ),
        rows=tuple(
            Row(key=task, label=task, values=_task_values(mine)) for task, mine in sorted(by_task.items())
        ),
    )


def _task_values(mine: Sequence[Draft]) -> tuple[Value, ...]:
    spans = [len(draft.evidence) for draft in mine]
    reach = []
    for draft in mine:
        starts = [span.start_s for span in draft.evidence if span.start_s is not None]
        ends = [span.end_s for span in draft.evidence if span.end_s is not None]
        if starts and ends:
            reach.append(max(ends) - min(starts))
    return (
        len(mine),
        len({draft.video_id for draft in mine}),
        min(draft.k for draft in mine),
        f"{sum(spans) / len(spans):.1f}",
        f"{sum(reach) / len(reach):.1f}" if reach else None,
        sum(draft.truth == "model" for draft in mine),
    )


def structure_table(drafts: Sequence[Draft]) -> Table:
    """How many questions there are of each form."""
    counts = Counter((draft.task, draft.structure) for draft in drafts)
    return Table(
        name="structures",
        title="Forms of question",
        label=_text("task", "task"),
        columns=(_text("structure", "form"), _number("n", "questions")),
        rows=tuple(
            Row(key=f"{task} {structure}", label=task, values=(structure, n))
            for (task, structure), n in sorted(counts.items())
        ),
    )


def letter_table(drafts: Sequence[Draft]) -> Table:
    """How often each letter is right, by task and in all."""
    by_task: dict[str, Counter[int]] = defaultdict(Counter)
    for draft in drafts:
        by_task[draft.task][draft.answer_index] += 1
        by_task["all"][draft.answer_index] += 1
    order = [*sorted(name for name in by_task if name != "all"), *(["all"] if drafts else [])]
    return Table(
        name="letters",
        title="Letters of the right answers",
        note="Shares are in per cent; 20 each would be even.",
        label=_text("task", "task"),
        columns=tuple(_number(letter, letter) for letter in _LETTERS),
        rows=tuple(
            Row(
                key=name,
                label=name,
                values=tuple(
                    Cell(value=by_task[name][i] / by_task[name].total(), kind="share")
                    for i in range(len(_LETTERS))
                ),
            )
            for name in order
        ),
    )


def source_table(videos: Sequence[VideoSource], drafts: Sequence[Draft], *, most: int = 200) -> Table:
    """The videos, what is known of them, their licences, and how many questions each has."""
    counts = Counter(draft.video_id for draft in drafts)
    more = f"{len(videos) - most:,} more are not listed." if len(videos) > most else ""
    return Table(
        name="sources",
        title="Sources",
        note=more,
        label=_text("video", "video"),
        columns=(
            _text("collection", "collection"),
            _text("licence", "licence"),
            _number("seconds", "seconds"),
            _text("size", "size"),
            _number("n", "questions"),
        ),
        rows=tuple(
            Row(
                key=video.video_id,
                label=video.video_id,
                values=(
                    video.collection,
                    video.licence,
                    f"{video.duration_s:,.1f}",
                    f"{video.width_px} x {video.height_px}" if video.width_px else "",
                    counts[video.video_id],
                ),
            )
            for video in videos[:most]
        ),
    )
