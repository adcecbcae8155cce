"""Validate a study before it starts: study.toml alone, and against the drawn items."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from vidence.engine.plan import PLAN_FILE
from vidence.errors import DataError, UsageError, cause
from vidence.explain.errors.taxonomies import load_taxonomy
from vidence.records import Item
from vidence.study.forms import options_of
from vidence.study.replies import shows_replies
from vidence.study.study import FRAMES_OF, Field, Phase, Study, StudyFile
from vidence.text import some

CONDITIONS: Final = ("whole", "once", "frames", "dots", "none")
_MOST_IDS = 5


def frames_run(condition: str) -> str:
    """Return the run folder of a condition ``frames-of RUN``; empty for other conditions."""
    return condition.removeprefix(f"{FRAMES_OF} ").strip() if condition.startswith(f"{FRAMES_OF} ") else ""


def problems(file: StudyFile) -> tuple[str, ...]:
    """Validate a study.toml by itself; return the problems, each with a remedy."""
    study = file.study
    return (
        *_of_phases(file),
        *_of_form(study),
        *_of_people(study),
        *(_of_replies(study) if shows_replies(study) else ()),
        *_of_files(file),
    )


def _of_names(names: Sequence[str], what: str) -> Iterator[str]:
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"two {what} are called {name!r}; give each a name of its own"


# --------------------------------------------------------------------------- phases


def _of_phases(file: StudyFile) -> Iterator[str]:
    phases = file.study.phases
    if not phases:
        yield "there is no phase; add a table [[phases]] with a name and a condition"
    yield from _of_names([phase.name for phase in phases], "phases")
    for place, phase in enumerate(phases):
        messages = (*_of_condition(file, phase), *_of_opening(file.study, phase, place))
        yield from (f"phase {phase.name!r}: {what}" for what in (*messages, *_of_shows(file.study, phase)))
    if phases and phases[0].items == "wrong":
        yield (
            f"phase {phases[0].name!r} can never open: items is 'wrong', but no phase precedes it; put a "
            "phase that asks all first"
        )


def _of_condition(file: StudyFile, phase: Phase) -> Iterator[str]:
    if not phase.name or not phase.name.replace("-", "").replace("_", "").isalnum():
        yield f"its name is {phase.name!r}; expected letters, digits, - and _"
    if run := frames_run(phase.condition):
        if not (file.folder / run / PLAN_FILE).is_file():
            yield (
                f"{phase.condition!r} names a missing run: {file.folder / run} has no {PLAN_FILE}; "
                "give the path of a run folder, from the folder of study.toml"
            )
    elif phase.condition not in CONDITIONS:
        yield f"its condition is {phase.condition!r}; expected {', '.join(CONDITIONS)} or frames-of RUN"


def _of_opening(study: Study, phase: Phase, place: int) -> Iterator[str]:
    if phase.opens_at:
        try:
            at = datetime.fromisoformat(phase.opens_at)
        except ValueError:
            at = None
        if at is None or at.tzinfo is None:
            yield (
                f"it can never open: opens_at is {phase.opens_at!r}; expected a date and time with its zone, "
                "such as 2026-03-01T09:00:00+00:00"
            )
    if phase.items == "wrong" and place and all(field.kind != "answer" for field in study.form):
        yield "it can never open: items is 'wrong', and no field of the form has the kind 'answer'"


def _of_shows(study: Study, phase: Phase) -> Iterator[str]:
    if "reply" in phase.shows and (not study.runs or study.draw.of == "items"):
        yield "it shows replies; name run folders in runs, and set of in [draw] to 'same' or 'wrong'"
    try:
        fields = study.fields_of(phase)
    except UsageError as error:
        yield str(error)
        return
    for field in fields:
        if field.kind == "span" and phase.condition not in ("whole", "once"):
            yield (
                f"the field {field.name!r} asks for times of a video, and {phase.condition!r} plays none; "
                "show it whole or once, or leave the field out with fields"
            )
        if field.kind in ("pair", "quote") and "reply" not in phase.shows:
            yield f"the field {field.name!r} is about replies; add 'reply' to shows"


# --------------------------------------------------------------------------- the form


def _of_form(study: Study) -> Iterator[str]:
    if not study.form:
        yield "there is no field; add a table [[form]] with a name and a kind"
    yield from _of_names([field.name for field in study.form], "fields")
    for place, field in enumerate(study.form):
        rule = _RULES.get(field.kind, _of_plain)
        form = (*rule(field, study), *_of_needs(field, study.form[:place]))
        yield from (f"field {field.name!r}: {what}" for what in form)


def _of_plain(field: Field, _: Study) -> Iterator[str]:
    if field.options:
        yield f"it has options, and {field.kind!r} takes none; leave them out, or set kind to 'options'"


def _of_options(field: Field, _: Study) -> Iterator[str]:
    if len(set(field.options)) < 2 or len(set(field.options)) < len(field.options):
        yield "give two or more different options"


def _of_scale(field: Field, _: Study) -> Iterator[str]:
    if field.low >= field.high:
        yield f"its scale goes from {field.low} to {field.high}; set low below high"


def _of_kinds(field: Field, _: Study) -> Iterator[str]:
    if len(field.options) > 1:
        yield f"it names {len(field.options)} taxonomies; name one in options, or none for the benchmark's"
    elif field.options and not field.options[0].endswith(".toml"):
        try:
            load_taxonomy(field.options[0])
        except (UsageError, DataError) as error:
            yield str(error)


def _of_pair(field: Field, study: Study) -> Iterator[str]:
    yield from _of_plain(field, study)
    if len(study.runs) < 2 or study.draw.of != "same":
        yield (
            f"two replies to a question are compared, and runs has {len(study.runs)}, of [draw] is "
            f"{study.draw.of!r}; name two run folders or more, and set of to 'same'"
        )


_RULES: Final[dict[str, Callable[[Field, Study], Iterator[str]]]] = {
    "options": _of_options,
    "scale": _of_scale,
    "kinds": _of_kinds,
    "pair": _of_pair,
}


def _of_needs(field: Field, before: Sequence[Field]) -> Iterator[str]:
    if not field.needs:
        return
    name, equals, value = field.needs.partition("=")
    other = next((entry for entry in before if entry.name == name), None)
    if not equals or other is None:
        yield f"it needs {field.needs!r}; expected NAME=VALUE with a field before it"
    elif (known := options_of(other)) and value not in known:
        yield f"it needs {value!r} of {name!r}, which can be {', '.join(known)}; name one of them"


# --------------------------------------------------------------------------- people and files


def _of_people(study: Study) -> Iterator[str]:
    yield from _of_set_aside(study)
    overlap, n_people = study.overlap, study.n_people
    if (overlap.two or overlap.again) and study.design != "split":
        yield f"[overlap] needs the design 'split', but design is {study.design!r}; set one of them"
    if overlap.two and n_people < 2:
        yield f"some trials go to two people, but n_people is {n_people}; set it to 2 or more"
    asking = [phase for phase in study.phases if phase.items == "all"]
    if study.design == "latin-square" and len(asking) < 2:
        yield f"a Latin square rotates phases, but {len(asking)} asks all; add one, or set another design"
    if study.exclude.catch_below is not None and not study.catch.n:
        yield "catch_below of [exclude] needs catch trials; set n of [catch]"
    if study.exclude.without_calibration and not study.calibrates:
        yield "without_calibration of [exclude] needs calibrates = true, or everyone is left out"


def _of_set_aside(study: Study) -> Iterator[str]:
    if study.catch.n and not study.catch.items and catch_field(study) is None:
        yield "catch trials ask for an option, and no field has any; name a file of items in [catch]"
    if study.catch.items and all(field.kind != "answer" for field in study.form):
        yield "catch trials of a file ask for its answers, and no field of the form is an 'answer'; add one"
    answers = (field for field in study.form if field.kind == "answer")
    field = next(answers, None) if study.catch.items else catch_field(study)
    if study.catch.n and field is not None:
        without = [phase.name for phase in study.phases if phase.fields and field.name not in phase.fields]
        yield from (
            f"phase {name!r} does not ask for {field.name!r}, and catch trials are right by it; add it to "
            "fields, or leave [catch] out"
            for name in without
        )
    if study.practice.items and not study.practice.n:
        yield "[practice] names a file, and n is 0; set n to the number of practice trials"
    if study.catch.items and not study.catch.n:
        yield "[catch] names a file, and n is 0; set n to the number of catch trials in each phase"


def _of_replies(study: Study) -> Iterator[str]:
    if study.practice.n and not study.practice.items:
        yield "no drawn reply is reserved for practice; name a file of items in [practice], or set n to 0"
    if study.draw.by:
        yield "by of [draw] is about items, and trials show replies; leave it out"


def catch_field(study: Study) -> Field | None:
    """Return the field that catch trials ask for: the first multiple-choice field."""
    choosing = ("answer", "options", "scale")
    return next((field for field in study.form if field.kind in choosing and not field.needs), None)


def _of_files(file: StudyFile) -> Iterator[str]:
    study = file.study
    if study.draw.of != "items" and not study.runs:
        yield f"of [draw] is {study.draw.of!r}, and there are no runs; name run folders in runs"
    for run in study.runs:
        if not (file.folder / run / PLAN_FILE).is_file():
            yield f"runs names {run!r}, and {file.folder / run} is no run folder; give its path"
    for name, text in (("consent", study.consent), ("debrief", study.debrief)):
        if text and (why := unreadable(file.folder / text)):
            yield f"{name}: {why}"


def unreadable(path: Path) -> str:
    """Return why a text for participants cannot be used; empty if it can."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return f"{path} cannot be read: {cause(error)}; write it beside study.toml"
    return "" if text.strip() else f"{path} is empty; write the text, or leave the setting out"


# --------------------------------------------------------------------------- items


def misfits(file: StudyFile, items: Iterable[Item], asked: Sequence[str]) -> tuple[str, ...]:
    """Return the inconsistencies between a study and its drawn items.

    Args:
        file: the study.
        items: all that were drawn, those of practice and catch trials among them.
        asked: the ids of those that are data.
    """
    study, known = file.study, {item.item_id: item for item in items}
    misfits = []
    own = [known[i] for i in dict.fromkeys(asked)]
    bare = [item.item_id for item in own if not item.media]
    for phase in study.phases:
        if bare and phase.condition != "none":
            misfits.append(
                f"phase {phase.name!r} shows media under {phase.condition!r}, and these items have none: "
                f"{some(bare, most=_MOST_IDS)}; leave them out with where, or set its condition to 'none'"
            )
    spans = [field.name for field in study.form if field.kind == "span"]
    still = [item.item_id for item in own if all(medium.kind != "video" for medium in item.media)]
    if spans and still:
        misfits.append(
            f"the field {spans[0]!r} asks for times of a video, and these items have none: "
            f"{some(still, most=_MOST_IDS)}; leave them out with where"
        )
    hidden = [item.item_id for item in own if not item.answer]
    needing = [phase.name for phase in study.phases if phase.items == "wrong"]
    if hidden and needing:
        misfits.append(
            f"phase {needing[0]!r} asks wrong items again, but the answers to these items are hidden: "
            f"{some(hidden, most=_MOST_IDS)}; leave the phase out, or draw items with answers"
        )
    return tuple(misfits)
