"""What `vidence ablate` and `vidence threshold` have in common: options, what is allowed, asking."""

from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vidence.console.options import PATH, progress_option, together, trust_option
from vidence.errors import VidenceError

if TYPE_CHECKING:
    from vidence.engine.plan import Plan

FAILED_ITEMS = 3


@dataclass(frozen=True, kw_only=True)
class LightsOptions:
    """The options of both commands; None and empty: as the configuration says."""

    config: Path | None
    out: Path | None
    models: tuple[str, ...]
    trust: bool
    check: bool
    progress: str

    @property
    def beside(self) -> Path:
        """The folder that paths of the configuration start from."""
        return Path() if self.config is None else self.config.parent

    def folder(self, usual: str) -> Path:
        """The folder to work in."""
        return self.out if self.out is not None else self.beside / usual


lights_options = together(
    "options",
    LightsOptions,
    click.argument("config", type=click.Path(path_type=Path, dir_okay=False), required=False),
    click.option("--out", type=PATH, help="Folder to work in (default: the configuration's)."),
    click.option(
        "--model",
        "models",
        multiple=True,
        metavar="SPEC",
        help="Ask this model in place of the configuration's; repeatable.",
    ),
    trust_option,
    click.option(
        "--check", is_flag=True, help="Only say what would be made and asked, and what it would tell."
    ),
    progress_option,
)


def check_allowed(plans: Iterable[tuple["Plan", Path]], options: LightsOptions) -> None:
    """See that the user has allowed what the configuration names; models of the command line are.

    Args:
        plans: what is asked, and the folders.
        options: those of the command.

    Raises:
        TrustError: something is not allowed.
    """
    from vidence.engine.environment import environment
    from vidence.engine.trust import check, needs_of_plan, needs_of_spec, remember

    place = environment()
    remember((need for spec in options.models for need in needs_of_spec("model", spec)), environment=place)
    needs = (need for plan, folder in plans for need in needs_of_plan(plan, folder=folder, environment=place))
    given = options.config if options.config is not None else Path("the built-in configuration")
    check(dict.fromkeys(needs), source=given, environment=place, is_trusted=options.trust)


def ask_to_the_end(ask_all: Callable[[], Coroutine[object, object, None]], *, lost: str) -> None:
    """Run what asks; where it is stopped or breaks off, say that what was made is kept.

    Args:
        ask_all: asks every model.
        lost: what did not come about when it broke off.
    """
    import anyio

    try:
        anyio.run(ask_all)
    except (KeyboardInterrupt, VidenceError) as error:
        ended = "stopped" if isinstance(error, KeyboardInterrupt) else lost
        click.echo(f"{ended}; what was made and answered is kept, and the same command goes on", err=True)
        raise
