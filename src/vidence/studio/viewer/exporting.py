"""Runs, lists and questions as a folder of files that open without a server: the pages of the viewer itself.

Each page is asked of the application as a browser asks for it; links become names of files, and what has no
file here becomes plain words. Nothing is loaded from elsewhere, and no script is left.
"""

import tempfile
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, parse_qsl, urlencode, urljoin, urlsplit

import anyio
from django.http import Http404, QueryDict

from vidence.errors import StoreError, UsageError, cause
from vidence.media.whole import is_marked, write_whole
from vidence.studio.bridge.places import ViewablePath
from vidence.studio.settings import Export, current
from vidence.studio.viewer.filters import PAGE, Filter, read_filter
from vidence.studio.viewer.links import LinkParser, rewritten
from vidence.studio.viewer.page_client import Answer, Asker

_INDEX: Final = "index.html"
_ENDINGS: Final = {"image/png": ".png", "image/webp": ".webp", "image/gif": ".gif", "image/bmp": ".bmp"}
_AGAIN_S: Final = 0.3
_PATIENCE_S: Final = 900.0
_OK: Final = 200


@dataclass(frozen=True, kw_only=True)
class Exported:
    """What was written; `problems` are pages that were not, and why."""

    n_pages: int
    n_questions: int
    n_pictures: int
    problems: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _Page:
    """One page that becomes a file: where it is asked for, and how its file is called."""

    address: str
    name: str


def export(
    asker: Asker,
    places: Sequence[ViewablePath],
    to: Path,
    *,
    listed: Filter | None,
    clock: Callable[[], float] = time.monotonic,
) -> Exported:
    """Write the pages of some places into a new folder; the studio of this process says how much (`Export`).

    Args:
        asker: a browser that was let in.
        places: runs, sets and files of questions.
        to: the folder; it is there when all of it is written, and not before.
        listed: the one list whose questions are exported; None: each run and each file from its beginning.
        clock: seconds that only grow.

    Raises:
        UsageError: the folder holds something, or cannot be written.
        StoreError: the first page cannot be shown.
    """
    is_marked(to)
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            dir=to.parent, prefix=f".{to.name}.", ignore_cleanup_errors=True
        ) as name:
            folder = Path(name) / "pages"
            folder.mkdir()
            work = _Work(asker, places, folder, listed=listed, clock=clock)
            anyio.run(work.run)
            if to.exists():
                to.rmdir()
            folder.rename(to)
    except OSError as error:
        raise UsageError(f"{to} cannot be written: {cause(error)}") from error
    return work.told()


class _Work:
    """Goes from page to page, each once."""

    def __init__(
        self,
        asker: Asker,
        places: Sequence[ViewablePath],
        folder: Path,
        *,
        listed: Filter | None,
        clock: Callable[[], float],
    ) -> None:
        self._asker, self._folder, self._listed, self._clock = asker, folder, listed, clock
        self._export = current().settings.export or Export(most=PAGE)
        entries = [place for place in places if listed is None or place.id in listed.runs]
        self._kinds = {place.id: place.kind for place in entries}
        self._pages: dict[str, _Page] = {}
        self._left: deque[_Page] = deque()
        self._files: dict[str, str] = {}
        self._n_questions: dict[str, int] = {}
        self._n_of: dict[str, int] = {}
        self._problems: list[str] = []

    def told(self) -> Exported:
        """The result of it."""
        return Exported(
            n_pages=len(self._pages),
            n_questions=sum(self._n_questions.values()),
            n_pictures=sum(name.startswith("pictures/") for name in self._files.values()),
            problems=tuple(self._problems),
        )

    async def run(self) -> None:
        """Write everything.

        Raises:
            StoreError: the first page cannot be shown.
        """
        # Lists come first: which questions have pages is decided in their order.
        for address in self._lists():
            self._page(address)
        self._page("/runs")
        while self._left:
            await self._write(self._left.popleft())

    def _lists(self) -> list[str]:
        if self._listed is not None:
            return [f"/items?{self._listed.query(page=1)}"]
        runs = [f"/items?{urlencode({'run': name})}" for name, kind in self._kinds.items() if kind == "run"]
        return [*runs, *(f"/questions/{name}" for name, kind in self._kinds.items() if kind == "items")]

    async def _write(self, page: _Page) -> None:
        answer = await self._finished(page.address)
        if answer.status != _OK:
            if page.name == _INDEX:
                raise StoreError(f"the table of runs cannot be shown: it gave {answer.status}")
            self._problems.append(f"{page.name} ({page.address}) could not be made: it gave {answer.status}")
            text = "<!doctype html><title>not here</title><p>This page could not be made."
            write_whole(self._folder / page.name, text.encode())
            return
        body = answer.body
        if answer.headers.get("content-type", "").startswith("text/html"):
            message, names = body.decode(), dict[str, str]()
            for tag, address in LinkParser(message).links:
                if address not in names:
                    names[address] = await self._name(tag, address, page)
            body = rewritten(message, names).encode()
        write_whole(self._folder / page.name, body)

    async def _finished(self, address: str) -> Answer:
        """Render a page when all its data are ready, or after a timeout with a note on what is missing."""
        until_s = self._clock() + _PATIENCE_S
        while True:
            answer = await self._asker.get(address)
            is_page = answer.headers.get("content-type", "").startswith("text/html")
            if answer.status != _OK or not is_page or LinkParser(answer.body.decode()).is_finished:
                return answer
            if self._clock() > until_s:
                self._problems.append(
                    f"{address} was not finished after {_PATIENCE_S:g} s, and is kept as it was"
                )
                return answer
            await anyio.sleep(_AGAIN_S)

    # ------------------------------------------------------------------ which address has which file

    async def _name(self, tag: str, address: str, page: _Page) -> str:
        """Return the name in the export of what a link points to; empty if it is not exported."""
        whole = urljoin(page.address, address)
        split = urlsplit(whole)
        if split.scheme or split.netloc:
            return ""
        if split.path.startswith("/static/"):
            return await self._file(whole, f"static/{Path(split.path).name}")
        if split.path.startswith("/media/"):
            folder = "pictures" if tag == "img" else "media"
            return await self._file(whole, f"{folder}/{self._number(folder):05d}")
        name = self._page(whole)
        return f"{name}#{split.fragment}" if name and split.fragment else name

    async def _file(self, address: str, name: str) -> str:
        """Keep a file, once; what cannot be had is named and has no file."""
        if address in self._files:
            return self._files[address]
        place = self._folder / name
        place.parent.mkdir(exist_ok=True)
        answer = await self._asker.get(address, into=place)
        if answer.status != _OK:
            self._problems.append(f"{address}: {answer.body.decode(errors='replace')[:300]}")
            self._files[address] = ""
            return ""
        if not place.suffix:
            kind = answer.headers.get("content-type", "")
            usual = ".jpg" if kind.startswith("image/") else ".mp4"
            place = place.rename(place.with_suffix(_ENDINGS.get(kind, usual)))
        self._files[address] = place.relative_to(self._folder).as_posix()
        return self._files[address]

    def _number(self, kind: str) -> int:
        self._n_of[kind] = self._n_of.get(kind, 0) + 1
        return self._n_of[kind]

    def _page(self, address: str) -> str:
        split = urlsplit(address)
        parts = split.path.strip("/").split("/")
        try:
            key = self._key(parts, split.query)
        except Http404:
            return ""
        if not key:
            return ""
        if key not in self._pages:
            question = self._question(parts, split.query)
            if question is not None:
                n = self._n_questions.get(question, 0)
                if n >= self._export.most:
                    return ""
                self._n_questions[question] = n + 1
            kind = "text" if parts[0] == "item" and len(parts) > 1 else parts[0] or "runs"
            name = (
                _INDEX
                if kind == "runs"
                else f"{kind}-{self._number(kind)}{'.txt' if kind == 'text' else '.html'}"
            )
            self._pages[key] = page = _Page(address=split._replace(fragment="").geturl(), name=name)
            self._left.append(page)
        return self._pages[key].name

    @staticmethod
    def _question(parts: Sequence[str], query: str) -> str | None:
        """Of which list an address is a question; None if it is none."""
        if parts == ["item"]:
            return "+".join(parse_qs(query).get("run", []))
        return parts[1] if parts[0] == "question" else None

    def _key(self, parts: Sequence[str], query: str) -> str:
        """What tells one page from another; empty for what has no file here.

        Raises:
            Http404: the address is none of ours.
        """
        if parts in (["compare"], ["items"], ["item"], ["item", "text"]):
            runs = parse_qs(query).get("run", [])
            is_here = runs and all(self._kinds.get(run) == "run" for run in runs)
            return self._key_of_runs(parts, query) if is_here else ""
        key = f"{parts} {sorted(parse_qsl(query))}"
        match parts:
            case [""] | ["runs"]:
                return "runs"
            case ["run", run] | ["run", run, "diagnosis", *_] if run in self._kinds:
                return key
            case ["made" | "questions", place] if place in self._kinds and self._is_near(query):
                return key
            case ["question", place] if place in self._kinds:
                return key
        return ""

    def _key_of_runs(self, parts: Sequence[str], query: str) -> str:
        if parts == ["items"]:
            return self._list_key(read_filter(QueryDict(query)))
        if parts == ["item"]:
            qs = parse_qs(query)
            is_listed = self._listed is None or tuple(qs["run"]) == self._listed.runs
            return f"item {qs['run']} {qs.get('item')} {qs.get('repeat', ['0'])}" if is_listed else ""
        return f"{parts} {sorted(parse_qsl(query))}"

    def _list_key(self, asked: Filter) -> str:
        key = f"items {asked.query()}"
        is_same = self._listed is None or asked.query(page=1) == self._listed.query(page=1)
        return key if is_same and self._is_in_reach(asked.page) else ""

    def _is_near(self, query: str) -> bool:
        page = parse_qs(query).get("page", ["1"])[0]
        return page.isdecimal() and self._is_in_reach(int(page))

    def _is_in_reach(self, page: int) -> bool:
        return (page - 1) * PAGE < self._export.most
