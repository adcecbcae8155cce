"""What the choices of a question about a drawn street claim, held against the plan of the street.

Nothing here looks at boxes, tracks or pictures: words are taken apart, and the truth is that of the plan.
"""

import re
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise

from subjects.streets import EDGE_NAMES, FIGURE_PX, HEIGHT_PX, WIDTH_PX, EdgeName, Passer, Street
from vidence.errors import DataError

Claim = Callable[[str], bool]
TIE_S = 3.0  # HERBench, figure 11: times that differ by less count as the same
_LISTED = re.compile(r"^\d+\. (.+)$", re.MULTILINE)
_EDGE = re.compile(r"\bthe (left|right|top|bottom) edge\b")


def true_choices(
    street: Street, question: str, *, choices: Sequence[str], task: str, structure: str
) -> tuple[bool, ...]:
    """Which choices of a question say what was planted; for the tasks RLPC, MPDR and MEGL.

    Args:
        street: the film that is asked about.
        question: its words.
        choices: what can be answered.
        task: the short name of the task.
        structure: its form.

    Raises:
        DataError: a task or form of which nothing is known here, or words that are not understood.
    """
    readers = {"RLPC": _counted, "MPDR": _timed, "MEGL": _ways}
    if task not in readers:
        raise DataError(f"nothing is planted for the task {task!r}; expected one of {', '.join(readers)}")
    is_true = readers[task](street, question, structure)
    return tuple(is_true(choice) for choice in choices)


def _numbers(text: str) -> list[int]:
    return [int(one) for one in re.findall(r"\d+", text)]


def _unknown(what: str, text: str) -> DataError:
    return DataError(f"{what} is not understood: {text!r}")


def _counted(street: Street, question: str, structure: str) -> Claim:
    n = n_counted(street, question, structure=structure)

    def is_true(choice: str) -> bool:
        # "3 to 5", or "3" alone.
        ends = _numbers(choice)
        return ends[0] <= n <= ends[-1]

    return is_true


def n_counted(street: Street, question: str, *, structure: str) -> int:
    """How many figures of the plan come, go, or are where a question of RLPC says.

    Raises:
        DataError: the words are not understood.
    """
    edges = _EDGE.findall(question)
    match structure, edges:
        case "entered", [edge]:
            return sum(p.enters == edge for p in street.passers)
        case "left", [edge]:
            return sum(p.leaves == edge for p in street.passers)
        case "crossed", [comes, goes]:
            return sum((p.enters, p.leaves) == (comes, goes) for p in street.passers)
        case "visited", _:
            region = _region_px(question)
            return sum(_most_inside(p, region) >= 0.5 for p in street.passers)
    raise _unknown(f"a question of RLPC ({structure})", question)


def _region_px(question: str) -> tuple[float, float, float, float]:
    """Left, top, right, bottom of the part of the frame that a question names."""
    named = re.search(r"in the (.+?) (half|third|quarter) of the frame", question)
    if named is None:
        raise _unknown("a part of the frame", question)
    sides, part = named[1].split(), named[2]
    if part == "third" and sides == ["middle"]:
        is_across = "its left and its right" in question
        x, y = ((1, 2), (0, 3)) if is_across else ((0, 3), (1, 2))
        return x[0] * WIDTH_PX / 3, y[0] * HEIGHT_PX / 3, x[1] * WIDTH_PX / 3, y[1] * HEIGHT_PX / 3
    n = 3 if part == "third" else 2
    left, top, right, bottom = 0.0, 0.0, float(WIDTH_PX), float(HEIGHT_PX)
    for side in sides:
        left = WIDTH_PX * (n - 1) / n if side == "right" else left
        right = WIDTH_PX / n if side == "left" else right
        top = HEIGHT_PX * (n - 1) / n if side == "bottom" else top
        bottom = HEIGHT_PX / n if side == "top" else bottom
    return left, top, right, bottom


def _most_inside(passer: Passer, region_px: tuple[float, float, float, float]) -> float:
    """The largest share of a figure inside a part of the frame, over its whole time."""
    best = 0.0
    for frame in range(passer.first_frame, passer.last_frame + 1):
        box = passer.box_px(frame)
        if box is not None:
            wide = min(box[2], region_px[2]) - max(box[0], region_px[0])
            high = min(box[3], region_px[3]) - max(box[1], region_px[1])
            best = max(best, max(wide, 0) * max(high, 0) / (FIGURE_PX[0] * FIGURE_PX[1]))
    return best


def _listed(street: Street, question: str) -> list[Passer | None]:
    return [street.of(words) for words in _LISTED.findall(question)]


def _everybody(street: Street, question: str) -> list[Passer]:
    found = [passer for passer in _listed(street, question) if passer is not None]
    if len(found) < len(_LISTED.findall(question)):
        raise _unknown("somebody in a list", question)
    return found


def _timed(street: Street, question: str, structure: str) -> Claim:
    people = _everybody(street, question)
    starts = [street.start_s(p) for p in people]
    ends = [street.end_s(p) for p in people]
    lasting = [b - a for a, b in zip(starts, ends, strict=True)]
    values = {
        "longest": lasting,
        "shortest": [-one for one in lasting],
        "first-in": [-one for one in starts],
        "last-out": ends,
    }
    if structure == "order-in":
        return lambda choice: all(
            starts[b - 1] - starts[a - 1] >= TIE_S for a, b in pairwise(_numbers(choice))
        )
    if structure == "overlap":
        real = {
            frozenset((i + 1, j + 1))
            for i, j in combinations(range(len(people)), 2)
            if min(people[i].last_frame, people[j].last_frame)
            >= max(people[i].first_frame, people[j].first_frame)
        }
        return lambda choice: _together(choice) == real
    if structure not in values:
        raise _unknown("a form of MPDR", structure)
    best = max(values[structure])
    first = {i + 1 for i, value in enumerate(values[structure]) if best - value < TIE_S}
    return lambda choice: _said_first(choice, len(people)) == first


def _said_first(choice: str, n: int) -> set[int]:
    head = choice.partition("(")[0]
    return set(range(1, n + 1)) if head.startswith("All three") else set(_numbers(head))


def _together(choice: str) -> set[frozenset[int]]:
    every = {frozenset(pair) for pair in combinations((1, 2, 3), 2)}
    if choice == "No two of them":
        return set()
    if choice == "Every two of them":
        return every
    if choice.startswith("Only people"):
        return {frozenset(_numbers(choice))}
    apart = frozenset(_numbers(choice.partition("never")[2]))
    return every - {apart}


def _ways(street: Street, question: str, structure: str) -> Claim:
    listed = _listed(street, question)
    if structure == "which":
        there = {i for i, passer in enumerate(listed, 1) if passer is not None}
        return lambda choice: _is_set(choice, there)
    people = _everybody(street, question)
    if structure == "through":
        (edge,) = _EDGE.findall(question)
        gone = {i for i, passer in enumerate(people, 1) if passer.leaves == edge}
        return lambda choice: _is_set(choice, gone)
    if structure not in ("exits", "entries"):
        raise _unknown("a form of MEGL", structure)
    real = [p.leaves if structure == "exits" else p.enters for p in people]
    return lambda choice: _said_ways(choice) == real


def _is_set(choice: str, numbers: set[int]) -> bool:
    """Whether a choice names exactly these of the three that are listed."""
    if choice == "Fewer than two of them":
        return len(numbers) < 2
    if choice == "None of them":
        return not numbers
    return (numbers == {1, 2, 3}) if choice == "All three" else (numbers == set(_numbers(choice)))


def _said_ways(choice: str) -> list[EdgeName | None]:
    """The edges that a choice says two people pass; None for who is there from the start or stays."""
    parts = [choice, choice] if choice.startswith("Both") else choice.split(", person 2")
    return [next((edge for edge in EDGE_NAMES if f"the {edge} edge" in part), None) for part in parts]
