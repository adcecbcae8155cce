"""The papers of a release: its datasheet, how to cite it, and what the Hugging Face hub reads of it."""

import functools
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import jinja2
from markupsafe import Markup

from vidence.installation import __version__
from vidence.make.gates.letters import LetterCounts
from vidence.make.gates.rules import ReleaseRules
from vidence.make.pipeline.ledger import Account
from vidence.make.pipeline.output import Question, item_of
from vidence.make.pipeline.truth import truth_kind
from vidence.make.review.decision import ALL_TASKS, ReviewResult, TaskReview
from vidence.records import Estimate
from vidence.report.set_statistics import Described, describe
from vidence.tables.table import Table, shown_columns, shown_rows
from vidence.text import visible

_STATISTICS = ("words", "counts", "videos", "evidence", "vocabulary")


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is known of a making.

    `gates` are sentences about the gates that were used, and about those that were not; without `review`
    nobody has looked at the questions.
    """

    name: str
    maker: str
    account: Account
    gates: Sequence[str]
    letters: Sequence[LetterCounts] = ()
    review: ReviewResult | None = None


def plain(text: str) -> str:
    """A foreign text that no Markdown can hide in, on one line."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>#|" else c for c in " ".join(visible(text).split()))


def rendered(template: str, **values: object) -> str:
    """A template of Markdown with all texts of others as `plain` ones."""
    return _environment().get_template(template).render(version=__version__, table=_table, **values)


@functools.cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("vidence.make"),
        autoescape=False,  # noqa: S701 - Markdown, in which `plain` lets no markup stand
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: plain(value) if type(value) is str else value,
        trim_blocks=True,
        keep_trailing_newline=True,
    )


def datasheet(
    questions: Sequence[Question], splits: Mapping[str, str], rules: ReleaseRules, *, facts: Facts
) -> str:
    """The datasheet, as Markdown: ``datasheet.md.j2``."""
    right = Counter(one.letter for one in questions)
    described = _described(questions, facts)
    return rendered(
        "datasheet.md.j2",
        questions=questions,
        splits=splits,
        rules=rules,
        facts=facts,
        of_truths=_truths(questions),
        n_counted=sum(one.draft.doubt == "paper-count" for one in questions),
        n_spans=min(len(one.draft.evidence) for one in questions),
        described=described,
        statistics=statistics_of(described),
        demand=demand_words(questions),
        of_demand=_demand(questions),
        unknown=_unknown(questions),
        n_model=sum(one.draft.is_by_model for one in questions),
        letters=", ".join(f"{letter} {n}" for letter, n in sorted(right.items())),
        of_tasks=sorted(Counter(one.task.title for one in questions).items()),
        of_splits=[
            (
                name,
                sum(splits[one.video.video_id] == name for one in questions),
                sum(split == name for split in splits.values()),
            )
            for name in rules.splits
        ],
        of_sources=_sources(questions),
        of_stages=stages_of(facts.account),
        of_letters=[
            (
                c.task,
                ", ".join(map(str, c.after)),
                c.n_moved,
                c.n_fixed,
                f"{c.chi_square:.2f}",
                f"{c.p_value:.2f}",
            )
            for c in facts.letters
        ],
        of_review=[_review_line(line) for line in (facts.review.tasks if facts.review else ())],
    )


def _described(questions: Sequence[Question], facts: Facts) -> Described:
    """The statistics of the questions as items, with the lengths of the videos that are known."""
    items = [item_of(one, maker=facts.maker) for one in questions]
    seconds = {
        item.video_id: one.video.duration_s
        for item, one in zip(items, questions, strict=True)
        if one.video.duration_s > 0
    }
    return describe(items, name=facts.name, durations_s=seconds)


def stages_of(account: Account) -> list[tuple[object, ...]]:
    """For each stage what came in, what came out, and why the rest did not."""
    return [
        (s.stage, s.unit, s.n_in, s.n_out, ", ".join(f"{n} {why}" for why, n in s.dropped.items()))
        for s in account.stages
    ]


@dataclass(frozen=True, kw_only=True)
class Statistic:
    """A table of the statistics as a datasheet has it."""

    title: str
    note: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def statistics_of(described: Described) -> list[Statistic]:
    """The tables of the statistics that a datasheet has."""
    return [statistic_of(one) for one in described.tables if one.name in _STATISTICS]


def statistic_of(table: Table) -> Statistic:
    """A table as a datasheet has it."""
    return Statistic(
        title=table.title,
        note=table.note,
        headings=tuple(column.title for column in shown_columns(table)),
        rows=tuple(tuple(cell.text for cell in row.cells) for row in shown_rows(table)),
    )


def demand_words(questions: Sequence[Question]) -> str:
    """What was tried of the evidence that questions are said to need, and what was not."""
    n = sum(one.draft.k_verified is not None for one in questions)
    if not n:
        return "Nobody tried whether an answer needs each of them: spans are stored, not proved necessary."
    rest = len(questions) - n
    said = (
        f"A model that is right with all spans was tried with one after the other withheld, for {n:,} of "
        f"{len(questions):,} questions: so many moments proved needed to it as the table says."
    )
    return f"{said} Of the other {rest:,} spans are stored, not proved necessary." if rest else said


def _demand(questions: Sequence[Question]) -> list[tuple[str, int, str, int, str, str]]:
    """For each task: `k` by construction, how many were tried, and what proved needed."""
    tasks: dict[str, list[Question]] = {}
    for one in questions:
        tasks.setdefault(one.draft.task, []).append(one)
    lines = []
    for task, mine in sorted(tasks.items()):
        ks = [one.draft.k for one in mine if one.draft.k is not None]
        proved = [one.draft.k_verified for one in mine if one.draft.k_verified is not None]
        least, mean = (f"{min(proved)}", f"{sum(proved) / len(proved):.1f}") if proved else ("-", "-")
        usual = f"{sum(ks) / len(ks):.1f}" if ks else "-"
        lines.append((task, min(ks, default=0), usual, len(proved), least, mean))
    return lines


def _unknown(questions: Sequence[Question]) -> str:
    """What a reader may look for and nothing here says."""
    n_videos = len({one.video.video_id for one in questions})
    no_length = len({one.video.video_id for one in questions if one.video.duration_s <= 0})
    no_origin = len({one.video.video_id for one in questions if not one.video.source_id})
    lacks = ["whether scenes are indoors or outdoors", "how well people answer these questions"]
    if no_length:
        lacks.append(f"the length of {no_length:,} of {n_videos:,} videos")
    if no_origin:
        lacks.append(
            f"the film or recording that {no_origin:,} of {n_videos:,} videos were cut from (no source_id: "
            "each counts as its own)"
        )
    return "; ".join(lacks)


def _sources(questions: Sequence[Question]) -> list[tuple[str, str, int, int]]:
    """For each source and licence how many videos and questions there are."""
    counts: Counter[tuple[str, str]] = Counter()
    videos: dict[tuple[str, str], set[str]] = {}
    for one in questions:
        key = (
            one.video.collection or one.video.video_id,
            one.video.licence or "none stated; allowed by name",
        )
        counts[key] += 1
        videos.setdefault(key, set()).add(one.video.video_id)
    return [(*key, len(videos[key]), n) for key, n in sorted(counts.items())]


def _truths(questions: Sequence[Question]) -> list[tuple[str, str, int]]:
    """What the answers of each task rest on; figures that differ between videos are left to the items."""
    counts = Counter((one.task.title, truth_kind(one.draft)) for one in questions)
    return [(task, truth or "not said", n) for (task, truth), n in sorted(counts.items())]


def _review_line(line: TaskReview) -> tuple[object, ...]:
    rest = "by task" if line.task == ALL_TASKS else f"{line.n_rest} {line.rest}"
    weighted = "-" if line.weighted is None else f"{100 * line.weighted:.1f} %"
    return (
        *(line.task, line.n, line.n_sample, share_words(line.rejected), weighted),
        *(line.n_queued, line.n_queued_rejected, rest),
    )


def share_words(share: Estimate | None) -> str:
    """A share with its interval.

    >>> share_words(None)
    '-'
    """
    if share is None:
        return "-"
    return f"{100 * share.value:.1f} % [{100 * share.low:.1f}, {100 * share.high:.1f}]"


def _table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> Markup:
    lines = [headings, ["---"] * len(headings), *rows]
    cells = [[cell if i == 1 else plain(str(cell)) for cell in map(str, row)] for i, row in enumerate(lines)]
    text = "\n".join(f"| {' | '.join(row)} |" for row in cells)
    return Markup(text)  # noqa: S704 - its cells are plain


def citation(rules: ReleaseRules, *, name: str, message: str) -> str:
    """A ``CITATION.cff``; quoted as JSON, which YAML reads, so that no text can break it."""
    authors = rules.authors or ("The makers of this set",)
    lines = [
        "cff-version: 1.2.0",
        "type: dataset",
        f"message: {_quoted(message)}",
        f"title: {_quoted(rules.title or name)}",
        f"version: {_quoted(rules.version)}",
        "authors:",
        *(f"  - name: {_quoted(name)}" for name in authors),
    ]
    for key, value in (
        ("date-released", rules.date),
        ("license", rules.licence),
        ("url", rules.url),
    ):
        if value:
            lines.append(f"{key}: {_quoted(value)}")
    if rules.contact:
        lines += ["contact:", f"  - name: {_quoted(rules.contact)}"]
    return "\n".join(lines) + "\n"


def eval_yaml(rules: ReleaseRules, splits: Sequence[str], *, name: str, said: str) -> str:
    """What the Hugging Face hub reads of a benchmark: ``eval.yaml`` of its data set, a task for each split.

    Quoted as JSON, as `citation`. The framework is vidence: those that the hub lists ask without the video.

    Args:
        rules: under which title.
        splits: those whose answers are released.
        name: of the set.
        said: what it holds.
    """
    lines = [
        f"name: {_quoted(rules.title or name)}",
        f"description: {_quoted(said)}",
        "evaluation_framework: vidence",
        "tasks:",
    ]
    for split in splits:
        lines += [f"  - id: {_quoted(f'{name}-{split}')}", f"    split: {_quoted(split)}"]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(visible(text), ensure_ascii=False)
