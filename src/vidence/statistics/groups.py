"""Scores of groups of questions that belong together, such as the pairs of VinoGround."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from vidence.errors import UsageError

RELEVANCE: Final = "relevance"
"""The structure of a group whose questions can be answered in any order."""
_MARKS: Final[Mapping[str, tuple[float, ...]]] = {
    "[1,2,3,4]": (0, 1 / 16, 4 / 16, 9 / 16, 1),
    "[1,[2,3],4]": (0, 1 / 12, 4 / 12, 7 / 12, 1),
    "[[1,2],3,4]": (0, 0.1, 0.2, 0.5, 1),
}
# Of two questions side by side the later one counts alone: what is right there, and what it counts as.
_LATER: Final = {("[1,[2,3],4]", (True, False, True)): 2, ("[[1,2],3,4]", (False, True)): 1}


def all_right(scores: Sequence[float], structure: str = "") -> float:
    """1 where every question of a group is right, else 0.

    Source: VinoGround, section 3.3 (text, video and group score); VideoMathQA (multi-binary).
    """
    return float(all(score == 1 for score in scores))


def graded(scores: Sequence[float], structure: str) -> float | None:
    """The score of a group, 0 to 1, from its questions in order; None if the group is not whole.

    With the structure `RELEVANCE` it is the square of the share that is right. Otherwise it follows from how
    many are right before the first wrong one; of questions that stand side by side in the structure, one
    right counts.

    Source: Video-MME-v2, group-based non-linear score.

    Raises:
        UsageError: the structure is not known.

    >>> graded([1, 1, 0, 1], "relevance"), graded([1, 1, 0, 1], "[1,2,3,4]")
    (0.5625, 0.25)
    """
    right = tuple(score == 1 for score in scores)
    if structure == RELEVANCE:
        return (sum(right) / len(right)) ** 2
    marks = _MARKS.get(structure.replace(" ", ""))
    if marks is None:
        raise UsageError(f"group structure {structure!r}; expected {RELEVANCE}, or {', '.join(_MARKS)}")
    if len(marks) != len(right) + 1:
        return None
    n_first = right.index(False) if False in right else len(right)
    later = (n for (of, begin), n in _LATER.items() if marks is _MARKS[of] and right[: len(begin)] == begin)
    return marks[next(later, n_first)]


GroupRule: TypeAlias = Callable[[Sequence[float], str], float | None]
"""The score of a group of the scores of its questions and its structure."""
_RULES: Final[Mapping[str, GroupRule]] = {"all": all_right, "graded": graded}


def group_rule(average: str) -> tuple[GroupRule, str] | None:
    """The rule and the tag of the averages ``all:TAG`` and ``graded:TAG``; None for others.

    >>> group_rule("all:pair")[1], group_rule("macro:task")
    ('pair', None)
    """
    kind, _, tag = average.partition(":")
    return (_RULES[kind], tag) if kind in _RULES else None
