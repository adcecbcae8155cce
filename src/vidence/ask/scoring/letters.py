"""What the parsers of letters share: plain wording, a reading of one segment, refusals, right or wrong."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from vidence.errors import UsageError
from vidence.records import Answered, Item, Outcome, Reply, Score, Unreadable
from vidence.text import refusal_in

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
    r"(?:because|since|due\s+to|based\s+on|given|weil|porque|perché|потому)\b|因为|因為|なぜなら|왜냐하면|لأن"
    r"|\(?(?:with\s+)?(?:an?\s+|my\s+)?(?:confidence|probability|certainty)\b|I\s+(?:think|guess|believe)\W*\Z|\(?\d{1,3}(?:\.\d+)?\s*%"
    r"|is\s+(?:the\s+)?(?:most\s+likely\s+)?(?:correct|right|best)\b(?:\s+(?:answer|option|choice|one))?"
    r"\s*(?:[.,;!\n]|\Z|because|since|as\b)",
    re.IGNORECASE,
)
_REMARK = re.compile(
    r"\(|(?:as|for|from|in|with|according|considering|while|although|but|though|which|where)\b",
    re.IGNORECASE,
)
# Words that begin a sentence about a choice, and no text of one.
_STARTER = re.compile(
    r"(?:In|At|From|On|Based|The\s+\w+(?:\s+\w+)?\s+(?:is|are|was|were)|This|There|It|As|Because)\s+\w+\s+\w+"
)
# A text with a verb says something about the choice instead of repeating it.
_SENTENCE = re.compile(r"\b(?:is|are|was|were|has|have|seems|appears|looks)\b", re.IGNORECASE)
_NEGATED = re.compile(r"(?:and\s+)?(?:not|rather\s+than|instead\s+of)\s+(?:option\s+)?\(?[A-Z]\b\)?")
# Another letter right after the first, but not the article of "A man" or the pronoun of "I think".
_ALTERNATIVE = re.compile(
    r"(?:(?:[/&+或和]|(?:or|and|oder|und|ou|et|o|y)\b)\s*)*(?:(?:option|choice)\s+)?[\[({\"']*"
    r"(?P<other>[A-Z])(?=[\s\])}\"'.,;:!/&]|\Z)(?!\s+[a-z])"
)
_OTHER_LABEL = re.compile(r"(?:[,;/&.]|\b(?:and|or))\s*[\[(]?(?P<other>[A-Z])\s*[:)]")
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
# Full-width forms, circled capitals, quotes, dashes and odd spaces as ASCII; invisible ones away.
# Look-alikes from other scripts (Cyrillic, Greek) stay as they are: they are no choice letters.
_ASCII = {
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},
    **{0x24B6 + i: ord("A") + i for i in range(26)},
    **dict.fromkeys((0x2018, 0x2019, 0x02BC), "'"),
    **dict.fromkeys((0x201C, 0x201D, 0x300C, 0x300D), '"'),
    **dict.fromkeys((0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2212), "-"),
    **{0x3001: ",", 0x3002: ".", 0x3010: "[", 0x3011: "]", 0x060C: ",", 0x061B: ";"},
    **dict.fromkeys((0x2705, 0x2713, 0x2714, 0x2611, 0xFE0F), " "),
    **dict.fromkeys((0x00A0, 0x3000, 0x2009, 0x202F), " "),
    **dict.fromkeys((0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x061C, 0x2060, 0xFEFF), None),
}
_LATEX_WORDS = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|mathit|mathsf)\s*\{([^{}]*)\}")
_LATEX_SIGNS = re.compile(r"\\[()\[\],;! ]|\$")
# Markup of chat models: special tokens, end of sequence, simple HTML, and a lone closing answer tag.
_SPECIAL = re.compile(r"<\|[^|<>]*\|>|</?(?:s|b|i|p|strong|em|br|code)\s*/?>", re.IGNORECASE)
_MARKDOWN = re.compile(r"[*`]+|(?<!\w)_+|_+(?!\w)|^[ \t]*(?:#+|>+)[ \t]*", re.MULTILINE)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_TOKEN = re.compile(r"(?<![\w)])-?(?:\d+(?:\.\d+)*|\.\d+)|[^\W\d_]+|\d+")
REJECTED = "the reply rejects the choices or a letter"
# How a parser turns the words of a reply into an outcome.
ReadText: TypeAlias = Callable[[Item, str], Answered | Unreadable]


@dataclass(frozen=True)
class Reading:
    """What a segment says: a letter and the form it was in, or why it names no single choice.

    Exactly one of `letter` and `doubt` is set.
    """

    letter: str = ""
    form: str = ""
    doubt: str = ""


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0]


def _choice_at_start(item: Item, text: str) -> int | None:
    """The choice whose words open the text; the one with the most words where several do."""
    said = words(text)
    sized = [(len(words(choice)), i) for i, choice in enumerate(item.choices)]
    opening = [(n, i) for n, i in sized if n and said[:n] == words(item.choices[i])]
    return max(opening)[1] if opening else None


def _holds(text: str, choice: str) -> bool:
    """Whether the words of a choice stand in a text, one behind the other."""
    said, wanted = words(text), words(choice)
    return bool(wanted) and any(said[i : i + len(wanted)] == wanted for i in range(len(said)))


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
    named = {i for i, choice in enumerate(item.choices) if _holds(_first_line(text), choice)}
    if named and own not in named:
        return Reading(doubt=f"the letter {letter} stands with the text of another choice")
    shared = set(words(_first_line(text))) & set(words(item.choices[own]))
    if opening is not None or shared - _SMALL_WORDS:
        return Reading(letter, "letter-and-text")
    if _STARTER.match(text) and not is_marked:
        return Reading(letter, "letter-and-remark")
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
    has_label = lead is not None and bool(
        lead["marks"].strip() or (lead["rest"].startswith("(") and lead["letter"].isupper())
    )
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
        return Reading(doubt=REJECTED)
    return reading


def _with_letter_behind(item: Item, text: str, letter: str) -> Reading:
    is_own = letter in item.letters and item.letters.index(letter) in equal_choices(text, item.choices)
    if is_own:
        return Reading(letter, "letter-and-text")
    return Reading(doubt=f"the letter {letter} stands with the text of another choice")


def plain(text: str) -> str:
    """The text in ASCII punctuation, without Markdown, LaTeX wrapping and special tokens.

    Line breaks and LaTeX boxes stay.
    """
    text = unicodedata.normalize("NFC", text).translate(_ASCII)
    text = _LATEX_SIGNS.sub(" ", _LATEX_WORDS.sub(r"\1", text))
    return _MARKDOWN.sub("", _SPECIAL.sub(" ", text))


def words(text: str) -> tuple[str, ...]:
    """Lower-case words and numbers; a number keeps its sign and its decimal point.

    >>> words("The B12-store, 7,190 m")
    ('the', 'b', '12', 'store', '7190', 'm')
    """
    return tuple(_TOKEN.findall(_THOUSANDS.sub("", text.casefold())))


def _tight(text: str) -> str:
    return " ".join(plain(text).casefold().split()).strip(" .,;:!\"'")


def _joined(text: str) -> str:
    """All words without the blanks between them, but numbers kept apart from each other."""
    return re.sub(r"(?<!\d) | (?!\d)", "", " ".join(words(plain(text))))


def _without_articles(text: str) -> str:
    said = words(plain(text))
    return " ".join(w for i, w in enumerate(said) if w != "the" and (i > 0 or w not in ("a", "an")))


def equal_choices(text: str, choices: Sequence[str], *, is_strict: bool = False) -> tuple[int, ...]:
    """Which choices say the same as the text.

    Compared are, until one comparison finds something: the texts but for case, space and outer
    punctuation; their words and numbers; their words without *the* and without a leading *a*.

    Args:
        text: words of a reply.
        choices: the texts of the choices.
        is_strict: only the first comparison.

    Returns:
        Positions in `choices`; several where the comparison cannot tell them apart.
    """
    for form in (_tight,) if is_strict else (_tight, _joined, _without_articles):
        wanted = form(text)
        found = tuple(i for i, choice in enumerate(choices) if wanted and form(choice) == wanted)
        if found:
            return found
    return ()


def with_cut_off(outcome: Answered | Unreadable, reply: Reply) -> Answered | Unreadable:
    """The outcome; an unreadable one says so when the reply was cut off at its length limit."""
    if isinstance(outcome, Unreadable) and reply.finish == "length":
        return Unreadable(reason=f"{outcome.reason}; the reply was cut off at its length limit")
    return outcome


@dataclass(frozen=True, kw_only=True)
class LetterScorer:
    """A `contracts.Scorer` for multiple choice: a rule reads a letter, the letter is right or wrong.

    Only `Reply.text` is read, never `Reply.reasoning`.

    Note: refusals that the server reports are an outcome of their own with every parser; the
        released scripts have no such notion.
    """

    name: str
    version: int
    reads_letters: bool = True
    read_text: ReadText

    def read(self, item: Item, reply: Reply) -> Outcome:
        """The letter that the reply gives, or why there is none.

        Raises:
            UsageError: the item has no choices; letters make no sense for it.
        """
        if item.answer_kind != "choice":
            raise UsageError(
                f"parser {self.name!r} reads letters, but item {item.item_id!r} has an open answer; "
                "use the parser 'needs-judge' for it"
            )
        return refusal_in(reply) or with_cut_off(self.read_text(item, reply.text), reply)

    def mark(self, item: Item, outcome: Outcome) -> Score:
        """1.0 if the letter read is the item's answer; 0.0 otherwise, and where none was read."""
        is_right = isinstance(outcome, Answered) and outcome.answer == item.answer
        return Score(
            outcome=outcome,
            value=1.0 if is_right else 0.0,
            scorer=self.name,
            scorer_version=self.version,
        )
