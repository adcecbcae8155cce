"""Stops of a making: each board is opened once, in order, until nothing new waits."""

import io
import subprocess
from pathlib import Path

import pytest
from rich.console import Console

from vidence.errors import UsageError
from vidence.make.commands.make import assisted
from vidence.make.pipeline.ledger import Account
from vidence.make.pipeline.session import Built, Stop

TRACKS = Stop(first="north/tracks", words="Look at 8 tracks.")
CARDS = Stop(first="north/cards", words="Write 4 cards.")


class Sitting:
    """Makings that wait for this, one after the other, and the studios that were opened between."""

    def __init__(self, monkeypatch, *stops: tuple[Stop, ...], code: int = 0) -> None:
        self.left, self.opened, self.held, self.code = list(stops), [], [], code
        self.out = io.StringIO()
        monkeypatch.setattr(subprocess, "run", self._run)

    def _run(self, words, *, check):
        self.opened.append(words[-1])
        return subprocess.CompletedProcess(words, self.code)

    def make(self, is_held: bool) -> Built:
        self.held.append(is_held)
        return Built(
            folder=Path("made/set"),
            account=Account(stages=(), questions={}),
            files=(),
            sentences=(),
            stops=self.left.pop(0),
        )

    def sit(self) -> Built:
        return assisted(self.make, config=Path("set.toml"), console=Console(file=self.out))


def test_a_board_is_opened_once_and_the_set_is_made_again_after_each(monkeypatch):
    sitting = Sitting(monkeypatch, (TRACKS,), (TRACKS, CARDS), (TRACKS, CARDS), ())
    assert sitting.sit().stops == ()
    assert sitting.held == [True, True, True, False]
    assert sitting.opened == ["north/tracks", "north/cards"]
    assert sitting.out.getvalue() == "next: Look at 8 tracks.\nnext: Write 4 cards.\n"


@pytest.mark.parametrize(("code", "is_end"), [(0, True), (130, True), (2, False)])
def test_a_studio_that_cannot_be_opened_ends_the_sitting(monkeypatch, code, is_end):
    sitting = Sitting(monkeypatch, (TRACKS,), (), (), code=code)
    if is_end:
        assert sitting.sit().stops == ()
        return
    with pytest.raises(UsageError, match="the studio ended with 2; fix what it reports"):
        sitting.sit()
