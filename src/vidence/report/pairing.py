"""Pair runs question by question, or say why that is impossible."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.ask.fetching.address import is_address
from vidence.errors import UsageError
from vidence.explain.diagnostics.conditions import own_letter
from vidence.records import ClusterNoun, Clusters, Estimate, Item, by_key, source_noun
from vidence.report.checked import as_read
from vidence.report.results import Row, Run
from vidence.report.scores import NO_VALUE, ScoredQuestions, check_answered
from vidence.report.side_by_side import run_names
from vidence.tables.table import several
from vidence.text import quoted

MOST_NAMED = 5  # of the questions that differ, and of runs with lines that were left out
_CONTENT: Mapping[str, Callable[[Item], object]] = {
    "question": lambda item: item.question,
    "choices": lambda item: item.choices,
    "answer": lambda item: (item.answer_kind, item.answer),
    "media": lambda item: item.media,
}


@dataclass(frozen=True, kw_only=True)
class PairedRuns:
    """Two or more runs on the same questions, in one order.

    Shapes: `values` (n_items, n_runs): the mean of each question's scores over repeats, 0 to 1. `items` have
    their choices in their own order. `noun` is what their clusters are called. `notes` say what is not
    compared.
    """

    runs: tuple[Run, ...]
    names: tuple[str, ...]
    items: tuple[Item, ...]
    values: NDArray[np.float64]
    noun: ClusterNoun
    notes: tuple[str, ...] = ()

    @property
    def clusters(self) -> Clusters:
        """Return the source of each question, by default its video."""
        return Clusters.of(self.items, noun=self.noun)

    @property
    def n_videos(self) -> int:
        """Return the number of videos, regardless of shared sources."""
        return len({item.video_id for item in self.items})

    def as_read(self, raw: Estimate, *runs: int, tag: str = "") -> Estimate:
        """Return a run's mean or a difference by position, with the people-corrected value."""
        samples, groups = [self.runs[i].rows[0].sample for i in runs], self.groups(tag) if tag else None
        return as_read(raw, samples, self.items, clusters=self.clusters, groups=groups)

    def groups(self, tag: str) -> tuple[str, ...] | None:
        """Return the value of a tag for each question; None if a question lacks it."""
        groups = [item.group(tag) for item in self.items]
        return tuple(v for v in groups if v is not None) if None not in groups else None

    def places(self, tag: str) -> dict[str, list[int]]:
        """Return the positions of questions by value of a tag, under `NO_VALUE` if they lack it."""
        return by_key((item.tags.get(tag, NO_VALUE), i) for i, item in enumerate(self.items))

    def part(self, positions: Sequence[int]) -> "PairedRuns":
        """Return a subset of the questions by position."""
        items = tuple(self.items[i] for i in positions)
        return replace(self, items=items, values=self.values[list(positions)], notes=())


def own_item(row: Row) -> Item:
    """Return a trial's question with its choices in their own order, however they were shown."""
    order = row.trial.choice_order
    return row.item.with_order(tuple(int(i) for i in np.argsort(order)))


def own_answer(row: Row) -> str | None:
    """Return the parsed answer, for choices as a letter in their own order; None if there is none."""
    return own_letter(row.read, row.trial.choice_order) or None


def marks_of(run: Run) -> dict[tuple[str, str], float]:
    """Return each person's mean score on each item; for runs of models the person is empty."""
    known = (row for row in run.rows if row.correct is not None)
    marks = by_key(((row.person, row.item.item_id), row.correct or 0.0) for row in known)
    return {key: sum(some) / len(some) for key, some in marks.items()}


def paired_answers(first: Run, second: Run) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the scores of two runs by person and item, where both have one.

    A person is compared with the same person; a model's run with each person of the other.
    """
    ours, theirs = marks_of(first), marks_of(second)
    if first.people and not second.people:
        return {key: (mark, theirs["", key[1]]) for key, mark in ours.items() if ("", key[1]) in theirs}
    if second.people and not first.people:
        return {key: (ours["", key[1]], mark) for key, mark in theirs.items() if ("", key[1]) in ours}
    return {key: (mark, theirs[key]) for key, mark in ours.items() if key in theirs}


def pair(runs: Sequence[Run], *, shared: bool = False) -> PairedRuns:
    """Return the questions that all runs have a score for.

    Args:
        runs: two or more runs.
        shared: if the runs were asked different questions of one revision, compare those they share.

    Raises:
        UsageError: fewer than two runs, a run twice, a run without trials, runs of different benchmarks or
            revisions, different questions without `shared`, or nothing in common.
    """
    _check_folders(runs)
    names = run_names(runs)
    scored = [ScoredQuestions.of(run.rows) for run in runs]
    own = [{row.item.item_id: own_item(row) for row in run.rows} for run in runs]
    _check_data(runs, names, own, shared=shared)
    if not shared:
        _check_questions(runs, names, scored=scored, own=own)
    values = [dict(zip((i.item_id for i in m.items), m.values.tolist(), strict=True)) for m in scored]
    kept = [item_id for item_id in own[0] if all(item_id in value for value in values)]
    if not kept:
        raise UsageError(f"{_all(names)} share no question that is scored; there is nothing to compare")
    items = tuple(_with_source(item_id, own) for item_id in kept)
    return PairedRuns(
        runs=tuple(runs),
        names=names,
        items=items,
        values=np.array([[value[item_id] for value in values] for item_id in kept], np.float64),
        noun=source_noun(items),
        notes=(
            *_people_notes(runs),
            *_notes(names, own, kept=kept),
            *_left_out(runs, names),
            *sources_note(items),
            *(
                f"{name} stopped once its comparison was decided, which an ordinary interval does not allow "
                "for; that of all looks does (--anytime, with two runs)."
                for name, run in zip(names, runs, strict=True)
                if run.ended is not None
            ),
        ),
    )


def pair_where_possible(runs: Sequence[Run]) -> PairedRuns | None:
    """Return `pair`, or None for runs that cannot be compared question by question."""
    try:
        return pair(runs)
    except UsageError:
        return None


def _all(names: Sequence[str]) -> str:
    return " and ".join(names) if len(names) == 2 else f"the {len(names)} runs"


def _check_folders(runs: Sequence[Run]) -> None:
    if len(runs) < 2:
        raise UsageError(f"{len(runs)} run to compare; expected two run folders or more")
    seen = set()
    for run in runs:
        if run.folder.resolve() in seen:
            raise UsageError(f"{run.folder} is named twice; a run cannot be compared with itself")
        seen.add(run.folder.resolve())
        check_answered(run)


def _check_data(
    runs: Sequence[Run], names: Sequence[str], own: Sequence[Mapping[str, Item]], *, shared: bool
) -> None:
    """Reject runs whose questions come from different data."""
    wrong: list[str] = []
    data = {
        "benchmark": [run.plan.benchmark for run in runs],
        "revision": [run.facts.benchmark_revision or "none named" for run in runs],
        "content hash": [run.facts.content_hash[:12] for run in runs],
    }
    for what, texts in data.items():
        if len(set(texts)) == 1:
            continue
        is_part = what == "content hash" and shared and bool(runs[0].facts.benchmark_revision)
        if not is_part or wrong:
            wrong.append(f"  {what}: {_each(names, texts)}")
    wrong += [f"  {line}" for line in _changed(own)]
    if wrong:
        places = [run.plan.data for run in runs]
        if any(map(is_address, places)) and len(set(places)) > 1:
            wrong.append(f"  fetched from: {_each(names, places)}")
        wrong += [f"  {line}" for line in _missing(names, own)]
        raise UsageError(
            f"{_all(names)} were not asked about the same data:\n" + "\n".join(wrong) + "\n"
            "Compare runs on one release of one benchmark; run the other one again"
        )


def _each(names: Sequence[str], texts: Sequence[str]) -> str:
    return "; ".join(f"{name}: {value}" for name, value in zip(names, texts, strict=True))


def _changed(own: Sequence[Mapping[str, Item]]) -> list[str]:
    """Say what differs in questions with the same id."""
    lines = []
    common = [i for i in own[0] if all(i in values for values in own)]
    for what, of in _CONTENT.items():
        if ids := [i for i in common if any(of(row[i]) != of(other[i]) for row, other in pairwise(own))]:
            lines.append(f"another {what} under the same id: {len(ids):,} ({_named(ids)})")
    return lines


def _named(ids: Sequence[str]) -> str:
    more = f", and {len(ids) - MOST_NAMED:,} more" if len(ids) > MOST_NAMED else ""
    return ", ".join(ids[:MOST_NAMED]) + more


def _missing(names: Sequence[str], own: Sequence[Mapping[str, Item]]) -> list[str]:
    """Say which questions are not in every run."""
    common = set.intersection(*(set(entries) for entries in own))
    lines = []
    for name, values in zip(names, own, strict=True):
        if ids := [item_id for item_id in values if item_id not in common]:
            lines.append(f"{name}: {len(ids):,} of its {len(values):,} not in all ({_named(ids)})")
    return lines and [f"{len(common):,} questions are in all runs", *lines]


def _check_questions(
    runs: Sequence[Run],
    names: Sequence[str],
    *,
    scored: Sequence[ScoredQuestions],
    own: Sequence[Mapping[str, Item]],
) -> None:
    """Reject runs if one was asked, or has scores for, other questions."""
    lines = _missing(names, own)
    waiting = [
        {item.item_id for item in values.values() if not item.is_hidden} - {item.item_id for item in m.items}
        for values, m in zip(own, scored, strict=True)
    ]
    if len({frozenset(ids) for ids in waiting}) > 1:
        lines += [
            f"{name}: {len(ids):,} wait for a judge ({_named(sorted(ids))})"
            for name, ids in zip(names, waiting, strict=True)
            if ids
        ]
    if not lines:
        return
    for name, run in zip(names, runs, strict=True):
        if run.ended is not None:
            lines.append(f"{name} ended early: {run.ended}")
        elif run.n_missing:
            lines.append(f"{name} is not complete; `vidence resume {quoted(run.folder)}` asks the rest")
    listed = "\n  ".join(lines)
    raise UsageError(
        f"{_all(names)} do not have scores for the same questions:\n  {listed}\n"
        "Compare what they share with --shared, in a view of a panel with shared=true, or complete them"
    )


def _with_source(item_id: str, own: Sequence[Mapping[str, Item]]) -> Item:
    """Return the question as the first run has it, with the source that any run states."""
    items = [run[item_id] for run in own]
    source = next((item.source for item in items if item.source), "")
    return msgspec.structs.replace(items[0], source=source)


def sources_note(items: Sequence[Item]) -> list[str]:
    """Return a note if several videos share a source."""
    if source_noun(items) == "video":
        return []
    n_files, n_sources = len({item.video_id for item in items}), len({item.source_id for item in items})
    return [
        f"The {n_files:,} videos are of {several(n_sources, 'source')}; intervals and tests are clustered by "
        "source."
    ]


def _people_notes(runs: Sequence[Run]) -> list[str]:
    """Say how people are compared, if a run combines several."""
    if not any(len(run.people) > 1 for run in runs):
        return []
    if len(runs) == 2 and paired_answers(runs[0], runs[1]):
        return ["Differences are means over answers, with people and videos as crossed random factors."]
    return ["People are fixed: intervals and tests generalise to other videos, not to other people."]


def _left_out(runs: Sequence[Run], names: Sequence[str]) -> list[str]:
    """Say what was left out when the questions were read; once if it was the same in all runs."""
    outs = [run.facts.left_out for run in runs]
    if len(set(outs)) == 1:
        return outs[:1] if outs[0] else []
    if len(runs) > MOST_NAMED:
        return [f"Lines were left out when the questions of {sum(map(bool, outs))} runs were read."]
    return [f"{name}: {words}" for name, words in zip(names, outs, strict=True) if words]


def _notes(names: Sequence[str], own: Sequence[Mapping[str, Item]], *, kept: Sequence[str]) -> list[str]:
    """Say what is left out of the comparison."""
    everything = {item_id for values in own for item_id in values}
    common = set.intersection(*(set(values) for values in own))
    notes = []
    if len(common) < len(everything):
        notes.append(
            f"Only the {len(common):,} questions that {_all(names)} share are compared, of "
            f"{len(everything):,}: this need not hold for the others."
        )
    hidden = {item_id for item_id in common if own[0][item_id].is_hidden}
    for why, n in (
        ("their answers are hidden", len(hidden)),
        ("they wait for a judge", len(common) - len(hidden) - len(kept)),
    ):
        if n:
            notes.append(f"Not compared, since {why}: {n:,} of the questions.")
    return notes
