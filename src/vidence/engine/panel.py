"""A panel: several models, under several conditions, on several benchmarks. Each of its cells is a run."""

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
"""Begins what is no path but an address on the hub."""


class PanelBenchmark(Record):
    """One benchmark of a panel, and settings that hold for it.

    `data` are its questions and `media` the folder of its videos, relative to the file of the panel; without
    `data` they are what ``vidence get`` fetched. With `trials` false no run is asked on it: it is there for
    diagnostics.
    """

    benchmark: str
    data: str | None = None
    media: str | None = None
    name: str = ""
    trials: bool = True
    settings: dict[str, object] = msgspec.field(default_factory=dict)


class ModelFacts(Record, omit_defaults=True):
    """What views of a panel ask of a model beside its replies."""

    family: str = ""
    """The series that it is one size of."""
    base: str = ""
    """The name of the model of this panel that it was made from."""
    size_b: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """Billions of parameters; None where that is not known."""
    people: bool = False
    """Whether these are people: rows beside the models, and part of no mean or rank over models."""

    def facts(self) -> "ModelFacts":
        """The facts about the model, without the settings of its requests."""
        return ModelFacts(family=self.family, base=self.base, size_b=self.size_b, people=self.people)


UNKNOWN: Final = ModelFacts()
"""The facts of a model whose table states none."""


class PanelModel(ModelFacts):
    """One model of a panel. `rows` name how papers asked such a model (`paper_rows`)."""

    model: str
    name: str = ""
    rows: tuple[str, ...] = ()
    settings: dict[str, object] = msgspec.field(default_factory=dict)


class PanelFolder(ModelFacts):
    """A run folder that is there already: asked elsewhere, made of recorded replies, or of people.

    `folder` is relative to the file of the panel. That of a study, or a pattern such as
    ``study/people/*-open`` for a single of its phases, is a row of all its people. `model` and `condition`
    are its place among the others; by default the name of the run, and none.
    """

    folder: str
    model: str = ""
    condition: str = ""


class Condition(Record):
    """One way to ask in which the runs of a panel differ.

    `options` are those of every model under it, such as its budget of thinking; they replace what the spec
    of the model says.
    """

    name: str
    options: dict[str, object] = msgspec.field(default_factory=dict)
    settings: dict[str, object] = msgspec.field(default_factory=dict)


class PanelDiagnostic(Record):
    """A diagnostic that is made on runs of a panel; its findings lie in their folders.

    `diagnostic` is its name, with options behind ``?`` or in `options`. It is made on the runs of these
    benchmarks, models and conditions, by their names in the panel; on all of them where none is named.
    """

    diagnostic: str
    options: dict[str, object] = msgspec.field(default_factory=dict)
    benchmarks: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()


class PanelFile(Record):
    """What the file of a panel holds; `settings` hold for all its runs.

    Settings have the names of the fields of a plan. Those of a benchmark replace those of the panel, those of
    the rows of papers these, then those of the model, then those of the condition. `max_cost` is for all runs
    and diagnostics of one session together.
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
    """A panel that a program holds in place of a file; its models may be functions and objects.

    Args:
        mapping: what the file of a panel would hold.
        chance: as for `spec_of`.

    Raises:
        UsageError: it is no panel; the message says which field is wrong.
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
    """One cell of a panel: what is asked, and in which folder."""

    benchmark: str
    model: str
    condition: str
    plan: Plan
    folder: Path
    about: ModelFacts = UNKNOWN
    has_trials: bool = True
    """Whether its questions are asked; False where only diagnostics ask on its benchmark."""

    @property
    def label(self) -> str:
        """The model and its condition."""
        return ", ".join(filter(None, (self.model, self.condition)))


class PaperRow(Record):
    """How a paper asked some of the models of its tables."""

    says: str
    source: str
    settings: dict[str, object]


@functools.cache
def paper_rows() -> Mapping[str, PaperRow]:
    """How papers asked the models of their tables, by ``BENCHMARK/ROW``."""
    values = packaged("vidence.engine", "panel_rows.toml", dict[str, dict[str, PaperRow]])
    return {f"{benchmark}/{name}": row for benchmark, some in values.items() for name, row in some.items()}


def planned(panel: PanelFile, *, beside: Path, root: Path, cache: Path | None = None) -> tuple[PanelRun, ...]:
    """The runs of a panel: benchmark by benchmark, model by model, condition by condition.

    Args:
        panel: the panel.
        beside: the folder that data is relative to.
        root: the folder of the panel; every run has one of its own in it.
        cache: as for `make_plan`.

    Raises:
        UsageError: an unknown name, an impossible value, two runs in one folder, or a limit of spending where
            the price of a model is not known.
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
    """The run folders that a panel names; nothing in them is asked.

    Args:
        panel: the panel.
        beside: the folder that they are relative to.

    Raises:
        StoreError: no run folder.
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
    """The settings of layers of TOML, of which a later one takes the place of earlier ones."""
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
    """The settings of the rows of papers that are about this benchmark."""
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
    """The spec of a model with other options."""
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
    """A name as that of a folder.

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
    """See that the user has allowed what the file of a panel wants; `more` is what its diagnostics want.

    Raises:
        TrustError: it wants what needs the user's word; nothing was asked.
    """
    needs = (
        need for run in runs for need in needs_of_plan(run.plan, folder=run.folder, environment=environment)
    )
    check(dict.fromkeys((*needs, *more)), source=source, environment=environment, is_trusted=is_trusted)
