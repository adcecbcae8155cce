"""The answers of a study as files: participants, responses, events."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vidence.errors import DataError
from vidence.explain.errors.packet import read_jsonl
from vidence.media.whole import write_records
from vidence.study.study import Event, Participant, Response
from vidence.text import first_lines, quoted

PARTICIPANTS_FILE: Final = "participants.jsonl"
RESPONSES_FILE: Final = "responses.jsonl"
EVENTS_FILE: Final = "events.jsonl"
ANSWER_FILES: Final = (EVENTS_FILE, RESPONSES_FILE, PARTICIPANTS_FILE)


@dataclass(frozen=True, kw_only=True)
class StudyAnswers:
    """All data that a study collected, by pseudonym, in order of time."""

    participants: tuple[Participant, ...]
    responses: tuple[Response, ...]
    events: tuple[Event, ...] = ()

    def of(self, participant: str) -> tuple[Response, ...]:
        """The responses of one participant."""
        return tuple(response for response in self.responses if response.participant == participant)

    def events_of(self, participant: str) -> tuple[Event, ...]:
        """What happened to one participant."""
        return tuple(event for event in self.events if event.participant == participant)

    def of_files(self) -> "StudyAnswers":
        """Return the data of participants who answered in files, not in the studio."""
        names = {participant.name for participant in self.participants if participant.recruited == "file"}
        return StudyAnswers(
            participants=tuple(participant for participant in self.participants if participant.name in names),
            responses=tuple(response for response in self.responses if response.participant in names),
            events=tuple(event for event in self.events if event.participant in names),
        )


def write_answers(folder: Path, answers: StudyAnswers) -> tuple[Path, ...]:
    """Write the three files to a study folder, each atomically and readable by this user only.

    Raises:
        StoreError: a file cannot be written.
    """
    paths = tuple(folder / name for name in ANSWER_FILES)
    for path, records in zip(paths, (answers.events, answers.responses, answers.participants), strict=True):
        write_records(path, records)
    return paths


def read_answers(folder: Path) -> StudyAnswers:
    """Read the answers in a study folder.

    Raises:
        DataError: the files are not there, or lines cannot be used; the message has each with its line.
    """
    if not (folder / PARTICIPANTS_FILE).exists():
        raise DataError(
            f"{folder} has no {PARTICIPANTS_FILE}: there are no answers yet; when people have answered, run "
            f"vidence study close {quoted(folder)}"
        )
    participants = read_jsonl(folder / PARTICIPANTS_FILE, Participant)
    responses = read_jsonl(folder / RESPONSES_FILE, Response)
    events = read_jsonl(folder / EVENTS_FILE, Event) if (folder / EVENTS_FILE).exists() else ()
    if faults := tuple(_odd(participants, responses, events)):
        raise DataError(
            f"{len(faults)} lines of the answers in {folder} cannot be used: {first_lines(faults)}\n"
            "Correct them, or write the files again with vidence study close"
        )
    return StudyAnswers(participants=participants, responses=responses, events=events)


def _odd(
    participants: Sequence[Participant], responses: Sequence[Response], events: Sequence[Event]
) -> Iterator[str]:
    """Report duplicate participants and trials, and rows of unknown participants."""
    names, places = set[str](), set[tuple[str, int]]()
    for line, participant in enumerate(participants, 1):
        if participant.name in names:
            yield (
                f"{PARTICIPANTS_FILE}, line {line}: a second participant {participant.name!r}; names "
                "must differ"
            )
        names.add(participant.name)
    for line, response in enumerate(responses, 1):
        key = response.participant, response.trial.place
        if key in places:
            yield f"{RESPONSES_FILE}, line {line}: a second response of {key[0]} on trial {key[1]}; keep one"
        places.add(key)
    named = {
        RESPONSES_FILE: [entry.participant for entry in responses],
        EVENTS_FILE: [event.participant for event in events],
    }
    for file, people in named.items():
        for line, person in enumerate(people, 1):
            if person not in names:
                yield f"{file}, line {line}: {person!r} is not a participant; add them, or remove the line"
