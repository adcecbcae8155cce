"""Find where a text names choices: by letter, by their text, or by both."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cache, lru_cache

from vidence.ask.scoring.label_words import stem
from vidence.ask.scoring.letters import TOKEN, plain, words
from vidence.ask.scoring.phrases import languages

# A letter that stands alone: no part of a word, a name (C's) or a compound (A-frame). Scripts without
# blanks may stand around it.
_LETTER = re.compile(
    r"(?<![A-Za-z0-9_'&.\u00c0-\u02af\u0370-\u07ff])(?<![A-Za-z0-9]-)[(\[\"'{<]{0,3}(?P<letter>[A-Za-z])"
    r"(?![A-Za-z0-9_+\u00c0-\u02af\u0370-\u07ff]|'\w|\.[A-Za-z]\b|&\w|-[a-z])(?P<close>[)\]\"'}>]{0,3})"
)
# What may stand between a letter and its text, and behind that.
_MARKS = re.compile(r"[^\S\n]*(?:[:.,;)=>\]\"'(-]+[^\S\n]*)*(?:(?:the|an?)[^\S\n]+)?", re.IGNORECASE)
_CLOSING = re.compile(r"[)\]\"']*")
_LABEL = re.compile(r"\s*[(\[\"']*[A-Z][)\]\"']*\s*(?:[:.,;)=\-]\s*|(?=\())\S")
_CALLED = re.compile(
    r"(?:\A|\n|[:=\ue001\ue003]|\b(?:option|choice|answer|letter|is))[\W_]*\Z", re.IGNORECASE
)
_LINE_END = re.compile(r"[ .,!\"'\ue002*]*(?:\n|\Z)")
_ENDS = re.compile(r"[,;:)]\s|[ .,!\"'\ue002*]*(?:\n|\Z)")
_IN_PROSE = re.compile(r"\s+(?!(?:and|or|is|was|because|as)\b)[a-z]")
_NO_BLANKS = re.compile(r"[\uac00-\ud7af\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
_BETWEEN_BOTH = re.compile(
    r"[\"']?\s?[,-]?\s?(?P<noun>(?:(?:which|that) is )?(?:option|choice|answer) )?[\"']?", re.IGNORECASE
)
_NUMBERING = re.compile(r"[ *(-]*\d+[.)][ \t]+\w")
_SMALL_GAP = 4
_REACH = 300
_ALIKE = 0.85


@dataclass(frozen=True)
class Mention:
    """A place that names choices, by index; several if their texts are equal.

    `form` is ``letter``, ``choice-text``, ``letter-and-text`` or ``letter-and-other-text``, which names none.
    `is_word`: a text of one word, which may refer to something else. `is_firm`: more than a bare letter, such
    as "option B".
    """

    start: int
    end: int
    choices: tuple[int, ...]
    form: str
    is_word: bool = False
    is_firm: bool = True

    @property
    def choice(self) -> int:
        """Return the index of the only choice named; -1 if there is no such choice."""
        return self.choices[0] if len(self.choices) == 1 else -1


@dataclass(frozen=True)
class Wanted:
    """The choices of a question, prepared for searching: by text, longest first."""

    tight: Sequence[str]
    by_form: Sequence[Mapping[str | tuple[str, ...], tuple[int, ...]]]
    by_word: Mapping[str, Sequence[tuple[tuple[str, ...], tuple[int, ...]]]]
    without_blanks: Sequence[tuple[str, int]]


def _tight(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .,;:!\"'")


def _said(text: str) -> tuple[str, ...]:
    """Return the words without *the* and without a leading *a*."""
    names = tuple(w for w in words(text) if w != "the")
    return names[1:] if len(names) > 1 and names[0] in ("a", "an") else names


def _joined(text: str) -> str:
    """Join all words without blanks, but keep numbers apart."""
    return re.sub(r"(?<!\d) | (?!\d)", "", " ".join(words(text)))


@cache
def _digits() -> Mapping[str, str]:
    """Return digits by number word, except *one*."""
    return {word: str(i) for i, word in enumerate(languages()["en"].lists["numbers"]) if i != 1}


@lru_cache(maxsize=4096)
def _key(word: str) -> str:
    """Normalise inflection, and number words to digits."""
    word = word.casefold()
    return _digits().get(word) or stem(word)


_FORMS: tuple[Callable[[str], str | tuple[str, ...]], ...] = (_tight, _joined, _said)


@lru_cache(maxsize=4096)
def wanted(choices: tuple[str, ...]) -> Wanted:
    """Prepare a question's choices; cached, because many models answer the same question."""
    texts = [plain(choice) for choice in choices]
    by_form: tuple[dict[str | tuple[str, ...], tuple[int, ...]], ...] = ({}, {}, {})
    stems: dict[tuple[str, ...], tuple[int, ...]] = {}
    by_word: dict[str, list[tuple[tuple[str, ...], tuple[int, ...]]]] = {}
    for i, text in enumerate(texts):
        for values, form in zip(by_form, _FORMS, strict=True):
            if key := form(text):
                values[key] = (*values.get(key, ()), i)
    for own, known in by_form[2].items():
        key = tuple(map(_key, own))
        stems[key] = (*stems.get(key, ()), *known)
    for key, known in sorted(stems.items(), key=lambda stem: -len(stem[0])):
        by_word.setdefault(key[0], []).append((key, known))
    blankless = [(text, i) for i, text in enumerate(texts) if _NO_BLANKS.search(text)]
    return Wanted([_tight(text) for text in texts], by_form, by_word, blankless)


def equal_choices(text: str, choices: Sequence[str]) -> tuple[int, ...]:
    """Return the choices whose text equals the given text.

    Comparisons, until one finds something: ignoring case, space and outer punctuation; words and numbers;
    words without *the* and without a leading *a*. For a text that starts with a letter as label, only the
    first comparison applies. A bare choice letter is not a text.

    Args:
        text: part of a reply.
        choices: the texts of the choices.

    Returns:
        Indices into `choices`; several if the comparison cannot distinguish them.
    """
    bare = text.strip(" .()[]{}<>\"':!*\n")
    if len(bare) == 1 and bare.isascii() and bare.isalpha() and ord(bare.upper()) - ord("A") < len(choices):
        return ()
    text = plain(text)
    by_form = wanted(tuple(choices)).by_form
    for known, form in list(zip(by_form, _FORMS, strict=True))[: 1 if _LABEL.match(text) else 3]:
        if equal_choices := known.get(form(text)):
            return equal_choices
    return ()


def _texts(asked: Wanted, text: str) -> Iterator[Mention]:
    """Yield where a choice's words occur, ignoring *the*, longest first, without overlaps."""
    tokens = [(key, m.start(), m.end()) for m in TOKEN.finditer(text) if (key := _key(m[0])) != "the"]
    messages = tuple(key for key, _, _ in tokens)
    free = 0
    for at, (key, start, _) in enumerate(tokens):
        for own, choices in asked.by_word.get(key, ()) if start >= free else ():
            if messages[at : at + len(own)] == own:
                end = tokens[at + len(own) - 1][2]
                end += text[end : end + 1] in ("%", "°")
                is_near = end - start <= sum(map(len, own)) + 3 * _SMALL_GAP * len(own)
                is_near = is_near and "\n" not in text[start:end]
                if is_near and not (key.isdigit() and _NUMBERING.match(text, text.rfind("\n", 0, start) + 1)):
                    yield Mention(start, end, choices, "choice-text", is_word=len(own) == 1)
                    free = end
                    break
    for choice, i in asked.without_blanks:
        for m in re.finditer(re.escape(choice), text):
            yield Mention(*m.span(), (i,), "choice-text")


def _misspelt(asked: Wanted, own: int, text: str) -> int:
    """Return the length of a line that gives its choice with a typo or truncated; otherwise 0."""
    line = text.partition("\n")[0].rstrip(" .*\ue002")
    message, is_last = line.casefold(), len(line) == len(text.rstrip(" .*\ue002"))
    if not message or abs(len(message) - len(asked.tight[own])) > _SMALL_GAP:
        is_cut = is_last and len(message) >= _SMALL_GAP and asked.tight[own].startswith(message)
        return len(line) if is_cut else 0
    ratios = [SequenceMatcher(None, message, tight, autojunk=False).ratio() for tight in asked.tight]
    return len(line) if ratios[own] == max(ratios) > _ALIKE and ratios.count(max(ratios)) == 1 else 0


def _lettered(asked: Wanted, place: re.Match[str], texts: Mapping[int, Mention]) -> Mention | None:
    """Return a letter mention, with the following text if it is a choice's."""
    text, letter, (start, end) = place.string, place["letter"], place.span()
    own = ord(letter.upper()) - ord("A")
    inside, marks = texts.get(place.start("letter")), _MARKS.match(text, end)
    if own >= len(asked.tight) or marks is None or (inside and inside.end > place.end("letter")):
        return None
    behind = texts.get(marks.end())
    is_marked = bool(marks[0].strip(" \t") or place["close"])
    is_called = bool(_CALLED.search(text, max(0, start - 24), start))
    is_label = letter.isupper() or (is_marked and is_called)
    if behind and is_label and (is_marked or _LINE_END.match(text, behind.end)):
        closing = _CLOSING.match(text, behind.end)
        end_of_both = closing.end() if closing else behind.end
        if own in behind.choices:
            return Mention(start, end_of_both, (own,), "letter-and-text")
        if is_marked and not set(marks[0]) & set(",;"):
            return Mention(start, end_of_both, (), "letter-and-other-text")
    elif is_label and is_marked and (length := _misspelt(asked, own, text[marks.end() :][:_REACH])):
        return Mention(start, marks.end() + length, (own,), "letter-and-text")
    is_bracketed = text[start] in "([{" and bool(place["close"])
    in_prose = not place["close"] and bool(_IN_PROSE.match(text, end, end + 9))
    if letter.islower():
        is_free = is_bracketed and not re.match(r"[^\S\n]*\w", text[end : end + 9])
        if not is_free and not (is_called and _ENDS.match(text, end)):
            return None
    elif in_prose and ((letter == "I" and not is_called) or (letter == "A" and behind)):
        return None  # the pronoun; the article of "a white dog"
    return Mention(start, end, (own,), "letter", is_firm=is_bracketed)


def find_mentions(choices: tuple[str, ...], text: str) -> list[Mention]:
    """Return all places of a normalised text that name a choice, in order, without overlaps."""
    asked = wanted(choices)
    texts = {m.start: m for m in _texts(asked, text)}
    mentions = [m for place in _LETTER.finditer(text) if (m := _lettered(asked, place, texts))]
    letters = {chr(ord("a") + i) for i in range(len(choices))}
    mentions += (m for m in texts.values() if text[m.start : m.end].casefold() not in letters)
    kept: list[Mention] = []
    for mention in sorted(mentions, key=lambda m: (m.start, -m.end)):
        last = kept[-1] if kept else None
        if last is None or mention.start >= last.end:
            kept.append(mention)
        if last is None or len(kept) < 2 or kept[-1] is last:
            continue
        between = text[last.end : mention.start]
        if (mention.choices, mention.form) == (last.choices, last.form) and not re.search(
            "[\\w\n\ue001-\ue003]", between
        ):
            kept[-2:] = [replace(last, end=mention.end)]  # said twice
        elif (
            (last.form, mention.form) == ("choice-text", "letter")
            and (joint := _BETWEEN_BOTH.fullmatch(between))
            and (
                mention.is_firm or ((joint["noun"] or "-" in between) and _LINE_END.match(text, mention.end))
            )
        ):
            is_own = set(mention.choices) <= set(last.choices)  # Black (C)
            form = "letter-and-text" if is_own else "letter-and-other-text"
            kept[-2:] = [Mention(last.start, mention.end, mention.choices if is_own else (), form)]
    return kept
