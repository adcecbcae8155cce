"""The level of noise, contrast or frames at which point lights are still seen."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from vidence.console.progress import Meter, interruptible
from vidence.console.screen import Screen, say
from vidence.make.commands.lights import (
    FAILED_ITEMS,
    LightsOptions,
    ask_to_the_end,
    check_allowed,
    lights_options,
)

if TYPE_CHECKING:
    from vidence.engine.plan import Plan
    from vidence.make.lights.threshold import ObserverThreshold
    from vidence.make.lights.threshold_clips import ThresholdStimuli
    from vidence.make.lights.threshold_config import ThresholdConfig
    from vidence.records import Item

SECTION = "Make"


@click.command()
@lights_options
@click.option(
    "--method",
    type=click.Choice(["constant", "staircase"]),
    help="Every clip at every level, or the level that tells most (default: the configuration's).",
)
def threshold(*, options: LightsOptions, method: str | None) -> int:
    """Find the level of noise (contrast, frames, ...) at which point lights are still seen.

    CONFIG says what is shown, varied and asked; without it the built-in figure does eight actions among 0 to
    80 noise dots. Models, simulated observers and people (answers in a file, replay:FILE) are put to the same
    questions. The same command goes on where it stopped, and nothing is asked twice.
    """
    import msgspec
    import numpy as np

    from vidence.make.lights.threshold import Thresholds, precision, statements, write_files
    from vidence.make.lights.threshold_clips import ThresholdStimuli
    from vidence.make.lights.threshold_config import ThresholdConfig, levels_of, read_threshold
    from vidence.tables.charts import table_of
    from vidence.tables.terminal import print_table

    settings = ThresholdConfig() if options.config is None else read_threshold(options.config)
    if options.models:
        asked = msgspec.structs.replace(settings.ask, models=options.models)
        settings = msgspec.structs.replace(settings, ask=asked)
    if method:
        changed = msgspec.structs.replace(settings.method, kind=method)
        settings = msgspec.structs.replace(settings, method=changed)
    folder = options.folder(settings.out)
    stimuli = ThresholdStimuli(settings, beside=options.beside)
    n_observers = len(settings.ask.models) + len(settings.observers)
    n_all = stimuli.n_questions * len(levels_of(settings))
    n_asked = n_all if settings.method.kind == "constant" else min(n_all, settings.method.n_trials)
    click.echo(
        f"{len(stimuli.clips)} motions at {len(levels_of(settings))} levels, {n_observers} observers: "
        f"{n_asked * n_observers:,} questions"
    )
    known = precision(settings, stimuli.sources, rng=np.random.default_rng(settings.seed))
    click.echo(known)
    if options.check:
        return 0
    # Recorded answers that the command line names lie where it is typed.
    answers_at = Path() if options.models else options.beside
    check_allowed(((plan, folder) for _, plan in _plans(settings, folder, answers_at)), options)
    console = Screen(stderr=True)
    troubles = _render(stimuli, folder, console, progress=options.progress)
    found, n_failed = _ask(settings, folder, console, beside=answers_at, progress=options.progress)
    made = Thresholds(config=settings, found=tuple(found), notes=(known, *stimuli.notes, *troubles))
    for path in write_files(made, folder):
        click.echo(f"wrote {path}", err=True)
    for statement in statements(made)[:2]:
        print_table(table_of(statement), Screen())
    if n_failed:
        click.echo(f"{n_failed} questions failed; they count nowhere, and the same command asks them again")
    return FAILED_ITEMS if n_failed else 0


def _plans(config: "ThresholdConfig", folder: Path, beside: Path) -> Iterator[tuple[str, "Plan"]]:
    """For every model and simulated observer its name and the plan of its run."""
    from vidence.engine.prepare import make_plan
    from vidence.make.lights.ablation_config import model_spec
    from vidence.make.lights.threshold_clips import QUESTIONS, REFERENCES

    stimuli = (folder / "stimuli").resolve()
    references = stimuli / REFERENCES
    given = [(spec, _beside(spec, beside)) for spec in config.ask.models]
    given += [
        (f"observer {o.name}", f"replay:{stimuli / f'observer-{o.name}.csv'}") for o in config.observers
    ]
    # As ActPLD shows its clips: consecutive frames from the middle, small and hardly compressed.
    usual = {"selector": "actpld", "size": "long:128", "jpeg_quality": 95, "layout": "images"}
    overrides = {**usual, "n_frames": config.ask.n_frames, **config.ask.overrides}
    for name, spec in given:
        whole = model_spec(spec, base=references, same=references)
        yield name, make_plan("table", data=stimuli / QUESTIONS, model=whole, overrides=overrides)


def _beside(spec: str, beside: Path) -> str:
    """A spec whose recorded answers lie beside the configuration."""
    start, colon, rest = spec.partition(":")
    if start != "replay" or not colon:
        return spec
    return f"replay:{(beside / rest).resolve()}" if not Path(rest).is_absolute() else spec


def _render(stimuli: "ThresholdStimuli", folder: Path, console: Console, *, progress: str) -> tuple[str, ...]:
    """Make the clips, the questions and the answers of simulated observers; what could not be made."""
    from vidence.make.lights.threshold_clips import write_observer, write_stimuli
    from vidence.make.lights.threshold_config import levels_of

    config, place = stimuli.config, folder / "stimuli"
    meter = Meter(console, mode=progress, is_transient=True)
    with meter, interruptible(console):
        meter.begin("rendering", total=stimuli.n_questions * len(levels_of(config)))
        troubles = write_stimuli(stimuli, place, on_clip=lambda _: meter.advance())
    for line in troubles:
        say(console, line)
    questions = list(_questions(folder).values())
    for observer in config.observers:
        write_observer(observer, config, questions, folder=place)
    return troubles


def _questions(folder: Path) -> dict[str, "Item"]:
    from vidence.ask.benchmarks.table import create
    from vidence.make.lights.threshold_clips import QUESTIONS

    loaded = create().load(folder / "stimuli" / QUESTIONS, split="all")
    return {item.item_id: item for item in loaded.items}


def _ask(
    config: "ThresholdConfig", folder: Path, console: Console, *, beside: Path, progress: str
) -> tuple[list["ObserverThreshold"], int]:
    """Put the questions to every observer; the thresholds, and how many questions failed."""
    import numpy as np

    from vidence.engine.display import Display
    from vidence.engine.environment import environment, now
    from vidence.engine.evaluate import run
    from vidence.engine.in_turn import ask_in_turn
    from vidence.make.lights.threshold import constant, run_folder, staircase

    place, questions = environment(), _questions(folder)
    made: list[ObserverThreshold] = []
    n_failed = 0

    async def ask_all() -> None:
        nonlocal n_failed
        for name, plan in _plans(config, folder, beside):
            out, rng = run_folder(folder, config, name), np.random.default_rng(config.seed)
            display = Display(console, mode=progress)
            with display.progress, interruptible(console):
                if config.method.kind == "constant":
                    summary = await run(plan, out, environment=place, now=now(), on_event=display)
                    made.append(constant(config, name, out, rng=rng))
                else:
                    turns = staircase(config, name, questions, rng=rng)
                    found, summary = await ask_in_turn(
                        turns, plan, out, environment=place, now=now(), on_event=display
                    )
                    made.append(found)
            n_failed += summary.n_failed
            say(console, f"{name}: {summary.n_tried} asked, {summary.n_answered_before} before")

    ask_to_the_end(ask_all, lost="the thresholds were not found")
    return made, n_failed
