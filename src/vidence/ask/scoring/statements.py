"""Where a reply states its final answer: one grammar over the words of all languages.

A statement is *words of answering or choosing* with a choice behind them, a choice with *words of being
right* behind it, or a sentence that is nothing but a choice. What is denied, asked, supposed, put to others,
or one of several listed choices is none. The patterns look at what stands before and behind a mention of a
choice, whose own words are masked.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property, lru_cache

from vidence.ask.scoring.letters import words
from vidence.ask.scoring.mentions import Mention, equal_choices, find_mentions
from vidence.ask.scoring.phrases import any_of, languages, spoken
from vidence.records import Item

# Signs that no reply holds: a masked mention and the rest of it; what opens and closes a marked answer, and
# an answer behind which nothing is read.
MASK, MASKED = "\ue000", "\ue00f"
OPEN, FINAL_OPEN, CLOSE = "\ue001", "\ue003", "\ue002"
_REACH = 200
_MOST_MENTIONS = 300
_LABEL_WORDS = 4
_NEAR_SEGMENTS = 4
_FUNCTION_WORDS = (
    r"(?:as|for|from|at|here|in|with|which|where|according|while|although|but|though|and|so|to|when|if|by"
    r"|that|overall|over|I"
    r"|on|of|then|is|would|among|out)"
)
_REMARK = re.compile(
    r"[^\S\n]*[.:)-][^\S\n]+(?:In|At|From|On|Based|The|This|There|It|As|Because|He|She|They|Since|His|Her"
    r"|We|I|Looking"
    r"|Throughout|After|Before|When|While|Both|These|According)\s+\w+\s+\w+"
)
_LABEL = re.compile(r"\s*[.:)-]\s*\w")
_OPENS = re.compile(r"\s*[,;-]+\s+\w")
_CUT_OFF = re.compile(r"\W*(?:or|and|but|versus|vs|however|although)\W*\Z", re.IGNORECASE)
_BEHIND_LABEL = re.compile(rf"\s*[:.)=-]+\s*(?P<said>\w[^\n{MASK}{CLOSE}]*)")
_ENDS_HERE = re.compile(rf"\W*(?:\Z|\n|{CLOSE})")
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|seems|appears|looks|shows|can|does|\w+ing)\b", re.IGNORECASE
)
_OTHER_TEXT = "a letter stands with the text of another choice"
_ONE_VERB = re.compile(r"[)\"']*\s+(?:is|isn't|was|does|can|shows|seems|fits|matches|would|has|must|looks)\b")
_SMALL_WORDS = frozenset(("a", "an", "and", "at", "for", "in", "is", "it", "of", "on", "or", "the", "to"))
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|vs|mrs?|ms|dr|st|no|approx|fig|z\.b|d\.h|ca|bzw)|(?:\A|\n)\W*\d{1,2})\Z",
    re.IGNORECASE,
)
_EDGE = re.compile(r"[^\S\n]*\n\s*|[.!?]+[\"')\]]*(?=\s|\Z|[^\x00-\x7f])\s*")
_CLAUSE = re.compile(r"[,;:](?=\s)|--|\s-\s")
_TURN = r"\b(?:while|whereas|although|though)\b[^,\n]*,|\b(?:but|however|yet|although|though)\b|;|:(?=\s)"
_WOULD, _IF = (
    re.compile(r"\b(?:would|could|might)\b|'d\b", re.IGNORECASE),
    re.compile(r"\b(?:if|unless|provided)\b"),
)
_EXAMPLE = re.compile(
    r"\b(?:for\s+(?:example|instance)|e\.g\.|such\s+as|placeholder|your\s+(?:final\s+)?(?:answer|response"
    r"|choice)\s+(?:should|must|in|as|like|with))|\(example\)",
    re.IGNORECASE,
)
_SAYS_THAT = re.compile(r"\b(?:that|think|believe|say|options?,|seems|appears|and|but)\s+\Z", re.IGNORECASE)
_IS_RIGHT_ONE = re.compile(r"\b(?:answer|correct)\b", re.IGNORECASE)


class Rank(IntEnum):
    """How final a statement is; what follows a `FINAL` one is not read."""

    HINT = 0
    ALONE = 1
    STATED = 2
    MARKED = 3
    FINAL = 4


@dataclass(frozen=True)
class Statement:
    """A place that states an answer: the position of the choice, or -1 and why it states none.

    `corrects`: it takes back what was said before. `concludes`: it sums up.
    """

    start: int
    rank: Rank
    rule: str
    choice: int
    form: str = ""
    doubt: str = ""
    corrects: bool = False
    concludes: bool = False


@dataclass(frozen=True)
class Grammar:
    """Patterns for some languages: those up to `no` end before a choice, `right` to `denied` begin behind."""

    marker: re.Pattern[str]
    stated: re.Pattern[str]
    matches: re.Pattern[str]
    option: re.Pattern[str]
    filled: re.Pattern[str]
    no: re.Pattern[str]
    right: re.Pattern[str]
    follow: re.Pattern[str]
    behind: re.Pattern[str]
    denied: re.Pattern[str]
    join: re.Pattern[str]
    none: re.Pattern[str]
    wait: re.Pattern[str]
    so: re.Pattern[str]
    but: re.Pattern[str]
    supposed: re.Pattern[str]
    perhaps: re.Pattern[str]
    turn: re.Pattern[str]


@lru_cache(maxsize=64)
def grammar(names: tuple[str, ...]) -> Grammar:
    """The grammar of some languages."""
    w = {name: any_of(name, names) for name in languages()["en"].lists} | {"denied": any_of("denied", names)}
    noun = any_of("answer")
    quotes = r"[\s\"'(\[{<$]*"
    fill = rf"(?:(?:{w['fill']}|{w['option']}|{w['so']})[^\w{MASK}]*){{0,8}}"
    ends = (
        rf"\s*(?:[^\w\s]|\Z|\n|{w['tail']}|{w['because']}|{w['so']}|{_FUNCTION_WORDS}\b"
        rf"|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0600-\u06ff])"
    )
    colon = rf"[\"'\])}}]*\s*(?:[:=]>?|-+>|→|⇒|--+|\s-(?=\s))\s*{quotes}"
    gap = rf"(?:(?!(?:choice|option|answer)s\b)[^.!?;:\n{MASK}])"
    patterns = {
        "marker": rf"{noun}{gap}{{0,40}}?{colon}{fill}{quotes}\Z"
        rf"|(?:\A|\n)[^\w\n]*(?:\w+[^\S\n]+){{0,3}}{noun}[^\w\n]*\n{quotes}\Z"
        rf"|\[\s*{noun}\s*\]\s*:?{quotes}\Z",
        "stated": rf"(?:{w['answer']}[^.!?;\n{MASK}]{{0,60}}?{w['is_']}"
        rf"|{w['choose']}:?)\s*{quotes}{fill}{quotes}\Z",
        "matches": rf"{w['matches']}\s*{quotes}{fill}{quotes}\Z",
        "option": rf"(?:[(\[]\s*)?{w['option']}\s*(?:#|nr\.?\s*|no\.?\s*)?{quotes}\Z",
        "filled": rf"\W*(?:\d{{1,2}}[.)]\s)?\W*(?:(?:{w['fill']}|{w['option']}|{w['so']}|{w['wait']}"
        rf"|{w['but']}|{w['answer']})[^\w{MASK}]*){{0,12}}",
        "no": rf"{w['no']}(?:[^.;!?\n,]|,\s*(?:что|dass)\b)*\Z",
        "right": rf"\s*[,\"']*\s*(?:{w['right']}(?={ends})"
        rf"|{w['chosen']})(?!\w{{0,3}}\s*{w['denied']})(?![^.\n]{{0,14}}(?:ません|않|지\s*못))",
        "turn": rf"{_TURN}|{any_of('but', tuple(name for name in names if name != 'en') or ('other',))}",
        "follow": ends,
        "behind": rf"[^\w{MASK}]*(?:{w['tail']}[^\w{MASK}]*)?(?:{w['because']}.*)?",
        "denied": rf"{w['denied']}|\s*(?:is|are|was|seems|does|can|could|would|should|has)?(?:n't"
        rf"|\s+(?:\w+\s+){{0,2}}"
        r"(?:not|wrong|incorrect|false|ruled|unlikely|less|least|eliminated|excluded))\b",
        "join": rf"[\s\"'(\[)\]]*(?:[,/&+.\s]|->|→|⇒|{w['or_']})+[\s\"'(\[]*(?:{w['option']}\s*)?[\"'(\[]*",
        "none": rf"(?:{noun}{gap}{{0,40}}?{colon}|{w['answer']}\s+{w['is_']}\s+)(?:[^\S\n]*(?:{w['fill']}"
        rf"|[\"'(])){{0,3}}\s*(?:(?P<none>{w['none']})|(?-i:[A-Z])(?=\W*(?:\n|\Z)))",
    }
    patterns |= {name: w[name] for name in ("wait", "so", "but", "supposed", "perhaps")}
    return Grammar(
        **{name: re.compile(pattern, re.IGNORECASE | re.DOTALL) for name, pattern in patterns.items()}
    )


@dataclass(frozen=True)
class Segment:
    """A sentence: where it begins and ends, and the sign that ended it."""

    start: int
    end: int
    stop: str


def split(text: str, lone: frozenset[int] = frozenset()) -> list[Segment]:
    """The sentences of a text.

    Args:
        text: with masked mentions.
        lone: the places behind a lone letter, where a stop is its mark if text in small letters follows, or
            if the letter begins the sentence.
    """
    found, start = [], 0
    for edge in _EDGE.finditer(text):
        at, is_line = edge.start(), "\n" in edge[0]
        if not is_line and edge[0][0] == ".":
            begins = not text[start:at].strip(f" .-*#({MASK}{MASKED})")
            behind = text[edge.end() : edge.end() + 1]
            if at in lone and behind and (begins or behind.islower()):
                continue
            if _ABBREVIATION.search(text[max(0, at - 12) : at]):
                continue
        if text[start:at].strip():
            found.append(Segment(start, at, edge[0].strip()[:1]))
        start = edge.end()
    return [*found, Segment(start, len(text), "")] if text[start:].strip() else found


@dataclass(frozen=True)
class Place:
    """A mention in its sentence: `before` it, and of that only the `clause` behind the mention before it."""

    mention: Mention
    at: int
    segment: Segment
    others: Sequence[Mention]
    far: str
    before: str
    clause: str
    after: str
    line: str
    is_edge: bool

    @property
    def index(self) -> int:
        """How many mentions stand before it in the sentence."""
        return self.others.index(self.mention)


class Reader:
    """The statements of one reply, a plain text whose marked answers stand between the signs above."""

    def __init__(self, item: Item, text: str) -> None:
        self.item, self.text = item, text
        self.languages = spoken(text)
        self.grammar = grammar(self.languages)
        found = find_mentions(item.choices, text)
        if len(found) > _MOST_MENTIONS:  # a model that repeats itself
            found = found[: _MOST_MENTIONS // 6] + found[-_MOST_MENTIONS:]
        self.mentions = [self._with_option(m) for m in found]
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

    def _with_option(self, m: Mention) -> Mention:
        """With the word for *option* before a letter."""
        low = max(0, m.start - 30)
        before = self.grammar.option.search(self.text[low : m.start]) if "letter" in m.form else None
        if before is None:
            return m
        return Mention(low + before.start(), m.end, m.choices, m.form)

    @cached_property
    def listed(self) -> frozenset[int]:
        """The sentences that begin with one of several letters in their order: a list of choices."""
        found: set[int] = set()
        last, run = -1, set[int]()
        for i, (segment, inside) in enumerate(zip(self.segments, self.inside, strict=True)):
            if self.masked[segment.start : segment.end].rstrip().endswith(":"):
                last = -1  # what introduces a list is not in it
            m = inside[0] if inside else None
            if m is None or self.masked[segment.start : m.start].strip(" -*#(") or not self._is_label(m):
                continue
            if last < 0 or m.choice in run or i - last > _NEAR_SEGMENTS:
                run = set()
            else:
                found |= {last, i}
            run.add(m.choice)
            last = i
        return frozenset(found)

    def _is_label(self, m: Mention) -> bool:
        mark = _LABEL.match(self.masked, m.end)
        return m.form.startswith("letter-") or bool(
            mark and (m.form == "letter" or mark[0].lstrip()[0] in ":-")
        )

    def statements(self) -> list[Statement]:
        """All statements, in order; also of marks and headings that state no choice."""
        found = [s for place in self._places() if (s := self._statement(place))]
        found += self._of_marks(found)
        for said in self.grammar.none.finditer(self.masked):
            doubt = f"what the reply gives as its answer is no choice: {said[0][-60:]!r}"
            found.append(Statement(said.start(), Rank.MARKED, "marker", -1, doubt=doubt))
        return sorted(found, key=lambda s: s.start)

    def unlisted(self) -> str:
        """The text without the sentences of a list of choices."""
        kept = (s for i, s in enumerate(self.segments) if i not in self.listed)
        return " ".join(self.text[s.start : s.end + 1].replace("\n", " ") for s in kept)

    def said_at_the_end(self) -> int | None:
        """The choice that ends the last or first sentence of a reply that is not in English; else None."""
        g = self.grammar
        for i in (-1, 0) if self.segments and len(self.languages) > 1 else ():
            segment, inside = self.segments[i], self.inside[i]
            if (
                len({m.choices for m in inside}) != 1
                or segment.stop == "?"
                or i % len(self.segments) in self.listed
            ):
                continue
            m = inside[-1]
            before, after = self.masked[segment.start : m.start], self.masked[m.end : segment.end]
            is_open = (
                g.no.search(before)
                or g.supposed.search(before)
                or g.perhaps.search(before)
                or g.denied.match(after)
            )
            if (
                m.form == "choice-text"
                and not is_open
                and len(before) < _REACH
                and g.behind.fullmatch(after[:_REACH])
            ):
                return m.choice
        return None

    def _of_marks(self, found: Sequence[Statement]) -> Iterator[Statement]:
        """What whole marks say in the words of a choice or in probabilities, and marks that say no choice."""
        for mark in _MARK.finditer(self.text):
            said = mark["said"].strip()
            rank, rule = (Rank.MARKED, "box") if mark["open"] == OPEN else (Rank.FINAL, "answer-tag")
            inside = [s for s in found if mark.start() < s.start < mark.end()]
            equal = equal_choices(said, self.item.choices)
            if len(equal) == 1:
                yield Statement(mark.end(), rank, rule, equal[0], "choice-text")
            elif said and not inside:
                yield Statement(
                    mark.start(), rank, rule, -1, doubt=f"what the reply marks is no choice: {said[:60]!r}"
                )

    def _places(self) -> Iterator[Place]:
        for i, (segment, inside) in enumerate(zip(self.segments, self.inside, strict=True)):
            for k, m in enumerate(inside if segment.stop != "?" else ()):
                low = max(segment.start, m.start - _REACH)
                end = self.masked.find("\n", m.end, m.end + _REACH)
                yield Place(
                    mention=m,
                    at=i,
                    segment=segment,
                    others=inside,
                    far=self.masked[max(0, m.start - _REACH) : m.start],
                    before=self.masked[low : m.start],
                    clause=self.masked[max(low, inside[k - 1].end) if k else low : m.start],
                    after=self.masked[m.end : min(segment.end, m.end + _REACH)],
                    line=self.masked[m.end : end if end >= 0 else m.end + _REACH],
                    is_edge=i in (0, len(self.segments) - 1),
                )

    def _statement(self, place: Place) -> Statement | None:
        found = next(((rank, rule) for rank, rule, holds in _RULES if holds(self, place)), None)
        if found is None or _EXAMPLE.search(place.before + " " + place.line):
            return None
        if found[0] < Rank.FINAL and self._is_unsaid(place):
            return None
        rank, rule = found
        if rank < Rank.FINAL and (mark := self._mark_around(place.mention.start)):
            rank = mark
        corrects = rule == "correction" or bool(self.grammar.wait.search(place.before))
        choice, form, doubt = self._read(place, rule)
        return Statement(
            place.mention.start,
            rank,
            rule,
            -1 if doubt else choice,
            form,
            doubt,
            corrects=corrects,
            concludes=corrects or bool(self.grammar.so.search(place.before)),
        )

    def _mark_around(self, at: int) -> Rank | None:
        opening = max(self.text.rfind(OPEN, 0, at), self.text.rfind(FINAL_OPEN, 0, at))
        if opening < 0 or self.text.find(CLOSE, opening, at) >= 0:
            return None
        return Rank.MARKED if self.text[opening] == OPEN else Rank.FINAL

    def _read(self, place: Place, rule: str) -> tuple[int, str, str]:
        """The choice that a place states, in which form, and what speaks against it."""
        m = place.mention
        shares = probabilities(self.item, self.text[m.start : m.end + len(place.line)])
        if shares is not None:
            return shares[0], "probabilities", shares[1]
        doubt = ""
        if self.is_joined(place):
            doubt = "several choices are named together"
        elif _CUT_OFF.fullmatch(place.after):
            doubt = "the reply ends before its answer does"
        elif m.form == "letter-and-other-text":
            doubt = _OTHER_TEXT
        elif m.choice < 0:
            doubt = "several choices have this text"
        if doubt or m.form != "letter" or rule == "verdict":
            return m.choice, m.form, doubt
        return m.choice, *self._labelled(place)

    def _labelled(self, place: Place) -> tuple[str, str]:
        """The form of a letter with other words behind it, and what speaks against it."""
        m = place.mention
        is_first = not re.search(r"\w", place.before)
        behind = _BEHIND_LABEL.match(place.line)
        if behind is None or not (is_first or behind[0].lstrip()[0] != "."):
            return ("letter-and-remark" if re.search(r"\w", place.line) else "letter"), ""
        said = words(behind["said"])
        if {*said} & {*words(self.item.choices[m.choice])} - _SMALL_WORDS:
            return "letter-and-text", ""
        is_text = 0 < len(said) <= _LABEL_WORDS and not _VERB.search(behind["said"])
        if is_text and not self.grammar.behind.fullmatch(behind[0].rstrip()):
            return "letter", "the text beside the letter is not the text of its choice"
        line_end = m.end + len(place.line)
        others = {o.choice for o in self.mentions if m.end <= o.start < line_end and o.form == "choice-text"}
        if is_first and others and m.choice not in others:
            return "letter", _OTHER_TEXT
        return "letter-and-remark", ""

    def is_joined(self, place: Place) -> bool:
        """Whether another choice is named with it: ``A or B``."""
        k = place.index
        return any(
            self._are_joined(*place.others[a : a + 2]) for a in (k - 1, k) if 0 <= a < len(place.others) - 1
        )

    def _are_joined(self, one: Mention, other: Mention) -> bool:
        between = self.masked[one.end : other.start]
        if (one.choice == other.choice >= 0) or len(between) > 30 or not self.grammar.join.fullmatch(between):
            return between == "" and one.choice != other.choice
        return not _ONE_VERB.match(self.masked, other.end)

    def can_follow(self, place: Place) -> bool:
        """Whether the words behind a mention leave it whole, and do not deny it."""
        m, after = place.mention, place.after
        if self.grammar.denied.match(after):
            return False
        return ("text" in m.form and not m.is_word) or bool(self.grammar.follow.match(after))

    def _is_unsaid(self, place: Place) -> bool:
        """Whether what stands there is denied, supposed, or put to others."""
        g, before = self.grammar, place.before
        if place.index and not self.is_joined(place):
            before = place.clause
        last = re.split(r"[,;]", before)[-1]
        if g.no.search(before) and not (
            g.wait.search(last) and g.filled.fullmatch(last) and not re.search(r"\bnot\b|n't", last)
        ):
            return True
        clause = g.turn.split(place.before)[-1]
        if g.supposed.search(clause) or g.perhaps.search(clause.rpartition(",")[2]):
            return True
        return bool(_WOULD.search(place.before) and _IF.search(place.after))


def _is_marked(sign: str) -> Callable[[Reader, Place], bool]:
    return lambda reader, place: place.far.rstrip(" \t\n\"'([{<$")[-1:] == sign and reader.can_follow(place)


def _is_headed(reader: Reader, place: Place) -> bool:
    if place.at in reader.listed and not re.search(r"\w", place.before):
        return False
    return reader.can_follow(place) and bool(reader.grammar.marker.search(place.far))


def _is_stated(reader: Reader, place: Place) -> bool:
    is_free = place.at not in reader.listed
    return is_free and reader.can_follow(place) and bool(reader.grammar.stated.search(place.before))


def _is_right(reader: Reader, place: Place) -> bool:
    if not reader.grammar.right.match(place.after):
        return False
    clause = _CLAUSE.split(place.clause)[-1]
    return place.mention.is_firm or bool(
        reader.grammar.filled.fullmatch(clause) or _SAYS_THAT.search(place.clause)
    )


def _is_correction(reader: Reader, place: Place) -> bool:
    """Behind another choice that is denied or asked for, as in "not A but B" and "A? No, B"."""
    g, k = reader.grammar, place.index
    if (
        not k
        or len(place.clause) > 60
        or not re.search(r"\w", place.clause)
        or not (g.filled.fullmatch(place.clause) or place.clause == " to ")
    ):
        return False
    other = place.others[k - 1]
    before = reader.masked[max(place.segment.start, other.start - _REACH) : other.start]
    is_denied = bool(g.no.search(before)) and bool(g.but.search(place.clause))
    is_denied = is_denied or (bool(g.wait.search(before)) and place.clause.strip() == "to")
    is_end = bool(g.follow.match(place.after)) and not g.denied.match(place.after)
    return is_end and (
        is_denied
        or bool(g.wait.search(place.clause))
        or "?" in place.clause
        or bool(g.denied.match(place.clause))
    )


def _is_end(reader: Reader, place: Place) -> bool:
    return reader.can_follow(place) and bool(reader.grammar.behind.fullmatch(place.after))


def _is_alone(reader: Reader, place: Place) -> bool:
    """A sentence that is nothing but a choice, with words that add nothing; a choice that opens the reply."""
    m, before = place.mention, place.before
    if place.at in reader.listed or len(place.clause) < len(before) or len(before) >= _REACH:
        return False
    is_bare = not re.search(r"\w", before)
    if m.is_word and not is_bare and not (_IS_RIGHT_ONE.search(before) or reader.grammar.wait.search(before)):
        return False
    if _is_end(reader, place) and reader.grammar.filled.fullmatch(before):
        return True
    if not (is_bare and place.is_edge):
        return False
    return bool(
        _REMARK.match(place.line)
        if m.form == "letter"
        else "text" in m.form and _OPENS.match(place.after) and len(place.others) == 1
    )


def _is_short(reader: Reader, place: Place) -> bool:
    """The last clause of a sentence is nothing but a choice that is concluded, as in "..., so it is B"."""
    g = reader.grammar
    if place.at in reader.listed or not _is_end(reader, place) or reader.is_joined(place):
        return False
    parts = [part for part in _CLAUSE.split(place.clause) if part.strip()]
    clause = parts[-1] if parts else ""
    if not re.search(r"\w", clause) or not g.filled.fullmatch(clause):
        return False
    is_letter = place.mention.form != "choice-text"
    return (is_letter and len(clause) < len(place.clause)) or bool(
        g.so.search(clause) or g.but.search(clause) or g.wait.search(clause)
    )


def _is_contrast(reader: Reader, place: Place) -> bool:
    """The last clause of a sentence turns to another choice, as in "..., but it is B"."""
    g = reader.grammar
    return (
        place.index > 0
        and bool(g.but.search(place.clause) or g.wait.search(place.clause))
        and _is_short(reader, place)
    )


def _is_matched(reader: Reader, place: Place) -> bool:
    is_free = place.mention.is_firm and place.at not in reader.listed
    return is_free and reader.can_follow(place) and bool(reader.grammar.matches.search(place.before))


def _is_named(reader: Reader, place: Place) -> bool:
    """The only choice of a sentence with letter and text, or in brackets at the end of the reply."""
    m = place.mention
    if (
        place.at in reader.listed
        or len({o.choices for o in place.others}) > 1
        or reader.grammar.denied.match(place.after)
    ):
        return False
    is_last = (
        place.is_edge
        and m.is_firm
        and reader.text[m.start] in "(["
        and bool(_ENDS_HERE.fullmatch(place.after))
    )
    return m.form == "letter-and-text" or (m.form == "letter" and is_last)


_MARK = re.compile(rf"(?P<open>[{OPEN}{FINAL_OPEN}])(?P<said>[^{OPEN}{FINAL_OPEN}{CLOSE}]*)(?:{CLOSE}|\Z)")
# The first that holds says what a mention is.
_RULES: tuple[tuple[Rank, str, Callable[[Reader, Place], bool]], ...] = (
    (Rank.FINAL, "answer-tag", _is_marked(FINAL_OPEN)),
    (Rank.MARKED, "box", _is_marked(OPEN)),
    (Rank.MARKED, "marker", _is_headed),
    (Rank.STATED, "statement", _is_stated),
    (Rank.STATED, "verdict", _is_right),
    (Rank.STATED, "correction", _is_correction),
    (Rank.STATED, "correction", _is_contrast),
    (Rank.ALONE, "alone", _is_alone),
    (Rank.HINT, "short", _is_short),
    (Rank.HINT, "match", _is_matched),
    (Rank.HINT, "named", _is_named),
)

_PAIR = re.compile(
    r"(?:p(?:rob)?\s*(?=\())?[(\[]?(?P<letter>(?-i:[A-Z]))[)\]]?\s*[:=(\-]?\s*(?:confidence|probability"
    r"|prob\.?|p)?\s*[:=]?\s*"
    r"(?P<number>\d{1,3}(?:\.\d+)?|\.\d+)\s*(?P<percent>%|percent)?\s*\)?",
    re.IGNORECASE,
)
_BETWEEN_PAIRS = re.compile(r"[\s,;/|.\-]*(?:and|vs\.?)?[\s\-]*", re.IGNORECASE)


def probabilities(item: Item, text: str) -> tuple[int, str] | None:
    """The likeliest choice of a list such as ``C (0.2), B (0.8)``, or -1 and a doubt; None: no such list.

    Two equally likely letters, or numbers that are no probabilities, leave it open.
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
