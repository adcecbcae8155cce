"""Made-up data of five papers' benchmarks in their own formats, and what models are recorded to say of it."""

import csv
import json
import random
from pathlib import Path

from vidence import catalog
from vidence.ask.benchmarks.humanpcr import DIMENSIONS
from vidence.ask.benchmarks.paper_facts import paper_facts
from vidence.records import Item

SPLITS = {
    "actpld": "all",
    "herbench": "all",
    "humanpcr": "all",
    "mmvu": "validation",
    "perceptioncomp": "all",
}
SUBJECTS = ("Art", "Chemistry", "Civil Engineering", "Computer Science", "Law", "Neurobiology", "Pharmacy")
CATEGORIES = ("outdoor tour", "shopping", "sports", "home tour", "variety show", "game", "movie")
ACTIONS = ("walk", "run", "wave", "bow", "meet", "greet", "race", "lift", "kneel", "throw")
COLOURS = ("red", "green", "blue", "black", "white")
PROSE = "The man in the first frame seems to look for a thing that he has lost, and it is hard to say more."


def write_data(benchmark: str, folder: Path, n: int) -> Path:
    """Write about `n` questions in the format of a benchmark; returns what ``--data`` takes."""
    folder.mkdir(parents=True)
    match benchmark:
        case "actpld":
            return _lights(folder, n // 4)
        case "herbench":
            return _tasks(folder, n)
        case "humanpcr":
            return _levels(folder, n)
        case "mmvu":
            return _json(folder / "validation.json", [_of_mmvu(i) for i in range(n)])
        case _:
            return _json(folder / "1-1114.json", [_of_perceptioncomp(i) for i in range(n)])


def _json(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text(json.dumps(rows))
    return path


def _of_mmvu(i: int) -> dict[str, object]:
    is_open = i % 3 == 2
    subject = SUBJECTS[i % len(SUBJECTS)]
    return {
        "id": f"validation_{i}",
        "video": f"https://huggingface.co/datasets/yale-nlp/MMVU/resolve/main/videos/{subject}/{i // 3}.mp4",
        "youtube_url": f"https://youtu.be/{i // 3}",
        "question_type": "open-ended" if is_open else "multiple-choice",
        "metadata": {"subject": subject, "textbook": "A Made-up Handbook", "rationale": "It is seen."},
        "question": f"What is shown in clip {i}?",
        "choices": dict(zip("ABCDE", ("",) * 5 if is_open else COLOURS, strict=True)),
        "answer": "linocut" if is_open else "ABCDE"[i % 5],
    }


def _of_perceptioncomp(i: int) -> dict[str, object]:
    return {
        "key": str(i + 1),
        "video_id": f"tour {i // 3}",
        "question": f"What colour has thing {i}?",
        **{f"answer_choice_{k}": colour for k, colour in enumerate(COLOURS)},
        "answer_id": i % 5,
        "answer": COLOURS[i % 5],
        "category": CATEGORIES[i % len(CATEGORIES)],
        "difficulty": 1 + i % 3,
    }


def _tasks(folder: Path, n: int) -> Path:
    (folder / "tasks").mkdir()
    names = [found[0] for found in paper_facts("herbench").lists["tasks"].values()]
    for k, name in enumerate(names):
        rows: list[dict[str, object]] = [
            {
                "video_id": f"v{i // 4}",
                "video_path": f"videos/HD_EPIC/v{i // 4}.mp4",
                "question_id": f"{k}_{i:04}",
                "question": f"What colour has thing {i} of {k}?",
                "answer_text": COLOURS[i % 5],
                "answer_choice": "ABCDE"[i % 5],
                "answer_index": i % 5,
                "candidates": [
                    f"{letter}. {colour}" for letter, colour in zip("ABCDE", COLOURS, strict=True)
                ],
                "task_type": name,
                "metadata": {"timestamps": ["00:01.5-00:01.7"], "source_dataset": "HD_EPIC"},
            }
            for i in range(n // len(names))
        ]
        _json(folder / "tasks" / f"{name.lower().replace(' ', '_')}.json", rows)
    return folder


def _levels(folder: Path, n: int) -> Path:
    tasks = [
        (level, name, f"{name} {k}")
        for level, found in DIMENSIONS.items()
        for name, n_tasks in found.items()
        for k in range(n_tasks)
    ]
    lines: dict[str, list[str]] = {"perception": [], "comprehension": [], "reasoning": []}
    for i in range(n):
        shared = {"id": f"h{i}", "media": [{"path": f"videos/{i // 2}.mp4"}], "question": f"What of {i}?"}
        if i % 4 == 3:
            reasoning, domain = ("Prediction", "Planning")[i % 8 // 4], ("Sports", "Household")[i % 3 // 2]
            row = {"level": "reasoning", "reasoning": reasoning, "domain": domain, "answer": "linocut"}
        else:
            level, dimension, task = tasks[i % len(tasks)]
            row = {"level": level, "dimension": dimension, "task": task, "answer": "ABCDE"[i % 5]}
            row |= {"options": COLOURS}
        lines[row["level"]].append(json.dumps(shared | row))
    for name, level in (("p", "perception"), ("c", "comprehension"), ("r", "reasoning")):
        (folder / f"human-{name}.jsonl").write_text("\n".join(lines[level]))
    return folder


def _lights(folder: Path, n: int) -> Path:
    with (folder / "labels.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [
                ("target", "name", "group"),
                *(("label", name, f"g{i % 5}") for i, name in enumerate(ACTIONS)),
                *(("intention", f"to {name}", f"g{i % 5}") for i, name in enumerate(ACTIONS)),
            ]
        )
    with (folder / "clips.csv").open("w", newline="") as file:
        rows = [
            (f"c{i}", f"clips/c{i}.mp4", ("single", "social")[i % 2], name, f"to {name}")
            for i in range(n)
            for name in (ACTIONS[i % len(ACTIONS)],)
        ]
        csv.writer(file).writerows([("clip_id", "path", "set", "label", "intention"), *rows])
    return folder


def write_replies(benchmark: str, data: Path, path: Path, *, right: float, n_repeats: int = 1) -> Path:
    """Write replies of a model that is right so often, and sometimes refuses or says nothing readable."""
    rng = random.Random(path.name)
    loaded = catalog.create("benchmark", benchmark).load(data, split=SPLITS[benchmark])
    rows = [
        {"item_id": item.item_id, "repeat": k, "text": _reply(item, right, rng)}
        for item in loaded.items
        for k in range(n_repeats)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def _reply(item: Item, right: float, rng: random.Random) -> str:
    drawn = rng.random()
    if drawn > 0.97:
        return "I'm sorry, but I can't help with that."
    if drawn > 0.92:
        return PROSE
    is_right = drawn < right
    if item.answer_kind != "choice":
        return item.answer if is_right else "a rotating thing"
    others = [letter for letter in item.letters if letter != item.answer]
    return f"Answer: {item.answer if is_right else rng.choice(others)}"
