"""The progress of what Python calls."""

import io

import pytest
from rich.console import Console

from vidence.cli import live
from vidence.engine.events import Started, TrialStored
from vidence.records import Answered, Score, Trial

SCORE = Score(outcome=Answered(answer="A"), value=1.0, scorer="robust", scorer_version=1)


@pytest.mark.parametrize(
    ("progress", "is_terminal", "is_shown"),
    [(False, True, False), (None, True, True), (True, True, True), (None, False, False)],
)
def test_only_a_terminal_is_drawn_on_unless_it_is_wanted(monkeypatch, progress, is_terminal, is_shown):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=is_terminal, width=100)
    monkeypatch.setattr(live, "Console", lambda stderr: console)
    with live.watching(progress, doing="asking") as listen:
        listen(Started(n_planned=1, n_answered_before=0))
        listen(TrialStored(trial=Trial(item_id="q", score=SCORE), cost=0.5))
    assert ("1/1" in screen.getvalue()) is is_shown
