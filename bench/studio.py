"""The viewer over three runs of 26,806 questions each: how long its pages take, and its memory.

    python bench/studio.py [--folder DIR]

The runs are recorded replies of about 1 kB each, and a baseline; no media. Pages are fetched over HTTP from
`vidence view` in a process of its own: with an index that is to be made, with one that is kept, and then
filters, sorts and single questions at random. Also part of `python bench/run.py`.
"""

import argparse
import http.client
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, urlencode

import psutil
from harness import VIDENCE, Bench, Row, below

N_ITEMS = 26_806
_TASKS = ("order", "count", "who", "where", "when", "absence", "action", "scene")
_WORDS = (
    *("the", "frame", "shows", "a", "person", "walking", "past", "red", "car", "while", "door", "opens"),
    *("and", "dog", "runs", "to", "left", "side", "again"),
)
_HREF = re.compile(r'href="(/item\?[^"]+)"')
_PLACE = re.compile(r'name="run" value="([0-9a-f]{16})"')


def questions(folder: Path, *, n: int = N_ITEMS) -> Path:
    """A file of questions with five choices and four tags."""
    rng, path = random.Random(7), folder / "questions.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for i in range(n):
            row = {
                "item_id": f"q{i:05d}",
                "question": f"{i}: {' '.join(rng.choices(_WORDS, k=18))}?",
                "choices": [" ".join(rng.choices(_WORDS, k=6)) + f" {k}" for k in range(5)],
                "answer": rng.choice("ABCDE"),
                "source_id": f"film{i // 80}",
                "tags": {
                    "task": rng.choice(_TASKS),
                    "demand": str(rng.randint(1, 6)),
                    "length": rng.choice(("short", "long")),
                    "draft": f"d{i}",
                },
            }
            file.write(json.dumps(row) + "\n")
    return path


def replies(folder: Path, name: str, *, seed: int, n: int = N_ITEMS) -> Path:
    """Recorded replies of about 1 kB, of which some end too early and some say nothing."""
    rng, path = random.Random(seed), folder / f"{name}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for i in range(n):
            said = " ".join(rng.choices(_WORDS, k=190))
            fate = rng.random()
            end = "" if fate < 0.05 else f" The answer is ({rng.choice('ABCDE')})."
            row = {"item_id": f"q{i:05d}", "text": said + end, "finish": "length" if fate < 0.03 else "stop"}
            file.write(json.dumps(row) + "\n")
    return path


def make_runs(folder: Path, *, n: int = N_ITEMS) -> Path:
    """Three runs of the same questions, made once."""
    runs = folder / "runs"
    if (runs / "third" / "run.sqlite").exists():
        return runs
    data = questions(folder, n=n)
    models = {
        "first": f"replay:{replies(folder, 'first', seed=1, n=n)}",
        "second": f"replay:{replies(folder, 'second', seed=2, n=n)}",
        "third": "baseline:random",
    }
    for name, model in models.items():
        command = [str(VIDENCE), "run", "table", "--data", str(data), "--model", model, "--no-page"]
        subprocess.run(
            [*command, "--out", str(runs / name), "--set", f"memory={folder / 'memory.sqlite'}"],
            check=True,
            capture_output=True,
        )
    return runs


class Client:
    """One browser: keeps its cookie, and says how long an answer took. Its server needed `address_s`."""

    def __init__(self, host: str, door: str, *, address_s: float) -> None:
        self.address_s = address_s
        self._connection = http.client.HTTPConnection(host, timeout=300)
        self._cookie = ""
        self._get(door)

    def _get(self, path: str) -> str:
        self._connection.request("GET", path, headers={"Cookie": self._cookie})
        answer = self._connection.getresponse()
        body = answer.read().decode()
        if not self._cookie:  # the first is that of the session
            self._cookie = answer.headers["Set-Cookie"].split(";")[0]
        if answer.status >= 400:
            raise RuntimeError(f"{path} gave {answer.status}: {body[:2000]}")
        return body

    def get(self, path: str) -> tuple[str, float]:
        """A page, and the seconds that it took."""
        began = time.perf_counter()
        return self._get(path), time.perf_counter() - began


@contextmanager
def viewer(runs: Path, cache: Path) -> Iterator[tuple[Client, psutil.Process]]:
    """`vidence view` of some runs."""
    began = time.perf_counter()
    with subprocess.Popen(
        [str(VIDENCE), "view", "--no-open", str(runs)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"VIDENCE_CACHE": str(cache), "PYTHONUNBUFFERED": "1"},
    ) as process:
        try:
            found = None
            for line in process.stdout or ():
                found = re.search(r"http://([^/\s]+)(/\S+)", line)
                if found is not None:
                    break
            if found is None:
                raise RuntimeError("the viewer printed no address")
            address_s = time.perf_counter() - began
            yield Client(found[1], found[2], address_s=address_s), psutil.Process(process.pid)
        finally:
            process.terminate()


def _p95(seconds: Sequence[float]) -> float:
    return sorted(seconds)[int(0.95 * (len(seconds) - 1))]


def _peak_mb(process: psutil.Process) -> float:
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1000  # type: ignore[index]


def _filters(places: Sequence[str], rng: random.Random) -> Iterator[str]:
    """Addresses of lists as a person would ask for them."""
    runs = urlencode([("run", place) for place in places])
    for task in _TASKS:
        yield f"{runs}&tag={quote(f'task={task}')}"
        yield f"{runs}&tag={quote(f'task={task}')}&fate=wrong&sort=-tokens"
    for word in rng.sample(_WORDS, 8):
        yield f"{runs}&words={word}"
        yield f"{runs}&words={word}+{rng.choice(_WORDS)}&fate=wrong"
    yield from (f"{runs}&flip={kind}" for kind in ("any", "lost", "won"))
    yield from (f"{runs}&{flag}=1" for flag in ("readers", "judges", "cut"))
    yield from (f"{runs}&sort={sort}" for sort in ("latency", "-latency", "tokens", "margin"))
    yield from (f"{runs}&page={page}" for page in (2, 100, 500))


def view(bench: Bench) -> list[Row]:
    """26,806 questions in three runs, looked at in the browser."""
    return measured(bench.folder / "studio")


def measured(folder: Path) -> list[Row]:
    """The same in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    runs, cache = make_runs(folder), folder / "cache"
    for path in (cache / "viewer").glob("*"):
        path.unlink()
    rng, rows = random.Random(3), []
    with viewer(runs, cache) as (client, process):
        began = time.perf_counter()
        body, first_s = client.get("/runs")
        places = _PLACE.findall(body)
        query = urlencode([("run", place) for place in places])
        progress = [client.get(f"/items?{query}")]
        while "stored rows are read" in progress[-1][0]:
            time.sleep(0.2)
            progress.append(client.get(f"/items?{query}"))
        whole_s = time.perf_counter() - began
        while "not all are compared yet" in client.get(f"/items?{query}")[0]:
            time.sleep(1.0)
        all_s, cpu_s = time.perf_counter() - began, sum(process.cpu_times()[:2])
        rows += [
            below("(view) no index: the address is printed", client.address_s, 2.0, "s"),
            below("(view) no index: first page", first_s, 2.5, "s"),
            Row("(view) no index: pages of progress, p95", f"{_p95([s for _, s in progress]):.2f} s"),
            Row("(view) no index: all rows of 3 x 26,806 are read", f"{whole_s:.1f} s"),
            Row("(view) no index: all replies read by all readers", f"{all_s:.1f} s, {cpu_s:.1f} CPU-s"),
            below("(view) memory while the index is made", _peak_mb(process), 400, "MB"),
        ]
    with viewer(runs, cache) as (client, process):
        _, first_s = client.get("/runs")
        _, list_s = client.get(f"/items?{query}")
        lists = [client.get(f"/items?{query}&page={page}")[1] for page in (1, 2, 3, 4, 5, 6, 7, 8)]
        filtered = [client.get(f"/items?{asked}") for asked in _filters(places, rng)]
        links = [link for body, _ in filtered for link in _HREF.findall(body)]
        items = [client.get(link.replace("&amp;", "&"))[1] for link in rng.sample(links, 100)]
        rows += [
            below("(view) index kept: the address is printed", client.address_s, 2.0, "s"),
            below("(view) index kept: page of runs, the first page of a process", first_s, 0.3, "s"),
            below("(view) index kept: first list", list_s, 0.3, "s"),
            below("(view) lists after it, p95", _p95(lists), 0.3, "s"),
            below(f"(view) {len(filtered)} filters, p95", _p95([s for _, s in filtered]), 0.5, "s"),
            below("(view) the slowest filter", max(s for _, s in filtered), 1.0, "s"),
            below("(view) 100 single questions beside each other in 3 runs, p95", _p95(items), 0.5, "s"),
            below("(view) memory of lists and questions", _peak_mb(process), 400, "MB"),
        ]
        began = time.perf_counter()
        while "are being made" in client.get(f"/run/{places[0]}/report")[0]:
            time.sleep(0.2)
        rows.append(
            Row("(view) the tables of one run, in the background", f"{time.perf_counter() - began:.1f} s")
        )
        rows.append(Row("(view) memory with them", f"{_peak_mb(process):.0f} MB"))
    return rows


ALL = (view,)


def main() -> int:
    """Measure and print."""
    from run import as_markdown

    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent / ".data" / "studio")
    print(as_markdown(measured(parser.parse_args().folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
