"""How far some work is, as a line says it; Ctrl-C, once and twice."""

import io
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from rich.console import Console

from vidence.cli.main import main
from vidence.console.progress import STOPPING, Meter, interruptible
from videos import pans


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


def console(*, is_terminal: bool = False) -> Console:
    return Console(file=io.StringIO(), force_terminal=is_terminal, width=200, color_system=None)


def written(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def done(meter: Meter, n: int) -> None:
    for _ in range(n):
        meter.advance()


def test_a_line_says_count_rate_time_left_and_the_note(clock: Clock) -> None:
    meter = Meter(console(), clock=clock)
    meter.begin("asking", total=1_000, n_done=100)
    meter.note(lambda: "90 answered, 3 failed\x1b[2J")
    done(meter, 60)
    clock.now_s += 30
    assert meter.line() == "asking: 160 of 1,000 (16 %), 2.0/s, 7:00 min left; 90 answered, 3 failed␛[2J"


def test_the_rate_is_that_of_the_last_minutes(clock: Clock) -> None:
    meter = Meter(console(), clock=clock)
    meter.begin("asking", total=10_000)
    done(meter, 5_000)  # out of the memory
    lines = []
    for _ in range(12):
        clock.now_s += 30
        done(meter, 3)
        lines.append(meter.line())
    assert "166.8/s" in lines[0]
    assert lines[-1] == "asking: 5,036 of 10,000 (50 %), 6.0/min, 13:47 h left"


def test_the_time_left_is_estimated_from_more_than_the_first_pieces(clock: Clock) -> None:
    meter = Meter(console(), clock=clock)
    meter.begin("asking", total=44)
    done(meter, 1)
    clock.now_s += 30  # most of them to load what the others use
    assert meter.line() == "asking: 1 of 44 (2 %), 2.0/min"
    done(meter, 4)
    clock.now_s += 30
    assert meter.line() == "asking: 5 of 44 (11 %), 5.0/min, 7:48 min left"
    meter.begin("asking", total=4)
    done(meter, 1)
    clock.now_s += 30
    assert meter.line() == "asking: 1 of 4 (25 %), 2.0/min, 1:30 min left"


@pytest.mark.parametrize(("n", "left"), [(4, "0:00:08 30.0/min"), (5, "0:00:10 30.0/min, 1:18 min left")])
def test_a_bar_estimates_likewise(clock: Clock, n: int, left: str) -> None:
    shown = console(is_terminal=True)
    with Meter(shown, clock=clock) as meter:
        meter.begin("asking", total=44)
        for _ in range(n):
            clock.now_s += 2
            meter.advance()
    assert written(shown).replace("\x1b[?25h", "").rstrip().endswith(left)


def test_work_that_does_not_move_is_said_to_stand(clock: Clock) -> None:
    meter = Meter(console(), clock=clock)
    meter.begin("asking")
    clock.now_s += 60
    assert meter.line() == "asking: getting ready, 1:00 min elapsed"
    meter.begin("asking", total=16)
    clock.now_s += 90
    assert meter.line() == "asking: 0 of 16 (0 %), none done in the last 1:30 min"
    meter.begin("nothing", total=0)
    assert meter.line() == "nothing: 0"


def lines_of(mode: str, *, is_terminal: bool) -> list[str]:
    shown = console(is_terminal=is_terminal)
    said = threading.Event()
    write = shown.print

    def heard(*parts: object, **how: object) -> None:
        write(*parts, **how)  # type: ignore[arg-type]
        said.set()

    shown.print = heard  # type: ignore[method-assign,assignment]
    with Meter(shown, mode=mode, line_s=0.01) as meter:
        meter.begin("asking", total=4)
        if mode == "plain" or (mode == "auto" and not is_terminal):
            assert said.wait(10)
    return [line for line in written(shown).splitlines() if line.startswith("asking: 0 of 4")]


def test_lines_are_written_while_the_work_says_nothing() -> None:
    assert lines_of("auto", is_terminal=False)
    assert lines_of("plain", is_terminal=False)
    assert lines_of("plain", is_terminal=True)
    assert not lines_of("auto", is_terminal=True)
    assert not lines_of("none", is_terminal=False)


def test_nothing_is_shown_where_nothing_is_wanted() -> None:
    shown = console(is_terminal=True)
    with Meter(shown, mode="none") as meter:
        meter.begin("asking", total=4)
        meter.advance()
        meter.note(lambda: "1 answered")
    assert written(shown) == ""


def test_a_terminal_has_a_bar() -> None:
    shown = console(is_terminal=True)
    with Meter(shown) as meter:
        meter.begin("asking", total=4, n_done=1)
        meter.advance()
        meter.note(lambda: "[b]1 answered")
    assert "2/4" in written(shown)
    assert "[b]1 answered" in written(shown)


@pytest.fixture
def own_handler() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("own_handler")
def test_the_first_interrupt_is_answered_and_goes_on_as_ever(clock: Clock) -> None:
    shown = console()
    with interruptible(shown, clock=clock):
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)  # the same press, told once more by a launcher
        assert written(shown) == f"{STOPPING}\n"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_ignored_interrupt_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interruptible(console()):
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


_BATCH = """
import signal, sys, threading, time
import anyio, anyio.to_thread
from rich.console import Console
from vidence.engine.display import watched
from vidence.engine.events import Started

signal.signal(signal.SIGINT, signal.default_int_handler)

def batch():
    print("begun", flush=True)
    time.sleep(60)

async def work(listen):
    listen(Started(n_planned=1, n_answered_before=0))
    async with anyio.create_task_group() as consumers:
        consumers.start_soon(anyio.to_thread.run_sync, batch)

watched(work, Console(stderr=True), doing="asking", what="the run", kept="it is kept")
"""


def test_the_second_interrupt_ends_a_batch_that_nothing_else_can_end() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", _BATCH], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        assert process.stderr.readline() == f"{STOPPING}\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.4)  # the batch goes on
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.stderr.read() == "stopped at once\n"


@pytest.mark.parametrize(
    "words",
    [["make", "actpld", "config.toml"], ["videos", "select", "films"], ["videos", "track", "films/a.mp4"]],
)
def test_a_place_to_work_that_is_none_is_refused_before_anything_is_written(
    words, tmp_path, monkeypatch, capsys
):
    (tmp_path / "films").mkdir()
    pans.write(tmp_path / "films" / "a.mp4", pans.pan(5, n_frames=4))
    (tmp_path / "config.toml").write_text('name = "lights"\nmap = "map.csv"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VIDENCE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("VIDENCE_ON", "dask")
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert "--on 'dask' is unknown" in capsys.readouterr().err
    left = {path.name for path in tmp_path.iterdir()} - {"cache"}
    assert left == {"films", "config.toml"}
