"""The flags of a plan are its fields."""

import click
import pytest
from click.testing import CliRunner

from vidence.cli.plan_flags import flag_of, moved, patience_option, plan_option, with_columns
from vidence.engine.plan import PlanOverrides
from vidence.errors import UsageError


@click.command()
@plan_option(has_settings=True)
def given(*, overrides: PlanOverrides) -> None:
    """Say what was given."""
    click.echo(sorted(overrides.items()))


def test_what_is_given_has_the_names_of_fields() -> None:
    words = [
        "--frames",
        "3",
        "--prompts",
        "mine",
        "--no-frame-times",
        "--judge-model",
        "m",
        "--where",
        "a=b",
        "--set",
        "timeout_s=9",
    ]
    done = CliRunner().invoke(given, words)
    assert done.output.strip() == str(
        [
            ("frame_times", False),
            ("judge_models", ("m",)),
            ("n_frames", 3),
            ("prompts_dir", "mine"),
            ("timeout_s", 9.0),
            ("where", {"a": "b"}),
        ]
    )
    assert CliRunner().invoke(given, []).output.strip() == "[]"


def test_a_field_has_its_flag() -> None:
    assert (flag_of("n_frames"), flag_of("frame_times"), flag_of("where")) == (
        "--frames",
        "--frame-times",
        "--where",
    )


@pytest.mark.parametrize(
    ("command", "flag", "sentence"),
    [
        ("run", "--timeout", "Say --set timeout_s=VALUE."),
        ("run", "--choice-text-logps", "Say --set want_choice_text_logps=VALUE."),
        ("run", "--framse", ""),
        ("diagnose", "--timeout", "Say it with vidence run, and diagnose its folder."),
        ("diagnose", "--repeats", "Say it with vidence run, and diagnose its folder."),
        ("diagnose", "--framse", ""),
    ],
)
def test_a_flag_that_has_gone_is_known(command: str, flag: str, sentence: str) -> None:
    assert moved(command, flag) == sentence


def test_the_columns_of_recorded_replies_join_the_spec() -> None:
    assert with_columns("replay:a.csv", "id=q,text=r") == "replay:a.csv?id=q&text=r"
    with pytest.raises(UsageError, match="goes with replay:FILE"):
        with_columns("scripted:A", "id=q")


def test_patience_is_a_time() -> None:
    @click.command()
    @patience_option("15m")
    def waits(*, patience_s: float) -> None:
        """Say it."""
        click.echo(patience_s)

    assert CliRunner().invoke(waits, []).output == "900.0\n"
