"""What ``vidence ablate`` and ``vidence threshold`` have in common."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from vidence.errors import UsageError
from vidence.make.commands.ablate import ablate
from vidence.make.commands.lights import LightsOptions, ask_to_the_end, lights_options
from vidence.make.commands.threshold import threshold


@click.command()
@lights_options
@click.option("--more", default="")
def shown(*, options: LightsOptions, more: str) -> int:
    """Say what was given."""
    click.echo(f"{options.config} {options.folder('usual')} {options.models} {options.check} {more}")
    return 0


def said(*words: str) -> str:
    return CliRunner().invoke(shown, words, catch_exceptions=False).output.strip()


def test_paths_start_from_the_configuration_unless_a_folder_is_named():
    assert said() == "None usual () False"
    assert said("a/c.toml", "--more", "x") == "a/c.toml a/usual () False x"
    words = said("a/c.toml", "--out", "b", "--model", "m:1", "--model", "m:2", "--check")
    assert words == "a/c.toml b ('m:1', 'm:2') True"


def test_both_commands_have_the_same_options():
    ours, theirs = ({one.name for one in command.params} for command in (ablate, threshold))
    assert theirs == {*ours, "method"}
    assert ours == set(LightsOptions.__dataclass_fields__)


@pytest.mark.parametrize(
    ("error", "told"), [(KeyboardInterrupt, "stopped"), (UsageError, "nothing was found")]
)
def test_what_breaks_off_says_that_what_was_made_is_kept(error, told, capsys):
    async def broken() -> None:
        raise error("no")

    with pytest.raises(error):
        ask_to_the_end(broken, lost="nothing was found")
    assert capsys.readouterr().err.startswith(f"{told}; what was made and answered is kept")


def test_what_ends_well_says_nothing(capsys):
    done = list[Path]()

    async def fine() -> None:
        done.append(Path())

    ask_to_the_end(fine, lost="nothing")
    assert done == [Path()]
    assert capsys.readouterr().err == ""
