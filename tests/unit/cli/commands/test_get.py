"""How far a fetch is, also within one large file, and where no terminal is."""

import io
import time

import pytest
from rich.console import Console

from vidence.ask.fetching.hub import HubFile
from vidence.cli.commands import get

FILES = [HubFile(path=f"{k}.mp4", n_bytes=1_000_000, git_sha1="") for k in range(4)]


def shown(*, mode: str, monkeypatch: pytest.MonkeyPatch, is_terminal: bool = False) -> str:
    """What is shown while a quarter of the second of four files comes."""
    monkeypatch.setattr(get, "LINE_S", 0.01)
    monkeypatch.setattr(get, "_LOOK_S", 0.01)
    written = io.StringIO()
    console = Console(file=written, width=80, force_terminal=is_terminal)
    with get._Bar(console, FILES, n_there=lambda: 1_250_000, mode=mode) as bar:
        bar(FILES[0])
        written.truncate(written.seek(0))  # a line may have been due before there was a file
        deadline = time.monotonic() + 5
        while mode != "none" and not written.getvalue() and time.monotonic() < deadline:
            time.sleep(0.005)
    return written.getvalue()


@pytest.mark.parametrize("mode", ["auto", "plain"])
def test_off_a_terminal_a_line_says_what_is_there_within_a_file(mode, monkeypatch):
    first = shown(mode=mode, monkeypatch=monkeypatch).splitlines()[0]
    assert first == "fetched 1 of 4 files, 1.2 MB of 4.0 MB (31 %)"


def test_a_terminal_gets_a_bar_of_bytes(monkeypatch):
    said = shown(mode="auto", monkeypatch=monkeypatch, is_terminal=True)
    assert "fetching" in said
    assert "/4.0 MB" in said


def test_none_is_silent(monkeypatch):
    assert shown(mode="none", monkeypatch=monkeypatch) == ""


def test_what_was_chosen_is_said_as_flags():
    assert (
        get._as_flags({"where": {"subject": "Fine Art"}, "limit": 3})
        == " --where 'subject=Fine Art' --limit 3"
    )
