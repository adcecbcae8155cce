"""``vidence ablate``."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from vidence.errors import VidenceError

if TYPE_CHECKING:
    from vidence.engine.session import Summary
    from vidence.make.lights.ablation_config import AblationConfig
    from vidence.make.lights.ablation_stimuli import Cast

FAILED_ITEMS = 3


@click.command()
@click.argument("config", type=click.Path(path_type=Path, dir_okay=False), required=False)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder to work in (default: the configuration's)."
)
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="SPEC",
    help="Ask this model in place of the configuration's; repeatable.",
)
@click.option("--check", is_flag=True, help="Only say what would be made and asked.")
def ablate(*, config: Path | None, out: Path | None, models: tuple[str, ...], check: bool) -> int:
    """Show the same motions in many ways, as CONFIG says, and measure what each costs every model.

    Without CONFIG the built-in figure is shown with fewer frames and dots, upside down, scrambled, in noise,
    from other sides and at other rates. The same command goes on where it stopped: clips are made once, and
    no question is asked twice.
    """
    import msgspec

    from vidence.make.lights.ablation_config import AblationConfig, conditions, read_ablation, unique
    from vidence.make.lights.ablation_files import write_files
    from vidence.make.lights.ablation_results import Ablated, guess_notes, measured, observed
    from vidence.make.lights.ablation_stimuli import Cast

    settings = AblationConfig() if config is None else read_ablation(config)
    if models:
        settings = msgspec.structs.replace(settings, ask=msgspec.structs.replace(settings.ask, models=models))
    beside = Path() if config is None else config.parent
    folder = out if out is not None else beside / settings.out
    cast = Cast(settings, beside=beside)
    n_conditions = len(unique(conditions(settings)))
    click.echo(
        f"{len(cast.clips)} clips in {n_conditions} conditions, {len(settings.ask.models)} models: "
        f"{len(cast.clips) * n_conditions * len(settings.ask.models):,} questions or more"
    )
    if check:
        return 0
    console = Console(stderr=True)
    notes = [*cast.notes, *_render(cast, folder, console)]
    n_failed = _ask(settings, folder, console)
    found, chance, n_clips = measured(settings, folder)
    console.print("the observer looks at every condition", highlight=False)
    seen, remarks = observed(settings, cast)
    ablated = Ablated(
        config=settings,
        measured=tuple(found),
        observed=tuple(seen),
        chance=chance,
        n_clips=n_clips,
        notes=(*notes, *guess_notes(found), *remarks),
    )
    from vidence.make.lights.ablation_results import statements
    from vidence.tables.findings import table_of
    from vidence.tables.terminal import print_table

    for path in write_files(ablated, folder):
        click.echo(f"wrote {path}", err=True)
    tables = Console()
    for statement in statements(ablated):
        print_table(table_of(statement), tables)
    if n_failed:
        click.echo(f"{n_failed} questions failed; they count as wrong, and the same command asks them again")
    return FAILED_ITEMS if n_failed else 0


def _render(cast: "Cast", folder: Path, console: Console) -> list[str]:
    """Make the clips of every condition; what could not be made."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from vidence.make.lights.ablation_config import conditions, unique
    from vidence.make.lights.ablation_stimuli import write_condition

    troubles: list[str] = []
    bar = (BarColumn(bar_width=24), MofNCompleteColumn(), TimeElapsedColumn())
    columns = (TextColumn("[bold]rendering"), *bar)
    by_folder = {c.folder: c for c in reversed(unique(conditions(cast.config)))}
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as progress:
        task = progress.add_task("", total=len(by_folder) * len(cast.clips))
        for name, condition in reversed(by_folder.items()):
            troubles += write_condition(
                cast, condition, folder / "stimuli" / name, on_clip=lambda _: progress.advance(task)
            )
    for line in troubles:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    return troubles


def _ask(config: "AblationConfig", folder: Path, console: Console) -> int:
    """Put every condition to every model; how many questions failed."""
    import anyio

    from vidence.cli.progress import Display
    from vidence.cli.surroundings import now, surroundings
    from vidence.engine.evaluate import run
    from vidence.engine.prepare import make_plan
    from vidence.make.lights.ablation_config import BASE, conditions, model_spec, unique
    from vidence.make.lights.ablation_results import run_folder

    place = surroundings()

    async def one(model: str) -> int:
        n_failed = 0
        for condition in unique(conditions(config)):
            stimuli = (folder / "stimuli").resolve()
            spec = model_spec(model, base=stimuli / BASE.name, same=stimuli / condition.folder)
            n_frames = config.ask.n_frames if condition.n_frames is None else condition.n_frames
            wishes = {**config.ask.wishes, "split": config.ask.split, "protocol": config.ask.protocol}
            plan = make_plan(
                "actpld",
                data=stimuli / condition.folder,
                model=spec,
                wishes=wishes | {"n_frames": n_frames},
            )
            with Display(console) as display:
                summary: Summary = await run(
                    plan,
                    run_folder(folder, model, condition),
                    surroundings=place,
                    now=now(),
                    on_event=display,
                )
            n_failed += summary.n_failed
            console.print(
                f"{model}, {condition.name}: {summary.n_tried} asked, {summary.n_answered_before} before",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )
        return n_failed

    async def all_models() -> int:
        return sum([await one(model) for model in config.ask.models])

    try:
        return anyio.run(all_models)
    except (KeyboardInterrupt, VidenceError):
        click.echo("the ablation did not finish; what was made and answered is kept", err=True)
        raise
