"""Logs of narrated events: one clip per event, labelled with its verb or noun."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from vidence.ask.files import FieldError
from vidence.catalog import create as make_one
from vidence.errors import DataError
from vidence.make.pipeline.material import Event
from vidence.make.sources.annotations.annotation_records import (
    AnnotationReader,
    AnnotationRecord,
    Annotations,
    Label,
    LabelSpace,
    unusable,
)
from vidence.make.sources.event_log import EventLog, EventLogReader
from vidence.make.sources.event_words import is_anything, is_near, likenesses
from vidence.make.sources.logs.files import csv_rows
from vidence.make.sources.logs.rows import literal_texts, noun_words, plain
from vidence.records import Media, Record


class Settings(Record):
    """What to read from a log."""

    log: Annotated[str, Meta(description="format of the log, one of the event-logs")] = "epic"
    label: Annotated[Literal["verb", "noun"], Meta(description="word of an event that is the label")] = "verb"
    classes: Annotated[str, Meta(description="table of classes beside the log: id, key, category")] = ""
    video: Annotated[str, Meta(description="path of a video; {video} stands for its id")] = "{video}.mp4"
    least_s: Annotated[float, Meta(ge=0, description="shorter events are left out")] = 0.5
    near_s: Annotated[float, Meta(ge=0, description="events so near to the clip are also true of it")] = 1.0
    alike: Annotated[
        bool, Meta(description="whether labels that viewers take for the right one may be wrong choices")
    ] = False
    people: Annotated[int, Meta(ge=0, description="how many people a clip shows")] = 1


class EventClips:
    """A reader of every event log format known to vidence.

    With a table of classes the label is the name of the class (``take`` for "pick up"), its category the
    parent, and its instances are synonyms; without, the word itself is the label. What else happens in the
    clip, or within `near_s` of it, is also true, and so is, unless `alike`, what a viewer may take for the
    label ("get" for "take", "glass" for "mug") or, without a table, the log puts into its class. Nouns that
    name nearly anything are no labels. Templates can use ``{noun}`` or ``{verb}``, whichever is not the
    label. Whoever narrates is the one person that is shown, unless `people` says otherwise.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def read(self, path: Path) -> Annotations:
        """The events of a log as records.

        Raises:
            DataError: the log or the table of classes cannot be used.
        """
        wanted = self._settings
        reader: EventLogReader = make_one("event-log", wanted.log)
        log = reader.read(path)
        names = self._names(path, log)
        records: list[AnnotationRecord] = []
        dropped = [unusable(line.partition(": ")[0], "malformed", line) for line in log.problems]
        for events in log.events.values():
            for i, event in enumerate(events):
                what = event.event_id
                if event.end_s - event.start_s < wanted.least_s:
                    detail = f"{event.end_s - event.start_s:.2f} s; least_s is {wanted.least_s:g}"
                    dropped.append(unusable(what, "too-short", detail))
                elif wanted.label == "noun" and is_anything(self._label(event, names)):
                    dropped.append(unusable(what, "vague-label", self._label(event, names)))
                elif not self._label(event, names):
                    dropped.append(unusable(what, "no-label", f"its {wanted.label} has no class"))
                else:
                    records.append(self._record(event, names, _around(events, i, wanted.near_s)))
        is_verb = wanted.label == "verb"
        labels = {name.name: name for name in names.values() if is_verb or not is_anything(name.name)}
        if not wanted.alike:
            classes = {} if wanted.classes else self._classes(log)
            labels = {
                name: msgspec.structs.replace(label, near=_alike(name, labels, classes, is_verb=is_verb))
                for name, label in labels.items()
            }
        space = LabelSpace(name=wanted.label, labels=tuple(labels.values()))
        return Annotations(
            records=tuple(records), spaces={space.name: space}, dropped=tuple(dropped), notes=log.notes
        )

    def _names(self, path: Path, log: EventLog) -> Mapping[str, Label]:
        """The label of each class id, or of each word if there is no table."""
        wanted = self._settings
        if not wanted.classes:
            words = {self._word(event) for events in log.events.values() for event in events}
            return {word: Label(name=word) for word in sorted(words)}
        folder = path if path.is_dir() else path.parent
        worded = plain if wanted.label == "verb" else noun_words
        names: dict[str, Label] = {}
        for where, row in csv_rows(folder / wanted.classes, needs=("id", "key")):
            if isinstance(row, FieldError):
                raise DataError(f"{where}: {row}")
            synonyms = literal_texts(row.get("instances", ""))
            names[row["id"]] = Label(
                name=worded(row["key"]),
                parent=row.get("category", ""),
                synonyms=tuple(dict.fromkeys(map(worded, synonyms))),
            )
        return names

    def _classes(self, log: EventLog) -> Mapping[str, frozenset[int]]:
        """The class numbers that the log gives each word."""
        classes: dict[str, frozenset[int]] = {}
        for event in (entry for events in log.events.values() for entry in events):
            number = event.verb_class if self._settings.label == "verb" else event.noun_class
            word = self._word(event)
            classes[word] = classes.get(word, frozenset()) | ({number} if number >= 0 else frozenset())
        return classes

    def _word(self, event: Event) -> str:
        return event.verb if self._settings.label == "verb" else event.noun

    def _label(self, event: Event, names: Mapping[str, Label]) -> str:
        number = event.verb_class if self._settings.label == "verb" else event.noun_class
        key = str(number) if self._settings.classes else self._word(event)
        return names[key].name if key in names else ""

    def _record(
        self, event: Event, names: Mapping[str, Label], around: tuple[Event, ...]
    ) -> AnnotationRecord:
        wanted = self._settings
        label = self._label(event, names)
        others = [self._label(entry, names) for entry in around]
        if wanted.label == "noun" and wanted.classes:
            ids = {str(noun_class) for e in (event, *around) for noun_class in e.noun_classes}
            others += [names[name].name for name in sorted(ids) if name in names]
        elif wanted.label == "noun":
            others += [noun for e in (event, *around) for noun in e.nouns]
        other = {"noun": event.noun} if wanted.label == "verb" else {"verb": event.verb}
        path = wanted.video.replace("{video}", event.video_id)
        return AnnotationRecord(
            record_id=event.event_id,
            media=(Media(path=path, start_s=event.start_s, end_s=event.end_s),),
            caption=event.narration,
            label=label,
            space=wanted.label,
            also_true=tuple(dict.fromkeys(name for name in others if name and name != label)),
            n_people=wanted.people,
            fields=other,
            source_id=event.video_id,
            truth="log",
        )


def _around(events: tuple[Event, ...], place: int, near_s: float) -> tuple[Event, ...]:
    """Other events in or near the clip of an event, in order of time."""
    event = events[place]
    low, high = event.start_s - near_s, event.end_s + near_s
    return tuple(e for i, e in enumerate(events) if i != place and e.start_s < high and e.end_s > low)


def _alike(
    name: str, labels: Collection[str], classes: Mapping[str, frozenset[int]], *, is_verb: bool
) -> tuple[str, ...]:
    """Other labels that a viewer may confuse with this one, or of the same class in the log."""

    def is_alike(word: str) -> bool:
        if classes.get(word, frozenset()) & classes.get(name, frozenset()):
            return True
        return is_near(name, word) if is_verb else bool(likenesses(name) & likenesses(word))

    return tuple(label for label in labels if label != name and is_alike(label))


def create(settings: Settings) -> AnnotationReader:
    """The reader of this format."""
    return EventClips(settings)
