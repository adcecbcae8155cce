"""Find where a reply states its final answer: one grammar over the words of all languages.

A statement is *words of answering or choosing* followed by a choice, a choice followed by *words of being
right*, or a clause that is only a choice. Negated, asked, hypothetical and attributed mentions, and lists of
choices, do not count. The patterns match the text before and after a mention of a choice, whose own words are
masked.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property, lru_cache
from itertools import pairwise

from vidence.ask.scoring.letters import words
from vidence.ask.scoring.mentions import Mention, equal_choices, find_mentions
from vidence.ask.scoring.phrases import any_of, spoken
from vidence.records import Item

# Signs that no reply holds: a masked mention and the rest of it; what opens and closes a marked answer, and
# an answer behind which nothing is read.
MASK, MASKED = "\ue000", "\ue00f"
OPEN, FINAL_OPEN, CLOSE = "\ue001", "\ue003", "\ue002"
_REACH = 200
_HEADING = 120
_MOST_MENTIONS = 300
_LABEL_WORDS = 4
_NEAR_SEGMENTS = 4
_SHORT = 12
_WORD, _WORDS = re.compile(r"\w"), re.compile(r"\w+")
_BULLET = f" .-*#({MASK}{MASKED}"
_LETTER = re.compile(r"[A-Z](?=\W*(?:\n|\Z))")
_OPENS = re.compile(r"\s*[,;-]+\s+\w")
_LABEL = re.compile(r"\s*[.:)-]\s*\w")
_BEHIND_LABEL = re.compile(rf"\s*[:.)=-]+\s*(?P<said>\w[^\n{MASK}{CLOSE}]*)")
_ENDS_HERE = re.compile(rf"\W*(?:\Z|\n|{CLOSE})")
_OTHER_TEXT = "a letter stands with the text of another choice"
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|vs|mrs?|ms|dr|st|no|approx|fig|z\.b|d\.h|ca|bzw)|(?:\A|\n)\W*\d{1,2})\Z",
    re.IGNORECASE,
)
_EDGE = re.compile(r"[^\S\n]*\n\s*|[.!?]+[\"')\]]*(?=\s|\Z|[^\x00-\x7f])\s*")
_NO_BLANKS = re.compile("[\u3040-\ud7af]")
_RANGES = (" to ", " through ", "-")
_FEW, _MOST_LATER = 4, 2
_ACTS, _CLAUSE_BEGINS = (
    re.compile(r"\s+[a-z]+s\b"),
    re.compile(r"(?:\A|[,;:.)-]|\b(?:and|but|so|yes|only))\s*\Z", re.IGNORECASE),
)
_CLAUSE = re.compile(r"[,;:](?=\s|[^\x00-\x7f])|--|\s-\s")
_MARK = re.compile(rf"(?P<open>[{OPEN}{FINAL_OPEN}])(?P<said>[^{OPEN}{FINAL_OPEN}{CLOSE}]*)(?:{CLOSE}|\Z)")
_SLOT = re.compile(r"(?:[:=>→⇒]|\n)[^\w\n]*+(?P<word>(?=\w))?")


# Word lists that are looked for as they are.
_LISTS = "wait so but or_ supposed perhaps example none small verb would if open announces"


class Rank(IntEnum):
    """How final a statement is; text after a `FINAL` one is ignored."""

    SAID = 0
    HINT = 1
    ALONE = 2
    STATED = 3
    MARKED = 4
    FINAL = 5


@dataclass(frozen=True)
class Statement:
    """A place that states an answer: the index of the choice, or -1 and why it states none.

    `corrects`: it withdraws earlier statements, or concludes.
    """

    start: int
    rank: Rank
    rule: str
    choice: int
    form: str = ""
    doubt: str = ""
    corrects: bool = False


@lru_cache(maxsize=64)
def grammar(codes: tuple[str, ...]) -> Mapping[str, re.Pattern[str]]:
    """Return patterns for languages: those up to `no` end before a choice, `right` to `denied` follow it."""

    def w(*names: str) -> str:
        return f"(?:{'|'.join(any_of(name, codes) for name in names)})"

    noun, foreign = any_of("answer"), tuple(code for code in codes if code != "en") or ("other",)
    quotes = r"[\s\"'(\[{<$]*"
    fill = rf"(?:{w('fill', 'option', 'so')}[^\w{MASK}]*){{0,8}}"
    ends = rf"\s*(?:[^\w\s]|\Z|\n|{w('tail', 'because', 'so', 'follow')}|[\u0600-\u06ff\u3040-\ud7af])"
    colon = rf"[\"'\])}}]*\s*(?::|=>|-+>|→|⇒|--+|\s-(?=\s))\s*{quotes}"
    gap = rf"(?:(?!(?:choice|option|answer)s\b)[^.!?;:\n{MASK}])"
    article = r"(?<!\ba)(?<!\ban)" if codes == ("en",) else ""
    patterns = {
        "marker": rf"{noun}(?:{gap}{{0,40}}?{colon}|\W{{0,4}}=){fill}{quotes}\Z"
        rf"|(?:\A|\n)[^\w\n]*(?:\w+[^\S\n]+){{0,3}}{noun}[^\w\n]*\n{quotes}\Z"
        rf"|\[\s*{noun}\s*\]\s*:?{quotes}\Z",
        "stated": rf"(?:{w('answer')}[^.!?;\n{MASK}]{{0,60}}?{w('is_')}|{w('choose')}:?)"
        rf"\s*{quotes}{fill}{quotes}\Z",
        "matches": rf"{w('matches')}\s*{quotes}{fill}{quotes}\Z",
        "option": rf"(?:[(\[]\s*)?{w('option')}\s*(?:#|nr\.?\s*|no\.?\s*)?{quotes}\Z",
        "filled": rf"\W*(?:\d{{1,2}}[.)]\s)?\W*(?:{w('fill', 'option', 'so', 'wait', 'but', 'answer')}"
        rf"[^\w{MASK}]*){{0,12}}",
        "no": rf"{w('no')}(?:[^.;!?\n,]|,\s*(?:что|dass)\b)*\Z",
        "right": rf"[\s,\"'|]*(?:{w('right')}(?={ends})|{w('chosen')})(?!\w{{0,3}}\s*{w('denied')})"
        r"(?![^.\n]{0,14}(?:ません|않|지\s*못))",
        "follow": ends,
        "behind": rf"[^\w{MASK}]*|[^\w:{MASK}]*(?:{w('tail')}[^\w{MASK}]*)?(?:{w('because')}.*)?",
        "denied": rf"\s*{w('denied')}",
        "join": rf"[\s\"'(\[)\]]*(?:[,/&+.\s]|->|→|⇒|{any_of('or_')})+[\s\"'(\[]*(?:{w('option')}\s*)?"
        r"[\"'(\[]*",
        "said_of": rf"{w('saying')}\s*\Z",
        "ends": rf"{w('place')}?\W*\Z|,?\s+{w('because')}",
        "turn": rf"{w('turn')}|{any_of('but', foreign)}|;|:(?=\s)",
        "joins": rf"{w('is_')}\s*{quotes}\Z" if codes == ("en",) else "",
        "cut": rf"\W*{w('or_', 'turn', 'if')}\W*\Z",
        "remark": rf"[^\S\n]*[.:)-][^\S\n]+{w('opening')}\s+\w+\s+\w+",
        "talk": rf"{any_of('option', foreign)}|{any_of('answer', foreign)}"
        r"|\b(?:option|choice|candidate|answer|alternative|guess)s?\b",
        "sign": r"(?:\W|the\s)*letter\b",
        "little": rf"(?:{w('fill', 'so')}{article}(?<!,)|(?<![\u3040-\ud7af])[,:-])\s*\Z",
        **{name: w(name) for name in _LISTS.split()},
    }
    return {name: re.compile(pattern, re.IGNORECASE | re.DOTALL) for name, pattern in patterns.items()}


@dataclass(frozen=True)
class Segment:
    """A sentence: its span, and the character that ended it."""

    start: int
    end: int
    stop: str


def split(text: str, lone: frozenset[int] = frozenset()) -> list[Segment]:
    """Split a text into sentences.

    Args:
        text: with masked mentions.
        lone: positions after a bare letter, where a full stop belongs to the letter if lower-case text
            follows or the letter starts the sentence.
    """
    entries, start = [], 0
    for edge in _EDGE.finditer(text):
        at, behind = edge.start(), text[edge.end() : edge.end() + 1]
        if edge[0][0] == "." and "\n" not in edge[0]:
            is_label = at in lone and (behind.islower() or (behind and not text[start:at].strip(_BULLET)))
            if is_label or _ABBREVIATION.search(text[max(0, at - 12) : at]):
                continue
        if text[start:at].strip():
            entries.append(Segment(start, at, edge[0].strip()[:1]))
        start = edge.end()
    return [*entries, Segment(start, len(text), "")] if text[start:].strip() else entries


@dataclass(frozen=True)
class Place:
    """A mention in its sentence: the text `before` it, and the `clause` after the previous mention."""

    mention: Mention
    at: int
    index: int
    others: Sequence[Mention]
    far: str
    before: str
    clause: str
    after: str
    line: str
    is_edge: bool


class Reader:
    """The statements of one reply, a normalised text with signs around marked answers."""

    def __init__(self, item: Item, text: str) -> None:
        self.item, self.text = item, text
        codes = spoken(text)
        self.grammar, self.is_english = grammar(codes), len(codes) == 1
        mentions = find_mentions(item.choices, text)
        if len(mentions) > _MOST_MENTIONS:  # a model that repeats itself
            mentions = mentions[: _MOST_MENTIONS // 6] + mentions[-_MOST_MENTIONS:]
        self.mentions = [self._with_option(m) for m in mentions]
        pieces: list[str] = []
        at = 0
        for m in self.mentions:
            if not m.is_word and m.start >= at:
                pieces += (text[at : m.start], MASK, MASKED * (m.end - m.start - 1))
                at = m.end
        self.masked = "".join(pieces) + text[at:]
        self.segments = split(self.masked, frozenset(m.end for m in self.mentions if m.form == "letter"))
        self.inside: list[list[Mention]] = [[] for _ in self.segments]
        at = 0
        for m in self.mentions:
            while at + 1 < len(self.segments) and m.start >= self.segments[at + 1].start:
                at += 1
            self.inside[at].append(m)

    def has(self, name: str, text: str) -> bool:
        """Whether a grammar pattern occurs in a text."""
        return self.grammar[name].search(text) is not None

    def begins(self, name: str, text: str) -> bool:
        """Whether a text starts with a grammar pattern."""
        return self.grammar[name].match(text) is not None

    def _with_option(self, m: Mention) -> Mention:
        """Extend a letter mention by a preceding word for *option*."""
        low = max(0, m.start - 30)
        before = self.grammar["option"].search(self.text[low : m.start]) if "letter" in m.form else None
        return m if before is None else Mention(low + before.start(), m.end, m.choices, m.form)

    @cached_property
    def listed(self) -> frozenset[int]:
        """Return the sentences that start with consecutive letters: a list of choices."""
        values: set[int] = set()
        last, run = -1, set[int]()
        for i, (segment, inside) in enumerate(zip(self.segments, self.inside, strict=True)):
            if self.masked[segment.start : segment.end].rstrip().endswith(":"):
                last = -1  # what introduces a list is not in it
            m = inside[0] if inside else None
            if m is None or self.masked[segment.start : m.start].strip(" -*#(") or not self._is_label(m):
                continue
            if last < 0 or m.choice in run or i - last > _NEAR_SEGMENTS:
                run = set()
                values |= {i} if i and self.has("announces", self._sentence(i - 1)) else set()
            else:
                values |= {last, i}
            run.add(m.choice)
            last = i
        return frozenset(values)

    def _sentence(self, at: int) -> str:
        return self.masked[self.segments[at].start : self.segments[at].end]

    def _is_label(self, m: Mention) -> bool:
        mark = _LABEL.match(self.masked, m.end)
        return m.form.startswith("letter-") or bool(
            mark and (m.form == "letter" or mark[0].lstrip()[0] in ":-")
        )

    def statements(self) -> list[Statement]:
        """Return all statements, in order; including marks and headings that state no choice."""
        statements = [s for place in self.places if (s := self._statement(place))]
        return sorted([*statements, *self._of_marks(statements), *self._of_slots()], key=lambda s: s.start)

    @cached_property
    def asked(self) -> set[tuple[int, ...]]:
        """Return the choices that the question names."""
        return {m.choices for m in find_mentions(self.item.choices, self.item.question) if "text" in m.form}

    @cached_property
    def places(self) -> list[Place]:
        """Return all mentions outside questions, each in its sentence."""
        return list(self._places())

    @cached_property
    def left(self) -> tuple[Place, ...]:
        """Return where the last sentence with letters names the only choice that it does not exclude."""
        named = [p for p in self.places if "letter" in p.mention.form and self._is_no_word(p)]
        free = [p for p in named if p.at not in self.listed]
        if not free or not self._speaks_of_choices(named) or not self._concludes(free[-1].at):
            return ()
        last = [p for p in free if p.at == free[-1].at]
        guesses = {p.mention.choice for p in last if self.has("perhaps", p.clause)}
        kept = [p for p in last if not (self.is_joined(p) or self._is_taken(p))]
        if not self.is_english:  # first C, but then D
            kept = [p for p in kept if self.has("but", p.clause)] or kept
        if len({p.mention.choice for p in kept} | guesses) != 1 or any(
            p.clause in _RANGES for p in self.places if p.at == free[-1].at
        ):
            return ()
        begins = {p.mention.choice for p in free if not (p.index or _WORD.search(p.before))}
        is_told = len(last) == 1 and not _WORD.search(last[0].before) and len(begins) > 1
        short = {p.mention.choice for p in free if len(p.before.split()) < _FEW and not _WORD.search(p.after)}
        turns = any(self.has(name, p.before) for p in kept for name in ("so", "wait", "but"))
        return () if is_told or (len(short) > 1 and not turns) or self.is_cut(last[-1]) else tuple(kept)

    def _concludes(self, at: int) -> bool:
        """Whether at most two sentences follow, none of which leaves the answer open."""
        later = range(at + 1, len(self.segments))
        return len(later) <= _MOST_LATER and not any(
            self.has(name, self._sentence(i)) for name in ("open", "none") for i in later
        )

    def _is_no_word(self, place: Place) -> bool:
        """Whether a letter is not a word of a language (A man), or its position rules that out."""
        m, letter = place.mention, self.text[place.mention.end - 1]
        is_label = letter not in "AEIOUY" or _WORD.search(place.before) is not None
        acts = _ACTS.match(place.after) and _CLAUSE_BEGINS.search(place.before)  # B holds
        is_label = is_label and bool(acts or not self.is_english)
        return is_label or m.is_firm or self.begins("follow", place.after)

    def _speaks_of_choices(self, named: Sequence[Place]) -> bool:
        """Whether letters refer to choices: a single one (gate A) needs context or position."""
        first, last = named[0], named[-1]
        is_end = last.at == len(self.segments) - 1 and not _WORD.search(last.after)
        is_little = first.at == 0 and len(first.before.split()) < _FEW
        stands, begins = self.has("little", last.before), _CLAUSE_BEGINS.search(last.before) is not None
        if len({p.mention.choice for p in named}) > 1:
            stands = stands or (is_end and any(p.at == last.at and self.is_joined(p) for p in named))
            stands = stands or (not self.is_english and self.has("but", last.clause))
            if stands or (begins and not _NO_BLANKS.search(self.masked)):
                return True
        return (
            any(p.mention.is_firm and not self.has("sign", self.text[p.mention.start :][:20]) for p in named)
            or (self.has("talk", self.masked) and (not self.is_english or begins or stands))
            or (is_little and (self.has("little", first.before) or (is_end and not self.is_english)))
            or (is_end and stands)
        )

    def _is_taken(self, place: Place) -> bool:
        is_behind = self.has if _NO_BLANKS.search(place.after) else self.begins  # where verbs end sentences
        return is_behind("denied", place.after) or self._is_unsaid(place, "")

    def _of_marks(self, statements: Sequence[Statement]) -> Iterator[Statement]:
        """Yield what whole marks say in a choice's words or in probabilities, and marks without a choice."""
        for mark in _MARK.finditer(self.text):
            marks = mark["said"].strip()
            rule = _SIGNS[mark["open"]]
            rank, equal = _RANKS[rule], equal_choices(marks, self.item.choices)
            if len(equal) == 1:
                yield Statement(mark.end(), rank, rule, equal[0], "choice-text")
            elif marks and not any(mark.start() < s.start < mark.end() for s in statements):
                doubt = f"the marked answer is no choice: {marks[:60]!r}"
                yield Statement(mark.start(), rank, rule, -1, doubt=doubt)

    def _of_slots(self) -> Iterator[Statement]:
        """Yield headings followed by *none* or by a letter beyond the choices."""
        slots = [slot for slot in _SLOT.finditer(self.masked) if slot["word"] is not None]
        for slot in slots[-_MOST_MENTIONS:]:
            at = slot.end()
            if not (self.begins("none", self.masked[at : at + 20]) or _LETTER.match(self.masked, at)):
                continue
            if self.has("marker", self.masked[max(0, at - _HEADING) : at]):
                doubt = f"the stated answer is no choice: {self.masked[max(0, at - 40) : at + 20]!r}"
                yield Statement(at, Rank.MARKED, "marker", -1, doubt=doubt)

    def _places(self) -> Iterator[Place]:
        for i, (segment, inside) in enumerate(zip(self.segments, self.inside, strict=True)):
            for k, m in enumerate(inside if segment.stop != "?" else ()):
                low = max(segment.start, m.start - _REACH)
                end = self.masked.find("\n", m.end, m.end + _REACH)
                yield Place(
                    mention=m,
                    at=i,
                    index=k,
                    others=inside,
                    far=self.masked[max(0, m.start - _REACH) : m.start],
                    before=self.masked[low : m.start],
                    clause=self.masked[max(low, inside[k - 1].end) if k else low : m.start],
                    after=self.masked[m.end : min(segment.end, m.end + _REACH)],
                    line=self.masked[m.end : end if end >= 0 else m.end + _REACH],
                    is_edge=i in (0, len(self.segments) - 1),
                )

    def _statement(self, place: Place) -> Statement | None:
        rule = next(filter(None, (find(self, place) for find in _RULES)), "")
        if not rule or self.has("example", place.before + " " + place.line):
            return None
        rank = _RANKS[rule]
        if rank < Rank.FINAL:
            if self._is_unsaid(place, rule):
                return None
            rank = _RANKS.get(self._mark_around(place.mention.start), rank)
        choice, form, doubt = self._read(place, rule)
        corrects = rule == "correction" or self.has("wait", place.before) or self.has("so", place.before)
        return Statement(
            place.mention.start, rank, rule, -1 if doubt else choice, form, doubt, corrects=corrects
        )

    def _mark_around(self, at: int) -> str:
        """Return the mark that contains a position."""
        opening = max(self.text.rfind(sign, 0, at) for sign in _SIGNS)
        is_open = opening >= 0 and self.text.find(CLOSE, opening, at) < 0
        return _SIGNS[self.text[opening]] if is_open else ""

    def _read(self, place: Place, rule: str) -> tuple[int, str, str]:
        """Return the choice that a place states, its form, and objections."""
        m = place.mention
        if (shares := probabilities(self.item, self.text[m.start : m.end + len(place.line)])) is not None:
            return shares[0], "probabilities", shares[1]
        doubt = ""
        if self.is_joined(place):
            doubt = "several choices are named together"
        elif self.begins("cut", place.after):
            doubt = "the reply ends before its answer does"
        elif m.form == "letter-and-other-text":
            doubt = _OTHER_TEXT
        elif m.choice < 0:
            doubt = "several choices have this text"
        elif m.form == "letter" and rule != "verdict":
            return m.choice, *self._labelled(place)
        return m.choice, m.form, doubt

    def _labelled(self, place: Place) -> tuple[str, str]:
        """Return the form of a letter followed by other words, and objections."""
        m = place.mention
        is_first = not _WORD.search(place.before)
        behind = _BEHIND_LABEL.match(place.line)
        if behind is None or not (is_first or behind[0].lstrip()[0] != "."):
            return ("letter-and-remark" if _WORD.search(place.line) else "letter"), ""
        messages = words(behind["said"])
        if {*messages} & {w for w in words(self.item.choices[m.choice]) if not self.begins("small", w)}:
            return "letter-and-text", ""
        is_text = len(messages) <= _LABEL_WORDS and not self.has("verb", behind["said"])
        if is_text and not self.grammar["behind"].fullmatch(behind[0].rstrip()):
            return "letter", "the text beside the letter is not the text of its choice"
        line_end = m.end + len(place.line)
        others = {o.choice for o in self.mentions if m.end <= o.start < line_end and o.form == "choice-text"}
        if is_first and others and m.choice not in others:
            return "letter", _OTHER_TEXT
        return "letter-and-remark", ""

    def is_joined(self, place: Place) -> bool:
        """Whether another choice is named with it: ``A or B``."""
        return any(self._are_joined(*pair) for pair in pairwise(place.others) if place.mention in pair)

    def _are_joined(self, left: Mention, right: Mention) -> bool:
        between = self.masked[left.end : right.start]
        is_repeated = (
            right.form == "letter" and "," in self.text[right.start : right.end]
        )  # B in "A and B, B"
        if left.choice == right.choice >= 0 or is_repeated:
            return False
        return len(between) <= 30 and (not between or bool(self.grammar["join"].fullmatch(between)))

    def can_follow(self, place: Place) -> bool:
        """Whether the words after a mention leave it intact and do not negate it."""
        m, after = place.mention, place.after
        if self.begins("denied", after):
            return False
        return ("text" in m.form and not m.is_word) or self.begins("follow", after)

    def can_end(self, place: Place) -> bool:
        """Whether only an ending, an afterthought or a reason follows in the sentence."""
        return self.can_follow(place) and self.grammar["behind"].fullmatch(place.after) is not None

    def is_cut(self, place: Place) -> bool:
        """Whether a reply ends in a letter that could continue: "Option B" after prose, a next list entry."""
        m, segment = place.mention, self.segments[place.at]
        is_end = not segment.stop and segment is self.segments[-1] and m.form == "letter"
        if (
            is_end
            and place.at - 1 in self.listed
            and "\n\n" not in self.text[segment.start - 2 : segment.start]
        ):
            return m.choice == self.inside[place.at - 1][0].choice + 1
        is_bare = self.text[m.start].isalpha() and not _WORD.search(place.before)
        return is_end and is_bare and self.text[: segment.start].rstrip(" ")[-1:] == "."

    def is_filled(self, text: str) -> bool:
        """Whether the words before a choice are only filler."""
        return self.grammar["filled"].fullmatch(text) is not None

    def _is_unsaid(self, place: Place, rule: str) -> bool:
        """Whether a mention is negated, hypothetical, or attributed to others."""
        before = place.clause if place.index and not self.is_joined(place) else place.before
        clause = self.grammar["turn"].split(place.before)[-1]
        return (
            self.has("no", before)
            or self.has("supposed", clause)
            or self.has("perhaps", _CLAUSE.split((place.clause if place.index else clause).rstrip(" ,"))[-1])
            or (self.has("would", place.before) and self.has("if", place.after))
            or (rule == "verdict" and self.has("supposed", self.grammar["turn"].split(place.after)[0]))
        )


def _marked(reader: Reader, place: Place) -> str:
    sign = place.far.rstrip(" \t\n\"'([{<$")[-1:]
    return _SIGNS.get(sign, "") if reader.can_follow(place) else ""


def _headed(reader: Reader, place: Place) -> str:
    is_label = place.at in reader.listed and not _WORD.search(place.before)
    is_free = not is_label and reader.can_follow(place)
    return "marker" if is_free and reader.has("marker", place.far[-_HEADING:]) else ""


def _stated(reader: Reader, place: Place) -> str:
    is_free = place.at not in reader.listed and reader.can_follow(place)
    return "statement" if is_free and reader.has("stated", place.before) else ""


def _right(reader: Reader, place: Place) -> str:
    if not reader.begins("right", place.after):
        return ""
    is_free = place.mention.is_firm or not reader.is_english
    return "verdict" if is_free or reader.is_filled(_CLAUSE.split(place.clause)[-1]) else ""


def _clause(reader: Reader, place: Place) -> str:
    """Return a clause at the end of a sentence that is only a choice; in other languages any short one."""
    m, clause = place.mention, place.clause
    if place.at in reader.listed or len(place.before) >= _REACH or not reader.can_end(place):
        return ""
    if m.is_word and _WORD.search(place.before) and not reader.has("wait", place.before):
        return ""
    if not place.index and reader.is_filled(place.before):
        return "" if reader.is_cut(place) else "alone"
    parts = [part for part in _CLAUSE.split(clause) if _WORD.search(part)] or [""]
    turns = reader.has("but", clause) or reader.has("wait", clause) or "?" in clause
    turns = (
        turns or reader.begins("denied", clause) or (clause == " to " and reader.has("wait", place.before))
    )
    is_sure = not (reader.has("perhaps", place.before) or reader.has("or_", clause))
    is_short = not reader.is_english and is_sure and len(_WORDS.findall(parts[-1])) <= _SHORT
    if not (reader.is_filled(clause) or reader.is_filled(parts[-1])):
        is_sole = len({o.choices for o in place.others}) == 1 and reader.has("joins", clause)
        is_last = m.form != "choice-text" and place.at == len(reader.segments) - 1
        return "correction" if is_short and turns and place.index else "last" if is_sole and is_last else ""
    if place.index and turns:
        return "correction"
    is_later = m.form != "choice-text" and 0 < len(parts[-1]) < len(clause)
    return "short" if is_later or turns or reader.has("so", parts[-1]) else ""


def _opens(reader: Reader, place: Place) -> str:
    """Return a choice that starts the reply or its last sentence, followed by a remark."""
    m = place.mention
    if place.at in reader.listed or not place.is_edge or _WORD.search(place.before) or place.index:
        return ""
    if m.form == "letter":
        is_sole = len(reader.mentions) == 1 and _OPENS.match(place.after) is not None
        return "alone" if is_sole or reader.begins("remark", place.line) else ""
    return "alone" if "text" in m.form and len(place.others) == 1 and _OPENS.match(place.after) else ""


def _matched(reader: Reader, place: Place) -> str:
    is_free = place.at not in reader.listed and (
        place.mention.is_firm or (place.is_edge and reader.can_end(place))
    )
    return "match" if is_free and reader.can_follow(place) and reader.has("matches", place.before) else ""


def _named(reader: Reader, place: Place) -> str:
    """Return the only choice in a sentence with letter and text, or in brackets at the reply's end."""
    m = place.mention
    if place.at in reader.listed or len({o.choices for o in place.others}) > 1:
        return ""
    is_last = place.is_edge and m.is_firm and reader.text[m.start] in "(["
    is_last = is_last and m.form == "letter" and bool(_ENDS_HERE.fullmatch(place.after))
    is_free = not reader.begins("denied", place.after)
    return "named" if (m.form == "letter-and-text" or is_last) and is_free else ""


def _said(reader: Reader, place: Place) -> str:
    """Return the only choice that the first or last sentence gives in its own words, not for the question."""
    m = place.mention
    if (
        place.at in reader.listed
        or not place.is_edge
        or m.form != "choice-text"
        or len(place.before) >= _REACH
    ):
        return ""
    segment = reader.segments[place.at]
    if {(o.choices, o.form) for o in place.others} != {(m.choices, m.form)} or {m.choices} == reader.asked:
        return ""
    if reader.has("open", reader.masked[segment.start : segment.end][: 2 * _REACH]):
        return ""
    if not reader.is_english:
        return "sentence" if reader.can_end(place) else ""
    choice = reader.item.choices[m.choices[0]]
    is_all = reader.begins("ends", place.after) or choice[:1].isdigit() or choice.endswith("ing")
    return "sentence" if not m.is_word or (is_all and reader.has("said_of", place.before)) else ""


def _left(reader: Reader, place: Place) -> str:
    return "left" if place in reader.left else ""


_SIGNS = {FINAL_OPEN: "answer-tag", OPEN: "box"}
# The first that says something says what a mention is.
_RULES = (_marked, _headed, _stated, _right, _clause, _opens, _matched, _named, _said, _left)
_RANKS = {
    "answer-tag": Rank.FINAL,
    "box": Rank.MARKED,
    "marker": Rank.MARKED,
    "statement": Rank.STATED,
    "verdict": Rank.STATED,
    "correction": Rank.STATED,
    "alone": Rank.ALONE,
    "short": Rank.HINT,
    "match": Rank.HINT,
    "named": Rank.HINT,
    "last": Rank.SAID,
    "sentence": Rank.SAID,
    "left": Rank.SAID,
}

_PAIR = re.compile(
    r"(?:p(?:rob)?\s*(?=\())?[(\[]?(?P<letter>(?-i:[A-Z]))[)\]]?\s*[:=(\-]?\s*(?:confidence|probability"
    r"|prob\.?|p)?\s*[:=]?\s*"
    r"(?P<number>\d{1,3}(?:\.\d+)?|\.\d+)\s*(?P<percent>%|percent)?\s*\)?",
    re.IGNORECASE,
)
_BETWEEN_PAIRS = re.compile(r"[\s,;/|.\-]*(?:and|vs\.?)?[\s\-]*", re.IGNORECASE)


def probabilities(item: Item, text: str) -> tuple[int, str] | None:
    """Return the most likely choice in a list such as ``C (0.2), B (0.8)``, or -1 and a doubt.

    None without such a list. Two equally likely letters, or numbers that are not probabilities, are
    ambiguous.
    """
    pairs: dict[str, float] = {}
    at = 0
    for pair in _PAIR.finditer(text):
        if pair["letter"] in pairs or not _BETWEEN_PAIRS.fullmatch(text[at : pair.start()]):
            return None
        at = pair.end()
        pairs[pair["letter"]] = float(pair["number"]) / (100 if pair["percent"] else 1)
    if len(pairs) < 2 or text[at:].strip(f" .,;\n{CLOSE}"):
        return None
    if not {*pairs} <= {*item.letters}:
        return -1, "a letter beyond the choices has a probability"
    if all(equal_choices(f"{value:g}", item.choices) for value in pairs.values()):
        return None
    most = max(pairs.values())
    if most > 1 or sum(pairs.values()) > 1.05 or [*pairs.values()].count(most) > 1:
        return -1, "several letters have numbers that single out none"
    return item.letters.index(max(pairs, key=lambda letter: pairs[letter])), ""
