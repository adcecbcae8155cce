"""``vidence probe``."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio
import click
import msgspec

from vidence.cli.outputs import json_option, screen, write_said


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--kind",
    type=click.Choice(["video", "image", "frames"]),
    default="video",
    show_default=True,
    help="What the files are; frames is a folder of numbered images.",
)
@click.option(
    "--decode-timeout",
    "deadline_s",
    type=click.FloatRange(0, 10**6, min_open=True),
    default=300,
    show_default=True,
    metavar="SECONDS",
    help="Seconds for one file.",
)
@json_option
def probe(*, files: tuple[Path, ...], kind: str, deadline_s: float, json_path: Path | None) -> int:
    """What FILES claim, and what they really hold; the exit code is 1 when one cannot be read."""
    is_quiet = screen(json_path).quiet
    said: list[dict[str, object]] = []

    def say(path: Path, found: dict[str, object]) -> None:
        said.append({"path": str(path), **found})
        if "error" in found:
            click.echo(str(found["error"]), err=True)
        elif not is_quiet:
            click.echo(json.dumps(found, indent=2))

    anyio.run(partial(_look_at, files, kind=kind, deadline_s=deadline_s, say=say))
    write_said(json_path, "probe", values={"files": said})
    return int(any("error" in one for one in said))


async def _look_at(
    files: tuple[Path, ...], *, kind: str, deadline_s: float, say: Callable[[Path, dict[str, object]], None]
) -> None:
    """Say what each file holds, or the error that keeps it from being read."""
    from vidence.engine.environment import environment
    from vidence.engine.workers import Workers
    from vidence.errors import MediaError
    from vidence.media.files import read_facts

    async with Workers(1, most_bytes=environment().worker_max_bytes) as workers:
        for path in files:
            read = partial(read_facts, path, kind=kind, cache_root=None)
            try:
                facts = await workers.run(str(path), read, deadline_s=deadline_s)
            except MediaError as error:
                say(path, {"error": str(error)})
            else:
                say(path, msgspec.to_builtins(facts.probe) | {"sha256": facts.content_hash})
