"""People whose answers to a drawn study are planted: records as the pages, sheets and jsPsych give them."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import anyio

from vidence.engine.environment import Environment
from vidence.records import Item
from vidence.study.assignment import all_trials
from vidence.study.drawing import draw, read_drawn, read_items, write_drawn
from vidence.study.folder import StudyAnswers
from vidence.study.running import write_closed
from vidence.study.study import Participant, PlannedTrial, Response, StudyFile, read_study

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
Fill = Callable[[int, PlannedTrial, Item], Mapping[str, str]]
"""What a participant, by the slot, fills in on a trial."""


def drawn(folder: Path, text: str) -> tuple[StudyFile, Environment]:
    """A study of a folder, drawn."""
    (folder / "study.toml").write_text(text)
    file, environment = read_study(folder), Environment(cache_root=folder / "cache", n_workers=1)
    write_drawn(file, draw(file, environment=environment))
    return file, environment


def solve(folder: Path, text: str, fill: Fill) -> StudyAnswers:
    """Draw a study, fill in all trials phase by phase, and close it."""
    file, environment = drawn(folder, text)
    draw_of, items, study = read_drawn(folder), read_items(folder), file.study
    own: dict[int, list[Response]] = {slot: [] for slot in range(study.n_people)}
    for phase in study.phases:
        for slot, responses in own.items():
            for trial in all_trials(study, draw_of, slot, responses=responses, items=items):
                if trial.phase == phase.name and (values := fill(slot, trial, items[trial.item_id])):
                    said = Response(
                        participant=f"P{slot + 1:02d}",
                        trial=trial,
                        values=dict(values),
                        seconds=30.0,
                        n_plays=1,
                        answered_at=AT.isoformat(),
                    )
                    responses.append(said)
    people = tuple(
        Participant(
            name=f"P{slot + 1:02d}",
            slot=slot,
            state="finished",
            calibration_px_per_cm=37.8,
            began_at=AT.isoformat(),
        )
        for slot in own
    )
    answers = StudyAnswers(participants=people, responses=tuple(r for rs in own.values() for r in rs))

    async def close() -> None:
        await write_closed(file, answers, environment=environment, now=AT, on_event=lambda _: None)

    anyio.run(close)
    return answers
