"""How much memory answers without end take, against the hostile server of the tests."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import measure
from harness import VIDENCE, Bench, Row, below

TESTS = Path(__file__).parents[1] / "tests"


@contextmanager
def hostile_server(folder: Path) -> Iterator[str]:
    """The address of the server; it is stopped at the end."""
    port_file = folder / "port"
    command = [sys.executable, "-m", "servers.hostile_stub", "--port-file", str(port_file)]
    with subprocess.Popen(command, cwd=TESTS) as process:
        while not port_file.exists():
            time.sleep(0.02)
        try:
            yield f"http://127.0.0.1:{port_file.read_text()}"
        finally:
            process.kill()


def endless(bench: Bench) -> list[Row]:
    """One answer of 1 MB that holds 1 GB, and 16 that never end, at the same time."""
    folder = bench.fresh("endless")
    rows = []
    with hostile_server(folder) as address:
        for what, mode, n, most_mb in (
            ("1 MB of gzip that holds 1 GB: memory", "gzip_bomb", 1, 150),
            ("16 answers without end: memory", "endless_body", 16, 700),
        ):
            questions = folder / f"{mode}.jsonl"
            row = {"choices": ["x", "y"], "answer": "A"}
            asked = [json.dumps(row | {"item_id": f"q{i}", "question": f"{i}?"}) for i in range(n)]
            questions.write_text("\n".join(asked))
            fixed = [
                "--data",
                str(questions),
                "--model",
                f"openai:m?base_url={address}/{mode}/v1",
                "--no-page",
            ]
            places = ["--out", str(folder / mode), "--set", f"memory={folder / mode}.sqlite"]
            taken = measure.run([str(VIDENCE), "run", "table", *fixed, *places])
            if taken.returncode != 3:
                raise RuntimeError(f"{mode} gave {taken.returncode}:\n{taken.output[-2000:]}")
            rows.append(below(what, taken.rss_mb, most_mb, "MB"))
    return rows


ALL = (endless,)
