"""What people answered in a study, as files: participants, responses, events."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from vidence.engine.importing import write_records
from vidence.errors import DataError
from vidence.records import Record
from vidence.study.study import Event, Participant, Response
from vidence.text import first_lines

PARTICIPANTS_FILE: Final = "participants.jsonl"
RESPONSES_FILE: Final = "responses.jsonl"
EVENTS_FILE: Final = "events.jsonl"
RecordT = TypeVar("RecordT", bound=Record)


@dataclass(frozen=True, kw_only=True)
class StudyAnswers:
    """Everything that came of a study: by pseudonyms, in the order in which it happened."""

    participants: tuple[Participant, ...]
    responses: tuple[Response, ...]
    events: tuple[Event, ...] = ()

    def of(self, participant: str) -> tuple[Response, ...]:
        """The responses of one participant."""
        return tuple(one for one in self.responses if one.participant == participant)

    def events_of(self, participant: str) -> tuple[Event, ...]:
        """What happened to one participant."""
        return tuple(one for one in self.events if one.participant == participant)


def write_answers(folder: Path, answers: StudyAnswers) -> tuple[Path, ...]:
    """Write the three files into the folder of a study, each whole, for this user alone.

    Raises:
        StoreError: a file cannot be written.
    """
    files: Mapping[str, Iterable[Record]] = {
        EVENTS_FILE: answers.events,
        RESPONSES_FILE: answers.responses,
        PARTICIPANTS_FILE: answers.participants,
    }
    for name, records in files.items():
        write_records(folder / name, records)
    return tuple(folder / name for name in files)


def read_answers(folder: Path) -> StudyAnswers:
    """What was written into the folder of a study.

    Raises:
        DataError: the files are not there, or lines cannot be used; the message has each with its line.
    """
    if not (folder / PARTICIPANTS_FILE).exists():
        raise DataError(
            f"{folder} has no {PARTICIPANTS_FILE}: no answers are there yet; when people have answered, run "
            f"vidence study close {folder}"
        )
    faults: list[str] = []
    participants = dict(_read(folder / PARTICIPANTS_FILE, Participant, faults))
    responses = dict(_read(folder / RESPONSES_FILE, Response, faults))
    events = dict(_read(folder / EVENTS_FILE, Event, faults)) if (folder / EVENTS_FILE).exists() else {}
    faults += _odd(participants, responses, events)
    if faults:
        raise DataError(
            f"{len(faults)} lines of the answers in {folder} cannot be used: {first_lines(faults)}\n"
            "Mend them, or write the files again with vidence study close"
        )
    return StudyAnswers(
        participants=tuple(participants.values()),
        responses=tuple(responses.values()),
        events=tuple(events.values()),
    )


def _read(path: Path, kind: type[RecordT], faults: list[str]) -> Iterator[tuple[int, RecordT]]:
    """The records of a file with their lines; what cannot be read is added to the faults."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error}; write it again with vidence study close") from error
    for number, line in enumerate(lines, 1):
        try:
            yield number, msgspec.json.decode(line, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            faults.append(f"{path.name}, line {number}: {error}")


def _odd(
    participants: Mapping[int, Participant], responses: Mapping[int, Response], events: Mapping[int, Event]
) -> Iterator[str]:
    """Participants and trials that are there twice, and records of participants who are not there."""
    known: set[str] = set()
    for line, one in participants.items():
        if one.name in known:
            yield f"{PARTICIPANTS_FILE}, line {line}: a second participant {one.name!r}; names must differ"
        known.add(one.name)
    seen: set[tuple[str, int]] = set()
    for line, response in responses.items():
        key = response.participant, response.trial.place
        if key in seen:
            yield f"{RESPONSES_FILE}, line {line}: a second response of {key[0]} on trial {key[1]}; keep one"
        seen.add(key)
    for name, lines in ((RESPONSES_FILE, responses), (EVENTS_FILE, events)):
        for line, record in lines.items():
            if record.participant not in known:
                yield f"{name}, line {line}: {record.participant!r} is no participant; add them, or remove it"
