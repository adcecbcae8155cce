"""The shell completes commands, flags, and names of benchmarks, models, parsers and pages."""

import shutil
import subprocess

import pytest
from click.testing import CliRunner

from vidence.catalog import names
from vidence.cli.commands.completion import completion
from vidence.cli.finding import all_commands
from vidence.cli.main import main


def completed(capsysbinary, monkeypatch, *words):
    """What the last of some words can be."""
    monkeypatch.setenv("_VIDENCE_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", " ".join(["vidence", *words]))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    with pytest.raises(SystemExit):
        main([])
    return [line.partition(",")[2] for line in capsysbinary.readouterr().out.decode().split("\n") if line]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["comp"], ["compare", "completion"]),
        (["run", "mm"], ["mmvu"]),
        (["run", "mmvu", "--model", "open"], ["openai:"]),
        (["run", "mmvu", "--parser", "herb"], ["herbench-official"]),
        (["run", "mmvu", "--sampl"], ["--sample", "--sample-by"]),
        (["report", "r", "--parser", "herb"], ["herbench-official"]),
        (["judge", "r", "--judge", "rule"], ["rule-first"]),
        (["diagnose", "mod"], ["modality"]),
        (["diagnose", "modality", "herb"], ["herbench"]),
        (["diagnose", "modality", "runs/"], ["runs/"]),
        (["make", "act"], ["actpld"]),
        (["get", "perc"], ["perceptioncomp"]),
        (["list", "selec"], ["selectors"]),
        (["list", "selectors", "bol"], ["bolt"]),
        (["help", "item"], ["item-format"]),
        (["completion", "z"], ["zsh"]),
        (["nothing", "zz"], []),
    ],
)
def test_words_are_completed(capsysbinary, monkeypatch, words, expected):
    assert completed(capsysbinary, monkeypatch, *words) == expected


def test_without_a_beginning_all_names_are_offered(capsysbinary, monkeypatch):
    assert completed(capsysbinary, monkeypatch, "run", "mmvu", "--selector", "") == list(names("selector"))
    assert completed(capsysbinary, monkeypatch, "") == list(all_commands())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script_that_it_can_read(shell):
    done = CliRunner().invoke(completion, [shell], catch_exceptions=False, standalone_mode=False)
    assert f"_VIDENCE_COMPLETE={shell}_complete" in done.output
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed; its script is only looked at")
    subprocess.run([shell, "-n"], input=done.output, text=True, check=True)
