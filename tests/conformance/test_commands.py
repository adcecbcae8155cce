"""Every command that has a file: its line in the list, its help, and how many flags it has."""

import inspect
from collections.abc import Callable, Iterator

import click
import pytest
from click.testing import CliRunner

import vidence
from vidence.cli.finding import CommandGroup, all_commands, find_command
from vidence.engine.plan import plan_flags

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


@pytest.mark.parametrize("entry", plan_flags(), ids=lambda entry: entry.field)
def test_a_setting_has_one_word_in_python_and_on_the_command_line(entry):
    # A flag is given once for each of several values, and takes a duration with its unit.
    word = entry.field.removesuffix("s") if entry.is_many else entry.field.removesuffix("_s")
    words = {f"--{name.replace('_', '-')}" for name in (entry.field, word)}
    assert entry.flag.partition("/")[0] in words


_KEYWORDS = {"with": "table", "as": "names"}
"""Flags that are no names in Python, and the arguments that have their place."""


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (vidence.compare, "compare"),
        (vidence.contrast, "stats contrast"),
        (vidence.correlate, "stats correlate"),
        (vidence.panel, "panel"),
    ],
)
def test_a_function_takes_what_its_command_takes_by_the_same_word(function: Callable[..., object], name: str):
    command = find_command(name)
    flags = {option.removeprefix("--") for p in command.params for option in p.opts}
    words = {_KEYWORDS.get(flag, flag.replace("-", "_")) for flag in flags}
    parameters = inspect.signature(function).parameters.values()
    # On the command line the cache is that of the environment.
    named = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is not p.empty}
    assert named - words <= {"cache"}
