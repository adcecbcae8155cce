"""How far a fetch is, where no terminal is."""

import io

from rich.console import Console

from vidence.ask.fetching.hub import HubFile
from vidence.cli import get


def test_off_a_terminal_a_line_comes_every_half_minute():
    written, times = io.StringIO(), iter([0.0, 29.0, 31.0, 31.0, 60.0, 62.0, 62.0])
    files = [HubFile(path=f"{k}.mp4", n_bytes=1_000_000, git_sha1="") for k in range(4)]
    with get._Bar(Console(file=written, width=80), files, clock=lambda: next(times)) as bar:
        for one in files:
            bar(one)
    assert written.getvalue().splitlines() == [
        "fetched 2 of 4 files, 2.0 MB of 4.0 MB",
        "fetched 4 of 4 files, 4.0 MB of 4.0 MB",
    ]


def test_what_was_chosen_is_said_as_flags():
    assert (
        get._as_flags({"where": {"subject": "Fine Art"}, "limit": 3})
        == " --where 'subject=Fine Art' --limit 3"
    )
