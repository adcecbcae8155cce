"""Files that the documentation's commands name and that others released: stand-ins in their layout."""

import gzip
import json
import re
import shutil
import zipfile
from pathlib import Path

import numpy as np

from subjects.mocap_files import amc, cmu_asf, cmu_bvh, write, write_c3d
from vidence.ask.prompting.released import released

LIMBS = {"Arm": "Oberarm", "ForeArm": "Unterarm", "Hand": "Hand"}
LIMBS |= {"UpLeg": "Bein", "Leg": "Wade", "Foot": "Fuss"}
"""The names of the map in docs/making/pointlight.md, by those of CMU's BVH."""
GERMAN = {
    **{"item_id": "q0", "source_id": "clip0", "media": [{"path": "clip0.mp4"}], "answer": "B"},
    **{"question": "Was steht vorn?", "choices": ["die Tasse", "der Krug"], "tags": {"language": "de"}},
}
ENGLISH = {"question": "What is in front?", "choices": ["the cup", "the jug"], "tags": {"language": "en"}}


def write_all(folder: Path) -> None:
    """Write all of them."""
    write_recordings(folder)
    write_prompts(folder)
    write_replies(folder)
    write(folder, "german.jsonl", json.dumps(GERMAN) + "\n")
    write(folder, "english.jsonl", json.dumps(GERMAN | ENGLISH) + "\n")


def in_cm(length: str) -> str:
    """A length that is in CMU's unit, in about as many centimetres."""
    return str(6 * float(length))


def write_recordings(folder: Path) -> None:
    """Motion as CMU released it, and a BVH with names that no map has: bodies that glide and bob."""
    t = np.arange(240) / 120
    rows = np.column_stack([10 * t, 17 + np.sin(t), *np.zeros((4, 240))]).tolist()
    beside = np.column_stack([10 * t, 17 + np.sin(t), np.full(240, 35), *np.zeros((3, 240))]).tolist()
    for name in ("02_01.amc", "02_04.amc"):
        write(folder, name, amc(rows))
    write(folder, "02.asf", cmu_asf())
    write(folder, "18_01.bvh", cmu_bvh(rows))
    write(folder, "19_01.bvh", cmu_bvh(beside))
    dance = cmu_bvh((6 * np.array(rows)).tolist()).replace("JOINT Head", "JOINT Kopf")
    dance = re.sub(r"OFFSET .*", lambda m: " ".join(["OFFSET", *map(in_cm, m[0].split()[1:])]), dance)
    for side in ("Left", "Right"):
        for name, own in LIMBS.items():
            dance = dance.replace(f"JOINT {side}{name}\n", f"JOINT {own}_{side[0]}\n")
    write(folder, "dance.bvh", dance)
    places = np.random.default_rng(0).normal(1000, 200, (1, 4, 3)) + np.arange(30)[:, None, None]
    marked = write_c3d(folder / "49_04.c3d", ["LKNE", "RKNE", "LANK", "RANK"], places)
    (folder / "49_04.c3d.gz").write_bytes(gzip.compress(marked.read_bytes()))
    with zipfile.ZipFile(folder / "walks.zip", "w") as archive:
        archive.writestr("03.asf", cmu_asf())
        archive.writestr("03_01.amc", amc(rows))


def write_prompts(folder: Path) -> None:
    """MMVU's repository, with prompts in words of our own under its names, and its data beside them."""
    shutil.copytree(folder / "MMVU", folder / "MMVU" / "data")
    for name in ("mmvu", "mmvu-judge"):
        for prompt in released()[name].prompts:
            path = folder / "MMVU" / prompt.file
            path.parent.mkdir(exist_ok=True)
            text = f'"""{" ".join(("Answer this.", *prompt.fill))}"""'
            text = f"Template({text})" if prompt.form == "template" else text
            with path.open("a", encoding="utf-8") as file:
                file.write(f"{prompt.variable} = {text}\n")
    write(folder, "cot.txt", "$question\n$optionized_str\nThink before you answer.")


def write_replies(folder: Path) -> None:
    """Questions and replies as VLM4D released them."""
    (folder / "vlm4d" / "direct").mkdir(parents=True)
    questions = [
        {"id": f"validation_{n}", "video": f"https://hub.example/resolve/main/videos_real/davis/{n // 2}.mp4"}
        | {"question_type": "multiple-choice", "question": f"Which way does the bus go in scene {n}?"}
        | {"choices": {"A": "left", "B": "right"}, "answer": "right"}
        for n in range(1, 41)
    ]
    with gzip.open(folder / "real_mc.json.gz", "wt", encoding="utf-8") as file:
        json.dump(questions, file)
    rng = np.random.default_rng(0)
    for m in range(8):
        right = rng.random(len(questions)) < 0.3 + m / 14
        replies = [
            {key: question[key] for key in ("id", "question", "choices")}
            | {"correct": bool(is_right)}
            | {"ground_truth_answer": "right", "response": "B: right" if is_right else "A: left"}
            for question, is_right in zip(questions, right, strict=True)
        ]
        with gzip.open(folder / "vlm4d" / "direct" / f"model{m}.json.gz", "wt", encoding="utf-8") as file:
            json.dump(replies, file)
