"""A log of narrated events, in any format that vidence reads: one scene per video.

events:EPIC_100_validation.csv?format=epic                    nothing is said to be complete
events:EPIC_100_validation.csv?format=epic&complete=event     whatever the log does not list did not happen
events:mine.csv?video=P01_11|P01_12                           two of its videos
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, TypeAlias

from msgspec import Meta

from vidence import catalog
from vidence.catalog import FilePath
from vidence.contracts import Flow
from vidence.errors import UnknownNameError
from vidence.make.pipeline.material import Event
from vidence.make.sources.event_log import EventLogReader
from vidence.make.sources.event_words import counted_verb
from vidence.make.sources.scene import AttributeFact, EventFact, Header
from vidence.make.sources.scene_writing import (
    AsksNobody,
    SceneDraft,
    SceneSet,
    SceneSource,
    Told,
    complete_lines,
)
from vidence.make.sources.vocabulary import EVENT, Attribute, EventKind, Vocabulary
from vidence.records import Record

OBJECT = "object"
_Class: TypeAlias = tuple[int, str]


class Settings(Record):
    """Options of an event log."""

    positional: ClassVar[str] = "path"
    path: Annotated[FilePath, Meta(description="the log, or a folder of logs")]
    format: Annotated[str, Meta(description="format, one of vidence list event-logs")] = "plain"
    video: Annotated[tuple[str, ...], Meta(description="only these videos (empty: all)")] = ()
    complete: Annotated[tuple[str, ...], Meta(description="complete parts: event, or kinds of events")] = ()


@dataclass
class _Events(AsksNobody):
    """An event log: each event has a kind (the action) and an `object`.

    Words of one class are one kind or object, which is called by the commonest of them; verbs without a class
    are one kind with their synonyms (``put``, ``place``). An object is a kind
    of thing and no entity: a log does not say whether two plates are the same.
    """

    settings: Settings

    def read(self) -> Flow[SceneSet]:
        """The scenes of the log.

        Raises:
            DataError: there is nothing to read.
            UnknownNameError: a video that the log has not.
        """
        yield from ()
        reader: EventLogReader = catalog.create("event-log", self.settings.format)
        log = reader.read(Path(self.settings.path))
        for video in self.settings.video:
            if video not in log.events:
                raise UnknownNameError("video of the log", video, tuple(log.events))
        wanted = {
            name: event for name, event in log.events.items() if name in (self.settings.video or log.events)
        }
        every = [event for events in log.events.values() for event in events]
        kinds = _called(map(_verb, every))
        objects = _called((event.noun_class, event.noun) for event in every)
        words = Vocabulary(
            attributes={
                OBJECT: Attribute(of=(EVENT,), values=tuple(sorted(set(objects.values()))), answer="object")
            },
            events={kind: EventKind() for kind in sorted(set(kinds.values()))},
        )
        known: dict[str, tuple[str, ...]] = {EVENT: (), **dict.fromkeys(words.events, (EVENT,))}
        complete = complete_lines(self.settings.complete, known, owner=f"events:{self.settings.path}")
        return SceneSet(
            vocabulary=words,
            scenes=tuple(
                SceneDraft(
                    header=Header(scene=name, vocabulary="", video=name, source_id=name, truth="log"),
                    lines=(*(line for event in events for line in _lines(event, kinds, objects)), *complete),
                )
                for name, events in wanted.items()
            ),
            problems=log.problems,
            notes=log.notes,
        )


def create(settings: Settings) -> SceneSource:
    """The scenes of a log."""
    return _Events(settings)


def _lines(event: Event, kinds: Mapping[_Class, str], objects: Mapping[_Class, str]) -> Iterable[Told]:
    kind = kinds[_key(*_verb(event))]
    yield EventFact(id=event.event_id, kind=kind, span=(event.start_s, event.end_s), by="log")
    what = objects[_key(event.noun_class, event.noun)]
    yield AttributeFact(of=event.event_id, name=OBJECT, value=what, by="log")


def _verb(event: Event) -> _Class:
    """Return the class and word of a verb; without a class, synonyms are one word."""
    return event.verb_class, event.verb if event.verb_class >= 0 else counted_verb(event.verb)


def _key(number: int, text: str) -> _Class:
    """Return the identity of a word: its class, or the word if it has no class."""
    return (number, "") if number >= 0 else (number, text)


def _called(classes: Iterable[_Class]) -> dict[_Class, str]:
    """A name for each class: its most frequent word not taken by a more frequent class.

    >>> _called([(0, "put"), (0, "put down"), (0, "put"), (1, "put"), (-1, "hum")])
    {(0, ''): 'put', (-1, 'hum'): 'hum', (1, ''): 'put (class 1)'}
    """
    texts: dict[_Class, Counter[str]] = defaultdict(Counter)
    for number, text in classes:
        texts[_key(number, text)][text] += 1
    values: dict[_Class, str] = {}
    taken: set[str] = set()
    for key in sorted(texts, key=lambda numbers: (-texts[numbers].total(), numbers)):
        listed = sorted(texts[key], key=lambda text: (-texts[key][text], text))
        free = next((text for text in listed if text not in taken), f"{listed[0]} (class {key[0]})")
        values[key] = free
        taken.add(free)
    return values
