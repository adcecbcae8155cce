"""Participants of a study at once: how long saves take beside those of one participant alone.

    python bench/study_load.py [--people 50] [--seconds 300] [--pace 5.0] [--folder DIR]

Everything goes over HTTP on loopback, to `vidence study open` in a process of its own; each participant saves
the form of a trial every `pace` seconds and sends it after ten saves. It ends with 1 where an answer was not
expected or the 95th percentile is more than four times that of one alone. Also part of `python bench/run.py`.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, Request, build_opener

from harness import Bench, Row

MOST = 4.0
"""How many times the 95th percentile of one alone that of many may be."""
_STUDY = """title = "Load"
items = "items.jsonl"
n_people = {n}
[[phases]]
name = "free"
condition = "none"
[[form]]
name = "answer"
kind = "answer"
[[form]]
name = "why"
kind = "text"
"""
_HIDDEN = re.compile(r'name="(csrfmiddlewaretoken|version)" value="([^"]+)"')
_N_TRIALS = 40
_SAVES = 10


class Person:
    """A participant without a browser; `seconds` are those of saves, `wrong` what was not expected."""

    def __init__(self, link: str, seed: int) -> None:
        self.seconds: list[float] = []
        self.wrong: Counter[str] = Counter()
        self.opener: OpenerDirector = build_opener(HTTPCookieProcessor())
        self.rng = random.Random(seed)
        self.token, self.version = "", "0"
        where = self.page(link)
        where = self.send(where, act="agree")
        self.at = self.send(where, act="begin")

    def page(self, address: str) -> str:
        """Read a page and what is hidden in it; where it was found in the end."""
        with self.opener.open(address, timeout=60) as answer:
            return self._read(answer.geturl(), answer.read().decode())

    def send(self, address: str, **values: str) -> str:
        """Send a form; where the next page is."""
        sent = urlencode({"csrfmiddlewaretoken": self.token, **values}).encode()
        with self.opener.open(Request(address, data=sent), timeout=60) as answer:
            return self._read(answer.geturl(), answer.read().decode())

    def _read(self, address: str, text: str) -> str:
        hidden = dict(_HIDDEN.findall(text))
        self.token, self.version = hidden.get("csrfmiddlewaretoken", ""), hidden.get("version", "0")
        return address

    def save(self, words: str) -> None:
        """Save the form as the script of the page does."""
        values = {"csrfmiddlewaretoken": self.token, "version": self.version, "why": words, "answer": "A"}
        values["request"] = f"{self.rng.getrandbits(64):x}"
        asked = Request(self.at, data=urlencode(values).encode(), headers={"Accept": "application/json"})
        began = time.perf_counter()
        with self.opener.open(asked, timeout=60) as answer:
            self.version = str(json.loads(answer.read())["version"])
        self.seconds.append(time.perf_counter() - began)

    def work(self, until: float, pace: float) -> None:
        """Save and send until a time."""
        time.sleep(self.rng.uniform(0, pace))
        n = 0
        while time.monotonic() < until:
            n += 1
            try:
                self.save(f"because of {n}")
                if n % _SAVES == 0:
                    sent = {"version": self.version, "request": f"{n}", "why": "so", "answer": "A"}
                    self.at = self.send(self.at, action="submit", **sent)
            except (HTTPError, URLError, HTTPException, OSError, KeyError) as error:
                self.wrong[str(error)] += 1
            time.sleep(self.rng.uniform(0.5, 1.5) * pace)


@contextmanager
def opened(folder: Path, n: int):
    """A study that is served; the links of its participants."""
    lines = [
        {"item_id": f"q{i}", "question": f"Which is number {i}?", "choices": ["one", "two"], "answer": "A"}
        for i in range(_N_TRIALS)
    ]
    (folder / "items.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    (folder / "study.toml").write_text(_STUDY.format(n=n))
    vidence = [sys.executable, "-m", "vidence", "study"]
    subprocess.run([*vidence, "draw", folder], check=True, capture_output=True)
    links = folder / "links.json"
    command = [*vidence, "open", folder, "--port", "0", "--json", links]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        for _ in range(n + 2):
            server.stdout.readline()
        yield [one["link"]["text"] for one in json.loads(links.read_text())["tables"][0]["lines"]]
        server.terminate()


def p95_ms(people: list[Person]) -> float:
    """The 95th percentile of their saves, in milliseconds."""
    seconds = sorted(one for person in people for one in person.seconds)
    return 1000 * seconds[int(0.95 * (len(seconds) - 1))]


def load(folder: Path, *, n: int, seconds: float, pace: float) -> list[Row]:
    """One alone, then all at once."""
    folder.mkdir(parents=True, exist_ok=True)
    with opened(folder, n) as links, ThreadPoolExecutor(n) as pool:
        people = [Person(link, seed) for seed, link in enumerate(links)]
        alone = people[:1]
        alone[0].work(time.monotonic() + max(5.0, seconds / 10), pace / 4)
        base = p95_ms(alone)
        alone[0].seconds.clear()
        until = time.monotonic() + seconds
        list(pool.map(lambda person: person.work(until, pace), people))
    wrong = sum((person.wrong for person in people), Counter())
    n_saves = sum(len(person.seconds) for person in people)
    at_once = p95_ms(people)
    for words, times in wrong.most_common(5):
        print(f"{times} x {words}", file=sys.stderr)
    ratio = at_once / base
    return [
        Row("study: saves of participants", f"{n_saves:,} of {n}"),
        Row("study: 95 % of saves, one alone, ms", f"{base:.1f}"),
        Row("study: 95 % of saves, all at once, ms", f"{at_once:.1f}"),
        Row("study: ratio of the two", f"{ratio:.2f}", f"at most {MOST:g}", ratio <= MOST),
        Row("study: answers that were not expected", f"{sum(wrong.values())}", "0", not wrong),
    ]


def study(bench: Bench) -> list[Row]:
    """Fifty people for five minutes, in a new folder of the bench."""
    return load(bench.fresh("study"), n=50, seconds=300, pace=5.0)


ALL = (study,)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--pace", type=float, default=5.0)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = given.folder or Path(name)
        rows = load(folder, n=given.people, seconds=given.seconds, pace=given.pace)
    for row in rows:
        print(f"| {row.what} | {row.measured} | {row.target} |")
    return int(any(row.holds is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
