"""``ac``: action counting: how often an action occurs in a video, and which one occurs most often."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import msgspec
import numpy as np

from vidence import option_readers
from vidence.catalog import take_options
from vidence.construction.count_options import LEAST_COUNT, N_OTHERS, counts_around
from vidence.construction.event_index import Key, Pair, nouns_of, pair_of, verb_key
from vidence.construction.event_words import is_vague, verb_said
from vidence.construction.material import Corpus, Event, Made, Material, Task
from vidence.construction.tasks._drafting import (
    N_CHOICES,
    Deck,
    Idea,
    Ideas,
    Ledger,
    NoIdea,
    asking_nobody,
    lacks,
)
from vidence.construction.tasks._events import Setting, Settings, overlap, span_of, used_up, when, written
from vidence.construction.tasks._wording import joined
from vidence.contracts import Flow
from vidence.errors import UsageError
from vidence.records import Record

_MOST_OTHER_WORDS = 3
_GOES_ON = ("continue", "keep", "still", "resume", "finish")
# By how much the most frequent action must lead, so that one more or less changes nothing.
_LEAD = 2


class Rules(Record, kw_only=True, omit_defaults=True):
    """The smallest and the largest count that is asked."""

    least: int = LEAST_COUNT
    most: int = 40


OPTIONS: Mapping[str, Callable[[str], object]] = {
    "least": option_readers.positive_whole,
    "most": option_readers.positive_whole,
}


@dataclass(frozen=True, kw_only=True)
class _Target:
    """Something to count: how it is said, what else it is called here, and every time that it happens."""

    text: str
    also: tuple[str, ...]
    events: tuple[Event, ...]

    @property
    def hint(self) -> str:
        """The other words that count, as a sentence."""
        if not self.also:
            return ""
        return (
            f" Count what may also be called {joined([repr(one) for one in self.also], last='or')} as well."
        )


@dataclass(frozen=True, kw_only=True)
class _Open:
    """Something whose count the log leaves open, and why."""

    text: str
    events: tuple[Event, ...]
    reason: str
    detail: str


class Ac:
    """How often a pair of verb and object, or a verb with any object, occurs; which pair occurs most often.

    Counts go by classes, so that synonyms count as the same; the question names every other word that the log
    has for it. A pair is not asked where the log leaves its count open: the same done twice at one time,
    narrations of something that goes on, the object as a further noun beside another one.

    k: every occurrence is a span of evidence. A right count is never below four, the smallest that can be at
    any place among five counts; its rank is dealt so that each of the five comes equally often. For the most
    frequent action the spans are all occurrences of all five.

    Source: HERBench, sections 3.1 and 7.5, figure 20.
    Departs: the figure has a right count of 2, which two glimpses give and whose rank cannot be 3 or 4; here
        the least is 4. Synonyms in the question, and two of three structures, are ours.
    """

    code = "AC"
    title = "Action Counting"
    stem = "action_counting"
    family = "MEA&N"
    version = 1
    needs: tuple[str, ...] = ("events",)
    structures: tuple[str, ...] = ("pair", "verb", "most-often")

    def __init__(self, rules: Rules) -> None:
        self._rules, self._settings = rules, Settings()

    def draft(
        self, material: Material, corpus: Corpus, *, most: int, rng: np.random.Generator
    ) -> Flow[Sequence[Made]]:
        """Up to `most` questions about how often things are done in a video; nobody is asked."""
        ledger = Ledger(code=self.code, video_id=material.source.video_id, rng=rng)
        if not lacks(material, self.needs, ledger):
            pairs, verbs = _targets(self._settings.of(material, corpus))
            ranks = Deck(N_OTHERS + 1, rng=rng)
            sources = [
                self._counts("pair", pairs, ranks, rng=rng),
                self._counts("verb", verbs, ranks, rng=rng),
                _most_often(pairs, rng=rng),
            ]
            ledger.fill(sources, most=most)
        return asking_nobody(ledger.made)

    def _counts(
        self, structure: str, targets: Sequence[_Target | _Open], ranks: Deck, *, rng: np.random.Generator
    ) -> Ideas:
        inside = [one for one in targets if self._rules.least <= len(one.events) <= self._rules.most]
        for one in inside:
            if isinstance(one, _Open):
                yield NoIdea(subject=one.text, reason=one.reason, detail=one.detail)
        left = [one for one in inside if isinstance(one, _Target)]
        if not left:
            bounds = f"from {self._rules.least} to {self._rules.most}"
            detail = f"no count {bounds} that the log leaves no doubt about"
            yield NoIdea(subject=structure, reason="too-few-occurrences", detail=detail)
        left = [left[i] for i in rng.permutation(len(left))]
        while left:
            rank = ranks.draw()
            target = left.pop(_place_for(rank, [len(one.events) for one in left], least=self._rules.least))
            yield _count_idea(structure, target, rank=rank, rng=rng)
        yield used_up(structure)


def _place_for(rank: int, counts: Sequence[int], *, least: int) -> int:
    """Which count is to have a rank: the smallest with room for as many smaller ones, else the largest.

    There is room where the smaller ones are right counts of other questions; otherwise an option would be
    wrong by its size alone.
    """
    places = range(len(counts))
    with_room = [place for place in places if counts[place] >= least + rank]
    return min(with_room, key=lambda i: counts[i]) if with_room else max(places, key=lambda i: counts[i])


def _count_idea(structure: str, target: _Target, *, rank: int, rng: np.random.Generator) -> Idea:
    whatever = "" if structure == "pair" else ", whatever the object"
    count = len(target.events)
    return Idea(
        structure=structure,
        subject=target.text,
        question=f"How many times does the action '{target.text}' occur in this video{whatever}?"
        + target.hint,
        right=str(count),
        wrong=tuple(str(n) for n in counts_around(count, rank=rank, rng=rng)),
        evidence=tuple(span_of(event) for event in target.events),
        facts={target.text: when(target.events), "smaller options": str(rank)},
        tags={"rank": str(rank)},
    )


def _most_often(targets: Sequence[_Target | _Open], *, rng: np.random.Generator) -> Ideas:
    """Pairs that lead four others; each leads once. Only pairs that the log has one word for."""
    known = [target for target in targets if isinstance(target, _Target) and not target.also]
    leaders = [target for target in known if len(target.events) >= LEAST_COUNT]
    asked = 0
    for place in rng.permutation(len(leaders)):
        first = leaders[place]
        behind = [
            one for one in known if len(one.events) <= len(first.events) - _LEAD and one.text != first.text
        ]
        if len(behind) < N_CHOICES - 1:
            continue
        # Close seconds first, so that it takes counting and not a glance.
        behind.sort(key=lambda one: -len(one.events))
        close = behind[: 2 * (N_CHOICES - 1)]
        others = [close[i] for i in rng.permutation(len(close))[: N_CHOICES - 1]]
        asked += 1
        shown = sorted(
            (e for one in (first, *others) for e in one.events), key=lambda e: (e.start_s, e.end_s)
        )
        yield Idea(
            structure="most-often",
            subject=first.text,
            question="Which of these actions occurs most often in this video?",
            right=first.text,
            wrong=tuple(one.text for one in others),
            evidence=tuple(span_of(event) for event in shown),
            facts={one.text: when(one.events) for one in (first, *others)},
        )
    if not asked:
        detail = f"no action with {LEAST_COUNT} occurrences and {_LEAD} more than four others"
        yield NoIdea(subject="most-often", reason="too-few-occurrences", detail=detail)
    yield used_up("most-often")


# --------------------------------------------------------------------------- what can be counted


def _targets(setting: Setting) -> tuple[list[_Target | _Open], list[_Target | _Open]]:
    """All pairs and all verbs of a video, and which of them the log leaves open."""
    video, index = setting.video, setting.index
    said: dict[str, set[object]] = {}
    named: dict[tuple[Key, str], dict[Pair, Event]] = {}
    for event in video.events:
        for way in index.ways_to_say(event):
            said.setdefault(way, set()).add(pair_of(event))
        verb = verb_said(event.verb)
        for n in range(1, len(verb) + 1):
            said.setdefault(" ".join(verb[:n]), set()).add(verb_key(event))
        for noun in {one for pair in nouns_of(event) for one in pair}:
            named.setdefault((verb_key(event), noun), {}).setdefault(pair_of(event), event)
    shared = frozenset(text for text, keys in said.items() if len(keys) > 1)
    pairs = []
    for pair in sorted(video.pairs):
        noun = written(video.pairs[pair])[1]
        beside = {**named[pair], **named[(pair[0], noun)]}
        beside.pop(pair)
        pairs.append(_pair_target(pair, setting, beside=beside, shared=shared))
    return pairs, [_verb_target(verb, setting, shared) for verb in sorted(video.verbs)]


def _pair_target(
    pair: Pair, setting: Setting, *, beside: Mapping[Pair, Event], shared: frozenset[str]
) -> _Target | _Open:
    """What a pair's count is; `beside` are events of other pairs that name its object with the same verb."""
    events = tuple(setting.video.pairs[pair])
    said = [setting.index.phrase((event.verb, event.noun)) for event in events]
    texts = written(events)
    text = setting.index.phrase(texts)
    if is_vague(texts[1]) or not setting.index.is_plain(texts):
        return _Open(text=text, events=events, reason="vague-object", detail=events[0].narration)
    if beside:
        detail = next(iter(beside.values())).narration
        return _Open(text=text, events=events, reason="object-beside-another", detail=detail)
    return _countable(text, said, events=events, shared=shared)


def _verb_target(verb: Key, setting: Setting, shared: frozenset[str]) -> _Target | _Open:
    events = tuple(event for event in setting.video.events if verb_key(event) == verb)
    said = [" ".join(verb_said(event.verb)) for event in events]
    return _countable(max(said, key=lambda one: (said.count(one), one)), said, events=events, shared=shared)


def _countable(
    text: str, said: Sequence[str], *, events: tuple[Event, ...], shared: frozenset[str]
) -> _Target | _Open:
    also = tuple(sorted(set(said) - {text}))
    if both := sorted(shared & set(said)):
        return _Open(text=text, events=events, reason="words-of-two-classes", detail=joined(both))
    if len(also) > _MOST_OTHER_WORDS:
        return _Open(text=text, events=events, reason="too-many-words", detail=joined([text, *also]))
    for one, other in combinations(events, 2):
        if pair_of(one) == pair_of(other) and overlap(one, other):
            detail = f"{one.start_s:.2f}-{one.end_s:.2f} s and {other.start_s:.2f}-{other.end_s:.2f} s"
            return _Open(text=text, events=events, reason="overlapping-occurrences", detail=detail)
    for event in events:
        if event.narration.lower().startswith(_GOES_ON):
            return _Open(text=text, events=events, reason="goes-on", detail=event.narration)
    return _Target(text=text, also=also, events=events)


def create(options: Mapping[str, str]) -> Task:
    """The task.

    Options: ``least`` (smallest count that is asked, 4 or more), ``most`` (largest, 40).

    Raises:
        UsageError: an option that is not known or cannot be read, or a smallest count below 4.
    """
    rules = msgspec.convert(take_options("ac", options, OPTIONS), Rules)
    if not LEAST_COUNT <= rules.least <= rules.most:
        raise UsageError(
            f"ac: counts from {rules.least} to {rules.most}; expected {LEAST_COUNT} at least, below which a "
            "count cannot be at any place among five, and the largest not below the smallest"
        )
    return Ac(rules)
