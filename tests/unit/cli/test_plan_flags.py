"""The flags of a plan are its fields."""

import click
import pytest
from click.testing import CliRunner

from vidence.cli.plan_flags import flag_of, patience_option, with_columns, with_plan_flags
from vidence.errors import UsageError


@click.command()
@with_plan_flags
def given(**overrides: object) -> None:
    """Say what was given."""
    click.echo(sorted((name, value) for name, value in overrides.items() if value not in (None, (), {})))


def test_what_is_given_has_the_names_of_fields() -> None:
    words = ["--frames", "3", "--prompts", "mine", "--no-frame-times", "--judge-model", "m", "--where", "a=b"]
    done = CliRunner().invoke(given, words)
    assert done.output.strip() == str(
        [
            ("frame_times", False),
            ("judge_models", ("m",)),
            ("n_frames", 3),
            ("prompts_dir", "mine"),
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
