"""``vidence view``."""

from pathlib import Path

import click

from vidence.cli.studio import need_studio, start_alone, there
from vidence.engine.environment import cache_root
from vidence.errors import UsageError

_USUAL = (Path("runs"), Path("made"))
_FOLDER = "viewer"


@click.command()
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Default: any that is free.")
@click.option(
    "--media-root",
    "media_roots",
    metavar="DIR",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Where videos lie that are not where the runs say; more than one may be given.",
)
@click.option("--open/--no-open", "is_opened", default=True, help="Open the address in a browser (default).")
@click.option("--host", default="127.0.0.1", hidden=True)
def view(
    *, paths: tuple[Path, ...], port: int, media_roots: tuple[Path, ...], is_opened: bool, host: str
) -> None:
    """Look at runs, sets and questions in the browser; nothing is written beside them.

    PATH is a run, a folder of runs, a set made by ``vidence make``, or a file of questions (default: runs and
    made). A run that is going on is shown as it grows.
    """
    need_studio()
    from vidence.media.whole import make_private
    from vidence.studio.serving import Bind
    from vidence.studio.settings import StudioSettings

    shown = paths or tuple(path for path in _USUAL if path.exists())
    if not shown:
        raise UsageError(
            "there is no folder runs or made here; give the path of a run or of a folder of runs"
        )
    data = cache_root() / _FOLDER
    make_private(data)
    settings = StudioSettings(
        mode="view",
        data=data.resolve(),
        paths=there(shown),
        media_roots=tuple(path.resolve() for path in media_roots),
        cache_root=cache_root(),
    )
    start_alone(settings, Bind(host=host, port=port), said="vidence view", is_opened=is_opened)
