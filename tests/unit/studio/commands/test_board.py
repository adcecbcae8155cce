"""The commands of a board, each in a process of its own: opened, scored by hand, and what they refuse."""

import subprocess
import sys

import pytest

from subjects.hidden_board import hidden_split
from vidence.cli.main import main


@pytest.fixture(scope="module")
def split(tmp_path_factory):
    return hidden_split(tmp_path_factory.mktemp("hidden"), 8)


def board(*words: object) -> tuple[int, str]:
    """The exit code of ``vidence items board``, and all that it printed."""
    command = [sys.executable, "-m", "vidence", "items", "board", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_board_is_opened_and_scored_by_hand(split, tmp_path):
    lab = tmp_path / "lab"
    code, said = board("open", lab, split.release, "--per-day", 3, "--ends", "2030-12-31")
    assert code == 0, said
    assert "8 questions of test; 3 submissions a day and 20 in all for each team, until 2030-12-31" in said
    code, said = board("open", lab, split.release, "--in-all", 9)
    assert (code, "3 submissions a day and 9 in all for each team, until 2030-12-31" in said) == (0, True), (
        said
    )
    code, said = board("score", lab, "--vault", split.vault, "--once")
    assert (code, said.strip()) == (
        0,
        f"{split.vault} and {lab} have the same owner: the server could read the answers",
    )


def test_without_a_studio_nothing_is_scored(split, tmp_path, capsys):
    words = ("score", tmp_path, "--vault", split.vault, "--once")
    with pytest.raises(SystemExit) as ended:  # before anything of Django is set up
        main(["items", "board", *map(str, words)])
    said = capsys.readouterr().err
    assert (
        ended.value.code,
        "holds no studio; open a board in it with: vidence items board open" in said,
    ) == (2, True)
    (tmp_path / "studio.sqlite3").write_text("no database, but words, " * 100)
    code, said = board(*words)
    assert (code, "cannot be used: file is not a database" in said) == (2, True), said
