"""What differs between two wordings, field by field and word by word."""

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Final, Literal, TypeAlias

from vidence.records import Record

Change: TypeAlias = Literal["same", "out", "in"]
_PIECES: Final = re.compile(r"\s+|\w+|[^\w\s]")
_MOST_PIECES: Final = 4_000
"""Above this two texts are shown whole: comparing them word by word would take seconds."""


class DiffPart(Record):
    """Some signs of a text that stayed, went out or came in."""

    change: Change
    text: str


_WORDS: Final = {"right": "Right option", "wrong": "Wrong option"}


class FieldDiff(Record):
    """One field that differs, with both of its texts."""

    name: str
    before: str
    after: str
    pieces: tuple[DiffPart, ...]

    @property
    def words(self) -> str:
        """The name as people say it; what stands several times is counted from one.

        >>> FieldDiff(name="wrong-0-text", before="", after="a", pieces=()).words
        'Wrong option 1'
        >>> FieldDiff(name="evidence-1-start", before="", after="2", pieces=()).words
        'Evidence 2, start'
        """
        of, *parts = self.name.split("-")
        said = _WORDS.get(of, of.replace("_", " ").capitalize())
        if parts and parts[0].isdecimal():
            said = f"{said} {int(parts.pop(0)) + 1}"
        return ", ".join((said, *(one.replace("_", " ") for one in parts if one != "text")))


def field_diffs(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[FieldDiff, ...]:
    """The fields that differ, in the order of the first and then of the second.

    >>> [one.name for one in field_diffs({"question": "Who?", "step-0": "a"}, {"question": "Who?"})]
    ['step-0']
    """
    return tuple(
        FieldDiff(
            name=name,
            before=before.get(name, ""),
            after=after.get(name, ""),
            pieces=tuple(word_diff(before.get(name, ""), after.get(name, ""))),
        )
        for name in {**before, **after}
        if before.get(name, "") != after.get(name, "")
    )


def word_diff(before: str, after: str) -> Iterator[DiffPart]:
    """The two texts as one, with what went out and came in.

    >>> [(one.change, one.text) for one in word_diff("a red cup", "a blue cup")]
    [('same', 'a '), ('out', 'red'), ('in', 'blue'), ('same', ' cup')]
    """
    first, second = _PIECES.findall(before), _PIECES.findall(after)
    if len(first) + len(second) > _MOST_PIECES:
        first, second = [before], [after]
    for _, from_, to, start, end in SequenceMatcher(a=first, b=second, autojunk=False).get_opcodes():
        out, come = "".join(first[from_:to]), "".join(second[start:end])
        if out == come:
            yield DiffPart(change="same", text=out)
            continue
        if out:
            yield DiffPart(change="out", text=out)
        if come:
            yield DiffPart(change="in", text=come)
