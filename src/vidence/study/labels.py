"""Export people's labels of replies and items in the file formats of the other commands."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from vidence.errors import DataError
from vidence.explain.errors.labels import Label, keep_labels, label_of, read_labels
from vidence.explain.errors.packet import read_packet
from vidence.explain.errors.shares import report as errors_report
from vidence.explain.errors.taxonomies import Taxonomy
from vidence.media.whole import write_into
from vidence.records import Clusters, Estimate, Item
from vidence.report.checked import CORRECT, LABELS_FOLDER, POINTS, RATINGS_FILE
from vidence.report.judge_labels import SEPARATOR
from vidence.report.scores import Draws
from vidence.statistics.agreement import Measurement, krippendorff_alpha
from vidence.statistics.intervals import mean_interval
from vidence.statistics.resampling import Resampling
from vidence.study.forms import PAIR, label_in, options_of
from vidence.study.replies import taxonomy_in
from vidence.study.study import Field, Participant, Phase, Response, Study, StudyFile
from vidence.study.windows import SHOWS, WINDOW, windows_of, windows_table
from vidence.tables.export import csv_text
from vidence.tables.table import Measure, RowSpec, Table, count, lines, number, share, tabulate
from vidence.text import first_lines

HUMAN_FILE, HUMAN_RATIONALE_FILE = "human.csv", "human-rationale.csv"
WINDOWS_FILE = "windows.csv"
_HUMAN_COLUMNS = ("item_id", "model", "repeat", "rater", "correct", "score", "beats", "ties")


def counted(participants: Iterable[Participant], responses: Iterable[Response]) -> tuple[Response, ...]:
    """Return the responses that count: no practice, catch or failed trials, no excluded people."""
    out = {person.name for person in participants if person.excluded or person.state == "withdrawn"}
    return tuple(
        r for r in responses if r.participant not in out and r.trial.kind == "asked" and not r.problem
    )


# --------------------------------------------------------------------------- files


def write_labels(
    file: StudyFile, responses: Sequence[Response], *, items: Mapping[str, Item]
) -> tuple[Path, ...]:
    """Write what `vidence replies errors`, `vidence replies judges`, `vidence make actpld` read of a study.

    Args:
        file: the study; files are written beside it.
        responses: those that count, see `counted`.
        items: the drawn items.

    Returns:
        The files: none for a study that only asks for answers.

    Raises:
        DataError: a response is no label; the message names each.
        StoreError: a file cannot be written.
    """
    study, folder = file.study, file.folder / LABELS_FOLDER
    contents: dict[Path, str | bytes] = {}
    if any(field.kind == "kinds" for field in study.form):
        labels = error_labels(file, responses)
        for name in dict.fromkeys(label.labeller for label in labels):
            own = [label for label in labels if label.labeller == name]
            contents.update([keep_labels(file.folder, own, labeller=name, by="person")])
        for path in (folder / "people").glob("*.jsonl"):
            if path not in contents:  # of someone who no longer counts
                path.unlink()
    for name, rationale in ((HUMAN_FILE, False), (HUMAN_RATIONALE_FILE, True)):
        if rows := human_rows(study, responses, rationale=rationale):
            contents[folder / name] = csv_text([_HUMAN_COLUMNS, *rows], is_data=True)
    if {SHOWS, WINDOW} <= {field.name for field in study.form}:
        contents[folder / WINDOWS_FILE] = windows_table(windows_of(responses, items))
    if rows := [row for rating in rated(study) for row in _long(rating, responses)]:
        heading = ("item_id", "run", "phase", "field", "participant", "repeat", "value")
        contents[folder / RATINGS_FILE] = csv_text([heading, *rows], is_data=True)
    for path, content in contents.items():
        write_into(path.parent, {path.name: content})
    return tuple(contents)


def error_labels(file: StudyFile, responses: Iterable[Response]) -> tuple[Label, ...]:
    """Labels of kinds of errors, by the kinds of the form's fields, and the names ``evidence`` and ``step``.

    Raises:
        DataError: a response is no label of the taxonomy, or of a reply that was not drawn.
    """
    study, packet, taxonomy = file.study, read_packet(file.folder), _taxonomy(file.folder)
    values, reply_of = packet.shown(), packet.key.reply_of()
    row_of = {(drawn.run, drawn.item_id): row for row, drawn in reply_of.items()}
    labels, faults = [], []
    for response in responses:
        trial, given = response.trial, label_in(study.form, response.values, repeat=response.trial.repeat)
        if not given.kind:
            continue
        row = row_of.get((trial.run, trial.item_id))
        if row is None:
            faults.append(f"{response.participant}, trial {trial.place}: its reply was not drawn")
            continue
        label = label_of(
            given, values[row], reply_of[row], labeller=response.participant, by="person", taxonomy=taxonomy
        )
        if isinstance(label, str):
            faults.append(f"{response.participant}, trial {trial.place}: {label}")
        else:
            labels.append(label)
    if faults:
        raise DataError(f"{file.folder}: responses that are no labels:\n{first_lines(faults)}")
    return tuple(labels)


def _taxonomy(folder: Path) -> Taxonomy:
    taxonomy = taxonomy_in(folder)
    if taxonomy is None:
        raise DataError(f"{folder}: its replies were drawn without kinds of errors; draw the study again")
    return taxonomy


def human_rows(
    study: Study, responses: Iterable[Response], *, rationale: bool
) -> list[tuple[str | float | None, ...]]:
    """Return rows for `vidence replies judges`: marks of replies, and pairwise preferences.

    Args:
        study: the study.
        responses: those that count.
        rationale: of the phases that show the rationale, or of the others.
    """
    arm = {phase.name for phase in study.phases if ("rationale" in phase.shows) == rationale}
    pair = next((field.name for field in study.form if field.kind == "pair"), "")
    marks: dict[tuple[str, str, str], dict[str, str]] = {}
    others: dict[tuple[str, str, str], dict[str, list[str]]] = {}
    for response in responses:
        trial, values = response.trial, response.values
        if trial.phase not in arm or not trial.run or trial.repeat:
            continue
        if values.get(CORRECT):
            marks[trial.item_id, trial.run, response.participant] = values
        if trial.other and values.get(pair) in PAIR:
            runs = (trial.run, trial.other) if values[pair] != "second" else (trial.other, trial.run)
            column = "ties" if values[pair] == "tie" else "beats"
            own = others.setdefault((trial.item_id, runs[0], response.participant), {"beats": [], "ties": []})
            own[column].append(runs[1])
    rows: list[tuple[str | float | None, ...]] = []
    for key in dict.fromkeys([*marks, *others]):
        item_id, run, rater = key
        values, than = marks.get(key, {}), others.get(key, {})
        correct = {"right": "1", "wrong": "0"}.get(values.get(CORRECT, ""))
        compared = (SEPARATOR.join(than.get(column, ())) for column in ("beats", "ties"))
        rows.append((item_id, run, 0, rater, correct, values.get(POINTS), *compared))
    return rows


# --------------------------------------------------------------------------- ratings


Said: TypeAlias = Mapping[tuple[str, str], Mapping[str, str]]
"""For each item, or each reply to it, what each participant said."""
Ratings: TypeAlias = Mapping[tuple[str, str], Mapping[str, float]]
"""The same as numbers."""


@dataclass(frozen=True, kw_only=True)
class Rated:
    """A rating field in a phase: a scale, options, or a pairwise preference."""

    phase: Phase
    field: Field

    @property
    def options(self) -> tuple[str, ...]:
        """The possible values, in order."""
        return options_of(self.field)

    @property
    def title(self) -> str:
        """The field and its phase."""
        return f"{self.field.title or self.field.name} ({self.phase.name})"

    def ratings(self, responses: Iterable[Response]) -> dict[tuple[str, str], dict[str, str]]:
        """Return the first rating of each participant, for each item or reply.

        Of a pair that was shown the other way round the answer is turned back.
        """
        ratings: dict[tuple[str, str], dict[str, str]] = {}
        for response in responses:
            value, trial = response.values.get(self.field.name, ""), response.trial
            if trial.phase != self.phase.name or trial.repeat or value not in self.options:
                continue
            first, second = sorted((trial.run, trial.other))
            if self.field.kind == "pair" and first != trial.run:
                value = {"first": "second", "second": "first"}.get(value, value)
            unit = trial.item_id, f"{first} and {second}" if first else trial.run
            ratings.setdefault(unit, {})[response.participant] = value
        return ratings

    def coded(self, values: Said) -> tuple[Ratings, Measurement]:
        """Return ratings as numbers with their level of measurement: scales are ordinal, options nominal."""
        code = {value: float(place) for place, value in enumerate(self.options)}
        ratings = {unit: {who: code[value] for who, value in own.items()} for unit, own in values.items()}
        return ratings, "ordinal" if self.field.kind == "scale" else "nominal"


def rated(study: Study) -> tuple[Rated, ...]:
    """Return the rating fields of a study; an optional scale is treated as a comment."""
    kinds = ("scale", "options", "pair")
    return tuple(
        Rated(phase=phase, field=field)
        for phase in study.phases
        for field in study.fields_of(phase)
        if field.kind in kinds and not field.is_optional
    )


def _long(rating: Rated, responses: Iterable[Response]) -> Iterator[tuple[str | float | None, ...]]:
    for given in responses:
        value, trial = given.values.get(rating.field.name), given.trial
        if value and trial.phase == rating.phase.name and rating.field.kind != "pair":
            name = rating.field.name
            yield trial.item_id, trial.run, trial.phase, name, given.participant, trial.repeat, value


def label_sections(
    file: StudyFile,
    responses: Sequence[Response],
    *,
    answers: Mapping[str, tuple[Ratings, Measurement]],
    items: Mapping[str, Item],
    draws: Draws,
) -> tuple[Table, ...]:
    """The tables of labels and ratings of a study, and how far people agree in them and in answers.

    Args:
        file: the study.
        responses: those that count, see `counted`.
        answers: what people answered, by what it is called.
        items: the drawn items.
        draws: the level of intervals, and source of random draws.
    """
    tables: list[Table] = []
    if any(field.kind == "kinds" for field in file.study.form):
        packet, taxonomy = read_packet(file.folder), _taxonomy(file.folder)
        stored = read_labels(file.folder, packet, taxonomy=taxonomy)
        labels = [*error_labels(file, responses), *(label for label in stored if label.by == "model")]
        tables += errors_report(packet, labels, taxonomy, rng=draws.fresh(), level=draws.level).tables
    given = {rating: ratings for rating in rated(file.study) if (ratings := rating.ratings(responses))}
    for rating, ratings in given.items():
        if rating.field.kind == "pair":  # first and second are other runs on other trials
            continue
        tables.append(_values(rating, ratings))
        if rating.field.kind == "options" and len(rating.options) == 2:
            tables.append(_votes(rating, ratings, items=items, level=draws.level))
    coded = {rating.title: rating.coded(ratings) for rating, ratings in given.items()}
    agreed = _agreements({**answers, **coded}, items=items, draws=draws)
    return (*tables, *([agreed] if agreed else []))


def _values(rating: Rated, ratings: Said) -> Table:
    """How often each value was given."""
    given = [value for own in ratings.values() for value in own.values()]
    several = [set(own.values()) for own in ratings.values() if len(own) > 1]
    return tabulate(
        f"ratings:{rating.phase.name}:{rating.field.name}",
        rating.title,
        label="rating",
        rows=(RowSpec(value, value, value) for value in rating.options),
        measures=(
            count("ratings", given.count, "ratings"),
            share("share", lambda value: given.count(value) / len(given), "share of the ratings"),
            count("agreed", lambda value: several.count({value}), "all agree"),
        ),
        notes=(f"{len(ratings):,} were rated, {len(several):,} of them by several people.",),
    )


def _votes(rating: Rated, ratings: Said, *, items: Mapping[str, Item], level: float) -> Table:
    """Return for how many units the first option was chosen by any rater, by most, and by all.

    Source: MMVU, section 2, footnote 1 (one of three annotators is enough).
    Departs: the paper prints that rule alone; most and all stand below it.
    """
    yes = rating.options[0]
    shares = [sum(value == yes for value in own.values()) / len(own) for own in ratings.values()]
    clusters = [items[item_id].source_id for item_id, _ in ratings]
    rules = {
        "any": [x > 0 for x in shares],
        "majority": [x > 0.5 for x in shares],
        "all": [x == 1 for x in shares],
    }
    raters = sorted({len(own) for own in ratings.values()})

    def of(votes: Sequence[bool]) -> Estimate:
        return mean_interval(np.array(votes, float), clusters=clusters, level=level)

    measures: list[Measure[Sequence[bool]]] = [
        count("n", sum, yes),
        count("of", len, "of"),
        share("share", of),
    ]
    return tabulate(
        f"votes:{rating.phase.name}:{rating.field.name}",
        f"{rating.title}: {yes}, by how many of its raters",
        label="raters",
        rows=[RowSpec(rule, rule, votes) for rule, votes in rules.items()],
        measures=measures,
        notes=(f"Raters of each: {', '.join(map(str, raters))}.",),
    )


def _agreements(
    given: Mapping[str, tuple[Ratings, Measurement]], *, items: Mapping[str, Item], draws: Draws
) -> Table | None:
    """Return the rate of unanimity and Krippendorff's alpha of ratings with several raters; or None."""
    several = {
        label: ({unit: own for unit, own in ratings.items() if len(own) > 1}, measurement)
        for label, (ratings, measurement) in given.items()
    }

    def raters(ratings: Ratings) -> list[str]:
        return sorted({name for own in ratings.values() for name in own})

    def clusters(ratings: Ratings) -> Clusters:
        return Clusters.of([items[item_id] for item_id, _ in ratings])

    def same(row: tuple[Ratings, Measurement]) -> Estimate:
        alike = [float(len(set(own.values())) == 1) for own in row[0].values()]
        return mean_interval(alike, clusters=clusters(row[0]), level=draws.level)

    def alpha(row: tuple[Ratings, Measurement]) -> Estimate:
        return krippendorff_alpha(
            [[own.get(name, np.nan) for name in raters(row[0])] for own in row[0].values()],
            measurement=row[1],
            rng=draws.fresh(),
            clusters=clusters(row[0]),
            settings=Resampling(level=draws.level),
        )

    if not (rows := [(label, row) for label, row in several.items() if row[0]]):
        return None
    return tabulate(
        "agreement",
        "Agreement of people",
        label="rating",
        rows=lines(rows),
        measures=(
            count("n", lambda row: len(row[0]), "rated by several"),
            count("raters", lambda row: len(raters(row[0])), "people"),
            share("same", same, "all equal"),
            number("alpha", alpha, "Krippendorff's alpha"),
        ),
        notes=("Alpha is ordinal for scales, nominal for all else. For free answers, marks are compared.",),
    )
