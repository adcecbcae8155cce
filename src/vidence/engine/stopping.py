"""Stop a run when its comparison with another run is decided (``vidence run --until``)."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from vidence.engine.plan import Plan, read_plan
from vidence.engine.prepare import PreparedRun
from vidence.engine.store import RunStore
from vidence.errors import UsageError
from vidence.records import EXTRACT, NEEDS_JUDGE, Failed, Item, Trial
from vidence.statistics.paired import Decision
from vidence.statistics.sequential import Watch
from vidence.text import some

_MOST_NAMED = 5


class StopRule:
    """Tests the difference to another run after each source whose trials are complete.

    A trial that failed or has no verdict may be asked again, so it counts both as wrong and as right; the
    comparison is decided if both agree. `ended` is the current state.

    Args:
        prepared: the run, whose plan states the rule.
        before: the state at the end of an earlier session; if decided, nothing more is tested.

    Raises:
        UsageError: the runs use different data, the other run lacks a score for a question, or answers wait
            for a judge or are hidden.
        StoreError: the other folder is not a run.
    """

    def __init__(self, prepared: PreparedRun, before: Decision | None) -> None:
        self._plan, self._items = prepared.plan, prepared.items
        if before is not None and before.n_decisive:
            self.ended = before
            return
        _check_marked(self._plan, self._items)
        self._against, self._tag = _read_against(prepared)
        self._replay(())

    def _replay(self, trials: Iterable[Trial]) -> None:
        plan, margin = self._plan, None if self._plan.margin is None else self._plan.margin / 100
        beyond = margin or 0.0  # what is better by less may still come to lie within the margin
        self._watch = Watch(self._items, seed=plan.seed, tag=self._tag, margin=margin, beyond=beyond)
        self._marks: dict[str, dict[int, tuple[float, float]]] = {}
        self.ended = self._watch.look()
        for trial in trials:
            self.add(trial)

    @property
    def is_decided(self) -> bool:
        """Whether the condition of the plan is met."""
        return self.ended.n_decisive > 0

    def left(self, todo: Sequence[tuple[Item, int]], stored: Sequence[Trial]) -> list[tuple[Item, int]]:
        """Return the questions left, grouped by source in order of the tests; none once it is decided.

        Args:
            todo: what may be asked.
            stored: existing trials. Failed ones are asked again if they leave the comparison open.
        """
        for trials in (stored, [trial for trial in stored if not isinstance(trial.score.outcome, Failed)]):
            if not self.is_decided:
                self._replay(trials)
        places = {} if self.is_decided else {name: i for i, name in enumerate(self._watch.order)}
        return sorted(todo if places else (), key=lambda pair: places[pair[0].source_id])

    def add(self, trial: Trial) -> None:
        """Count a trial; no effect once the comparison is decided."""
        if self.is_decided:
            return
        mark, marks = trial.score.counted, self._marks.setdefault(trial.item_id, {})
        is_failed = isinstance(trial.score.outcome, Failed)
        marks[trial.repeat] = (0.0, 1.0) if mark is None or is_failed else (mark, mark)
        if len(marks) == self._plan.repeats:
            ends = (sum(side) / len(marks) for side in zip(*marks.values(), strict=True))
            self._watch.add(trial.item_id, *(end - self._against[trial.item_id] for end in ends))
            self.ended = self._watch.look()


def _check_marked(plan: Plan, items: Sequence[Item]) -> None:
    """Check that every reply can be scored immediately."""
    hidden = sum(item.is_hidden for item in items)
    waiting = sum(item.answer_kind != "choice" for item in items)
    is_judged = plan.judge_models and plan.judge != EXTRACT
    if not hidden and (not waiting or is_judged or plan.text_parser != NEEDS_JUDGE):
        return
    why = f"the answers of {hidden:,} are hidden" if hidden else f"{waiting:,} wait for a judge"
    advice = "omit --until" if hidden else "name the judge with --judge-model, or omit --until"
    raise UsageError(
        f"--until {plan.until} needs a mark for every question during the run, and of {len(items):,} "
        f"questions {why}; {advice}"
    )


def _read_against(prepared: PreparedRun) -> tuple[dict[str, float], str]:
    """Return the other run's mean score per question, and the macro-average tag of both plans."""
    plan, folder = prepared.plan, Path(prepared.plan.against)
    other, facts = read_plan(folder)
    here = (plan.benchmark, prepared.facts.content_hash)
    if here != (other.benchmark, facts.content_hash):
        raise UsageError(
            f"--against {folder} was asked about {other.benchmark}, content {facts.content_hash[:12]}, this "
            f"run is about {plan.benchmark}, content {here[1][:12]}; name a run on the same release of the "
            "same benchmark"
        )
    marks: dict[str, list[float]] = {}
    with RunStore(folder) as store:
        for trial in store.trials(are_brief=True):
            if trial.score.counted is not None:
                marks.setdefault(trial.item_id, []).append(trial.score.counted)
    if missing := [item.item_id for item in prepared.items if item.item_id not in marks]:
        raise UsageError(
            f"--against {folder} has no score for {len(missing):,} of the {len(prepared.items):,} questions "
            f"({some(missing, most=_MOST_NAMED)}); finish it with vidence resume, judge it with vidence "
            "replies judge, or ask only its questions"
        )
    kind, _, tag = plan.headline.partition(":")
    is_macro = kind == "macro" and other.headline == plan.headline
    is_macro = is_macro and all(item.group(tag) is not None for item in prepared.items)
    return {name: sum(some) / len(some) for name, some in marks.items()}, tag if is_macro else ""
