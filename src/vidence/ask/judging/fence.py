"""Show a text to a judge as data: nothing in it can end its block, or look like words of ours.

The text is written as a JSON string on one line between two marker lines. Whatever could be markup, a
control token of a chat format, or not what it looks like is written as an escape, so that no marker,
no tag, no line break and no invisible character of the text reaches the judge as such. The markers
carry an id that is derived from the question, the whole text, the form of the verdict and the seed of the
run: the same for the same text, so that verdicts are remembered. No text can hold its own id, since any
change of the text changes the id.
"""

import hashlib
import hmac
import json
import unicodedata
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate

from vidence.records import Item

# Of a longer text the judge sees the first third and the last two thirds of this many characters.
MOST_CHARS = 24_000
_ID_CHARS = 16
# Begin tags, entities, code fences, and the control tokens of chat formats, such as <|im_start|> and [INST].
_MARKUP = frozenset("<>&`[]")
# Controls, format characters (zero width, bidi, tags), separators, surrogates, private and unassigned.
_ODD_CATEGORIES = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs", "Cs", "Co", "Cn"})
# Letters and marks that show nothing: fillers, the blank of Braille, joiners, variation selectors.
_BLANKS = frozenset({0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0})
_SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))


def block_id(item: Item, text: str, *, form: str = "", seed: int = 0) -> str:
    """The id of the block that holds `text`: 16 hexadecimal digits of an HMAC-SHA-256.

    Args:
        item: the question.
        text: the text under judgement.
        form: what tells the form of the verdict from others, see `verdicts.Form.digest`.
        seed: the seed in the plan of the run; it is the key.
    """
    digest = hmac.new(f"vidence judge {seed}".encode(), digestmod=hashlib.sha256)
    for word in (item.item_id, item.question, *item.choices, item.answer, form, text):
        data = word.encode("utf-8", "surrogatepass")
        digest.update(f"{len(data)} ".encode() + data)
    return digest.hexdigest()[:_ID_CHARS]


@lru_cache(maxsize=4096)
def _written(character: str) -> str:
    """One character as it stands in the block."""
    code = ord(character)
    is_odd = (
        character in _MARKUP
        or code in _BLANKS
        or any(code in span for span in _SELECTORS)
        or (character != " " and unicodedata.category(character) in _ODD_CATEGORIES)
    )
    if is_odd and character not in "\n\r\t":
        units = character.encode("utf-16-be", "surrogatepass").hex(" ", 2).split()
        return "".join(f"\\u{unit}" for unit in units)
    return json.dumps(character, ensure_ascii=False)[1:-1]


def _taken(pieces: list[str], most_chars: int) -> int:
    """How many of the pieces have together at most so many characters."""
    return bisect_right(list(accumulate(map(len, pieces))), most_chars)


def fence(text: str, *, name: str, marked: str, most_chars: int = MOST_CHARS) -> str:
    """The block that shows `text` as data.

    Each line of the block that begins with a quotation mark is a JSON string. There is one; of a text
    that is longer than `most_chars` there are two, its beginning and its end, and between them a line
    that says how much is left out. A text cannot write such a line itself: it has no line breaks here.

    Args:
        text: what to show.
        name: the name of the markers, for example ``reply``.
        marked: their id, see `block_id`.
        most_chars: most characters of the block without its markers, counted as written in it.
    """
    pieces = [_written(character) for character in text]
    lines = [f'"{"".join(pieces)}"']
    if len(lines[0]) - 2 > most_chars:
        n_head = _taken(pieces, most_chars // 3)
        n_tail = _taken(pieces[n_head:][::-1], most_chars - most_chars // 3)
        head, tail = pieces[:n_head], pieces[len(pieces) - n_tail :]
        n_out = len(pieces) - n_head - n_tail
        lines = [f'"{"".join(head)}"', f"({n_out} characters are left out here)", f'"{"".join(tail)}"']
    return "\n".join([f'<{name} id="{marked}">', *lines, f'</{name} id="{marked}">'])
