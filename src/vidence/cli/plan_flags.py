"""The flags of a plan, which commands that ask have in common."""

from collections.abc import Callable, Container
from typing import Any, TypeVar

import click

from vidence.console.options import pairs, where_option
from vidence.engine.limits import duration_s
from vidence.engine.plan import plan_flags
from vidence.errors import UsageError

F = TypeVar("F", bound=Callable[..., object])


def flag_of(field: str) -> str:
    """The flag that sets a field of the plan.

    >>> flag_of("prompts_dir")
    '--prompts'
    """
    return next((one.flag.partition("/")[0] for one in plan_flags() if one.field == field), f"--{field}")


def with_plan_flags(function: F, *, without: Container[str] = ()) -> F:
    """Give a command the flags of a plan, but for some fields, and ``--where``."""
    function = where_option("questions with this tag")(function)
    for one in reversed(plan_flags()):
        if one.field in without:
            continue
        settings: dict[str, Any] = {"help": one.help, "default": None, **one.click}
        if one.kind is bool:
            settings["is_flag"] = True
        elif one.kind is tuple:
            settings["multiple"] = True
        elif isinstance(settings.get("type"), tuple):
            settings["type"] = click.Choice(settings["type"])
        elif "type" not in settings:
            settings["type"] = one.kind
        function = click.option(one.flag, one.field, **settings)(function)
    return function


def patience_option(default: str | None = None) -> Callable[[F], F]:
    """Give a command ``--patience``; without a default that of the plan holds."""
    return click.option(
        "--patience",
        "patience_s",
        type=duration_s,
        metavar="DURATION",
        default=default,
        show_default=default is not None,
        help="How long to sit out a server that answers nobody: 90s, 15m, 1h.",
    )


def with_columns(model: str, columns: str) -> str:
    """The spec of recorded replies with the columns of its file."""
    if not model.startswith("replay:"):
        raise UsageError(f"--replay-columns goes with replay:FILE, not with {model!r}")
    found = pairs(columns.split(","), "--replay-columns")
    return model + ("&" if "?" in model else "?") + "&".join(f"{k}={v}" for k, v in found.items())
