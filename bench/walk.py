"""How much of the package runs for one question, JSONL to report.html, and for an autosave in the studio.

Counts modules imported, files with a function that ran, functions that ran and calls, in this process, with
the profiler of the interpreter on in every thread: ``python bench/walk.py [-v] [autosave | OPTION...]``.
Options go to ``vidence run``; ``autosave checks`` adds the request for the checks that follows a save, ``-v``
the names of the functions.
"""

import asyncio
import inspect
import json
import os
import re
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
from PIL import Image

import vidence

PACKAGE = str(Path(vidence.__file__).parent)
WRITTEN = {
    "question": "Which way does the shade go?",
    "right-text": "it brightens",
    **{f"wrong-{n}-text": f"it darkens {n} times" for n in range(4)},
    "step-0": "It is black first.",
    "step-1": "It is grey at the end.",
    "evidence-0-start": "0.1",
    "evidence-0-end": "1",
    "evidence-0-text": "the shade",
    "evidence-0-steps": "1, 2",
    "knowledge-0-title": "Shade",
    "knowledge-0-url": "https://en.wikipedia.org/wiki/Shade",
    "subject": "Optics",
    "textbook": "Hecht",
    "chapter": "1",
    "concept": "Shade",
    "start": "0",
    "end": "2",
}
Calls = Counter[tuple[str, str, int]]


def prepare(folder: Path) -> Path:
    """One question about one small moving picture."""
    shades = [np.full((48, 64), shade, np.uint8) for shade in range(0, 250, 10)]
    first, *others = (Image.fromarray(shade) for shade in shades)
    first.save(folder / "a.gif", save_all=True, append_images=others, duration=100)
    question = {
        "item_id": "q1",
        "media": [{"path": "a.gif"}],
        "question": "What happens?",
        "choices": ["it brightens", "it darkens"],
        "answer": "A",
        "tags": {"task": "shade"},
    }
    path = folder / "q.jsonl"
    path.write_text(json.dumps(question) + "\n", encoding="utf-8")
    return path


@contextmanager
def watched() -> Iterator[Calls]:
    """Count the calls of functions of the package, in all threads."""
    calls: Calls = Counter()

    def watch(frame: object, event: str, argument: object) -> None:
        if event == "call":
            code = frame.f_code
            is_function = code.co_flags & inspect.CO_OPTIMIZED  # the body of a class is none
            if is_function and code.co_filename.startswith(PACKAGE) and not code.co_name.startswith("<"):
                calls[code.co_filename, code.co_qualname, code.co_firstlineno] += 1

    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        yield calls
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def question(folder: Path, options: list[str]) -> Calls:
    """The calls of one run of one question."""
    os.environ["VIDENCE_CACHE"] = str(folder / "cache")
    words = [
        "run",
        "table",
        "--data",
        str(prepare(folder)),
        "--model",
        "scripted:Answer%3A A",
        "--frames",
        "4",
    ]
    words += ["--out", str(folder / "run"), *options]
    with watched() as calls:
        try:
            from vidence.cli.main import main as command

            command(words)
        except SystemExit as end:
            if end.code:
                raise
    return calls


class Browser:
    """A browser of an application in this process, with its cookies and the token of its forms."""

    def __init__(self, application: object) -> None:
        self._application = application
        self._cookies: dict[str, str] = {}
        self._token = ""

    async def ask(self, method: str, path: str, sent: dict[str, str], *, accept: str = "text/html") -> bytes:
        """The body of an answer that is no fault."""
        body = urlencode({"csrfmiddlewaretoken": self._token, **sent}).encode() if sent else b""
        cookies = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        headers = {
            "host": "127.0.0.1",
            "accept": accept,
            "cookie": cookies,
            "content-type": "application/x-www-form-urlencoded",
            "content-length": str(len(body)),
        }
        waiting = [{"type": "http.request", "body": body, "more_body": False}]
        status, parts = 0, list[bytes]()

        async def receive() -> MutableMapping[str, object]:
            if not waiting:
                await asyncio.Event().wait()
            return waiting.pop()

        async def send(message: MutableMapping[str, object]) -> None:
            nonlocal status
            if message["type"] == "http.response.body":
                parts.append(message.get("body", b""))
                return
            status = message["status"]
            for name, value in message["headers"]:
                if name.lower() == b"set-cookie":
                    key, _, word = value.decode().partition(";")[0].partition("=")
                    self._cookies[key] = word

        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 0),
            "server": ("127.0.0.1", 80),
        }
        await self._application(scope, receive, send)
        answer = b"".join(parts)
        if status >= 400:
            raise SystemExit(f"{method} {path}: {status} {answer[:400]!r}")
        if token := re.search(rb'csrfmiddlewaretoken" value="(\w+)"', answer):
            self._token = token[1].decode()
        return answer


def autosave(folder: Path, *, has_checks: bool) -> Calls:
    """The calls of one autosave of a whole question by an author of a team; an earlier one has warmed up."""
    from vidence.studio.app import configure
    from vidence.studio.settings import StudioSettings
    from vidence.studio.upkeep import migrate

    application = configure(StudioSettings(mode="team", data=folder))
    migrate()
    from vidence.studio.accounts import add_user
    from vidence.studio.intake import add_medium, new_item
    from vidence.studio.projects import add_project

    prepare(folder)
    project = add_project("films", "mmvu", media_root=str(folder))
    medium = add_medium(project, "a.gif", kind="video")
    ada = add_user("Ada", "correct horse battery", roles=["author"], project="films")
    item = new_item(project, [medium], kind="mcq", form="mmvu", author=ada, quota=9)
    where = f"/projects/films/items/{item.public}/edit"

    async def save(browser: Browser, version: int) -> None:
        said = WRITTEN | {"language": f"e{version}", "version": str(version), "request": f"r{version}"}
        answer = json.loads(await browser.ask("POST", where, said, accept="application/json"))
        if answer["version"] != version + 1:
            raise SystemExit(f"not saved: {answer}")

    async def work() -> None:
        browser = Browser(application)
        await browser.ask("GET", "/sign-in", {})
        name = {"name": "Ada", "username": "Ada", "password": "correct horse battery"}
        await browser.ask("POST", "/sign-in", name)
        await browser.ask("GET", where, {})
        await save(browser, 0)
        await browser.ask("GET", f"{where}/checks", {})
        calls.clear()
        await save(browser, 1)
        if has_checks:
            await browser.ask("GET", f"{where}/checks", {})

    with watched() as calls:  # before there is a thread that answers
        asyncio.run(work())
    return calls


def main() -> None:
    """Run one path under the profiler and print the counts."""
    is_verbose = "-v" in sys.argv
    options = [word for word in sys.argv[1:] if word != "-v"]
    is_autosave = options[:1] == ["autosave"]
    with tempfile.TemporaryDirectory() as name:
        calls = (
            autosave(Path(name), has_checks="checks" in options)
            if is_autosave
            else question(Path(name), options)
        )
    modules = sum(m.startswith("vidence") for m in sys.modules)
    rooms = Counter(Path(file).relative_to(PACKAGE).parts[0] for file in {file for file, _, _ in calls})
    n_calls = sum(calls.values())
    print(
        f"{modules} modules imported, {sum(rooms.values())} files and {len(calls)} functions executed, ",
        end="",
    )
    print(f"{n_calls} calls")
    print(", ".join(f"{room} {n}" for room, n in rooms.most_common()))
    if is_verbose:
        for (file, function, _), n in sorted(calls.items()):
            print(f"{Path(file).relative_to(PACKAGE)} {function} {n}")


if __name__ == "__main__":
    main()
