"""What a diagnostic costs: MRFS of 1,600 HERBench-shaped questions against the same asks posted bare."""

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import clips
import measure
from harness import HERE, N_ROUNDS, VIDENCE, Bench, Row, below, cpu_wall, least_cpu_s, least_wall_s, passes
from measure import Taken

N_CLIPS, N_QUESTIONS, MOST = 20, 80, 16
# How many frames the questions about a clip need, in turn. 0: answered without; 99: not with all of them.
NEEDS = (0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 12, 14, 99, 99)


def make_questions(folder: Path) -> Path:
    """Questions with five choices, of which the second is right, with the number of frames in their words."""
    load = clips.make_load(folder, n_clips=N_CLIPS, n_questions=N_QUESTIONS)
    path = folder / "questions-mrfs.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number, line in enumerate(load.read_text(encoding="utf-8").splitlines()):
            item = json.loads(line)
            item["question"] += f" [needs {NEEDS[number % len(NEEDS)]}]"
            item["choices"] = ["a car", "a dog", "a patch", "a sign", "nothing"]
            item["answer"] = "B"
            file.write(json.dumps(item) + "\n")
    return path


def diagnosed(bench: Bench, questions: Path) -> Taken:
    """``vidence diagnose mrfs`` with empty caches; its findings lie in the folder "mrfs"."""
    out, cache = bench.fresh("mrfs"), bench.fresh("cache")  # the reply memory lies in the cache
    fixed = ["--data", str(questions), "--model", f"openai:stub?base_url={bench.stub.address}/v1"]
    more = ["--frames", str(MOST), "--size", "short:720", "--out", str(out)]
    command = [str(VIDENCE), "diagnose", "mrfs", "table", *fixed, *more, "--no-page"]
    taken = measure.run(command, env={"VIDENCE_CACHE": str(cache)}, stub=bench.stub)
    if taken.returncode != 0:
        raise RuntimeError(f"{command} gave {taken.returncode}:\n{taken.output[-3000:]}")
    return taken


def floor_of(bench: Bench, questions: Path, asks: dict[str, dict[str, object]]) -> Taken:
    """The same bodies from a bare client."""
    prompts = bench.folder / "prompts.json"
    prompts.write_text(json.dumps(asks))
    floor_command = [sys.executable, str(HERE / "floor.py"), str(questions)]
    floor = measure.run([*floor_command, bench.stub.address + "/v1", str(prompts)], stub=bench.stub)
    if floor.returncode != 0:
        raise RuntimeError(f"the floor gave {floor.returncode}:\n{floor.output[-3000:]}")
    return floor


def mrfs(bench: Bench) -> list[Row]:
    """20 clips x 80 questions, nested-bisect with 16 frames: asks, passes over videos, wall over floor.

    Both are measured three times, in turns, and the least of each is compared.
    """
    questions = make_questions(bench.folder / "clips")
    run = bench.folder / "mrfs"
    bench.stub.set(by_frames=True)
    takes, floors = [], []
    for _ in range(N_ROUNDS):
        takes.append(diagnosed(bench, questions))
        floors.append(floor_of(bench, questions, asks_of(questions, run)))
    bench.stub.set()
    taken, floor = takes[-1], floors[-1]
    wall, cpu = least_wall_s(takes) / least_wall_s(floors), least_cpu_s(takes) / least_cpu_s(floors)
    same = taken.stats["bodies_checksum"] == floor.stats["bodies_checksum"]
    n_items, n_asks = N_CLIPS * N_QUESTIONS, taken.stats["requests"]
    wrong = [name for name, found in findings_of(run).items() if found["mrfs"] != planted(name)]
    return [
        Row("(mrfs) cold", cpu_wall(taken)),
        Row("(mrfs) floor", cpu_wall(floor)),
        Row("(mrfs) MB sent", f"{taken.stats['body_bytes'] / 1e6:.0f}"),
        below("(mrfs) asks per question, of 1,600", n_asks / n_items, 6, ""),
        Row(
            "(mrfs) asks that were repeated",
            str(taken.stats["repeated_bodies"]),
            "0",
            not taken.stats["repeated_bodies"],
        ),
        below("(mrfs) passes over each video", passes(taken.output) / N_CLIPS, 1, ""),
        Row("(mrfs) demands other than those planted", str(len(wrong)), "0", not wrong),
        Row("(mrfs) cold and floor post the same bodies", str(same), "True", same),
        below("(mrfs) wall / floor, least of 3", wall, 1.5, "x"),
        below("(mrfs) CPU / floor, least of 3", cpu, 1.5, "x"),
    ]


def planted(item_id: str) -> int | None:
    """What the words of a question say that it needs."""
    clip, question = map(int, item_id.split("-"))
    needed = NEEDS[(clip * N_QUESTIONS + question) % len(NEEDS)]
    return needed if needed <= MOST else None


def findings_of(run: Path) -> dict[str, dict]:
    """What was found of each question, out of the file of the run."""
    with closing(sqlite3.connect(f"file:{run / 'run.sqlite'}?mode=ro", uri=True)) as db:
        rows = db.execute("SELECT item_id, json FROM findings").fetchall()
    return {name: json.loads(text)["finding"] for name, text in rows}


def asks_of(questions: Path, run: Path) -> dict[str, dict[str, object]]:
    """For every question the frames of its ranking in the order of time, and each ask."""
    import msgspec

    from vidence.ask.prompting.templates import Templates
    from vidence.ask.selection.ranking import spread
    from vidence.records import Item

    templates = Templates.load("plain")
    items = [msgspec.json.decode(line, type=Item) for line in questions.read_bytes().splitlines()]
    asked = {name: found["asked"] for name, found in findings_of(run).items()}
    n_of_clip = clips.FPS * 60
    indices = [int(n_of_clip * (i + 0.5) / MOST) for i in range(MOST)]
    order = spread(MOST).tolist()
    return {
        item.item_id: {
            "frames": indices,
            "asks": [
                {
                    "words": templates.fill("choice-direct", item, n_frames=n, duration_s=60.0),
                    "positions": sorted(order[:n]),
                }
                for n in asked[item.item_id]
            ],
        }
        for item in items
    }


ALL = (mrfs,)
