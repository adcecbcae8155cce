"""``vidence list`` and ``vidence schema``."""

import json

import click

from vidence.catalog import FOLDERS, names, plural

_PLURALS = {plural(kind): kind for kind in FOLDERS}


@click.command("list")
@click.argument("kind", required=False, type=click.Choice([*_PLURALS, "protocols", "prompts"]))
def list_names(*, kind: str | None) -> None:
    """The names that can be used, of one KIND or of all."""
    for several in [kind] if kind else [*_PLURALS, *_OTHERS]:
        found = _OTHERS[several]() if several in _OTHERS else names(_PLURALS[several])
        click.echo(f"{several}: {', '.join(found)}" if kind is None else "\n".join(found))


def _prompt_sets() -> tuple[str, ...]:
    from vidence.ask.prompting.templates import sets

    return sets()


def _protocols() -> tuple[str, ...]:
    from vidence.engine.prepare import open_benchmark

    return tuple(
        f"{name}/{protocol}" for name in names("benchmark") for protocol in open_benchmark(name).protocols
    )


# Names that are no files.
_OTHERS = {"protocols": _protocols, "prompts": _prompt_sets}


@click.command()
def schema() -> None:
    """Print the JSON Schema of one line of the item format."""
    import msgspec

    from vidence.records import Item

    click.echo(json.dumps(msgspec.json.schema(Item), indent=2))
