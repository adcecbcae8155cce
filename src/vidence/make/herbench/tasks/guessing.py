"""Keep drawn questions so that knowing only other videos does not tell which choice is right."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vidence.make.pipeline.material import Event
from vidence.make.sources.event_index import pair_of

Floats: TypeAlias = NDArray[np.float64]
# Events of a video in some order, by place: (..., n_events).
Orders: TypeAlias = NDArray[np.intp]
# From a value for each thing of sets, (n_sets, n_things, n_traits), to one for each choice.
ToChoices: TypeAlias = Callable[[Floats], Floats]

LEAST_VIDEOS: Final = 20  # fewer teach a reader too little
_READINGS: Final = 2  # what is right elsewhere is counted in all sets, then in those kept
_STEPS: Final = 20
_REFRESHED: Final = 5  # steps after which the spread of traits is taken again
_PACE: Final = 0.5  # of a step, of the way that would do if the sets kept stayed the same
_RIDGE: Final = 3.0  # in sets
_UNSEEN: Final = 0.5  # added to counts of videos and events
_DOUBT: Final = 6.0  # added to counts of sets
_LEAST: Final = 1e-9


@dataclass(frozen=True, kw_only=True)
class Thing:
    """What a question lists: in which words, and what it counts as in the log."""

    text: str
    key: Hashable


@dataclass(frozen=True, kw_only=True)
class Sets:
    """Things drawn into questions about one video.

    Shapes: `places` in `things` and whether a thing is the `odd` one (n_sets, n_things); `right`, the place
    of the right choice, (n_sets,).
    """

    video: str
    things: Sequence[Thing]
    places: NDArray[np.intp]
    odd: NDArray[np.bool_]
    right: NDArray[np.intp]


class EventCounts:
    """How common things are, in which words and in which company, in other videos than the one asked about.

    Args:
        counts: how often each thing occurs in each video.
        texts: in which words the things of each video are offered as occurring.
    """

    def __init__(
        self, counts: Mapping[str, Mapping[Hashable, int]], texts: Mapping[str, Sequence[str]]
    ) -> None:
        self.row = {video: i for i, video in enumerate(counts)}
        keys = dict.fromkeys(key for some in counts.values() for key in some)
        self._number = {key: i for i, key in enumerate(keys)}
        self._counts = np.zeros((len(counts) + 1, len(keys) + 1))
        for video, some in counts.items():
            self._counts[self.row[video], [self._number[key] for key in some]] = list(some.values())
        there = (self._counts > 0).astype(float)
        self._both = there.T @ there
        self._texts = {video: frozenset(some) for video, some in texts.items()}
        self._n_texts = Counter(text for some in self._texts.values() for text in some)

    def traits(self, video: str, things: Sequence[Thing]) -> tuple[Floats, Floats]:
        """Shapes: of each thing (n_things, 6), of each pair (n_things, n_things, 3)."""
        number = [self._number.get(thing.key, -1) for thing in things]
        own, written = self._counts[self.row.get(video, -1), number], self._texts.get(video, frozenset())
        both = self._both[np.ix_(number, number)] - np.outer(own > 0, own > 0) + _UNSEEN
        n_videos = both.diagonal()
        n_events = self._counts[:, number].sum(axis=0) - own + _UNSEEN
        n_written = [self._n_texts[thing.text] - (thing.text in written) + _UNSEEN for thing in things]
        lift = np.log(both * len(self.row) / np.outer(n_videos, n_videos))
        words = np.array([[word for _, word in _marks(thing.text)[:2]] for thing in things])
        pairs = np.dstack([lift, words[:, None] == words]) * ~np.eye(len(things), dtype=bool)[:, :, None]
        common, worded = np.log(n_videos), np.log(n_written)
        lengths = np.array([len(thing.text) for thing in things])
        often = np.log(n_events / n_videos)
        return np.column_stack([common, worded, often, lengths, common**2, worded**2]), pairs


class FairSets:
    """Which drawn sets to keep, so that the right choice is as any other in all that readers know of it.

    A reader knows how common things are, which go with which, their words, and which words are right in
    questions about other videos. Of what can be learnt from that a weighted sum scores each choice; a set is
    kept with the probability ``exp(lowest score - score of the right choice)``, which is what makes every
    choice of a set as likely to be right. The weights are those with which, over the sets kept, the right
    choice has the mean of all choices in everything. With fewer than `LEAST_VIDEOS` all sets are kept.

    Args:
        counts: what is known of things.
        drawn: sets of all videos to learn from.
        choices: makes choices of things.
        wanted: how many sets of each drawn ones are kept at most.
    """

    def __init__(
        self, counts: EventCounts, drawn: Sequence[Sets], *, choices: ToChoices, wanted: float
    ) -> None:
        self._counts, self._choices = counts, choices
        self._told: list[Floats] = []
        self._weights: Floats = np.zeros(0)
        marks = sorted({mark for sets in drawn for thing in sets.things for mark in _marks(thing.text)})
        self._marks = {mark: i for i, mark in enumerate(marks)}
        if len({sets.video for sets in drawn}) >= LEAST_VIDEOS:
            self._learn(drawn, wanted)

    @property
    def has_learnt(self) -> bool:
        """Whether there were enough videos."""
        return bool(self._told)

    def kept(self, sets: Sets, *, rng: np.random.Generator) -> NDArray[np.intp]:
        """Return the places of the sets to keep."""
        if not self.has_learnt:
            return np.arange(len(sets.right))
        share = _share(self._traits(sets) @ self._weights, sets.right)
        return np.flatnonzero(rng.random(len(share)) < share)

    def _learn(self, drawn: Sequence[Sets], wanted: float) -> None:
        right = np.concatenate([sets.right for sets in drawn])
        video = np.repeat(np.arange(len(drawn)), [len(sets.right) for sets in drawn])
        share = np.ones(len(right))
        for _ in range(_READINGS):
            self._told.append(self._right_elsewhere(drawn, share))
            x = np.concatenate([self._traits(sets).astype(np.float32) for sets in drawn])
            self._weights, share = _fitted(x, right, video, wanted=wanted, first=self._weights)

    def _right_elsewhere(self, drawn: Sequence[Sets], share: Floats) -> Floats:
        """For each word and video how much more often it is of the odd thing in sets of other videos."""
        n_sets = np.zeros((2, len(self._marks) + 1, len(self._counts.row) + 1))
        shares = np.split(share, np.cumsum([len(sets.right) for sets in drawn])[:-1])
        for sets, some in zip(drawn, shares, strict=True):
            for i, odd in enumerate((sets.odd, ~sets.odd)):
                weights = np.broadcast_to(some[:, None], odd.shape)[odd]
                row = self._counts.row.get(sets.video, -1)
                for marks in self._numbers(sets)[sets.places[odd]].T:
                    n_sets[i, :, row] += np.bincount(marks, weights, minlength=n_sets.shape[1])
        odd, others = n_sets.sum(axis=2, keepdims=True) - n_sets
        table: Floats = np.log(odd * others.sum() / odd.sum() + _DOUBT) - np.log(others + _DOUBT)
        return table

    def _numbers(self, sets: Sets) -> NDArray[np.intp]:
        return np.array(
            [
                [self._marks.get(mark, len(self._marks)) for mark in _marks(thing.text)]
                for thing in sets.things
            ]
        )

    def _traits(self, sets: Sets) -> Floats:
        """Shapes: (n_sets, n_choices, n_traits)."""
        own, pairs = self._counts.traits(sets.video, sets.things)
        company = pairs[sets.places[:, :, None], sets.places[:, None]].mean(axis=2)
        entry = np.concatenate([own[sets.places], company], axis=2)
        ranked = np.concatenate([entry[..., :2], company], axis=2)
        least = ranked <= ranked.min(axis=1, keepdims=True)
        most = ranked >= ranked.max(axis=1, keepdims=True)
        row, numbers = self._counts.row.get(sets.video, -1), self._numbers(sets)
        told = [table[numbers, row][sets.places] for table in self._told]
        return self._choices(np.concatenate([entry, least, most, *told], axis=2))


def _fitted(
    x: Floats, right: NDArray[np.intp], group: NDArray[np.intp], *, wanted: float, first: Floats
) -> tuple[Floats, Floats]:
    """Weights with which the right choice of the sets kept is as any other, and the share of each set kept.

    Args:
        x: (n_sets, n_choices, n_traits).
        right: place of the right choice of each set.
        group: of each set; of a group `wanted` sets at most are kept.
        wanted: how many.
        first: weights of the first traits to begin with.
    """
    scale = x.std(axis=(0, 1)) + _LEAST
    x = (x - x.mean(axis=1, keepdims=True)) / scale
    at_right = x[np.arange(len(x)), right]
    weights = np.append(first, np.zeros(len(scale) - len(first))) * scale
    for step in range(_STEPS):
        share = _share(x @ weights.astype(np.float32), right)
        share *= np.minimum(1.0, wanted / np.maximum(np.bincount(group, share), _LEAST))[group]
        if step % _REFRESHED == 0:
            likely = np.flatnonzero(share > _LEAST)
            flat = x[likely].reshape(-1, len(scale))
            spread = (flat * np.repeat(share[likely], x.shape[1])[:, None]).T @ flat / x.shape[1]
        weights += _PACE * np.linalg.solve(spread + _RIDGE * np.eye(len(scale)), share @ at_right)
    return weights / scale, share


def _share(scores: Floats, right: NDArray[np.intp]) -> Floats:
    share: Floats = np.exp(scores.min(axis=1) - scores[np.arange(len(scores)), right])
    return share


def _marks(text: str) -> tuple[tuple[str, str], ...]:
    """What may tell a text: its first word, its last, all of it."""
    words = text.split()
    return ("first", words[0]), ("last", words[-1]), ("all", text)


class FairOrders:
    """Which questions about orders to keep: the right order is as usual in other videos as the wrong ones.

    As `FairSets`, for readers who know what comes before what in other videos.

    Args:
        before: what is known of orders.
        drawn: questions of all videos to learn from, the right order first: (n_choices, n_events) each.
    """

    def __init__(self, before: "Precedence", drawn: Mapping[str, Sequence[Orders]]) -> None:
        self._before = before
        self._weights: Floats = np.zeros(0)
        drawn = {video: some for video, some in drawn.items() if some}
        if len(drawn) >= LEAST_VIDEOS:
            x = np.concatenate([
                _order_traits(before.log_odds(video, before.events[video]), np.stack(some))
                for video, some in drawn.items()
            ])  # fmt: skip
            group = np.repeat(np.arange(len(drawn)), [len(some) for some in drawn.values()])
            right = np.zeros(len(x), np.intp)
            self._weights, _ = _fitted(x, right, group, wanted=1.0, first=self._weights)

    def judge(
        self, video: str, events: Sequence[Event], *, rng: np.random.Generator
    ) -> Callable[[Orders], bool]:
        """Return what decides whether to keep a question about the events of a video."""
        if not len(self._weights):
            return lambda orders: True
        log_odds = self._before.log_odds(video, events)

        def keeps(orders: Orders) -> bool:
            scores = _order_traits(log_odds, orders[None]) @ self._weights
            return bool(rng.random() < _share(scores, np.zeros(1, np.intp))[0])

        return keeps


def _order_traits(log_odds: Floats, orders: Orders) -> Floats:
    """What tells of pairs and neighbours, and is shared with other choices: (n_questions, n_choices, 11)."""
    values = []
    for first, second in (np.triu_indices(orders.shape[-1], 1), (slice(-1), slice(1, None))):
        before, after = orders[..., first], orders[..., second]
        values += [log_odds[before, after].sum(axis=-2), _n_shared(before * len(log_odds) + after)]
    return np.concatenate([*values, _n_shared(orders)], axis=-1)


def _n_shared(parts: Orders) -> Floats:
    """How many parts of each choice the choices of its question have: (n_questions, n_choices, 1)."""
    is_same = parts[:, :, None, :, None] == parts[:, None, :, None, :]
    n_shared: Floats = is_same.sum(axis=(2, 3, 4))[..., None].astype(float)
    return n_shared


class Precedence:
    """What comes before what in other videos than the one asked about: by verb, by noun, by both.

    Args:
        events: of all videos, each in time order.
    """

    def __init__(self, events: Mapping[str, Sequence[Event]]) -> None:
        self.events = events
        n_videos = Counter(chain.from_iterable({*chain(*map(_kinds, some))} for some in events.values()))
        # Of what a single video has, other videos say nothing; most pairs are such.
        kinds = sorted((key for key, n in n_videos.items() if n > 1), key=repr)
        self._number = {key: i for i, key in enumerate(kinds)}
        self._total = np.zeros((len(kinds) + 1, len(kinds) + 1), np.float32)
        for some in events.values():
            for here, _, share in self._shares(some):
                self._total[np.ix_(here, here)] += share

    def _shares(self, events: Sequence[Event]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], Floats]]:
        """By each of three keys: those there are, that of each event, how often which comes before which."""
        for keys in zip(*map(_kinds, events), strict=True):
            here, places = np.unique([self._number.get(key, -1) for key in keys], return_inverse=True)
            is_of = np.eye(len(here))[places]
            is_of[:, here < 0] = 0.0
            before = is_of.T @ (np.cumsum(is_of[::-1], axis=0)[::-1] - is_of)
            yield here, places, before / np.maximum(before + before.T, 1.0)

    def log_odds(self, video: str, events: Sequence[Event]) -> Floats:
        """Of each event of a video before each, and how long their words are: (n_events, n_events, 4)."""
        lengths = np.array([len(event.verb) + len(event.noun) for event in events], float)
        values = [lengths[:, None] + lengths]
        for here, places, share in self._shares(events):
            n = self._total[np.ix_(here, here)] - share * (video in self.events) + _UNSEEN
            values.append(np.log(n / n.T)[np.ix_(places, places)])
        return np.stack(values, axis=2)


def _kinds(event: Event) -> tuple[Hashable, Hashable, Hashable]:
    verb, noun = pair_of(event)
    return ("verb", verb), ("noun", noun), (verb, noun)
