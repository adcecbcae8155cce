"""A board attacked: votes, climbs and probes, many at once, kills, other users of the system, scans."""

import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from servers import board_process
from servers.studio import configured, studio
from subjects.hidden_board import LETTERS, SENTINEL, Board, hidden_split, open_board, send, write_judge
from vidence.studio.rules.ladder import beats, whole_points

configured()
PASSWORD = "correct horse battery"  # noqa: S105 - of tests
N, CHANCE, MOST_GAIN = 200, 25.0, 2.0
ALLOWED, SEED = 20, 0
NOBODY = 65534
PATIENCE_S = 60.0
NAMES = tuple(map(str, range(N)))
PYTHONPATH = os.pathsep.join(
    [
        str(Path(__file__).parents[1]),
        *(one for one in sys.path if one and not one.startswith(sys.base_prefix)),
    ]
)
"""The tests, and what is installed for them, also for a Python that lies elsewhere."""
Answers = np.ndarray
Attack = Generator[Answers, int | None, Answers]


def guesses(rng: np.random.Generator) -> Attack:
    """Guess, and guess again."""
    while True:
        yield rng.integers(0, 4, N)


def votes(rng: np.random.Generator) -> Attack:
    """Guess, and submit in the end what the guesses that were shown say most often, and the others seldom."""
    weights = np.zeros((N, 4))
    for _ in range(ALLOWED - 1):
        guess = rng.integers(0, 4, N)
        shown = yield guess
        weights[np.arange(N), guess] += 1.0 if shown is not None else -1.0 / ALLOWED
    while True:
        yield weights.argmax(axis=1)


def climb(share: float) -> Callable[[np.random.Generator], Attack]:
    """Change some answers of the best, others each time."""

    def attack(rng: np.random.Generator) -> Attack:
        best = rng.integers(0, 4, N)
        yield best
        order, at, size = rng.permutation(N), 0, max(1, round(share * N))
        while True:
            changed = best.copy()
            places = order[(at + np.arange(size)) % N]
            changed[places] = (changed[places] + rng.integers(1, 4, size)) % 4
            at = (at + size) % N
            if (yield changed) is not None:
                best = changed

    return attack


ATTACKS = {
    "guesses": guesses,
    "votes": votes,
    **{f"climb by {share}": climb(share) for share in (0.1, 0.25, 0.5)},
    "probes": climb(1 / N),
}


class Modelled:
    """The board as the Ladder says that it is: what is shown of a submission, and the best score."""

    def __init__(self, key: Answers) -> None:
        self.key, self.best = key, dict[str, float]()

    def __call__(self, answers: Answers) -> int | None:
        values = dict(zip(NAMES, (answers == self.key).astype(float).tolist(), strict=True))
        if self.best and not beats(values, self.best):
            return None
        self.best = values
        return whole_points(values)


def attacked(attack: Attack, board: Callable[[Answers], int | None], n: int) -> list[int | None]:
    """What an attacker was shown."""
    shown = [board(next(attack))]
    while len(shown) < n:
        shown.append(board(attack.send(shown[-1])))
    return shown


def gains_of(name: str, *, n: int, n_seeds: int) -> Answers:
    """How far above chance an attacker's best shown score is, in points, for each seed."""
    gains = []
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        board = Modelled(rng.integers(0, 4, N))
        attacked(ATTACKS[name](rng), board, n)
        gains.append(100 * np.mean(list(board.best.values())) - CHANCE)
    return np.array(gains)


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attacker_gains_two_points_at_most(name, effort, record_attack):
    n = 230 if name == "probes" else ALLOWED
    gains = gains_of(name, n=n, n_seeds=effort(6_000 // n, 60_000 // n))
    bound = np.mean(gains) + 2 * np.std(gains) / np.sqrt(len(gains))
    record_attack("guessing at a board", 1, int(bound <= MOST_GAIN))
    assert bound <= MOST_GAIN, f"{np.mean(gains):.2f} points above chance"


@pytest.mark.parametrize(("errors", "least", "most"), [(0.0, 5.0, 8.0), (1.0, 4.0, 6.0)])
def test_the_same_attackers_climb_where_the_step_is_smaller(monkeypatch, errors, least, most):
    monkeypatch.setattr("vidence.studio.rules.ladder.STANDARD_ERRORS", errors)
    gains = {
        name: gains_of(name, n=ALLOWED, n_seeds=100).mean() for name in ("guesses", "votes", "climb by 0.1")
    }
    assert least <= max(gains.values()) <= most, gains


@pytest.fixture(scope="module")
def hidden(tmp_path_factory):
    return hidden_split(tmp_path_factory.mktemp("hidden"), N, seed=1)


@pytest.fixture
def board(hidden, tmp_path) -> Iterator[Board]:
    """The board of 200 questions in this process."""
    with studio("team", tmp_path / "lab") as team:
        yield open_board(team, hidden, tmp_path / "cache")


def last_row(client) -> str:
    page = client.get("/board/submit").content.decode()
    return page.split("<tbody>")[1].split("</tr>")[0]


def test_the_real_board_shows_attackers_what_the_ladder_says_and_takes_no_more_than_it_allows(board):
    key = np.array([LETTERS.index(one) for one in board.split.key.values()])
    for name, n, n_allowed in (("votes", ALLOWED + 3, ALLOWED), ("probes", 230, 6)):
        open_board(board.team, board.split, board.cache, most_in_all=n_allowed)
        client, refused = board.member(name, name), 0

        def real(answers: Answers, client=client) -> int | None:
            nonlocal refused
            answer = send(client, board.split.submission([LETTERS[i] for i in answers]))
            if answer.status_code == 400:
                refused += 1
                return None
            assert board.score() == [""]
            found = re.search(r"<strong>(\d+)</strong> points", last_row(client))
            board.team.clock.move(12 * 3600)
            return None if found is None else int(found[1])

        shown = attacked(ATTACKS[name](np.random.default_rng(SEED)), real, n)
        modelled = attacked(ATTACKS[name](np.random.default_rng(SEED)), Modelled(key), n_allowed)
        assert shown[:n_allowed] == modelled
        assert len(set(modelled)) >= (3 if name == "votes" else 2), "something was shown"
        assert (refused, set(shown[n_allowed:])) == (n - n_allowed, {None})


def spoilt(content: bytes, number: int) -> bytes:
    """A file with a fault or two, the same in each file of this number."""
    rows = content.splitlines()
    kind = number % 4
    if kind == 1:
        rows[number] = rows[number].replace(b'"table-', b'"chair-')
    elif kind == 2:
        rows += rows[number : number + 7]
    elif kind == 3:
        rows = [row[:-3] + b'Q"}' if i % 30 == number % 30 else row for i, row in enumerate(rows)]
    return b"\n".join(rows)


def test_right_and_wrong_files_are_answered_alike(board, record_attack):
    open_board(board.team, board.split, board.cache, most_a_day=1_000, most_in_all=1_000)
    client = board.member("Ann", "red")
    rng, taken_s, held = np.random.default_rng(0), {True: [], False: []}, 0
    for number in range(100):
        said = {}
        for is_right in rng.permutation([True, False]).tolist():
            content = spoilt(board.split.right(N - number if is_right else number), number)
            begun = time.perf_counter()
            answer = send(client, content)
            taken_s[is_right].append(time.perf_counter() - begun)
            page = re.sub(rb'(csrfmiddlewaretoken" value=)"\w+"', rb"\1", answer.content)
            page = re.sub(rb"<tbody>.*</tbody>|<strong>\d+</strong>", b"", page, flags=re.DOTALL)
            said[is_right] = (
                answer.status_code,
                sorted(answer.headers.items()),
                re.sub(rb"'[A-D]'", b"", page),
            )
        held += said[True] == said[False]
    record_attack("right and wrong files", 100, held)
    assert held == 100
    # Ranks of both, compared under random changes of sides: no difference in time.
    both = np.argsort(np.argsort(np.array([*taken_s[True], *taken_s[False]])))
    seen = abs(both[:100].mean() - both[100:].mean())
    drawn = [abs((mixed := rng.permutation(both))[:100].mean() - mixed[100:].mean()) for _ in range(2_000)]
    assert np.mean([one >= seen for one in drawn]) > 0.001


@dataclass(frozen=True)
class Told:
    """What the processes of a board are told."""

    folder: Path
    split: object
    python: str = ""
    """What a user of its own starts for the server; empty: what runs the tests, as their user."""

    @property
    def uid(self) -> int:
        """Whose the folders of the server are."""
        return NOBODY if self.python else 0

    @property
    def data(self) -> Path:
        return self.folder / "lab"

    @property
    def env(self) -> dict[str, str]:
        own = {name: str(self.folder / name.casefold()) for name in ("TMPDIR", "HOME")}
        kept = {
            f"VIDENCE_{name}": str(self.folder / name.casefold()) for name in ("CACHE", "STATE", "SETTINGS")
        }
        return {**os.environ, **own, **kept, "PYTHONPATH": PYTHONPATH, "PYTHONUNBUFFERED": "1"}

    @property
    def account(self) -> dict[str, object]:
        """Who processes of the server run as."""
        return {"user": self.uid, "group": self.uid, "extra_groups": []} if self.uid else {}

    def start(self, *words: object, log: str, is_server: bool = True) -> subprocess.Popen[bytes]:
        """A process of Python; what it prints goes into a file."""
        with (self.folder / log).open("ab") as file:
            account, python = (self.account, self.python) if is_server else ({}, "")
            return subprocess.Popen(
                [python or sys.executable, *map(str, words)],
                stdout=file,
                stderr=file,
                env=self.env,
                **account,
            )

    def file(self, act: str, **told: object) -> Path:
        """What a process is told."""
        file = self.folder / f"{act}.json"
        file.write_text(json.dumps({"data": str(self.data), "password": PASSWORD, **told}))
        file.chmod(0o644)
        return file

    def act(self, act: str, **told: object) -> object:
        """Do something with the database; what it says."""
        file = self.file(act, **told)
        done = subprocess.run(
            [self.python or sys.executable, board_process.__file__, act, file],
            capture_output=True,
            env=self.env,
            check=False,
            text=True,
            **self.account,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout or "null")


def private(folder: Path, split: object, *, python: str = "") -> Told:
    told = Told(folder, split, python)
    for name in ("tmpdir", "home", "lab"):
        (folder / name).mkdir()
        if told.uid:
            os.chown(folder / name, told.uid, told.uid)
    told.data.chmod(0o700)
    return told


def test_a_scorer_killed_in_any_step_scores_once_and_charges_once(tmp_path, record_attack):
    n, n_open = 12, 2
    split = hidden_split(tmp_path / "hidden", n, n_open=n_open)
    told = private(tmp_path, split)
    letters = {name: said for name, said in split.key.items() if len(said) == 1}
    accounts = []
    for number, step in enumerate(board_process.STEPS):
        words = {name: f"a hand, {step}" for name in split.key if name not in letters}
        wrong = {name: "A" if letter != "A" else "B" for name, letter in list(letters.items())[:number]}
        file = split.submission({**letters, **wrong, **words}).decode()
        accounts.append((step, step, file))
    limits, judge = {"most_a_day": 2, "most_in_all": 2}, write_judge(tmp_path)
    board = {"release": str(split.release), "limits": limits, "accounts": accounts}
    scorer = {"vault": str(split.vault), "judges": judge["judge_models"], "cache": str(tmp_path / "cache")}
    rows = told.act("kill", **board, **scorer)
    points = [whole_points({str(i): float(i >= number) for i in range(n)}) for number in range(len(rows))]
    expected = [
        {"team": step, "state": "scored", "points": score, "left": 1}
        for step, score in zip(board_process.STEPS, points, strict=True)
    ]
    record_attack(
        "a scorer killed in each step", len(rows), sum(a == b for a, b in zip(rows, expected, strict=True))
    )
    assert rows == expected
    assert (tmp_path / "judge.asked").read_text() == "x" * n_open * len(rows), "nothing is asked twice"


@dataclass(frozen=True)
class Running:
    """A server of a board with its scorer, each as a user of its own where this is root."""

    told: Told
    port: int
    server: subprocess.Popen[bytes]
    scorer: subprocess.Popen[bytes]

    def ask(self, method: str, where: str, *, cookies: dict[str, str], body: bytes = b"", kind: str = ""):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
        connection.request(
            method, where, body or None, {**headers, **({"Content-Type": kind} if kind else {})}
        )
        answer = connection.getresponse()
        content = answer.read().decode()
        for said in answer.msg.get_all("Set-Cookie") or ():
            name, _, value = said.partition(";")[0].partition("=")
            cookies[name] = value
        connection.close()
        token = re.search(r'csrfmiddlewaretoken" value="(\w+)"', content)
        return answer.status, content, token and token[1]

    def signed_in(self, name: str) -> dict[str, str]:
        cookies: dict[str, str] = {}
        token = self.ask("GET", "/sign-in", cookies=cookies)[2]
        form = {"username": name, "password": PASSWORD, "csrfmiddlewaretoken": token}
        body, kind = urllib.parse.urlencode(form).encode(), "application/x-www-form-urlencoded"
        assert self.ask("POST", "/sign-in", cookies=cookies, body=body, kind=kind)[0] == 302
        return cookies

    def submit(self, cookies: dict[str, str], token: str, content: bytes) -> int:
        parts = [
            (b'name="csrfmiddlewaretoken"', token.encode()),
            (b'name="answers"; filename="submission.jsonl"', content),
        ]
        body = b"".join(b"--x\r\nContent-Disposition: form-data; %s\r\n\r\n%s\r\n" % part for part in parts)
        kind = "multipart/form-data; boundary=x"
        return self.ask("POST", "/board/submit", cookies=dict(cookies), body=body + b"--x--\r\n", kind=kind)[
            0
        ]

    def wait(self, cookies: dict[str, str], words: str) -> str:
        """A page of submissions with these words."""
        end = time.monotonic() + PATIENCE_S
        while words not in (page := self.ask("GET", "/board/submit", cookies=cookies)[1]):
            assert time.monotonic() < end, (page, (self.told.folder / "scorer").read_text())
            time.sleep(0.2)
        return page


def python_of_another_user() -> str:
    """A Python of this version that another user may start, with vidence; empty where there is none."""
    if not hasattr(os, "geteuid") or os.geteuid():
        return ""
    name = "python{}.{}".format(*sys.version_info)
    for python in filter(None, (sys.executable, shutil.which(name, path=os.defpath))):
        command, env = [python, "-c", "import vidence, django"], {"PYTHONPATH": PYTHONPATH}
        try:
            subprocess.run(command, user=NOBODY, group=NOBODY, extra_groups=[], env=env, check=True)
        except (PermissionError, subprocess.CalledProcessError):
            continue
        return python
    return ""


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    """A board of twelve questions, served, with a scorer that goes on."""
    with tempfile.TemporaryDirectory(prefix="vidence-hostile-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        scorers = folder / "scorers"
        scorers.mkdir(mode=0o700)
        split = hidden_split(scorers, 12)
        release = split.release.rename(folder / "release")
        told = private(folder, split, python=python_of_another_user())
        told.act(
            "fill",
            release=str(release),
            limits={"most_a_day": 2, "most_in_all": 20},
            accounts=[("Ann", "red", ""), ("Ada", "red", ""), ("Bob", "blue", ""), ("Eve", "green", "")],
        )
        server = told.start("-m", "vidence", "studio", "serve", told.data, "--port", 0, log="server")
        file = told.file("scorer", vault=str(split.vault))
        scorer = told.start(board_process.__file__, "scorer", file, log="scorer", is_server=False)
        end = time.monotonic() + PATIENCE_S
        while not (found := re.search(r"http://127\.0\.0\.1:(\d+)/", (folder / "server").read_text())):
            assert (server.poll(), time.monotonic() < end) == (None, True), (folder / "server").read_text()
            time.sleep(0.05)
        yield Running(told, int(found[1]), server, scorer)
        for process in (server, scorer):
            process.kill()
            process.wait()


def test_of_twenty_submissions_at_once_two_are_counted(running):
    members = [running.signed_in(name) for name in ("Ann", "Ada")]
    tokens = [running.ask("GET", "/board/submit", cookies=cookies)[2] for cookies in members]
    wrong = [list(running.told.split.key.values()) for _ in range(20)]
    for number, answers in enumerate(wrong):
        answers[number % 12] = LETTERS[(LETTERS.index(answers[number % 12]) + 1 + number // 12) % 4]
    with ThreadPoolExecutor(20) as threads:
        codes = list(
            threads.map(
                lambda i: running.submit(
                    members[i % 2], tokens[i % 2], running.told.split.submission(wrong[i])
                ),
                range(20),
            )
        )
    assert sorted(codes) == [302] * 2 + [400] * 18
    running.wait(members[0], "<strong>92</strong> points")
    page = running.wait(members[1], "the best score of the team stays")
    assert "<strong>0</strong> more today" in page
    assert "<strong>18</strong> in total" in page
    assert [row["state"] for row in running.told.act("state")] == ["scored"] * 2


PROBE = """
import os, sys
vault = sys.argv[1]
for act in (
    lambda: open(f"{vault}/answers.jsonl"), lambda: open(f"{vault}/test.jsonl"),
    lambda: os.listdir(vault), lambda: os.stat(vault), lambda: os.stat(f"{vault}/secret"),
):
    try:
        act()
    except PermissionError:
        print("refused")
"""


def test_the_server_cannot_reach_the_vault_which_no_setting_of_it_names(running):
    if not running.told.uid:
        pytest.skip(
            "the server runs under another user where this is root, and all may read Python and vidence"
        )
    done = subprocess.run(
        [running.told.python, "-c", PROBE, running.told.split.vault],
        capture_output=True,
        text=True,
        check=True,
        **running.told.account,
    )
    assert done.stdout.split() == ["refused"] * 5
    place = Path(f"/proc/{running.server.pid}")
    assert place.stat().st_uid == NOBODY
    for what in ("cmdline", "environ"):
        assert running.told.split.vault.parent.name.encode() not in (place / what).read_bytes()
    cookies = running.signed_in("Bob")
    token = running.ask("GET", "/board/submit", cookies=cookies)[2]
    assert running.submit(cookies, token, running.told.split.right(6)) == 302, "it still writes its database"
    running.wait(cookies, "<strong>50</strong> points")


def listening(process: subprocess.Popen[bytes]) -> set[str]:
    """The sockets on which a process listens."""
    place = Path(f"/proc/{process.pid}")
    own = {os.readlink(one) for one in (place / "fd").iterdir() if one.is_symlink()}
    lines = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in (place / "net" / name).read_text().splitlines()[1:]
    ]
    return {f"socket:[{line[9]}]" for line in lines if line[3] == "0A"} & own


@pytest.mark.skipif(not Path("/proc/self/net/tcp").exists(), reason="/proc says what a process listens on")
def test_the_scorer_listens_nowhere(running):
    assert (len(listening(running.server)), listening(running.scorer)) == (1, set())


def test_nothing_that_is_hidden_lies_outside_of_the_vault(running):
    cookies = running.signed_in("Eve")
    token = running.ask("GET", "/board/submit", cookies=cookies)[2]
    assert running.submit(cookies, token, running.told.split.right(3)) == 302
    running.wait(cookies, "<strong>25</strong> points")
    secrets = {
        SENTINEL,
        *re.findall(r"[0-9a-f]{64}", (running.told.split.vault / "answers.jsonl").read_text()),
    }
    assert len(secrets) == 13
    seen = 0
    for path in running.told.folder.rglob("*"):
        if path.is_file() and running.told.split.vault not in path.parents:
            content = path.read_bytes()
            assert [one for one in secrets if one.encode() in content] == [], path
            seen += 1
    assert seen > 10
