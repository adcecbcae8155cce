"""Shells complete commands, flags, and the names of plug-ins."""

import pytest

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
        (["comp"], ["compare"]),
        (["run", "mmvu", "--sampl"], ["--sample", "--sample-by"]),
        (["replies", "errors", "lab"], ["label"]),
        (["nothing", "zz"], []),
        (["run", "hum"], ["humanpcr"]),
        (["run", "table", "--selector", "herb"], ["herbench-uniform"]),
        (["run", "table", "--parser", "herb"], ["herbench-official"]),
        (["run", "table", "--judge-model", "open"], ["openai"]),
        (["diagnose", "frame"], ["frame-shares"]),
        (["diagnose", "mrfs", "mmv"], ["mmvu", "mmv"]),  # the last is a file
        (["make", "act"], ["actpld"]),
        (["get", "perceptionc"], ["perceptioncomp"]),
        (["list", "sel"], ["selectors"]),
        (["list", "models", "scr"], ["scripted"]),
        ([""], [name for name, file in all_commands().items() if not file.group]),
        (["stats", "co"], ["contrast", "correlate"]),
    ],
)
def test_words_are_completed(capsysbinary, monkeypatch, words, expected):
    assert completed(capsysbinary, monkeypatch, *words) == expected
