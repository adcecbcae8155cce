"""The whole system on planted-truth videos, offline, no key; ends with a page."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import click
import numpy as np
from rich.console import Console

from vidence.ask.phantom.plan import WorldSpec
from vidence.ask.phantom.world import World, read_world, render
from vidence.catalog import parse_spec
from vidence.console.options import PATH, progress_option
from vidence.console.progress import Meter
from vidence.console.screen import Screen
from vidence.engine.diagnose import diagnose, open_diagnostic
from vidence.engine.environment import Environment, environment, now
from vidence.engine.evaluate import run
from vidence.engine.events import Event, MediaTrouble
from vidence.engine.plan import read_overrides
from vidence.engine.prepare import make_plan
from vidence.errors import DataError
from vidence.make.pipeline.session import BuildContext
from vidence.make.planted.planted_making import PlantedMaking, make_planted
from vidence.make.planted.planted_page import made_section
from vidence.report.calibration import Compared, calibration_section, compare, opening_section
from vidence.report.calibration_reasoning import recovered_reasoning
from vidence.report.calibration_simulated import recovered_simulated
from vidence.report.diagnosis import load_diagnosed
from vidence.report.diagnosis_calibration import Recovered, beside_planted, why_section
from vidence.report.page import write_page
from vidence.report.panel_calibration import recovered_by_views
from vidence.report.results import Run, load_run

SECTION = "Ask"

_SEED = 7
_LEVEL = 0.95
# Who is asked what. The fuser fails only where the frames miss evidence; the others have defects.
RUNS: tuple[tuple[str, str, int], ...] = (
    ("phantom:fuser", "midpoints", 8),
    ("phantom:fuser", "midpoints", 16),
    ("phantom:fuser", "midpoints", 32),
    ("phantom:fuser", "evidence", 16),
    ("phantom:fuser", "none", 1),
    ("phantom:single", "midpoints", 16),
    ("phantom:blind", "midpoints", 16),
    ("phantom:letter-biased?letter=C", "midpoints", 16),
    ("phantom:forgetful?memory=2", "midpoints", 16),
)

# Who guesses where it does not know, and whose log-probabilities move by themselves; by their folders.
GUESSERS: Mapping[str, str] = {
    "fuser-guessing": "phantom:fuser?guess=text&stick=0.5",
    "blind-guessing": "phantom:blind?guess=text&stick=0.5",
    "blind-drawing": "phantom:blind?guess=independent&temperature=1",
    "blind-noisy": "phantom:blind?noise=0.3",
}

# Who forgets cards unless it may write them down, asked for the answer and step by step; by their folders.
REASONERS: Mapping[str, str] = {"notes-direct": "direct", "notes-cot": "cot"}
REASONER = "phantom:forgetful?notes=true"

# Which diagnostic, with its options, on which of these runs, by their folders.
DIAGNOSES: tuple[tuple[str, str], ...] = (
    ("mrfs", "fuser-evidence-16"),
    ("mrfs?mode=exhaustive", "fuser-guessing"),
    ("mrfs?mode=exhaustive", "blind-guessing"),
    ("frame-shares?placebo=n", "fuser-evidence-16"),
    ("frame-shares?placebo=n", "blind-noisy"),
    ("frame-shares?placebo=jitter", "blind-noisy"),
    ("frame-shares", "fuser-evidence-16"),
    ("frame-shares", "single-midpoints-16"),
    ("modality", "fuser-midpoints-16"),
    ("modality", "blind-midpoints-16"),
    ("selector-gap", "fuser-midpoints-16"),
    ("selector-gap", "forgetful-midpoints-16"),
    ("blind-panel", "fuser-midpoints-16"),
    ("budgets", "fuser-midpoints-32"),
    ("best-of-n?rewards=phantom:fuser", "blind-drawing"),
    ("self-refine?controls=resample", "blind-drawing"),
    ("repeats", "blind-drawing"),
    ("rotations", "letter-biased-midpoints-16"),
    ("rotations", "blind-guessing"),
)
SWEEP = ("fuser-midpoints-8", "fuser-midpoints-16", "fuser-midpoints-32")


@click.command()
@click.option(
    "--out",
    type=PATH,
    default=Path("demo-out"),
    show_default=True,
    help="Folder for videos, runs and the page.",
)
@progress_option
def demo(*, out: Path, progress: str) -> int:
    """Render videos with planted evidence, ask simulated models with known defects; make questions, too.

    Exit code 1 when something that was planted was not recovered.
    """
    console, meter = Screen(markup=False), Meter(Screen(stderr=True), mode=progress, is_transient=True)
    started_s = time.monotonic()
    try:
        with meter:
            done = _everything(out, console, meter)
    except KeyboardInterrupt:
        click.echo("stopped; what was made and answered is kept, and the same command goes on", err=True)
        raise
    console.print("\nmodel, selector, frames              planted   recovered   differ")
    for one in done.compared:
        n = len(one.planted)
        planted, right = 100 * sum(one.planted) / n, 100 * sum(one.recovered) / n
        console.print(f"{one.label:<36} {planted:6.1f} %   {right:7.1f} %   {one.n_different:6d}")
    n_different = sum(one.n_different for one in done.compared)
    n_missed = sum(not one.is_recovered for one in done.recovered)
    _print_recovered(console, done.recovered)
    made = done.made
    n_right, n_leaks = sum(one.is_right for one in made.held), sum(leak for leak, _ in made.leaks)
    console.print(
        f"\nmade {len(made.held)} questions of drawn streets and planted logs: {n_right} say what was "
        f"planted; {sum(leak and gone for leak, gone in made.leaks)} of {n_leaks} planted leaks removed",
        highlight=False,
    )
    verdict = "everything planted was recovered"
    if n_different or n_missed or made.n_different:
        verdict = (
            f"{n_different} answers, {n_missed} figures of diagnostics and {made.n_different} made questions "
            "differ"
        )
    console.print(f"\n{verdict}, in {time.monotonic() - started_s:.0f} s. Open {done.page}")
    return int(n_different + n_missed + made.n_different > 0)


@dataclass(frozen=True, kw_only=True)
class _DemoResult:
    """What came of everything."""

    compared: Sequence[Compared]
    recovered: Sequence[Recovered]
    made: PlantedMaking
    page: Path


def _step(meter: Meter, doing: str) -> None:
    """What is done now; what was done until now has ended."""
    meter.advance()
    meter.note(doing)


def _everything(out: Path, console: Console, meter: Meter) -> _DemoResult:
    """Ask, diagnose and make, and write the page."""
    n_runs = len(RUNS) + len(GUESSERS) + len(REASONERS)
    meter.begin("demo", total=1 + n_runs + len(DIAGNOSES) + 2, n_done=-1)
    _step(meter, "rendering videos")
    _world(out, console)
    folders = anyio.run(_ask_all, out, console, meter)
    runs = [load_run(folder) for folder in folders]
    by_name = {run.folder.name: run for run in runs}
    sure = [run for name, run in by_name.items() if name not in {*GUESSERS, *REASONERS}]
    compared = [compare(run) for run in sure]
    recovered = [
        *_diagnose_all(out, console, meter, runs=by_name),
        *recovered_by_views(list(zip(sure, compared, strict=True))),
        *recovered_reasoning(*(by_name[name] for name in REASONERS)),
        *recovered_simulated(seed=_SEED),
    ]
    _step(meter, "making questions")
    made = make_planted(out / "made", seed=_SEED, context=_context(out))
    rng = np.random.default_rng(_SEED)
    page = out / "report.html"
    _step(meter, "writing the page")
    write_page(
        sure,
        page,
        cache_root=out / "cache",
        media_root=out / "world",
        rng=rng,
        n_items=90,
        title="Demonstration: planted truth, recovered",
        opening=opening_section(
            compared,
            rng=rng,
            outcome=f"So were {sum(one.is_recovered for one in recovered)} of {len(recovered)} figures "
            f"of diagnostics and {sum(one.is_right for one in made.held)} of {len(made.held)} questions that "
            "were made.",
        ),
        extra_sections=[
            calibration_section(compared, rng=rng),
            why_section(recovered),
            made_section(made),
        ],
    )
    return _DemoResult(compared=compared, recovered=recovered, made=made, page=page)


def _print_recovered(console: Console, recovered: Sequence[Recovered]) -> None:
    console.print("\nwhy the score is what it is               planted    recovered   differ")
    for one in recovered:
        scale, unit = (100, "%") if one.is_share else (1, " ")
        name = f"{one.what} ({one.label.partition(',')[0]})"
        found = float("nan") if one.found is None else one.found.value
        console.print(
            f"{name:<40} {scale * one.planted:7.1f} {unit}   {scale * found:7.1f} {unit}   "
            f"{one.n_different:6d}{'' if one.is_recovered else '   missed'}",
            highlight=False,
        )


def _world(out: Path, console: Console) -> World:
    folder, spec = out / "world", WorldSpec()
    try:
        world = read_world(folder)
    except DataError:
        world = None
    if world is None or world.spec != spec or world.seed != _SEED:
        console.print(f"rendering {spec.n_videos} videos with planted evidence into {folder} ...")
        world = render(folder, spec, seed=_SEED)
    console.print(f"{len(world.videos)} videos, {world.n_items} questions")
    return world


def _environment(out: Path) -> Environment:
    return Environment(cache_root=out / "cache", n_workers=environment().n_workers)


async def _ask(
    out: Path, benchmark: str, data: Path, *, model: str, folder: Path, **overrides: object
) -> int:
    """Run a benchmark with a model into a folder; how many questions were asked."""
    given = read_overrides({**overrides, "memory": str(out / "replies.sqlite")})
    plan = make_plan(benchmark, data=data, model=model, overrides=given)
    summary = await run(plan, folder, environment=_environment(out), now=now(), on_event=_print_trouble)
    return summary.n_tried


def _print_trouble(event: Event) -> None:
    if isinstance(event, MediaTrouble):
        Screen(markup=False).print(event.message)


def _name(model: str) -> str:
    return model.removeprefix("phantom:").partition("?")[0]


def _folder(model: str, selector: str, n_frames: int) -> str:
    return f"{_name(model)}-{selector}-{n_frames}"


async def _ask_all(out: Path, console: Console, meter: Meter) -> list[Path]:
    """All runs in one event loop, so that they share the decoder's processes."""
    folders = []
    asked = [(_folder(*one), *one, "") for one in RUNS]
    asked += [(folder, model, "evidence", 16, "") for folder, model in GUESSERS.items()]
    asked += [(folder, REASONER, "evidence", 16, style) for folder, style in REASONERS.items()]
    for own_folder, model, selector, n_frames, style in asked:
        name = own_folder if own_folder in {*GUESSERS, *REASONERS} else _name(model)
        folder = out / "runs" / own_folder
        _step(meter, f"asking {name}")
        n = await _ask(
            out,
            "phantom",
            out / "world",
            model=model,
            folder=folder,
            selector=selector,
            n_frames=n_frames,
            **({"style": style} if style else {}),
        )
        frames = "no frames" if selector == "none" else f"{selector}, {n_frames} frames"
        console.print(f"asked {name}, {frames}: {n} questions", highlight=False)
        folders.append(folder)
    return folders


def _diagnose_all(out: Path, console: Console, meter: Meter, *, runs: Mapping[str, Run]) -> list[Recovered]:
    """Every diagnostic on its run, beside what was planted; the replies come out of the runs' memory."""

    async def go() -> None:
        for spec, folder in DIAGNOSES:
            run, asked = runs[folder], parse_spec(spec)
            _step(meter, f"diagnosing {folder}: {spec}")
            account = await diagnose(
                open_diagnostic(asked.name, asked.options),
                run.plan,
                run.folder,
                options=asked.options,
                environment=_environment(out),
                now=now(),
                on_event=lambda event: None,
            )
            console.print(f"diagnosed {folder}: {spec}, {account.n_examined} questions", highlight=False)

    anyio.run(go)
    recovered: list[Recovered] = []
    for spec, folder in DIAGNOSES:
        run, asked = runs[folder], parse_spec(spec)
        diagnostic = open_diagnostic(asked.name, asked.options)
        found = load_diagnosed(diagnostic, run.folder, options=asked.options, seed=_SEED, level=_LEVEL)
        recovered += beside_planted(found, run, sweep=[runs[one] for one in SWEEP])
    return recovered


def _context(out: Path) -> BuildContext:
    return BuildContext(cache_root=out / "cache", memory=out / "replies.sqlite")
