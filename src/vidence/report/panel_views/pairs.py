"""What a method, prompt style or selector adds to its base, question by question."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

import msgspec
import numpy as np
from msgspec import Meta

from vidence.errors import UsageError
from vidence.explain.diagnostics.conditions import PLAN
from vidence.explain.diagnostics.selector_gap import ORACLE, TEXT, GapFinding
from vidence.explain.diagnostics.tables import Figures, side_by_side
from vidence.records import Estimate, Record, by_key, source_noun
from vidence.report.pairing import PairedRuns, pair
from vidence.report.panel_grid import Grid, GridCell, PanelView, SettingsView, by_benchmark
from vidence.report.panel_views.paired_cells import Lineup, Versus, differences
from vidence.report.scores import Draws, is_moderate, natural_order
from vidence.statistics.ratios import ratio_of_means
from vidence.statistics.resampling import Resampling
from vidence.tables.charts import Statement
from vidence.tables.table import Cell, Column, Row, Table

ALL = "*"
CONFOUNDED = "confounded with the prompt"
# What must be the same for a difference to be one of the style; the names are those of a plan.
_ALIKE: Final = (
    *("selector", "frames", "layout", "frame_times", "size", "shuffle_choices", "strategy"),
    *("text_parser", "judge", "judge_models"),
)
_STYLES: Final[Mapping[str, str]] = {"direct": "direct", "cot": "step by step"}
# What is taken from what, and what that is called: weights and style of the first, then of the second.
_STEPS: Final = (
    ("weights, asked directly", ("thinking", "direct"), ("instruct", "direct")),
    ("weights, asked step by step", ("thinking", "cot"), ("instruct", "cot")),
    ("prompt, instruct weights", ("instruct", "cot"), ("instruct", "direct")),
    ("prompt, thinking weights", ("thinking", "cot"), ("thinking", "direct")),
    (f"weights and prompt ({CONFOUNDED})", ("thinking", "cot"), ("instruct", "direct")),
)


class Settings(Record):
    """Options of the view."""

    by: Annotated[
        Literal["base", "style", "thinking", "selector"],
        Meta(
            description="base: the model that a method was made from, or a condition; style: direct answers; "
            "thinking: instruct weights; selector: another selector of frames"
        ),
    ] = "base"
    against: Annotated[
        str,
        Meta(description="with base the condition, with selector the selector that others are set against"),
    ] = ""
    tags: Annotated[
        tuple[str, ...],
        Meta(description="tags, differences for each of their values, too; * for all; not with selector"),
    ] = ()
    shared: Annotated[
        bool, Meta(description="compare what two runs share where frames or parsers differ, and say so")
    ] = False

    def __post_init__(self) -> None:
        if self.tags and self.by == "selector":
            raise UsageError(
                "pairs: tags= goes with by=base, style or thinking; leave it out for by=selector"
            )


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """The name `first` of a lineup minus the name `second`; without a lineup, their questions differ."""

    label: str
    detail: str
    lineup: Lineup | None
    first: str = "own"
    second: str = "base"
    unread: tuple[int, int] | None = None
    """Unanswered replies of the first and of the second."""
    notes: tuple[str, ...] = ()

    def versus(self, *, draws: Draws, is_relative: bool = False) -> Versus:
        """Return the difference."""
        lineup = self.lineup
        return Versus(
            label=self.label,
            detail=self.detail,
            found=None if lineup is None else lineup.versus(self.first, self.second, level=draws.level),
            relative=self._relative(draws) if is_relative else None,
            unread=self.unread,
        )

    def _relative(self, draws: Draws) -> Estimate | None:
        if self.lineup is None or not self.lineup.values(self.second).any():
            return None
        own, base = map(self.lineup.values, (self.first, self.second))
        return ratio_of_means(
            own - base,
            base,
            clusters=self.lineup.paired.clusters,
            rng=draws.fresh(),
            settings=Resampling(level=draws.level),
        ).fieller


class Pairs(SettingsView[Settings]):
    """Differences between runs on the same questions, with Holm's adjustment over all lines.

    Step by step minus direct; thinking weights minus instruct weights (separated from the prompt's effect if
    all four runs exist); a method minus its base model; each frame selector minus the base.

    Source: HumanPCR, figures 7 and 9 and table 9; MMVU, figures 4 and 16; PerceptionComp, section 4.1 and
        table 2; HERBench, tables 3 and 5.
    Departs: the papers compare means; pairing, intervals and tests are ours.
    """

    name = "pairs"

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """Return the differences and their figure; by style a table per tag, by selector the scores first.

        Raises:
            UsageError: no run has a base, or two runs share one way of asking.
        """
        settings = self.settings
        match settings.by:
            case "base":
                pairs = _of_bases(grid, against=settings.against)
            case "style":
                pairs = _of_styles(grid, shared=settings.shared)
            case "thinking":
                pairs = _of_thinking(grid, shared=settings.shared)
            case "selector":
                return _of_selectors(grid, settings.against, draws=draws)
        is_style = settings.by == "style"
        notes = [*(() if is_style else grid.gaps()), *(note for entry in pairs for note in entry.notes)]
        lines = [entry.versus(draws=draws, is_relative=is_style) for entry in pairs]
        whole = differences("pairs", _TITLES[settings.by], lines, draws=draws, notes=notes)
        return (whole, *_by_tag(pairs, settings.tags, draws=draws))


_TITLES: Final = {
    "base": "What is gained over the base",
    "style": "Reasoning first, less answering directly",
    "thinking": "Thinking weights, less instruct weights",
}


def create(settings: Settings) -> PanelView:
    """Create the view."""
    return Pairs(settings)


def _by_tag(pairs: Sequence[_Pair], tags: Sequence[str], *, draws: Draws) -> Iterator[Table]:
    """Yield a table per tag with a row per pair and value; each table is its own family for Holm.

    A tag asks one question (which dimensions gain?), and readers select from all cells of its table; other
    tags ask other questions, often about the same replies.
    """
    parts: list[tuple[str, Versus]] = []
    for entry in pairs:
        lineup = entry.lineup
        if lineup is None:
            continue
        known = dict.fromkeys(tag for item in lineup.paired.items for tag in item.tags)
        for tag in known if ALL in tags else tags:
            places = lineup.paired.places(tag)
            if len(places) > 1 and is_moderate(tuple(places)):
                for value in sorted(places, key=natural_order):
                    words = (entry.label, value, entry.detail) if len(pairs) > 1 else (value, entry.detail)
                    label, *detail = filter(None, words)
                    part = lineup.part(places[value])
                    own = replace(entry, label=label, detail=", ".join(detail), lineup=part, unread=None)
                    parts.append((tag, own.versus(draws=draws)))
    for tag in dict.fromkeys(tag for tag, _ in parts):
        lines = [line for of, line in parts if of == tag]
        note = f"Adjusted for the {len(lines):,} models and values in this table, not for other tables."
        yield differences(f"pairs:{tag}", f"The same by {tag}", lines, draws=draws, notes=(note,))


# --------------------------------------------------------------------------- methods and conditions


def _of_bases(grid: Grid, *, against: str) -> list[_Pair]:
    """Return each model minus its base model, and each condition minus a base condition."""
    pairs = []
    for cell in grid.scored:
        if (base := _base(cell, grid, against=against)) is not None:
            label = f"{cell.label} less {base.label}"
            if cell.model == base.model:
                label = f"{cell.model}: {cell.condition} less {base.condition}"
            lineup = Lineup.of({"own": cell, "base": base})
            pairs.append(_Pair(label=label, detail=cell.benchmark, lineup=lineup))
    if not pairs:
        raise UsageError(
            "no run of the panel has a base; name one: base = MODEL beside a model, or "
            "--as pairs?against=CONDITION"
        )
    return pairs


def _base(cell: GridCell, grid: Grid, *, against: str) -> GridCell | None:
    """Return the base run of a run; None if it has none."""
    if cell.about.base:
        row = (cell.about.base, cell.condition)
    elif against and cell.condition != against:
        row = (cell.model, against)
    else:
        return None
    where = (cell.benchmark, cell.run.plan.split)
    return next((c for c in grid.scored if c.row == row and (c.benchmark, c.run.plan.split) == where), None)


# --------------------------------------------------------------------------- ways of asking, weights


def _asked_alike(cell: GridCell) -> tuple[object, ...]:
    """Return what runs share if they differ only in style and model: benchmark, split, frames, strategy."""
    plan = cell.run.plan
    return cell.benchmark, plan.split, plan.selector, plan.frames, plan.strategy


def _of_style(cells: Sequence[GridCell], style: str) -> GridCell | None:
    """Return the only run in a style; None without one.

    Raises:
        UsageError: there are several.
    """
    own = [cell for cell in cells if cell.run.plan.style == style]
    if len(own) > 1:
        named = " and ".join(repr(cell.label) for cell in own)
        raise UsageError(f"{named} are both asked with style = {style!r}; leave one out of the panel")
    return own[0] if own else None


def _of_styles(grid: Grid, *, shared: bool) -> list[_Pair]:
    """Return the models asked in both styles, with their conditions if there are several."""
    groups = by_key(((cell.model, *_asked_alike(cell)), cell) for cell in grid.scored)
    both = [
        (direct, cot)
        for cells in groups.values()
        if (direct := _of_style(cells, "direct")) is not None
        if (cot := _of_style(cells, "cot")) is not None
    ]
    if not both:
        raise UsageError(
            "no model of the panel has a run with style = 'direct' and one with style = 'cot' that are "
            "asked alike otherwise; name both as conditions"
        )
    n_of = Counter(direct.model for direct, _ in both)
    return [
        _strict(
            cot,
            direct,
            label=direct.model if n_of[direct.model] == 1 else f"{direct.label}, {direct.benchmark}",
            detail=direct.benchmark,
            shared=shared,
        )
        for direct, cot in both
    ]


def _strict(own: GridCell, base: GridCell, *, label: str, detail: str, shared: bool) -> _Pair:
    """Return a pair whose runs differ in nothing that could be confused with the style.

    Raises:
        UsageError: they differ in more, without `shared`.
    """
    differing = [
        f"{name} {msgspec.to_builtins(first)} and {msgspec.to_builtins(second)}"
        for name in _ALIKE
        if (first := getattr(base.run.plan, name)) != (second := getattr(own.run.plan, name))
    ]
    if base.run.parser != own.run.parser:
        differing.append(f"parser {base.run.parser} and {own.run.parser}")
    if differing and not shared:
        raise UsageError(
            f"{base.label} and {own.label} differ in more than the style: {'; '.join(differing)}. Ask again "
            "alike, or compare them all the same with shared=true"
        )
    notes = [f"{label} differs in more than the style: {'; '.join(differing)}."] if differing else []
    return _pair(own, base, label=label, detail=detail, shared=shared, notes=notes)


def _pair(
    own: GridCell, base: GridCell, *, label: str, detail: str, shared: bool, notes: Sequence[str] = ()
) -> _Pair:
    paired = pair([own.run, base.run], shared=shared)
    lineup = Lineup(paired=replace(paired, names=("own", "base")))
    asked = {item.item_id for item in paired.items}
    unread = [
        sum(row.item.item_id in asked and row.outcome != "answered" for row in cell.run.rows)
        for cell in (own, base)
    ]
    return _Pair(
        label=label,
        detail=detail,
        lineup=lineup,
        unread=(unread[0], unread[1]),
        notes=(*notes, *paired.notes),
    )


def _of_thinking(grid: Grid, *, shared: bool) -> list[_Pair]:
    """Return each model with a `base` minus that base, each asked directly or step by step.

    Papers have only the diagonal: instruct weights asked directly, thinking weights asked to reason. That
    difference mixes weights and prompt, and its line says so.
    """
    pairs: list[_Pair] = []
    families: dict[str, tuple[object, ...]] = {}
    for cell in grid.scored:
        alike = [entry for entry in grid.scored if _asked_alike(entry) == _asked_alike(cell)]
        own, base = ([c for c in alike if c.model == model] for model in (cell.model, cell.about.base))
        plan, key = cell.run.plan, (cell.model, *_asked_alike(cell))
        family = (
            f"{cell.about.base}, {cell.model} ({cell.benchmark}, {plan.frames} frames of {plan.selector})"
        )
        if not cell.about.base or not base or families.get(family) == key:
            continue
        if family in families:
            raise UsageError(f"{family} would stand in two rows; give their runs conditions with names")
        families[family] = key
        corners = {
            (weights, style): grid_cell
            for weights, cells in (("instruct", base), ("thinking", own))
            for style in _STYLES
            if (grid_cell := _of_style(cells, style)) is not None
        }
        for words, first, second in _STEPS:
            if first in corners and second in corners:
                own_cell, base_cell = corners[first], corners[second]
                pairs.append(_pair(own_cell, base_cell, label=family, detail=words, shared=shared))
    if not pairs:
        raise UsageError(
            "no thinking model of the panel names its instruct model; write base = MODEL beside it"
        )
    return pairs


# --------------------------------------------------------------------------- selectors


@dataclass(frozen=True, kw_only=True)
class _Shown:
    """A model that saw the frames of several selectors on the same questions."""

    label: str
    detail: str
    lineup: Lineup


def _of_selectors(grid: Grid, against: str, *, draws: Draws) -> tuple[Table, Table]:
    """Return scores by selector, and each selector minus the base: runs, and ``selector-gap`` findings."""
    rows = [*_of_findings(grid, draws=draws), *_of_runs(grid)]
    names = list(dict.fromkeys(name for row in rows for name in row.lineup.names))
    if not rows:
        raise UsageError(
            "no model of the panel was shown the frames of several selectors; make conditions that "
            "differ in their selector, or `vidence diagnose selector-gap RUN --set selectors=...`"
        )
    if against and against not in names:
        raise UsageError(f"no run has the selector {against!r}; there are {', '.join(names)}")
    pairs = []
    for row in rows:
        base = against if against in row.lineup.names else row.lineup.names[0]
        pairs += [
            _Pair(
                label=f"{row.label}: {name} less {base}",
                detail=row.detail,
                lineup=row.lineup,
                first=name,
                second=base,
            )
            for name in row.lineup.names
            if name != base
        ]
    lines = [entry.versus(draws=draws) for entry in pairs]
    return (
        _scores(rows, names, draws=draws),
        differences("pairs", "Selectors against the base", lines, draws=draws),
    )


def _of_findings(grid: Grid, *, draws: Draws) -> Iterator[_Shown]:
    for cell in grid.cells:
        for diagnosed in cell.found("selector-gap", level=draws.level):
            first = next((e.finding for e in diagnosed.examined if isinstance(e.finding, GapFinding)), None)
            names = [name for name in (first.marks if first else ()) if name != TEXT]
            side = side_by_side(
                diagnosed.examined,
                GapFinding,
                lambda finding: finding.marks,
                conditions=names,
                figures=Figures(rng=draws.fresh(), level=draws.level),
            )
            called = {PLAN: diagnosed.plan.selector, ORACLE: "evidence"}
            if side.items:
                paired = PairedRuns(
                    runs=(),
                    names=tuple(called.get(name, name) for name in names),
                    items=side.items,
                    values=np.column_stack([side.values[name] for name in names]),
                    noun=source_noun(side.items),
                )
                yield _shown(cell, Lineup(paired=paired), source="findings of selector-gap")


def _of_runs(grid: Grid) -> Iterator[_Shown]:
    for some in by_benchmark(
        grid.scored, lambda c: f"{c.benchmark}\n{c.run.plan.split}\n{c.model}\n{c.run.plan.frames}"
    ).values():
        at = {cell.run.plan.selector: cell for cell in some}
        if len(at) < 2 or len(at) < len(some):
            continue  # conditions that differ in something else would be taken for selectors
        if (lineup := Lineup.of(at)) is not None:
            yield _shown(some[0], lineup)


def _shown(cell: GridCell, lineup: Lineup, *, source: str = "") -> _Shown:
    detail = ", ".join(filter(None, (cell.benchmark, f"{cell.run.plan.frames} frames", source)))
    return _Shown(label=cell.model, detail=detail, lineup=lineup)


def _scores(rows: Sequence[_Shown], names: Sequence[str], *, draws: Draws) -> Table:
    def score(row: _Shown, name: str) -> Cell:
        has = name in row.lineup.names
        return Cell(value=row.lineup.mean(name, level=draws.level)) if has else Cell()

    return Table(
        name="pairs-scores",
        title="Scores by selector",
        note="Each row is of the same questions throughout. A dash: the model was not shown these frames.",
        label="model",
        columns=tuple(Column(key=f"selector:{name}", title=name, kind="share") for name in names),
        rows=tuple(
            Row(
                key=f"row:{i}",
                label=row.label,
                detail=row.detail,
                values=tuple(score(row, name) for name in names),
            )
            for i, row in enumerate(rows)
        ),
    )
