"""Compare what a video file claims with what it contains."""

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import click
import msgspec

from vidence.console.files import screen, write_said
from vidence.console.flags import JSON, argument, command, flag
from vidence.records import Record

if TYPE_CHECKING:
    from vidence.media.files import MediaFacts

GROUP = "videos"

_DEADLINE_S = 300.0  # for one file


class Probe(Record):
    """The files to probe."""

    files: Annotated[tuple[str, ...], argument()]
    kind: Annotated[
        Literal["video", "image", "frames"], flag("Type of the files; frames is a folder of numbered images.")
    ] = "video"
    json_path: Annotated[Path | None, JSON] = None


@command()
def probe(given: Probe) -> int:
    """Compare what FILES claim with what they contain; the exit code is 1 when a file cannot be read.

    A file may be an address (s3://, gs://, hf://, https://); only the ranges needed are read.
    """
    from vidence.engine.environment import environment
    from vidence.engine.executor import Parallelism
    from vidence.engine.side_by_side import side_by_side
    from vidence.errors import MediaError, VidenceError
    from vidence.media.address import place
    from vidence.media.files import read_facts

    is_quiet = screen(given.json_path).quiet
    probed: list[dict[str, object]] = []
    files = tuple(map(place, given.files))
    pieces = ((str(path), partial(read_facts, path, kind=given.kind, cache_root=None)) for path in files)
    parallel = Parallelism(most_bytes=environment().worker_max_bytes).touching(files)
    for number, facts in side_by_side(pieces, parallel, deadline_s=_DEADLINE_S):
        path: dict[str, object] = {"path": str(files[number])}
        if isinstance(facts, MediaError):
            probed.append(path | {"error": str(facts)})
            click.echo(str(facts), err=True)
        elif isinstance(facts, VidenceError):
            raise facts
        else:
            values: dict[str, object] = msgspec.to_builtins(facts.probe) | _hash(facts)
            probed.append(path | values)
            if not is_quiet:
                click.echo(json.dumps(values, indent=2))
    write_said(given.json_path, "probe", values={"files": probed})
    return int(any("error" in row for row in probed))


def _hash(facts: "MediaFacts") -> dict[str, object]:
    """Return the hash of the bytes, or a substitute for an address."""
    return {"sha256" if facts.is_of_bytes else "version": facts.content_hash}
