"""What a command about finished runs is handed as its outputs."""

from pathlib import Path

import click
from click.testing import CliRunner

from vidence.cli.outputs import Outputs, outputs


@click.command()
@outputs(csv="thing", level="Level of the test.", interval="pm", has_items=True)
def command(*, files: Outputs) -> None:
    """Say what was given."""
    click.echo(files)


def test_all_that_is_given_comes_as_one_record() -> None:
    done = CliRunner().invoke(command, ["--csv", "a.csv", "--level", "0.9", "--items", "3"])
    expected = Outputs(level=0.9, csv_path=Path("a.csv"), interval="pm", items=3)
    assert done.output.strip() == str(expected)


def test_only_what_was_asked_for_is_written(tmp_path) -> None:
    files = Outputs(json_path=tmp_path / "a.json")
    files.write(
        [], csv=lambda file: file.touch(), json=lambda file: file.touch(), html=lambda file: file.touch()
    )
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
