"""What stands on a terminal: words of others are shown, and neither obeyed nor read as markup."""

import io

from rich.console import Console

from vidence.cli.progress import Display
from vidence.cli.saying import say, several
from vidence.running.events import MediaTrouble, Started, Waiting

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
    with Display(console) as display:
        display(Started(n_planned=3, n_answered_before=0, notes=(HOSTILE,)))
        display(Waiting(reason=HOSTILE, wait_s=1.0, n_allowed=2))
        display(MediaTrouble(message=HOSTILE))
    shown = written(console)
    assert "note: [/red] [bold]x[/] ␛[2J" in shown
    assert "waiting 1 s: [/red] [bold]x[/] ␛[2J (2 at once)" in shown
    assert "media: [/red] [bold]x[/] ␛[2J" in shown
    assert "\x1b[2J" not in shown
