"""Ask video models questions, explain their scores, make new questions.

The functions are named after the commands and do the same::

    import vidence

    run = vidence.evaluate("questions.jsonl", model="openai:gpt-4.1", n_frames=32)
    run.score, run.trials, run.plot()
    run = vidence.evaluate("questions.jsonl", model=a_function_of_mine)
    run = vidence.evaluate(plan="runs/a", n_frames=64)
    vidence.panel("panel.toml").scores
    vidence.diagnose("modality", run).tables()
    vidence.compare("runs/a", "runs/b").headline.difference
    vidence.Video("clip.mp4").at(1.5).data

Importing this package imports none of its modules.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, Unpack, overload

if TYPE_CHECKING:
    from vidence.ask.functions import VouchedName
    from vidence.engine.caller_objects import AnyModel, AnyOverrides, AnyParser, AnyQuestions, AnyThing
    from vidence.engine.diagnose import Account
    from vidence.engine.environment import Environment
    from vidence.engine.evaluate import Summary
    from vidence.engine.panel import PanelRun
    from vidence.engine.panel_diagnostics import Examination
    from vidence.engine.plan import Plan
    from vidence.errors import VidenceError
    from vidence.installation import __version__
    from vidence.make.pipeline.session import Built
    from vidence.media.video import Frame, Video
    from vidence.records import Item, Media, Reply
    from vidence.report import results
    from vidence.report.comparison import Compared, Ranked
    from vidence.report.contrasts import Contrasts
    from vidence.report.correlation import Correlated
    from vidence.report.diagnosis import Diagnosed
    from vidence.report.opened_run import Run
    from vidence.report.panel_runs import Panel
    from vidence.statistics import metrics

__all__ = [
    "Frame",
    "Item",
    "Media",
    "Panel",
    "Reply",
    "Run",
    "VidenceError",
    "Video",
    "__version__",
    "compare",
    "contrast",
    "correlate",
    "diagnose",
    "evaluate",
    "make",
    "metrics",
    "named",
    "open_run",
    "panel",
]
_CLASSES = {
    "Frame": "vidence.media.video",
    "Item": "vidence.records",
    "Media": "vidence.records",
    "Panel": "vidence.report.panel_runs",
    "Reply": "vidence.records",
    "Run": "vidence.report.opened_run",
    "Video": "vidence.media.video",
    "VidenceError": "vidence.errors",
    "__version__": "vidence.installation",
}
_T = TypeVar("_T")


def __getattr__(name: str) -> object:
    """Import a class, or the module `metrics`, on first use."""
    import importlib

    if name == "metrics":
        return importlib.import_module("vidence.statistics.metrics")
    if name in _CLASSES:
        return vars(importlib.import_module(_CLASSES[name]))[name]
    from vidence.errors import UnknownNameError

    raise AttributeError(str(UnknownNameError("attribute of vidence", name, __all__)))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


@overload
def evaluate(
    benchmark: "AnyQuestions",
    *,
    data: Path | str | None = None,
    model: "AnyModel",
    out: Path | str | None = None,
    cache: Path | str | None = None,
    progress: bool | None = None,
    **overrides: "Unpack[AnyOverrides]",
) -> "Run": ...
@overload
def evaluate(
    *,
    plan: "Run | Path | str",
    data: Path | str | None = None,
    model: "AnyModel | None" = None,
    out: Path | str | None = None,
    cache: Path | str | None = None,
    progress: bool | None = None,
    trust: bool = False,
    **overrides: "Unpack[AnyOverrides]",
) -> "Run": ...
def evaluate(  # noqa: PLR0913 - no setting has the name of an argument: a test
    benchmark: "AnyQuestions | None" = None,
    *,
    plan: "Run | Path | str | None" = None,
    data: Path | str | None = None,
    model: "AnyModel | None" = None,
    out: Path | str | None = None,
    cache: Path | str | None = None,
    progress: bool | None = None,
    trust: bool = False,
    **overrides: "Unpack[AnyOverrides]",
) -> "Run":
    """Ask a model the questions of a benchmark, and return the run; also works in notebooks.

    The same call again resumes the run: nothing is asked twice. A plan is repeated in a new folder, or
    resumed in `out`.

    Args:
        benchmark: a name from ``vidence list benchmarks``, the path of a question file, or questions: items,
            mappings with the fields of the item format, or a data frame.
        plan: instead of a benchmark, a run, its folder, or a ``plan.toml``; the other arguments change it.
        data: the file or folder of a benchmark, or ``hf:OWNER/NAME@REVISION``; None: what ``vidence get``
            fetched, or what the plan says.
        model: a model spec such as ``openai:gpt-4.1``; a function (or coroutine function) that takes
            ``prompt``, ``images``, ... and returns a text; or a `contracts.Model`.
        out: the run folder; None: the default of ``vidence run``, a new name in ``runs/``.
        cache: the folder for decoded frames and cached replies; None: that of ``vidence run``.
        progress: whether to show progress; None: in notebooks and on terminals.
        trust: allow the keys, hosts and code that a plan file names; this is remembered.
        overrides: settings that override the benchmark's protocol, named as the plan's fields, for example
            ``frames=32, style="cot", limit=20``. `selector`, `parser` and `strategy` are specs, functions, or
            objects that implement their contracts.

    Raises:
        UsageError: an unknown name (the closest is suggested), an invalid value, or both a benchmark and a
            plan.
        TrustError: the plan file names something that was not allowed.
        VidenceError: the run cannot continue; answers so far are kept.
    """
    from vidence.engine.environment import environment
    from vidence.errors import UsageError

    place = environment(_path(cache))
    if plan is not None and benchmark is None:
        source = _folder(plan)
        asked, folder = _repeated(
            source, data, model=model, out=_path(out), place=place, overrides=overrides, trust=trust
        )
    elif plan is None and benchmark is not None and not trust:
        asked, folder = _begun(benchmark, data, model=model, out=_path(out), place=place, overrides=overrides)
    else:
        raise UsageError(
            "expected evaluate(questions, model=...) or evaluate(plan=FOLDER); only the second takes trust="
        )
    _asked(asked, folder, place=place, progress=progress, doing="asking")
    return open_run(folder)


def panel(
    file: "Path | str | Mapping[str, object]",
    *,
    out: Path | str | None = None,
    cache: Path | str | None = None,
    progress: bool | None = None,
    trust: bool = False,
    level: float = 0.95,
) -> "Panel":
    """Run every model under every condition on every benchmark of a panel, then its diagnostics.

    Each combination is a separate run; the same call resumes incomplete ones, and nothing is asked twice. A
    run that cannot continue does not stop the others: `Panel.missing` says why.

    Args:
        file: the panel's file, or its contents: ``{"title": ..., "benchmarks": [...], "models": [...]}``,
            where a model may be a function or an object, as for `evaluate`.
        out: the folder of the runs; None: ``runs/panel-FILE``, or named after the title of a mapping.
        cache: as for `evaluate`.
        progress: as for `evaluate`.
        trust: allow the keys, hosts and code that the file names; this is remembered.
        level: coverage of the intervals.

    Raises:
        UsageError: the panel is invalid, or no run has a score.
        TrustError: the file names something that was not allowed.
    """
    import secrets

    from vidence.engine.config_file import read_config
    from vidence.engine.diagnose import diagnose
    from vidence.engine.display import watching
    from vidence.engine.environment import environment, now
    from vidence.engine.panel import PanelFile, check_panel, given_runs, panel_of, planned, slug
    from vidence.engine.panel_diagnostics import examinations
    from vidence.engine.trust import begun, remember
    from vidence.report.panel_runs import ask_panel, read_panel

    place = environment(_path(cache))
    if isinstance(file, str | Path):
        config, parent, stem = read_config(Path(file), PanelFile), Path(file).parent, Path(file).stem
    else:
        config = panel_of(file, chance=secrets.token_hex(6))
        parent, stem = Path(), slug(config.title)
    root = _path(out) or Path("runs") / f"panel-{stem}"
    runs = planned(config, beside=parent, root=root, cache=place.cache_root)
    looked_into = examinations(config, runs)
    more = [need for examination in looked_into for need in examination.needs()]
    if isinstance(file, str | Path):
        check_panel(runs, source=Path(file), environment=place, is_trusted=trust, more=more)
    else:
        for run in runs:
            begun(run.plan, folder=run.folder, environment=place)
        remember(more, environment=place)

    def ask(number: int, run: "PanelRun", plan: "Plan") -> "Summary":
        doing = f"[{number}/{len(runs)}] {run.benchmark}, {run.label}"
        return _asked(plan, run.folder, place=place, progress=progress, doing=doing)

    def look(number: int, entry: "Examination", plan: "Plan") -> "Account":
        with watching(progress, doing=f"[{number}/{len(looked_into)}] {entry.label}") as listen:
            return _wait(
                lambda: diagnose(
                    entry.diagnostic,
                    plan,
                    entry.run.folder,
                    options=entry.options,
                    environment=place,
                    now=now(),
                    on_event=listen,
                )
            )

    done = ask_panel(runs, max_cost=config.max_cost, ask=ask, examinations=looked_into, examine=look)
    done.runs += given_runs(config, beside=parent)
    return read_panel(config.title or stem, done, level=level)


def named(name: str, thing: "AnyThing") -> "VouchedName":
    """Name a function or object by its behaviour, so that its replies can be cached.

    A plain function is identified by its name and source. A lambda, a nested function or an object may hold
    values that no source
    shows: their replies are cached across sessions only under a name that you give, and you must change it
    whenever the replies may change.

    Args:
        name: letters, digits, ``.``, ``_`` and ``-``.
        thing: anything that `evaluate` accepts as model, selector, parser or strategy.

    Raises:
        UsageError: the name has other characters.
    """
    from vidence.ask import functions

    return functions.named(name, thing)


def open_run(folder: Path | str, *, parser: "AnyParser | None" = None) -> "Run":
    """Read the folder of a finished or interrupted run.

    Args:
        folder: the folder that ``vidence run`` or `evaluate` wrote.
        parser: None: use the stored scores. A name or function: parse every stored reply again with that
            parser; no model is asked.

    Raises:
        StoreError: not a run folder, damaged, or of another format.
        UnknownNameError: no parser has that name.
    """
    import secrets

    from vidence.engine.caller_objects import spec_of
    from vidence.report import opened_run

    spec = None if parser is None else spec_of(parser, chance=secrets.token_hex(6))
    return opened_run.open_run(folder, parser=spec)


@overload
def diagnose(
    name: str,
    benchmark: "AnyQuestions",
    /,
    *,
    data: Path | str | None = None,
    model: "AnyModel",
    out: Path | str | None = None,
    level: float = 0.95,
    cache: Path | str | None = None,
    **settings: "Unpack[AnyOverrides]",
) -> "Diagnosed": ...
@overload
def diagnose(
    name: str,
    run: "Run | Path | str",
    /,
    *,
    data: None = None,
    model: None = None,
    out: None = None,
    level: float = 0.95,
    cache: Path | str | None = None,
    trust: bool = False,
    **settings: object,
) -> "Diagnosed": ...
def diagnose(  # noqa: PLR0913 - no option has the name of an argument: a test
    name: str,
    what: "Run | AnyQuestions",
    /,
    *,
    data: Path | str | None = None,
    model: "AnyModel | None" = None,
    out: Path | str | None = None,
    level: float = 0.95,
    cache: Path | str | None = None,
    trust: bool = False,
    **settings: object,
) -> "Diagnosed":
    """Find out why a run's score is what it is, or why a model's score on a benchmark would be.

    Questions examined earlier are not examined again. The run's model is asked again with other frames; a
    benchmark need not have been run.

    Args:
        name: a name from ``vidence list diagnostics``; ``name?key=value`` sets an option.
        what: the run, or its folder; with `model`, a benchmark or questions, as for `evaluate`.
        data: the file or folder of the benchmark's questions; None: what ``vidence get`` fetched.
        model: a spec, a function or an object, as for `evaluate`.
        out: the run folder of a benchmark; None: the default of ``vidence diagnose``.
        level: coverage of the intervals.
        cache: as for `evaluate`.
        trust: allow the keys, hosts and code that a run folder's plan names; this is remembered.
        settings: for a run, the options of the diagnostic as listed by ``vidence list diagnostics``; for a
            benchmark, those of `evaluate`.

    Raises:
        UsageError: an unknown option or setting, `data` or `out` without `model`, or no question could be
            examined.
        TrustError: a run folder's plan names something that was not allowed.
        VidenceError: it cannot continue; findings so far are kept.
    """
    from vidence.catalog import parse_spec
    from vidence.engine import diagnose as examining
    from vidence.engine.display import watching
    from vidence.engine.environment import environment, now
    from vidence.engine.trust import taken_up
    from vidence.errors import UsageError
    from vidence.report.diagnosis import load_diagnosed
    from vidence.report.results import Run

    spec, place = parse_spec(name), environment(_path(cache))
    if model is not None and not isinstance(what, Run):
        plan, folder = _begun(what, data, model=model, out=_path(out), place=place, overrides=settings)
        texts = dict(spec.options)
    elif data is None and model is None and out is None and isinstance(what, Run | Path | str):
        folder = _folder(what)
        plan = taken_up(folder, environment=place, is_trusted=trust)
        texts = {**spec.options, **examining.option_texts(settings)}
    else:
        raise UsageError("a benchmark needs model=, and may have data= and out=; a run takes none of them")
    diagnostic = examining.open_diagnostic(spec.name, texts)
    with watching(None, doing=f"examining ({spec.name})") as listen:
        _wait(
            lambda: examining.diagnose(
                diagnostic, plan, folder, options=texts, environment=place, now=now(), on_event=listen
            )
        )
    return load_diagnosed(diagnostic, folder, options=texts, level=level)


@overload
def compare(
    first: "Run | Path | str",
    second: "Run | Path | str",
    /,
    *,
    parser: str | None = None,
    shared: bool = False,
    level: float = 0.95,
    margin: float | None = None,
    anytime: bool = False,
) -> "Compared": ...
@overload
def compare(
    first: "Run | Path | str",
    second: "Run | Path | str",
    third: "Run | Path | str",
    /,
    *more: "Run | Path | str",
    parser: str | None = None,
    shared: bool = False,
    level: float = 0.95,
) -> "Ranked": ...
def compare(  # noqa: PLR0913 - the options of a command; each stands for itself
    first: "Run | Path | str",
    second: "Run | Path | str",
    /,
    *more: "Run | Path | str",
    parser: str | None = None,
    shared: bool = False,
    level: float = 0.95,
    margin: float | None = None,
    anytime: bool = False,
) -> "Compared | Ranked":
    """Compare two runs on the same questions, second minus first; rank three or more.

    Args:
        first: a run, or its folder.
        second: another one.
        more: further runs; then all are ranked.
        parser: parse all stored replies again with this parser; no model is asked.
        shared: if the runs' questions differ, compare those for which all runs have a score.
        level: coverage of the intervals; 1 minus the level of the tests.
        margin: the largest difference of two runs, in points, that counts as none, for an equivalence test.
        anytime: for two runs, also test the difference after every source.

    Raises:
        UsageError: the runs do not have the same questions, or a margin of 0 or less.
        StoreError: a folder contains no run.
    """
    from vidence.report.comparison import compare_runs
    from vidence.report.pairing import pair

    runs = [_loaded(entry, parser) for entry in (first, second, *more)]
    return compare_runs(pair(runs, shared=shared), level=level, margin=margin, anytime=anytime)


def contrast(
    *runs: "Run | Path | str",
    tag: str,
    of: str | Sequence[str] = (),
    to: str = "",
    trend: bool = False,
    parser: str | None = None,
    level: float = 0.95,
) -> "Contrasts":
    """Compare values of a tag within each run: the score of one minus that of another.

    Args:
        runs: one or more runs, or their folders.
        tag: the tag.
        of: one or more of its values; `to` is subtracted from each.
        to: the value to compare with.
        trend: also estimate the change from one value to the next, in order.
        parser: parse all stored replies again with this parser; no model is asked.
        level: coverage of the intervals; 1 minus the level of the tests.

    Raises:
        UsageError: nothing to contrast, or a tag or value that a run lacks.
        StoreError: a folder contains no run.
    """
    from vidence.errors import UsageError
    from vidence.report.contrasts import contrast_runs

    values = [of] if isinstance(of, str) else list(dict.fromkeys(of))
    if bool(values) != bool(to):
        raise UsageError('give of= and to= together: of="3", to="1" is the score of 3 minus that of 1')
    loaded = [_loaded(run, parser) for run in runs]
    pairs = [(value, to) for value in values]
    return contrast_runs(loaded, tag=tag, pairs=pairs, has_trend=trend, level=level)


def correlate(  # noqa: PLR0913 - one call, one argument for each thing that differs
    *runs: "Run | Path | str",
    x: str,
    y: str,
    by: str | None = None,
    over_runs: bool = False,
    table: Path | str | None = None,
    cluster: str | None = None,
    within: str | None = None,
    names: Sequence[str] = (),
    parser: str | None = None,
    level: float = 0.95,
) -> "Correlated":
    """Correlate two scores over runs, or over the rows of a table.

    Args:
        runs: the runs, or their folders; none to use a table alone.
        x: the questions whose accuracy is one score: ``all``, or ``TAG=VALUE``; without runs a column.
        y: the same for the other score; with runs and a table, a column of the table.
        by: a point per run and value of this tag, rather than per run.
        over_runs: with `by`, a point per value: its mean over the runs.
        table: a CSV, or the name of a published table.
        cluster: without runs, the column that groups rows; with `over_runs`, a tag.
        within: without runs, the column of the stratum.
        names: the name of each run in the table.
        parser: parse all stored replies again with this parser; no model is asked.
        level: coverage of the intervals.

    Raises:
        UsageError: neither runs nor a table, no such questions or column, or fewer than three points.
        StoreError: a folder contains no run.
        DataError: the table cannot be read.
    """
    from vidence.errors import UsageError
    from vidence.report import correlation
    from vidence.report.correlation_values import shown_of

    if parser is not None and not runs:
        raise UsageError(correlation.FOR_RUNS)
    axes = correlation.Axes(
        x=x,
        y=y,
        by=by,
        table=None if table is None else str(table),
        cluster=cluster,
        within=within,
        names=tuple(names),
    )
    loaded = [_loaded(run, parser) for run in runs]
    result, _ = shown_of(loaded, axes, over_runs=over_runs, level=level)
    return result


def make(  # noqa: PLR0913 - one call, one argument for each thing that differs
    name: str,
    config: Path | str,
    out: Path | str | None = None,
    *,
    only: Sequence[str] = (),
    until: str = "",
    limit: int | None = None,
    sheets: Path | str = "",
    cache: Path | str | None = None,
    trust: bool = False,
) -> "Built":
    """Make questions as configured; the same call again continues.

    Args:
        name: a name from ``vidence list makers``.
        config: the configuration file.
        out: the working folder; None: the configuration's.
        only: make only these tasks.
        until: stop after this stage.
        limit: use only the first N sources.
        sheets: a folder for sheets on which people write cards and correct tracks; the call ends after
            writing them.
        cache: as for `evaluate`.
        trust: allow the keys, hosts and code that the configuration names; this is remembered.

    Raises:
        TrustError: the configuration names something that was not allowed.
        VidenceError: it cannot continue; everything made so far is kept.
    """
    from vidence.catalog import create
    from vidence.engine.environment import environment
    from vidence.make.pipeline.session import BuildContext, MakeOverrides, Maker

    maker: Maker = create("maker", name)
    overrides = MakeOverrides(out=_path(out), only=tuple(only), until=until, limit=limit, sheets=str(sheets))
    context = BuildContext.of(environment(_path(cache)), is_trusted=trust)
    return maker.make(Path(config), overrides=overrides, context=context)


def _begun(
    benchmark: "AnyQuestions",
    data: "AnyQuestions | None",
    *,
    model: "AnyModel | None",
    out: Path | None,
    place: "Environment",
    overrides: Mapping[str, object],
) -> "tuple[Plan, Path]":
    """Return the plan that a program asks for, and its run folder."""
    import secrets

    from vidence.engine import caller_objects
    from vidence.engine.prepare import default_folder, make_plan
    from vidence.engine.trust import begun

    chance = secrets.token_hex(6)
    settings = caller_objects.with_specs(overrides, chance=chance)
    if data is not None and not isinstance(data, str | Path):
        benchmark, data = caller_objects.questions_of(benchmark, data), None
    if isinstance(benchmark, str | Path) or data is not None:
        name, where = caller_objects.benchmark_of(benchmark, data)
    else:
        name, where = caller_objects.TABLE, caller_objects.written(benchmark, out or caller_objects.QUESTIONS)
        settings.setdefault("media", str(Path.cwd()))
    plan = make_plan(
        name,
        data=None if where is None else Path(where),
        model=caller_objects.spec_of(model, chance=chance, threads=caller_objects.threads_of(settings)),
        overrides=settings,
        cache=place.cache_root,
    )
    folder = default_folder(plan) if out is None else out
    begun(plan, folder=folder, environment=place)
    return plan, folder


def _repeated(  # noqa: PLR0913 - one argument for each thing that differs
    source: Path,
    data: "AnyQuestions | None",
    *,
    model: "AnyModel | None",
    out: Path | None,
    place: "Environment",
    overrides: Mapping[str, object],
    trust: bool,
) -> "tuple[Plan, Path]":
    """Return a file's plan with a program's changes, and its run folder."""
    import secrets

    from vidence.engine import caller_objects
    from vidence.engine.plan import read_source
    from vidence.engine.prepare import changed_plan, new_folder
    from vidence.engine.trust import repeated

    chance = secrets.token_hex(6)
    path, written, _ = read_source(source)
    settings = caller_objects.with_specs(overrides, chance=chance)
    if data is not None and not isinstance(data, str | Path):
        caller_objects.questions_of(written.benchmark, data)  # or says that the benchmark takes none
        data = caller_objects.written(data, out or caller_objects.QUESTIONS)
        settings.setdefault("media", str(Path.cwd()))
    threads = caller_objects.threads_of(settings)
    plan = changed_plan(
        written,
        data=None if data is None else Path(data),
        model=None if model is None else caller_objects.spec_of(model, chance=chance, threads=threads),
        overrides=settings,
    )
    folder = new_folder(plan) if out is None else out
    repeated(plan, written, source=path, folder=folder, environment=place, is_trusted=trust)
    return plan, folder


def _asked(
    plan: "Plan", folder: Path, *, place: "Environment", progress: bool | None, doing: str
) -> "Summary":
    """Complete a plan in a folder, and cache the run's summary line."""
    from vidence.engine.display import watching
    from vidence.engine.environment import now
    from vidence.engine.evaluate import run
    from vidence.report.run_list import keep_line

    with watching(progress, doing=doing) as listen:
        summary = _wait(lambda: run(plan, folder, environment=place, now=now(), on_event=listen))
    keep_line(folder)
    return summary


def _path(path: Path | str | None) -> Path | None:
    return None if path is None else Path(path)


def _folder(run: "Run | Path | str") -> Path:
    return Path(run) if isinstance(run, str | Path) else run.folder


def _loaded(run: "Run | Path | str", parser: str | None) -> "results.Run":
    """Return a run, parsed with another parser if given."""
    from vidence.report import results

    if isinstance(run, results.Run) and parser is None:
        return run
    return results.load_run(_folder(run), parser=parser)


def _wait(function: Callable[[], Coroutine[None, None, _T]]) -> _T:
    """Run a coroutine in a separate thread, because notebooks already run an event loop."""
    from anyio.from_thread import start_blocking_portal

    with start_blocking_portal() as portal:
        result: _T = portal.call(function)
    return result
