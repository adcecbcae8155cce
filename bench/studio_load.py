"""A team's studio under load: 20 people at human pace, `kill -9`, viewers who paused, a disk that is full.

    python bench/studio_load.py [--only people,kill,paused,disk] [--seconds 300] [--rounds 20] [--quick]

Everything goes over HTTP on loopback, to `vidence studio serve` in a process of its own. With --quick a few
seconds, and no targets of time. It ends with 1 where a target is missed. Also part of `python bench/run.py`.
"""

import argparse
import http.client
import os
import random
import re
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from harness import Bench, Row, below

PASSWORD = "correct horse battery"  # noqa: S105 - of a bench
OPERATOR = "Olga"
PROTOCOL = """title = "Load"
returns = 1
least_message = 20
[[stages]]
role = "reviewer"
[[stages.checks]]
id = "unique"
words = "Exactly one choice is right."
"""
TEXTS = {
    "language": "en",
    "right-text": "the thick one",
    "wrong-0-text": "the flat one",
    "wrong-1-text": "the hollow one",
    "wrong-2-text": "the round one",
    "category": "optics",
    "evidence-0-kind": "proactive",
    "evidence-0-start": "0.1",
    "evidence-0-end": "0.3",
    "evidence-0-text": "the beam behind the glass",
}
_WORDS = (
    "which",
    "lens",
    "in",
    "the",
    "first",
    "shot",
    "bends",
    "light",
    "most",
    "after",
    "it",
    "is",
    "moved",
)
_INPUT = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')
_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
_MEDIA = re.compile(r'data-media="(/media/[^"]+)"')
_BIG = 250 * 2**20
_BEAT_S = 15.0
_LEFT = 2**20
_SAVES_UNTIL_FULL = 400
_GRACE_S = 60.0
_GROWTH = 1.1


# --------------------------------------------------------------------------- the server


class Server:
    """A team's studio on one port, which can be killed and started again."""

    def __init__(self, folder: Path, *, data: Path | None = None) -> None:
        self.folder, self.data = folder, data or folder / "team"
        self.media = folder / "media"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.log = folder / "stderr.txt"
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Serve; returns when it takes connections."""
        words = ["studio", "serve", self.data, "--port", self.port, "--media-root", self.media]
        with self.log.open("a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "vidence", *map(str, words)],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=os.environ | {"PYTHONUNBUFFERED": "1"},
            )
        for line in self.process.stdout or ():
            if "http://" in line:
                return
        raise RuntimeError(f"the server ended: {self.log.read_text(encoding='utf-8')[-2000:]}")

    def stop(self, number: int = signal.SIGTERM) -> None:
        """End it, by default as one asks for it."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(timeout=30)
            if self.process.stdout:
                self.process.stdout.close()

    def state(self) -> tuple[float, int, int]:
        """Its memory in MB, how many files and sockets it has open, and its threads."""
        assert self.process is not None
        place = Path(f"/proc/{self.process.pid}")
        status = (place / "status").read_text(encoding="utf-8")
        memory, threads = (int(re.search(rf"{n}:\s+(\d+)", status)[1]) for n in ("VmRSS", "Threads"))  # type: ignore[index]
        return memory / 1000, len(list((place / "fd").iterdir())), threads

    def asked(self, question: str) -> list[tuple]:
        """What the file of the database says."""
        connection = sqlite3.connect(self.data / "studio.sqlite3", timeout=20)
        try:
            return connection.execute(question).fetchall()
        finally:
            connection.close()

    def n_locked(self) -> int:
        """How often the server complained that the database was locked."""
        return self.log.read_text(encoding="utf-8").count("OperationalError: database is locked")


def people(n: int) -> list[tuple[str, str]]:
    """Names and roles: two of three write, the others review."""
    return [(f"Person {i:02}", "reviewer" if i % 3 == 2 else "author") for i in range(n)]


def seed(data: Path, media: Path, n: int) -> None:
    """Accounts and one project, in a process of its own; films are taken in there as well."""
    from vidence.studio.app import configure
    from vidence.studio.settings import StudioSettings

    data.mkdir(parents=True, exist_ok=True)
    configure(StudioSettings(mode="team", data=data, media_roots=(media,)))
    from vidence.studio.upkeep import migrate

    migrate()
    from vidence.studio.accounts import add_user
    from vidence.studio.intake import add_medium
    from vidence.studio.projects import add_project

    protocol = media.parent / "load.toml"
    protocol.write_text(PROTOCOL, encoding="utf-8")
    project = add_project("load", str(protocol), title="Load")
    add_medium(project, "film.mp4", kind="video")
    for name, role in people(n):
        add_user(name, PASSWORD, roles=(role,), project="load")
    add_user(OPERATOR, PASSWORD, roles=("operator",))


@contextmanager
def studio(folder: Path, n: int, *, data: Path | None = None, is_big: bool = False) -> Iterator[Server]:
    """A studio of `n` people with a film; `is_big`: padded to 250 MB."""
    from clips import write_clip

    folder.mkdir(parents=True, exist_ok=True)
    server = Server(folder, data=data)
    server.media.mkdir()
    film = server.media / "film.mp4"
    write_clip(film, seed=1, seconds=3, width=320, height=180)
    if is_big:
        with film.open("ab") as file:
            file.write(_BIG.to_bytes(4, "big") + b"free")
            file.truncate(film.stat().st_size + _BIG)
    words = [__file__, "--seed", str(n), "--folder", str(server.data), "--media", str(server.media)]
    subprocess.run([sys.executable, *words], check=True)
    server.start()
    try:
        yield server
    finally:
        server.stop()


# --------------------------------------------------------------------------- the browsers


@dataclass
class Tally:
    """What came of all requests: seconds by kind, and what was not expected."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    n_done: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, kind: str, seconds: float, fault: str) -> None:
        """Keep one request."""
        with self.lock:
            self.seconds[kind].append(seconds)
            if fault:
                self.errors.append(fault)


@dataclass(frozen=True)
class Answer:
    """One answer; `status` 0: none came."""

    status: int
    text: str
    location: str = ""


class Browser:
    """One person's browser: keeps its cookie and connection, and tells the tally."""

    def __init__(self, port: int, tally: Tally) -> None:
        self._port, self._tally, self.cookies = port, tally, dict[str, str]()
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.token = ""

    def _send(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> Answer:
        self._connection.request(method, path, body=body, headers=headers)
        answer = self._connection.getresponse()
        text = answer.read().decode("utf-8", "replace")
        for cookie in answer.headers.get_all("Set-Cookie", ()):
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        return Answer(answer.status, text, answer.headers.get("Location", ""))

    @property
    def cookie(self) -> str:
        """The header of its cookies."""
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    def ask(
        self,
        kind: str,
        path: str,
        said: dict[str, str] | None = None,
        *,
        headers: dict[str, str] | None = None,
        fine: Sequence[int] = (200, 302),
    ) -> Answer:
        """One request; a kept connection that the server had closed is made anew, as browsers do."""
        told = {"Cookie": self.cookie, "Origin": f"http://127.0.0.1:{self._port}", **(headers or {})}
        body = None
        if said is not None:
            told["Content-Type"] = "application/x-www-form-urlencoded"
            body = urlencode({"csrfmiddlewaretoken": self.token, **said})
        method, began = "GET" if said is None else "POST", time.perf_counter()
        for is_last in (False, True):
            try:
                answer = self._send(method, path, body, told)
                break
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                answer = Answer(0, repr(error))
                if is_last or isinstance(error, TimeoutError):
                    break
        fault = (
            "" if answer.status in fine else f"{kind}: {method} {path}: {answer.status} {_plain(answer.text)}"
        )
        self._tally.add(kind, time.perf_counter() - began, fault)
        if found := _TOKEN.search(answer.text):
            self.token = found[1]
        return answer

    def sign_in(self, name: str) -> None:
        """By name and password."""
        self.ask("sign-in page", "/sign-in")
        self.ask(
            "sign-in", "/sign-in", {"username": name, "password": PASSWORD, "next": "/work"}, fine=(302,)
        )
        self.ask("queue", "/work")

    def twin(self) -> "Browser":
        """Another tab of the same person, with a connection of its own."""
        other = Browser(self._port, self._tally)
        other.cookies, other.token = dict(self.cookies), self.token
        return other

    def begin(self) -> str:
        """A new item on the film; the address of its form, or nothing."""
        page = self.ask("new item", "/projects/load/new/").text
        media = re.findall(r'name="medium" value="([^"]+)"', page)
        said = {"medium": media[0] if media else "", "form": "humanpcr-pc/mcq"}
        return self.ask("begin", "/projects/load/new/", said, fine=(302,)).location


def _plain(page: str) -> str:
    """What a page says of a fault, in a line."""
    _, _, main = page.partition("<main")
    return " ".join(re.sub(r"<[^>]*>", " ", main or page).split())[:600]


def texts(rng: random.Random, n_words: int) -> dict[str, str]:
    """The form with a question of so many words."""
    return {**TEXTS, "question": f"{' '.join(rng.choices(_WORDS, k=n_words))} {rng.random()}?"}


class Person:
    """Somebody at their desk: writes or reviews until the time is over and an item was handed in.

    A slow machine gets a minute more for that first item.
    """

    def __init__(self, browser: Browser, tally: Tally, *, seed: int, pace: float, end: float) -> None:
        self._browser, self._rng, self._pace, self._end = browser, random.Random(seed), pace, end
        self._tally = tally
        self._beat_at = 0.0
        self.n_saved = 0

    def _has_time(self) -> bool:
        return time.monotonic() < self._end + (0 if self._tally.n_done else _GRACE_S)

    def _does(self, kind: str, path: str, said: dict[str, str]) -> None:
        """Hand in or decide."""
        answer = self._browser.ask(kind, path, said, fine=(302,))
        with self._tally.lock:
            self._tally.n_done += answer.status == 302

    def _waits(self, least_s: float, most_s: float, path: str) -> bool:
        """Think, and let the page say that somebody works; whether there is time for more."""
        time.sleep(
            max(0.0, min(self._rng.uniform(least_s, most_s) * self._pace, self._end - time.monotonic()))
        )
        if time.monotonic() >= self._beat_at:
            self._browser.ask("heartbeat", "/beat", {"path": path}, fine=(204,))
            self._beat_at = time.monotonic() + _BEAT_S * self._pace
        return self._has_time()

    def _looks(self, page: str) -> None:
        """What the player fetches."""
        for media in _MEDIA.findall(page):
            self._browser.ask("media: times", f"{media}/frames.json")
            start = self._rng.randrange(2**15)
            self._browser.ask(
                "media: range", f"{media}/file", headers={"Range": f"bytes={start}-"}, fine=(206,)
            )
            self._browser.ask("media: still", f"{media}/still/{self._rng.randrange(80)}.jpg")

    def write(self) -> None:
        """Items: begun, written with a save after each pause, handed in."""
        while self._waits(1, 4, "/projects/load/"):
            self._browser.ask("queue", "/work")
            if not (path := self._browser.begin()):
                return
            page = self._browser.ask("form", path).text
            said = dict(_INPUT.findall(page))
            version, seen = int(said.get("version", 0)), said.get("seen", "1")
            self._looks(page)
            for n in range(self._rng.randint(6, 12)):
                if not self._waits(2, 6, path):
                    return
                body = {
                    **texts(self._rng, 5 + 3 * n),
                    "version": str(version),
                    "request": f"{n}-{path[-20:]}",
                }
                answer = self._browser.ask(
                    "save", path, {**body, "seen": seen}, headers={"Accept": "application/json"}, fine=(200,)
                )
                version += answer.status == 200
                self.n_saved += answer.status == 200
            last = {**body, "version": str(version), "request": f"last-{path[-20:]}", "seen": seen}
            self._does("hand in", path, {**last, "action": "submit"})

    def review(self) -> None:
        """What waits: claimed, looked at, decided."""
        while self._waits(2, 6, "/projects/load/"):
            self._browser.ask("queue", "/work")
            # Refused with 409 where nothing waits.
            taken = self._browser.ask("claim", "/projects/load/next", {"role": "reviewer"}, fine=(302, 409))
            if taken.status != 302:
                continue
            page = self._browser.ask("review page", taken.location).text
            self._looks(page)
            if not self._waits(8, 25, taken.location):
                return
            said = {**dict(_INPUT.findall(page)), "check:unique": "yes", "message": "", "act": "accept"}
            if self._rng.random() < 0.2:
                said |= {
                    "check:unique": "no",
                    "act": "return",
                    "message": "Two of the choices are right here.",
                }
            said.pop("csrfmiddlewaretoken", None)
            self._does("decide", taken.location, said)


# --------------------------------------------------------------------------- what is measured


def _share(seconds: Sequence[float], share: float) -> float:
    return sorted(seconds)[int(share * (len(seconds) - 1))]


def race(browsers: Sequence[Browser], *, n_claims: int = 50) -> tuple[int, int]:
    """Many claims of one item at the same time: how many go through, and how many are refused."""
    author, reviewers = browsers[0], [one for i, one in enumerate(browsers) if i % 3 == 2]
    path = author.begin()
    said = {"version": "0", "request": path[-40:], "seen": "0", "action": "submit"}
    said |= dict(_INPUT.findall(author.ask("form", path).text)) | texts(random.Random(2), 9)
    said.pop("csrfmiddlewaretoken", None)
    author.ask("hand in", path, said, fine=(302,))
    hands = [reviewers[i % len(reviewers)].twin() for i in range(n_claims)]
    claim = path.removesuffix("edit") + "claim"
    with ThreadPoolExecutor(n_claims) as pool:
        answers = pool.map(lambda one: one.ask("race", claim, {}, fine=(302, 409)).status, hands)
        found = list(answers)
    return found.count(302), found.count(409)


def none(what: str, n: int) -> Row:
    """Something of which there may be none."""
    return Row(what, f"{n:,}", "0", n == 0)


def copied_and_restored(server: Server) -> str:
    """Copy the database while people save, and make a studio of the copy, which checks all of it.

    The copy has every save that was kept before it was begun, and none from after it was made.
    """
    copy = server.folder / "copy.sqlite3"
    count = "SELECT COUNT(*) FROM studio_draftlogrow"
    ((before,),) = server.asked(count)
    for words in (("backup", server.data, "--to", copy), ("restore", server.folder / "again", copy)):
        command = [sys.executable, "-m", "vidence", "studio", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return done.stderr.strip()
        if words[0] == "backup":
            ((after,),) = server.asked(count)
    with closing(sqlite3.connect(copy)) as opened:
        ((n_copied,),) = opened.execute(count).fetchall()
    return "whole" if before <= n_copied <= after else f"{n_copied} saves, of {before} to {after}"


def soak(folder: Path, *, n: int, seconds: float, pace: float, is_quick: bool) -> list[Row]:
    """People at their desks for some minutes: how long each kind of request takes, errors, growth."""
    tally = Tally()
    with studio(folder, n) as server, ThreadPoolExecutor(n) as pool:
        browsers = [Browser(server.port, tally) for _ in range(n)]
        for browser, (name, _) in zip(browsers, people(n), strict=True):
            browser.sign_in(name)
        end = time.monotonic() + seconds
        team = [Person(one, tally, seed=i, pace=pace, end=end) for i, one in enumerate(browsers)]
        running = [
            pool.submit(one.review if role == "reviewer" else one.write)
            for one, (_, role) in zip(team, people(n), strict=True)
        ]
        time.sleep(seconds / 5)
        early = server.state()
        copied = "" if is_quick else copied_and_restored(server)
        for one in running:
            one.result()
        late = server.state()
        n_log = server.asked("SELECT COUNT(*) FROM studio_draftlogrow")[0][0]
        n_won, n_refused = race(browsers)
        sound = server.asked("PRAGMA integrity_check")[0][0]
        n_locked = server.n_locked()
    for fault in tally.errors[:5]:
        print(fault, file=sys.stderr)
    n_saved = sum(one.n_saved for one in team)
    what = f"(studio) {n} people, {seconds:.0f} s"
    rows = [
        Row(f"{what}: requests", f"{sum(map(len, tally.seconds.values())):,}"),
        Row(f"{what}: handed in or decided", f"{tally.n_done:,}", "> 0", tally.n_done > 0),
        none(f"{what}: answers that were not expected", len(tally.errors)),
        Row(
            "(studio) 50 claims of one item at once: won, refused",
            f"{n_won}, {n_refused}",
            "1, 49",
            n_won == 1,
        ),
        none(f'{what}: "database is locked"', n_locked),
        none(f"{what}: {n_saved} acknowledged saves, lost", max(0, n_saved - n_log)),
        Row(f"{what}: integrity", sound, "ok", sound == "ok"),
        *(
            []
            if is_quick
            else [Row(f"{what}: a copy of meanwhile, restored", copied[:80], "whole", copied == "whole")]
        ),
    ]
    names = ("memory, MB", "open files and sockets", "threads")
    for name, before, after in zip(names, early, late, strict=True):
        told = f"{what}: {name}, after a fifth of the time and at the end"
        grows = name == names[0]
        holds = after <= _GROWTH * before if grows and not is_quick else None
        rows.append(Row(told, f"{before:.0f}, {after:.0f}", "+ 10 % at most" if grows else "", holds))
    for kind, took in sorted(tally.seconds.items()):
        if kind == "race":
            continue
        said = f"{1000 * _share(took, 0.5):.0f} ms, {1000 * _share(took, 0.95):.0f} ms (n {len(took)})"
        rows.append(Row(f"{what}: {kind}, p50 and p95", said))
    return [one for one in rows if one.holds is not None or not is_quick]


def _burst(browser: Browser, path: str, version: int, kept: list[tuple[int, str]], end: float) -> int:
    """Save as fast as it goes until the server is gone; what it acknowledged is in `kept`."""
    rng = random.Random(f"{path}{version}")
    while time.monotonic() < end:
        said = texts(rng, 12)
        said |= {"version": str(version), "request": f"{version}-{rng.random()}"}
        answer = browser.ask("save", path, said, headers={"Accept": "application/json"})
        if answer.status != 200:
            return version
        version += 1
        kept.append((version, said["question"]))
    return version


def kill(folder: Path, *, rounds: int, n: int = 6) -> list[Row]:
    """`kill -9` in bursts of saves: what was acknowledged and is not there afterwards."""
    rng, tally = random.Random(5), Tally()
    n_lost = n_kept = n_broken = n_errors = 0
    with studio(folder, n) as server:
        writers = [(Browser(server.port, tally), name) for name, role in people(n) if role == "author"]
        paths = []
        for browser, name in writers:
            browser.sign_in(name)
            paths.append(browser.begin())
            browser.ask("form", paths[-1])
        kept: list[list[tuple[int, str]]] = [[] for _ in writers]
        for number in range(rounds):
            logs = dict.fromkeys(paths, 0) | dict(_versions(server))
            end = time.monotonic() + 20
            with ThreadPoolExecutor(len(writers)) as pool:
                for (browser, _), path, mine in zip(writers, paths, kept, strict=True):
                    pool.submit(_burst, browser, path, logs[path], mine, end)
                time.sleep(rng.uniform(0.3, 0.8))
                server.stop(signal.SIGKILL)
            # A request that no answer came to is of the server that is gone; an answer that refuses is not.
            n_errors += sum("/edit: 0 " not in one for one in tally.errors)
            tally.errors.clear()
            n_broken += server.asked("PRAGMA integrity_check")[0][0] != "ok"
            server.start()
            if number == rounds - 1:
                there = _bodies(server)
                for path, mine in zip(paths, kept, strict=True):
                    n_kept += len(mine)
                    n_lost += sum(said not in there.get((path, version), "") for version, said in mine)
    what = f"(studio) kill -9 in bursts of saves, {rounds} rounds"
    return [
        Row(f"{what}: acknowledged saves", f"{n_kept:,}", "> 0", n_kept > 0),
        none(f"{what}: lost", n_lost),
        none(f"{what}: files that fail the check of integrity", n_broken),
        none(f"{what}: saves answered with an error", n_errors),
    ]


_LOGGED = """SELECT i.public, l.version, l.body FROM studio_draftlogrow l
JOIN studio_draftrow d ON d.id = l.draft_id JOIN studio_itemrow i ON i.id = d.item_id"""


def _path(public: str) -> str:
    plain = public.replace("-", "")
    parts = (plain[:8], plain[8:12], plain[12:16], plain[16:20], plain[20:])
    return f"/projects/load/items/{'-'.join(parts)}/edit"


def _bodies(server: Server) -> dict[tuple[str, int], str]:
    return {(_path(public), version): body for public, version, body in server.asked(_LOGGED)}


def _versions(server: Server) -> Iterator[tuple[str, int]]:
    for public, version in server.asked(
        "SELECT i.public, d.version FROM studio_draftrow d JOIN studio_itemrow i ON i.id = d.item_id"
    ):
        yield _path(public), version


def paused(folder: Path, *, viewers: int, pages: int) -> list[Row]:
    """Viewers who fetched the begin of a large film and read no further, and the pages of somebody else."""
    tally, held = Tally(), []
    with studio(folder, 3, is_big=True) as server:
        browser = Browser(server.port, tally)
        browser.sign_in("Person 00")
        path = browser.begin()
        (media, *_) = _MEDIA.findall(browser.ask("form", path).text)
        before = server.state()
        n_begun = 0
        try:
            for number in range(viewers):
                one = socket.create_connection(("127.0.0.1", server.port), timeout=30)
                held.append(one)
                words = f"GET {media}/file HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
                words += f"Cookie: {browser.cookie}\r\n"
                # Every second one asks for all of it: no buffer of the system holds that.
                part = "" if number % 2 else "Range: bytes=0-\r\n"
                one.sendall(f"{words}{part}\r\n".encode())
                n_begun += (b" 200 " if number % 2 else b" 206 ") in one.recv(64)
            for number in range(pages):
                browser.ask("page", ("/work", "/projects/load/", path)[number % 3])
            after = server.state()
        finally:
            for one in held:
                one.close()
    for fault in tally.errors[:5]:
        print(fault, file=sys.stderr)
    what = f"(studio) {viewers} paused viewers of a film of 250 MB"
    return [
        Row(f"{what}: are answered", f"{n_begun}", f"{viewers}", n_begun == viewers),
        below(f"{what}: {pages} pages beside them, p95", _share(tally.seconds["page"], 0.95), 0.2, "s"),
        none(f"{what}: answers that were not expected", len(tally.errors)),
        Row(f"{what}: memory before and with them", f"{before[0]:.0f} MB, {after[0]:.0f} MB"),
        Row(f"{what}: threads", f"{after[2]}"),
    ]


@contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """A disk of 32 MB at the folder, where one may be mounted; else the folder, and False."""
    folder.mkdir(parents=True)
    words = ["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", str(folder)]
    mounted = os.geteuid() == 0 and not subprocess.run(words, capture_output=True, check=False).returncode
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=False)


@contextmanager
def full(server: Server, *, mounted: bool) -> Iterator[None]:
    """Little room for what the server writes: on a disk that is filled, or by a limit of its files."""
    if mounted:
        ballast = server.data.parent / "ballast"
        with ballast.open("wb") as file:
            file.write(bytes(max(0, shutil.disk_usage(ballast.parent).free - _LEFT)))
        yield
        ballast.unlink()
        return
    assert server.process is not None
    largest = max(one.stat().st_size for one in server.data.iterdir())
    before = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (largest + _LEFT, before[1]))
    yield
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, before)


def disk(folder: Path) -> list[Row]:
    """A disk that is filled: what a save answers, what operators read, and what is there afterwards."""
    tally, rng = Tally(), random.Random(1)
    small, ever = folder / "small", range(100, 600)
    json = {"Accept": "application/json"}
    with small_disk(small) as mounted, studio(folder / "rest", 3, data=small / "team") as server:
        browser, operator = Browser(server.port, tally), Browser(server.port, tally)
        browser.sign_in("Person 00")
        operator.sign_in(OPERATOR)
        path = browser.begin()
        browser.ask("form", path)
        with full(server, mounted=mounted):
            for n_kept in range(_SAVES_UNTIL_FULL):
                said = {**texts(rng, 1000), "version": str(n_kept), "request": f"r{n_kept}"}
                answer = browser.ask("save", path, said, headers=json, fine=ever)
                if answer.status != 200:
                    break
            shown = browser.ask("save", path, {**said, "request": "shown"}, fine=ever).text
            page = browser.ask("form", path, fine=ever).status
            health = operator.ask("health", "/health", fine=ever).text
        log = server.asked("SELECT COUNT(*), MAX(version) FROM studio_draftlogrow")[0]
        version = server.asked("SELECT version FROM studio_draftrow")[0][0]
        sound = server.asked("PRAGMA integrity_check")[0][0]
        again = browser.ask("save", path, {**said, "request": "again"}, headers=json, fine=(200,)).status
    what = f"(studio) full {'disk' if mounted else 'disk (by a limit of its files)'}"
    told = {
        "a script is told why": "the server disk" in answer.text,
        'the page says "not saved"': "Nothing of this was saved" in shown,
        "the state of the server has an alarm": "Not everything was saved" in health,
    }
    return [
        Row(
            f"{what}: the save that does not fit is answered", f"{answer.status}", "507", answer.status == 507
        ),
        *(Row(f"{what}: {name}", "yes" if holds else "no", "yes", holds) for name, holds in told.items()),
        Row(f"{what}: the page of what was saved", f"{page}", "200", page == 200),
        Row(
            f"{what}: {n_kept} saves acknowledged; in the log, of the draft",
            f"{log[0]}, {version}",
            "equal",
            log[0] == version == n_kept,
        ),
        Row(f"{what}: integrity", sound, "ok", sound == "ok"),
        Row(f"{what}: a save after space was made", f"{again}", "200", again == 200),
    ]


def chosen(options: argparse.Namespace) -> dict[str, Callable[[Path], list[Row]]]:
    """What is measured, by name."""
    quick = options.quick
    return {
        "people": lambda folder: soak(
            folder,
            n=6 if quick else 20,
            seconds=5.0 if quick else options.seconds,
            pace=0.02 if quick else 1.0,
            is_quick=quick,
        ),
        "kill": lambda folder: kill(folder, rounds=2 if quick else options.rounds),
        "paused": lambda folder: paused(folder, viewers=options.viewers, pages=90),
        "disk": disk,
    }


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="people,kill,paused,disk")
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--viewers", type=int, default=200)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--seed", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--media", type=Path, help=argparse.SUPPRESS)
    return parser


def printed(measures: Mapping[str, Callable[[Path], list[Row]]], options: argparse.Namespace) -> int:
    """Measure what was asked for, in a folder that goes again, and print it; 1 where a target is missed."""
    rows = []
    with tempfile.TemporaryDirectory(dir=options.folder) as made:
        for name in options.only.split(","):
            found = measures[name](Path(made) / name)
            rows += found
            for one in found:
                held = {True: "yes", False: "**no**", None: ""}[one.holds]
                print(f"| {one.what} | {one.measured} | {one.target} | {held} |", flush=True)
    return int(any(one.holds is False for one in rows))


def all_of(measures: Mapping[str, Callable[[Path], list[Row]]], folder: Path) -> list[Row]:
    """The rows of all measures, each in a folder of its own."""
    return [row for name, measured in measures.items() for row in measured(folder / name)]


def team(bench: Bench) -> list[Row]:
    """All of it, in a new folder of the bench."""
    return all_of(chosen(_options().parse_args([])), bench.fresh("team"))


ALL = (team,)


def main() -> int:
    """Measure and print."""
    options = _options().parse_args()
    if options.seed:
        seed(options.folder, options.media, options.seed)
        return 0
    return printed(chosen(options), options)


if __name__ == "__main__":
    sys.exit(main())
