"""``vidence studio``."""

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vidence.errors import UsageError

if TYPE_CHECKING:
    from vidence.studio.serving import Bind
    from vidence.studio.settings import StudioSettings

_data = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
_port = click.option("--port", type=click.IntRange(0, 65535), default=0, help="Default: any that is free.")
_media = click.option(
    "--media-root",
    "media_roots",
    metavar="DIR",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Where videos lie; more than one may be given.",
)


def need_studio() -> None:
    """See that the extra ``studio`` is installed.

    Raises:
        UsageError: it is not; the message has the command that adds it.
    """
    from importlib.util import find_spec

    from vidence.installation import adding

    absent = [name for name in ("django", "django_htmx", "uvicorn", "argon2") if find_spec(name) is None]
    if absent:
        raise UsageError(f"the studio needs {', '.join(absent)}; add it with: {adding('studio')}")


def start_alone(settings: "StudioSettings", bind: "Bind", *, said: str, is_opened: bool = False) -> None:
    """Serve one person until Ctrl-C, and print the address that lets one browser in; open it if wanted."""
    from vidence.studio.app import configure
    from vidence.studio.serving import address, listen, new_ticket, refuse_unsafe, serve
    from vidence.studio.upkeep import migrate

    refuse_unsafe(bind, has_accounts=False)
    ticket = new_ticket()
    application = configure(settings, ticket=ticket)
    migrate()
    listening = listen(bind)
    door = f"{address(bind, listening)}/enter?ticket={ticket}"
    click.echo(f"{said}: {door}")
    click.echo("The address works once; Ctrl-C stops the server.")
    serve(application, listening, on_start=[lambda: _open(door)] if is_opened else ())


def _open(door: str) -> None:
    """Open an address where there is a browser; it is printed in any case."""
    if not webbrowser.open(door):
        click.echo("No browser could be opened; open the address yourself.", err=True)


@click.group()
def studio() -> None:
    """Look at runs, make and review questions in the browser: for one person, or for a team."""


@studio.command("open")
@_data
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--host", default="127.0.0.1", hidden=True)
@_port
@_media
def open_alone(
    *, folder: Path, paths: tuple[Path, ...], host: str, port: int, media_roots: tuple[Path, ...]
) -> None:
    """Open the studio in DIR for one person on this machine; DIR is made where it is not there."""
    need_studio()
    from vidence.studio.serving import Bind
    from vidence.studio.settings import StudioSettings

    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    settings = StudioSettings(mode="solo", data=folder.resolve(), paths=paths, media_roots=media_roots)
    start_alone(settings, Bind(host=host, port=port), said="vidence studio")
