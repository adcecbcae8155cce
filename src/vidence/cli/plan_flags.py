"""The flags of a plan, which commands that ask have in common."""

from collections.abc import Container, Mapping
from typing import cast

import msgspec

from vidence.console.flags import Flag, part
from vidence.engine.plan import PlanOverrides, plan_flags, plan_settings, read_overrides, read_setting

_SET = Flag(
    field="settings",
    flag="--set",
    kind=str,
    is_pairs=True,
    help="A setting of the plan that has no flag, such as timeout_s=900; repeatable.",
    default={},
    more={"metavar": "FIELD=VALUE"},
)


def flag_of(field: str) -> str:
    """The flag that sets a field of the plan.

    >>> flag_of("prompts_dir"), flag_of("timeout_s")
    ('--prompts', '--set timeout_s')
    """
    if field in plan_settings():
        return f"--set {field}"
    return next((one.flag.partition("/")[0] for one in plan_flags() if one.field == field), f"--{field}")


def plan_part(*, only: Container[str] = (), settings: Container[str] | None = None) -> msgspec.Meta:
    """A field of `PlanOverrides`, which the flags of a plan give.

    Args:
        only: the fields that have a flag; all of them where it is empty.
        settings: the fields without one that ``--set`` takes; all of them where it is empty, and without
            it there is no ``--set``.
    """
    flags = [one for one in plan_flags() if not only or one.field in only]

    def made(values: dict[str, object]) -> PlanOverrides:
        texts = cast("Mapping[str, str]", values.pop("settings", {}))
        given = values | {key: read_setting(key, text, known=settings or ()) for key, text in texts.items()}
        return read_overrides({name: value for name, value in given.items() if value not in (None, (), {})})

    return part(flags if settings is None else [*flags, _SET], made)


def moved(command: str, name: str) -> str:
    """What sets a field of the plan that a command has no flag for; nothing where it is no field."""
    field = next((f for f in plan_settings() if name in (_usual(f), f"--{f.replace('_', '-')}")), "")
    if command in ("run", "judge"):
        return f"Say --set {field}=VALUE." if field else ""
    has_flag = field or any(name in one.flag.split("/") for one in plan_flags())
    return "Say it with vidence run, and diagnose its folder." if command == "diagnose" and has_flag else ""


def _usual(field: str) -> str:
    """The flag that a field without one would have."""
    return "--" + field.removesuffix("_s").removeprefix("want_").replace("_", "-")
