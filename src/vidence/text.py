"""Text: normal forms, choice letters, reasoning blocks, refusals, wrongly decoded characters."""

import json
import math
import re
import shlex
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

from vidence.errors import UsageError
from vidence.records import Refused, Reply

_BETWEEN_WORDS = re.compile(r"[\W_]+")
# What models and their vendors write around reasoning: <think>, <seed:think>, [THINK], Kimi's signs.
_REASONING = ("think", "thinking", "thought", "reasoning")
_OPENING = re.compile(rf"[<\[◁](?:\w{{1,9}}:)?({'|'.join(_REASONING)})[>\]▷]", re.IGNORECASE)
_CLOSING = {name: re.compile(rf"[<\[◁]/(?:\w{{1,9}}:)?{name}[>\]▷]", re.IGNORECASE) for name in _REASONING}
# Some servers swallow the opening tag with the prompt: all before a lone closing tag is reasoning.
_HEADLESS_THINKING = re.compile(
    rf"\A.*[<\[◁]/(?:\w{{1,9}}:)?(?:{'|'.join(_REASONING)})[>\]▷]", re.DOTALL | re.IGNORECASE
)
_FINAL_CHANNEL = "<|channel|>final<|message|>"
# A reply that never closes its reasoning can still give its answer in a tag, or end in a box.
_ANSWER_IN_THINKING = re.compile(
    r"<answer>|\\f?box(?:ed)?\s*\{[^{}]{1,200}\}{1,2}[^\w{}]*\Z"
    r"|<\|begin_of_box\|>[^<]{1,200}<\|end_of_box\|>\W*\Z|\bfinal answer\b[^\n]{1,80}\Z",
    re.IGNORECASE,
)
# A first byte of UTF-8 and those that follow it, as cp1252 and Latin-1 show them.
_MISREAD = re.compile(
    "[\u00c2-\u00f4][\u0080-\u00bf\u20ac\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u017d"
    "\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u017e\u0178]{1,3}"
)
_CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d+(?:\.\d*)?)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=\S)")
_RARE = (0x0180, 0x0370)  # "É…" is also UTF-8 for a rare letter: what gives one of these was read rightly
# C0 except tab and newline, DEL, C1, surrogates, noncharacters, and the marks that reorder text.
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]")


def quoted(path: Path | str) -> str:
    """Return a path as a word of a command that the reader copies into a shell.

    >>> quoted(Path("runs/my run")), quoted("runs/mine")
    ("'runs/my run'", 'runs/mine')
    """
    return shlex.quote(str(path))


def sentence(text: str) -> str:
    """Return the text with one full stop at its end.

    >>> sentence("no connection; is the server running?"), sentence("no such file"), sentence("try again..")
    ('no connection; is the server running?', 'no such file.', 'try again.')
    """
    bare = text.rstrip(" .,;")
    return bare if bare.endswith(("?", "!")) else f"{bare}."


def some(names: Iterable[str], *, most: int, between: str = ", ") -> str:
    """List the first few names, and how many more there are.

    >>> some(["a", "b", "c"], most=2), some(["a", "b"], most=2)
    ('a, b and 1 more', 'a, b')
    """
    listed = list(names)
    more = len(listed) - most
    return between.join(listed[:most]) + (f" and {more:,} more" if more > 0 else "")


def unsaid(text: str, printed: set[str]) -> str:
    """Return a text's sentences that were not printed yet, and mark them as printed.

    >>> printed = set()
    >>> unsaid("All lie still. No run moved.", printed), unsaid("No run moved. Two runs ran.", printed)
    ('All lie still. No run moved.', 'Two runs ran.')
    """
    sentences = _SENTENCE_END.split(text)
    fresh = [name for name in dict.fromkeys(sentences) if name not in printed or " " not in name]
    printed.update(sentences)
    return text if len(fresh) == len(sentences) else " ".join(fresh)


def first_lines(lines: Sequence[str], *, most: int = 20) -> str:
    r"""Return the first few lines, such as faults of a file, and how many more there are.

    >>> first_lines(["line 2: no id", "line 5: no id", "line 7: no id"], most=2)
    'line 2: no id\nline 5: no id\n... and 1 more'
    """
    more = [f"... and {len(lines) - most} more"] if len(lines) > most else []
    return "\n".join([*lines[:most], *more])


def normal_form(text: str) -> str:
    r"""Return lower-case text with single blanks for everything but letters and digits.

    >>> normal_form("  What's the colour,\nthen? ")
    'what s the colour then'
    """
    return _BETWEEN_WORDS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def seconds(text: str) -> float | None:
    """Parse seconds, ``HH:MM:SS.ff`` or ``MM:SS.ff``; None for anything else.

    >>> seconds("00:01:02.50"), seconds("3.25"), seconds("-1"), seconds("soon")
    (62.5, 3.25, None, None)
    """
    if match := _CLOCK.fullmatch(text.strip()):
        hours, minutes, rest = match.groups()
        return round(3600 * int(hours or 0) + 60 * int(minutes) + float(rest), 6)
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def letter_index(letter: str) -> int:
    """The position of a choice letter, 0 for ``A``.

    Raises:
        UsageError: not one of the letters A to Z.
    """
    if len(letter) != 1 or not "A" <= letter <= "Z":
        raise UsageError(f"{letter!r} is not a choice letter; expected one of A to Z")
    return ord(letter) - ord("A")


def without_thinking(text: str) -> str:
    """Remove ``<think>`` blocks, even if a tag is missing."""
    # Not one pattern with a back reference: a model that repeats an opening tag thousands of times would
    # have it look through the whole reply each time.
    text = text.rpartition(_FINAL_CHANNEL)[2]
    kept: list[str] = []
    at, end, unclosed = 0, 0, set()
    while (opening := _OPENING.search(text, at)) is not None:
        name = opening[1].lower()
        closing = None if name in unclosed else _CLOSING[name].search(text, opening.end())
        if closing is None:
            unclosed.add(name)
            at = opening.end()
        else:
            kept += (text[end : opening.start()], " ")
            at = end = closing.end()
    text = _HEADLESS_THINKING.sub(" ", "".join(kept) + text[end:])
    opening = _OPENING.search(text)
    if opening is None:
        return text
    answer = _ANSWER_IN_THINKING.search(text, opening.end())
    return f"{text[: opening.start()]} {text[answer.start() :] if answer else ''}"


def json_objects(text: str) -> list[dict[str, object]]:
    """Return the top-level JSON objects in a text, in order.

    >>> json_objects('I say {"right": [{"a": 1}]}, {so} there {"b": 2}')
    [{'right': [{'a': 1}]}, {'b': 2}]
    """
    json_objects: list[dict[str, object]] = []
    end = 0
    for brace in re.finditer("{", text):
        if brace.start() < end:
            continue
        try:
            value, end = json.JSONDecoder().raw_decode(text, brace.start())
        except RecursionError:  # nested without an end: each brace would be tried as deep again
            break
        except ValueError:
            continue
        json_objects.append(value)
    return json_objects


def refusal_in(reply: Reply) -> Refused | None:
    """Return a refusal reported by the server, if any."""
    if reply.finish == "refusal" or reply.refusal:
        return Refused(reason=reply.refusal or "the model declined to answer and gave no reason")
    return None


def find_garbled(text: str) -> str:
    """Return the first run of UTF-8 decoded with a wrong encoding; empty without any.

    >>> find_garbled("a cafÃ© in Paris"), find_garbled("a café"), find_garbled("lost �")
    ('Ã©', '', '�')
    """
    for run in _MISREAD.findall(text):
        for table in ("cp1252", "latin-1"):
            try:
                read = run.encode(table).decode("utf-8")
            except UnicodeError:
                continue
            if not any(_RARE[0] <= ord(c) < _RARE[1] for c in read):
                return str(run)
    return "\ufffd" if "\ufffd" in text else ""


def scripts(text: str) -> set[str]:
    r"""Return the scripts of a text's letters, by the first words of their Unicode names.

    >>> sorted(scripts("a\u0431"))
    ['CYRILLIC', 'LATIN']
    """
    names = (unicodedata.name(c, "").split(" ", 1)[0].split("-")[0] for c in text if c.isalpha())
    return {name for name in names if name}


def visible(text: str) -> str:
    r"""Show control characters and bidirectional marks of a text as visible symbols.

    A model's reply may contain null bytes, terminal commands, and marks that change the text direction. They
    are shown, not executed. Tabs and line ends are kept.
    """
    return _HIDDEN.sub(_name, text.replace("\r\n", "\n"))


def _name(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return f"⟨U+{code:04X}⟩"
