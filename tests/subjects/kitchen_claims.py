"""What the choices of a question about a planted log claim, held against the plan of the log."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise, product

from subjects.planted_kitchens import Kitchen, plain
from vidence.errors import DataError

Claim = Callable[[str], bool]
_LISTED = re.compile(r"^\d+\. (.+)$", re.MULTILINE)
_QUOTED = re.compile(r"'(.+?)'")
_ARROW = " -> "


def true_choices(
    kitchen: Kitchen, question: str, *, choices: Sequence[str], task: str, structure: str
) -> tuple[bool, ...]:
    """Which choices of a question say what was planted; for the tasks AC, ASII and FAM.

    Args:
        kitchen: the video that is asked about.
        question: its words.
        choices: what can be answered.
        task: the short name of the task.
        structure: its form.

    Raises:
        DataError: a task or form of which nothing is known here.
    """
    if (task, structure) == ("AC", "most-often"):
        counts = [_count(kitchen, choice) for choice in choices]
        return tuple(n == max(counts) for n in counts)
    is_true = _claim(kitchen, question, task=task, structure=structure)
    return tuple(is_true(choice) for choice in choices)


def _claim(kitchen: Kitchen, question: str, *, task: str, structure: str) -> Claim:
    match task, structure:
        case "AC", "pair" | "verb":
            n = n_done(kitchen, question, structure=structure)
            return lambda choice: int(choice) == n
        case "ASII", "same-events":
            texts = _LISTED.findall(question)
            return lambda choice: _happens(kitchen, [texts[int(n) - 1] for n in choice.split(_ARROW)])
        case "ASII", "own-events":
            return lambda choice: _happens(kitchen, choice.split(_ARROW))
        case "ASII", "between":
            first, last = _QUOTED.findall(question)
            return lambda choice: _happens(kitchen, [first, *choice.split(_ARROW), last])
        case "FAM", "absent":
            return lambda choice: _count(kitchen, choice) == 0
        case "FAM", "which-of-four":
            done = [_count(kitchen, words) > 0 for words in _LISTED.findall(question)]
            real = {i for i, is_done in enumerate(done, 1) if is_done}
            return lambda choice: {int(n) for n in re.findall(r"\d+", choice)} == real
    raise DataError(f"nothing is planted for the task {task!r} in the form {structure!r}")


def n_done(kitchen: Kitchen, question: str, *, structure: str) -> int:
    """How often what a question of AC quotes is done.

    Raises:
        DataError: nothing is quoted.
    """
    quoted = _QUOTED.findall(question)
    if not quoted:
        raise DataError(f"no deed is quoted in {question!r}")
    deed = plain(quoted[0])
    return kitchen.n_of_verb(deed) if structure == "verb" else _count(kitchen, deed)


def _count(kitchen: Kitchen, words: str) -> int:
    return len(kitchen.starts_s(words))


def _happens(kitchen: Kitchen, deeds: Sequence[str]) -> bool:
    """Whether deeds of these words happen in this order somewhere in the video."""
    starts = [kitchen.starts_s(words) for words in deeds]
    return any(all(a < b for a, b in pairwise(times)) for times in product(*starts))
