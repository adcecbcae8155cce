"""The papers of a release: its datasheet, and how to cite it."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from vidence import __version__
from vidence.make.gates.letters import LetterCounts
from vidence.make.gates.rules import ReleaseRules
from vidence.make.pipeline.ledger import Account
from vidence.make.pipeline.output import Question
from vidence.make.review.decision import ALL_TASKS, ReviewResult, TaskReview
from vidence.records import Estimate
from vidence.text import visible


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


def datasheet(
    questions: Sequence[Question], splits: Mapping[str, str], rules: ReleaseRules, *, facts: Facts
) -> str:
    """The datasheet, as Markdown."""
    parts = [
        f"# {plain(rules.title or facts.name)}, version {rules.version}",
        f"Made by {facts.maker} (vidence {__version__}) after HERBench's construction. Videos are not "
        "part of this release: put them, or a link to their folder, at `data/videos`.",
        "## What it holds",
        _composition(questions, splits),
        _table(("task", "questions"), sorted(Counter(q.task.title for q in questions).items())),
        _table(
            ("split", "questions", "videos"),
            [
                (
                    name,
                    sum(splits[q.video.video_id] == name for q in questions),
                    sum(one == name for one in splits.values()),
                )
                for name in rules.splits
            ],
        ),
        "## Sources and licences",
        "The licences are those of the videos; what may be done with a question is bounded by them.",
        _sources(questions),
        f"The questions themselves: {plain(rules.licence) if rules.licence else 'no licence is stated'}.",
        "## How drafts became questions",
        "What came into each stage, what came out, and why the rest did not. Every single thing that was "
        "dropped is in `about/dropped.jsonl`.",
        _table(
            ("stage", "counted", "in", "out", "dropped"),
            [
                (s.stage, s.unit, s.n_in, s.n_out, ", ".join(f"{n} {why}" for why, n in s.dropped.items()))
                for s in facts.account.stages
            ],
        ),
        "\n".join(f"- {plain(note)}" for note in facts.account.notes if note not in facts.gates),
        "## Quality gates",
        "\n".join(f"- {plain(sentence)}" for sentence in facts.gates),
        *_letters(facts.letters, questions),
        "## Review by people",
        *_review(facts.review),
        "## What this does not say",
        "The truth of a question comes from tracks, shots, cards and event logs; where these are wrong, so "
        "is the question. What a panel of models does not answer without the video, a stronger one may. "
        "Intervals take questions as independent of each other, which those about one video are not.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _composition(questions: Sequence[Question], splits: Mapping[str, str]) -> str:
    n_model = sum(q.draft.truth == "model" for q in questions)
    said = (
        f"{len(questions):,} questions about {len(splits):,} videos, each with "
        f"{min(q.draft.k for q in questions)} or more spans of evidence that an answer needs."
    )
    if n_model:
        said += f" What is right was given by a model in {n_model:,} of them, and confirmed by a person."
    return said


def _sources(questions: Sequence[Question]) -> str:
    counts: Counter[tuple[str, str]] = Counter()
    videos: dict[tuple[str, str], set[str]] = {}
    for one in questions:
        key = (
            one.video.collection or one.video.video_id,
            one.video.licence or "none stated; allowed by name",
        )
        counts[key] += 1
        videos.setdefault(key, set()).add(one.video.video_id)
    return _table(
        ("source", "licence", "videos", "questions"),
        [(*key, len(videos[key]), n) for key, n in sorted(counts.items())],
    )


def _letters(counts: Sequence[LetterCounts], questions: Sequence[Question]) -> Iterator[str]:
    right = Counter(one.letter for one in questions)
    said = ", ".join(f"{letter} {n}" for letter, n in sorted(right.items()))
    yield f"Right answers of what is released: {said}."
    if not counts:
        return
    yield (
        "Where the right answers stand in what came out of the gates (the last line is of all tasks); "
        "p is of Pearson's statistic against even letters."
    )
    yield _table(
        ("task", "letters A, B, ...", "moved", "fixed", "chi-square", "p"),
        [
            (
                c.task,
                ", ".join(map(str, c.after)),
                c.n_moved,
                c.n_fixed,
                f"{c.chi_square:.2f}",
                f"{c.p_value:.2f}",
            )
            for c in counts
        ],
    )


def _review(result: ReviewResult | None) -> Iterator[str]:
    if result is None:
        yield "No person has looked at these questions."
        return
    yield plain(result.rule)
    yield _table(
        ("task", "questions", "sample", "rejected", "weighted", "queued", "rejected of these", "the rest"),
        [_review_line(line) for line in result.tasks],
    )


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


def _table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    cells = [[cell if i == 1 else plain(str(cell)) for cell in map(str, row)] for i, row in enumerate(lines)]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def citation(rules: ReleaseRules, *, facts: Facts) -> str:
    """A ``CITATION.cff``; quoted as JSON, which YAML reads, so that no text can break it."""
    authors = rules.authors or ("The makers of this set",)
    lines = [
        "cff-version: 1.2.0",
        "type: dataset",
        'message: "Please cite this set of questions, and HERBench, whose construction it follows."',
        f"title: {_quoted(rules.title or facts.name)}",
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


def _quoted(text: str) -> str:
    return json.dumps(visible(text), ensure_ascii=False)
