"""What reasoning first adds: step by step less direct for each model; instruct and thinking weights."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.records import Estimate
from vidence.report.pairing import PairedRuns, pair
from vidence.report.provenance import is_asked
from vidence.report.results import Run
from vidence.report.scores import NO_VALUE, Draws, is_moderate, natural_order
from vidence.report.sections import Section
from vidence.statistics.heterogeneity import Heterogeneity, heterogeneity
from vidence.statistics.paired import Comparison, compare, holm, verdict
from vidence.statistics.ratios import ratio_of_means
from vidence.statistics.resampling import Resampling
from vidence.tables.charts import Chart, Statement, curves
from vidence.tables.table import Cell, Measure, RowSpec, Table, count, number, several, share, tabulate

# What must be the same for a difference to be one of reasoning; the names are those of a plan.
_ALIKE: Final = (
    *("selector", "n_frames", "layout", "frame_times", "size", "shuffle_choices", "strategy"),
    *("text_parser", "judge", "judge_models"),
)
FAMILY, MEMBER = "dimension", "task"
KeyT = TypeVar("KeyT")
CONFOUNDED = "confounded with the prompt"


@dataclass(frozen=True, kw_only=True)
class ReasoningPair:
    """Two runs of one model on the same questions: asked for the answer, and to reason first."""

    model: str
    direct: Run
    cot: Run


@dataclass(frozen=True, kw_only=True)
class ThinkingPair:
    """One family of models: runs of its instruct and of its thinking weights, each asked in two ways.

    A run that is not there is None.
    """

    family: str
    instruct_direct: Run | None = None
    instruct_cot: Run | None = None
    thinking_direct: Run | None = None
    thinking_cot: Run | None = None


# --------------------------------------------------------------------------- step by step less direct


@dataclass(frozen=True, kw_only=True)
class _Effect:
    """The second run less the first on some questions; `p_holm` is adjusted for its table."""

    paired: PairedRuns
    comparison: Comparison
    p_holm: float = float("nan")

    @property
    def difference(self) -> Estimate:
        return self.comparison.difference


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """A pair of runs, put beside each other, and what it is called."""

    name: str
    paired: PairedRuns
    notes: tuple[str, ...] = field(default=())


def reasoning_effect(
    pairs: Sequence[ReasoningPair],
    *,
    draws: Draws,
    shared: bool = False,
    family: str = FAMILY,
    member: str = MEMBER,
) -> tuple[Statement, ...]:
    """What reasoning first adds to each model, over all and for each value of each tag.

    Every difference is step by step less direct, whoever is ahead, paired by question and clustered. The
    first table has all models, with what could not be read on either side and the difference on questions
    that both answered; then come a figure, a table for each tag (adjusted for all models and values
    together), and whether the difference is the same in the values of `member` within one of `family`.

    Args:
        pairs: for each model its two runs.
        draws: where the draws of the null of heterogeneity come from, and the level of intervals.
        shared: compare what runs share where their questions, frames or readers differ, and say so.
        family: a tag whose values hold several of `member` each, such as the dimensions of tasks; questions
            without it are one family.
        member: the tag of those parts.

    Raises:
        UsageError: no pair, a model named twice, runs that cannot be compared, two ways of asking that were
            swapped, or (without `shared`) other frames or readers.

    Source: HumanPCR, section 4.4 and figure 9 (relative and absolute change by dimension and by task); MMVU,
        section 4.2 and figure 4; PerceptionComp, section 4.1.
    Departs: the papers compare means; pairing, intervals, tests, heterogeneity and what a changed rate of
        readable replies makes of the difference are ours.
    """
    if not pairs:
        raise UsageError("no pair of runs; expected for each model one asked directly and one step by step")
    names = [one.model for one in pairs]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"{twice!r} is named twice; expected one pair of runs for each model")
    found = [
        _Pair(name=one.model, paired=paired, notes=notes)
        for one in pairs
        for paired, notes in [_beside(one, shared=shared)]
    ]
    overall = _adjusted({one.name: one.paired for one in found}, level=draws.level)
    return (
        _models(found, overall, draws=draws),
        _dumbbell(overall, level=draws.level),
        *_by_tag(found, level=draws.level),
        *_siblings(found, family=family, member=member, draws=draws),
    )


def reasoning_section(statements: Sequence[Statement]) -> Section:
    """What a page shows of `reasoning_effect` or `thinking_effect`."""
    tables = tuple(one for one in statements if isinstance(one, Table))
    figures = tuple(one for one in statements if not isinstance(one, Table))
    return Section(title="What reasoning first adds", figures=figures, tables=tables)


def _beside(one: ReasoningPair, *, shared: bool) -> tuple[PairedRuns, tuple[str, ...]]:
    """Both runs of a model, and what to say of them."""
    styles = [run.plan.style for run in (one.direct, one.cot) if is_asked(run)]
    if styles == ["cot", "direct"]:
        raise UsageError(
            f"{one.model}: {one.direct.name} was asked step by step and {one.cot.name} directly; expected "
            "the direct run first"
        )
    if len(styles) > 1 and styles[0] == styles[1]:
        raise UsageError(
            f"{one.model}: {one.direct.name} and {one.cot.name} were both asked with the style "
            f"{styles[0]!r}; expected one 'direct' and one 'cot'"
        )
    differing = [
        f"{name} {msgspec.to_builtins(first)} and {msgspec.to_builtins(second)}"
        for name in _ALIKE
        if (first := getattr(one.direct.plan, name)) != (second := getattr(one.cot.plan, name))
    ]
    if one.direct.parser != one.cot.parser:
        differing.append(f"parser {one.direct.parser} and {one.cot.parser}")
    if one.direct.plan.model != one.cot.plan.model and len(styles) > 1:
        differing.append(f"model {one.direct.plan.model} and {one.cot.plan.model}")
    if differing and not shared:
        raise UsageError(
            f"{one.model}: {one.direct.name} and {one.cot.name} differ in more than the style: "
            f"{'; '.join(differing)}. Ask again alike, or compare them all the same with --shared"
        )
    paired = pair([one.direct, one.cot], shared=shared)
    told = f"{one.model} differs in more than the style: {'; '.join(differing)}." if differing else ""
    return paired, tuple(filter(None, (told, *paired.notes)))


def _compared(part: PairedRuns, *, level: float) -> Comparison:
    return compare(part.values[:, 1], part.values[:, 0], clusters=part.clusters, level=level)


def _adjusted(parts: Mapping[KeyT, PairedRuns], *, level: float) -> dict[KeyT, _Effect]:
    """The effect in each part, adjusted for all of them."""
    made = {key: _compared(part, level=level) for key, part in parts.items()}
    adjusted = holm([one.p_value for one in made.values()]) if made else ()
    return {
        key: _Effect(paired=parts[key], comparison=one, p_holm=p)
        for (key, one), p in zip(made.items(), adjusted, strict=True)
    }


def _clear(one: _Effect) -> Cell:
    is_clear = verdict(one.p_holm, one.difference) == "clear"
    return Cell(value=float(is_clear), text="clear" if is_clear else "not clear")


def _core(*, first: str = "direct", second: str = "step by step") -> tuple[Measure[_Effect], ...]:
    """The columns of every table of effects."""
    return (
        count("items", lambda one: one.difference.n, "questions"),
        count("clusters", lambda one: one.difference.n_clusters, "videos or sources"),
        share("first", lambda one: one.comparison.mean_second, first, group="accuracy, %"),
        share("second", lambda one: one.comparison.mean_first, second, group="accuracy, %"),
        number(
            "difference",
            lambda one: one.difference,
            "difference, points",
            kind="difference",
            note=f"{second} less {first}, paired",
        ),
        number(
            "p_holm", lambda one: one.p_holm, "p (Holm)", kind="p", note="adjusted for all lines of its kind"
        ),
        number("clear", _clear, "verdict", kind="text"),
    )


def _models(found: Sequence[_Pair], overall: Mapping[str, _Effect], *, draws: Draws) -> Table:
    def relative(one: _Effect) -> Estimate | None:
        direct, cot = one.paired.values.T
        if not direct.any():
            return None
        ratio = ratio_of_means(
            cot - direct,
            direct,
            clusters=one.paired.clusters,
            rng=draws.fresh(),
            settings=Resampling(level=draws.level),
        )
        return ratio.fieller

    def n_of(one: _Effect, *, run: int, is_cut: bool) -> int:
        asked = {item.item_id for item in one.paired.items}
        rows = [row for row in one.paired.runs[run].rows if row.item.item_id in asked]
        if is_cut:
            return sum(row.trial.reply is not None and row.trial.reply.finish == "length" for row in rows)
        return sum(row.outcome != "answered" for row in rows)

    def both_read(one: _Effect) -> Estimate | None:
        part = _both_read(one.paired)
        return _compared(part, level=draws.level).difference if part is not None else None

    return tabulate(
        "reasoning",
        "Reasoning first, less answering directly",
        label="model",
        rows=(RowSpec(name, name, one) for name, one in overall.items()),
        measures=(
            *_core(),
            share("relative", relative, "of direct", note="the difference over the direct accuracy"),
            count("unread:direct", partial(n_of, run=0, is_cut=False), "direct", group="without an answer"),
            count(
                "unread:cot", partial(n_of, run=1, is_cut=False), "step by step", group="without an answer"
            ),
            count("cut:direct", partial(n_of, run=0, is_cut=True), "direct", group="cut off"),
            count("cut:cot", partial(n_of, run=1, is_cut=True), "step by step", group="cut off"),
            number(
                "both_read",
                both_read,
                "where both answered",
                kind="difference",
                note="the difference on questions that both sides answered in every repeat",
            ),
        ),
        notes=(
            "Replies without an answer count as wrong; cut-off ones ended at the limit of tokens. Questions "
            "that both answered are chosen by the replies: that difference is beside the first, not in its "
            "place.",
            *(note for one in found for note in one.notes),
        ),
        figure="differences",
    )


def _both_read(paired: PairedRuns) -> PairedRuns | None:
    """The questions that both runs answered in every repeat."""
    answered = [
        {row.item.item_id for row in run.rows}
        - {row.item.item_id for row in run.rows if row.outcome != "answered"}
        for run in paired.runs
    ]
    kept = [i for i, item in enumerate(paired.items) if all(item.item_id in some for some in answered)]
    return paired.part(kept) if kept else None


def _dumbbell(overall: Mapping[str, _Effect], *, level: float) -> Chart:
    """A line for each model from its direct accuracy to that with reasoning."""

    def ends(one: _Effect) -> Iterator[tuple[float, Estimate]]:
        draws = Draws(rng=np.random.default_rng(0), level=level)
        for i, scores in enumerate(one.paired.values.T):
            if (end := draws.average(scores, clusters=one.paired.clusters)) is not None:
                yield i, end

    return Chart(
        name="reasoning:models",
        title="From direct to step by step",
        x_title="asked",
        y_title="accuracy",
        series=curves((name, ends(one)) for name, one in overall.items()),
        x_labels=((0.0, "directly"), (1.0, "step by step")),
        note="The intervals are those of accuracies; those of the differences, which are paired, stand in "
        "the table.",
    )


def _by_tag(found: Sequence[_Pair], *, level: float) -> Iterator[Table]:
    """A table for each tag with a row for each model and value; adjusted over all of them together."""
    parts: dict[tuple[str, str, str], PairedRuns] = {}
    for one in found:
        for tag in dict.fromkeys(tag for item in one.paired.items for tag in item.tags):
            places = one.paired.places(tag)
            if len(places) > 1 and is_moderate(tuple(places)):
                for value in sorted(places, key=natural_order):
                    parts[tag, one.name, value] = one.paired.part(places[value])
    effects = _adjusted(parts, level=level)
    for tag in dict.fromkeys(tag for tag, *_ in parts):
        rows = [
            RowSpec(
                f"{model}:{value}",
                model if len(found) > 1 else value,
                effect,
                detail=value if len(found) > 1 else "",
            )
            for (of_tag, model, value), effect in effects.items()
            if of_tag == tag
        ]
        yield tabulate(
            f"reasoning:{tag}",
            f"Reasoning first, less answering directly, by {tag}",
            label=tag if len(found) == 1 else f"model and {tag}",
            rows=rows,
            measures=_core(),
            notes=(f"Adjusted for all {len(effects):,} models and values of tags in these tables.",),
            figure="differences",
        )


@dataclass(frozen=True, kw_only=True)
class _Family:
    """The parts of one family, in one model; `found` is None where nothing can be said."""

    found: Heterogeneity
    p_holm: float


def _siblings(found: Sequence[_Pair], *, family: str, member: str, draws: Draws) -> Iterator[Table]:
    """Whether the difference is the same in all values of `member` of a family, for each model."""
    made: dict[tuple[str, str], Heterogeneity] = {}
    for one in found:
        if any(member not in item.tags for item in one.paired.items):
            continue
        differences: NDArray[np.float64] = one.paired.values[:, 1] - one.paired.values[:, 0]
        for value, places in one.paired.places(family).items():
            part = one.paired.part(places)
            spread = heterogeneity(
                differences[places],
                groups=[item.tags[member] for item in part.items],
                clusters=part.clusters,
                rng=draws.fresh(),
            )
            if spread is not None:
                made[one.name, value] = spread
    if not made:
        return
    adjusted = holm([one.p_value for one in made.values()])
    left = sorted({name for one in made.values() for name in one.left_out})
    yield tabulate(
        "reasoning:siblings",
        f"Whether the difference is the same in every {member}",
        label=f"model and {family}",
        rows=(
            RowSpec(
                f"{model}:{value}", model, _Family(found=one, p_holm=p), detail=value.replace(NO_VALUE, "")
            )
            for ((model, value), one), p in zip(made.items(), adjusted, strict=True)
        ),
        measures=(
            count("groups", lambda row: len(row.found.groups), f"{member}s"),
            number("q", lambda row: row.found.q, "Q", note="Cochran's; as large as the next by chance"),
            count("dof", lambda row: row.found.dof, "degrees of freedom"),
            number("p", lambda row: row.found.p_value, "p", kind="p", note="if one difference held for all"),
            number("p_holm", lambda row: row.p_holm, "p (Holm)", kind="p", note="adjusted for all lines"),
            number(
                "tau",
                lambda row: row.found.tau,
                "tau, points",
                kind="difference",
                note=f"standard deviation of the true differences between {member}s, as estimated",
            ),
        ),
        notes=(
            f"Left out, since their videos do not differ: {', '.join(left)}." if left else "",
            "Without a clear p nothing is shown to differ, and nothing to be alike.",
        ),
    )


# --------------------------------------------------------------------------- instruct and thinking

_CORNERS: Final = ("instruct_direct", "instruct_cot", "thinking_direct", "thinking_cot")
_SAID: Final[Mapping[str, str]] = {
    "instruct_direct": "instruct, direct",
    "instruct_cot": "instruct, step by step",
    "thinking_direct": "thinking, direct",
    "thinking_cot": "thinking, step by step",
}
# What is taken from what, and what that is called.
_STEPS: Final = (
    ("weights:direct", "weights, asked directly", "thinking_direct", "instruct_direct"),
    ("weights:cot", "weights, asked step by step", "thinking_cot", "instruct_cot"),
    ("prompt:instruct", "prompt, instruct weights", "instruct_cot", "instruct_direct"),
    ("prompt:thinking", "prompt, thinking weights", "thinking_cot", "thinking_direct"),
    ("both", "weights and prompt", "thinking_cot", "instruct_direct"),
)


def thinking_effect(
    pairs: Sequence[ThinkingPair], *, draws: Draws, shared: bool = False
) -> tuple[Statement, ...]:
    """Thinking weights against instruct weights, parted from what the prompt does where all four runs are.

    Papers have the diagonal alone: instruct weights asked directly, thinking weights asked to reason. That
    difference is of weights and prompt at once, and its line and the heading say so.

    Args:
        pairs: two runs or more of each family.
        draws: as for `reasoning_effect`.
        shared: compare what the runs share.

    Raises:
        UsageError: no family, one with fewer than two runs, or runs that cannot be compared.

    Source: PerceptionComp, section 4.1 and table 2 (five pairs of instruct and thinking models).
    Departs: the paper has the diagonal only.
    """
    if not pairs:
        raise UsageError("no family of models; expected instruct and thinking runs of one or more")
    parts: dict[tuple[str, str], PairedRuns] = {}
    crossed: dict[str, tuple[Estimate, float]] = {}
    for one in pairs:
        runs = {name: run for name in _CORNERS if (run := getattr(one, name)) is not None}
        if len(runs) < 2:
            raise UsageError(
                f"{one.family}: {several(len(runs), 'run')}; expected two or more of "
                f"{', '.join(_SAID.values())}"
            )
        for key, _, second, first in _STEPS:
            if first in runs and second in runs:
                parts[one.family, key] = pair([runs[first], runs[second]], shared=shared)
        if len(runs) == len(_CORNERS):
            crossed[one.family] = _interaction(
                pair([runs[name] for name in _CORNERS], shared=shared), level=draws.level
            )
    effects = {key: _compared(part, level=draws.level) for key, part in parts.items()}
    p_values = [one.p_value for one in effects.values()] + [p for _, p in crossed.values()]
    adjusted = iter(holm(p_values) if p_values else ())
    lines = [
        _line(family, key, _Effect(paired=parts[family, key], comparison=one, p_holm=next(adjusted)))
        for (family, key), one in effects.items()
    ]
    tables = [
        tabulate(
            "thinking",
            "Thinking weights, less instruct weights"
            + ("" if any(len(_keys(parts, one.family)) > 1 for one in pairs) else f" ({CONFOUNDED})"),
            label="family and what changes",
            rows=lines,
            measures=_core(first="before", second="after"),
            notes=(
                f"Weights and prompt at once: {CONFOUNDED}."
                if any(key == "both" for _, key in parts)
                else "",
            ),
            figure="differences",
        )
    ]
    if crossed:
        tables.append(_crossed(crossed, list(adjusted)))
    return tuple(tables)


def _keys(parts: Mapping[tuple[str, str], PairedRuns], family: str) -> list[str]:
    return [key for name, key in parts if name == family]


def _line(family: str, key: str, one: _Effect) -> RowSpec[_Effect]:
    words = next(words for name, words, *_ in _STEPS if name == key)
    told = f"{words} ({CONFOUNDED})" if key == "both" else words
    return RowSpec(f"{family}:{key}", family, one, detail=told)


def _interaction(paired: PairedRuns, *, level: float) -> tuple[Estimate, float]:
    """What the prompt adds to thinking weights, less what it adds to instruct weights."""
    direct, cot, other_direct, other_cot = paired.values.T
    found = compare(
        other_cot - other_direct, cot - direct, clusters=paired.clusters, bounds=(-1.0, 1.0), level=level
    )
    return found.difference, found.p_value


def _crossed(crossed: Mapping[str, tuple[Estimate, float]], adjusted: Sequence[float]) -> Table:
    return tabulate(
        "thinking:interaction",
        "What the prompt adds to thinking weights, less what it adds to instruct weights",
        label="family",
        rows=(
            RowSpec(family, family, (found, p))
            for (family, (found, _)), p in zip(crossed.items(), adjusted, strict=True)
        ),
        measures=(
            number("difference", lambda row: row[0], "difference, points", kind="difference", note="paired"),
            number("p_holm", lambda row: row[1], "p (Holm)", kind="p", note="adjusted with the table above"),
        ),
    )
