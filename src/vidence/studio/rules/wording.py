"""What somebody writes of one item, as the fields of a form hold it: also what cannot be used."""

from typing import Final, Literal, TypeAlias

from vidence.records import Record

EvidenceKind: TypeAlias = Literal["referred", "proactive", "oracle"]
BOX: Final = ("x0", "y0", "x1", "y1")
"""The fields of a box on a picture: its left upper corner and its right lower one."""
MOST_FRAMES: Final = 256
"""How many frames one piece of evidence names at most."""
HINTS: Final = 3
"""The levels of hints; each is given with those below it."""


class Option(Record, omit_defaults=True):
    """One option. `id` is drawn at random; whether it is right is said by where it stands in a `Wording`.

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
    `vidence prove` reads it. `changed` says what was changed after a return.
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
    """Seconds as somebody writes them: a number, or minutes and seconds; None where it is neither.

    >>> seconds("12.5"), seconds("1:02.5"), seconds("soon"), seconds("-1")
    (12.5, 62.5, None, None)
    """
    minutes, colon, rest = text.strip().rpartition(":")
    if not _is_number(rest) or (colon and not (minutes.isascii() and minutes.isdecimal())):
        return None
    return float(rest) + 60 * int(minutes or 0)


def numbers(text: str) -> tuple[int, ...] | None:
    """Places from 0 as somebody counts them from 1, with commas between; None where they are none.

    >>> numbers("1, 3"), numbers(""), numbers("one")
    ((0, 2), (), None)
    """
    said = [one.strip() for one in text.replace(";", ",").split(",") if one.strip()]
    if not all(one.isascii() and one.isdecimal() and 0 < len(one) < 4 and int(one) > 0 for one in said):
        return None
    return tuple(dict.fromkeys(int(one) - 1 for one in said))


def frame_numbers(text: str) -> tuple[int, ...] | None:
    """Frames from 0 in the order in which they are written, each once; None where they are none.

    >>> frame_numbers("40, 7, 40"), frame_numbers(""), frame_numbers("1.5")
    ((40, 7), (), None)
    """
    said = text.replace(",", " ").replace(";", " ").split()
    if len(said) > MOST_FRAMES or not all(
        one.isascii() and one.isdecimal() and len(one) < 10 for one in said
    ):
        return None
    return tuple(dict.fromkeys(int(one) for one in said))


def box_of(mark: Mark) -> tuple[float, float, float, float] | None:
    """The box of a piece of evidence; None where there is none, or it is not written as four numbers.

    >>> box_of(Mark(x0="10", y0="20", x1="30.5", y1="40")), box_of(Mark(x0="10"))
    ((10.0, 20.0, 30.5, 40.0), None)
    """
    said = [one.strip() for one in (mark.x0, mark.y0, mark.x1, mark.y1)]
    if not all(_is_number(one) for one in said):
        return None
    x0, y0, x1, y1 = (float(one) for one in said)
    return x0, y0, x1, y1


def in_words(places: tuple[int, ...]) -> str:
    """Places as `numbers` reads them."""
    return ", ".join(str(one + 1) for one in places)


def _is_number(text: str) -> bool:
    whole, _, part = text.partition(".")
    return len(text) < 20 and text.isascii() and whole.isdecimal() and (not part or part.isdecimal())
