"""Options that commands about finished runs share say and check the same everywhere."""

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from vidence.cli import outputs
from vidence.errors import StoreError, UsageError


@click.command()
@outputs.level_option("Level of the test.")
@outputs.csv_option("thing")
@outputs.interval_option("brackets")
@outputs.items_option
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


# ----------------------------------------------------------------------------- files and the standard output


def test_a_file_is_written_and_said(tmp_path, capsys):
    with outputs.written(tmp_path / "a.txt") as file:
        file.write_text("x")
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"wrote {tmp_path / 'a.txt'}\n")


def test_a_dash_is_the_standard_output_in_one_piece(capsysbinary):
    with outputs.written(Path("-")) as file:
        file.write_bytes(b"\x00\xff first")
        assert capsysbinary.readouterr().out == b""
    said = capsysbinary.readouterr()
    assert (said.out, said.err) == (b"\x00\xff first", b"")


def test_what_fails_writes_nothing(tmp_path, capsys):
    def fail(file: Path) -> None:
        file.write_text("half")
        raise StoreError("no room")

    with pytest.raises(StoreError, match="no room"):
        outputs.write_asked((Path("-"), fail))
    assert capsys.readouterr().out == ""


def test_what_was_not_asked_for_is_not_written(tmp_path):
    outputs.write_asked((None, lambda file: file.write_text("x")))
    outputs.write_asked((tmp_path / "a", lambda file: file.write_text("a")))
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_the_screen_is_quiet_where_a_file_takes_its_place(tmp_path):
    assert not outputs.screen().quiet
    assert not outputs.screen(None, tmp_path / "a").quiet
    assert outputs.screen(None, Path("-")).quiet
    with pytest.raises(UsageError, match="2 files are to be written"):
        outputs.screen(Path("-"), Path("-"))


def test_what_a_command_says_is_one_object(tmp_path):
    outputs.write_said(None, "power", sentences=["x"])
    outputs.write_said(tmp_path / "p.json", "power", sentences=["So."], values={"n": float("nan")})
    found = json.loads((tmp_path / "p.json").read_text())
    assert found == {
        "format": "vidence-said/1",
        "command": "power",
        "n": None,
        "sentences": ["So."],
        "tables": [],
    }
