"""End a study: write answers as files, run folders per participant, and labels."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from vidence.engine.environment import Environment
from vidence.engine.events import Listener
from vidence.study.drawing import read_items
from vidence.study.folder import StudyAnswers, write_answers
from vidence.study.labels import counted, write_labels
from vidence.study.running import write_people
from vidence.study.study import StudyFile


@dataclass(frozen=True, kw_only=True)
class ClosedStudy:
    """The answers with exclusions per participant, and the files written."""

    answers: StudyAnswers
    files: tuple[Path, ...]
    runs: tuple[Path, ...]
    labels: tuple[Path, ...]


async def write_closed(
    file: StudyFile, answers: StudyAnswers, *, environment: Environment, now: datetime, on_event: Listener
) -> ClosedStudy:
    """Write participants, responses and events, the run folders of people, and labels.

    Args:
        file: the drawn study.
        answers: all answers, from pages or sheets; those of before are replaced.
        environment: where caches lie.
        now: the time of the runs.
        on_event: hears of the runs.

    Raises:
        DataError: nothing was drawn, or a response is no label.
        StoreError: a file or folder cannot be written.
    """
    answers, runs = await write_people(file, answers, environment=environment, now=now, on_event=on_event)
    files = write_answers(file.folder, answers)
    responses = counted(answers.participants, answers.responses)
    labels = write_labels(file, responses, items=read_items(file.folder))
    return ClosedStudy(answers=answers, files=files, runs=runs, labels=labels)
