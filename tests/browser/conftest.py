"""A server in a process of its own, and a page of Chromium that talks to it."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest

INSTALL = "apt-get install --no-install-recommends chromium"
_SCRIPT = re.compile(r"\.js(\?|$)")
PASSWORD = "correct horse battery"  # noqa: S105 - of tests
_ADDRESS = re.compile(r"(https?://[^/\s]+)(/\S*)?")


def chromium() -> str | None:
    """The browser that is there: the one in CHROMIUM, or one on the path."""
    named = os.environ.get("CHROMIUM")
    return named or shutil.which("chromium") or shutil.which("chromium-browser")


@dataclass(frozen=True, kw_only=True)
class Served:
    """A running server: its address, and the one that lets a browser in (the same where accounts are)."""

    url: str
    door: str
    process: subprocess.Popen[str]


@pytest.fixture
def serve() -> Iterator[Callable[..., Served]]:
    """Start ``vidence`` with some arguments, wait for the address that it prints, stop it in the end."""
    with serving() as start:
        yield start


@pytest.fixture(scope="module")
def serve_all() -> Iterator[Callable[..., Served]]:
    """The same for one server that all tests of a file ask."""
    with serving() as start:
        yield start


@contextmanager
def serving() -> Iterator[Callable[..., Served]]:
    """What starts servers, which end with it."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str | Path) -> Served:
        process = subprocess.Popen(
            [sys.executable, "-m", "vidence", *map(str, arguments)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        started.append(process)
        assert process.stdout is not None
        for line in process.stdout:
            if found := _ADDRESS.search(line):
                return Served(url=found[1], door=found[0], process=process)
        raise AssertionError(f"the server ended with {process.wait()} before it printed an address")

    yield start
    for process in started:
        process.terminate()
    for process in started:
        process.wait(timeout=20)
        assert process.stdout is not None
        process.stdout.close()


@pytest.fixture(scope="module")
def serve_script() -> Iterator[Callable[..., str]]:
    """Start one of the servers beside this file, with some arguments; the address that it prints."""
    with ExitStack() as stack:
        yield lambda *words: stack.enter_context(_scripted(*words))


@contextmanager
def _scripted(name: str, *words: str | Path) -> Iterator[str]:
    command = [sys.executable, Path(__file__).parent / name, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            found = next(filter(None, map(_ADDRESS.search, process.stdout)))
            yield found[0]
        finally:
            process.terminate()
            process.wait(timeout=20)


class Killable:
    """A team's server in a folder, always at one address; it can be killed and started again."""

    def __init__(self, serve: Callable[..., Served], data: Path, *more: str | Path) -> None:
        self.data, self._serve, self._more = data, serve, more
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        """Serve."""
        self.served = self._serve("studio", "serve", self.data, "--port", self.port, *self._more)

    def kill(self) -> None:
        """As a machine that loses its power does."""
        os.kill(self.served.process.pid, signal.SIGKILL)
        self.served.process.wait()


@pytest.fixture
def killable(serve: Callable[..., Served]) -> Callable[..., Killable]:
    """Serve a folder so that the server can be killed."""
    return partial(Killable, serve)


@pytest.fixture(scope="session")
def sign_in() -> Callable[..., None]:
    """Sign somebody in, who comes to an address then; whoever was there has signed out."""

    def go(page, url: str, name: str, after: str = "/") -> None:
        page.context.clear_cookies()
        page.goto(f"{url}/sign-in?next={after}")
        page.get_by_label("Name").fill(name)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_label("Password").press("Enter")
        page.wait_for_url(f"{url}{after}")

    return go


@pytest.fixture
def view_server(serve: Callable[..., Served]) -> Callable[..., Served]:
    """``vidence view`` of some paths."""
    return lambda *more: serve("view", *more)


@pytest.fixture(scope="module")
def browser():
    """One Chromium for all tests of a file."""
    executable = chromium()
    if executable is None:
        pytest.skip(f"no Chromium; install it with: {INSTALL}, or say where it is in CHROMIUM")
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=arguments)
        yield started
        started.close()


def is_outside(url: str) -> bool:
    """Whether an address is one of another machine."""
    return urlsplit(url).hostname not in (None, "127.0.0.1", "localhost")


@pytest.fixture
def page(browser):
    """A new page in a session of its own; what its console complains of fails the test."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    outside: list[str] = []
    opened.on("request", lambda one: outside.append(one.url) if is_outside(one.url) else None)
    yield opened
    context.close()
    assert not outside, outside
    # A request that ends because its page was left, or its server killed, is no fault of the page.
    cut = ("Failed to load resource", "htmx:sendAbort", "htmx:sendError", "htmx:afterRequest")
    assert not [text for text in complaints if not text.startswith(cut)], complaints


@pytest.fixture
def without_scripts() -> Callable[..., AbstractContextManager[None]]:
    """What keeps the scripts of the next page back while a block runs, as a slow line does."""
    return scripts_kept_back


@contextmanager
def scripts_kept_back(page) -> Iterator[None]:
    """Keep the scripts that a page asks for back until the block ends; then they come."""
    asked = []

    def keep(one) -> None:
        asked.append(one)

    page.route(_SCRIPT, keep)
    yield
    for one in asked:
        one.continue_()
    page.unroute(_SCRIPT)
    page.wait_for_load_state("load")
