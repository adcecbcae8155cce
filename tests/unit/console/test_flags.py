"""The fields of a record are the arguments and flags of a command."""

from pathlib import Path
from typing import Annotated, Literal

import click
import msgspec
import pytest
from click.testing import CliRunner

from vidence.console.flags import argument, command, file_flag, flag, flags_of, given_flags, pairs, part
from vidence.errors import UsageError
from vidence.records import Record


class Inner(Record):
    """A record in the record."""

    file: Annotated[Path | None, flag("Where to.")] = None
    size: Annotated[float, flag("How large.", type=lambda text: 2 * float(text))] = 1.5


class Wanted(Record):
    """What a command is asked for."""

    what: Annotated[str, argument("ITEMS")]
    others: Annotated[tuple[Path, ...], argument()] = ()
    count: Annotated[int, flag("How many.", "--how-many")] = 3
    names: Annotated[tuple[str, ...], flag("Which.", "--name")] = ()
    tags: Annotated[dict[str, str], flag("Where.", "--tag")] = msgspec.field(default_factory=dict)
    way: Annotated[Literal["slow", "fast"], flag("How.")] = "fast"
    is_loud: Annotated[bool, flag("Whether it is heard.", "--loud/--quiet")] = True
    ends: Annotated[tuple[Path, Path] | None, flag("Two at once.", nargs=2)] = None
    must: Annotated[str, flag("What must be given.")]
    inner: Inner
    both: Annotated[str, part(flags_of(Inner)[:0], lambda values: f"{len(values)} values")]
    number: int = 7


GROUP = click.Group("group")


@command(group=GROUP)
def tried(given: Wanted) -> None:
    """Say what was wanted."""
    click.echo(given)


def test_a_command_is_handed_the_record() -> None:
    words = ["a", "b", "c", "--how-many", "5", "--name", "x", "--name", "y", "--quiet", "--must", "m"]
    done = CliRunner().invoke(GROUP, ["tried", *words, "--tag", "k=v", "--size", "4", "--ends", "p", "q"])
    expected = Wanted(
        what="a", others=(Path("b"), Path("c")), count=5, names=("x", "y"), is_loud=False, must="m",
        tags={"k": "v"}, ends=(Path("p"), Path("q")), inner=Inner(size=8.0), both="0 values",
    )  # fmt: skip
    assert done.output.strip() == str(expected)
    plain = Wanted(what="a", must="m", inner=Inner(), both="0 values")
    assert CliRunner().invoke(tried, ["a", "--must", "m"]).output.strip() == str(plain)


@pytest.mark.parametrize(
    "words",
    [["--way", "slower"], ["--how-many", "few"], ["--number", "1"], [], ["--must", "m", "--tag", "k"]],
)
def test_what_the_fields_do_not_take_is_refused(words: list[str]) -> None:
    must = [] if "--must" in words or not words else ["--must", "m"]
    refused = CliRunner().invoke(tried, ["a", *must, *words])
    assert refused.exit_code
    assert isinstance(refused.exception, SystemExit | UsageError)


class Renamed(Record):
    """Fields whose flags have other names."""

    n_frames: Annotated[int, flag("How many.", "--frames")] = 1
    is_loud: Annotated[bool, flag("Whether it is heard.", "--loud/--quiet")] = True
    out: Annotated[Path | None, file_flag("Where to.")] = None


@command()
def refusing(given: Renamed) -> None:
    """Refuse what is given."""
    raise UsageError(
        "n_frames is 0 or is_loud; n_frames=3, a_b, 'n_frames', x/n_frames and n_frames.csv stay"
    )


def test_a_folder_is_refused_where_a_file_is_to_be_written_before_anything_is_done(tmp_path: Path) -> None:
    said = CliRunner().invoke(refusing, ["--out", str(tmp_path)])
    assert "is a directory" in said.output
    assert CliRunner().invoke(refusing, ["--out", "-"]).exit_code == 1


def test_an_error_about_a_field_names_its_flag() -> None:
    said = CliRunner().invoke(refusing, []).exception
    assert isinstance(said, UsageError)
    assert str(said) == (
        "--frames is 0 or --loud; n_frames=3, a_b, 'n_frames', x/n_frames and n_frames.csv stay"
    )


def test_flags_have_the_help_and_defaults_of_their_fields() -> None:
    flags = {one.field: one for one in flags_of(Wanted)}
    count, size = flags["count"], flags["size"]
    assert (count.flag, count.help, count.default, size.default) == ("--how-many", "How many.", 3, 1.5)
    assert [flags[name].kind for name in ("file", "others", "names", "is_loud")] == [Path, Path, str, bool]
    assert not {"number", "inner", "both"} & flags.keys()
    said = CliRunner().invoke(tried, ["--help"]).output
    assert "Usage: tried [OPTIONS] ITEMS [OTHERS]..." in said
    assert "[default: 3]" in said
    assert "[required]" in said


@pytest.mark.parametrize(("words", "flags"), [(["--size", "1.5"], "('--size',)"), ([], "()")])
def test_a_flag_with_its_default_is_given_too(words: list[str], flags: str) -> None:
    @command()
    def named(wanted: Inner) -> None:
        click.echo(given_flags(type(wanted)))

    assert CliRunner().invoke(named, words).output.strip() == flags


@pytest.mark.parametrize("texts", [("a=1", "a=2"), ("a",), ("=1",)])
def test_pairs_are_keys_with_values_each_once(texts: tuple[str, ...]) -> None:
    assert pairs(("a=1", "b=c=d"), "--where") == {"a": "1", "b": "c=d"}
    with pytest.raises(UsageError, match="--where"):
        pairs(texts, "--where")
