"""Counting targets of videos, and option sets shared by all videos."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from operator import itemgetter
from typing import TypeAlias

from vidence.make.herbench.tasks.candidates import LEAST_EVIDENCE
from vidence.make.herbench.tasks.counts import shared_options
from vidence.make.herbench.tasks.events import EventContext, event_context, overlap, span_of, written
from vidence.make.pipeline.english import joined
from vidence.make.pipeline.material import Corpus, Event, Material, n_apart
from vidence.make.sources.event_index import Key, Pair, nouns_of, pair_of, verb_key
from vidence.make.sources.event_words import is_vague, verb_said

STRUCTURES = ("pair", "verb")
_MOST_OTHER_WORDS = 3
_GOES_ON = ("continue", "keep", "still", "resume", "finish")


@dataclass(frozen=True, kw_only=True)
class Target:
    """A counting target: wording, synonyms in the log, and all occurrences.

    `n_elsewhere` is how often a pair occurs in other videos. Where the log leaves the count open, `reason`
    and `detail` say why. `options` are its five options where it shares them with others. `within` are
    actions whose words hold all of its own: who does these may be seen to do it, and its count is open, too.
    """

    text: str
    events: tuple[Event, ...]
    also: tuple[str, ...] = ()
    n_elsewhere: int = 0
    reason: str = ""
    detail: str = ""
    options: tuple[int, ...] = ()
    within: tuple[str, ...] = ()

    @property
    def k(self) -> int:
        """How many of its occurrences share no moment."""
        return n_apart([span_of(event) for event in self.events])

    @property
    def hint(self) -> str:
        """The other words that count, as a sentence."""
        if not self.also:
            return ""
        return (
            f" Count what may also be called {joined([repr(name) for name in self.also], last='or')} as well."
        )


# What one video has of each structure.
Counted: TypeAlias = Mapping[str, tuple[Target, ...]]


class Counts:
    """Option sharing among the counts of a corpus; computed once per corpus.

    Counts from `least` to `most` are dealt, each structure for itself. Who comes first among equal counts is
    told by hashes of the video and the words, so that it hangs on no order of videos.
    """

    def __init__(self, *, least: int, most: int) -> None:
        self._least, self._most = least, most
        self._dealt_for: tuple[Corpus, int] | None = None
        self._dealt: Mapping[str, Counted] = {}

    def of(self, material: Material, corpus: Corpus, *, n_asked: int) -> Mapping[str, Counted]:
        """Return the ``pair`` and ``verb`` targets of all videos, the given one among them.

        A video deals at most `n_asked` counts of a structure: those of the videos where most is done would
        otherwise be dealt and not asked, and these are the large ones.
        """
        video_id = material.source.video_id
        if corpus.events.get(video_id) != material.events:
            # A video that the corpus does not know, or knows otherwise: dealt as one of it.
            events = {**corpus.events, video_id: tuple(material.events)}
            return self._deal(events, corpus, n_asked)
        if self._dealt_for is None or self._dealt_for[0] is not corpus or self._dealt_for[1] != n_asked:
            self._dealt_for, self._dealt = (corpus, n_asked), self._deal(corpus.events, corpus, n_asked)
        return self._dealt

    def _deal(
        self, events: Mapping[str, Sequence[Event]], corpus: Corpus, n_asked: int
    ) -> dict[str, Counted]:
        values = {
            video_id: _targets(event_context(video_id, some, corpus)) for video_id, some in events.items()
        }
        options = {
            (structure, *key): five
            for structure in STRUCTURES
            for key, five in self._shared(structure, values, n_asked)
        }
        return {
            video_id: {
                structure: tuple(
                    replace(target, options=options.get((structure, video_id, target.text), ()))
                    for target in some
                )
                for structure, some in both.items()
            }
            for video_id, both in values.items()
        }

    def _shared(
        self, structure: str, values: Mapping[str, Counted], n_asked: int
    ) -> Iterator[tuple[tuple[str, str], tuple[int, ...]]]:
        """The shared options of one structure, each by video and words."""
        asked: list[tuple[bytes, str, Target]] = []
        for video_id, both in values.items():
            known = [
                (hashlib.sha256(f"{structure}\n{video_id}\n{entry.text}".encode()).digest(), video_id, entry)
                for entry in both[structure]
                if not entry.reason and not entry.within and self._least <= len(entry.events) <= self._most
                if entry.k >= LEAST_EVIDENCE
            ]
            asked += sorted(known, key=itemgetter(0))[:n_asked]
        asked.sort(key=itemgetter(0))
        shared = shared_options([len(entry.events) for _, _, entry in asked])
        for (_, video_id, target), five in zip(asked, shared, strict=True):
            yield (video_id, target.text), five


def _targets(context: EventContext) -> Counted:
    """All pairs and all verbs of a video, and which of them the log leaves open."""
    video, index = context.video, context.index
    targets: dict[str, set[object]] = {}
    named: dict[tuple[Key, str], dict[Pair, Event]] = {}
    for event in video.events:
        for way in index.ways_to_say(event):
            targets.setdefault(way, set()).add(pair_of(event))
        verb = verb_said(event.verb)
        for n in range(1, len(verb) + 1):
            targets.setdefault(" ".join(verb[:n]), set()).add(verb_key(event))
        for noun in {name for pair in nouns_of(event) for name in pair}:
            named.setdefault((verb_key(event), noun), {}).setdefault(pair_of(event), event)
    shared = frozenset(text for text, keys in targets.items() if len(keys) > 1)
    pairs = []
    for pair in sorted(video.pairs):
        noun = written(video.pairs[pair])[1]
        values = {**named[pair], **named[(pair[0], noun)]}
        values.pop(pair)
        pairs.append(_pair_target(pair, context, beside=values, shared=shared))
    pairs = list(_with_longer(pairs, context))
    verbs = (_verb_target(verb, context, shared) for verb in sorted(video.verbs))
    return {"pair": tuple(pairs), "verb": tuple(verbs)}


def _pair_target(
    pair: Pair, context: EventContext, *, beside: Mapping[Pair, Event], shared: frozenset[str]
) -> Target:
    """Return the count of a pair; `beside` are events of other pairs with the same verb and object name."""
    events = tuple(context.video.pairs[pair])
    messages = [context.index.phrase((event.verb, event.noun)) for event in events]
    texts = written(events)
    text = context.index.phrase(texts)
    if is_vague(texts[1]) or not context.index.is_plain(texts):
        return Target(text=text, events=events, reason="vague-object", detail=events[0].narration)
    if beside:
        detail = next(iter(beside.values())).narration
        return Target(text=text, events=events, reason="object-beside-another", detail=detail)
    return _countable(text, messages, events=events, shared=shared, n_elsewhere=context.elsewhere(pair))


@lru_cache(maxsize=2**14)
def words_said(text: str) -> frozenset[str]:
    """All words of an action, little ones too: to turn off a tap is no way to turn it on.

    >>> words_said("turn on tap") < words_said("turn off tap")
    False
    >>> words_said("take pan") < words_said("take pan lid")
    True
    """
    return frozenset(text.lower().split())


def _with_longer(targets: Sequence[Target], context: EventContext) -> tuple[Target, ...]:
    """Return the pairs, each with longer ones that contain all its words.

    Who picks up a pine nuts bag may be seen to pick up pine nuts.
    """
    entries = [
        {words_said(context.index.phrase((event.verb, event.noun))) for event in entry.events}
        for entry in targets
    ]
    results = []
    for target, mine in zip(targets, entries, strict=True):
        longer = [
            other.text
            for other, theirs in zip(targets, entries, strict=True)
            if other is not target and any(a < b for a in mine for b in theirs)
        ]
        results.append(replace(target, within=tuple(longer)))
    return tuple(results)


def _verb_target(verb: Key, context: EventContext, shared: frozenset[str]) -> Target:
    events = tuple(event for event in context.video.events if verb_key(event) == verb)
    messages = [" ".join(verb_said(event.verb)) for event in events]
    return _countable(
        max(messages, key=lambda name: (messages.count(name), name)), messages, events=events, shared=shared
    )


def _countable(
    text: str,
    messages: Sequence[str],
    *,
    events: tuple[Event, ...],
    shared: frozenset[str],
    n_elsewhere: int = 0,
) -> Target:
    also = tuple(sorted(set(messages) - {text}))
    if both := sorted(shared & set(messages)):
        return Target(text=text, events=events, reason="words-of-two-classes", detail=joined(both))
    if len(also) > _MOST_OTHER_WORDS:
        return Target(text=text, events=events, reason="too-many-words", detail=joined([text, *also]))
    for entry, other in combinations(events, 2):
        if pair_of(entry) == pair_of(other) and overlap(entry, other):
            detail = f"{entry.start_s:.2f}-{entry.end_s:.2f} s and {other.start_s:.2f}-{other.end_s:.2f} s"
            return Target(text=text, events=events, reason="overlapping-occurrences", detail=detail)
    for event in events:
        if event.narration.lower().startswith(_GOES_ON):
            return Target(text=text, events=events, reason="goes-on", detail=event.narration)
    return Target(text=text, also=also, events=events, n_elsewhere=n_elsewhere)
