"""Questions of any file for gates: with two to five choices, and a reader who knows some of them."""

from pathlib import Path

from vidence.records import Item, Media

READER = """
import hashlib
import json
import re

def reader(prompt, choices, sample):
    if "known" in prompt:
        right = next(i for i, text in enumerate(choices) if text.startswith("true"))
    else:
        right = int(hashlib.sha256(f"{prompt} {sample}".encode()).hexdigest(), 16) % len(choices)
    return f"Answer: {'ABCDE'[right]}"

def talker(prompt, choices):
    if choices:
        return "Answer: A"
    said = {"alike": "an object", "odd": "a riddle", "known": "A Thing."}
    return "Answer: " + next((text for word, text in said.items() if word in prompt), "a cloud")

def grader(prompt):
    marked, said = re.search(r'<reply id="(\\w+)">\\n"(.*)"', prompt).groups()
    if "riddle" in said:
        return "I cannot tell whether these are the same."
    correct = "object" in said
    return json.dumps({"id": marked, "extracted_answer": said, "reason": "so", "correct": correct})

def strict(prompt):
    marked, said = re.search(r'<reply id="(\\w+)">\\n"(.*)"', prompt).groups()
    return json.dumps({"id": marked, "extracted_answer": said, "reason": "so", "correct": False})
"""


def write_reader(folder: Path) -> Path:
    """The file of the readers: ``reader`` knows what says that it is known, and guesses else."""
    path = folder / "readers.py"
    path.write_text(READER)
    return path


def question(number: int, *, n_choices: int = 5, words: str = "", **changes: object) -> Item:
    """A question with its right choice at a place that depends on its number."""
    right = number % n_choices
    choices = [f"{'true' if i == right else 'false'} thing {number} {i}" for i in range(n_choices)]
    settings: dict[str, object] = {
        "item_id": f"q{number}",
        "media": (Media(path=f"clip-{number // 4}.mp4"),),
        "question": f"What is shown in scene {number}{words and ', ' + words}?",
        "choices": tuple(choices),
        "answer": "ABCDE"[right],
        "tags": {"task": "t"},
    }
    return Item(**settings | changes)
