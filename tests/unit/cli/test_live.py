"""The progress of what Python calls, in a notebook that is made of three functions here."""

import io
import sys
import types

import pytest
from rich.console import Console

from vidence.cli import live
from vidence.cli.live import NotebookBar, is_notebook, watching
from vidence.engine.events import ExaminedOne, MediaTrouble, Started, TrialStored, Waiting
from vidence.records import Answered, Failed, Score, Trial

SCORE = Score(outcome=Answered(answer="A"), value=1.0, scorer="robust", scorer_version=1)
TRIED = TrialStored(trial=Trial(item_id="q", score=SCORE), cost=0.5)


class Handle:
    def __init__(self, drawings: list[str]) -> None:
        self.drawings = drawings

    def update(self, drawing: str) -> None:
        self.drawings.append(drawing)


@pytest.fixture
def drawings(monkeypatch) -> list[str]:
    """What a notebook was given to show."""
    found: list[str] = []

    def display(drawing, *, display_id):
        found.append(drawing)
        return Handle(found)

    shell = types.SimpleNamespace(kernel=object())
    parts = types.SimpleNamespace(HTML=str, display=display)
    monkeypatch.setitem(
        sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell, display=parts)
    )
    monkeypatch.setitem(sys.modules, "IPython.display", parts)
    return found


def test_a_notebook_gets_one_bar_that_stays_as_it_ended(drawings):
    with watching(None, doing="asking") as listen:
        listen(Started(n_planned=1000, n_answered_before=0))
        for _ in range(1000):
            listen(TRIED)
    assert 100 <= len(drawings) <= 103
    assert drawings[-1] == (
        '<progress value="1000" max="1000"></progress> asking 1,000/1,000 1,000 answered · $500.00'
    )


def test_waits_and_troubles_are_said_and_escaped(drawings):
    bar = NotebookBar(doing="asking")
    bar(Started(n_planned=2, n_answered_before=1))
    bar(Waiting(reason="<b>429", wait_s=3, n_allowed=4))
    assert "waiting 3 s: &lt;b&gt;429" in drawings[-1]
    for n in range(9):
        bar(MediaTrouble(message=f"<{n}>"))
    assert drawings[-1].count("<br>") == 5
    bar(ExaminedOne(item_id="q", finding=Failed(stage="model", error="E", message="m")))
    assert "2/2 1 failed" in drawings[-1]


def test_elsewhere_only_a_terminal_is_drawn_on_unless_it_is_wanted(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(live, "Console", lambda stderr: Console(file=screen, force_terminal=True, width=100))
    assert not is_notebook()
    for progress, is_shown in ((False, False), (None, True), (True, True)):
        screen.truncate(0)
        with watching(progress, doing="asking") as listen:
            listen(Started(n_planned=1, n_answered_before=0))
            listen(TRIED)
        assert ("1/1" in screen.getvalue()) is is_shown
    monkeypatch.setattr(live, "Console", lambda stderr: Console(file=screen, force_terminal=False))
    screen.truncate(0)
    with watching(None, doing="asking") as listen:
        listen(Started(n_planned=1, n_answered_before=0))
        listen(TRIED)
    assert not screen.getvalue().strip("\0")
