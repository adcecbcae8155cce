"""Follow a page in an empty folder: write its files, run its commands, take part in studies, fill sheets.

    python scripts/follow.py docs/paths/evaluate.md FOLDER

A block with a title is a file; blocks without a language hold commands (`vidence`, `python`, `pip install`);
a `python` block is run as a script; a `text` block is printed by the commands before it, `...` is left out.
Nothing else is read from a page, so a step that it forgets fails here. Needs no package.
"""

import csv
import html
import http.cookiejar
import itertools
import os
import queue
import re
import shlex
import signal
import subprocess
import sys
import threading
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
PATHS = ROOT / "docs" / "paths"
_BLOCK = re.compile(r'^```(\w*)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
_OWN = re.compile(r"\.(?:\[([\w,-]+)\])?")  # `pip install '.[studio]'`
_KEPT = ("PATH", "LANG", "PYTHONPATH", "YOUTUBE_API_KEY", "VIDENCE_YOUTUBE_API")
_FILLED = {"verdict": "accept", "text": "0", "lecture": "0", "by": "eve", "minutes": "5", "note": ""}
_FILLED |= {"evidence": "2", "proactive": "1", "complexity": "3", "diversity": "3", "clarity": "3"}
_LONGEST_S = 600
_IDLE_S = 5  # after this time a server has printed all its links
_MOST_PAGES = 100


def steps(text: str) -> Iterator[tuple[str, str, str]]:
    """The steps of a page in order: kind, name of a file, body; blocks of other languages are for reading."""
    for language, title, body in _BLOCK.findall(text):
        if title:
            yield "file", title, body
        elif language in ("", "python", "text"):
            yield language or "commands", "", body


def extras(text: str) -> list[str]:
    """The extras that a page installs."""
    packages = (word for words in commands(text) if words[:2] == ["pip", "install"] for word in words[2:])
    names = (match[1] for word in packages if (match := _OWN.fullmatch(word)) and match[1])
    return [extra for name in names for extra in name.split(",")]


def commands(text: str) -> list[list[str]]:
    """The words of each command of a page."""
    return [words for kind, _, body in steps(text) if kind == "commands" for words in _lines(body)]


def follow(
    page: Path, folder: Path, *, python: str = sys.executable, is_offline: bool = False
) -> Iterator[str]:
    """Do in a folder what a page says, step by step, and yield what each step prints.

    `python` has vidence installed with the extras of the page; offline it has hatchling as well, which pip
    otherwise fetches to build a package of the page.

    Raises:
        SystemExit: a command failed, or did not print what the page shows.
    """
    site = folder / "site"
    clean = {key: os.environ[key] for key in _KEPT if key in os.environ}
    clean["PYTHONPATH"] = os.pathsep.join(filter(None, [str(site), clean.get("PYTHONPATH", "")]))
    clean |= {"HOME": str(folder / "home"), "OMP_NUM_THREADS": "1"}
    pip = ["--quiet", "--no-deps", *(["--no-build-isolation"] if is_offline else [])]
    printed = ""
    for kind, name, body in steps(page.read_text(encoding="utf-8")):
        if kind == "file":
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body, encoding="utf-8")
        elif kind == "text":
            _check_printed(body, printed, page=page)
        elif kind == "python":
            printed = _done([python, "-c", body], cwd=folder, env=clean)
            yield printed
        else:
            printed = "".join(_command(words, python, pip, cwd=folder, env=clean) for words in _lines(body))
            yield printed


def _lines(body: str) -> list[list[str]]:
    return [
        words
        for line in body.replace("\\\n", " ").splitlines()
        if (words := shlex.split(line, comments=True))
    ]


def _command(words: list[str], python: str, pip: list[str], *, cwd: Path, env: Mapping[str, str]) -> str:
    match words:
        case ["pip", "install", package] if _OWN.fullmatch(package):
            return ""  # what is tried here
        case ["pip", "install", *packages]:
            return _done(
                [python, "-m", "pip", "install", *pip, "--target", "site", *packages], cwd=cwd, env=env
            )
        case ["vidence", "study", "open", *_]:
            return _open([python, "-m", *words, "--port", "0"], cwd=cwd, env=env)
        case ["vidence", *rest]:
            for before, word in itertools.pairwise(rest):
                if before == "--manual" or "/sheets/" in word:
                    fill_in(cwd / word)
            codes = (0, 3) if rest[0] == "make" else (0,)  # 3: all questions wait for people
            return _done([python, "-m", *words], cwd=cwd, env=env, codes=codes)
        case ["python", *rest]:
            return _done([python, *rest], cwd=cwd, env=env)
    sys.exit(f"follow: {shlex.join(words)}: expected vidence, python FILE or pip install")


def _done(words: list[str], *, cwd: Path, env: Mapping[str, str], codes: tuple[int, ...] = (0,)) -> str:
    done = subprocess.run(
        words, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=_LONGEST_S
    )
    if done.returncode not in codes:
        sys.exit(f"follow: {shlex.join(words)} failed ({done.returncode}):\n{done.stdout}\n{done.stderr}")
    return done.stdout + done.stderr


def _check_printed(expected: str, printed: str, *, page: Path) -> None:
    at, text = 0, " ".join(printed.split())
    for part in expected.split("..."):
        words = " ".join(part.split())
        if (at := text.find(words, at)) < 0:
            sys.exit(f"follow: {page.name} shows {words!r}, but this is printed:\n{printed}")
        at += len(words)


# ------------------------------------------------------------------------------------------ people


def _open(words: list[str], *, cwd: Path, env: Mapping[str, str]) -> str:
    """Serve a study, let each of its links be answered, and press Ctrl-C."""
    lines: queue.Queue[str] = queue.Queue()
    printed: list[str] = []
    with subprocess.Popen(
        words,
        cwd=cwd,
        env={**env, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as server:
        reader = threading.Thread(
            target=lambda: [lines.put(line) for line in itertools.chain(server.stdout or (), [""])]
        )
        reader.start()
        try:
            while line := lines.get(timeout=_IDLE_S if _links(printed) else _LONGEST_S):
                printed.append(line)
            sys.exit(f"follow: {shlex.join(words)} ended:\n{''.join(printed)}")
        except queue.Empty:
            for option, link in enumerate(_links(printed)):
                take_part(link, option=option)
        finally:
            server.send_signal(signal.SIGINT)
            reader.join()
    return "".join(printed)


def _links(printed: list[str]) -> list[str]:
    return re.findall(r"http://\S+/j/\S+", "".join(printed))


def fill_in(sheet: Path) -> None:
    """Fill the empty cells of a sheet as a person does who finds everything good."""
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        empty = (name for name, cell in row.items() if not cell and not name.startswith(("item.", "said ")))
        row |= {name: _FILLED.get(name, "yes") for name in empty}
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def take_part(link: str, *, option: int) -> None:
    """Agree, answer each question with the same option, and finish, as a browser without scripts does."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
    address, data = link, None
    for _ in range(_MOST_PAGES):
        with browser.open(address, data=data, timeout=60) as answer:
            address, page = answer.geturl(), answer.read().decode()
        form = re.search(r"<form[^>]*>(.*?)</form>", page, re.DOTALL)
        if form is None:
            return
        fields = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form[1]))
        fields |= dict(re.findall(r'<button[^>]* name="([^"]+)" value="([^"]*)"', form[1])[:1])
        radios: dict[str, list[str]] = {}
        for name, value in re.findall(r'type="radio" name="([^"]+)" value="([^"]*)"', form[1]):
            radios.setdefault(name, []).append(value)
        fields |= {name: values[option % len(values)] for name, values in radios.items()}
        data = urllib.parse.urlencode({name: html.unescape(value) for name, value in fields.items()}).encode()
    sys.exit(f"follow: {link} did not end after {_MOST_PAGES} pages")


def main() -> int:
    """Follow the page that the command line names."""
    page, folder = map(Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    for printed in follow(page, folder):
        print(printed, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
