"""Read one short piece of a reply that may be an answer: ``(C)``, ``B: Black``, ``a red car``."""

import re
from dataclasses import dataclass

from vidence.ask.scoring.wording import equal_choices, words
from vidence.records import Item


@dataclass(frozen=True)
class Reading:
    """What a segment says: a letter and the form it was in, or why it names no single choice.

    Exactly one of `letter` and `doubt` is set.
    """

    letter: str = ""
    form: str = ""
    doubt: str = ""


# A letter, perhaps after "So, option" and in brackets; the marks that follow it; the rest.
_LEAD = re.compile(
    r"[\s\-•]*(?:(?:so|thus|hence|therefore|assistant)[,:]?\s+)?(?:(?:the\s+)?(?:correct\s+)?(?:option|choice|letter|answer)(?:\s*[:#-]\s*|\s+|(?=[(\[]))"
    r"|我?(?:选项?|選項?|选择)\s*)?"
    r"[\[({<\"'\s]*(?P<letter>[A-Z])(?P<marks>[\s\])}>\"':.=,;!-]*)(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_LABEL_MARKS = frozenset(":.=)]}>-")
_REMARK_MARKS = frozenset(",;\n")
_REASON = re.compile(
    r"(?:because|since|due\s+to|based\s+on|given)\b"
    r"|is\s+(?:the\s+)?(?:most\s+likely\s+)?(?:correct|right|best)\b(?:\s+(?:answer|option|choice|one))?"
    r"\s*(?:[.,;!\n]|\Z|because|since|as\b)",
    re.IGNORECASE,
)
_REMARK = re.compile(
    r"\(|(?:as|for|from|in|with|according|considering|while|although|but|though|which|where)\b",
    re.IGNORECASE,
)
# A text with a verb says something about the choice instead of repeating it.
_SENTENCE = re.compile(r"\b(?:is|are|was|were|has|have|seems|appears|looks)\b", re.IGNORECASE)
_NEGATED = re.compile(r"(?:and\s+)?(?:not|rather\s+than|instead\s+of)\s+(?:option\s+)?\(?[A-Z]\b\)?")
# Another letter right after the first, but not the article of "A man" or the pronoun of "I think".
_ALTERNATIVE = re.compile(
    r"(?:(?:[/&+或和]|(?:or|and|oder|und|ou|et|o|y)\b)\s*)*(?:(?:option|choice)\s+)?[\[({\"']*"
    r"(?P<other>[A-Z])(?=[\s\])}\"'.,;:!/&]|\Z)(?!\s+[a-z])"
)
_OTHER_LABEL = re.compile(r"(?:[,;/&]|\b(?:and|or))\s*[\[(]?(?P<other>[A-Z])\s*[:)]")
_OTHER_LINE = re.compile(r"\n\W*(?P<other>[A-Z])(?:[:.)]|\s*$)", re.MULTILINE)
_TEXT_THEN_LETTER = re.compile(
    r"(?P<text>[^\n]{1,500}?)[\s,]{0,3}[(\[](?:option\s+)?(?P<letter>[A-Z])[)\]]\W*\Z", re.IGNORECASE
)
_RETRACTS = re.compile(
    r"\W*(?:not|none|neither|no|unclear|unknown|uncertain|n/a|either|both|impossible|cannot|can't)\b",
    re.IGNORECASE,
)
# A text of at most so many words after "B:" repeats a choice; a longer one can be a remark.
_LABEL_WORDS = 4
_SMALL_WORDS = frozenset(("a", "an", "and", "at", "for", "in", "is", "it", "of", "on", "or", "the", "to"))


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0]


def _choice_at_start(item: Item, text: str) -> int | None:
    """The choice whose words open the text; the one with the most words where several do."""
    said = words(text)
    sized = [(len(words(choice)), i) for i, choice in enumerate(item.choices)]
    opening = [(n, i) for n, i in sized if n and said[:n] == words(item.choices[i])]
    return max(opening)[1] if opening else None


def _other_letter(item: Item, letter: str, rest: str) -> str | None:
    """Another letter that is named beside the first: ``A or B``, ``B: White and E: Gray``."""
    next_to = _ALTERNATIVE.match(rest)
    found = [next_to["other"]] if next_to else []
    found += [m["other"] for m in _OTHER_LABEL.finditer(_first_line(rest))]
    return next((other for other in found if other in item.letters and other != letter), None)


def _is_list(item: Item, letter: str, rest: str) -> bool:
    """Whether a later line starts with another letter, as when the choices are repeated."""
    return any(m["other"] in item.letters and m["other"] != letter for m in _OTHER_LINE.finditer(rest))


def _with_text(item: Item, letter: str, text: str, *, is_marked: bool) -> Reading | None:
    """A letter as the label of a text that equals no choice as a whole."""
    own = item.letters.index(letter)
    opening = _choice_at_start(item, text)
    if opening is not None and item.choices[opening] != item.choices[own]:
        return Reading(doubt=f"the letter {letter} stands with the text of another choice")
    shared = set(words(_first_line(text))) & set(words(item.choices[own]))
    if opening is not None or shared - _SMALL_WORDS:
        return Reading(letter, "letter-and-text")
    if len(words(text)) > _LABEL_WORDS or _SENTENCE.search(text):
        return Reading(letter, "letter-and-remark") if is_marked else None
    return Reading(doubt=f"the text beside the letter {letter} is not the text of its choice")


def _with_rest(item: Item, lead: re.Match[str], *, is_marked: bool) -> Reading | None:
    """A letter that is followed by something."""
    letter, marks, rest = lead["letter"].upper(), lead["marks"], lead["rest"]
    if marks in ("", "'", '"') and rest[:1] not in "/&+或和(":
        return None
    if _is_list(item, letter, rest):
        return Reading(doubt="several lines start with a letter")
    equal = equal_choices(_first_line(rest).strip("()"), item.choices)
    if item.letters.index(letter) in equal:
        return Reading(letter, "letter-and-text")
    if lead["letter"].islower() or marks == "-":
        return None
    other = _other_letter(item, letter, rest)
    if equal or other:
        beside = f"the letter {other}" if other else "the text of another choice"
        return Reading(doubt=f"the letter {letter} stands with {beside}")
    is_remark = bool(_REMARK_MARKS & set(marks) or _REMARK.match(rest))
    if _REASON.match(rest) or "\n" in marks or (is_remark and is_marked):
        return Reading(letter, "letter-and-remark")
    if _LABEL_MARKS & set(marks):
        return _with_text(item, letter, rest, is_marked=is_marked)
    return None


def read_segment(item: Item, segment: str, *, is_marked: bool) -> Reading | None:
    """Read a segment of plain text (see `wording.plain`).

    In this order: a lone letter, the text of exactly one choice, that text with its letter behind
    it, a letter with its text or a remark. A lone letter is a letter also where some choice has
    that letter for a text, since prompts ask for letters.

    Args:
        item: the question.
        segment: words of the reply.
        is_marked: whether the reply marks them as its answer; if not, a letter must stand alone,
            with the text of its choice, or with a reason.

    Returns:
        None where nothing looks like an answer.
    """
    segment = segment.strip()
    lead = _LEAD.fullmatch(segment)
    if lead and lead["letter"].upper() not in item.letters:
        lead = None
    if lead and not _NEGATED.sub("", lead["rest"]).strip(" .!<>/"):
        return Reading(lead["letter"].upper(), "letter")
    # "A, white dog" is the letter A beside a text; "A white dog" may be the text of a choice.
    has_label = lead is not None and bool(lead["marks"].strip())
    equal = equal_choices(segment, item.choices, is_strict=has_label)
    if equal:
        is_one = len(equal) == 1
        return (
            Reading(item.letters[equal[0]], "choice-text") if is_one else Reading(doubt="several choices fit")
        )
    behind = _TEXT_THEN_LETTER.fullmatch(segment)
    if behind and equal_choices(behind["text"], item.choices):
        return _with_letter_behind(item, behind["text"], behind["letter"].upper())
    reading = _with_rest(item, lead, is_marked=is_marked) if lead else None
    if reading is None and _RETRACTS.match(segment):
        return Reading(doubt="the reply rejects the choices or a letter")
    return reading


def _with_letter_behind(item: Item, text: str, letter: str) -> Reading:
    is_own = letter in item.letters and item.letters.index(letter) in equal_choices(text, item.choices)
    if is_own:
        return Reading(letter, "letter-and-text")
    return Reading(doubt=f"the letter {letter} stands with the text of another choice")
