r"""Our parser of choice letters: read what the reply states as its answer, abstain otherwise.

A reply goes through these steps; the first that finds something decides, also when what it finds is a
contradiction. `Answered.rule` is ``<where>/<form>``, so that a report can count how answers were read.

1. Reasoning in ``<think>`` tags and recorded error messages are set aside.
2. The last complete answer tag is final (``answer-tag``, ``choice-tag``): nothing behind it is read.
3. *Claims* of the reply, by the table of rules in `claims`: marked (``box``, ``marker``, ``open-tag``),
   stated (``statement``, ``verdict``, ``label``, ``correction``). The last marked one counts, else the last
   stated
   one. A stated one that comes after a marked one and names another letter replaces it where words of
   correction
   stand between them (*wait*, *actually*), and makes the reply unreadable otherwise.
4. The only line of the reply (``reply``), or its last and its first line (``line``).
5. Hints (``it-is``, ``match``, ``conclusion``, ...): weaker claims, which must agree, or the last of which
   concludes.
6. The one choice that the first or last sentence says in its own words (``first-sentence``, ``last-
   sentence``).

What may stand in these places (``form``): a lone letter; the text of one choice; a letter with the text of
its choice; a letter with a remark; letters with probabilities. See `letters` and `claims`.
"""

import re

from vidence.ask.scoring.claims import (
    HINTS,
    STATEMENTS,
    Claim,
    Rank,
    claims,
    is_conclusion,
    is_corrected,
    probabilities,
    read_said,
    several_questions,
    weightiest,
)
from vidence.ask.scoring.free_form import opens_with, read_sentences
from vidence.ask.scoring.letters import REJECTED, LetterScorer, Reading, plain, words
from vidence.records import Answered, Item, Unreadable
from vidence.text import without_thinking

VERSION = 2
_ERROR_TEXT = re.compile(r"\s*(?:ERROR(?![a-z])|[Ee]rror\s*(?::|\Z))")
_TAGS = {"answer-tag": r"(?:final[_ ]?)?answer", "choice-tag": r"(?:final[_ ]?)?(?:choice|option|selection)"}
# Complete tags without another one inside.
_COMPLETE = {
    rule: re.compile(rf"<{name}>(?P<said>(?:(?!</?{name}>).)*)</{name}>", re.IGNORECASE | re.DOTALL)
    for rule, name in _TAGS.items()
}
_TAG_EDGE = re.compile(r"</?(?:final[_ ]?)?answer>", re.IGNORECASE)
_LABELLED = re.compile(r"[^\w\n]*([A-Z])[:.)]\s*\w")
# A line behind a marker that is another letter alone.
_NEXT_LETTER = re.compile(r"[^\n]*\n\W*(?P<other>[A-Z])\W*(?=\n|\Z)")
_NOTHING_STATED = "the reply states no answer"
_NO_CHOICE = "what the reply marks as its answer is no choice"


def _outcome(reading: Reading | None, rule: str, otherwise: str) -> Answered | Unreadable:
    if reading is None:
        return Unreadable(reason=otherwise)
    if reading.doubt:
        return Unreadable(reason=reading.doubt)
    return Answered(answer=reading.letter, rule=f"{rule}/{reading.form}")


def _of_claim(claim: Claim) -> Answered | Unreadable:
    return _outcome(claim.reading, claim.rule.name, f"{_NO_CHOICE}: {claim.said[:60]!r}")


def _final_tag(item: Item, text: str) -> Answered | Unreadable | None:
    """Step 2: the last complete tag that holds something; None where there is no such tag."""
    for rule, pattern in _COMPLETE.items():
        said = [content for match in pattern.finditer(text) if (content := match["said"].strip())]
        if not said:
            continue
        reading = read_said(item, said[-1], is_marked=True)
        if reading is None:
            inside = _decided(item, said[-1]) or _hinted(item, said[-1])
            if isinstance(inside, Answered):
                return Answered(answer=inside.answer, rule=f"{rule}/{inside.rule.partition('/')[2]}")
        return _outcome(reading, rule, f"{_NO_CHOICE}: {said[-1][:60]!r}")
    return None


def _decided(item: Item, text: str) -> Answered | Unreadable | None:
    """Step 3; None where the reply neither marks nor states an answer."""
    found = claims(item, text, STATEMENTS)
    by_rank = list(weightiest(found))
    if not by_rank:
        return None
    last = by_rank[0][-1]
    if last.rule.rank is Rank.STATED:
        return _of_claim(_last_stated(by_rank[0]))
    below = _NEXT_LETTER.match(text, last.start) if last.rule.name == "marker" else None
    if below and last.reading and below["other"] in item.letters and below["other"] != last.reading.letter:
        return Unreadable(reason=f"the letter {below['other']} stands alone behind the answer")
    later = [c for c in found if c.rule.rank is Rank.STATED and c.start >= last.start]
    if last.reading is None and later:
        return _of_claim(later[-1])
    if last.reading and last.reading.doubt and later and later[-1].rule.corrects:
        return _of_claim(later[-1])
    letters = {c.reading.letter for c in later if c.reading and c.reading.letter}
    if last.reading and last.reading.letter and letters - {last.reading.letter}:
        if is_corrected(text, last, later[-1]):
            return _of_claim(later[-1])
        return Unreadable(reason=f"the reply marks {last.reading.letter} and then states another letter")
    return _of_claim(last)


def _last_stated(stated: list[Claim]) -> Claim:
    """The last statement; of several at one place the one that was found with a letter."""
    lettered = [claim for claim in stated if claim.reading and claim.reading.letter]
    return lettered[-1] if lettered and lettered[-1].start == stated[-1].start else stated[-1]


def _hinted(item: Item, text: str) -> Answered | Unreadable | None:
    """Step 5; None where the reply hints at nothing."""
    hints = claims(item, text, HINTS)
    if not hints:
        return None
    said = {claim.reading.letter for claim in hints if claim.reading}
    if len(said) > 1 and not is_conclusion(text, hints[-1]):
        return Unreadable(reason="the reply hints at several letters and concludes with none")
    return _of_claim(hints[-1])


def _without_choices(item: Item, lines: list[str]) -> list[str]:
    """Without lines that repeat all choices, each with its letter, in their order."""
    n = len(item.choices)
    if n < 2 or len(lines) < n:
        return lines
    shown = [f"{letter} {choice}" for letter, choice in zip(item.letters, item.choices, strict=True)]
    wanted = [words(choice) for choice in shown]
    kept, at = [], 0
    while at < len(lines):
        if words(lines[at]) == wanted[0] and [words(li) for li in lines[at : at + n]] == wanted:
            at += n
        else:
            kept.append(lines[at])
            at += 1
    return kept


def _read_line(item: Item, line: str) -> Reading | None:
    """A letter, a text, or a text with something behind it."""
    reading = read_said(item, line, is_marked=False)
    opening = opens_with(item, line) if reading is None or reading.doubt == REJECTED else None
    return opening or reading


def _read_lines(item: Item, text: str) -> Answered | Unreadable | None:
    """Step 4: the only line, or the last or first line if no other line names another choice."""
    shown = [line for line in _TAG_EDGE.sub(" ", text).splitlines() if line.strip(" -=_")]
    lines = _without_choices(item, shown)
    if not lines:
        return Unreadable(reason="the reply only repeats the choices")
    shares = probabilities(item, "\n".join(lines))
    if shares:
        return _outcome(shares, "reply", "")
    if len(lines) == 1:
        reading = _read_line(item, lines[0])
        return _outcome(reading, "reply", "") if reading else None
    labels = {match[1] for line in lines if (match := _LABELLED.match(line)) and match[1] in item.letters}
    if len(labels) > 1 and _LABELLED.match(lines[-1]):
        return Unreadable(reason="several lines start with a letter")
    readings: dict[str, Reading | None] = {}
    said: set[str] = set()
    for line in dict.fromkeys(lines):  # models that repeat themselves write a line thousands of times
        reading = readings[line] = _read_line(item, line)
        said |= {reading.letter} if reading else set()
        if len(said) > 1:
            return Unreadable(reason="several lines name different choices and none is marked as the answer")
    ends = [reading for line in (lines[-1], lines[0]) if (reading := readings[line]) is not None]
    return _outcome(ends[0], "line", "") if ends else None


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
    if several_questions(said):
        return Unreadable(reason="the reply answers several numbered questions")
    found = _final_tag(item, said)
    if found is None:
        found = _decided(item, said) or _read_lines(item, said) or _hinted(item, said)
    if found is not None:
        return found
    spoken = read_sentences(item, said)
    return _outcome(spoken[1], spoken[0], "") if spoken else Unreadable(reason=_NOTHING_STATED)


def create() -> LetterScorer:
    """The parser ``robust``, the default."""
    return LetterScorer(name="robust", version=VERSION, read_text=read_text)
