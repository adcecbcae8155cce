"""What stands on a terminal: words of others are shown, and neither obeyed nor read as markup."""

import io
import re
import sys

import pytest
from rich.console import Console

from vidence.console.screen import Screen, say, several
from vidence.engine import display
from vidence.engine.display import Display, watched
from vidence.engine.events import Away, Back, Event, Listener, Started, TrialStored, Trouble, Waiting
from vidence.errors import UsageError
from vidence.records import Answered, Failed, Score, Trial

HOSTILE = "[/red] [bold]x[/] \x1b[2J"


def terminal() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=200, color_system=None)


def written(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_line_is_said_as_it_is() -> None:
    console = terminal()
    say(console, (HOSTILE, "red"), f" in a[dim]b {HOSTILE}")
    assert written(console).rstrip() == "[/red] [bold]x[/] ␛[2J in a[dim]b [/red] [bold]x[/] ␛[2J"


def test_counts_have_their_number() -> None:
    assert several(0, "question") == "0 questions"
    assert several(1, "reply", many="replies") == "1 reply"


def test_a_bar_shows_what_a_server_says_and_goes_on() -> None:
    console = terminal()
    display = Display(console)
    with display.progress:
        display(Started(n_planned=3, n_answered_before=0, notes=(HOSTILE,)))
        display(Waiting(reason=HOSTILE, wait_s=1.0, n_allowed=2))
        display(Trouble(message=HOSTILE))
    shown = written(console)
    assert "note: [/red] [bold]x[/] ␛[2J" in shown
    assert "waiting 1 s: [/red] [bold]x[/] ␛[2J (2 at once)" in shown
    assert "media: [/red] [bold]x[/] ␛[2J" in shown
    assert "\x1b[2J" not in shown


def away(left_s: float, *, has_answered: bool = True) -> Event:
    return Away(reason=f"refused {HOSTILE}", left_s=left_s, wait_s=4.2, has_answered=has_answered)


def test_a_server_that_is_away_is_counted_down() -> None:
    console = terminal()
    shown = shown_after(console, away(600.0), away(598.0))
    line = "no answer: trying on for 10:00 min (--patience): refused [/red] [bold]x[/] ␛[2J"
    assert shown.count(line) == 1
    assert "no answer, trying on for 9:58: next in 4 s" in shown
    assert "answered again after 1:02 min" in shown_after(terminal(), away(600.0), Back(after_s=62.0))


def test_off_a_terminal_a_server_that_is_away_is_a_line_a_minute() -> None:
    console = Console(file=io.StringIO(), width=200)
    events = [away(600.0 - second, has_answered=False) for second in range(130)]
    shown = shown_after(console, *events, Back(after_s=140.0), away(500.0), Back(after_s=3.0))
    said = [line.partition("trying on for ")[2][:5] for line in shown.splitlines() if "no answer" in line]
    assert said == ["10:00", "9:00 ", "8:00 ", "8:20 "]
    assert shown.count("no request has succeeded; refused") == 3


def tried(outcome: Answered | Failed, *, cost: float = 0.0) -> Event:
    return TrialStored(
        trial=Trial(item_id="q", score=Score(scorer="s", outcome=outcome, value=0.0, scorer_version=1)),
        cost=cost,
    )


def shown_after(console: Console, *events: Event) -> str:
    display = Display(console)
    with display.progress:
        for event in events:
            display(event)
    return written(console)


ONE_OF_EACH = (
    Started(n_planned=40, n_answered_before=7),
    tried(Answered(answer="A"), cost=0.25),
    tried(Answered(answer="B"), cost=0.25),
    tried(Failed(stage="media", error="MediaError", message="x")),
)


def test_the_bar_counts_outcomes_and_spend_and_says_how_fast_and_how_long() -> None:
    shown = shown_after(terminal(), *ONE_OF_EACH, *ONE_OF_EACH[1:])
    assert "13/40" in shown
    assert "4 answered, 2 failed, $1.00" in shown
    assert re.search(r"\d+\.\d/s", shown)
    assert "left" in shown


def test_where_nobody_watches_nothing_is_drawn_but_troubles_are_said() -> None:
    console = Console(file=io.StringIO(), force_terminal=False, width=200)
    shown = shown_after(console, *ONE_OF_EACH, Trouble(message="v.mp4 is cut off"))
    assert shown.split() == ["media:", "v.mp4", "is", "cut", "off"]


def test_of_many_troubles_the_first_are_said_and_that_there_are_more() -> None:
    console = Console(file=io.StringIO(), force_terminal=False, width=200)
    lines = shown_after(console, *(Trouble(message=f"{i}.mp4") for i in range(21))).splitlines()
    assert lines[0].endswith("0.mp4")
    assert lines[-1].endswith("more troubles; the report counts them")
    assert sum("more troubles" in line for line in lines) == 1
    assert len(lines) == 21


def watch(error: BaseException | None, *, has_started: bool, n_before: int = 0) -> int:
    async def work(listen: Listener) -> int:
        if has_started:
            listen(Started(n_planned=2, n_answered_before=n_before))
        if error is not None:
            raise error
        return 7

    kept, again = "every reply is kept", "vidence resume r"
    return watched(work, Console(file=io.StringIO()), doing="asking", what="the run", kept=kept, again=again)


def test_work_that_is_watched_gives_what_it_made(capsys: pytest.CaptureFixture[str]):
    assert watch(None, has_started=True) == 7
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("error", "has_started", "n_before", "said"),
    [
        (UsageError("no such thing"), False, 0, ""),
        (UsageError("no such thing"), True, 0, ""),  # nothing was answered that could be kept
        (
            UsageError("no such thing"),
            True,
            1,
            "the run did not finish; every reply is kept. Go on with: vidence resume r\n",
        ),
        (KeyboardInterrupt(), False, 0, "stopped\n"),
        (KeyboardInterrupt(), True, 0, "stopped; every reply is kept. Go on with: vidence resume r\n"),
    ],
)
def test_work_that_does_not_end_says_what_is_kept(
    error: BaseException, has_started: bool, n_before: int, said: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(type(error)):
        watch(error, has_started=has_started, n_before=n_before)
    assert capsys.readouterr().err == said


class _Closed(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_messages_that_nobody_reads_go_unsaid_and_an_output_that_nobody_reads_ends(monkeypatch) -> None:
    monkeypatch.setattr(sys, "stderr", _Closed())
    monkeypatch.setattr(sys, "stdout", _Closed())
    console = Screen(stderr=True)
    say(console, "unheard")
    assert console.quiet
    with pytest.raises(BrokenPipeError):
        say(Screen(), "unheard")


@pytest.mark.parametrize(
    ("progress", "is_terminal", "is_shown"),
    [(False, True, False), (None, True, True), (True, True, True), (None, False, False)],
)
def test_only_a_terminal_is_drawn_on_unless_it_is_wanted(
    monkeypatch: pytest.MonkeyPatch, progress: bool | None, is_terminal: bool, is_shown: bool
) -> None:
    score = Score(outcome=Answered(answer="A"), value=1.0, scorer="robust", scorer_version=1)
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=is_terminal, width=100)
    monkeypatch.setattr(display, "Console", lambda stderr: console)
    with display.watching(progress, doing="asking") as listen:
        listen(Started(n_planned=1, n_answered_before=0))
        listen(TrialStored(trial=Trial(item_id="q", score=score), cost=0.5))
    assert ("1/1" in screen.getvalue()) is is_shown
