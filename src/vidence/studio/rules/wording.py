"""The draft of one item, as the fields of a form hold it: also what cannot be used.

And what differs between two wordings, field by field and word by word.
"""

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Final, Literal, TypeAlias

from vidence.records import Record

EvidenceKind: TypeAlias = Literal["referred", "proactive", "oracle"]
BOX: Final = ("x0", "y0", "x1", "y1")
"""The fields of a box on a picture: its left upper corner and its right lower one."""
MOST_FRAMES: Final = 256
"""How many frames one piece of evidence names at most."""
HINTS: Final = 3
"""The levels of hints; each is given with those below it."""
Change: TypeAlias = Literal["same", "out", "in"]
_PIECES: Final = re.compile(r"\s+|\w+|[^\w\s]")
_MOST_PIECES: Final = 4_000
"""Above this two texts are shown whole: comparing them word by word would take seconds."""
_WORDS: Final = {"right": "Right option", "wrong": "Wrong option"}


class Option(Record, omit_defaults=True):
    """An answer option. `id` is random; its position in a `Wording` determines whether it is right.

    `why` says of a wrong one why somebody would take it, `category` of which kind of answer it is.
    """

    id: str = ""
    text: str = ""
    category: str = ""
    why: str = ""


class Mark(Record, omit_defaults=True):
    """One piece of evidence: of which medium, from 0, from when to when in its seconds.

    `frames` are frames of it that show it, the best first, as `frame_numbers` reads them. `x0`, `y0`, `x1`
    and `y1` are a box on a picture in its pixels, from its left upper corner. `steps` are those that it
    supports, as `numbers` reads them.
    """

    medium: int = 0
    kind: EvidenceKind = "referred"
    start: str = ""
    end: str = ""
    frames: str = ""
    x0: str = ""
    y0: str = ""
    x1: str = ""
    y1: str = ""
    text: str = ""
    steps: str = ""

    @property
    def has_box(self) -> bool:
        """Whether anything is written of a box."""
        return any((self.x0, self.y0, self.x1, self.y1))


class Condition(Record, omit_defaults=True):
    """One condition of a composed question.

    `depends` are conditions before it, as `numbers` reads them, and `hands_on` is what it gives to later
    ones. `at`, `note` and `otherwise` are the counter-example: when there is a second candidate without it,
    which, and what the answer would be.
    """

    text: str = ""
    skill: str = ""
    depends: str = ""
    hands_on: str = ""
    at: str = ""
    note: str = ""
    otherwise: str = ""


class Knowledge(Record, omit_defaults=True):
    """A piece of knowledge that is needed, and the page that explains it."""

    title: str = ""
    url: str = ""


class Wording(Record, omit_defaults=True):
    """All that is written of one item. `right` and `wrong` are options, `answer` is that of an open question.

    `start` and `end` are the clip in seconds of the first medium. `program` is the composition as
    `vidence items prove` reads it. `changed` says what was changed after a return.
    """

    question: str = ""
    language: str = ""
    answer: str = ""
    category: str = ""
    right: Option = Option()
    wrong: tuple[Option, ...] = ()
    reasoning: str = ""
    steps: tuple[str, ...] = ()
    evidence: tuple[Mark, ...] = ()
    conditions: tuple[Condition, ...] = ()
    knowledge: tuple[Knowledge, ...] = ()
    hints: tuple[str, ...] = ()
    subject: str = ""
    textbook: str = ""
    chapter: str = ""
    concept: str = ""
    start: str = ""
    end: str = ""
    program: str = ""
    changed: str = ""


def seconds(text: str) -> float | None:
    """Parse seconds, or minutes and seconds; None if the text is neither.

    >>> seconds("12.5"), seconds("1:02.5"), seconds("soon"), seconds("-1")
    (12.5, 62.5, None, None)
    """
    minutes, colon, rest = text.strip().rpartition(":")
    if not _is_number(rest) or (colon and not (minutes.isascii() and minutes.isdecimal())):
        return None
    return float(rest) + 60 * int(minutes or 0)


def numbers(text: str) -> tuple[int, ...] | None:
    """Parse comma-separated positions counted from 1 into positions from 0; None if that fails.

    >>> numbers("1, 3"), numbers(""), numbers("one")
    ((0, 2), (), None)
    """
    numbers = [part.strip() for part in text.replace(";", ",").split(",") if part.strip()]
    if not all(
        name.isascii() and name.isdecimal() and 0 < len(name) < 4 and int(name) > 0 for name in numbers
    ):
        return None
    return tuple(dict.fromkeys(int(name) - 1 for name in numbers))


def frame_numbers(text: str) -> tuple[int, ...] | None:
    """Frames from 0 in the order in which they are written, each once; None if they are none.

    >>> frame_numbers("40, 7, 40"), frame_numbers(""), frame_numbers("1.5")
    ((40, 7), (), None)
    """
    numbers = text.replace(",", " ").replace(";", " ").split()
    if len(numbers) > MOST_FRAMES or not all(
        name.isascii() and name.isdecimal() and len(name) < 10 for name in numbers
    ):
        return None
    return tuple(dict.fromkeys(int(name) for name in numbers))


def box_of(mark: Mark) -> tuple[float, float, float, float] | None:
    """Parse the box of a piece of evidence; None if it is absent or not four numbers.

    >>> box_of(Mark(x0="10", y0="20", x1="30.5", y1="40")), box_of(Mark(x0="10"))
    ((10.0, 20.0, 30.5, 40.0), None)
    """
    messages = [name.strip() for name in (mark.x0, mark.y0, mark.x1, mark.y1)]
    if not all(_is_number(name) for name in messages):
        return None
    x0, y0, x1, y1 = (float(name) for name in messages)
    return x0, y0, x1, y1


def in_words(places: tuple[int, ...]) -> str:
    """Places as `numbers` reads them."""
    return ", ".join(str(place + 1) for place in places)


def _is_number(text: str) -> bool:
    whole, _, part = text.partition(".")
    return len(text) < 20 and text.isascii() and whole.isdecimal() and (not part or part.isdecimal())


# --------------------------------------------------------------------------- what differs


class DiffPart(Record):
    """Some signs of a text that stayed, went out or came in."""

    change: Change
    text: str


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
        words = _WORDS.get(of, of.replace("_", " ").capitalize())
        if parts and parts[0].isdecimal():
            words = f"{words} {int(parts.pop(0)) + 1}"
        return ", ".join((words, *(part.replace("_", " ") for part in parts if part != "text")))


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
