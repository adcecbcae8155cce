"""A hidden split of real clips: released, asked, submitted in Chromium, scored, and shown nowhere."""

import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import expect

from conftest import need
from servers.openai_stub import OpenAIStub
from vidence.report.opened_run import open_run

pytestmark = pytest.mark.parity

GUIDE = Path(__file__).parents[2] / "docs" / "studio" / "board.md"
PASSWORD = "correct horse battery"  # noqa: S105 - of tests
SENTINEL = "SENTINEL-5e83"
CLIPS = ("intel_one_by_one_person", "sintel_trailer", "big_buck_bunny")
N, N_RIGHT, POINTS = 12, 7, 58
LATER = "2999-12-31"
"""The end of the board of the guide, which is not to come while tests run."""


@pytest.fixture
def questions(data_dir, tmp_path):
    """Twelve of the questions on three clips; what would tell of their answers has a sentinel in it."""
    lines = need(data_dir / "questions.jsonl").read_text().splitlines()
    of_clips = [
        row for row in map(json.loads, lines) if any(clip in row["media"][0]["path"] for clip in CLIPS)
    ]
    rows = of_clips[:N]
    assert len({row["media"][0]["path"] for row in rows}) == len(CLIPS)
    for n, row in enumerate(rows):
        row["provenance"] = {"source": "own questions", "licence": "CC-BY-4.0"}
        row["tags"]["split"] = "test"
        row |= {"rationale": f"Because of {SENTINEL}-r{n}.", "steps": [f"Look for {SENTINEL}-s{n} first."]}
        row |= {"hints": [f"Mind {SENTINEL}-h{n}."], "knowledge": [f"https://example.org/{SENTINEL}-k{n}"]}
        row["evidence"] = [one | {"note": f"{SENTINEL}-e{n}: {one['note']}"} for one in row["evidence"]]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return rows


class Operator:
    """Follows the guide in a folder of its own, with the commands that stand there."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.log = folder, folder / "log"
        own = {name: folder / name.casefold() for name in ("TMPDIR", "HOME")}
        kept = {f"VIDENCE_{name}": folder / name.casefold() for name in ("CACHE", "STATE", "SETTINGS")}
        own["TMPDIR"].mkdir()
        self.env = {**os.environ, **{name: str(path) for name, path in (own | kept).items()}}
        blocks = re.findall(r"^```\n(.*?)^```", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
        self.lines = [line for block in blocks for line in block.splitlines()]

    def words(self, start: str, *more: object, instead: dict[str, str] | None = None) -> list[str]:
        """The words of the line of the guide that starts so, some in place of its own, and more."""
        [line] = [line for line in self.lines if line.startswith(f"vidence {start}")]
        words = shlex.split(line)[1:]
        return [*((instead or {}).get(word, word) for word in words), *map(str, more)]

    def do(self, start: str, *more: object, said: str = "", instead: dict[str, str] | None = None) -> str:
        """What a command of the guide prints."""
        return self.call(self.words(start, *more, instead=instead), said=said)

    def call(self, words: list[str], *, said: str = "") -> str:
        """What a command prints; what it says beside goes into the log."""
        done = subprocess.run(
            [sys.executable, "-m", "vidence", *words],
            cwd=self.folder,
            env=self.env,
            input=said,
            capture_output=True,
            text=True,
            check=False,
        )
        with self.log.open("a") as log:
            log.write(done.stdout + done.stderr)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout


def asked_by_a_model(operator: Operator, rows: list[dict], data_dir: Path) -> None:
    """Ask a model that is right on the first questions and wrong on the others; it is sent frames."""
    pictures: dict[str, tuple[str, ...]] = {}

    def answer(body) -> str:
        parts = body["messages"][-1]["content"]
        words = " ".join(part["text"] for part in parts if part["type"] == "text")
        [(n, row)] = [(n, row) for n, row in enumerate(rows) if row["question"] in words]
        urls = tuple(part["image_url"]["url"] for part in parts if part["type"] == "image_url")
        pictures[row["item_id"]] = urls
        return f"Answer: {row['answer'] if n < N_RIGHT else 'BCDEA'['ABCDE'.index(row['answer'])]}"

    with OpenAIStub(answer=answer) as server:
        model = f"openai:m?base_url={server.base_url}"
        operator.do("run", "--frames", 2, instead={"openai:gpt-4.1": model, ".": str(data_dir)})
    assert {len(urls) for urls in pictures.values()} == {2}
    assert (len(pictures), len(set(pictures.values()))) == (N, len(CLIPS)), "it is shown the clip of each"


def submitted(page, url: str, file: Path) -> list[str]:
    """Send a file on the page Submit, as Ann does; the pages that she saw."""
    page.goto(f"{url}/sign-in?next=/board/submit")
    page.get_by_label("Name").fill("Ann")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("Password").press("Enter")
    page.get_by_label("Answers").set_input_files(file)
    page.get_by_role("button", name="Submit").press("Enter")
    expect(page.get_by_role("region", name="Submissions")).to_contain_text("queued")
    expect(page.locator("main")).to_contain_text("may send 1 more today")
    return [page.content()]


def secrets_of(vault: Path) -> set[bytes]:
    """What may be nowhere else: sentinels, salts, the secret that these are of."""
    salts = {json.loads(line)["salt"].encode() for line in (vault / "answers.jsonl").read_text().splitlines()}
    assert len(salts) == N
    return {SENTINEL.encode(), (vault / "secret").read_bytes().strip(), *salts}


def test_a_hidden_split_is_asked_submitted_and_scored_with_its_answers_in_the_vault_alone(
    questions, data_dir, tmp_path, serve, page, monkeypatch, capfd
):
    operator, vault = Operator(tmp_path), tmp_path / "vault"
    operator.do("items release")
    [move] = [line for line in operator.lines if line.startswith("mv ")]
    shutil.move(*(tmp_path / word for word in shlex.split(move)[1:]))
    (tmp_path / "questions.jsonl").rename(vault / "questions.jsonl")  # the operator's own
    operator.do("items board open", instead={"2026-12-31": LATER})
    operator.do("studio user", "--password-stdin", said=PASSWORD + "\n")
    with ThreadPoolExecutor(1) as threads:  # in this thread runs the loop of the browser
        threads.submit(asked_by_a_model, operator, questions, data_dir).result()

    monkeypatch.chdir(tmp_path)
    for name, value in operator.env.items():
        monkeypatch.setenv(name, value)
    served = serve(*operator.words("studio serve", "--port", 0))
    seen = submitted(page, served.url, tmp_path / "runs" / "test" / "submission.jsonl")
    assert operator.do("items board score", "--once") == "Red: scored\n"
    page.goto(f"{served.url}/board")
    cells = page.get_by_role("region", name="Scores").locator("tbody tr").locator("th, td")
    assert cells.all_inner_texts()[:3] == ["1", "Red", f"{POINTS}"]
    seen.append(page.content())
    page.goto(f"{served.url}/board/submit")
    expect(page.get_by_role("region", name="Submissions")).to_contain_text(f"{POINTS} points")
    seen.append(page.content())

    operator.call(["items", "score", "runs/test", "--answers", "vault", "--out", "vault/home"])
    score = open_run(vault / "home").accuracy.value
    assert (round(100 * score), score) == (POINTS, pytest.approx(N_RIGHT / N))

    with sqlite3.connect(tmp_path / "lab" / "studio.sqlite3") as database:
        [(items,)] = database.execute("SELECT items FROM studio_leaderboardrow")
    assert [json.loads(line).get("answer", "") for line in items.splitlines()] == [""] * N
    served.process.terminate()
    served.process.wait(timeout=20)
    printed = served.process.stdout.read() + "".join(capfd.readouterr())
    (tmp_path / "served").write_text("\n".join([*seen, printed]))
    in_files = {path for path in tmp_path.rglob("*") if path.is_file()}
    found = {
        path.relative_to(tmp_path)
        for path in in_files
        if any(secret in path.read_bytes() for secret in secrets_of(vault))
    }
    assert {path.parts[0] for path in found} == {"vault"}, found
    assert b"clips-01" in (tmp_path / "lab" / "studio.sqlite3").read_bytes(), "files are as they can be read"
    scanned = {path.relative_to(tmp_path).parts[0] for path in in_files}
    assert scanned >= {"lab", "log", "releases", "runs", "served", "vault", "cache"}
    operator.call(["items", "release", "releases/questions-1.0.0", "--scan", "vault"])
