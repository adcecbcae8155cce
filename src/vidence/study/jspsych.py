"""Export a point-light study as a jsPsych folder for a lab's own server, and read its data."""

from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Final

import msgspec

from vidence.ask.files import FieldError
from vidence.ask.mapping.rows import read_rows
from vidence.errors import DataError, UsageError
from vidence.explain.diagnostics.conditions import own_letter
from vidence.media.lights import light_player
from vidence.media.whole import own_folder, write_into
from vidence.study.assignment import DrawnFolder, answer_field
from vidence.study.dots import DOTS_FOLDER, dots_file
from vidence.study.folder import StudyAnswers
from vidence.study.forms import faults_of, options_of
from vidence.study.replies import ShownTrial
from vidence.study.sheets import name_of
from vidence.study.study import Event, Participant, Phase, PlannedTrial, Response, Study
from vidence.tables.table import several
from vidence.text import first_lines

_FILES: Final = {
    "index.html": "jspsych.html",
    "study.js": "jspsych-study.js",
    "save.js": "jspsych-save.js",
    "study-dots.js": "study-dots.js",
}
_KINDS: Final = ("answer", "text", "options", "scale")
_ROWS: Final = ("consent", "began", "calibrated", "phase", "answered", "finished")


# --------------------------------------------------------------------------- writing


def export_jspsych(folder: DrawnFolder, out: Path) -> tuple[Path, ...]:
    """Write the folder: a page, scripts, ``trials.json``, ``dots/N.json``; jsPsych itself is not included.

    It holds no id, no file name and no right answer but those that practice tells; a participant is the
    number behind ``?slot=``.

    Raises:
        UsageError: the study needs something that only the studio has: the message has all of it.
    """
    if jspsych := tuple(_unfit(folder.study)):
        raise UsageError(
            f"{folder.file.path} cannot be a folder for jsPsych:" + "".join(f"\n  {name}" for name in jspsych)
        )
    own_folder(out, ".vidence-jspsych")
    players = resources.files("vidence.study").joinpath("players")
    contents = {name: players.joinpath(kept).read_bytes() for name, kept in _FILES.items()}
    contents["point-light.js"] = light_player()
    slots = [folder.trials(slot) for slot in range(folder.study.n_people)]
    for item_id in dict.fromkeys(t.item_id for trials in slots for t in trials if t.condition == "dots"):
        source = dots_file(folder.file.folder, item_id, folder.items)
        contents[f"{DOTS_FOLDER}/{source.name}"] = source.read_bytes()
    contents["trials.json"] = msgspec.json.encode(_timeline(folder, slots))
    return write_into(out, contents)


def _unfit(study: Study) -> Iterator[str]:
    """List the features of a study that need our server."""
    for phase in study.phases:
        where = f"phase {phase.name!r}"
        if phase.condition not in ("dots", "none"):
            yield f"{where} shows media under {phase.condition!r}; only 'dots' and 'none' can be shown"
        if phase.items == "wrong" or phase.opens_at or phase.limit_s or phase.trial_limit_s:
            yield f"{where} has a clock, opens later or asks wrong items again; only the studio can do this"
        if phase.may_change:
            yield f"{where} lets answers be changed; set may_change to false"
        if set(phase.shows) - {"question"}:
            yield f"{where} shows {', '.join(phase.shows)}; only the question can be shown"
        for field in study.fields_of(phase):
            if field.kind not in _KINDS or field.needs:
                yield f"{where} has the field {field.name!r}; expected {', '.join(_KINDS)}, without needs"


def _timeline(folder: DrawnFolder, slots: Sequence[Sequence[PlannedTrial]]) -> dict[str, object]:
    """Return the timeline that ``study.js`` reads."""
    study = folder.study
    texts = {
        name: (folder.file.folder / text).read_text("utf-8").strip() if text else ""
        for name, text in (("consent", study.consent), ("debrief", study.debrief))
    }
    return {
        "study": folder.mark,
        "title": study.title,
        "instructions": study.instructions.strip(),
        **texts,
        "calibrates": study.calibrates,
        "canvas_cm": study.canvas_cm,
        "phases": {phase.name: _phase(study, phase) for phase in study.phases},
        "slots": [[_trial(folder, trial) for trial in trials] for trials in slots],
    }


def _phase(study: Study, phase: Phase) -> dict[str, object]:
    fields = [
        {
            "name": field.name,
            "kind": field.kind,
            "title": field.title,
            "options": options_of(field),
            "is_frozen": field.is_frozen,
            "is_optional": field.is_optional,
        }
        for field in study.fields_of(phase)
    ]
    return {"title": phase.title, "aids": phase.aids, "most_plays": phase.most_plays, "fields": fields}


def _trial(folder: DrawnFolder, trial: PlannedTrial) -> dict[str, object]:
    """Return a trial as sent to the browser."""
    item = folder.items[trial.item_id]
    order = trial.choice_order or tuple(range(len(item.choices)))
    is_told = trial.kind == "practice" and folder.study.practice.tells and item.answer
    values: dict[str, str] = {}
    if is_told and item.choices:
        right = ord(item.answer) - ord("A")
        values = {"told": chr(ord("A") + order.index(right)), "tells": item.choices[right]}
    elif is_told:
        values = {"told": item.answer, "tells": item.answer}
    return {
        "place": trial.place,
        "phase": trial.phase,
        "is_practice": trial.kind == "practice",
        "question": item.question if "question" in folder.study.phase(trial.phase).shows else "",
        "choices": [item.choices[i] for i in order],
        "dots": f"{DOTS_FOLDER}/{dots_file(Path(), trial.item_id, folder.items).name}"
        if trial.condition == "dots"
        else "",
        **values,
    }


# --------------------------------------------------------------------------- reading


class _Row(msgspec.Struct, frozen=True, kw_only=True):
    """A data row of ``study.js``, without the columns that jsPsych adds."""

    study: str
    slot: int
    what: str
    place: int | None = None
    values: str = "{}"
    seconds: float = 0.0
    n_plays: int = 0
    late: str = "[]"
    px_per_cm: float | None = None
    pressed: str = ""
    shown: str = ""
    at: str = ""


def read_jspsych(folder: DrawnFolder, paths: Sequence[Path]) -> StudyAnswers:
    """The participants, responses and events in data of jsPsych, as JSON or CSV, one or several files.

    Rows of other plugins are left out; a row that is there twice, as in a file that was saved again, counts
    once.

    Raises:
        DataError: a file holds no such data, a row that does not fit the study, or two answers to one trial;
            the message has file and row, at most five of each kind.
    """
    faults: list[str] = []
    rows: dict[tuple[int, str, int | None], tuple[str, _Row]] = {}
    responses: dict[tuple[int, int], Response] = {}
    for where, row in (pair for path in paths for pair in _rows(path)):
        first, same = rows.setdefault((row.slot, row.what, row.place), (where, row))
        read = _read(folder, row)
        if isinstance(read, Response) and same != row:
            read = f"another answer to place {row.place} of slot {row.slot} than at {first}"
        if isinstance(read, Response):
            responses[row.slot, read.trial.place] = read
        elif read:
            faults.append(f"{where}: {read}")
    if faults:
        raise DataError(f"{several(len(faults), 'row')} cannot be used: {first_lines(faults)}")
    if not rows:
        raise DataError(f"{', '.join(map(str, paths))}: no row of a study; expected data that study.js wrote")
    kept = [row for _, row in rows.values()]
    slots = sorted({row.slot for row in kept})
    return StudyAnswers(
        participants=tuple(_person(slot, [row for row in kept if row.slot == slot]) for slot in slots),
        responses=tuple(response for _, response in sorted(responses.items())),
        events=tuple(event for row in kept for event in _events(row)),
    )


def _rows(path: Path) -> Iterator[tuple[str, _Row]]:
    """The rows of this study's plugins in a file, each with its place."""
    for line, cells in read_rows(path, what="data of jsPsych").lines:
        where = f"{path}, line {line}"
        if isinstance(cells, FieldError):
            raise DataError(f"{where}: {cells}; expected data of jsPsych, as JSON or CSV")
        if not cells.get("what"):
            continue  # another plugin's
        named = {k: v for k, v in cells.items() if k in _Row.__struct_fields__ and v not in ("", None)}
        try:
            yield where, msgspec.convert(named, _Row, strict=False)
        except msgspec.ValidationError as error:
            raise DataError(f"{where}: {error}; expected a row that study.js wrote") from error


def _read(folder: DrawnFolder, row: _Row) -> Response | str:
    """Read the response in a row, if any, or why the row does not fit the study."""
    study = folder.study
    if row.study != folder.mark:
        return f"of the study {row.study!r}; this one is {folder.mark!r}"
    if not 1 <= row.slot <= study.n_people or row.what not in _ROWS:
        return f"slot {row.slot}, {row.what!r}; expected slots 1 to {study.n_people} and {', '.join(_ROWS)}"
    if row.what != "answered":
        return ""
    trial = next((entry for entry in folder.trials(row.slot - 1) if entry.place == row.place), None)
    if trial is None:
        return f"place {row.place} is none of slot {row.slot}"
    try:
        late = msgspec.json.decode(row.late, type=list[tuple[int, int, int]])
        values = msgspec.json.decode(row.values, type=dict[str, str])
    except msgspec.DecodeError as error:
        return f"values or late frames cannot be read: {error}"
    if row.n_plays < 0 or row.seconds < 0 or any(play > row.n_plays for play, _, _ in late):
        return f"{row.n_plays} plays in {row.seconds} s cannot be"
    name, letters = answer_field(study), folder.items[trial.item_id].letters
    if letters and name in values:
        values[name] = own_letter(values[name], trial.choice_order)
    fields = study.fields_of(study.phase(trial.phase))
    if faults := faults_of(fields, values, shown=ShownTrial(), letters=letters):
        return "; ".join(faults)
    return Response(
        participant=name_of(row.slot - 1),
        trial=trial,
        values=values,
        seconds=row.seconds,
        n_plays=row.n_plays,
        late_frames=len(late),
        shown_at=row.shown,
        answered_at=row.at,
    )


def _person(slot: int, rows: Sequence[_Row]) -> Participant:
    by_kind = {row.what: row for row in rows}
    if any(row.pressed == "no" for row in rows):
        return Participant(name=name_of(slot - 1), slot=slot - 1, state="declined", recruited="file")
    calibrated, times = by_kind.get("calibrated"), sorted(row.at for row in rows if row.at)
    is_finished = "finished" in by_kind
    return Participant(
        name=name_of(slot - 1),
        slot=slot - 1,
        state="finished" if is_finished else "begun",
        recruited="file",
        calibration_px_per_cm=calibrated.px_per_cm if calibrated else None,
        began_at=times[0] if times else "",
        ended_at=times[-1] if times and is_finished else "",
    )


def _events(row: _Row) -> Iterator[Event]:
    """Return the events in a row."""
    name, at = name_of(row.slot - 1), row.at
    if row.what in ("consent", "calibrated", "answered", "finished"):
        kind = "consented" if row.what == "consent" else row.what
        yield Event(participant=name, at=at, kind=kind, place=row.place)
    if row.late != "[]":
        yield Event(participant=name, at=at, kind="late-frames", place=row.place, note=row.late)
