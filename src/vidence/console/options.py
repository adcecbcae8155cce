"""Options that commands have in common, and the words that go with them."""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar, cast

import click
from click.core import ParameterSource

from vidence.console.progress import MODES
from vidence.errors import UsageError

F = TypeVar("F", bound=Callable[..., object])
PATH = click.Path(path_type=Path)
NOT_ALL = 3
"""The exit code where questions failed, or were left out when they were read."""


class Option(Protocol):
    """A flag that a command is given."""

    def __call__(self, function: F, /) -> F:
        """The function with the flag."""


def file_option(flag: str, name: str, says: str) -> Option:
    """A flag that names a file to write; ``-`` is the standard output."""
    kind = click.Path(path_type=Path, allow_dash=True)
    return click.option(flag, name, type=kind, metavar="FILE", help=says)


parser_option = click.option(
    "--parser", help="Read all stored replies again with this parser; nothing is asked."
)
html_option = file_option("--html", "html", "Write one self-contained page.")
json_option = file_option(
    "--json", "json_path", "Write what is said as JSON, for other programs; - prints it."
)
latex_option = file_option("--latex", "latex", "Write the tables for a paper, for \\input.")
items_option = click.option(
    "--items", type=click.IntRange(min=0), default=300, show_default=True, help="Most items on the page."
)


def csv_option(what: str) -> Option:
    """``--csv``, which writes one row per `what`."""
    return file_option("--csv", "csv_path", f"Write one row per {what}.")


def flags_given(context: click.Context, flags: Mapping[str, str]) -> list[str]:
    """Those of some flags, by the names of their parameters, that the user gave."""
    return [
        flag
        for name, flag in flags.items()
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    ]


def level_option(says: str) -> Option:
    """``--level``, with what it says of itself."""
    within = click.FloatRange(0.5, 1, min_open=True, max_open=True)
    return click.option("--level", type=within, default=0.95, show_default=True, help=says)


def interval_option(default: str) -> Option:
    """``--interval``, the form of intervals in LaTeX."""
    return click.option(
        "--interval",
        type=click.Choice(["pm", "brackets", "none"]),
        default=default,
        show_default=True,
        help="How --latex writes intervals: half the width behind a plus-minus, both ends, or not at all.",
    )


def together(name: str, kind: type, *options: Option) -> Option:
    """Options whose values a command is handed as one.

    Args:
        name: of the command's argument.
        kind: a dataclass with fields that are called as the options; others keep their defaults.
        options: in the order of the help.
    """
    names = [field.name for field in dataclasses.fields(kind)]

    def added(function: F) -> F:
        @functools.wraps(function)
        def called(**values: object) -> object:
            ours = {one: values.pop(one) for one in names if one in values}
            return function(**{name: kind(**ours)}, **values)

        for option in reversed(options):
            called = option(called)
        return cast("F", called)

    return added


def progress_option(function: F) -> F:
    """Give a command ``--progress``."""
    words = (
        "auto is a bar on a terminal and a line every 30 s elsewhere, plain are the lines, none is neither."
    )
    return click.option(
        "--progress", type=click.Choice(MODES), default="auto", show_default=True, help=words
    )(function)


def jobs_option(function: F) -> F:
    """Give a command ``--jobs``."""
    words = "Processes that work side by side, on each machine (default: the cores); results are the same."
    return click.option("--jobs", type=click.IntRange(1), metavar="N", help=words)(function)


def on_option(function: F) -> F:
    """Give a command ``--on``."""
    return click.option(
        "--on",
        metavar="WHERE",
        help="Where the work is done: local, ray (the Ray cluster that this machine is part of), or "
        "ray://HOST:10001 (default: VIDENCE_ON, else local). Results are the same.",
    )(function)


def trust_option(function: F) -> F:
    """Give a command ``--trust``, the user's word for what a file names (`engine.trust`)."""
    words = "Allow the keys, hosts and code that the file names; it is remembered."
    return click.option("--trust", is_flag=True, help=words)(function)


def where_option(what: str) -> Option:
    """``--where``, for only so much of what a command is about."""
    return click.option(
        "--where",
        multiple=True,
        metavar="TAG=VALUE",
        callback=lambda context, flag, texts: pairs(texts, "--where"),
        help=f"Only {what}; repeatable.",
    )


def pairs(texts: Sequence[str], flag: str) -> dict[str, str]:
    """What ``KEY=VALUE`` texts say; each key once."""
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise UsageError(f"{flag} {text!r} is not KEY=VALUE")
        if key in found:
            raise UsageError(f"{flag} names {key!r} twice; give each one once")
        found[key] = value
    return found


data_option = click.option("--data", type=PATH, help="A benchmark's questions (default: what get fetched).")


def named_questions(what: str, data: Path | None) -> tuple[str, Path | None]:
    """The benchmark and its data; None: what `vidence get` fetched."""
    from vidence.catalog import names

    if data is not None or what in names("benchmark"):
        return what, data
    if not Path(what).exists():
        raise UsageError(
            f"{what!r} is neither a file nor a benchmark; expected a file such as questions.jsonl, or one of "
            f"{', '.join(names('benchmark'))}"
        )
    return "table", Path(what)
