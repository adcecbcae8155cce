"""The commands that there are: each is a file in a folder ``commands``, of the core or of a wing.

The name of a command is the name of its file with ``-`` for ``_``. The first line of its docstring is what
``vidence --help`` says of it, and the line ``SECTION = "Ask"`` says under which title; a file without that
line is code that commands share. It defines a `click.Command` of that name. Other distributions add theirs
through the entry points ``vidence.commands``: the name of the entry point is the name, its value the module.
Listing reads the files and imports none.
"""

import functools
import importlib
import importlib.metadata
import importlib.util
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from vidence.errors import UnknownNameError, UsageError

GROUP = "vidence.commands"
COMPLETE_VARIABLE = "_VIDENCE_COMPLETE"
"""Set by the script of a shell that wants to know what a word can be."""
_PACKAGE = Path(__file__).parents[1]
_SECTIONS = ("Ask", "Explain", "Make", "Look up")  # in this order; those of other packages follow
_HEAD = re.compile(r'\A[ru]*"""(?P<help>[^\n]+?)(?:"""|\n)')
_SECTION = re.compile(r'^SECTION = "([^"]+)"', re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class CommandFile:
    """A command that is there: the module that defines it, its title in the list, and its line there."""

    module: str
    section: str
    help: str


@functools.cache
def command_files() -> Mapping[str, CommandFile]:
    """The commands of vidence by name, in the order of the list; none is imported."""
    files = (*_PACKAGE.glob("*/commands/*.py"), *_PACKAGE.glob("*/*/commands/*.py"))
    command_files = dict(filter(None, (_read(path) for path in files)))
    return dict(sorted(command_files.items(), key=lambda pair: (_rank(pair[1].section), pair[0])))


def command_packages() -> tuple[str, ...]:
    """The folders of commands of vidence, as packages."""
    folders = {file.module.rpartition(".")[0] for file in command_files().values()}
    return tuple(sorted(folders))


@functools.cache
def added_commands() -> Mapping[str, CommandFile]:
    """The commands of other distributions by name; none is imported.

    Raises:
        UsageError: one has the name of a command of vidence, or its module is not there.
    """
    commands = {}
    for point in sorted(importlib.metadata.entry_points(group=GROUP)):
        where = f"the entry point {point.name!r} in {GROUP}"
        if point.name in command_files():
            raise UsageError(f"{where} has a name that vidence has itself; give it another, or uninstall it")
        try:
            spec = importlib.util.find_spec(point.module)
        except ImportError:
            spec = None
        if spec is None or spec.origin is None:
            raise UsageError(f"{where} names {point.module}, which is not there")
        words, section = _head(Path(spec.origin))
        commands[point.name] = CommandFile(module=point.module, section=section or "More", help=words)
    return commands


def all_commands() -> Mapping[str, CommandFile]:
    """Every command by name: those of vidence, then those of other distributions."""
    return {**command_files(), **added_commands()}


def find_command(name: str) -> click.Command:
    """Import a command.

    Raises:
        UnknownNameError: there is none of that name.
        UsageError: its module defines no command of that name.
    """
    file = command_files().get(name) or added_commands().get(name)
    if file is None:
        raise UnknownNameError("command", name, tuple(all_commands()))
    module = importlib.import_module(file.module)
    for value in vars(module).values():
        if isinstance(value, click.Command) and value.name == name:
            return value
    raise UsageError(f"{file.module} defines no click.Command with the name {name!r}")


def by_section() -> Iterator[tuple[str, Mapping[str, CommandFile]]]:
    """The titles of the list, each with its commands."""
    commands = all_commands()
    for section in dict.fromkeys(file.section for file in commands.values()):
        yield section, {name: file for name, file in commands.items() if file.section == section}


def _rank(section: str) -> int:
    return _SECTIONS.index(section) if section in _SECTIONS else len(_SECTIONS)


def _head(path: Path) -> tuple[str, str]:
    """What a file says of itself, and the title under which it wants to be listed."""
    text = path.read_text(encoding="utf-8")
    words, section = _HEAD.match(text), _SECTION.search(text)
    return words["help"].replace("``", "`") if words else "", section[1] if section else ""


def _read(path: Path) -> tuple[str, CommandFile] | None:
    """The name of a file and what it says of itself; None where it is code that commands share."""
    words, section = _head(path)
    if not section:
        return None
    module = ".".join(path.relative_to(_PACKAGE.parent).with_suffix("").parts)
    name = path.stem.rstrip("_").replace("_", "-")
    return name, CommandFile(module=module, section=section, help=words)
