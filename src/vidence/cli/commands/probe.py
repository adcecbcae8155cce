"""What a video file claims, and what it really holds."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import anyio
import click
import msgspec

from vidence.console.files import screen, write_said
from vidence.console.flags import JSON, argument, command, flag
from vidence.records import Record

if TYPE_CHECKING:
    from vidence.media.address import MediaPath
    from vidence.media.files import MediaFacts

SECTION = "Look up"

_DEADLINE_S = 300.0  # for one file


class Probe(Record):
    """What is looked at."""

    files: Annotated[tuple[str, ...], argument()]
    kind: Annotated[
        Literal["video", "image", "frames"],
        flag("What the files are; frames is a folder of numbered images."),
    ] = "video"
    json_path: Annotated[Path | None, JSON] = None


@command()
def probe(given: Probe) -> int:
    """What FILES claim, and what they really hold; the exit code is 1 when one cannot be read.

    A file may be an address (s3://, gs://, hf://, https://), which is read by ranges.
    """
    from vidence.media.address import place

    is_quiet = screen(given.json_path).quiet
    probed: list[dict[str, object]] = []

    def say(path: "MediaPath", facts: dict[str, object]) -> None:
        probed.append({"path": str(path), **facts})
        if "error" in facts:
            click.echo(str(facts["error"]), err=True)
        elif not is_quiet:
            click.echo(json.dumps(facts, indent=2))

    anyio.run(partial(_look_at, tuple(map(place, given.files)), kind=given.kind, say=say))
    write_said(given.json_path, "probe", values={"files": probed})
    return int(any("error" in one for one in probed))


async def _look_at(
    files: "tuple[MediaPath, ...]",
    *,
    kind: str,
    say: "Callable[[MediaPath, dict[str, object]], None]",
) -> None:
    """Say what each file holds, or the error that keeps it from being read."""
    from vidence.engine.environment import environment
    from vidence.engine.executor import Workers
    from vidence.errors import MediaError
    from vidence.media.files import read_facts

    async with Workers(1, most_bytes=environment().worker_max_bytes) as workers:
        for path in files:
            read = partial(read_facts, path, kind=kind, cache_root=None)
            try:
                facts = await workers.run(str(path), read, deadline_s=_DEADLINE_S)
            except MediaError as error:
                say(path, {"error": str(error)})
            else:
                say(path, msgspec.to_builtins(facts.probe) | _hash(facts))


def _hash(facts: "MediaFacts") -> dict[str, object]:
    """The hash of the bytes; of an address whose server does not say it, what stands for it."""
    return {"sha256" if facts.is_of_bytes else "version": facts.content_hash}
