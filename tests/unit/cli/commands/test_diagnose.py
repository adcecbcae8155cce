"""`vidence diagnose --help`: the options of the diagnostic that is named."""

import pytest
from click.testing import CliRunner

from vidence.catalog import names, options_of, settings_type
from vidence.cli.commands.diagnose import diagnose


def help_of(*words: str) -> str:
    done = CliRunner().invoke(diagnose, [*words, "--help"], catch_exceptions=False)
    assert done.exit_code == 0
    return " ".join(done.output.split())


@pytest.mark.parametrize("name", names("diagnostic"))
def test_help_behind_a_name_lists_its_options(name: str) -> None:
    settings = settings_type("diagnostic", name)
    said = help_of(name, "runs/r").partition(f"Options of {name}")[2]
    for option in options_of(settings) if settings else ():
        assert option.name in said
    assert f"Options of {name}," in help_of(f"{name}?key=value")


def test_help_without_a_name_says_which_there_are() -> None:
    said = help_of()
    assert "Diagnostics are best-of-n, blind-panel" in " ".join(said.split())
    assert "vidence diagnose NAME --help" in said
    assert "Options of" not in said
