"""English of questions: lists, numbers, descriptions; similarity of descriptions."""

import re
from collections.abc import Iterable, Sequence

from vidence.make.pipeline.lexicon import listed

ARROW = " -> "
# Above this two descriptions do not tell their people, or shots, apart.
MOST_ALIKE = 0.6
_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")
_SPACE = re.compile(r"\s+")
_LEADING = re.compile(r"^(?:[-*\u2022]\s+|\(?\d+[.)]\s+)")
_ENDS = (".", "!", "?", '."', '!"', '?"', ".'", "\u201d")
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def sentence(text: str) -> str:
    """A description on one line, without list mark, capitalized, with a full stop.

    >>> sentence(" - a man in a red  coat waits ")
    'A man in a red coat waits.'
    """
    sentence = _LEADING.sub("", _SPACE.sub(" ", text).strip())
    if not sentence:
        return ""
    sentence = sentence[0].upper() + sentence[1:]
    return sentence if sentence.endswith(_ENDS) else sentence.rstrip(" ,;:") + "."


def numbered(texts: Sequence[str]) -> str:
    """Descriptions as a numbered list, one per line."""
    return "\n".join(f"{i}. {sentence(text)}" for i, text in enumerate(texts, 1))


def joined(words: Iterable[object], *, last: str = "and") -> str:
    """Words as an enumeration.

    >>> joined([1, 2, 4])
    '1, 2 and 4'
    """
    messages = [str(word) for word in words]
    return messages[0] if len(messages) == 1 else f"{', '.join(messages[:-1])} {last} {messages[-1]}"


def number_word(n: int) -> str:
    """A number up to ten in words, a larger one in digits.

    >>> number_word(4)
    'four'
    """
    return _NUMBERS[n] if n < len(_NUMBERS) else str(n)


def order_of(numbers: Sequence[int]) -> str:
    """An order of numbered things, from first to last.

    >>> order_of([2, 1, 3])
    '2 -> 1 -> 3'
    """
    return ARROW.join(str(number) for number in numbers)


def named(noun: str, numbers: Sequence[int], *, plural: str = "") -> str:
    """Numbered things with their noun.

    >>> named("person", [2]), named("person", [1, 3], plural="people")
    ('person 2', 'people 1 and 3')
    """
    return f"{noun if len(numbers) == 1 else plural or noun + 's'} {joined(numbers)}"


# --------------------------------------------------------------------------- likeness

# Words that every description has; they tell nobody apart.
_EMPTY_WORDS = (
    "a an the this that these those and or but with without of in on at by for from to into over under "
    "is are was were be been being has have had do does did it its he she they them his her hers their "
    "who which while as also some any there no not very appears appear seems seem appearing individual "
    "person people wearing wears wear dressed carrying carries one"
)
_EMPTY = frozenset(_EMPTY_WORDS.split())


def content_words(text: str) -> frozenset[str]:
    """The content words of a text, in lower case.

    >>> sorted(content_words("The person wears a red coat and a Red scarf."))
    ['coat', 'red', 'scarf']
    """
    return frozenset(_WORD.findall(text.casefold())) - _EMPTY


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """The share of all words that both have, from 0 to 1; 1 where neither has any.

    Source: HERBench, sections 3.2 and 7.2 (token-level Jaccard similarity).
    Departs: the paper does not say how it cuts tokens; here words without those that every description has.
    """
    union = first | second
    return len(first & second) / len(union) if union else 1.0


def tells_apart(text: str, other: str) -> bool:
    """Whether two descriptions give one thing different colours or numbers.

    >>> tells_apart("A man in a red hat.", "A man in a blue hat."), tells_apart("A red hat.", "A blue bag.")
    (True, False)
    """
    ours, theirs = _marks(text), _marks(other)
    return any(ours[thing].isdisjoint(theirs[thing]) for thing in ours.keys() & theirs.keys())


def _marks(text: str) -> dict[str, set[str]]:
    """The colours and numbers of a text by the word behind them, and numbers in digits by themselves."""
    marks: dict[str, set[str]] = {}
    before: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if word.isdecimal():
            marks.setdefault("", set()).add(word)
        elif word in listed("colours") or word in _NUMBERS:
            before.add(word)
        elif before and word != "and":
            marks[word], before = marks.get(word, set()) | before, set()
    return marks


def closest(text: str, others: Sequence[str]) -> float:
    """Return the highest similarity of a text to one of the others; 0 without others."""
    words = content_words(text)
    return max((jaccard(words, content_words(other)) for other in others), default=0.0)
