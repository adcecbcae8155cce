"""Run the benches and write bench/RESULTS.md.

python bench/run.py [--only load_a,start] [--without-decode]
"""

import argparse
import datetime
import sys
from pathlib import Path

import answers
import choosing
import cluster
import compose
import diagnose
import gpu
import harness
import make
import measure
import peers
import pointlight
import studio
import studio_load
import studio_pages
import study_load

HERE = Path(__file__).parent
DATA = HERE / ".data"


def as_markdown(rows: list[harness.Row]) -> str:
    """A table of figures and targets."""
    lines = ["| what | measured | target | holds |", "|---|---|---|---|"]
    names = {True: "yes", False: "**no**", None: ""}
    lines += [f"| {r.what} | {r.measured} | {r.target} | {names[r.holds]} |" for r in rows]
    return "\n".join(lines)


def main() -> int:
    """Measure everything that is asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--without-decode", action="store_true")
    options = parser.parse_args()
    facts = measure.machine()
    measures = (
        *harness.ALL,
        *peers.ALL,
        *diagnose.ALL,
        *choosing.ALL,
        *gpu.ALL,
        *pointlight.ALL,
        *make.ALL,
        *answers.ALL,
        *compose.ALL,
        *studio.ALL,
        *studio_load.ALL,
        *studio_pages.ALL,
        *study_load.ALL,
        *cluster.ALL,
    )
    chosen = [f for f in measures if not options.only or f.__name__ in options.only.split(",")]
    rows: list[harness.Row] = []
    DATA.mkdir(exist_ok=True)
    with measure.stub_server(DATA) as stub:
        bench = harness.Bench(folder=DATA, stub=stub)
        for function in chosen:
            found = function(bench)
            rows += found
            print(as_markdown(found), flush=True)
    today = datetime.datetime.now(tz=datetime.UTC).date()
    missed = [r.what for r in rows if r.holds is False]
    text = f"# Measured\n\n{today}, {facts}.\n\n## The harness\n\n{as_markdown(rows)}\n"
    if not options.without_decode and not options.only:
        import decode

        tables, misses = decode.report()
        text += f"\n## Sparse reading\n\n{tables}\n"
        missed += misses
    if not options.only:
        (HERE / "RESULTS.md").write_text(text, encoding="utf-8")
    print(f"targets missed: {'; '.join(missed) if missed else 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
