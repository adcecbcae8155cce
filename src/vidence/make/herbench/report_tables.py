"""What a making did, as tables: stages, reasons, tasks, structures, letters, sources."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from vidence.make.pipeline.ledger import Account
from vidence.make.pipeline.material import Draft, VideoSource
from vidence.tables.cells import Cell, Column, Line, Table, count, share, words

_LETTERS = "ABCDE"


def _text(key: str, title: str, note: str = "") -> Column:
    return Column(key=key, title=title, note=note, is_text=True)


def _number(key: str, title: str, note: str = "") -> Column:
    return Column(key=key, title=title, note=note)


def stage_table(account: Account) -> Table:
    """What came into each stage, what came out, and what was dropped for which reasons."""
    return Table(
        name="stages",
        title="Stages",
        note="What came into a stage came out or was dropped; the program checks the sums.",
        columns=(
            _text("stage", "stage"),
            _text("unit", "counts"),
            _number("in", "in"),
            _number("out", "out"),
            _number("dropped", "dropped"),
            _text("reasons", "for these reasons"),
        ),
        lines=tuple(
            Line(
                key=stage.stage,
                cells=(
                    words(stage.stage),
                    words(stage.unit),
                    count(stage.n_in),
                    count(stage.n_out),
                    count(stage.n_dropped),
                    words(", ".join(f"{n:,} {reason}" for reason, n in stage.dropped.items())),
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
        columns=(
            _text("task", "task"),
            _number("n", "questions"),
            _number("videos", "videos"),
            _number("k", "least k", "The fewest separate spans of evidence that an answer needs"),
            _number("spans", "spans", "Spans of evidence, mean"),
            _number("seconds", "seconds", "From the first span to the end of the last, mean"),
            _number("model", "by a model", "What a model wrote waits for a person"),
        ),
        lines=tuple(Line(key=task, cells=_task_cells(task, mine)) for task, mine in sorted(by_task.items())),
    )


def _task_cells(task: str, mine: Sequence[Draft]) -> tuple[Cell, ...]:
    spans = [len(draft.evidence) for draft in mine]
    reach = []
    for draft in mine:
        starts = [span.start_s for span in draft.evidence if span.start_s is not None]
        ends = [span.end_s for span in draft.evidence if span.end_s is not None]
        if starts and ends:
            reach.append(max(ends) - min(starts))
    return (
        words(task),
        count(len(mine)),
        count(len({draft.video_id for draft in mine})),
        count(min(draft.k for draft in mine)),
        words(f"{sum(spans) / len(spans):.1f}"),
        words(f"{sum(reach) / len(reach):.1f}" if reach else "\N{EN DASH}"),
        count(sum(draft.truth == "model" for draft in mine)),
    )


def structure_table(drafts: Sequence[Draft]) -> Table:
    """How many questions there are of each form."""
    counts = Counter((draft.task, draft.structure) for draft in drafts)
    return Table(
        name="structures",
        title="Forms of question",
        columns=(_text("task", "task"), _text("structure", "form"), _number("n", "questions")),
        lines=tuple(
            Line(key=f"{task} {structure}", cells=(words(task), words(structure), count(n)))
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
        columns=(_text("task", "task"), *(_number(letter, letter) for letter in _LETTERS)),
        lines=tuple(
            Line(
                key=name,
                cells=(
                    words(name),
                    *(share(by_task[name][i] / by_task[name].total()) for i in range(len(_LETTERS))),
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
        columns=(
            _text("video", "video"),
            _text("collection", "collection"),
            _text("licence", "licence"),
            _number("seconds", "seconds"),
            _text("size", "size"),
            _number("n", "questions"),
        ),
        lines=tuple(
            Line(
                key=video.video_id,
                cells=(
                    words(video.video_id),
                    words(video.collection),
                    words(video.licence),
                    words(f"{video.duration_s:,.1f}"),
                    words(f"{video.width_px} x {video.height_px}" if video.width_px else ""),
                    count(counts[video.video_id]),
                ),
            )
            for video in videos[:most]
        ),
    )
