"""The fields of a record are the flags of a command."""

from pathlib import Path
from typing import Annotated, Literal

import click
import pytest
from click.testing import CliRunner

from vidence.console.flags import flag, flags_of, record_flags
from vidence.records import Record


class Wanted(Record):
    """What a command is asked for."""

    count: Annotated[int, flag("How many.", "--how-many")] = 3
    names: Annotated[tuple[str, ...], flag("Which.", "--name")] = ()
    file: Annotated[Path | None, flag("Where to.")] = None
    way: Annotated[Literal["slow", "fast"], flag("How.")] = "fast"
    is_loud: Annotated[bool, flag("Whether it is heard.", "--loud/--quiet")] = True
    inner: int = 7


@click.command()
@record_flags("wanted", Wanted, without={"file"})
def command(*, wanted: Wanted) -> None:
    """Say what was wanted."""
    click.echo(wanted)


def test_a_command_is_handed_the_record() -> None:
    done = CliRunner().invoke(command, ["--how-many", "5", "--name", "a", "--name", "b", "--quiet"])
    assert done.output.strip() == str(Wanted(count=5, names=("a", "b"), is_loud=False))
    assert CliRunner().invoke(command, []).output.strip() == str(Wanted())


@pytest.mark.parametrize(
    "words", [["--way", "slower"], ["--how-many", "few"], ["--file", "a"], ["--inner", "1"]]
)
def test_what_the_fields_do_not_take_is_refused(words: list[str]) -> None:
    assert CliRunner().invoke(command, words).exit_code == 2


def test_flags_have_the_help_and_defaults_of_their_fields() -> None:
    flags = {one.field: one for one in flags_of(Wanted)}
    assert (flags["count"].flag, flags["count"].help, flags["count"].default) == (
        "--how-many",
        "How many.",
        3,
    )
    assert (flags["file"].kind, flags["names"].kind, flags["is_loud"].kind) == (Path, tuple, bool)
    assert "inner" not in flags
