"""Put questions, or replies of models, to people."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from vidence.console.files import screen, show, write_said
from vidence.console.flags import JSON, argument, command, flag
from vidence.console.screen import Screen, say, several
from vidence.engine.display import watched
from vidence.engine.environment import environment, now
from vidence.errors import UsageError
from vidence.records import Record
from vidence.study.showing import StudyReportWanted, show_report

if TYPE_CHECKING:
    from vidence.study.drawing import DrawnStudy
    from vidence.study.study import Study
    from vidence.tables.table import Table

SECTION = "Make"
STUDY = argument("STUDY")


@click.group()
def study() -> None:
    """Put questions, or replies of models, to people."""


class Check(Record):
    """A study that is planned."""

    folder: Annotated[Path, STUDY]
    accuracy: Annotated[
        float,
        flag("Accuracy expected of people.", type=click.FloatRange(0, 1, min_open=True, max_open=True)),
    ] = 0.8
    json_path: Annotated[Path | None, JSON] = None


@command(group=study)
def check(given: Check) -> None:
    """Say what STUDY would show to how many people, for how long, and what it would find.

    STUDY is a study.toml, or its folder. All that is wrong with it is named at once. Nothing is written.
    """
    from vidence.study.drawing import draw as drawn_of
    from vidence.study.study import read_study

    console = screen(given.json_path)
    file = read_study(given.folder)
    found = drawn_of(file, environment=environment())
    tables = (phase_table(file.study, found),)
    sentences = (*_size(file.study, found), *_power(found, accuracy=given.accuracy))
    write_said(given.json_path, "study check", sentences=sentences, tables=tables)
    show(console, sentences, tables)


class Draw(Record):
    """A study whose questions are drawn, and for how many people there are sheets."""

    folder: Annotated[Path, STUDY]
    sheets: Annotated[
        int | None, flag("Write a blank sheet for each of so many people.", type=click.IntRange(1))
    ] = None


@command(group=study)
def draw(given: Draw) -> None:
    """Draw what STUDY puts to people, and write it beside study.toml, with the pictures that phases show.

    The files hold the right answers: they are for operators. The same command again writes the same; another
    draw needs another folder, since answers may belong to the first.
    """
    from vidence.study.drawing import draw as drawn_of
    from vidence.study.drawing import write_drawn
    from vidence.study.frames import shown_conditions, write_frames
    from vidence.study.study import read_study

    file, place, console = read_study(given.folder), environment(), Screen(stderr=True)
    found = drawn_of(file, environment=place)
    if shown_conditions(file):
        watched(
            lambda listen: write_frames(file, found, environment=place, now=now(), on_event=listen),
            console,
            doing="making pictures",
            what=f"the draw of {file.path}",
            kept="pictures that were made are kept",
        )
    for path in write_drawn(file, found):
        click.echo(f"wrote {path}", err=True)
    if given.sheets is not None:
        from vidence.study.sheets import SheetStudy, write_sheets

        for path in write_sheets(SheetStudy.read(file), n=given.sheets):
            click.echo(f"wrote {path}", err=True)
    for sentence in _size(file.study, found):
        say(console, sentence)


class Close(Record):
    """A study that has ended, and what people filled in."""

    folder: Annotated[Path, STUDY]
    sheets: Annotated[tuple[Path, ...], flag("A filled sheet. [repeatable]", "--sheet")] = ()


@command(group=study)
def close(given: Close) -> None:
    """Write what people answered in STUDY: a run folder for each, and labels that other commands read.

    A sheet is taken whole or not at all: every line that cannot be used is named. A second sheet of a person
    takes the place of the first.
    """
    from vidence.study.closing import write_closed
    from vidence.study.folder import PARTICIPANTS_FILE, StudyAnswers, read_answers
    from vidence.study.sheets import SheetStudy, read_sheets, with_sheets
    from vidence.study.study import read_study

    if not given.sheets:
        raise UsageError("whose answers? name filled sheets with --sheet FILE")
    file, at = read_study(given.folder), now()
    answers = StudyAnswers(participants=(), responses=())
    if (file.folder / PARTICIPANTS_FILE).exists():
        answers = read_answers(file.folder)
    answers = with_sheets(answers, read_sheets(SheetStudy.read(file), given.sheets, at=at.isoformat()))
    closed = watched(
        lambda listen: write_closed(file, answers, environment=environment(), now=at, on_event=listen),
        Screen(stderr=True),
        doing="writing answers",
        what=f"the end of {file.path}",
        kept="run folders that were written are kept",
    )
    for path in (*closed.files, *closed.runs, *closed.labels):
        click.echo(f"wrote {path}", err=True)


@command(group=study)
def report(given: StudyReportWanted) -> None:
    """Scores of the people of STUDY by phase, changes, time, agreement, exclusions, pay, and the checklist.

    Each RUN is a model that people are set beside, on the questions that both answered. The reporting
    checklist for human baselines (arXiv 2506.13776) has what the study recorded; the rest is for the authors.
    """
    show_report(given)


def phase_table(study: "Study", found: "DrawnStudy") -> "Table":
    """What each phase shows to each person, how much of it, and for how long at most."""
    from vidence.study.assignment import assignment
    from vidence.tables.table import Column, Row, Table

    people = [assignment(study, found.drawn, slot) for slot in range(study.n_people)]
    rows = []
    for phase in study.phases:
        own = [sum(t.phase == phase.name and t.kind == "asked" for t in trials) for trials in people]
        caught = max(sum(t.phase == phase.name and t.kind == "catch" for t in trials) for trials in people)
        per_trial = None if phase.trial_limit_s is None else phase.trial_limit_s * (max(own) + caught)
        limits = [limit for limit in (phase.limit_s, per_trial) if limit is not None]
        n_trials = "what was wrong" if phase.items == "wrong" else _range(own)
        rows.append(
            Row(
                key=phase.name,
                label=phase.title or phase.name,
                values=(
                    phase.condition,
                    n_trials,
                    caught,
                    min(limits) / 60 if limits else None,
                    phase.opens_at,
                ),
            )
        )
    return Table(
        name="phases",
        title="What each person is shown",
        label="phase",
        columns=(
            Column(key="condition", title="condition"),
            Column(key="trials", title="trials"),
            Column(key="catch", title="catch trials", kind="count"),
            Column(key="minutes", title="minutes at most", kind="number"),
            Column(key="opens", title="opens at"),
        ),
        rows=tuple(rows),
    )


def _range(counts: list[int]) -> str:
    least, most = min(counts), max(counts)
    return str(most) if least == most else f"{least} to {most}"


def _size(study: "Study", found: "DrawnStudy") -> tuple[str, ...]:
    """How much is put to how many people."""
    from vidence.study.assignment import assignment

    drawn = found.drawn
    n_trials = sum(
        t.kind == "asked" for slot in range(study.n_people) for t in assignment(study, drawn, slot)
    )
    said = [
        f"{several(len(drawn.asked), 'question')} of {drawn.benchmark}, {study.design}, to "
        f"{several(study.n_people, 'person', many='people')}: {n_trials:,} trials that are data, "
        f"{len(drawn.practice)} of practice for each person."
    ]
    rotated = sum(phase.items == "all" for phase in study.phases)
    if study.design == "latin-square" and study.n_people % rotated:
        said.append(
            f"The Latin square is complete with a multiple of {rotated} people; with {study.n_people} some "
            "questions are seen more often under one condition than under another."
        )
    return tuple(said)


def _power(found: "DrawnStudy", *, accuracy: float) -> tuple[str, ...]:
    """The smallest difference between a person and a model on the drawn questions that would be found."""
    import math

    import numpy as np

    from vidence.records import Clusters
    from vidence.statistics.power import USUAL_ICC, Design, discordance, paired_detectable

    asked = {one.item_id for one in found.drawn.asked}
    clusters = Clusters.of([item for item in found.items if item.item_id in asked])
    if clusters.n < 2:
        return (f"With questions on one {clusters.noun} alone no difference is found; draw of more.",)
    design = Design.of(clusters, icc=USUAL_ICC if clusters.n < len(clusters) else 0.0)
    apart = discordance(accuracy, accuracy, correlation=0.4)
    least = paired_detectable(discordance=apart, design=design, rng=np.random.default_rng(0))
    size = f"One person beside one model, both around {100 * accuracy:g} %, on these questions"
    if math.isinf(least):
        return (f"{size}: no difference is found with power 0.8; draw more questions.",)
    return (
        f"{size}: a difference of {100 * least:.1f} points is found with power 0.8, and no smaller one "
        "(`vidence power`).",
    )
