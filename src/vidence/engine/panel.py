"""A panel of models, conditions and benchmarks. Each cell is a run."""

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import msgspec

from vidence.ask.files import why_no_record
from vidence.ask.models.http import HttpSettings
from vidence.ask.models.prices import needs_prices
from vidence.catalog import parse_spec, settings_type
from vidence.engine.caller_objects import spec_of
from vidence.engine.diagnose import option_texts
from vidence.engine.environment import Environment
from vidence.engine.people import person_folders
from vidence.engine.plan import Plan, PlanOverrides, read_overrides, read_plan
from vidence.engine.prepare import make_plan
from vidence.engine.specs import label as label_of
from vidence.engine.specs import model_spec, short_name
from vidence.engine.trust import Need, check, needs_of_plan
from vidence.errors import UnknownNameError, UsageError
from vidence.installation import packaged
from vidence.media.address import is_address
from vidence.records import Record

ADDRESS: Final = "hf:"
"""Prefix of an address on the hub."""


class PanelBenchmark(Record):
    """A benchmark of a panel, with settings of its own.

    `data` are its questions and `media` the folder of its videos, relative to the panel's file; without
    `data`, what ``vidence get`` fetched. If `trials` is false, only diagnostics use it.
    """

    benchmark: str
    data: str | None = None
    media: str | None = None
    name: str = ""
    trials: bool = True
    settings: dict[str, object] = msgspec.field(default_factory=dict)


class ModelFacts(Record, omit_defaults=True):
    """Facts about a model that views of a panel use."""

    family: str = ""
    """The model series."""
    base: str = ""
    """Name of its base model in this panel."""
    size_b: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """Billions of parameters; None if unknown."""
    people: bool = False
    """Whether these are people: shown with the models, but excluded from means and ranks."""

    def facts(self) -> "ModelFacts":
        """Return the facts without the request settings."""
        return ModelFacts(family=self.family, base=self.base, size_b=self.size_b, people=self.people)


UNKNOWN: Final = ModelFacts()
"""Facts of a model without a table entry."""


class PanelModel(ModelFacts):
    """A model of a panel. `rows` name paper rows that used such a model (`paper_rows`)."""

    model: str
    name: str = ""
    rows: tuple[str, ...] = ()
    settings: dict[str, object] = msgspec.field(default_factory=dict)


class PanelFolder(ModelFacts):
    """An existing run folder: asked elsewhere, made of recorded replies, or of people.

    `folder` is relative to the panel's file. A study folder, or a pattern such as ``study/people/*-open`` for
    one of its phases, becomes a row of all its people. `model` and `condition` place it in the panel; by
    default the run's name, and none.
    """

    folder: str
    model: str = ""
    condition: str = ""


class Condition(Record):
    """A way to ask, in which the runs of a panel differ.

    `options` apply to every model under it, such as a thinking budget, and override the model's spec.
    """

    name: str
    options: dict[str, object] = msgspec.field(default_factory=dict)
    settings: dict[str, object] = msgspec.field(default_factory=dict)


class PanelDiagnostic(Record):
    """A diagnostic to run on runs of a panel; its findings are stored in their folders.

    `diagnostic` is its name, with options after ``?`` or in `options`. It runs on the named benchmarks,
    models and conditions, or on all if none are named.
    """

    diagnostic: str
    options: dict[str, object] = msgspec.field(default_factory=dict)
    benchmarks: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()


class PanelFile(Record):
    """The contents of a panel's file; `settings` apply to all its runs.

    Settings are named like the fields of a plan. Later ones override earlier ones: the panel's, the
    benchmark's, those of paper rows, the model's, the condition's. `max_cost` covers all runs and diagnostics
    of a session.
    """

    title: str = ""
    max_cost: float | None = None
    settings: dict[str, object] = msgspec.field(default_factory=dict)
    benchmarks: tuple[PanelBenchmark, ...] = ()
    models: tuple[PanelModel, ...] = ()
    conditions: tuple[Condition, ...] = (Condition(name=""),)
    runs: tuple[PanelFolder, ...] = ()
    diagnostics: tuple[PanelDiagnostic, ...] = ()

    def __post_init__(self) -> None:
        is_asked = bool(self.benchmarks or self.models or not self.runs)
        for what, names in {
            "benchmarks": [benchmark.name or benchmark.benchmark for benchmark in self.benchmarks],
            "models": [model.name or short_name(model.model) for model in self.models],
            "conditions": [condition.name for condition in self.conditions],
        }.items():
            if not names and is_asked:
                raise UsageError(f"the panel has no {what}; name one at least")
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise UsageError(f"two {what} are called {twice[0]!r}; give each a name of its own")
        if len(self.conditions) > 1 and not all(condition.name for condition in self.conditions):
            raise UsageError("a condition has no name; give each one, since it tells their runs apart")
        if self.max_cost is not None and not self.max_cost > 0:
            raise UsageError(f"max_cost is {self.max_cost}; expected more than 0")


def panel_of(mapping: Mapping[str, object], *, chance: str) -> PanelFile:
    """Return a panel that a program defines; its models may be functions and objects.

    Args:
        mapping: the contents of a panel's file.
        chance: as for `spec_of`.

    Raises:
        UsageError: not a panel; the message names the wrong field.
    """
    whole = dict(mapping)
    if isinstance(models := whole.get("models"), list | tuple):
        whole["models"] = [
            {**model, "model": spec_of(model.get("model"), chance=f"{chance}-{place}")}
            if isinstance(model, Mapping)
            else model
            for place, model in enumerate(models)
        ]
    try:
        panel = msgspec.convert(whole, PanelFile)
    except msgspec.ValidationError as error:
        raise UsageError(f"not a panel: {why_no_record(error, record=PanelFile)}") from error
    if not panel.title:
        raise UsageError("the panel has no title; expected one, which names the folder of its runs")
    return panel


@dataclass(frozen=True, kw_only=True)
class PanelRun:
    """A cell of a panel: the plan and its folder."""

    benchmark: str
    model: str
    condition: str
    plan: Plan
    folder: Path
    about: ModelFacts = UNKNOWN
    has_trials: bool = True
    """Whether to ask the questions; False if only diagnostics use the benchmark."""

    @property
    def label(self) -> str:
        """The model and its condition."""
        return ", ".join(filter(None, (self.model, self.condition)))


class PaperRow(Record):
    """How a paper asked some of the models in its tables."""

    says: str
    source: str
    settings: dict[str, object]


@functools.cache
def paper_rows() -> Mapping[str, PaperRow]:
    """Return how papers asked the models of their tables, by ``BENCHMARK/ROW``."""
    values = packaged("vidence.engine", "panel_rows.toml", dict[str, dict[str, PaperRow]])
    return {f"{benchmark}/{name}": row for benchmark, some in values.items() for name, row in some.items()}


def planned(panel: PanelFile, *, beside: Path, root: Path, cache: Path | None = None) -> tuple[PanelRun, ...]:
    """Return the runs of a panel, ordered by benchmark, model and condition.

    Args:
        panel: the panel.
        beside: the folder that data paths are relative to.
        root: the panel's folder, with a subfolder per run.
        cache: as for `make_plan`.

    Raises:
        UsageError: an unknown name, an invalid value, two runs in one folder, or a spending limit with a
            model of unknown price.
    """
    runs = []
    for entry, model, condition in itertools.product(panel.benchmarks, panel.models, panel.conditions):
        title = entry.name or entry.benchmark
        name = model.name or short_name(model.model)
        label = ", ".join(filter(None, (name, condition.name)))
        layers = (
            panel.settings,
            entry.settings,
            *_rows(model, entry.benchmark, panel.benchmarks),
            model.settings,
            condition.settings,
        )
        try:
            plan = make_plan(
                entry.benchmark,
                data=_place(entry.data, beside),
                model=_with_options(model.model, condition.options),
                overrides=_merged(layers) | {"name": label, "media": _media_of(entry, beside)},
                cache=cache,
            )
        except UsageError as error:
            raise UsageError(f"{label} on {title}: {error}") from error
        folder = root / slug(title) / slug(label)
        about = model.facts()
        place = {"benchmark": title, "model": name, "condition": condition.name}
        runs.append(PanelRun(**place, plan=plan, folder=folder, about=about, has_trials=entry.trials))
    _check_apart(runs)
    if panel.max_cost is not None:
        _check_prices(runs)
    return tuple(runs)


def given_runs(panel: PanelFile, *, beside: Path) -> tuple[PanelRun, ...]:
    """Return the run folders that a panel names; they are only read.

    Args:
        panel: the panel.
        beside: the folder that they are relative to.

    Raises:
        StoreError: not a run folder.
    """
    entries = []
    for run in panel.runs:
        folder = beside / run.folder
        people = person_folders(folder)
        plan, _ = read_plan(people[0] if people else folder)
        titles = [
            entry.name for entry in panel.benchmarks if entry.name and entry.benchmark == plan.benchmark
        ]
        entries.append(
            PanelRun(
                benchmark=titles[0] if len(titles) == 1 else plan.benchmark,
                model=run.model or ("people" if people else label_of(plan)),
                condition=run.condition,
                plan=plan,
                folder=folder,
                about=msgspec.structs.replace(run.facts(), people=run.people or bool(people)),
            )
        )
    return tuple(entries)


def _merged(layers: Iterable[Mapping[str, object]]) -> PlanOverrides:
    """Merge settings of TOML layers; later layers override earlier ones."""
    settings: dict[str, object] = {}
    for layer in layers:
        for key in layer:
            if key in {"name", "media", "model"} or key not in PlanOverrides.__annotations__:
                known = PlanOverrides.__annotations__.keys() - {"name", "media"}
                raise UnknownNameError("setting of a panel", key, sorted(known))
        settings |= layer
    return read_overrides(settings)


def _rows(
    model: PanelModel, benchmark: str, benchmarks: Sequence[PanelBenchmark]
) -> Iterator[Mapping[str, object]]:
    """Yield the settings of the paper rows about this benchmark."""
    asked = {entry.benchmark for entry in benchmarks}
    for name in model.rows:
        if name not in paper_rows():
            raise UnknownNameError("row of a paper", name, paper_rows())
        of = name.partition("/")[0]
        if of not in asked:
            raise UsageError(f"{model.model} has the row {name}, and the panel has no benchmark {of}")
        if of == benchmark:
            yield paper_rows()[name].settings


def _with_options(model: str, options: Mapping[str, object]) -> str:
    """Return a model's spec with other options."""
    if not options:
        return model
    texts = option_texts(options)
    if wrong := next((key for key, text in texts.items() if {"&", "?", "%"} & set(text)), None):
        raise UsageError(
            f"the option {wrong} of a condition is {texts[wrong]!r}; expected no '&', '?' or '%': name "
            "another model instead"
        )
    return model_spec(model, "+" + "&".join(f"{key}={text}" for key, text in texts.items()))


def _place(data: str | None, path: Path) -> Path | None:
    if data is None:
        return None
    return Path(data) if data.startswith(ADDRESS) else path / data


def _media_of(entry: PanelBenchmark, path: Path) -> str | None:
    if entry.media is None or is_address(entry.media):
        return entry.media
    return str(_place(entry.media, path))


def slug(text: str) -> str:
    """Turn a name into a folder name.

    >>> slug("Letters & rules, twice"), slug("...")
    ('Letters---rules--twice', 'run')
    """
    clean = "".join(c if c.isalnum() or c in "._" else "-" for c in text)
    return clean[:60].strip("-.") or "run"


def _check_apart(runs: Sequence[PanelRun]) -> None:
    folders: dict[Path, PanelRun] = {}
    for run in runs:
        other = folders.setdefault(run.folder, run)
        if other is not run:
            raise UsageError(
                f"{other.label} and {run.label} would share the folder {run.folder}; choose names with other "
                "letters or digits"
            )


def _check_prices(runs: Sequence[PanelRun]) -> None:
    for run in runs:
        plan, spec = run.plan, parse_spec(run.plan.model)
        settings = settings_type("model", spec.name)
        is_paid = settings is not None and issubclass(settings, HttpSettings)
        if is_paid and plan.prices is None:
            raise UsageError(
                needs_prices([plan.model], how=f"price_in and price_out of {run.model} in its settings")
            )


def check_panel(
    runs: Sequence[PanelRun],
    *,
    source: Path,
    environment: Environment,
    is_trusted: bool,
    more: Iterable[Need] = (),
) -> None:
    """Check that the user trusts what a panel's file requires; `more` are its diagnostics' needs.

    Raises:
        TrustError: the user must confirm first; nothing was asked.
    """
    needs = (
        need for run in runs for need in needs_of_plan(run.plan, folder=run.folder, environment=environment)
    )
    check(dict.fromkeys((*needs, *more)), source=source, environment=environment, is_trusted=is_trusted)
