"""The flags of a plan are its fields."""

from typing import Annotated

import click
from click.testing import CliRunner

from vidence.console.flags import command
from vidence.engine.plan import PlanOverrides, flag_of, plan_part
from vidence.errors import UnknownNameError
from vidence.records import Record


class Given(Record):
    """What is given of a plan."""

    overrides: Annotated[PlanOverrides, plan_part(settings=())]


class Some(Record):
    """Some of it."""

    overrides: Annotated[PlanOverrides, plan_part(only=("frames",), settings=("timeout_s",))]


@command()
def whole(given: Given) -> None:
    """Say what was given."""
    click.echo(sorted(given.overrides.items()))


@command()
def some(given: Some) -> None:
    """Say what was given."""
    click.echo(sorted(given.overrides.items()))


def test_what_is_given_has_the_names_of_fields() -> None:
    words = ["--frames", "3", "--prompts-dir", "mine", "--no-shuffle-choices", "--judge-model", "m"]
    words += ["--where", "a=b", "--set", "timeout_s=9", "--set", "frame_times=true", "--patience", "15m"]
    assert CliRunner().invoke(whole, words).output.strip() == str(
        [
            ("frame_times", True),
            ("frames", 3),
            ("judge_models", ("m",)),
            ("patience_s", 900.0),
            ("prompts_dir", "mine"),
            ("shuffle_choices", False),
            ("timeout_s", 9.0),
            ("where", {"a": "b"}),
        ]
    )
    assert CliRunner().invoke(whole, []).output.strip() == "[]"


def test_a_command_takes_only_some_fields() -> None:
    words = ["--frames", "3", "--set", "timeout_s=9"]
    assert CliRunner().invoke(some, words).output.strip() == "[('frames', 3), ('timeout_s', 9.0)]"
    assert CliRunner().invoke(some, ["--style", "cot"]).exit_code == 2
    refused = CliRunner().invoke(some, ["--set", "attempts=9"]).exception
    assert isinstance(refused, UnknownNameError)


def test_a_field_has_its_flag() -> None:
    names = ("frames", "shuffle_choices", "where", "frame_times")
    assert [flag_of(name) for name in names] == [
        "--frames", "--shuffle-choices", "--where", "--set frame_times"
    ]  # fmt: skip
