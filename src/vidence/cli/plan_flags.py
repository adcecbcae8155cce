"""The flags of a plan, which commands that ask have in common."""

import functools
from collections.abc import Callable, Container, Mapping
from typing import TypeVar, cast

import click

from vidence.console.options import Option, pairs, where_option
from vidence.engine.limits import duration_s
from vidence.engine.plan import PlanOverrides, plan_flags, plan_settings, read_setting
from vidence.errors import UsageError

F = TypeVar("F", bound=Callable[..., object])
FOR_DIAGNOSES = frozenset(
    (
        *("media", "map", "split", "protocol", "selector", "n_frames", "style", "prompts", "prompts_dir"),
        *("layout", "size", "judge_models", "limit", "sample", "seed", "allow_missing", "concurrency"),
        *("max_cost", "patience_s"),
        *("price_in", "price_out", "temperature", "max_tokens", "want_choice_logps"),
    )
)
"""The fields of a plan that have a flag where a diagnostic or an audit asks; a run may have others."""


def flag_of(field: str) -> str:
    """The flag that sets a field of the plan.

    >>> flag_of("prompts_dir"), flag_of("timeout_s")
    ('--prompts', '--set timeout_s')
    """
    if field in plan_settings():
        return f"--set {field}"
    return next((one.flag.partition("/")[0] for one in plan_flags() if one.field == field), f"--{field}")


def plan_option(*, only: Container[str] = (), has_settings: bool = False) -> Option:
    """Give a command the flags of a plan, which it is handed as ``overrides`` (`PlanOverrides`).

    Args:
        only: the fields that have a flag; all of them where it is empty.
        has_settings: whether there is ``--set``, too, for the fields that have none.
    """
    flags = [one for one in plan_flags() if not only or one.field in only]

    def added(function: F) -> F:
        @functools.wraps(function)
        def called(**values: object) -> object:
            given = {one.field: values.pop(one.field) for one in flags} | {"where": values.pop("where")}
            if has_settings:
                given |= cast("Mapping[str, object]", values.pop("settings"))
            overrides = {name: value for name, value in given.items() if value not in (None, (), {})}
            return function(overrides=cast("PlanOverrides", overrides), **values)

        called = where_option("questions with this tag")(called)
        if has_settings:
            called = _set_option(called)
        for one in reversed(flags):
            called = one.option()(called)
        return cast("F", called)

    return added


_set_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="FIELD=VALUE",
    callback=lambda context, flag, texts: {k: read_setting(k, v) for k, v in pairs(texts, "--set").items()},
    help="A setting of the plan that has no flag, such as timeout_s=900; repeatable.",
)


def moved(command: str, name: str) -> str:
    """What sets a field of the plan that a command has no flag for; nothing where it is no field."""
    field = next((f for f in plan_settings() if name in (_usual(f), f"--{f.replace('_', '-')}")), "")
    if command == "run":
        return f"Say --set {field}=VALUE." if field else ""
    has_flag = field or any(name in one.flag.split("/") for one in plan_flags())
    return "Say it with vidence run, and diagnose its folder." if command == "diagnose" and has_flag else ""


def _usual(field: str) -> str:
    """The flag that a field without one would have."""
    return "--" + field.removesuffix("_s").removeprefix("want_").replace("_", "-")


def patience_option(default: str | None = None) -> Option:
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
