"""The same point-light motions shown in many ways: what each costs a model."""

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
    from vidence.make.lights.ablation_clips import StimulusSet
    from vidence.make.lights.ablation_config import AblationConfig, Condition

SECTION = "Make"


@click.command()
@lights_options
def ablate(*, options: LightsOptions) -> int:
    """Show the same motions in many ways, as CONFIG says, and measure what each costs every model.

    Without CONFIG the built-in figure is shown with fewer frames and dots, upside down, scrambled, in noise,
    from other sides and at other rates. The same command goes on where it stopped: clips are made once, and
    no question is asked twice.
    """
    import msgspec
    import numpy as np

    from vidence.make.lights.ablation import add_up, findable, statements, write_files
    from vidence.make.lights.ablation_clips import StimulusSet
    from vidence.make.lights.ablation_config import AblationConfig, conditions, read_ablation, unique
    from vidence.tables.charts import table_of
    from vidence.tables.terminal import print_table

    settings = AblationConfig() if options.config is None else read_ablation(options.config)
    if options.models:
        asked = msgspec.structs.replace(settings.ask, models=options.models)
        settings = msgspec.structs.replace(settings, ask=asked)
    folder = options.folder(settings.out)
    stimuli = StimulusSet(settings, beside=options.beside)
    n_conditions = len(unique(conditions(settings)))
    click.echo(
        f"{len(stimuli.clips)} clips in {n_conditions} conditions, {len(settings.ask.models)} models: "
        f"{len(stimuli.clips) * n_conditions * len(settings.ask.models):,} questions or more"
    )
    click.echo(findable(settings, stimuli.clips, rng=np.random.default_rng(settings.seed)))
    if options.check:
        return 0
    check_allowed(((plan, out) for _, _, plan, out in _plans(settings, folder)), options)
    console = Screen(stderr=True)
    notes = [*stimuli.notes, *_render(stimuli, folder, console, progress=options.progress)]
    n_failed = _ask(settings, folder, console, progress=options.progress)
    console.print("the observer looks at every condition", highlight=False)
    ablated = add_up(settings, stimuli, folder, notes=notes)
    for path in write_files(ablated, folder):
        click.echo(f"wrote {path}", err=True)
    for statement in statements(ablated):
        print_table(table_of(statement), Screen())
    if n_failed:
        click.echo(f"{n_failed} questions failed; they count as wrong, and the same command asks them again")
    return FAILED_ITEMS if n_failed else 0


def _plans(config: "AblationConfig", folder: Path) -> Iterator[tuple[str, "Condition", "Plan", Path]]:
    """For every model and condition the plan of its run, and the folder of it."""
    import itertools

    from vidence.engine.prepare import make_plan
    from vidence.make.lights.ablation import run_folder
    from vidence.make.lights.ablation_config import BASE, conditions, model_spec, shown_frames, unique

    stimuli = (folder / "stimuli").resolve()
    for model, condition in itertools.product(config.ask.models, unique(conditions(config))):
        data = stimuli / condition.folder
        overrides = {**config.ask.overrides, "split": config.ask.split, "protocol": config.ask.protocol}
        overrides["n_frames"] = shown_frames(config, condition)
        spec = model_spec(model, base=stimuli / BASE.name, same=data)
        plan = make_plan("actpld", data=data, model=spec, overrides=overrides)
        yield model, condition, plan, run_folder(folder, model, condition)


def _render(stimuli: "StimulusSet", folder: Path, console: Console, *, progress: str) -> list[str]:
    """Make the clips of every condition; what could not be made."""
    from vidence.make.lights.ablation_clips import write_condition
    from vidence.make.lights.ablation_config import conditions, unique

    troubles: list[str] = []
    by_folder = {c.folder: c for c in reversed(unique(conditions(stimuli.config)))}
    meter = Meter(console, mode=progress, is_transient=True)
    with meter, interruptible(console):
        meter.begin("rendering", total=len(by_folder) * len(stimuli.clips))
        for name, condition in reversed(by_folder.items()):
            troubles += write_condition(
                stimuli, condition, folder / "stimuli" / name, on_clip=lambda _: meter.advance()
            )
    for line in troubles:
        say(console, line)
    return troubles


def _ask(config: "AblationConfig", folder: Path, console: Console, *, progress: str) -> int:
    """Put every condition to every model; how many questions failed."""
    from vidence.engine.display import Display
    from vidence.engine.environment import environment, now
    from vidence.engine.evaluate import run

    place, n_failed = environment(), 0

    async def ask_all() -> None:
        nonlocal n_failed
        for model, condition, plan, out in _plans(config, folder):
            display = Display(console, mode=progress)
            with display.progress, interruptible(console):
                summary = await run(plan, out, environment=place, now=now(), on_event=display)
            n_failed += summary.n_failed
            say(
                console,
                f"{model}, {condition.name}: {summary.n_tried} asked, {summary.n_answered_before} before",
            )

    ask_to_the_end(ask_all, lost="the ablation did not finish")
    return n_failed
