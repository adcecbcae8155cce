"""View runs, sets and questions in the browser; nothing is changed."""

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import parse_qsl, urlencode, urlsplit

import click

from vidence.console.flags import argument, command, flag
from vidence.engine.environment import cache_root
from vidence.errors import UsageError, cause
from vidence.records import Record
from vidence.studio.commands.studio import EXISTING, OPENED, PORT, need_studio, start_alone, there
from vidence.text import first_lines

if TYPE_CHECKING:
    from vidence.studio.settings import Export, StudioSettings
    from vidence.studio.viewer.filters import Filter

SECTION = "Start here"
ORDER = 10

_USUAL = (Path("runs"), Path("made"))
_FOLDER = "viewer"
_MOST_NAMED = 20


class View(Record):
    """What to view, and how."""

    paths: Annotated[tuple[Path, ...], argument("[PATH]...")] = ()
    port: Annotated[int, PORT] = 0
    media_roots: Annotated[
        tuple[Path, ...],
        flag(
            "Folder of videos that have moved since the run; may be given several times.",
            "--media-root",
            metavar="DIR",
            type=EXISTING,
        ),
    ] = ()
    is_opened: Annotated[bool, OPENED] = True
    host: Annotated[str, flag("Address to listen on.", hidden=True)] = "127.0.0.1"
    export: Annotated[Path | None, flag("Write static pages to a new folder, and exit.", metavar="DIR")] = (
        None
    )
    listed: Annotated[
        str,
        flag(
            "With --export: only one list, given by its address in the browser or as in "
            "'run=runs/a&fate=wrong'.",
            "--list",
            metavar="ADDRESS",
        ),
    ] = ""
    most: Annotated[
        int, flag("With --export: maximum number of questions per list.", type=click.IntRange(1))
    ] = 200
    has_media: Annotated[
        bool,
        flag(
            "With --export: also copy videos and images; stills of shown frames are always included.",
            "--with-media/--without-media",
        ),
    ] = False


@command()
def view(given: View) -> None:
    """View runs, datasets and questions in the browser; nothing is written to their folders.

    PATH is a run, a folder of runs, a set made by ``vidence make``, or a file of questions (default: runs and
    made). A run in progress is updated as it grows.
    """
    need_studio()
    from vidence.studio.serving import Bind
    from vidence.studio.settings import Export

    if given.export is None and (given.listed or given.has_media):
        raise UsageError("--list and --with-media choose what is exported; add --export DIR")
    paths = given.paths or tuple(path for path in _USUAL if path.exists())
    if not paths:
        raise UsageError(
            "there is no folder runs or made here; give the path of a run or of a folder of runs"
        )
    export = None if given.export is None else Export(most=given.most, has_media=given.has_media)
    with ExitStack() as opened:
        settings = _settings(there(paths), media_roots=given.media_roots, export=export, opened=opened)
        if given.export is not None:
            _export(settings, given.export, given.listed)
            return
        start_alone(
            settings, Bind(host=given.host, port=given.port), said="vidence view", is_opened=given.is_opened
        )


def _settings(
    paths: tuple[Path, ...], *, media_roots: Sequence[Path], export: "Export | None", opened: ExitStack
) -> "StudioSettings":
    """Return the viewer's settings; a temporary folder replaces a read-only cache."""
    from vidence.media.whole import make_private
    from vidence.studio.settings import StudioSettings

    cache = cache_root()
    try:
        make_private(cache / _FOLDER)
        with tempfile.TemporaryFile(dir=cache / _FOLDER):
            pass
    except OSError as error:
        click.echo(
            f"The cache folder {cache} is not writable ({cause(error)}): index and pictures "
            "go to a temporary folder and are made again next time.",
            err=True,
        )
        cache = Path(
            opened.enter_context(
                tempfile.TemporaryDirectory(prefix="vidence-view-", ignore_cleanup_errors=True)
            )
        )
        make_private(cache / _FOLDER)
    return StudioSettings(
        mode="view",
        data=(cache / _FOLDER).resolve(),
        paths=paths,
        media_roots=tuple(path.resolve() for path in media_roots),
        cache_root=cache,
        export=export,
    )


def _export(settings: "StudioSettings", to: Path, listed: str) -> None:
    """Export the pages to a folder, and print a summary."""
    import anyio

    from vidence.studio.app import configure
    from vidence.studio.serving import new_ticket
    from vidence.studio.upkeep import migrate

    ticket = new_ticket()
    application = configure(settings, ticket=ticket)
    migrate()
    from vidence.studio.viewer.desk import desk
    from vidence.studio.viewer.exporting import export
    from vidence.studio.viewer.page_client import Asker

    asker = Asker(application)
    anyio.run(asker.get, f"/enter?ticket={ticket}")
    places = desk().places()
    done = export(asker, places, to, listed=_filter(listed) if listed else None)
    click.echo(
        f"{to / 'index.html'}: {done.n_pages} pages, {done.n_questions} of them questions, "
        f"{done.n_pictures} pictures"
    )
    if done.problems:
        click.echo(first_lines(done.problems, most=_MOST_NAMED), err=True)


def _filter(listed: str) -> "Filter":
    """Return the list with an address; runs may also be given by folder.

    Raises:
        UsageError: it names a run that is not shown, or more runs than the viewer can compare.
    """
    from django.http import Http404, QueryDict

    from vidence.studio.bridge.places import place_id
    from vidence.studio.viewer.desk import desk
    from vidence.studio.viewer.filters import MOST_RUNS, read_filter

    runs = {place.id: place for place in desk().places() if place.kind == "run"}
    pairs = parse_qsl(urlsplit(listed).query or listed)
    named = [
        (name, place_id(Path(value)) if name == "run" and value not in runs else value)
        for name, value in pairs
    ]
    for (_, message), (name, run) in zip(pairs, named, strict=True):
        if name == "run" and run not in runs:
            raise UsageError(f"--list names the run {message!r}, which is not among those shown")
    try:
        return read_filter(QueryDict(urlencode(named)))
    except Http404 as error:
        raise UsageError(
            f"--list names {sum(n == 'run' for n, _ in pairs)} runs; expected 1 to {MOST_RUNS}"
        ) from error
