"""``asii``: action sequence integrity and identification: in which order narrated events come."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from vidence import option_readers
from vidence.catalog import take_options
from vidence.contracts import Flow
from vidence.make.events.index import VideoEvents, nouns_of, pair_of, verb_key
from vidence.make.pipeline.material import Corpus, Event, Made, Material, Task
from vidence.make.tasks._drafting import Deck, Idea, Ideas, Ledger, NoIdea, computed
from vidence.make.tasks._events import Setting, Settings, span_of, used_up
from vidence.make.tasks._wording import ARROW, order_of
from vidence.make.tasks.order_foils import N_WRONG, Order, Perturbed, exists, wrong_order, wrong_orders
from vidence.records import Record

N_EVENTS = 5
# How often a kind of event may occur, so that an order of it says something.
_MOST_OCCURRENCES = 3
_MOST_REPEATS = 60


class Rules(Record, kw_only=True, omit_defaults=True):
    """How long it must take at least from the end of an event to the start of the next one, in seconds."""

    apart_s: float = 0.5


OPTIONS: Mapping[str, Callable[[str], object]] = {"apart_s": option_readers.number_from_zero}


@dataclass(frozen=True, kw_only=True)
class _Kind:
    """Events that count as the same thing, whatever the log calls it; `starts_s` ascend."""

    text: str
    starts_s: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class _Timeline:
    """Events in their true order, each of another kind, none overlapping another."""

    events: tuple[Event, ...]
    kinds: tuple[_Kind, ...]

    def is_wrong(self, order: Order) -> bool:
        """Whether events of these kinds never come in that order."""
        return not exists([self.kinds[i].starts_s for i in order])

    def said(self, order: Sequence[int]) -> str:
        """The events in an order, in words."""
        return ARROW.join(self.kinds[i].text for i in order)


class Asii:
    """Five events of a log: their order, their order among orders of other events, the order of the middle.

    Events of a timeline do not overlap and are of five kinds. A kind has all events that count as the same
    by class or by words, with any of their nouns. A wrong order is refused where events of its kinds come in
    that order anywhere in the log.

    Source: HERBench, sections 3.1 and 7.5, figure 12 (``own-events``).
    Departs: the figure has other events in every option; ``same-events`` and ``between`` are ours. Kinds that
        occur more than three times are not asked about. How wrong orders are made, see `wrong_orders`.
    """

    code = "ASII"
    title = "Action Sequence Integrity & Identification"
    stem = "action_sequence_integrity_and_identification"
    family = "TR&C"
    version = 1
    needs: tuple[str, ...] = ("events",)
    structures: tuple[str, ...] = ("own-events", "same-events", "between")

    def __init__(self, rules: Rules) -> None:
        self._rules, self._settings = rules, Settings()

    def draft(
        self, material: Material, corpus: Corpus, *, most: int, rng: np.random.Generator
    ) -> Flow[Sequence[Made]]:
        """Up to `most` questions about the order of a video's events; nobody is asked."""

        def sources(_: Ledger) -> list[Ideas]:
            setting = self._settings.of(material, corpus)
            kinds = _kinds(setting)
            return [self._ideas(setting.video, kinds, name, rng=rng) for name in self.structures]

        return computed(self, material, sources, most=most, rng=rng)

    def _ideas(
        self, video: VideoEvents, kinds: Mapping[str, _Kind], structure: str, *, rng: np.random.Generator
    ) -> Ideas:
        make = {"own-events": _own_events, "same-events": _same_events, "between": _between}[structure]
        timelines = self._timelines(video, kinds, rng=rng)
        any_yet = False
        for timeline in timelines:
            any_yet = True
            yield make(timeline, timelines, rng)
        if any_yet:
            yield used_up(structure)
        else:
            kinds_of = f"of kinds that occur {_MOST_OCCURRENCES} times at most"
            detail = f"no {N_EVENTS} events that do not overlap, {kinds_of}"
            yield NoIdea(subject=structure, reason="too-few-events", detail=detail)

    def _timelines(
        self, video: VideoEvents, kinds: Mapping[str, _Kind], *, rng: np.random.Generator
    ) -> Iterator[_Timeline]:
        """New timelines as long as draws find some; events that were used are drawn again last."""
        events = [event for event in video.events if event.event_id in kinds]
        if len(events) < N_EVENTS:
            return
        deck, seen, n_repeats = Deck(len(events), rng=rng), set[tuple[str, ...]](), 0
        while n_repeats < _MOST_REPEATS:
            chosen: list[Event] = []
            for _ in range(2 * len(events)):
                event = events[deck.draw()]
                if self._goes_with(event, chosen, kinds):
                    chosen.append(event)
                if len(chosen) == N_EVENTS:
                    break
            chosen.sort(key=lambda e: e.start_s)
            drawn = tuple(event.event_id for event in chosen)
            if len(chosen) < N_EVENTS or drawn in seen:
                n_repeats += 1
                continue
            n_repeats = 0
            seen.add(drawn)
            yield _Timeline(events=tuple(chosen), kinds=tuple(kinds[e.event_id] for e in chosen))

    def _goes_with(self, event: Event, chosen: Sequence[Event], kinds: Mapping[str, _Kind]) -> bool:
        apart_s = self._rules.apart_s
        return all(
            (event.start_s >= other.end_s + apart_s or other.start_s >= event.end_s + apart_s)
            and kinds[event.event_id].text != kinds[other.event_id].text
            and not set(kinds[event.event_id].starts_s) & set(kinds[other.event_id].starts_s)
            for other in chosen
        )


def _kinds(setting: Setting) -> dict[str, _Kind]:
    """For each event that can be asked about, by its id, the kind that it is of."""
    video, index = setting.video, setting.index
    starts: dict[tuple[str, str], set[float]] = {}
    meant: dict[str, set[tuple[str, str]]] = {}
    for event in video.events:
        named = nouns_of(event)
        for mark in {(verb_key(event), key) for _, key in named} | {(event.verb, text) for text, _ in named}:
            starts.setdefault(mark, set()).add(event.start_s)
        for way in index.ways_to_say(event):
            meant.setdefault(way, set()).update({pair_of(event), (event.verb, event.noun)})
    found = {}
    for event in video.events:
        texts = (event.verb, event.noun)
        text = index.phrase(texts)
        marks = {pair_of(event), texts, *meant[text]}
        when = tuple(sorted({start_s for mark in marks for start_s in starts[mark]}))
        if len(when) <= _MOST_OCCURRENCES and index.is_plain(texts):
            found[event.event_id] = _Kind(text=text, starts_s=when)
    return found


# --------------------------------------------------------------------------- the three structures


def _same_events(timeline: _Timeline, others: Iterator[_Timeline], rng: np.random.Generator) -> Idea | NoIdea:
    wrong = wrong_orders(N_EVENTS, is_wrong=timeline.is_wrong, rng=rng)
    if len(wrong) < N_WRONG:
        return _no_orders("same-events", timeline, len(wrong))
    # The numbers under which the events are listed, in their true order.
    number = [int(i) + 1 for i in rng.permutation(N_EVENTS)]
    texts = dict(zip(number, (kind.text for kind in timeline.kinds), strict=True))
    listed = "\n".join(f"{n}. {texts[n]}" for n in sorted(texts))
    return Idea(
        structure="same-events",
        subject=timeline.said(range(N_EVENTS)),
        question=f"These five events are narrated in the video:\n{listed}\nIn which order do they happen?",
        right=order_of(number),
        wrong=tuple(order_of([number[i] for i in one.order]) for one in wrong),
        evidence=tuple(span_of(event) for event in timeline.events),
        facts=_facts(timeline) | _made(wrong),
    )


def _own_events(timeline: _Timeline, others: Iterator[_Timeline], rng: np.random.Generator) -> Idea | NoIdea:
    wrong: dict[str, Perturbed] = {}
    for other in others:
        if made := wrong_order(N_EVENTS, is_wrong=other.is_wrong, rng=rng):
            wrong[other.said(made.order)] = made
        if len(wrong) == N_WRONG:
            break
    else:
        detail = "the video has too few timelines for five options with events of their own"
        return NoIdea(subject="own-events", reason="too-few-timelines", detail=detail)
    return Idea(
        structure="own-events",
        subject=timeline.said(range(N_EVENTS)),
        question="Each option lists five events of the video. Which one lists them in the order in which "
        "they happen?",
        right=timeline.said(range(N_EVENTS)),
        wrong=tuple(wrong),
        evidence=tuple(span_of(event) for event in timeline.events),
        facts=_facts(timeline) | {text: made.how for text, made in wrong.items()},
    )


def _between(timeline: _Timeline, others: Iterator[_Timeline], rng: np.random.Generator) -> Idea | NoIdea:
    """The three in the middle; a wrong order of them never stands between events like the first and last."""
    last = N_EVENTS - 1
    inner = range(1, last)

    def is_wrong(order: Order) -> bool:
        return timeline.is_wrong((0, *(i + 1 for i in order), last))

    wrong = wrong_orders(len(inner), is_wrong=is_wrong, rng=rng)
    if len(wrong) < N_WRONG:
        return _no_orders("between", timeline, len(wrong))
    first_text, last_text = timeline.kinds[0].text, timeline.kinds[last].text
    return Idea(
        structure="between",
        subject=timeline.said(range(N_EVENTS)),
        question=f"In which order do these events happen after '{first_text}' and before '{last_text}'?",
        right=timeline.said(inner),
        wrong=tuple(timeline.said([i + 1 for i in one.order]) for one in wrong),
        evidence=tuple(span_of(event) for event in timeline.events),
        facts=_facts(timeline) | _made(wrong),
    )


def _no_orders(structure: str, timeline: _Timeline, n: int) -> NoIdea:
    detail = f"{n} orders that do not exist in the log; expected {N_WRONG}"
    return NoIdea(
        subject=f"{structure}, {timeline.said(range(N_EVENTS))}", reason="order-exists", detail=detail
    )


def _facts(timeline: _Timeline) -> dict[str, str]:
    facts = {}
    for event, kind in zip(timeline.events, timeline.kinds, strict=True):
        starts = ", ".join(f"{start_s:.2f}" for start_s in kind.starts_s)
        facts[kind.text] = f"{event.start_s:.2f}-{event.end_s:.2f} s; starts at {starts} s"
    return facts


def _made(wrong: Sequence[Perturbed]) -> dict[str, str]:
    return {f"wrong order {number}": one.how for number, one in enumerate(wrong, 1)}


def create(options: Mapping[str, str]) -> Task:
    """The task.

    Options: ``apart_s`` (seconds at least between the end of an event and the start of the next one, 0.5).

    Raises:
        UsageError: an option that is not known or cannot be read.
    """
    return Asii(msgspec.convert(take_options("asii", options, OPTIONS), Rules))
