"""Find commands by their files: each is a file in a folder ``commands`` of the core or of a wing.

The file's name, with ``-`` for ``_``, is the command's name, and the first line of its docstring is its line
in the help. The line ``SECTION = "Ask"`` names the title under which `vidence --help` lists it; the line
``GROUP = "items"`` makes it a command of the group of that file name instead, ``vidence items NAME``. A file
with neither line is code that commands share. ``ORDER = 1`` places it before those without a number.

A file defines a `click.Command` of its name; the file of a group defines none. Other distributions add
commands through the entry points ``vidence.commands``: the entry point's name is the command's, its value the
module. Listing reads the files and imports none.
"""

import functools
import importlib
import importlib.util
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vidence.errors import UnknownNameError, UsageError
from vidence.installation import entry_points

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

ENTRY_POINTS = "vidence.commands"
COMPLETE_VARIABLE = "_VIDENCE_COMPLETE"
"""Environment variable set by a shell's completion script."""
_PACKAGE = Path(__file__).parents[1]
_SECTIONS = ("Start here", "Ask", "Explain", "Make", "Look up")  # in this order; others follow
_HEAD = re.compile(r'\A[ru]*"""(?P<help>[^\n]+?)(?:"""|\n)')
_LINE = re.compile(r'^(SECTION|GROUP|ORDER) = "?([^"\n]+)"?$', re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class CommandFile:
    """A command's module, and its place in the help."""

    module: str
    section: str
    """Section of the help; empty for a command of a group."""
    group: str
    """Group; empty for a top-level command."""
    order: int
    help: str


class CommandGroup(click.Group):
    """Commands with files, each imported when it is used.

    Args:
        group: its name; without one, the commands at the top.
        help: what its page of help begins with.
    """

    def __init__(self, group: str = "", *, help: str = "") -> None:
        names = {} if group else {"help_option_names": ["-h", "--help"]}
        super().__init__(group or "vidence", help=help, context_settings=names)
        self._group = group

    def files(self) -> Mapping[str, CommandFile]:
        """Return the files of this group's commands by name, in help order."""
        files = all_commands().items()
        return {words.rpartition(" ")[2]: file for words, file in files if file.group == self._group}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in help order."""
        return list(self.files())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; None for a partial name during completion."""
        try:
            return find_command(f"{self._group} {cmd_name}".strip())
        except UnknownNameError:
            if ctx.resilient_parsing:
                return None
            raise

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete commands and flags without importing commands."""
        from click.shell_completion import CompletionItem

        items = [
            CompletionItem(name, help=file.help)
            for name, file in self.files().items()
            if name.startswith(incomplete)
        ]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by section without importing them."""
        files = self.files()
        widest = max(map(len, files))
        for section in dict.fromkeys(file.section for file in files.values()):
            lines = [(name.ljust(widest), f.help) for name, f in files.items() if f.section == section]
            with formatter.section(section or "Commands"):
                formatter.write_dl(lines)


@functools.cache
def command_files() -> Mapping[str, CommandFile]:
    """Return vidence's commands by words, such as ``items audit``, in help order."""
    paths = (*_PACKAGE.glob("*/commands/*.py"), *_PACKAGE.glob("*/*/commands/*.py"))
    files = dict(filter(None, (_read(path) for path in paths)))
    return dict(sorted(files.items(), key=lambda item: (_rank(item[1].section), item[1].order, item[0])))


def command_packages() -> tuple[str, ...]:
    """Return the packages with vidence's commands."""
    folders = {file.module.rpartition(".")[0] for file in command_files().values()}
    return tuple(sorted(folders))


@functools.cache
def added_commands() -> Mapping[str, CommandFile]:
    """Return other distributions' commands by words, without importing them.

    Raises:
        UsageError: a command has the name of one of vidence, or its module cannot be found.
    """
    files = {}
    for point in sorted(entry_points().select(group=ENTRY_POINTS)):
        where = f"the entry point {point.name!r} in {ENTRY_POINTS}"
        try:
            spec = importlib.util.find_spec(point.module)
        except ImportError:
            spec = None
        if spec is None or spec.origin is None:
            raise UsageError(f"{where} names {point.module}, which cannot be found")
        file = _file(Path(spec.origin), point.module, section="More")
        words = f"{file.group} {point.name}".strip()
        if words in command_files():
            raise UsageError(f"{where} has a name that vidence uses itself; rename it, or uninstall it")
        files[words] = file
    return files


def all_commands() -> Mapping[str, CommandFile]:
    """Return all commands by words: vidence's, then those of other distributions."""
    return {**command_files(), **added_commands()}


def find_command(words: str) -> click.Command:
    """Import a command by its words, such as ``run`` or ``items audit``.

    Raises:
        UnknownNameError: no file has that name.
        UsageError: its module defines no command of that name.
    """
    files = all_commands()
    file = files.get(words)
    if file is None:
        group, _, name = words.rpartition(" ")
        if elsewhere := [other for other in files if other.endswith(f" {name}")]:
            raise UsageError(f"there is no command `vidence {words}`; use `vidence {elsewhere[0]}`")
        raise UnknownNameError("command", name, CommandGroup(group).files())
    if any(other.group == words for other in files.values()):
        return CommandGroup(words, help=file.help)
    module = importlib.import_module(file.module)
    name = words.rpartition(" ")[2]
    for value in vars(module).values():
        if isinstance(value, click.Command) and value.name == name:
            return value
    raise UsageError(f"{file.module} defines no click.Command with the name {name!r}")


def _rank(section: str) -> int:
    return _SECTIONS.index(section) if section in _SECTIONS else len(_SECTIONS)


def _file(path: Path, module: str, *, section: str = "") -> CommandFile:
    """Parse the head of a file; `section` is the default for files without section or group."""
    text = path.read_text(encoding="utf-8")
    words, lines = _HEAD.match(text), dict(_LINE.findall(text))
    group = lines.get("GROUP", "")
    return CommandFile(
        module=module,
        section="" if group else lines.get("SECTION", section),
        group=group,
        order=int(lines.get("ORDER", sys.maxsize)),
        help=words["help"].replace("``", "`") if words else "",
    )


def _read(path: Path) -> tuple[str, CommandFile] | None:
    """Return a command's words and file; None for shared code."""
    module = ".".join(path.relative_to(_PACKAGE.parent).with_suffix("").parts)
    file = _file(path, module)
    if not file.section and not file.group:
        return None
    return f"{file.group} {path.stem.rstrip('_').replace('_', '-')}".strip(), file
