"""The shell completes commands and flags without importing a command for its name."""

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
        ([""], [name for name, file in all_commands().items() if not file.group]),
        (["stats", "co"], ["contrast", "correlate"]),
    ],
)
def test_words_are_completed(capsysbinary, monkeypatch, words, expected):
    assert completed(capsysbinary, monkeypatch, *words) == expected
