"""Action sequence integrity and identification: in which order narrated events come."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Final

import numpy as np
from msgspec import Meta

from vidence.make.herbench.tasks.candidates import (
    BalancedDraw,
    Candidate,
    Candidates,
    ComputedTask,
    DraftLog,
    NoCandidate,
    any_or,
    fresh,
)
from vidence.make.herbench.tasks.events import EventContext, event_context, span_of, used_up
from vidence.make.herbench.tasks.guessing import FairOrders, Orders, Precedence
from vidence.make.herbench.tasks.orders import N_WRONG, Order, exists, wrong_order, wrong_orders
from vidence.make.pipeline.english import ARROW, order_of
from vidence.make.pipeline.material import Corpus, Event, Material, Task
from vidence.make.sources.event_index import nouns_of, pair_of, verb_key
from vidence.records import Record

N_EVENTS = 5
# How often a kind of event may occur, so that an order of it says something.
_MOST_OCCURRENCES = 3
_MOST_REPEATS = 60
_LEARNT_FROM: Final = 15  # questions of each video and structure
_SEED: Final = 0  # of the questions learnt from


class Settings(Record):
    """Which events make a timeline."""

    apart_s: Annotated[
        float,
        Meta(ge=0, description="seconds at least between the end of an event and the start of the next one"),
    ] = 0.5


@dataclass(frozen=True, kw_only=True)
class _NamedEvent:
    """An event as worded, its place in the log, and the start times of equivalent events."""

    event: Event
    place: int
    text: str
    starts_s: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class _Timeline:
    """Events in their true order, each of another kind, none overlapping another."""

    told: tuple[_NamedEvent, ...]

    def is_wrong(self, order: Order) -> bool:
        """Whether events of these kinds never come in that order."""
        return not exists(self.told[i].starts_s for i in order)

    def places(self, order: Sequence[int]) -> list[int]:
        """The events in an order, by their places in the log."""
        return [self.told[i].place for i in order]

    def said(self, order: Sequence[int]) -> str:
        """The events in an order, in words."""
        return ARROW.join(self.told[i].text for i in order)


@dataclass(frozen=True, kw_only=True)
class _Question:
    """A candidate, and the order of each option, the right one first, by places in the log."""

    candidate: Candidate
    orders: Orders


class Asii(ComputedTask):
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
    family = "TR&C"
    version = 3
    needs: tuple[str, ...] = ("events",)
    structures: tuple[str, ...] = ("own-events", "same-events", "between")
    _learnt: tuple[Corpus, Mapping[str, FairOrders]] | None = None

    def __init__(self, settings: Settings) -> None:
        self._apart_s = settings.apart_s

    def sources(
        self, material: Material, corpus: Corpus, log: DraftLog, *, most: int, rng: np.random.Generator
    ) -> Sequence[Candidates]:
        """One source for each structure."""
        if self._learnt is None or self._learnt[0] is not corpus:
            self._learnt = corpus, self._fair_orders(corpus)
        context = event_context(material.source.video_id, material.events, corpus)
        return [self._candidates(context, name, fair=fair, rng=rng) for name, fair in self._learnt[1].items()]

    def _fair_orders(self, corpus: Corpus) -> Mapping[str, FairOrders]:
        """Learn from all videos which questions of each structure to keep."""
        contexts = {name: event_context(name, some, corpus) for name, some in sorted(corpus.events.items())}
        before = Precedence({name: context.video.events for name, context in contexts.items()})
        drawn: dict[str, dict[str, list[Orders]]] = {name: {} for name in self.structures}
        rng = np.random.default_rng(_SEED)
        for name, context in contexts.items():
            events = _told(context)
            for structure, some in drawn.items():
                every = (
                    entry for entry in self._drawn(events, structure, rng=rng) if isinstance(entry, _Question)
                )
                some[name] = [entry.orders for entry in islice(every, _LEARNT_FROM)]
        return {structure: FairOrders(before, some) for structure, some in drawn.items()}

    def _candidates(
        self, context: EventContext, structure: str, *, fair: FairOrders, rng: np.random.Generator
    ) -> Candidates:
        is_fair = fair.judge(context.video_id, context.video.events, rng=rng)
        for entry in self._drawn(_told(context), structure, rng=rng):
            if isinstance(entry, NoCandidate):
                yield entry
            elif is_fair(entry.orders):
                yield entry.candidate

    def _drawn(
        self, events: Sequence[_NamedEvent], structure: str, *, rng: np.random.Generator
    ) -> Iterator[_Question | NoCandidate]:
        make = {"own-events": _own_events, "same-events": _same_events, "between": _between}[structure]
        timelines = self._timelines(events, rng=rng)
        detail = (
            f"no {N_EVENTS} events that do not overlap, of kinds that occur {_MOST_OCCURRENCES} times at most"
        )
        none = NoCandidate(subject=structure, reason="too-few-events", detail=detail)
        for timeline in any_or(timelines, none):
            if isinstance(timeline, NoCandidate):
                yield timeline
                return
            yield make(timeline, timelines, rng)
        yield used_up(structure)

    def _timelines(self, events: Sequence[_NamedEvent], *, rng: np.random.Generator) -> Iterator[_Timeline]:
        """New timelines as long as draws find some; events that were used are drawn again last."""
        if len(events) < N_EVENTS:
            return
        balanced = BalancedDraw(len(events), rng=rng)

        def draw() -> tuple[_NamedEvent, ...] | None:
            chosen: list[_NamedEvent] = []
            for _ in range(2 * len(events)):
                event = events[balanced.next()]
                if all(self._go_together(event, other) for other in chosen):
                    chosen.append(event)
                if len(chosen) == N_EVENTS:
                    return tuple(sorted(chosen, key=lambda named_event: named_event.event.start_s))
            return None

        def ids(some: Sequence[_NamedEvent]) -> tuple[str, ...]:
            return tuple(event.event.event_id for event in some)

        for chosen in fresh(draw, ids, most_repeats=_MOST_REPEATS):
            yield _Timeline(told=chosen)

    def _go_together(self, event: _NamedEvent, other: _NamedEvent) -> bool:
        first, second = event.event, other.event
        if second.start_s < first.start_s:
            first, second = second, first
        return (
            second.start_s >= first.end_s + self._apart_s
            and event.text != other.text
            and set(event.starts_s).isdisjoint(other.starts_s)
        )


def _told(context: EventContext) -> list[_NamedEvent]:
    """Return the events that can be asked about."""
    video, index = context.video, context.index
    starts: dict[tuple[str, str], set[float]] = {}
    meant: dict[str, set[tuple[str, str]]] = {}
    for event in video.events:
        named = nouns_of(event)
        for mark in {(verb_key(event), key) for _, key in named} | {(event.verb, text) for text, _ in named}:
            starts.setdefault(mark, set()).add(event.start_s)
        for way in index.ways_to_say(event):
            meant.setdefault(way, set()).update({pair_of(event), (event.verb, event.noun)})
    entries = []
    for place, event in enumerate(video.events):
        texts = (event.verb, event.noun)
        text = index.phrase(texts)
        marks = {pair_of(event), texts, *meant[text]}
        when = tuple(sorted({start_s for mark in marks for start_s in starts[mark]}))
        if len(when) <= _MOST_OCCURRENCES and index.is_plain(texts):
            entries.append(_NamedEvent(event=event, place=place, text=text, starts_s=when))
    return entries


# --------------------------------------------------------------------------- the three structures


def _question(
    structure: str,
    timeline: _Timeline,
    question: str,
    *,
    right: str,
    wrong: Mapping[str, tuple[str, Sequence[int]]],
) -> _Question:
    """A question; `wrong` are the wrong orders in words, how each was made, and its events by place."""
    facts = {}
    for event in timeline.told:
        starts = ", ".join(f"{start_s:.2f}" for start_s in event.starts_s)
        facts[event.text] = f"{event.event.start_s:.2f}-{event.event.end_s:.2f} s; starts at {starts} s"
    named = {
        text if structure == "own-events" else f"wrong order {i}": how
        for i, (text, (how, _)) in enumerate(wrong.items(), 1)
    }
    candidate = Candidate(
        structure=structure,
        subject=timeline.said(range(N_EVENTS)),
        question=question,
        right=right,
        wrong=tuple(wrong),
        evidence=tuple(span_of(named_event.event) for named_event in timeline.told),
        facts={**facts, **named},
    )
    orders = [timeline.places(range(N_EVENTS)), *(places for _, places in wrong.values())]
    return _Question(candidate=candidate, orders=np.array(orders, np.intp))


def _same_events(
    timeline: _Timeline, others: Iterator[_Timeline], rng: np.random.Generator
) -> _Question | NoCandidate:
    wrong = wrong_orders(N_EVENTS, is_wrong=timeline.is_wrong, rng=rng)
    if len(wrong) < N_WRONG:
        return _no_orders("same-events", timeline, len(wrong))
    # The numbers under which the events are listed, in their true order.
    number = [int(i) + 1 for i in rng.permutation(N_EVENTS)]
    listed = "\n".join(f"{n}. {timeline.told[number.index(n)].text}" for n in sorted(number))
    return _question(
        "same-events",
        timeline,
        f"These five events are narrated in the video:\n{listed}\nIn which order do they happen?",
        right=order_of(number),
        wrong={
            order_of([number[i] for i in perturbed.order]): (perturbed.how, timeline.places(perturbed.order))
            for perturbed in wrong
        },
    )


def _own_events(
    timeline: _Timeline, others: Iterator[_Timeline], rng: np.random.Generator
) -> _Question | NoCandidate:
    wrong: dict[str, tuple[str, Sequence[int]]] = {}
    for other in others:
        if perturbed := wrong_order(N_EVENTS, is_wrong=other.is_wrong, rng=rng):
            wrong[other.said(perturbed.order)] = perturbed.how, other.places(perturbed.order)
        if len(wrong) == N_WRONG:
            break
    else:
        detail = "the video has too few timelines for five options with events of their own"
        return NoCandidate(subject="own-events", reason="too-few-timelines", detail=detail)
    question = (
        "Each option lists five events of the video. Which one lists them in the order in which they happen?"
    )
    right = timeline.said(range(N_EVENTS))
    return _question("own-events", timeline, question, right=right, wrong=wrong)


def _between(
    timeline: _Timeline, others: Iterator[_Timeline], rng: np.random.Generator
) -> _Question | NoCandidate:
    """The three in the middle; a wrong order of them never stands between events like the first and last."""
    last = N_EVENTS - 1
    inner = range(1, last)

    def whole(order: Order) -> Order:
        return (0, *(i + 1 for i in order), last)

    wrong = wrong_orders(len(inner), is_wrong=lambda order: timeline.is_wrong(whole(order)), rng=rng)
    if len(wrong) < N_WRONG:
        return _no_orders("between", timeline, len(wrong))
    first_text, last_text = timeline.told[0].text, timeline.told[last].text
    return _question(
        "between",
        timeline,
        f"In which order do these events happen after '{first_text}' and before '{last_text}'?",
        right=timeline.said(inner),
        wrong={
            timeline.said(order[1:-1]): (perturbed.how, timeline.places(order))
            for perturbed in wrong
            for order in (whole(perturbed.order),)
        },
    )


def _no_orders(structure: str, timeline: _Timeline, n: int) -> NoCandidate:
    detail = f"{n} orders that do not exist in the log; expected {N_WRONG}"
    return NoCandidate(
        subject=f"{structure}, {timeline.said(range(N_EVENTS))}", reason="order-exists", detail=detail
    )


def create(settings: Settings) -> Task:
    """The task."""
    return Asii(settings)
