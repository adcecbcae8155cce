"""Commands are found by their files; those of other distributions by their entry points."""

import importlib
import importlib.metadata
import sys

import click
import pytest

from vidence import catalog
from vidence.cli import finding
from vidence.cli.main import main
from vidence.errors import UnknownNameError, UsageError


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Installs a distribution with the entry point of a command."""

    def install(name: str, text: str) -> None:
        info = tmp_path / "added-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.4\nName: added\nVersion: 1\n")
        (info / "entry_points.txt").write_text(f"[vidence.commands]\n{name} = added_command\n")
        if text:
            (tmp_path / "added_command.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        importlib.invalidate_caches()
        catalog.forget()
        finding.added_commands.cache_clear()

    yield install
    catalog.forget()
    finding.added_commands.cache_clear()
    sys.modules.pop("added_command", None)


TALLY = '''"""Count what there is."""

import click

SECTION = "Explain"


@click.command()
def tally() -> None:
    """Count."""
    click.echo("three")
'''


def test_a_command_of_another_distribution_is_listed_and_called(installed, capsys):
    installed("tally", TALLY)
    file = finding.all_commands()["tally"]
    assert (file.section, file.help) == ("Explain", "Count what there is.")
    assert "added_command" not in sys.modules
    with pytest.raises(SystemExit) as stopped:
        main(["tally"])
    assert (stopped.value.code, capsys.readouterr().out) == (0, "three\n")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("run", TALLY, "has a name that vidence uses itself"),
        ("tally", "", "names added_command, which cannot be found"),
        ("count", TALLY, "defines no click.Command with the name 'count'"),
    ],
)
def test_a_command_that_cannot_be_is_refused(installed, name, text, message):
    installed(name, text)
    with pytest.raises(UsageError, match=message):
        (finding.all_commands(), finding.find_command(name))


def test_a_name_that_no_file_has_is_refused_with_the_nearest():
    with pytest.raises(UnknownNameError, match="'run'"):
        finding.find_command("rnu")


def test_a_command_of_another_distribution_joins_a_group(installed, capsys):
    installed("tally", TALLY.replace('SECTION = "Explain"', 'GROUP = "stats"'))
    assert finding.all_commands()["stats tally"].help == "Count what there is."
    with pytest.raises(SystemExit) as stopped:
        main(["stats", "tally"])
    assert (stopped.value.code, capsys.readouterr().out) == (0, "three\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["gate", "q.jsonl"], "no command `vidence gate`; use `vidence items gate`"),
        (["select", "videos"], "use `vidence videos select`"),
        (["items", "power"], "no command `vidence items power`; use `vidence stats power`"),
        (["items", "aduit"], "Did you mean 'audit'"),
    ],
)
def test_a_command_that_is_elsewhere_is_named(words, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert (stopped.value.code, message in capsys.readouterr().err) == (2, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["replies", "judge", "r", "--judge-panel", "mean"], "Use --set judge_panel=VALUE."),
        (["run", "table", "--timeout", "9"], "Use --set timeout_s=VALUE."),
        (["run", "table", "--framse", "9"], "No such option '--framse'. (Did you mean one of: '--frames'"),
    ],
)
def test_a_field_of_the_plan_without_a_flag_says_how_to_set_it(words, message, capsys):
    with pytest.raises(SystemExit):
        main(words)
    assert message in capsys.readouterr().err


def test_files_without_a_title_are_no_commands():
    assert not {"__init__", "--init--"} & finding.command_files().keys()
    assert isinstance(finding.find_command("import"), click.Command)


def test_commands_and_plug_ins_share_one_search_for_entry_points(monkeypatch):
    searches: list[str] = []
    search = importlib.metadata.entry_points
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda: searches.append("all") or search())
    catalog.forget()
    finding.added_commands.cache_clear()
    finding.all_commands()
    catalog.names("model")
    assert searches == ["all"]
