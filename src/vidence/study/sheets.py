"""Run a study on CSV sheets, one per person: write blank sheets, read filled-in ones."""

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from pathlib import Path
from typing import Final

from vidence.ask.files import FieldError, csv_rows, read
from vidence.errors import DataError, UsageError
from vidence.explain.diagnostics.conditions import own_letter
from vidence.media.whole import write_into
from vidence.study.assignment import DrawnFolder
from vidence.study.folder import StudyAnswers
from vidence.study.forms import faults_of, options_of
from vidence.study.study import Field, Participant, PlannedTrial, Response, Study, StudyFile
from vidence.tables.export import csv_text
from vidence.tables.table import several
from vidence.text import first_lines

FOLDER: Final = "sheets"
TRIAL: Final = "trial"
_ID = re.compile(r"P(\d{2,})-(\d+)-([a-z]{6})")
_LETTERS = str.maketrans("0123456789abcdef", "bcdfghjklmnpqrst")


def sheet_problems(study: Study) -> tuple[str, ...]:
    """Return the features of a study that sheets do not support; empty if sheets can be used."""
    problems = []
    for phase in study.phases:
        if phase.items == "wrong":
            problems.append(f"phase {phase.name!r} depends on earlier answers")
        if phase.condition in {"once", "dots"}:
            problems.append(f"phase {phase.name!r} shows its media as {phase.condition!r}")
        if phase.limit_s or phase.trial_limit_s:
            problems.append(f"phase {phase.name!r} has a time limit")
    if study.calibrates:
        problems.append("the size of screens is measured")
    if study.pay.per_hour:
        problems.append("per_hour of [pay] needs times")
    if study.exclude.faster_than_s:
        problems.append("faster_than_s of [exclude] needs times")
    problems += [
        f"field {field.name!r} is frozen before others are shown" for field in study.form if field.is_frozen
    ]
    return tuple(problems)


@dataclass(frozen=True, kw_only=True)
class SheetStudy(DrawnFolder):
    """A drawn study that can be run on sheets."""

    @classmethod
    def read(cls, file: StudyFile) -> "SheetStudy":
        """Read the drawn study in the folder of `file`.

        Raises:
            UsageError: a sheet cannot hold to what the study asks for.
            DataError: nothing is drawn.
        """
        if problems := sheet_problems(file.study):
            raise UsageError(
                f"{file.path} cannot be put on sheets: {'; '.join(problems)}. Use vidence study open"
            )
        return cls(**vars(DrawnFolder.read(file)))

    def trials(self, slot: int, responses: Sequence[Response] = ()) -> tuple[PlannedTrial, ...]:
        """Return a participant's trials, without practice, which needs feedback."""
        return tuple(trial for trial in super().trials(slot, responses) if trial.kind != "practice")

    def id_of(self, slot: int, trial: PlannedTrial) -> str:
        """Return the id of a row: participant, place, and six letters that identify the draw."""
        name = name_of(slot)
        words = "/".join(
            (self.drawn.study_sha256, name, str(trial.place), trial.item_id, trial.run, trial.other)
        )
        return f"{name}-{trial.place}-{hashlib.sha256(words.encode()).hexdigest()[:6].translate(_LETTERS)}"


def name_of(slot: int) -> str:
    """The pseudonym of a slot.

    >>> name_of(0)
    'P01'
    """
    return f"P{slot + 1:02}"


# --------------------------------------------------------------------------- blank


def blank_sheet(study: SheetStudy, slot: int) -> str:
    """Return a participant's blank sheet as CSV: one row per trial with its content and fields."""
    form, trials = study.study.form, study.trials(slot)
    rows = [{TRIAL: study.id_of(slot, trial), **_cells(study, trial)} for trial in trials]
    heading = [*dict.fromkeys(name for row in rows for name in row), *(field.name for field in form)]
    return csv_text([heading, *([row.get(name, "") for name in heading] for row in rows)])


def _cells(study: SheetStudy, trial: PlannedTrial) -> dict[str, str]:
    item, phase, shown_trial = study.items[trial.item_id], study.study.phase(trial.phase), study.shown(trial)
    media = [medium.path or medium.url or "" for medium in item.media] if phase.condition != "none" else []
    cells = {"phase": phase.title or phase.name, "media": "\n".join(media)}
    cells["question"] = shown_trial.question
    cells["choices"] = "\n".join(f"{chr(ord('A') + i)}. {text}" for i, text in enumerate(shown_trial.choices))
    cells |= {title.lower(): words for title, words in shown_trial.parts}
    for n, reply in enumerate(shown_trial.replies, 1):
        cells[f"frames of reply {n}"] = "\n".join(filter(None, (reply.frames_note, reply.picture)))
    cells["asked for"] = ", ".join(field.name for field in study.study.fields_of(phase))
    fields = {field.name for field in study.study.form}
    return {f"{name} shown" if name in fields else name: text for name, text in cells.items() if text}


def write_sheets(study: SheetStudy, *, n: int) -> tuple[Path, ...]:
    """Write blank sheets for `n` people and instructions to ``sheets`` in the study folder.

    Raises:
        UsageError: a sheet is there, which may be filled in.
        StoreError: a file cannot be written.
    """
    folder = study.file.folder / FOLDER
    contents = {folder / f"{name_of(slot)}.csv": blank_sheet(study, slot) for slot in range(n)}
    contents[folder / "fields.txt"] = how_to_fill(study)
    if there := [
        path for path, text in contents.items() if path.exists() and path.read_text("utf-8") != text
    ]:
        raise UsageError(f"{there[0]} exists and may be filled in; move it, or ask for fewer sheets")
    return write_into(folder, {path.name: text for path, text in contents.items()})


def how_to_fill(study: SheetStudy) -> str:
    """Describe the columns of sheets: one line per field with its allowed values."""
    taxonomy = study.taxonomy
    lines = [study.study.instructions.strip(), ""]
    for field in study.study.form:
        options = options_of(field, taxonomy=taxonomy)
        words = [field.title or field.name, f"one of {', '.join(options)}" if options else "", _said(field)]
        lines.append(f"{field.name}: {'; '.join(filter(None, words))}")
    kinds = taxonomy.kinds if taxonomy else ()
    lines += ["", *(f"{kind.name}: {kind.title}. {kind.says}" for kind in kinds)]
    return "\n".join(lines).strip() + "\n"


def _said(field: Field) -> str:
    parts = ["may be empty"] if field.is_optional else []
    return ", ".join([*parts, *([f"only where {field.needs}"] if field.needs else [])])


# --------------------------------------------------------------------------- filled


def read_sheets(study: SheetStudy, paths: Sequence[Path], *, at: str) -> StudyAnswers:
    """Read the responses in filled-in sheets; rows without a value count as unanswered.

    Args:
        study: the drawn study.
        paths: the files, one for each person.
        at: the time that the responses get, ISO 8601 in UTC.

    Raises:
        DataError: a file cannot be read, or rows cannot be used: all are named with their lines, and nothing
            is taken.
    """
    reading = _Reading(study=study, at=at)
    needed = (TRIAL, *(field.name for field in study.study.form))
    for path in paths:
        sheet = read(path, what="a filled sheet")
        for line, cells in csv_rows(sheet, needed=needed, delimiters=",;	"):
            reading.add(f"{path}, line {line}", cells)
    if faults := reading.faults:
        raise DataError(
            f"{several(len(faults), 'problem')} in {several(len(paths), 'sheet')}, and nothing was read:\n"
            f"{first_lines(faults)}"
        )
    if not reading.responses:
        raise DataError(f"{', '.join(map(str, paths))}: no row has a value; fill in the columns of the form")
    return StudyAnswers(
        participants=tuple(_participants(reading.known, reading.responses, at=at)),
        responses=tuple(reading.responses.values()),
    )


def with_sheets(before: StudyAnswers, sheets: StudyAnswers) -> StudyAnswers:
    """Merge answers with those of sheets or jsPsych; a person's later file replaces an earlier one.

    Raises:
        UsageError: someone of that name has answered on pages.
    """
    names = {person.name for person in sheets.participants}
    same = [person for person in before.participants if person.name in names]
    if on_pages := [person.name for person in same if person.recruited != "file"]:
        raise UsageError(
            f"{', '.join(on_pages)} answered on pages, and files have the same names; put sheets or jsPsych "
            "to people from a copy of the study in another folder"
        )
    return StudyAnswers(
        participants=(*(p for p in before.participants if p.name not in names), *sheets.participants),
        responses=(*(r for r in before.responses if r.participant not in names), *sheets.responses),
        events=(*(e for e in before.events if e.participant not in names), *sheets.events),
    )


@dataclass(kw_only=True)
class _Reading:
    """State while reading sheets: responses and row positions by id, trials by slot and id."""

    study: SheetStudy
    at: str
    faults: list[str] = dataclass_field(default_factory=list)
    responses: dict[str, Response] = dataclass_field(default_factory=dict)
    where: dict[str, str] = dataclass_field(default_factory=dict)
    known: dict[int, dict[str, PlannedTrial]] = dataclass_field(default_factory=dict)

    def add(self, place: str, cells: Mapping[str, str] | FieldError) -> None:
        """Add a row, or record what is wrong with it."""
        if isinstance(cells, FieldError):
            self.faults.append(f"{place}: {cells}")
            return
        study, row = self.study.study, cells[TRIAL]
        values = {field.name: cells[field.name] for field in study.form if cells[field.name]}
        planned = self._planned(row)
        if planned is None:
            self.faults.append(f"{place}: {row!r} is not a trial of this study; do not change this column")
        elif values and row in self.where:
            self.faults.append(f"{place}: a second row of {row}, after {self.where[row]}; keep one")
        elif values:
            self.where[row] = place
            values = _own_letters(study, planned, values)
            wrong = faults_of(
                study.fields_of(study.phase(planned.phase)),
                values,
                shown=self.study.shown(planned),
                letters=self.study.items[planned.item_id].letters,
                taxonomy=self.study.taxonomy,
            )
            self.faults += (f"{place}: {fault}" for fault in wrong)
            who = row.partition("-")[0]
            self.responses[row] = Response(participant=who, trial=planned, values=values, answered_at=self.at)

    def _planned(self, row: str) -> PlannedTrial | None:
        match = _ID.fullmatch(row)
        if match is None:
            return None
        slot = int(match[1]) - 1
        if slot not in self.known:
            trials = self.study.trials(slot)
            self.known[slot] = {self.study.id_of(slot, trial): trial for trial in trials}
        return self.known[slot].get(row)


def _own_letters(study: Study, trial: PlannedTrial, values: Mapping[str, str]) -> dict[str, str]:
    """Translate choice letters of the trial to the item's own order; other values are kept."""
    answers = {field.name for field in study.form if field.kind == "answer"}
    return {
        name: own_letter(value.upper(), trial.choice_order) if name in answers and len(value) == 1 else value
        for name, value in values.items()
    }


def _participants(
    known: Mapping[int, Mapping[str, object]], answered: Collection[str], *, at: str
) -> Iterator[Participant]:
    """Return the people who filled in a row; complete sheets count as finished."""
    for slot, rows in sorted(known.items()):
        if n := sum(row in answered for row in rows):
            is_whole = n == len(rows)
            yield Participant(
                name=name_of(slot),
                slot=slot,
                state="finished" if is_whole else "begun",
                recruited="file",
                ended_at=at if is_whole else "",
            )
