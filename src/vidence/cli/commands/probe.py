"""What a video file claims, and what it really holds."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import click
import msgspec

from vidence.console.files import screen, write_said
from vidence.console.options import json_option

if TYPE_CHECKING:
    from vidence.media.address import MediaPath
    from vidence.media.files import MediaFacts

SECTION = "Look up"


@click.command()
@click.argument("files", nargs=-1, required=True)
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
def probe(*, files: tuple[str, ...], kind: str, deadline_s: float, json_path: Path | None) -> int:
    """What FILES claim, and what they really hold; the exit code is 1 when one cannot be read.

    A file may be an address (s3://, gs://, hf://, https://), which is read by ranges.
    """
    from vidence.media.address import place

    is_quiet = screen(json_path).quiet
    said: list[dict[str, object]] = []

    def say(path: "MediaPath", found: dict[str, object]) -> None:
        said.append({"path": str(path), **found})
        if "error" in found:
            click.echo(str(found["error"]), err=True)
        elif not is_quiet:
            click.echo(json.dumps(found, indent=2))

    places = tuple(map(place, files))
    anyio.run(partial(_look_at, places, kind=kind, deadline_s=deadline_s, say=say))
    write_said(json_path, "probe", values={"files": said})
    return int(any("error" in one for one in said))


async def _look_at(
    files: "tuple[MediaPath, ...]",
    *,
    kind: str,
    deadline_s: float,
    say: "Callable[[MediaPath, dict[str, object]], None]",
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
                say(path, msgspec.to_builtins(facts.probe) | _hash(facts))


def _hash(facts: "MediaFacts") -> dict[str, object]:
    """The hash of the bytes; of an address whose server does not say it, what stands for it."""
    return {"sha256" if facts.is_of_bytes else "version": facts.content_hash}
