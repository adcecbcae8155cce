"""Where a text names choices: by letter, by their own words, or by both."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache

from vidence.ask.scoring.letters import TOKEN, plain, words

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
_TEXT_THEN_LETTER = re.compile(r"\s?,?\s?[(\[](?:option\s+)?", re.IGNORECASE)
_ALONE_BEFORE = re.compile(
    r"(?:\A|\n|[:=\ue001\ue003]|\b(?:option|choice|answer|letter))[\W_]*\Z", re.IGNORECASE
)
_OPTION_BEFORE = re.compile(r"\b(?:option|choice|answer|letter)\s+\Z", re.IGNORECASE)
_LINE_END = re.compile(r"[ .,!\"'\ue002*]*(?:\n|\Z)")
_NUMBERING = re.compile(r"\d+[.)][ \t]+\w")
_NO_BLANKS = re.compile(r"[\uac00-\ud7af\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
_SMALL_GAP = 4
_REACH = 300
_ALIKE = 0.85


@dataclass(frozen=True)
class Mention:
    """A place that names choices, by their positions; several where their texts are the same.

    `form` is ``letter``, ``choice-text``, ``letter-and-text`` or ``letter-and-other-text``, which names none.
    `is_word`: a text of one word, which may as well be said of something else. `is_firm`: more than a lone
    letter, such as "option B".
    """

    start: int
    end: int
    choices: tuple[int, ...]
    form: str
    is_word: bool = False
    is_firm: bool = True

    @property
    def choice(self) -> int:
        """The position of the only choice that is named; -1 where there is no such choice."""
        return self.choices[0] if len(self.choices) == 1 else -1


@dataclass(frozen=True)
class Wanted:
    """The choices of a question, prepared for the search: by their words, the longer first."""

    n: int
    by_token: Mapping[str, Sequence[tuple[tuple[str, ...], tuple[int, ...]]]]
    without_blanks: Sequence[tuple[str, int]]
    by_form: tuple[Mapping[object, tuple[int, ...]], ...]
    tight: Sequence[str]


def _tight(text: str) -> str:
    return " ".join(plain(text).casefold().split()).strip(" .,;:!\"'")


def _said(text: str) -> tuple[str, ...]:
    """The words without *the* and without a leading *a*."""
    found = words(plain(text))
    return tuple(
        w for i, w in enumerate(found) if w != "the" and (i > 0 or len(found) == 1 or w not in ("a", "an"))
    )


def _joined(text: str) -> str:
    """All words without the blanks between them, but numbers kept apart from each other."""
    return re.sub(r"(?<!\d) | (?!\d)", "", " ".join(words(plain(text))))


@lru_cache(maxsize=4096)
def wanted(choices: tuple[str, ...]) -> Wanted:
    """What is searched for; the same question is asked of many models."""
    by_form: tuple[dict[object, tuple[int, ...]], ...] = ({}, {}, {})
    for i, choice in enumerate(choices):
        for found, form in zip(by_form, (_tight, _joined, _said), strict=True):
            if key := form(choice):
                found[key] = (*found.get(key, ()), i)
    by_token: dict[str, list[tuple[tuple[str, ...], tuple[int, ...]]]] = {}
    for i in sorted(range(len(choices)), key=lambda i: -len(_said(choices[i]))):
        tokens = _said(choices[i])
        if tokens and (tokens, by_form[2][tokens]) not in by_token.setdefault(tokens[0], []):
            by_token[tokens[0]].append((tokens, by_form[2][tokens]))
    blankless = tuple((c, i) for i, c in enumerate(map(plain, choices)) if _NO_BLANKS.search(c))
    return Wanted(len(choices), by_token, blankless, by_form, [_tight(choice) for choice in choices])


def equal_choices(text: str, choices: Sequence[str]) -> tuple[int, ...]:
    """Which choices say the same as the text.

    Compared are, until one comparison finds something: the texts but for case, space and outer
    punctuation; their words and numbers; their words without *the* and without a leading *a*. Of a text that
    begins with a letter as its label only the first. A lone letter of a choice is no text.

    Args:
        text: words of a reply.
        choices: the texts of the choices.

    Returns:
        Positions in `choices`; several where the comparison cannot tell them apart.
    """
    bare = text.strip(" .()[]{}<>\"':!*\n")
    if len(bare) == 1 and bare.isascii() and bare.isalpha() and ord(bare.upper()) - ord("A") < len(choices):
        return ()
    by_form = wanted(tuple(choices)).by_form
    for known, form in list(zip(by_form, (_tight, _joined, _said), strict=True))[
        : 1 if _LABEL.match(text) else 3
    ]:
        if found := known.get(form(text)):
            return found
    return ()


@dataclass(frozen=True)
class _Tokens:
    """The words of a text in small letters, and where they stand."""

    text: str
    words: Sequence[str]
    spans: Sequence[tuple[int, int]]

    def texts(self, asked: Wanted) -> Iterator[Mention]:
        """Where the words of a choice stand; none overlaps another."""
        at = 0
        while at < len(self.words):
            found = self._choice_at(asked, at) if self.words[at] in asked.by_token else None
            if found is not None:
                yield found
                while at < len(self.words) and self.spans[at][0] < found.end:
                    at += 1
            at += found is None

    def _choice_at(self, asked: Wanted, at: int) -> Mention | None:
        """The longest choice whose words begin there."""
        start = self.spans[at][0]
        for tokens, choices in asked.by_token[self.words[at]]:
            last = self._last_of(tokens, at)
            is_first = not self.text[self.text.rfind("\n", 0, start) + 1 : start].strip(" -*(")
            if last is not None and not (
                is_first and len(tokens) == 1 and _NUMBERING.match(self.text, start)
            ):
                return Mention(start, self.spans[last][1], choices, "choice-text", is_word=len(tokens) == 1)
        return None

    def _last_of(self, tokens: tuple[str, ...], at: int) -> int | None:
        """The place of the last word, where all stand there one behind the other but for *the*."""
        for token in tokens[1:]:
            last, at = at, at + 1
            while at < len(self.words) and self.words[at] == "the" != token:
                at += 1
            if at >= len(self.words) or self.words[at] != token:
                return None
            gap = self.text[self.spans[last][1] : self.spans[at][0]]
            if "\n" in gap or len(gap) > _SMALL_GAP * (at - last):
                return None
        return at


def _misspelt(asked: Wanted, own: int, text: str) -> int:
    """The length of the line, where it says its choice but for a slip or a cut; otherwise 0."""
    line = text.partition("\n")[0].rstrip(" .*\ue002")
    said, is_last = line.casefold(), len(line) == len(text.rstrip(" .*\ue002"))
    if not said or abs(len(said) - len(asked.tight[own])) > _SMALL_GAP:
        return len(line) if is_last and len(said) >= _SMALL_GAP and asked.tight[own].startswith(said) else 0
    ratios = [SequenceMatcher(None, said, tight, autojunk=False).ratio() for tight in asked.tight]
    return len(line) if ratios[own] == max(ratios) > _ALIKE and ratios.count(max(ratios)) == 1 else 0


def _lettered(asked: Wanted, place: re.Match[str], texts: Mapping[int, Mention]) -> Mention | None:
    """A letter, with the text behind it where that is the text of a choice."""
    text, letter, (start, end) = place.string, place["letter"], place.span()
    own = ord(letter.upper()) - ord("A")
    inside, marks = texts.get(place.start("letter")), _MARKS.match(text, end)
    if own >= asked.n or marks is None or (inside is not None and inside.end > place.end("letter")):
        return None
    behind = texts.get(marks.end())
    is_marked = bool(marks[0].strip(" \t") or place["close"])
    is_label = letter.isupper() or (is_marked and text[max(0, start - 1) : start] in ("", "\n"))
    if behind is not None and is_label and (is_marked or _LINE_END.match(text, behind.end)):
        closing = _CLOSING.match(text, behind.end)
        end_of_both = closing.end() if closing else behind.end
        if own in behind.choices:
            return Mention(start, end_of_both, (own,), "letter-and-text")
        if is_marked and not set(marks[0]) & set(",;"):
            return Mention(start, end_of_both, (), "letter-and-other-text")
    if (
        behind is None
        and is_label
        and is_marked
        and (misspelt := _misspelt(asked, own, text[marks.end() :][:_REACH]))
    ):
        return Mention(start, marks.end() + misspelt, (own,), "letter-and-text")
    before = text[max(0, start - 24) : start]
    is_bracketed = text[start] in "([{" and bool(place["close"])
    if (
        letter.islower()
        and not (is_bracketed and not re.match(r"[^\S\n]*\w", text[end : end + 9]))
        and not (_LINE_END.match(text, end) and _ALONE_BEFORE.search(before))
    ):
        return None
    is_word = not place["close"] and re.match(
        r"\s+(?!(?:and|or|is|was|because|as)\b)[a-z]", text[end : end + 9]
    )
    if is_word and (
        (letter == "I" and not _OPTION_BEFORE.search(before)) or (letter == "A" and behind is not None)
    ):
        return None  # the pronoun; the article of "a white dog"
    return Mention(start, end, (own,), "letter", is_firm=is_bracketed)


def find_mentions(choices: tuple[str, ...], text: str) -> list[Mention]:
    """All places of a plain text that name a choice, in order; none overlaps another."""
    asked = wanted(choices)
    tokens = list(TOKEN.finditer(text))
    said = _Tokens(text, [m[0].casefold() for m in tokens], [m.span() for m in tokens])
    texts = {m.start: m for m in said.texts(asked)}
    for choice, i in asked.without_blanks:
        texts |= {
            m.start(): Mention(*m.span(), (i,), "choice-text") for m in re.finditer(re.escape(choice), text)
        }
    found = [m for place in _LETTER.finditer(text) if (m := _lettered(asked, place, texts))]
    found += (
        m
        for m in texts.values()
        if m.end - m.start > 1
        or not text[m.start : m.end].isascii()
        or text[m.start].isdigit()
        or ord(text[m.start].upper()) - ord("A") >= asked.n
    )
    kept: list[Mention] = []
    for mention in sorted(found, key=lambda m: (m.start, -m.end)):
        last = kept[-1] if kept else None
        if (
            last
            and (mention.choices, mention.form) == (last.choices, last.form)
            and not re.search("[\\w\n\ue001-\ue003]", text[last.end : mention.start])
        ):
            kept[-1] = replace(last, end=max(last.end, mention.end))  # said twice
            continue
        if last is None or mention.start >= last.end:
            kept.append(mention)
        if last is None or (last.form, mention.form) != ("choice-text", "letter"):
            continue
        if mention.is_firm and re.fullmatch(r"\s?,?\s?", text[last.end : mention.start]):  # Black (C)
            is_own = set(mention.choices) <= set(last.choices)
            form = "letter-and-text" if is_own else "letter-and-other-text"
            kept[-2:] = [
                replace(
                    last, end=mention.end, choices=mention.choices if is_own else (), form=form, is_word=False
                )
            ]
    return kept
