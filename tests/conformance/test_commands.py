"""Every command that has a file: its line in the list, its help, and how many flags it has."""

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from vidence.cli.finding import CommandGroup, all_commands, find_command

MOST_FLAGS = 70
"""Of one command: what a plan has, and a few of its own."""
MOST_COMMANDS = 24
"""At the top."""
MOST_WORDS = 20
"""In the line of the list."""


def leaves(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """The commands without subcommands, each with all its words."""
    if isinstance(command, CommandGroup):  # its commands have files of their own
        return
    if isinstance(command, click.Group):
        for part, subcommand in command.commands.items():
            yield from leaves(subcommand, f"{name} {part}")
    else:
        yield name, command


@pytest.mark.parametrize("name", all_commands())
def test_a_command_is_listed_with_a_line_and_under_a_title(name: str):
    file = all_commands()[name]
    assert (file.section in {"Start here", "Ask", "Explain", "Make", "Look up"}) != (
        file.group in all_commands()
    )
    assert file.help.endswith((".", "?"))
    assert len(file.help.split()) <= MOST_WORDS


def test_the_help_can_be_seen_at_a_glance():
    first = CommandGroup().list_commands(click.Context(CommandGroup()))
    assert len(first) <= MOST_COMMANDS
    assert [name for name in first if all_commands()[name].section == "Start here"] == first[:12]


@pytest.mark.parametrize("name", all_commands())
def test_a_command_says_what_it_and_each_of_its_flags_is_for(name: str):
    for words, command in leaves(find_command(name), name):
        done = CliRunner().invoke(command, ["--help"])
        assert done.exit_code == 0, words
        assert command.help, words
        options = [p for p in command.params if isinstance(p, click.Option) and not p.hidden]
        assert [option.opts for option in options if not option.help] == [], words
        assert len(options) <= MOST_FLAGS, words
