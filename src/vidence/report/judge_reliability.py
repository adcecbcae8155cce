"""The whole account of how far judges can be relied on: from runs, verdicts and labels to every figure."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np

from vidence.catalog import parse_spec
from vidence.engine.judges import JudgedReply
from vidence.engine.specs import short_name, short_names
from vidence.errors import DataError, UsageError
from vidence.records import Estimate, Record
from vidence.report import judge_figures as figures
from vidence.report.judge_labels import (
    Key,
    Labels,
    majority,
    mean_correct,
    mean_points,
    read_labels,
    run_by_name,
)
from vidence.report.results import Row, Run
from vidence.report.side_by_side import run_names
from vidence.statistics.intervals import mean_interval
from vidence.tables.table import several

JSON_FORMAT = "vidence-judges/1"
T = TypeVar("T")
_PROVIDERS = {"openai": "openai", "anthropic": "anthropic", "gemini": "google"}


class Judges(Record):
    """Every figure about judges: against people, and among themselves."""

    n_replies: int
    n_labelled: int
    n_tied: int
    raters: tuple[str, ...]
    judges: tuple[str, ...]
    agreement: tuple[figures.Agreement, ...] = ()
    wins: tuple[figures.Wins, ...] = ()
    standings: tuple[figures.Standing, ...] = ()
    orders: tuple[figures.Order, ...] = ()
    levels: tuple[figures.Level, ...] = ()
    own: tuple[figures.SelfPreference, ...] = ()
    arms: tuple[figures.Arms, ...] = ()
    scores: "tuple[ModelScore, ...]" = ()
    notes: tuple[str, ...] = ()


class ModelScore(Record):
    """The accuracy of one model by a judge, or by people."""

    by: str
    run: str
    accuracy: Estimate


# --------------------------------------------------------------------------- from files to arrays


@dataclass(frozen=True, kw_only=True)
class Material:
    """The replies of some runs, what people and judges said of them, and the names of both."""

    keys: tuple[Key, ...]
    replies: figures.Replies
    judges: tuple[figures.JudgeVerdicts, ...]
    labels: Labels | None
    n_tied: int
    means: figures.Numbers
    """The share of raters that find each reply right; NaN without raters."""


def names_of(runs: Sequence[Run]) -> tuple[tuple[str, ...], dict[str, str]]:
    """What runs are called, and what else a table of labels may call them: model, short name, folder."""
    names = run_names(runs)
    others = [(run.plan.model, short_name(run.plan.model), run.name, str(run.folder)) for run in runs]
    return names, run_by_name(names, others)


def _replied(runs: Sequence[Run]) -> Iterator[tuple[Key, Row]]:
    """The trials with a reply, each with its key."""
    for name, run in zip(run_names(runs), runs, strict=True):
        for row in run.rows:
            if row.trial.reply is not None:
                yield (name, row.item.item_id, row.trial.repeat), row


def labels_of(runs: Sequence[Run], path: Path) -> Labels:
    """The table of labels at `path` about these runs; see `judge_labels.read_labels`."""
    _, words = names_of(runs)
    return read_labels(path, names=words, replies=frozenset(key for key, _ in _replied(runs)))


def material(runs: Sequence[Run], lines: Sequence[JudgedReply], labels: Labels | None) -> Material:
    """Runs, verdicts and labels as arrays, one position for each reply.

    Raises:
        DataError: a verdict is about a reply that is not there, or is there twice.
        UsageError: there is no reply.
    """
    rows = list(_replied(runs))
    if not rows:
        raise UsageError("there is no stored reply in these runs, so there is nothing to judge")
    keys = tuple(key for key, _ in rows)
    of_replies = labels.of_replies() if labels else {}
    given = [of_replies.get(key, []) for key in keys]
    people = [majority(some) for some in given]
    replies = figures.Replies(
        runs=tuple(key[0] for key in keys),
        questions=tuple(f"{key[1]}\n{key[2]}" for key in keys),
        clusters=tuple(row.item.source_id for _, row in rows),
        people=_numbers(people),
        people_points=_numbers(mean_points(some) for some in given),
        names=run_names(runs),
    )
    return Material(
        keys=keys,
        replies=replies,
        judges=_judges(keys, lines),
        labels=labels,
        n_tied=sum(mean_correct(some) == 0.5 for some in given),
        means=_numbers(map(mean_correct, given)),
    )


def _numbers(values: "Iterator[float | None] | Sequence[float | None]") -> figures.Numbers:
    return np.array([math.nan if value is None else value for value in values], np.float64)


def judge_name(line: JudgedReply) -> str:
    """What a judge is called: its model and its protocol."""
    return f"{short_name(line.judge_model)} as {protocol_name(line)}"


def protocol_name(line: JudgedReply) -> str:
    """A protocol, and whose words it is asked in where they are not ours."""
    if not line.words:
        return line.judge
    # Two sets of imported words can differ in the question alone; lines of earlier versions have no digest.
    whose, _, digest = line.words.partition(" ")
    name = {"authors": "authors' words", "unchecked": "imported words"}.get(whose, f"words {whose}")
    return f"{line.judge}, {name}" + (f" {digest}" if digest else "")


def _judges(keys: Sequence[Key], lines: Sequence[JudgedReply]) -> tuple[figures.JudgeVerdicts, ...]:
    position = {key: i for i, key in enumerate(keys)}
    by_judge: dict[tuple[str, str], list[JudgedReply]] = {}
    for line in lines:
        if (line.run, line.item_id, line.repeat) not in position:
            raise DataError(
                f"a verdict of {judge_name(line)!r} is about a reply of {line.run!r} to {line.item_id!r}, "
                f"repeat {line.repeat}, which is in none of these runs; give those that were judged"
            )
        by_judge.setdefault((line.judge_model, protocol_name(line)), []).append(line)
    short = short_names(model for model, _ in by_judge)
    return tuple(
        _verdicts(f"{short[model]} as {protocol}", some, position)
        for (model, protocol), some in by_judge.items()
    )


def _verdicts(name: str, lines: Sequence[JudgedReply], position: Mapping[Key, int]) -> figures.JudgeVerdicts:
    n = len(position)
    values, points, is_there = np.full(n, math.nan), np.full(n, math.nan), np.zeros(n, np.bool_)
    is_left = np.ones(n, np.bool_)
    for line in lines:
        at = position[line.run, line.item_id, line.repeat]
        if is_there[at]:
            raise DataError(
                f"two verdicts of {name!r} are about the same reply of {line.run!r} to {line.item_id!r}, "
                f"repeat {line.repeat}; each stands in one line"
            )
        is_there[at] = True
        values[at] = math.nan if line.value is None else line.value
        points[at] = math.nan if line.points is None else line.points
        is_left[at] = line.value is None and not line.is_asked
    return figures.JudgeVerdicts(
        name=name,
        model=lines[0].judge_model,
        protocol=protocol_name(lines[0]),
        values=values,
        points=points,
        is_left=is_left,
    )


def family_of(spec: str) -> str:
    """The family of a model by its spec: its maker where that serves it, else the first word of its name.

    >>> family_of("openai:o3-mini"), family_of("openai:Qwen/Qwen2.5-VL-7B?base_url=http://h/v1")
    ('openai', 'qwen')
    """
    parsed = parse_spec(spec)
    if parsed.name in _PROVIDERS and "base_url" not in parsed.options:
        return _PROVIDERS[parsed.name]
    name = parsed.argument.rstrip("/").rpartition("/")[2] or parsed.name
    letters = next((i for i, c in enumerate(name) if not c.isalpha()), len(name))
    return (name[:letters] or name).casefold()


def families_of(runs: Sequence[Run], models: Sequence[str], *, given: Mapping[str, str]) -> dict[str, str]:
    """The family of each run and of each judge model; what is given counts.

    Raises:
        UsageError: a family is given for what is neither.
    """
    names, words = names_of(runs)
    specs = dict(zip(names, (run.plan.model for run in runs), strict=True)) | {m: m for m in models}
    families = {name: family_of(spec) for name, spec in specs.items()}
    known = words | {short_name(m): m for m in models} | {m: m for m in models}
    for name, family in given.items():
        if name not in known and name not in families:
            raise UsageError(
                f"--family {name}={family}: neither a run nor a judge model is called {name!r}; known are "
                f"{', '.join(families)}"
            )
        for word in {name, known.get(name, name)} & set(families):
            families[word] = family.casefold()
        # A model may answer and judge; one word for both means both.
        families |= {other: family.casefold() for other in families if specs[other] == name}
    return families


# --------------------------------------------------------------------------- all figures


def examine(given: Material, *, families: Mapping[str, str], rng: np.random.Generator) -> Judges:
    """Every figure that the material allows; without labels of people only the scores by each judge."""
    replies, judges, labels = given.replies, given.judges, given.labels
    votes = _votes(given)
    result = Judges(
        n_replies=len(given.keys),
        n_labelled=int(np.isfinite(given.means).sum()),
        n_tied=given.n_tied,
        raters=labels.raters if labels else (),
        judges=tuple(judge.name for judge in judges),
        standings=figures.standings(replies, judges, people=given.means, votes=votes),
        scores=tuple(_scores(given)),
        notes=_notes(given),
    )
    if labels is None:
        return result
    return msgspec.structs.replace(
        result,
        agreement=_there(figures.agreement(replies, judge, rng=rng) for judge in judges),
        wins=_there(figures.wins(replies, judge, people=given.means, votes=votes) for judge in judges),
        orders=_there(figures.order(replies, judge, rng=rng) for judge in judges),
        levels=figures.levels(replies, judges),
        own=figures.self_preferences(replies, judges, families=families),
        arms=figures.arms(replies, judges),
    )


def _there(some: Iterator[T | None]) -> tuple[T, ...]:
    return tuple(entry for entry in some if entry is not None)


def _votes(given: Material) -> dict[tuple[int, int], float]:
    """For pairs of replies to one question: how many raters more find the first better than the second."""
    position = {key: i for i, key in enumerate(given.keys)}
    counts: Counter[tuple[int, int]] = Counter()
    for label in given.labels.labels if given.labels else ():
        number = position[label.key]
        for run, vote in (*((run, 1) for run in label.beats), *((run, 0) for run in label.ties)):
            other = position.get((run, label.item_id, label.repeat))
            if other is not None:
                counts[min(number, other), max(number, other)] += vote if number < other else -vote
    return dict(counts)


def _scores(given: Material) -> Iterator[ModelScore]:
    """The accuracy of each model by each judge and by people, each on the replies that it marked."""
    replies = given.replies
    sources = [(judge.name, judge.counted, ~judge.is_left) for judge in given.judges]
    if given.labels is not None:
        sources.insert(0, ("people", replies.people, np.isfinite(replies.people)))
    for by, values, is_there in sources:
        for run in replies.names:
            at = is_there & (np.array(replies.runs) == run)
            if at.any():
                clusters = replies.clusters_at(at)
                yield ModelScore(by=by, run=run, accuracy=mean_interval(values[at], clusters=clusters))


def _notes(given: Material) -> tuple[str, ...]:
    notes = []
    for judge in given.judges:
        n_left = int(judge.is_left.sum())
        if n_left:
            notes.append(
                f"{judge.name} leaves {several(n_left, 'reply').replace('replys', 'replies')} to rules."
            )
    return tuple(notes)
