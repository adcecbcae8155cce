"""The JSON Schema of the item format."""

import json

import click

SECTION = "Look up"


@click.command()
def schema() -> None:
    """Print the JSON Schema of one line of the item format."""
    from vidence.records import item_schema

    click.echo(json.dumps(item_schema(), indent=2))
