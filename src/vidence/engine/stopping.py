"""When a run asks no more: its comparison with another run is decided (``vidence run --until``)."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from vidence.engine.plan import Ended, Plan, read_plan
from vidence.engine.prepare import PreparedRun
from vidence.engine.store import RunStore
from vidence.errors import UsageError
from vidence.records import EXTRACT, NEEDS_JUDGE, Failed, Item, Trial
from vidence.statistics.sequential import Watch

_MOST_NAMED = 5


class StopRule:
    """Looks at the difference to another run after every source whose trials are all there.

    A trial that failed, or of which a judge gave no verdict, may be asked again. So it counts as wrong in one
    `Watch` and as right in a second, and the comparison is decided where both are decided alike.

    Args:
        prepared: the run, whose plan says until when it asks.

    Raises:
        UsageError: the runs are about other data, the other one has no score for a question, or answers wait
            for a judge or are hidden.
        StoreError: the other folder holds no run.
    """

    def __init__(self, prepared: PreparedRun) -> None:
        plan, items = prepared.plan, prepared.items
        _check_marked(plan, items)
        self._plan, self._items = plan, items
        self._against, self._tag = _read_against(prepared)
        self.replay(())

    def replay(self, trials: Sequence[Trial]) -> None:
        """Begin with stored trials; without failed ones, which are asked again, where they leave it open."""
        plan, margin = self._plan, None if self._plan.margin is None else self._plan.margin / 100
        for some in (trials, [one for one in trials if not isinstance(one.score.outcome, Failed)]):
            self._watches = tuple(
                Watch(self._items, seed=plan.seed, tag=self._tag, margin=margin) for _ in range(2)
            )
            self._marks: dict[str, dict[int, tuple[float, float]]] = {}
            for trial in some:
                self.add(trial)
            if self.is_decided:
                return

    @property
    def is_decided(self) -> bool:
        """Whether what the plan waits for has come."""
        wrong, right = self._watches
        if self._plan.until == "clear":
            return wrong.decided == right.decided != "not decided"
        if wrong.is_outside and right.is_outside:
            return wrong.decided == right.decided
        return wrong.is_within and right.is_within

    def ordered(self, todo: Iterable[tuple[Item, int]]) -> list[tuple[Item, int]]:
        """The questions by source, in the order of the looks."""
        places = {source: place for place, source in enumerate(self._watches[0].order)}
        return sorted(todo, key=lambda one: places[one[0].source_id])

    def add(self, trial: Trial) -> None:
        """Count a trial; nothing changes any more once it is decided."""
        if self.is_decided:
            return
        mark, found = trial.score.counted, self._marks.setdefault(trial.item_id, {})
        if mark is None or isinstance(trial.score.outcome, Failed):
            found[trial.repeat] = (0.0, 1.0)
        else:
            found[trial.repeat] = (mark, mark)
        if len(found) == self._plan.repeats:
            for watch, marks in zip(self._watches, zip(*found.values(), strict=True), strict=True):
                watch.add(trial.item_id, sum(marks) / len(marks) - self._against[trial.item_id])

    def ended(self, *, n_asked: int) -> Ended:
        """How the run ended, with so many questions asked."""
        look = self._watches[0].look()
        return Ended(against=self._plan.against, look=look, n_asked=n_asked, is_decided=self.is_decided)


def _check_marked(plan: Plan, items: Sequence[Item]) -> None:
    """See that every reply is marked as soon as it is there."""
    hidden = sum(item.is_hidden for item in items)
    waiting = sum(item.answer_kind != "choice" for item in items)
    is_judged = plan.judge_models and plan.judge != EXTRACT
    if not hidden and (not waiting or is_judged or plan.text_parser != NEEDS_JUDGE):
        return
    why = f"the answers of {hidden:,} are hidden" if hidden else f"{waiting:,} wait for a judge"
    raise UsageError(
        f"--until {plan.until} needs the mark of every question while the run asks, and of {len(items):,} "
        f"questions {why}; "
        + ("leave --until out" if hidden else "name the judge with --judge-model, or leave --until out")
    )


def _read_against(prepared: PreparedRun) -> tuple[dict[str, float], str]:
    """The mean mark of each question in the other run, and the tag of a macro mean of both plans."""
    plan, folder = prepared.plan, Path(prepared.plan.against)
    other, facts = read_plan(folder)
    here = (plan.benchmark, prepared.facts.content_hash)
    if here != (other.benchmark, facts.content_hash):
        raise UsageError(
            f"--against {folder} was not asked about the same data: {other.benchmark}, content "
            f"{facts.content_hash[:12]}, and this run is about {plan.benchmark}, content {here[1][:12]}; "
            "name a run on the same release of the same benchmark"
        )
    marks: dict[str, list[float]] = {}
    with RunStore(folder) as store:
        for trial in store.trials(are_brief=True):
            if trial.score.counted is not None:
                marks.setdefault(trial.item_id, []).append(trial.score.counted)
    missing = [item.item_id for item in prepared.items if item.item_id not in marks]
    if missing:
        more = f", and {len(missing) - _MOST_NAMED:,} more" if len(missing) > _MOST_NAMED else ""
        raise UsageError(
            f"--against {folder} has no score for {len(missing):,} of the {len(prepared.items):,} questions "
            f"({', '.join(missing[:_MOST_NAMED])}{more}); finish it with vidence resume, have what waits "
            "judged with vidence judge, or ask only what it was asked"
        )
    kind, _, tag = plan.headline.partition(":")
    is_macro = kind == "macro" and other.headline == plan.headline
    is_macro = is_macro and all(tag in item.tags for item in prepared.items)
    return {name: sum(some) / len(some) for name, some in marks.items()}, tag if is_macro else ""
