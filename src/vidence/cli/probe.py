"""``vidence probe``."""

import json
from pathlib import Path

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
def probe(*, files: tuple[Path, ...], kind: str) -> int:
    """What FILES claim, and what they really hold; the exit code is 1 when one cannot be read."""
    from vidence.errors import MediaError
    from vidence.media.files import read_facts

    n_bad = 0
    for path in files:
        try:
            facts = read_facts(path, kind=kind, cache_root=None)
        except MediaError as error:
            click.echo(f"{error}", err=True)
            n_bad += 1
            continue
        found = msgspec.to_builtins(facts.probe) | {"sha256": facts.content_hash}
        click.echo(json.dumps(found, indent=2))
    return int(n_bad > 0)
