r"""Where a reply says which choice it means: a table of rules, and what takes a claim back.

A rule is a name, a rank and a pattern; what the pattern leaves in ``said`` is read by `read_said`. Claims
that are denied, put to others, supposed or asked are none. How claims decide is `robust`'s.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from vidence.ask.scoring.letters import Reading, equal_choices, read_segment
from vidence.ask.scoring.phrases import DENIED_BEHIND, any_of
from vidence.records import Item


class Rank(IntEnum):
    """How much a claim weighs; a higher one is never overruled by a lower one without a correction."""

    HINT = 0
    STATED = 1
    MARKED = 2


@dataclass(frozen=True)
class Rule:
    """One way to say an answer.

    `is_firm`: where what is said is no choice, the reply gives no choice; of other rules it is then not a
    claim. `corrects`: the claim takes back what was said before it.
    """

    name: str
    rank: Rank
    pattern: re.Pattern[str]
    is_firm: bool = False
    corrects: bool = False


@dataclass(frozen=True)
class Claim:
    """What one place of a reply says; `reading` is None where that is no choice."""

    rule: Rule
    start: int
    said: str
    reading: Reading | None


_FLAGS = re.IGNORECASE | re.MULTILINE
_NOUN = (
    r"(?:answer|ans|antwort|respuesta|réponse|risposta|resposta|ответ|答案|答え|回答|解答"
    r"|正解|答|정답|답변|답|الإجابة|الاجابة|الجواب|antwoord|svar|odpowiedź|odpověď|vastaus|cevap|jawaban"
    r"|đáp\s+án|उत्तर|απάντηση)"
)
_CHOSEN = r"(?:correct|right|best|final|chosen|selected|likely|my)\s+(?:option|choice|selection|one|letter)"
_IS = r"(?:(?:'s|is|ist|lautet|es|est|è|é)\b|是|为|為|は|는|은)"
# What is said stands behind this place, to the end of the line or a closing tag (see `_line_behind`). It is
# no part of the pattern, so that one answer may stand in another, and is read only where it counts: models
# that repeat themselves write tens of thousands of markers into one line.
_SAID = r"(?P<line>)"
_SAID_CHARS = 600
_ADVERB = (
    r"(?:therefore|thus|then|clearly|simply|indeed|definitely|actually|probably|certainly|surely|obviously|only"
    r"|(?:most\s+)?likely)"
)
_ADVERBS = rf"(?:{_ADVERB}[,:]?\s+){{0,3}}"
_OPTION = r"(?:(?:the\s+)?(?:option|choice|answer|letter)\s+)?"
# A capital that stands as a choice: no initial, no article, no label of a list.
_LETTER = r"[(\[\"']{0,3}(?-i:[A-Z])(?!['\w])[)\]\"']{0,3}"
_ENDS = r"[ \t]*(?:[.!;,](?!\w)|\n|\Z|(?:because|since|as|due|based)\b)"
_STRICT = rf"{_OPTION}(?P<said>{_LETTER})(?={_ENDS}|:[ \t]*\S{{2}})"
# Without a colon, which in "A: no, B: yes" makes the letter the label of what follows.
_UNLABELLED = rf"{_OPTION}(?P<said>{_LETTER})(?={_ENDS})"
_COLON = r"(?:[:=]>?|-+>|→|⇒)"
_FIELD = (
    r"[\"'](?:choice|option|letter|prediction|option_selected|selected_option|final_answer|answer_letter"
    r"|chosen_option|final_choice)[\"']"
)
_IT_IS = (
    r"(?:it|that|this|which)\s*(?:'s|is|must\s+be|should\s+be|has\s+to\s+be"
    r"|would\s+be|will\s+be|can\s+only\s+be)"
)
_CUE = (
    r"(?:no(?=[ \t]*[,.;:!-]|[ \t]+(?:it|wait|actually|the\s+answer)\b)|nope|wait"
    r"|hold\s+on|hmm+|actually|correction|sorry|oops|scratch\s+that|strike\s+that|or\s+rather"
    r"|i\s+mea?nt?(?:\s+to\s+say)?|on\s+(?:second|closer|further)\s+(?:thoughts?|look|inspection)|on\s+reflection"
    r"|my\s+mistake|i\s+was\s+wrong)"
)
_BEST = (
    r"(?:(?:most|more)\s+(?:likely|accurate|consistent|plausible|probable|appropriate|suitable|fitting|correct|reasonable"
    r"|logical|supported)|best(?:\s+supported)?|correct|right|accurate|true|supported|closest|only)"
)
_CHOICE_NOUN = (
    r"(?:answer|option|choice|one|match|fit|description|explanation"
    r"|possibility|interpretation|selection|guess)"
)
_RIGHT = (
    rf"(?:(?:'s|is|seems|appears|looks|must\s+be|has\s+to\s+be|should\s+be|would\s+be)\s+(?:to\s+be\s+)?{_ADVERBS}"
    rf"(?:(?:the|my|a)\s+)?(?:(?:final|clear)\s+)?(?:{_BEST}(?:\s+{_CHOICE_NOUN})?|(?:(?:the|my)\s+)?(?:final\s+)?"
    r"(?:answer|choice|pick|guess))"
    r"|(?:best\s+)?(?:fits|matches|describes|captures|reflects|explains)\s+(?:best|the\s+(?:scene|video|clip|frames?"
    r"|question)|what\s+(?:is|was|we))|best\s+(?:fits|matches|describes|captures|reflects|explains)\b)"
)
_RIGHT_ENDS = (
    r"(?=[ \t]*(?:[.,;!]|\Z|\n|(?:because|since|as|for|given|based|to|in|with|of|what|the|here|that)\b))"
)
_MATCHES = (
    r"(?:match(?:es|ing)?|correspond(?:s|ing)?\s+to|(?:is\s+)?(?:most\s+|best\s+)?consistent\s+with|align(?:s|ed|ing)?\s+with"
    r"|points?\s+to(?:wards?)?|lead(?:s|ing)?\s+(?:me\s+|us\s+)?to|(?:best\s+)?(?:described|represented|captured)\s+by"
    r"|supports?|suggests?|indicates?|means|agrees\s+with|fits)"
)
# What may stand before a letter that begins a verdict: the beginning of a sentence, or words of concluding.
_VERDICT_START = (
    r"(?:(?:^|(?<=[.!?;:,])[ \t]|(?<=\n))[\s\-]{0,8}(?:(?:so|thus|hence|therefore|and"
    r"|but|then|overall|only|i\s+(?:think|believe|say))"
    r"[,:]?\s+(?:that\s+)?){0,3}|\b(?:that|think|believe|say|options?,|so|thus|hence|therefore|looks\s+like|seems|appears)\s+)"
)

RULES = (
    Rule("box", Rank.MARKED, re.compile(r"\\f?(?:boxed|box)\s*\{(?P<said>[^{}]*)\}"), is_firm=True),
    Rule(
        "open-tag",
        Rank.MARKED,
        re.compile(
            r"<(?:final[_ ]?)?answer>(?P<said>(?:(?!</?(?:final[_ ]?)?answer>).)*)", re.IGNORECASE | re.DOTALL
        ),
        is_firm=True,
    ),
    Rule(
        "marker",
        Rank.MARKED,
        re.compile(
            rf"(?:(?<![A-Za-z]){_NOUN}(?:\s+(?:option|choice|letter|correcta|correcte|corretta|correta|ответа"
            rf"|الصحيحة|الصحيح))?"
            rf"|\b{_CHOSEN}|{_FIELD})[\"']?\s*(?:{_IS}\s*)?[\"']?\s*{_COLON}\s*{_SAID}"
            rf"|\[\s*{_NOUN}\s*\]\s*:?\s*(?P<bracketed>[^\n]{{1,600}})"
            rf"|^[^\w\n]*(?:(?:the|final|correct)\s+)*answer[^\w\n<]*\n\s*(?P<below>[^\n]*)",
            _FLAGS,
        ),
        is_firm=True,
    ),
    Rule(
        "label",
        Rank.STATED,
        re.compile(
            r"^[^\w\n]*(?:(?:the|my|final)\s+)*(?:conclusion|result|verdict|prediction|decision|choice|pick|guess|selection"
            rf"|solution|in\s+(?:summary|short|conclusion)|final|correct|output|response|вариант|верный\s+вариант)\s*{_COLON}\s*{_SAID}"
            rf"|^[^\w\n]*(?:(?:the|my|final|correct)\s+)*(?:answer"
            rf"|ans)\s*-*\s*(?P<plain>{_LETTER})[.!]?[ \t]*$",
            _FLAGS,
        ),
    ),
    Rule(
        "statement",
        Rank.STATED,
        re.compile(
            rf"(?:(?:(?<![A-Za-z]){_NOUN}|\b{_CHOSEN}|\bsolution|\bmy\s+(?:conclusion|guess|pick|choice|bet|vote))(?:\s+(?:option|choice|letter))?"
            r"(?:\s+(?:to|for|of)\s+(?:the|this|that|your)\s+question|\s+here)?"
            rf"\s*(?:{_IS}|(?:must|should|would|will|has\s+to)\s+be\b)(?:\s+{_ADVERB})?"
            r"|\bI\s*(?:\s+would|\s+will|'d|'ll|\s+must|\s+can)?\s+(?:choose|pick|select|say|guess|go\s+with|opt\s+for|vote\s+for"
            r"|settle\s+(?:on|for)|answer|conclude|decide\s+on|stick\s+with)"
            r"|\bI\s*(?:'m|'d|\s+am|\s+would)\s+(?:lean(?:ing)?|inclined)\s+(?:towards?|to)|(?:\bI\s*(?:'m|\s+am)|^)\s*going\s+with|\blet(?:'s|\s+us)\s+(?:go\s+with|choose|pick)"
            r"|\bI\s+(?:think|believe)\s+(?:that\s+)?(?:it\s+is|it's))"
            rf"(?!\s*[:=])\s*{_SAID}",
            _FLAGS,
        ),
    ),
    Rule(
        "statement",
        Rank.STATED,
        re.compile(
            rf"(?:(?<![^\W\d_]){any_of('answer')}\s*{any_of('is_')}|{any_of('choose')})(?!\s*[:=])\s*{_SAID}",
            _FLAGS,
        ),
    ),
    Rule(
        "verdict",
        Rank.STATED,
        re.compile(
            rf"(?:\b(?:option|choice|answer)\s+|{_VERDICT_START})(?P<said>{_LETTER})\s*{_RIGHT}{_RIGHT_ENDS}",
            _FLAGS,
        ),
    ),
    Rule(
        "verdict",
        Rank.STATED,
        re.compile(
            rf"(?:{any_of('option')}\s*|(?<![\w])|(?<=[^\x00-\x7f]))(?P<said>(?-i:[A-Z]))(?:\s*{any_of('right')}"
            rf"|{any_of('chosen')})(?!\s*{DENIED_BEHIND})",
            _FLAGS,
        ),
    ),
    Rule(
        "correction",
        Rank.STATED,
        re.compile(
            rf"\b{_CUE}\b[ \t,.:;!-]{{0,8}}(?:{_CUE}\b[ \t,.:;!-]{{0,8}}){{0,2}}"
            rf"(?:{_IT_IS}\s+|the\s+answer\s+is\s+)?{_ADVERBS}{_UNLABELLED}",
            _FLAGS,
        ),
        corrects=True,
    ),
    Rule(
        "correction",
        Rank.STATED,
        re.compile(
            rf"(?:\bnot|n't)\s+{_OPTION}{_LETTER}\s*[,;.-]*\s*(?:\bit\s*(?:'s|is)\s+|(?:but|rather|instead)\b[\s,]*"
            rf"(?:rather\s+|instead\s+)?(?:it\s*(?:'s|is)\s+)?){_STRICT}",
            _FLAGS,
        ),
        corrects=True,
    ),
    Rule("it-is", Rank.HINT, re.compile(rf"\b{_IT_IS}\s+{_ADVERBS}{_STRICT}", _FLAGS)),
    Rule(
        "it-is",
        Rank.HINT,
        re.compile(
            rf"(?:^|(?<=[.,;:]\s)|\b(?:que|dass)\s+){any_of('it_is')}\s+(?:(?:la|el|le|die|der|a|o)\s+)?{_STRICT}",
            _FLAGS,
        ),
    ),
    Rule(
        "it-is",
        Rank.HINT,
        re.compile(
            rf"^[^\w\n]*(?:(?:choose|select|pick)\s+{_STRICT}|(?P<so>{_LETTER})\s+it\s+is\b[.!]?[ \t]*$)",
            _FLAGS,
        ),
    ),
    Rule(
        "bracketed",
        Rank.HINT,
        re.compile(
            rf"\((?:this\s+is\s+|i\.e\.,?\s+)?(?:option|choice|answer)\s+(?P<said>{_LETTER})[.!]?\s*\Z",
            _FLAGS,
        ),
    ),
    Rule("match", Rank.HINT, re.compile(rf"\bcorresponds\s+to\s+{_STRICT}", _FLAGS)),
    Rule(
        "adverb",
        Rank.HINT,
        re.compile(
            rf"(?:\b(?:definitely|clearly|probably|certainly|surely|obviously|(?:most\s+)?likely|yes|sure|okay"
            rf"|I\s+(?:think|believe|guess|say))[,:]?\s+){_STRICT}",
            _FLAGS,
        ),
    ),
    Rule(
        "conclusion",
        Rank.HINT,
        re.compile(
            rf"\b(?:so|thus|hence|therefore|consequently|in\s+conclusion|by\s+elimination|overall|(?:which\s+|this\s+|that\s+)?leav(?:es|ing)"
            rf"(?:\s+(?:us|me)\s+with)?|only)[,:]?\s+(?:{_IT_IS}\s+)?{_ADVERBS}{_STRICT}",
            _FLAGS,
        ),
    ),
    Rule(
        "match",
        Rank.HINT,
        re.compile(
            rf"\b{_MATCHES}\s+(?:the\s+)?(?:(?:option|choice|answer)\s+|(?=\())(?P<said>{_LETTER})(?![\w'])",
            _FLAGS,
        ),
    ),
    Rule(
        "last-sentence",
        Rank.HINT,
        re.compile(rf"(?<=[^\W\d]{{2}}[.!])\s+(?:[Aa]nswer\s+)?(?P<said>{_LETTER})[.!]?\s*\Z"),
    ),
    Rule("your-answer", Rank.HINT, re.compile(rf"\byour\s+answer\s*(?:is\s*)?[:=]\s*{_SAID}", _FLAGS)),
)
STATEMENTS = tuple(rule for rule in RULES if rule.rank > Rank.HINT)
HINTS = tuple(rule for rule in RULES if rule.rank is Rank.HINT)
"""Those of `RULES` that are wanted only where a reply neither marks nor states an answer."""

_CLAUSE_CHARS = 300
# Of a rule that matches in more places (a model that repeats itself), only the last so many are read.
_MOST_PLACES = 100
_SENTENCE_EDGE = re.compile(r"[.!?](?=\s|\Z)[\"')]*|\n")
_TURN = re.compile(
    r"\b(?:while|whereas|although|though)\b[^,\n]*,|\b(?:but|however|yet|although|though)\b|;", re.IGNORECASE
)
# Words before a claim, in the same clause, that take back what it says.
_DENIED = re.compile(
    r"(?:\b(?:not|never|cannot|whether|unless|no(?!\s+doubt)|doubt(?!less)(?<!no\sdoubt))\b|n't\b)[^.,;:!?\n]*\Z"
    r"|\b(?:wrong|incorrect|false|other|another|previous)\s*\Z",
    re.IGNORECASE,
)
_YOURS = re.compile(
    r"\b(?:your|their|his|her|(?!(?:it|that|this|what|here|there|let)')\w+'s)\s+(?:final\s+)?\Z",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"\b(?:some(?:one|body)?|one|you|people|others?|many|most|anyone|every(?:one|body)|he|she|they|(?:a|the)\s+(?:student|user|viewer|reader|person)s?"
    r"|students?|users?|viewers?)\b(?:\s+\w+){0,2}?\s+(?:would|could|might|may|can|will|often|to)?\s*"
    r"(?:say|think|argue|expect|believe|guess|assume|claim|suggest|choose|answer|pick|suppose|consider|conclude|said|thought"
    r"|claimed|answered|says|thinks|claims)\b"
    r"|\bat\s+first\b|\bfirst\s+(?:impression|sight|glance)|\binitially\b|\bit\s+(?:may|might|could|would)\s+(?:seem|appear|look)"
    r"|\b(?:suppose|supposing|imagine|pretend|tempting|tempted|let(?:'s|\s+us)\s+(?:say|assume))\b|\bfirst\s+thought\b",
    re.IGNORECASE,
)
_IF = re.compile(
    r"\b(?:if(?!\s+(?:i|we|you|one)\s+(?:had\s+to|have\s+to|must|look|watch|consider|count|examine|observe|focus|follow|check"
    r"|am\s+(?:forced|to)|were\s+(?:forced|to\s+(?:guess|choose|pick))))(?!\s+forced)"
    r"|wenn|falls|если|unless|otherwise|had\s+(?:the|he|she|it|they)|were\s+(?:the|he|she|it|they)|in\s+case)\b",
    re.IGNORECASE,
)
_IF_ELSEWHERE = re.compile(r"如果|假如|倘若|もし|만약|إذا|لو\s")
_MODAL = re.compile(r"\b(?:would|could|might|may)\b|'d\b", re.IGNORECASE)
_IF_BEHIND = re.compile(r"\A\W*[A-Za-z]\W+(?:only\s+)?(?:if|unless|provided)\b", re.IGNORECASE)

_LEAD_IN = re.compile(
    rf"\A[\s\"'(\[]*(?:{any_of('answer', 'option')}\s*:?|(?:la|el|le|die|der|a"
    rf"|o)\b)\s*(?=[\s\"'(\[]*(?-i:[A-Z])(?![A-Za-z]))",
    re.IGNORECASE,
)
_TAILED = re.compile(rf"\A(?P<letter>[\s\"'(\[]*[A-Z][\s\"')\]]*){any_of('tail')}(?P<rest>.*)\Z", re.DOTALL)
_SHORTER = re.compile(
    r"[.;!](?=\s|\Z)|\n|,?\s+\b(?:because|since|as\s+(?:the|it|he|she|they|we)|due\s+to|based\s+on|weil|porque|perché|потому)\b"
)
_PAIR = re.compile(
    r"(?:p(?:rob)?\s*(?=\())?[(\[]?(?P<letter>(?-i:[A-Z]))[)\]]?\s*[:=(\-]?\s*(?:confidence|probability|prob\.?|p)?\s*[:=]?\s*"
    r"(?P<number>\d{1,3}(?:\.\d+)?|\.\d+)\s*(?P<percent>%|percent)?\s*\)?",
    re.IGNORECASE,
)
_BETWEEN_PAIRS = re.compile(r"[\s,;/|.\-]*(?:and|vs\.?)?[\s\-]*", re.IGNORECASE)
_SEVERAL_QUESTIONS = re.compile(
    r"\bq(?:uestion)?\s*\.?#?\s*(\d{1,3})\b[^\n.;]{0,20}?(?:answer|[:=])", re.IGNORECASE
)


def probabilities(item: Item, text: str) -> Reading | None:
    """The likeliest letter of a list such as ``C (0.2), B (0.8)``; None where the text is no such list.

    Two equally likely letters, or numbers that are no probabilities, leave it open.
    """
    pairs: list[tuple[str, float, bool]] = []
    at = 0
    for pair in _PAIR.finditer(text):
        if not _BETWEEN_PAIRS.fullmatch(text[at : pair.start()]):
            return None
        at = pair.end()
        pairs.append((pair["letter"].upper(), float(pair["number"]), bool(pair["percent"])))
    letters = [letter for letter, _, _ in pairs]
    if len(pairs) < 2 or text[at:].strip(" .,;\n") or len({*letters}) < len(letters):
        return None
    if not all(letter in item.letters for letter in letters):
        return Reading(doubt="a letter beyond the choices has a probability")
    if all(equal_choices(f"{value:g}", item.choices) for _, value, _ in pairs):
        return None
    shares = [value / 100 if is_percent else value for _, value, is_percent in pairs]
    most = max(shares)
    if max(shares) > 1 or sum(shares) > 1.05 or shares.count(most) > 1:
        return Reading(doubt="several letters have numbers that single out none")
    return Reading(letters[shares.index(most)], "probabilities")


def bare(said: str) -> str:
    """Without words for *option* before a letter, and without endings that cling to it (*B입니다*)."""
    said = _LEAD_IN.sub("", said.strip())
    tailed = _TAILED.match(said)
    if tailed is None:
        return said
    rest = tailed["rest"].strip(" .,!")
    return f"{tailed['letter'].strip()}, because {rest}" if rest else tailed["letter"].strip()


def read_said(item: Item, said: str, *, is_marked: bool) -> Reading | None:
    """What a claim says: as `read_segment`; also probabilities, and the text of a choice with a reason."""
    said = bare(said)
    reading = probabilities(item, said) or read_segment(item, said, is_marked=is_marked)
    if reading is not None or not is_marked:
        return reading
    short = _SHORTER.split(said, maxsplit=1)[0]
    equal = equal_choices(short, item.choices) if short != said else ()
    return Reading(item.letters[equal[0]], "choice-text") if len(equal) == 1 else None


def is_said(text: str, place: tuple[int, int], said: str, *, rank: Rank) -> bool:
    """Whether the reply itself says what stands there: not denied, not of others, not supposed, not asked."""
    start, end = place
    before = text[max(0, start - _CLAUSE_CHARS) : start]
    edges = list(_SENTENCE_EDGE.finditer(before))
    sentence = before[edges[-1].end() :] if edges else before
    if _DENIED.search(before.rsplit("\n", 1)[-1]) or _IF_BEHIND.match(said):
        return False
    if rank is Rank.MARKED:
        return not (_YOURS.search(sentence) or _IF.search(sentence))
    clause = _TURN.split(sentence)[-1]
    if _YOURS.search(sentence) or _IF_ELSEWHERE.search(clause):
        return False
    own = text[start:end]
    ending = _SENTENCE_EDGE.search(text, end)
    behind = text[end : ending.start() if ending else len(text)]
    if ending is not None and ending[0].startswith("?"):
        return False
    if _OTHERS.search(clause) or (_IF.search(clause) and not re.search(r"\bguess|\bforced", clause)):
        return False
    return not (_MODAL.search(own) and _IF.search(behind))


def _line_behind(text: str, start: int) -> str:
    """The rest of the line from there, up to a closing tag, of bounded length."""
    behind = text[start : start + _SAID_CHARS + 1]  # a closing tag may begin with the last character
    for end in ("\n", "</"):
        behind = behind.partition(end)[0]
    return behind[:_SAID_CHARS]


def _said(match: re.Match[str]) -> str:
    """What a rule's pattern leaves to be read."""
    if "line" in match.re.groupindex and match["line"] is not None:
        return _line_behind(match.string, match.end("line")).strip()
    return next((part for part in match.groups() if part is not None), "").strip()


def claims(item: Item, text: str, rules: Sequence[Rule] = RULES) -> list[Claim]:
    """What a text claims by these rules, in order of place; at one place the weightier one first."""
    found: list[Claim] = []
    for rule in rules:
        for match in deque(rule.pattern.finditer(text), maxlen=_MOST_PLACES):
            said = _said(match)
            if not said or not is_said(text, match.span(), said, rank=rule.rank):
                continue
            reading = read_said(item, said, is_marked=True)
            if rule.is_firm or reading is not None:
                found.append(Claim(rule, match.start(), said, reading))
    return sorted(found, key=lambda claim: (claim.start, -claim.rule.rank))


def several_questions(text: str) -> bool:
    """Whether a reply answers more than one numbered question."""
    return len(set(_SEVERAL_QUESTIONS.findall(text))) > 1


_CORRECTING = re.compile(
    rf"\b{_CUE}\b(?!\s+doubt)|\blet\s+me\s+(?:look|check|think|watch|re\w+)|\breconsider\w*|\bhaving\s+looked\s+again",
    re.IGNORECASE,
)
_CONCLUDING = re.compile(
    r"\b(?:so|thus|hence|therefore|consequently|overall|finally|in\s+conclusion|but|actually|leav(?:es|ing))\b[^.!?\n]*\Z",
    re.IGNORECASE,
)


def is_corrected(text: str, earlier: Claim, later: Claim) -> bool:
    """Whether the later claim takes back the earlier one."""
    return later.rule.corrects or bool(_CORRECTING.search(text, earlier.start, later.start))


def is_conclusion(text: str, claim: Claim) -> bool:
    """Whether words of concluding stand in the sentence of a claim, or it is a correction."""
    before = text[max(0, claim.start - _CLAUSE_CHARS) : claim.start]
    return claim.rule.name == "conclusion" or claim.rule.corrects or bool(_CONCLUDING.search(before))


def weightiest(found: list[Claim]) -> Iterator[list[Claim]]:
    """The claims of each rank, the highest rank first; ranks without claims are left out."""
    for rank in sorted(Rank, reverse=True):
        if of_rank := [claim for claim in found if claim.rule.rank is rank]:
            yield of_rank
