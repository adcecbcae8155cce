"""Whether a description supports a label: ActPLD's three branches as rules."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from vidence.ask.scoring.label_words import LabelWords, Mention, mentions, stem, with_known, words_of
from vidence.ask.scoring.letters import plain

# A cue counts for labels in its sentence, or within so many characters.
NEAR_CHARS = 80
# How far a word of negation is looked for, within the sentence.
_REACH_CHARS = 300
# The cues of section 2.5 and appendix A.3, inflected.
_CUE = re.compile(
    r"\b(?:is(?!n't)|are(?!n't)|show(?:s|n|ing)?|depict(?:s|ed|ing)?|represent(?:s|ed|ing)?"
    r"|look(?:s|ing)?\s+like|best\s+described\s+as|(?:most\s+)?consistent\s+with|clearly"
    r"|demonstrat(?:e|es|ed|ing)|doing|best\s+match(?:es)?|match(?:es)?|resembl(?:e|es|ing)|most\s+likely)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+|\n+")
# Where what a "not" denies ends.
_CLAUSE_END = re.compile(
    r"[;:(){}]|\s--?\s|\b(?:but|however|although|though|whereas|while|when|because|since|so|then|and|yet"
    r"|instead(?!\s+of))\b",
    re.IGNORECASE,
)
_WORDS = r"\W*(?:[\w'/-]+\W+)"
# Says less than no: "not only", "no doubt". Blanked before looking for negation.
_NO_NEGATION = re.compile(
    r"\bnot\s+(?:only|just|merely|simply|unlike)\b|\b(?:no|without(?:\s+a)?)\s+doubt\b|\bn(?:ot|one"
    r"|othing)\s+other\s+than\b"
    r"|(?:\bcan(?:not|'t|\s+not)|\bnot)\s+(?:be\s+)?(?:ruled?|excluded?)(?:\s+out)?\b",
    re.IGNORECASE,
)
_DENIED_BEFORE = re.compile(
    rf"(?:\b(?:not|never|neither|nor|no|without|cannot|unlikely|hardly|inconsistent\s+with|exclud\w+"
    rf"|rul\w+\s+out"
    rf"|less\s+likely|lack\w*)\b|n't\b){_WORDS}{{0,10}}\Z"
    rf"|\b(?:rather\s+than|instead\s+of|as\s+opposed\s+to|other\s+than|unlike)\b{_WORDS}{{0,3}}\Z",
    re.IGNORECASE,
)
_DENIAL = (
    r"(?:not\b|unlikely|less\s+likely|ruled\s+out|excluded|implausible|improbable|impossible|incorrect"
    r"|wrong|inconsistent)"
)
_DENIED_AFTER = re.compile(
    rf"\A\W*(?:\w+\W+){{0,3}}?(?:is|are|was|were|seems?|appears?|looks?|do|does|did|can|could|would"
    rf"|should|has|have)"
    rf"(?:n't\b|\s+(?:(?:be|very|quite|also|highly|therefore|thus|rather|too)\s+)*{_DENIAL})"
    rf"|\A\s*[:(=-]+\s*(?:no\b|{_DENIAL})",
    re.IGNORECASE,
)
_CUE_DENIED = re.compile(r"\s+(?:(?:very|highly)\s+)?(?:not|unlikely|inconsistent)\b", re.IGNORECASE)
# A comma within "not A, B or C" does not end what the "not" denies.
_LIST_BEFORE = re.compile(r"\b(?:or|nor)\s+(?:(?:an?|the)\s+)?\Z", re.IGNORECASE)
_LIST_AFTER = re.compile(
    r"\A\s*(?:,\s*(?:[\w'/-]+\s+){0,2}[\w'/-]+\s*){0,6}(?:,\s*)?\b(?:or|nor)\b", re.IGNORECASE
)
# What stands between the labels of a list that asserts none of them.
_LINK = re.compile(
    r"[\s,;/|\"'*-]*(?:\b(?:or|and|vs|versus)\b)?[\s\"'(*-]*(?:\(?[A-Z][).:]\s*)?(?:\b(?:an?|the)\s+)?[\"'*]*"
)
_AND = re.compile(r"\s*and\s+(?:an?\s+|the\s+)?", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What a description says about one label.

    `n_positive` and `n_negated` count mentions (a bare list of labels counts as neither). `n_cued` counts
    mentions that are not negated and have a positive cue nearby.
    """

    n_positive: int = 0
    n_negated: int = 0
    n_cued: int = 0

    @property
    def is_supported(self) -> bool:
        """Whether a cue accompanies the label, and it is not negated as often."""
        return self.n_cued > self.n_negated


class _Text:
    """A description split into sentences."""

    def __init__(self, text: str) -> None:
        self.text = _NO_NEGATION.sub(lambda m: " " * len(m[0]), text)
        edges = [0, *(m.end() for m in _SENTENCE_END.finditer(text))]
        self._starts = edges
        self._ends = [*edges[1:], len(text)]
        self.words = words_of(text)
        cues = [m.span() for m in _CUE.finditer(self.text)]
        self._cues = [(a, b) for a, b in cues if not self.is_denied(a, b, _CUE_DENIED)]

    def sentence_of(self, place: int) -> int:
        """Return the number of the sentence at a position."""
        return bisect_right(self._starts, place) - 1

    def is_denied(self, start: int, end: int, behind: re.Pattern[str] = _DENIED_AFTER) -> bool:
        """Whether ``[start, end)`` is negated before, or after by that pattern."""
        before, after = self._around(start, end)
        return _is_denied_before(before, after) or bool(behind.match(after))

    def is_cued(self, start: int, end: int) -> bool:
        """Whether a positive cue occurs in the same sentence or nearby."""
        sentence = self.sentence_of(start)
        low = min(self._starts[sentence], start - NEAR_CHARS)
        high = max(self._ends[sentence], end + NEAR_CHARS + 1)
        # Cues do not overlap, so that they are sorted by their ends too.
        first = bisect_left(self._cues, low, key=lambda cue: cue[1])
        return first < len(self._cues) and self._cues[first][0] < high

    def _around(self, start: int, end: int) -> tuple[str, str]:
        """Return the text before and after, within the sentence."""
        sentence = self.sentence_of(start)
        low = max(self._starts[sentence], start - _REACH_CHARS)
        high = min(self._ends[sentence], end + _REACH_CHARS)
        return self.text[low:start], self.text[end:high]


def _is_denied_before(before: str, after: str) -> bool:
    clause = before[max((m.end() for m in _CLAUSE_END.finditer(before)), default=0) :]
    if not (_LIST_BEFORE.search(clause) or _LIST_AFTER.match(after)):
        clause = clause[clause.rfind(",") + 1 :]
    return bool(_DENIED_BEFORE.search(clause))


def _listed(entries: Sequence[Mention], text: str) -> set[Mention]:
    """Return mentions in a bare list of labels: ``walk, run or jump``, or choices line by line."""
    listed: set[Mention] = set()
    for mention, other in pairwise(entries):
        between = text[mention.end : other.start]
        if mention.label == other.label or not _LINK.fullmatch(between):
            continue
        if not _AND.fullmatch(between) or mention in listed:
            listed |= {mention, other}
    return listed


def evidence_for(labels: Sequence[LabelWords], description: str) -> list[Evidence]:
    """Return what a description says about each label.

    Source: ActPLD, section 2.5 and appendix A.3.
    Departs: the paper gives these rules to a judge model. The definitions of a mention, of negation (a
    negating word before it
        in its clause, or a denial directly after it) and of a list are ours.
    """
    return _evidence(labels, _Text(plain(description)))


def _evidence(labels: Sequence[LabelWords], text: _Text) -> list[Evidence]:
    entries = mentions(labels, text.words)
    listed = _listed(entries, text.text)
    counts = [[0, 0, 0] for _ in labels]
    for mention in entries:
        if text.is_denied(mention.start, mention.end):
            counts[mention.label][1] += 1
            continue
        counts[mention.label][0] += mention not in listed
        counts[mention.label][2] += text.is_cued(mention.start, mention.end)
    return [Evidence(n_positive=a, n_negated=b, n_cued=c) for a, b, c in counts]


def _has_feature(features: Sequence[str], text: _Text) -> bool:
    """Whether one sentence contains all words of a feature, none of them negated."""
    wanted = [{stem(word) for word in feature.casefold().split()} for feature in features]
    telling = set().union(*wanted)
    values: dict[int, set[str]] = {}
    for word in text.words:
        if word.stem in telling and not text.is_denied(word.start, word.end):
            values.setdefault(text.sentence_of(word.start), set()).add(word.stem)
    return any(feature <= stems for feature in wanted for stems in values.values())


def branch(truth: LabelWords, rivals: Sequence[LabelWords], description: str) -> str:
    """Return the branch by which a description matches the true label; empty if it does not.

    ``evidence``: mentions outnumber negations. ``cue``: a positive cue accompanies it and no rival is
    supported. ``features``: it is not named, but its features are described and no rival is supported.

    Args:
        truth: the right label.
        rivals: wrong labels.
        description: a reply's text.

    Source: ActPLD, section 2.5 and appendix A.3, branches (i), (ii), (iii).
    Departs: see `evidence_for`. The last branch excludes labels that the reply denies by name.
    """
    text = _Text(plain(description))
    own, *others = _evidence([with_known(label) for label in (truth, *rivals)], text)
    if own.n_positive > own.n_negated:
        return "evidence"
    if any(other.is_supported for other in others):
        return ""
    if own.n_cued:
        return "cue"
    if not own.n_positive and not own.n_negated and _has_feature(with_known(truth).features, text):
        return "features"
    return ""
