"""Put questions, or replies of models, to people."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
import msgspec

from vidence.console.files import screen, show, write_said
from vidence.console.flags import FILE, FOLDER, JSON, argument, command, flag
from vidence.console.screen import Screen, say, several
from vidence.engine.display import watched
from vidence.engine.environment import cache_root, environment, now
from vidence.errors import UsageError
from vidence.records import Record
from vidence.studio.commands.studio import DATABASE_VARIABLE, Reached, need_studio, with_secret
from vidence.study.showing import StudyReportWanted, show_report

if TYPE_CHECKING:
    from vidence.studio.records.studies import StudyRow
    from vidence.study.drawing import DrawnStudy
    from vidence.study.folder import StudyAnswers
    from vidence.study.study import Phase, Study, StudyFile
    from vidence.tables.table import Table

SECTION = "Make"
STUDY = argument("STUDY")
_OWN_STUDIO = "studio"
_MOST_CHANGES = 20_000
"""A minute, of one address: the people of a lab share one."""


@click.group()
def study() -> None:
    """Put questions, or replies of models, to people."""


class Check(Record):
    """The study to check."""

    folder: Annotated[Path, STUDY]
    accuracy: Annotated[
        float, flag("Accuracy expected of people.", type=click.FloatRange(0, 1, min_open=True, max_open=True))
    ] = 0.8
    json_path: Annotated[Path | None, JSON] = None


@command(group=study)
def check(given: Check) -> None:
    """Report what STUDY would show to each person, for how long, and the smallest effect it could detect.

    STUDY is a study.toml or its folder. All errors are listed at once. Nothing is written.
    """
    from vidence.study.drawing import draw as drawn_of
    from vidence.study.study import read_study

    console = screen(given.json_path)
    file = read_study(given.folder)
    study = drawn_of(file, environment=environment())
    tables = (phase_table(file.study, study),)
    sentences = (*_size(file.study, study), *_power(file.study, study, accuracy=given.accuracy))
    write_said(given.json_path, "study check", sentences=sentences, tables=tables)
    show(console, sentences, tables)


class Draw(Record):
    """A study to draw, and the number of sheets to write."""

    folder: Annotated[Path, STUDY]
    sheets: Annotated[
        int | None, flag("Write this many blank sheets, one for each person.", type=click.IntRange(1))
    ] = None


@command(group=study)
def draw(given: Draw) -> None:
    """Draw the trials of STUDY; write them and their pictures next to study.toml.

    The files contain the right answers, so keep them from participants. Rerunning writes the same files; for
    another draw use a new folder, because answers may refer to the first one.
    """
    from vidence.study.drawing import draw as drawn_of
    from vidence.study.drawing import write_drawn
    from vidence.study.frames import shown_conditions, write_frames
    from vidence.study.study import read_study

    file, place, console = read_study(given.folder), environment(), Screen(stderr=True)
    study = drawn_of(file, environment=place)
    if shown_conditions(file):
        watched(
            lambda listen: write_frames(file, study, environment=place, now=now(), on_event=listen),
            console,
            doing="making pictures",
            what=f"the draw of {file.path}",
            kept="finished pictures are kept",
        )
    for path in write_drawn(file, study):
        click.echo(f"wrote {path}", err=True)
    if given.sheets is not None:
        from vidence.study.sheets import SheetStudy, write_sheets

        for path in write_sheets(SheetStudy.read(file), n=given.sheets):
            click.echo(f"wrote {path}", err=True)
    for sentence in _size(file.study, study):
        say(console, sentence)


@command(group=study)
def report(given: StudyReportWanted) -> None:
    """Report the participants' scores, answer changes, times, agreement, exclusions and pay, and a checklist.

    Each RUN adds a model to compare people with, on the questions that both answered. The reporting
    checklist for human baselines (arXiv 2506.13776) is filled in from the study; the rest is for the authors.
    """
    show_report(given)


def phase_table(study: "Study", drawn_study: "DrawnStudy") -> "Table":
    """Return a table of the phases: condition, number of trials per person, and time limit."""
    from vidence.study.assignment import assignment
    from vidence.tables.table import RowSpec, count, number, tabulate, words

    people = [assignment(study, drawn_study.drawn, slot) for slot in range(study.n_people)]

    def n(phase: "Phase", kind: str) -> list[int]:
        return [sum(t.phase == phase.name and t.kind == kind for t in trials) for trials in people]

    def minutes(phase: "Phase") -> float | None:
        each = (phase.trial_limit_s or 0) * (max(n(phase, "asked")) + max(n(phase, "catch")))
        limits = [limit for limit in (phase.limit_s, each) if limit]
        return min(limits) / 60 if limits else None

    return tabulate(
        "phases",
        "Shown to each person",
        label="phase",
        rows=[RowSpec(phase.name, phase.title or phase.name, phase) for phase in study.phases],
        measures=(
            words("condition", lambda phase: phase.condition),
            words("trials", lambda p: "what was wrong" if p.items == "wrong" else _range(n(p, "asked"))),
            count("catch", lambda phase: max(n(phase, "catch")), "catch trials"),
            number("minutes", minutes, "at most, minutes"),
            words("opens", lambda phase: phase.opens_at, "opens at"),
        ),
    )


def _range(counts: list[int]) -> str:
    least, most = min(counts), max(counts)
    return str(most) if least == most else f"{least} to {most}"


def _size(study: "Study", drawn_study: "DrawnStudy") -> tuple[str, ...]:
    """Return sentences on the numbers of questions, people and trials."""
    from vidence.study.assignment import assignment

    drawn = drawn_study.drawn
    n_trials = sum(
        t.kind == "asked" for slot in range(study.n_people) for t in assignment(study, drawn, slot)
    )
    messages = [
        f"{several(len(drawn.asked), 'question')} of {drawn.benchmark}, {study.design}, to "
        f"{several(study.n_people, 'person', many='people')}: {n_trials:,} trials in total as data, and "
        f"{len(drawn.practice)} of practice for each person."
    ]
    rotated = sum(phase.items == "all" for phase in study.phases)
    if study.design == "latin-square" and study.n_people % rotated:
        messages.append(
            f"The Latin square needs a multiple of {rotated} people; with {study.n_people} some "
            "questions are seen more often under one condition than under another."
        )
    return tuple(messages)


def _power(study: "Study", drawn_study: "DrawnStudy", *, accuracy: float) -> tuple[str, ...]:
    """Return the smallest difference between a person and a model that the study could detect, in words."""
    import math

    import numpy as np

    from vidence.records import Clusters
    from vidence.statistics.power import USUAL_ICC, Design, discordance, paired_detectable
    from vidence.study.assignment import assignment

    first = (t for t in assignment(study, drawn_study.drawn, 0) if t.phase == study.phases[0].name)
    asked = {trial.item_id for trial in first if trial.kind == "asked"}
    clusters = Clusters.of([item for item in drawn_study.items if item.item_id in asked])
    if clusters.n < 2:
        return (
            f"With questions on one {clusters.noun} alone no difference can be detected; draw from more.",
        )
    design = Design.of(clusters, icc=USUAL_ICC if clusters.n < len(clusters) else 0.0)
    apart = discordance(accuracy, accuracy, correlation=0.4)
    least = paired_detectable(discordance=apart, design=design, rng=np.random.default_rng(0))
    size = f"One person beside one model, both around {100 * accuracy:g} %, on {len(asked)} questions"
    if math.isinf(least):
        return (f"{size}: no difference can be detected with power 0.8; draw more questions.",)
    return (
        f"{size}: a difference of {100 * least:.1f} points can be detected with power 0.8, and no "
        "smaller one (`vidence stats power`).",
    )


# --------------------------------------------------------------------------- people in the browser


class Placed(Record):
    """A study and the studio whose database stores its participants."""

    folder: Annotated[Path, STUDY]
    studio: Annotated[
        Path | None,
        flag("A team's studio (default: the study's own, in STUDY/studio).", metavar="DIR", type=FOLDER),
    ] = None
    database: Annotated[
        str, flag("As for vidence studio serve.", metavar="URL", envvar=DATABASE_VARIABLE)
    ] = ""

    @property
    def place(self) -> Path:
        """The folder of the study; STUDY may name its study.toml."""
        return self.folder if self.folder.is_dir() else self.folder.parent

    @property
    def data(self) -> Path:
        """The folder of the studio."""
        return (self.studio or self.place / _OWN_STUDIO).resolve()

    def is_opened(self) -> bool:
        """Whether a studio exists that could hold answers."""
        return self.studio is not None or self.data.is_dir()

    def row(self) -> "StudyRow":
        """Return the study's row in the database of its studio.

        Raises:
            UsageError: the study was never opened there.
        """
        need_studio()
        from vidence.studio.settings import StudioSettings

        if self.is_opened():
            settings = StudioSettings(mode="team", data=self.data, database=self.database)
            with_secret(msgspec.structs.replace(settings, cache_root=cache_root()))
            from vidence.studio.records.studies import StudyRow

            row: StudyRow | None = StudyRow.objects.filter(folder=str(self.place.resolve())).first()
            if row is not None:
                return row
        raise UsageError(
            f"{self.place} is not open in the studio {self.data}; open it with vidence study open, or "
            "name its studio with --studio"
        )


class Opened(Placed):
    """A study to open to participants, and how they reach it."""

    people: Annotated[
        int | None, flag("Number of personal links (default: n_people).", type=click.IntRange(0, 1000))
    ] = None
    is_recruited: Annotated[
        bool, flag("One shared link with a recruiter's parameters, instead of personal links.", "--recruit")
    ] = False
    json_path: Annotated[Path | None, JSON] = None
    reached: Reached


@command("open", group=study)
def open_to_people(given: Opened) -> None:
    """Open a drawn STUDY: print a link for each participant, and serve the study until Ctrl-C.

    Rerun to continue: links stay valid, and people resume where they stopped. The operator's address works
    once, in one browser; in a team's studio operators log in instead.
    """
    need_studio()
    from vidence.studio.serving import address, listen, new_ticket, serve
    from vidence.studio.settings import LOOPBACK, StudioSettings

    console, bind = screen(given.json_path), given.reached.bind()
    ticket = "" if given.studio else new_ticket()
    application = with_secret(
        StudioSettings(
            mode="team" if given.studio else "solo",
            data=given.data,
            database=given.database,
            cache_root=cache_root(),
            hosts=(*LOOPBACK, *given.reached.names),
            is_tls=bind.tls is not None,
            is_behind_proxy=bind.is_behind_proxy,
            most_changes_a_minute=_MOST_CHANGES,
        ),
        ticket=ticket,
    )
    from vidence.studio.studies import folder_of, open_study

    row = open_study(given.place, is_recruited=given.is_recruited)
    usual = 0 if given.is_recruited else folder_of(row).study.n_people
    listening = listen(bind)
    base = address(bind, listening)
    if given.reached.names:
        port = listening.getsockname()[1]
        base = f"https://{given.reached.names[0]}{'' if bind.is_behind_proxy or port == 443 else f':{port}'}"
    links = links_table(row, base, n=usual if given.people is None else given.people)
    door = f"{base}/enter?ticket={ticket}" if ticket else f"{base}/studies/"
    sentences = (f"For operators: {door}", "Ctrl-C stops the server; the same command continues.")
    write_said(given.json_path, "study open", sentences=sentences, tables=(links,))
    # A table shortens what is wider than the terminal, and a link has to be whole.
    whole = tuple(f"{part.label} ({part.values[0]}): {part.values[1]}" for part in links.rows)
    show(console, (*sentences, *whole), ())
    console.file.flush()  # the server says no more
    serve(application, listening, tls=bind.tls)


def links_table(study: "StudyRow", base: str, *, n: int) -> "Table":
    """Return the links of a study as a table, after creating missing personal links.

    Args:
        study: the study.
        base: the address of the server.
        n: the minimum number of personal links, including those in use.
    """
    from vidence.studio.records.studies import ParticipantRow
    from vidence.studio.studies import folder_of, invite
    from vidence.tables.table import RowSpec, tabulate, words

    rows = ParticipantRow.objects.filter(study=study).order_by("slot")
    people = rows.filter(recruited="link").exclude(state__in=("declined", "withdrawn"))
    invite(study, max(0, n - people.count()))
    home = f"{base}/j"
    links = [(person.name, person.state, f"{home}/{person.key}") for person in people.filter(state="invited")]
    if study.key:
        parameter = folder_of(study).study.recruit.participant
        links.append(("many", "open", f"{home}/{study.key}?{parameter}=..."))
    return tabulate(
        "links",
        "Links of participants",
        label="who",
        rows=[RowSpec(link[0], link[0], link) for link in links],
        measures=(words("state", lambda entry: entry[1]), words("link", lambda entry: entry[2])),
    )


class Closed(Placed):
    """A study to close, and the files of answers to import first."""

    sheets: Annotated[tuple[Path, ...], flag("A filled sheet. [repeatable]", "--sheet", type=FILE)] = ()
    jspsych: Annotated[
        tuple[Path, ...], flag("Data of jsPsych, JSON or CSV. [repeatable]", "--jspsych", type=FILE)
    ] = ()


@command(group=study)
def close(given: Closed) -> None:
    """Close STUDY to further answers, and write the results: answers, a run folder per person, labels.

    Rerunning writes the same files. A sheet with an invalid line is rejected as a whole, and every such line
    is listed. A person's second sheet replaces the first.
    """
    from vidence.study.running import write_closed
    from vidence.study.study import read_study

    file, place, console = read_study(given.folder), environment(), Screen(stderr=True)
    answers = _answers(given, file)
    done = watched(
        lambda listen: write_closed(file, answers, environment=place, now=now(), on_event=listen),
        console,
        doing="writing run folders",
        what=f"closing {file.folder}",
        kept="answers are kept in the studio",
    )
    for path in (*done.files, *done.runs, *done.labels):
        click.echo(f"wrote {path}", err=True)
    say(console, people_sentence(done.answers))


def _answers(given: Closed, file: "StudyFile") -> "StudyAnswers":
    """All answers: those of pages, which end with this, and those of files of now and before."""
    from vidence.study.assignment import DrawnFolder
    from vidence.study.folder import StudyAnswers
    from vidence.study.jspsych import read_jspsych
    from vidence.study.sheets import SheetStudy, read_sheets, with_sheets

    of_files = []
    if given.sheets:
        of_files.append(read_sheets(SheetStudy.read(file), given.sheets, at=now().isoformat()))
    if given.jspsych:
        of_files.append(read_jspsych(DrawnFolder.read(file), given.jspsych))
    answers = StudyAnswers(participants=(), responses=())
    if not of_files or given.is_opened():
        row = given.row()
        from vidence.studio.studies import answers_of, close_study

        close_study(row)
        answers = answers_of(row)
    answers = _with_files(answers, file)
    for some in of_files:
        answers = with_sheets(answers, some)
    return answers


def _with_files(answers: "StudyAnswers", file: "StudyFile") -> "StudyAnswers":
    """Answers of pages with those of files that were taken before."""
    from vidence.study.folder import PARTICIPANTS_FILE, read_answers
    from vidence.study.sheets import with_sheets

    if not (file.folder / PARTICIPANTS_FILE).exists():
        return answers
    return with_sheets(answers, read_answers(file.folder).of_files())


def people_sentence(answers: "StudyAnswers") -> str:
    """How many began, finished, withdrew, declined and were left out, and by which rule."""
    from collections import Counter

    states = Counter(participant.state for participant in answers.participants)
    out = [f"{p.name} ({', '.join(p.excluded)})" for p in answers.participants if p.excluded]
    n_begun = states["begun"] + states["finished"] + states["withdrawn"]
    counts = ", ".join(f"{states[name]} {name}" for name in ("finished", "withdrawn", "declined"))
    left = f"; left out: {', '.join(out)}" if out else ""
    return f"{several(n_begun, 'person', many='people')} began: {counts}{left}."


class Exported(Placed):
    """A study whose answers to export, or that runs on another server."""

    jspsych: Annotated[
        Path | None,
        flag(
            "Write the study itself, as a folder for jsPsych on a server of your own.",
            "--jspsych",
            metavar="DIR",
            type=FOLDER,
        ),
    ] = None


@command(group=study)
def export(given: Exported) -> None:
    """Write the answers to STUDY so far, under pseudonyms; it stays open.

    With --jspsych nothing needs to be open: a study of point lights becomes a folder of pages, whose data
    `vidence study close STUDY --jspsych FILE` reads.
    """
    from vidence.study.assignment import DrawnFolder, excluded
    from vidence.study.folder import write_answers
    from vidence.study.jspsych import export_jspsych
    from vidence.study.running import settled
    from vidence.study.study import read_study

    drawn = DrawnFolder.read(read_study(given.folder))
    if given.jspsych is not None:
        for path in export_jspsych(drawn, given.jspsych):
            click.echo(f"wrote {path}", err=True)
        return
    row = given.row()
    from vidence.studio.studies import answers_of

    answers = settled(drawn, _with_files(answers_of(row), drawn.file), now=now())
    for path in write_answers(given.place, excluded(drawn.study, answers)):
        click.echo(f"wrote {path}", err=True)
