"""The records of study.toml, and how the file is read."""

import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

from vidence.engine.config_file import Count, CountOrNone, Share, config_of
from vidence.errors import UnknownNameError, UsageError, cause
from vidence.installation import packaged
from vidence.records import Record

STUDY_FILE: Final = "study.toml"
STUDY_MARK: Final = ".vidence-study"
FRAMES_OF: Final = "frames-of"
Seconds: TypeAlias = Annotated[float, Meta(gt=0)]
Amount: TypeAlias = Annotated[float, Meta(ge=0)]
Shown: TypeAlias = Literal["question", "reply", "reference", "rationale", "knowledge", "evidence", "label"]
"""What a trial page shows beside the media. `reference` is the right answer, which labelling needs."""
TrialKind: TypeAlias = Literal["practice", "asked", "catch"]


class Draw(Record, omit_defaults=True):
    """Which items, or replies of `Study.runs`, are drawn.

    `n` items (default: all), the same number of each value of the tag `by`. Of runs, ``same`` draws `n`
    questions that all runs answered, ``wrong`` `n` wrong replies of each run.
    """

    n: Count | None = None
    by: str = ""
    of: Literal["items", "same", "wrong"] = "items"
    seed: int = 0


class Phase(Record, omit_defaults=True):
    """One pass over the trials.

    `condition` is ``whole`` (a player), ``once`` (the server stops serving after one view), ``frames`` (those
    of the benchmark's protocol), ``frames-of RUN`` (those that a stored run was sent; without RUN the first
    of `Study.runs`), ``dots`` (point lights on a canvas) or ``none``. `aids` tells participants what they may
    use. `limit_s` ends the phase, by the server's clock, `trial_limit_s` a trial. `items` ``wrong`` asks
    again what was answered wrong in the phase before. `shows` is what the page shows, `fields` are those of
    the form that it asks for (empty: all). With `may_change` answers can be changed until the phase ends. In
    a phase that `keeps`, answers of the phase before stay where no other is given (`Study.answers_in`). A
    phase opens when the one before has ended, and not before `opens_at` (ISO 8601). Point lights are played
    `most_plays` times at most (0: any); a trial with more than `most_late` late frames failed.
    """

    name: str
    title: str = ""
    condition: str = "whole"
    aids: str = ""
    limit_s: Seconds | None = None
    trial_limit_s: Seconds | None = None
    items: Literal["all", "wrong"] = "all"
    shows: tuple[Shown, ...] = ("question",)
    fields: tuple[str, ...] = ()
    may_change: bool = False
    keeps: bool = False
    opens_at: str = ""
    most_plays: CountOrNone = 0
    most_late: CountOrNone | None = None


class Field(Record, omit_defaults=True):
    """One input of the form.

    `kind` is ``answer`` (the item's own: a choice, or a text), ``text``, ``options`` (one of `options`),
    ``scale`` (a whole number from `low` to `high`), ``kinds`` (a kind of the taxonomy `options[0]`, or of the
    benchmark's own), ``quote`` (words of the reply that is shown), ``verdicts`` (right, wrong, partial or not
    reached for each condition of the question, separated by semicolons), ``pair`` (which of two replies is
    better: ``first``, ``second`` or ``tie``) or ``span`` (two times of the video in seconds, as
    ``1.5-3.25``). What is `is_frozen` is sent to the server and cannot be changed before the fields behind it
    are handed out. A field that `needs` another, as ``NAME=VALUE``, is shown only with that value.
    """

    name: str
    kind: Literal["answer", "text", "options", "scale", "kinds", "quote", "verdicts", "pair", "span"]
    title: str = ""
    options: tuple[str, ...] = ()
    low: int = 0
    high: int = 4
    is_frozen: bool = False
    is_optional: bool = False
    needs: str = ""


class Practice(Record, omit_defaults=True):
    """Trials before the first phase that are not analysed.

    They show `n` items set aside from the drawn ones, or those of a file `items`. With `tells` the right
    answer is shown after each.
    """

    n: CountOrNone = 0
    items: str = ""
    tells: bool = True


class Catch(Record, omit_defaults=True):
    """Trials with known answers that check attention and are not analysed.

    There are `n` in each phase, of a file `items`; without a file, trials that ask for a certain option.
    """

    n: CountOrNone = 0
    items: str = ""


class Overlap(Record, omit_defaults=True):
    """Overlap in the design ``split``: the share of trials given to `two` people or `again` to one."""

    two: Annotated[float, Meta(ge=0, le=1)] = 0.0
    again: Annotated[float, Meta(ge=0, le=1)] = 0.0


class Pay(Record, omit_defaults=True):
    """Pay of participants: `flat`, `per_hour` by the server's clock, `per_right` after the end."""

    currency: str = "USD"
    flat: Amount = 0.0
    per_hour: Amount = 0.0
    per_answer: Amount = 0.0
    per_right: Amount = 0.0


class Exclude(Record, omit_defaults=True):
    """Exclusion rules, fixed before the first participant begins.

    Left out is who answers less than `catch_below` of the catch trials right, whose median trial is
    `faster_than_s`, who did not calibrate (`without_calibration`), or has technical failures (`Study.failed`)
    in more than `problems_above` of the trials.
    """

    catch_below: Share | None = None
    faster_than_s: Seconds | None = None
    without_calibration: bool = False
    problems_above: Annotated[float, Meta(ge=0, le=1)] | None = None


class Recruit(Record, omit_defaults=True):
    """An open recruitment link: the parameters of the recruiter's URL, and how it ends.

    `participant` is the parameter that tells participants apart; `others` are kept beside it.
    """

    participant: str = "PROLIFIC_PID"
    others: tuple[str, ...] = ("STUDY_ID", "SESSION_ID")
    completion_code: str = ""
    completion_url: str = ""


class Study(Record, omit_defaults=True):
    """The complete settings of a study; unknown keys are rejected with their line.

    Items are of the benchmark `items` (a name of `vidence list benchmarks`), at `data`, `split`, `media` as
    for `vidence run`; or of a file of items, by its path. `runs` are run folders whose replies, frames or
    wrong answers are shown. `design` ``crossed`` gives every item to every person, ``split`` deals items out,
    ``latin-square`` rotates the conditions of the phases over people and items. `order` is ``mixed`` within
    a phase, or as ``given``. Texts of `consent` and `debrief` are files beside study.toml. Where a study
    `calibrates` the size of the screen, point lights are `canvas_cm` wide on it.
    """

    format: Literal["vidence-study/1"] = "vidence-study/1"
    preset: str = ""
    title: str = ""
    instructions: str = ""
    items: str = ""
    data: str = ""
    split: str = ""
    media: str = ""
    protocol: str = ""
    where: dict[str, str] = msgspec.field(default_factory=dict)
    allow_missing: bool = False
    runs: tuple[str, ...] = ()
    draw: Draw = Draw()
    design: Literal["crossed", "split", "latin-square"] = "crossed"
    overlap: Overlap = Overlap()
    phases: tuple[Phase, ...] = ()
    form: tuple[Field, ...] = ()
    order: Literal["mixed", "given"] = "mixed"
    shuffle_choices: bool = False
    calibrates: bool = False
    canvas_cm: Annotated[float, Meta(gt=0)] = 10.0
    practice: Practice = Practice()
    catch: Catch = Catch()
    consent: str = ""
    debrief: str = ""
    pay: Pay = Pay()
    exclude: Exclude = Exclude()
    recruit: Recruit = Recruit()
    n_people: Count = 1

    def phase(self, name: str) -> Phase:
        """Return a phase by name.

        Raises:
            UsageError: there is no such phase.
        """
        for phase in self.phases:
            if phase.name == name:
                return phase
        raise UnknownNameError("phase", name, [phase.name for phase in self.phases])

    def fields_of(self, phase: Phase) -> tuple[Field, ...]:
        """Return the fields of a phase in order.

        Raises:
            UsageError: the phase names a field that the form does not have.
        """
        if not phase.fields:
            return self.form
        known = {field.name: field for field in self.form}
        if unknown := [name for name in phase.fields if name not in known]:
            raise UsageError(
                f"the phase {phase.name!r} asks for the field {unknown[0]!r}; the form has {', '.join(known)}"
            )
        return tuple(known[name] for name in phase.fields)

    def answers_in(self, phase: str, responses: "Iterable[Response]") -> "tuple[Response, ...]":
        """Return a participant's answers at the end of a phase, without practice and catch trials.

        These are the participant's own in the phase and, where it `keeps`, those of the phase before to items
        that were not answered in it.
        """
        asked = [r for r in responses if r.trial.kind == "asked"]
        kept: dict[tuple[str, int, str], Response] = {}
        for name in self.kept_phases(phase):
            own = {(r.trial.item_id, r.trial.repeat, r.trial.run): r for r in asked if r.trial.phase == name}
            kept |= {key: r for key, r in own.items() if key not in kept or any(r.values.values())}
        return tuple(kept.values())

    def kept_phases(self, phase: str) -> tuple[str, ...]:
        """Return a phase and the earlier phases whose answers carry over to it."""
        at = last = self.phases.index(self.phase(phase))
        while at and self.phases[at].keeps:
            at -= 1
        return tuple(entry.name for entry in self.phases[at : last + 1])

    def failed(self, response: "Response") -> bool:
        """Return whether a trial failed technically: a `problem`, or too many late frames for its phase."""
        limits = {phase.name: phase.most_late for phase in self.phases}
        most_late = limits.get(response.trial.phase)
        return bool(response.problem) or (most_late is not None and response.late_frames > most_late)


@dataclass(frozen=True, kw_only=True)
class StudyFile:
    """A study with its file: paths are relative to `folder`; `sha256` is the hash of the file."""

    path: Path
    study: Study
    sha256: str

    @property
    def folder(self) -> Path:
        """The folder of study.toml."""
        return self.path.parent


def presets() -> dict[str, dict[str, object]]:
    """Return the settings of each preset by its name, sorted."""
    return packaged("vidence.study", "presets.toml", dict[str, dict[str, object]])


def read_study(path: Path) -> StudyFile:
    """Read a study.toml; its preset gives the defaults.

    Args:
        path: the file, or the folder that holds `STUDY_FILE`.

    Raises:
        UsageError: the file cannot be read, or a setting is unknown or is invalid; the message has the
            line.
    """
    path = path / STUDY_FILE if path.is_dir() else path
    try:
        content = path.read_bytes()
        text = content.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"the study {path} cannot be read: {cause(error)}; give a {STUDY_FILE} or its folder"
        ) from error
    own = config_of(text, Study, name=str(path))
    raw: Mapping[str, object] = tomllib.loads(text)
    study = own
    if own.preset:
        if (base := presets().get(own.preset)) is None:
            raise UnknownNameError("preset", own.preset, presets())
        study = msgspec.convert(_merged(base, raw), Study)
    phases = tuple(
        msgspec.structs.replace(phase, condition=f"{FRAMES_OF} {study.runs[0]}")
        if phase.condition == FRAMES_OF and study.runs
        else phase
        for phase in study.phases
    )
    study = msgspec.structs.replace(study, phases=phases)
    return StudyFile(path=path, study=study, sha256=hashlib.sha256(content).hexdigest())


def _merged(base: Mapping[str, object], own: Mapping[str, object]) -> dict[str, object]:
    """Merge a file's settings into those of a preset, table by table; lists are replaced."""
    merged = dict(base)
    for name, value in own.items():
        below = merged.get(name)
        merged[name] = _merged(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged


# --------------------------------------------------------------------------- what comes of a study


class PlannedTrial(Record, omit_defaults=True):
    """One trial of one participant; `place` counts all trials of the participant from 0.

    `choice_order` is that of `vidence.records.Trial`. `run` is the run whose reply is shown, `other` that of
    the second reply of a pair. `expected` is the answer that a catch trial asks for, in the item's own
    letters.
    """

    place: int
    phase: str
    kind: TrialKind = "asked"
    item_id: str
    repeat: int = 0
    condition: str
    choice_order: tuple[int, ...] = ()
    run: str = ""
    other: str = ""
    expected: str = ""


class Response(Record, omit_defaults=True):
    """A participant's values for one trial, by the server's clock.

    `values` are by the names of the form's fields; letters are those of the item's own order. `seconds` is
    from the first time that the trial was shown to its submission; `late_frames` counts frames of a canvas
    that came late. Times are ISO 8601 in UTC. `problem` is a technical problem in the participant's words.
    """

    participant: str
    trial: PlannedTrial
    values: dict[str, str] = msgspec.field(default_factory=dict)
    seconds: float = 0.0
    n_plays: int = 0
    n_changes: int = 0
    late_frames: int = 0
    problem: str = ""
    shown_at: str = ""
    answered_at: str = ""


class Participant(Record, omit_defaults=True):
    """An exported participant: a pseudonym; names and recruiters' ids stay in the database.

    `excluded` are the rules of `Exclude` that they fell under, `own_items` items that they wrote or reviewed,
    which they are never asked.
    """

    name: str
    slot: int
    state: Literal["invited", "declined", "begun", "finished", "withdrawn"]
    recruited: Literal["account", "link", "recruiter", "file"] = "link"
    excluded: tuple[str, ...] = ()
    own_items: tuple[str, ...] = ()
    calibration_px_per_cm: float | None = None
    began_at: str = ""
    ended_at: str = ""


class Event(Record, omit_defaults=True):
    """A logged event of a participant, by the server's clock.

    `kind` is ``consented``, ``declined``, ``calibrated``, ``phase-began``, ``phase-ended``, ``shown``,
    ``played``, ``viewed``, ``refused-view``, ``frozen``, ``answered``, ``late-frames``, ``problem``,
    ``withdrawn`` or ``finished``.
    """

    participant: str
    at: str
    kind: str
    place: int | None = None
    note: str = ""
