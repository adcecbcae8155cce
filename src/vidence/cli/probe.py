"""``vidence probe``."""

import json
from functools import partial
from pathlib import Path

import anyio
import click
import msgspec


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
def probe(*, files: tuple[Path, ...], kind: str, deadline_s: float) -> int:
    """What FILES claim, and what they really hold; the exit code is 1 when one cannot be read."""
    return int(anyio.run(partial(_look_at, files, kind=kind, deadline_s=deadline_s)) > 0)


async def _look_at(files: tuple[Path, ...], *, kind: str, deadline_s: float) -> int:
    """Print what each file holds; how many cannot be read."""
    from vidence.engine.environment import environment
    from vidence.engine.workers import Workers
    from vidence.errors import MediaError
    from vidence.media.files import read_facts

    n_bad = 0
    async with Workers(1, most_bytes=environment().worker_max_bytes) as workers:
        for path in files:
            read = partial(read_facts, path, kind=kind, cache_root=None)
            try:
                facts = await workers.run(str(path), read, deadline_s=deadline_s)
            except MediaError as error:
                click.echo(f"{error}", err=True)
                n_bad += 1
                continue
            found = msgspec.to_builtins(facts.probe) | {"sha256": facts.content_hash}
            click.echo(json.dumps(found, indent=2))
    return n_bad
