"""Options that commands about finished runs share say and check the same everywhere."""

import click
import pytest
from click.testing import CliRunner

from vidence.console import options


@click.command()
@options.level_option("Level of the test.")
@options.csv_option("thing")
@options.interval_option("brackets")
@options.items_option
def command(*, level: float, csv_path: object, interval: str, items: int) -> None:
    """Say what was given."""
    click.echo(f"{level} {csv_path} {interval} {items}")


def test_defaults_and_help_are_those_of_the_option():
    done = CliRunner().invoke(command, [])
    assert done.output == "0.95 None brackets 300\n"
    said = " ".join(CliRunner().invoke(command, ["--help"]).output.split())
    assert "Level of the test." in said
    assert "Write one row per thing." in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--level", "1"], "0.5<x<1"),
        (["--level", "0.5"], "0.5<x<1"),
        (["--items", "-1"], "x>=0"),
        (["--interval", "both"], "'pm', 'brackets', 'none'"),
    ],
)
def test_values_that_cannot_be_are_refused(words: list[str], message: str):
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 2
    assert message in done.output
