r"""Our parser of choice letters: read what the reply states as its answer, abstain otherwise.

A reply is read in this order; the first step that finds something decides, also when what it finds
is a contradiction. `Answered.rule` is ``<where>/<form>``.

1. Reasoning in ``<think>`` tags and recorded error messages are set aside.
2. *Marked* answers (``answer-tag``, ``box``, ``marker``): ``<answer>C</answer>``, ``\boxed{C}``,
   ``Answer: C``, ``{"answer": "C"}``. The last one counts.
3. *Stated* answers (``statement``): ``the correct answer is C``, ``I choose C``. The last one
   counts; one that comes after a marked answer and names another letter makes the reply unreadable.
4. The only line of the reply (``reply``), or its last and its first line (``line``).

What may stand in these places (``form``): a lone letter; the text of one choice; a letter with the
text of its choice; a letter with a remark. See `segment.py`.
"""

import re
from dataclasses import dataclass

from vidence.ask.scoring.letters import LetterScorer, Reading, plain, read_segment
from vidence.records import Answered, Item, Unreadable
from vidence.text import without_thinking

_ERROR_TEXT = re.compile(r"\s*(?:ERROR(?![a-z])|[Ee]rror\s*(?::|\Z))")

_TAG = re.compile(
    r"<(?:final[_ ]?)?answer>(?P<said>(?:(?!</?(?:final[_ ]?)?answer>).)*)", re.IGNORECASE | re.DOTALL
)
_TAG_EDGE = re.compile(r"</?(?:final[_ ]?)?answer>", re.IGNORECASE)
_BOX = re.compile(r"\\boxed\s*\{(?P<said>[^{}]*)\}")
_WORD = r"(?:answer|ans|antwort|respuesta|réponse|risposta|resposta|ответ|答案|答え|正解|정답)"
_CHOSEN = r"(?:correct|right|best|final|chosen|selected|likely)\s+(?:option|choice|selection|one|letter)"
_IS = r"(?:(?:'s|is|ist|lautet|es|est|è|é)\b|是|为|為|は|는|은)"
# To the end of the line or a closing tag; as a look-ahead, so that one answer may stand in another.
# Bounded, since models that repeat themselves write tens of thousands of markers into one line.
_SAID = r"(?=(?P<said>(?:[^\n<]|<(?!/)){0,600}))"
_CLAUSE_CHARS = 200
_ADVERB = r"(?:therefore|thus|then|clearly|simply|indeed|definitely|actually|probably|(?:most\s+)?likely)"
_FIELD = r"[\"'](?:choice|option|letter|prediction|option_selected|selected_option|final_answer)[\"']"
_MARKER = re.compile(
    rf"(?:(?<![A-Za-z]){_WORD}(?:\s+(?:option|choice|letter|correcta|correcte|corretta|correta))?|\b{_CHOSEN}|{_FIELD})"
    rf"[\"']?\s*(?:{_IS}\s*)?[\"']?\s*[:=]\s*{_SAID}"
    rf"|^[^\w\n]*(?:(?:the|final|correct)\s+)*answer[^\w\n]*\n\s*(?P<below>[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_STATEMENT = re.compile(
    rf"(?:(?:(?<![A-Za-z]){_WORD}|\b{_CHOSEN}|\bmy\s+(?:guess|pick|choice))(?:\s+(?:option|choice|letter))?"
    rf"\s*(?:{_IS}|(?:must|should|would|will|has\s+to)\s+be\b)(?:\s+{_ADVERB})?"
    r"|\bI(?:\s+would|\s+will|'d|'ll)?\s+(?:choose|pick|select|say|go\s+with|opt\s+for)"
    r"|\bI\s+(?:think|believe)\s+(?:that\s+)?(?:it\s+is|it's))"
    rf"(?!\s*[:=])\s*{_SAID}",
    re.IGNORECASE,
)
_VERDICT = re.compile(
    r"\b(?:[Oo]ption|[Cc]hoice|[Aa]nswer)\s+\(?(?P<said>[A-Z])\)?\s+is\s+(?:the\s+)?(?:most\s+likely\s+)?"
    r"(?:correct|right|best)(?:\s+(?:answer|option|choice|one))?\s*(?:[.,;!]|\Z|\n|because|since|as\b)"
)
# Words before a marker, in the same clause, that take back what it says.
_UNSAID = re.compile(
    r"(?:\b(?:not|never|cannot|whether|if|unless|no(?!\s+doubt))\b|n't\b)[^.,;:!?\n]*\Z"
    r"|\b(?:wrong|incorrect|false|other|another)\s*\Z",
    re.IGNORECASE,
)
_NOTHING_STATED = "the reply states no answer"


@dataclass(frozen=True)
class _Place:
    """Where a reply gives an answer; `start` is the position in the text."""

    start: int
    rule: str
    said: str


def _places(text: str, rule: str, pattern: re.Pattern[str]) -> list[_Place]:
    """All matches of a marker that is not taken back by the words before it."""
    found = []
    for match in pattern.finditer(text):
        said = next((said for said in match.groups() if said is not None), "").strip()
        before = text[max(0, match.start() - _CLAUSE_CHARS) : match.start()].rsplit("\n", 1)[-1]
        if said and not _UNSAID.search(before):
            found.append(_Place(match.start(), rule, said))
    return found


def _outcome(reading: Reading | None, rule: str, otherwise: str) -> Answered | Unreadable:
    if reading is None:
        return Unreadable(reason=otherwise)
    if reading.doubt:
        return Unreadable(reason=reading.doubt)
    return Answered(answer=reading.letter, rule=f"{rule}/{reading.form}")


def _stated(item: Item, text: str, start: int) -> list[Reading]:
    """What the sentences from `start` on state, in order."""
    places = _places(text, "statement", _STATEMENT) + _places(text, "statement", _VERDICT)
    later = sorted((place for place in places if place.start >= start), key=lambda place: place.start)
    readings = (read_segment(item, place.said, is_marked=True) for place in later)
    return [reading for reading in readings if reading is not None]


def _read_marked(item: Item, text: str) -> Answered | Unreadable | None:
    """Steps 2 and 3; None where the reply neither marks nor states an answer."""
    marked = _places(text, "answer-tag", _TAG) + _places(text, "box", _BOX) + _places(text, "marker", _MARKER)
    last = max(marked, key=lambda place: place.start, default=None)
    stated = _stated(item, text, 0 if last is None else last.start)
    reading = read_segment(item, last.said, is_marked=True) if last else None
    if last is None or (reading is None and stated):
        return _outcome(stated[-1], "statement", "") if stated else None
    if reading and reading.letter and any(s.letter != reading.letter for s in stated if s.letter):
        return Unreadable(reason=f"the reply marks {reading.letter} and then states another letter")
    return _outcome(
        reading, last.rule, f"what the reply marks as its answer is no choice: {last.said[:60]!r}"
    )


def _read_lines(item: Item, text: str) -> Answered | Unreadable:
    """Step 4: the only line, or the last or first line if no other line names another choice."""
    lines = [line for line in _TAG_EDGE.sub(" ", text).splitlines() if line.strip(" -=_")]
    if len(lines) == 1:
        return _outcome(read_segment(item, lines[0], is_marked=False), "reply", _NOTHING_STATED)
    readings = [read_segment(item, line, is_marked=False) for line in lines]
    said = {reading for reading in readings if reading is not None}
    ends = [reading for reading in (readings[-1:] + readings[:1]) if reading is not None]
    if len({reading.letter for reading in said}) > 1:
        return Unreadable(reason="several lines name different choices and none is marked as the answer")
    return _outcome(ends[0] if ends else None, "line", _NOTHING_STATED)


def read_text(item: Item, text: str) -> Answered | Unreadable:
    """The letter that the reply states as its answer; `Unreadable` where that is not clear.

    Letters are never taken out of prose (``A man appears``), never beyond the number of choices,
    and never where a letter and the text beside it contradict each other.

    Args:
        item: the question with up to 26 choices.
        text: the reply.

    Source: the order follows the failure cases of the PerceptionComp result files.
    Departs: no.
    """
    if not text.strip():
        return Unreadable(reason="the reply is empty")
    if _ERROR_TEXT.match(text):
        return Unreadable(reason="the recorded reply is an error message")
    said = plain(without_thinking(text)).strip()
    if not said:
        return Unreadable(reason="nothing follows the reasoning")
    return _read_marked(item, said) or _read_lines(item, said)


def create() -> LetterScorer:
    """The parser ``robust``, the default."""
    return LetterScorer(name="robust", version=1, read_text=read_text)
