r"""Our parser of choice letters: returns what the reply states as its final answer, and abstains otherwise.

1. Reasoning and recorded error messages are removed; answer tags, boxes and vendors' marks become one kind of
mark. 2. The text is split into sentences, and *statements of a final answer* are found in them, see
`statements`. 3. The last statement that is not withdrawn counts. A later one replaces a weaker earlier one,
and one of equal strength if it
   corrects it or concludes; otherwise two different statements are ambiguous. The weakest is the one choice
   that the first or last sentence gives in its own words.

`Answered.rule` is ``<where>/<form>``, so that a report can count how answers were read.
"""

import re
from collections.abc import Sequence

from vidence.ask.scoring.letters import THOUSANDS, LetterScorer, plain
from vidence.ask.scoring.mentions import equal_choices
from vidence.ask.scoring.statements import CLOSE, FINAL_OPEN, OPEN, Rank, Reader, Statement, probabilities
from vidence.records import Answered, Item, Unreadable
from vidence.text import without_thinking

VERSION = 4
_ERROR_TEXT = re.compile(r"\s*(?:ERROR(?![a-z])|[Ee]rror\s*(?::|\Z))")
_NAME = (
    r"(?:(?:final[_ ]?)?(?:answer|choice|option|selection)|solution|prediction|conclusion|final|result"
    r"|verdict|decision|decide)"
)
# Complete tags without another one inside.
_TAG = re.compile(
    rf"[<\[](?P<name>{_NAME})[>\]](?P<said>(?:(?![<\[]/?{_NAME}[>\]]).)*)[<\[]/(?P=name)[>\]]",
    re.IGNORECASE | re.DOTALL,
)
_OPEN_TAG = re.compile(rf"<{_NAME}>", re.IGNORECASE)
_CLOSING_TAG = re.compile(rf"</{_NAME}>", re.IGNORECASE)
_BOX = re.compile(r"\\?\b(?:f|frame)?box(?:ed)?\s*\{(?P<said>[^{}]*)\}")
_STRUCK = re.compile(r"~~[^~\n]{1,200}~~|☐[^\n]*")
_TICKS, _CROSSES = re.compile(r"[✅✓✔☑]\ufe0f?|\[[xX]\](?= )"), re.compile(r"[✗✘✕✖❌❎☐]\ufe0f?|\[ \](?= )")
_QUESTION, _ANSWERED = (
    re.compile(r"^\W*Q:", re.MULTILINE),
    re.compile(r"^\W*A:(?=\s*[^\w\n]?[A-Z]\b[^\n]*\Z)", re.MULTILINE),
)
_LONGEST_CHOICE = 2000
# Most replies of models that answer at once: one letter, which no grammar is needed for.
_LETTER = re.compile(r"\s*(?P<marker>(?i:(?:final )?answer): ?)?[(\[*\"']*(?P<letter>[A-Z])[)\]*\"'.:]*\s*")


def _with_marks(text: str) -> str:
    """Return the normalised text, with signs at the start and end of marked answers."""
    text = text.replace("<|begin_of_box|>", OPEN).replace("<|end_of_box|>", CLOSE)
    text = plain(_CROSSES.sub(" (incorrect) ", _TICKS.sub(" (correct) ", _STRUCK.sub(" ", text))))
    if _QUESTION.search(text):
        text = _ANSWERED.sub("Answer:", text)
    text = _BOX.sub(lambda m: f"{OPEN}{m['said']}{CLOSE}" if m["said"].strip() else " ", text)
    text = _TAG.sub(lambda m: f"{FINAL_OPEN}{m['said']}{CLOSE}" if m["said"].strip() else " ", text)
    return THOUSANDS.sub("", _CLOSING_TAG.sub(" ", _OPEN_TAG.sub(OPEN, text))).strip()


def _decided(item: Item, statements: Sequence[Statement], reader: Reader) -> Answered | Unreadable:
    """Apply step 3."""
    lows = (Rank.FINAL, Rank.ALONE, Rank.HINT, Rank.SAID)
    pool = next(level for low in lows if (level := [s for s in statements if s.rank >= low]))
    last = pool[-1]
    for earlier in pool[:-1]:
        if earlier.choice in (-1, last.choice) or earlier.rank < last.rank > Rank.STATED:
            continue
        if earlier.rank <= max(last.rank, Rank.STATED) and last.corrects:
            continue
        if not (last.corrects or reader.has("wait", reader.text[earlier.start : last.start])):
            return Unreadable(reason="the reply states different answers and takes none back")
    later = (reader.masked[s.start : s.end] for s in reader.segments if s.start > last.start)
    if any(reader.begins("wait", sentence) for sentence in later):
        return Unreadable(reason="the reply takes its last answer back")
    return _outcome(item, last.choice, f"{last.rule}/{last.form}", doubt=last.doubt)


def _outcome(item: Item, choice: int, rule: str, *, doubt: str) -> Answered | Unreadable:
    return Unreadable(reason=doubt) if choice < 0 else Answered(answer=item.letters[choice], rule=rule)


def _read_whole(item: Item, message: str) -> Answered | Unreadable | None:
    """Read a reply that is only a choice's text, or letters with probabilities; None for others."""
    is_plain = len(message) <= _LONGEST_CHOICE and OPEN not in message and FINAL_OPEN not in message
    equal = equal_choices(message, item.choices) if is_plain else ()
    if equal:
        choice = equal[0] if len(equal) == 1 else -1
        return _outcome(item, choice, "reply/choice-text", doubt="several choices have this text")
    shares = probabilities(item, message)
    return None if shares is None else _outcome(item, shares[0], "reply/probabilities", doubt=shares[1])


def read_text(item: Item, text: str) -> Answered | Unreadable:
    """Return the letter that the reply states as its answer; `Unreadable` if that is not clear.

    Letters are never taken from prose (``A man appears``), beyond the number of choices, or if letter and
    text contradict each other.

    Args:
        item: the question with up to 26 choices.
        text: the reply.

    Source: the rules follow the failure cases of the PerceptionComp result files.
    Departs: no.
    """
    alone = _LETTER.fullmatch(text)
    if alone and alone["letter"] in item.letters and not equal_choices(alone["letter"], item.choices):
        return Answered(answer=alone["letter"], rule="marker/letter" if alone["marker"] else "alone/letter")
    if not text.strip():
        return Unreadable(reason="the reply is empty")
    if _ERROR_TEXT.match(text):
        return Unreadable(reason="the recorded reply is an error message")
    marks = _with_marks(without_thinking(text))
    if not marks:
        return Unreadable(reason="nothing follows the reasoning")
    if (whole := _read_whole(item, marks)) is not None:
        return whole
    reader = Reader(item, marks)
    statements = reader.statements()
    if not statements:
        return Unreadable(reason="the reply states no answer")
    return _decided(item, statements, reader)


def create() -> LetterScorer:
    """Create the parser ``robust``, the default."""
    return LetterScorer(name="robust", version=VERSION, read_text=read_text)
