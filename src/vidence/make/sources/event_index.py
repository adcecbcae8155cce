"""Events of one video and of all videos: the index for drawing foils."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TypeAlias, TypeVar

from vidence.make.pipeline.material import Event
from vidence.make.sources.event_log import in_time
from vidence.make.sources.event_words import (
    counted_verb,
    forms,
    is_direct,
    is_near,
    likenesses,
    phrase_of,
    singular,
    verb_said,
    words,
)
from vidence.records import by_key

# A verb or a noun as it is counted: its class (``#3``); where the log has none the first synonym of a verb,
# the words of a noun.
Key: TypeAlias = str
Pair: TypeAlias = tuple[Key, Key]
# The words of a verb and of a noun.
Texts: TypeAlias = tuple[str, str]

MostT = TypeVar("MostT", str, Texts)


def verb_key(event: Event) -> Key:
    """What a verb counts as."""
    return f"#{event.verb_class}" if event.verb_class >= 0 else counted_verb(event.verb)


def noun_key(text: str, noun_class: int) -> Key:
    """What a noun counts as."""
    return f"#{noun_class}" if noun_class >= 0 else text


def pair_of(event: Event) -> Pair:
    """What an event counts as: its verb and first noun."""
    return verb_key(event), noun_key(event.noun, event.noun_class)


def nouns_of(event: Event) -> tuple[tuple[str, Key], ...]:
    """All nouns of an event, first one included, as texts and as keys."""
    classes = (*event.noun_classes, *(-1 for _ in event.nouns[len(event.noun_classes) :]))
    nouns = {event.noun: noun_key(event.noun, event.noun_class)}
    for text, noun_class in zip(event.nouns, classes, strict=False):
        nouns.setdefault(text, noun_key(text, noun_class))
    return tuple(nouns.items())


def telling_words(text: str) -> frozenset[str]:
    """The words of a text in the singular."""
    return frozenset(singular(word) for word in words(text))


def _marks(text: str, key: Key) -> tuple[str, ...]:
    """What confusable nouns share: the key, a word, a group of similar things."""
    of_words = (f"word:{word}" for word in telling_words(text))
    return (key, *of_words, *(f"like:{group}" for group in likenesses(text)))


class VideoEvents:
    """The events of one video in order of time, by key, and what may not be called absent.

    Whatever a log says counts against an absence: any noun of an event and not only the first, the classes
    and the words, near synonyms, and the words of the narration.
    """

    def __init__(self, events: Sequence[Event]) -> None:
        self.events = in_time(events)
        self.pairs = by_key((pair_of(event), event) for event in self.events)
        self.objects = by_key((pair_of(event)[1], event) for event in self.events)

    @cached_property
    def verbs(self) -> frozenset[Key]:
        """The verbs that occur."""
        return frozenset(verb for verb, _ in self.pairs)

    @cached_property
    def nouns(self) -> frozenset[Key]:
        """All nouns that occur, by key and by words."""
        return frozenset(name for event in self.events for pair in nouns_of(event) for name in pair)

    @cached_property
    def said(self) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
        """The words of each event's narration: as written, and in the singular with its nouns."""
        entries = []
        for event in self.events:
            spoken = frozenset(words(event.narration))
            nouns = frozenset(w for text, _ in nouns_of(event) for w in telling_words(text))
            entries.append((spoken, frozenset(singular(word) for word in spoken) | nouns))
        return tuple(entries)

    @cached_property
    def all_words(self) -> frozenset[str]:
        """All words of narrations and nouns, in the singular."""
        return frozenset(word for _, result in self.said for word in result)

    @cached_property
    def _likenesses(self) -> frozenset[int]:
        return frozenset(
            group for event in self.events for text, _ in nouns_of(event) for group in likenesses(text)
        )

    @cached_property
    def _done_with(self) -> Mapping[str, frozenset[tuple[str, Key]]]:
        """For each mark of a noun, the verbs it occurs with."""
        values: dict[str, set[tuple[str, Key]]] = {}
        for event in self.events:
            for text, key in nouns_of(event):
                for mark in _marks(text, key):
                    values.setdefault(mark, set()).add((event.verb, verb_key(event)))
        return {mark: frozenset(verbs) for mark, verbs in values.items()}

    def why_not_absent(self, pair: Pair, texts: Texts) -> str:
        """Evidence in the log against calling an action absent; empty if there is none."""
        verb, noun = texts
        with_it = {entry for mark in _marks(noun, pair[1]) for entry in self._done_with.get(mark, ())}
        for done, key in sorted(with_it):
            if key == pair[0] or is_near(done, verb):
                return f"{done!r} occurs with it, or with something like it"
        heads, named = forms(verb.split()[0]), telling_words(noun)
        if any(heads & spoken and named <= result for spoken, result in self.said):
            return "a narration names it"
        return ""

    def why_object_not_absent(self, key: Key, text: str) -> str:
        """Evidence in the log against calling an object absent; empty if there is none."""
        if key in self.nouns or text in self.nouns:
            return "it occurs"
        if shared := sorted(telling_words(text) & self.all_words):
            return f"the log has the word {shared[0]!r}"
        if likenesses(text) & self._likenesses:
            return "something like it occurs"
        return ""


class EventIndex:
    """Verb-noun pairs of all videos: co-occurrence counts and wordings.

    Source: HERBench, sections 3.2 and 7.5 (the corpus-wide index; plausible where common in similar videos).
    Departs: how common is not printed: here a pair must occur `least` times in the videos other than the one
        asked about.
    """

    def __init__(self, events: Mapping[str, Sequence[Event]]) -> None:
        self._by_video = {video: Counter(map(pair_of, results)) for video, results in events.items()}
        self._counts: Counter[Pair] = Counter()
        self._n_videos: Counter[Pair] = Counter()
        self.n_videos = len(events)
        for counts in self._by_video.values():
            self._counts.update(counts)
            self._n_videos.update(counts.keys())
        self._texts: dict[Pair, Counter[Texts]] = {}
        self._nouns: dict[Key, Counter[str]] = {}
        self._phrases: dict[Texts, Counter[str]] = {}
        self._direct: Counter[Texts] = Counter()
        self._n_texts: Counter[Texts] = Counter()
        for entries in events.values():
            for event in entries:
                self._learn(event)
        self.pairs: tuple[Pair, ...] = tuple(sorted(self._counts))
        self._verbs_of = by_key((noun, verb) for verb, noun in self.pairs)

    def _learn(self, event: Event) -> None:
        pair, texts = pair_of(event), (event.verb, event.noun)
        self._texts.setdefault(pair, Counter())[texts] += 1
        self._nouns.setdefault(pair[1], Counter())[event.noun] += 1
        self._n_texts[texts] += 1
        self._direct[texts] += is_direct(*texts, event.narration)
        if phrase := _phrase(event):
            self._phrases.setdefault(texts, Counter())[phrase] += 1

    @property
    def nouns(self) -> tuple[Key, ...]:
        """The nouns of all videos, sorted."""
        return tuple(sorted(self._nouns))

    def elsewhere(self, pair: Pair, video_id: str) -> int:
        """How often a pair occurs in the other videos."""
        return self._counts[pair] - self._by_video.get(video_id, Counter())[pair]

    def videos_elsewhere(self, pair: Pair, video_id: str) -> int:
        """In how many other videos a pair occurs."""
        return self._n_videos[pair] - (pair in self._by_video.get(video_id, ()))

    def texts_of(self, pair: Pair) -> Texts:
        """The most frequent wording of a pair."""
        return _most(self._texts[pair])

    def noun_text(self, noun: Key) -> str:
        """The most frequent wording of a noun."""
        return _most(self._nouns[noun])

    def verbs_with(self, noun: Key) -> Sequence[Key]:
        """The verbs that occur with a noun anywhere."""
        return self._verbs_of.get(noun, ())

    def is_plain(self, texts: Texts) -> bool:
        """Whether narrations mostly name the thing as the object of the action, not its tool."""
        return 2 * self._direct[texts] >= self._n_texts[texts] > 0

    def phrase(self, texts: Texts) -> str:
        """An action in words: verb and noun, in the noun's most frequent number."""
        counts = self._phrases.get(texts)
        return _most(counts) if counts else phrase_of(*texts)

    def ways_to_say(self, event: Event) -> frozenset[str]:
        """Names of an event: "put down glass", and "put glass" too."""
        verb, phrase = verb_said(event.verb), self.phrase((event.verb, event.noun))
        noun = phrase.removeprefix(" ".join(verb)).strip()
        heads = [" ".join(verb[:n]) for n in range(1, len(verb) + 1)]
        return frozenset(f"{head} {name}" for head in heads for name in (noun, event.noun))


def _most(counts: Counter[MostT]) -> MostT:
    """The most frequent value; ties go to the first alphabetically."""
    return min(counts, key=lambda entry: (-counts[entry], entry))


def _phrase(event: Event) -> str:
    """The narration if it is just the verb and the noun; otherwise empty."""
    messages = [word.strip(".,") for word in event.narration.lower().split()]
    messages = [word for word in messages if word not in {"the", "a", "an", "some"}]
    expected = (*verb_said(event.verb), *event.noun.split())
    is_same = [singular(word) for word in messages] == [singular(word) for word in expected]
    return " ".join(messages) if is_same else ""
