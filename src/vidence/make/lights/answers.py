"""Put the answers of people and the key of a study together: a run's replies, participants, agreement."""

import itertools
import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vidence.ask import files
from vidence.ask.files import FieldError, csv_rows, usable
from vidence.errors import DataError
from vidence.make.lights.study import N_CHOICES, read_key
from vidence.media.whole import write_whole
from vidence.statistics.agreement import item_agreement
from vidence.statistics.intervals import mean_interval
from vidence.tables.export import csv_text

_NEEDED = ("participant", "trial_id", "choice", "description", "describe_s", "choose_s")
_PLAYS = ("plays_describing", "plays_choosing")
PEOPLE = (
    *("item_id", "sample", "participant", "text", "choice", "right", "description", "description_id"),
    "log",
)
_DECIMALS = 4


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One answer of a person: where it stands, its cells, and the row of the key."""

    where: str
    cells: Mapping[str, str]
    key: Mapping[str, str]

    @property
    def who(self) -> str:
        """The code of the participant."""
        return self.cells["participant"]

    @property
    def is_right(self) -> bool:
        """Whether the right answer, or in a catch trial the one that was asked for, was chosen."""
        return self.cells["choice"] == self.key["right"]


def read_answers(paths: Sequence[Path], key: Path) -> list[Answer]:
    """The answers in files that people saved, several people in one file or each in their own.

    A row that is there twice, as when a file was saved again, counts once.

    Raises:
        DataError: a row that cannot be read, that is of no form of this study, or two different answers of
            one person to one trial; the message names file and line.
    """
    known = {row["trial_id"]: row for row in read_key(key)}
    found: dict[tuple[str, str], Answer] = {}
    for path in paths:
        for line, row in csv_rows(files.read(path), needed=_NEEDED):
            where = f"{path}:{line}"
            try:
                cells = usable(row)
                _check(cells)
            except FieldError as error:
                raise DataError(f"{where}: {error}") from error
            if cells["trial_id"] not in known:
                raise DataError(
                    f"{where}: the trial {cells['trial_id']!r} is not in {key}; the form is of another study"
                )
            one = Answer(where=where, cells=cells, key=known[cells["trial_id"]])
            first = found.setdefault((one.who, cells["trial_id"]), one)
            if any(first.cells[name] != cells[name] for name in _NEEDED):
                raise DataError(
                    f"{where}: another answer of {one.who!r} to a trial that is answered at {first.where}; "
                    "people need codes of their own"
                )
    return list(found.values())


def _check(cells: Mapping[str, str]) -> None:
    if not cells["participant"]:
        raise FieldError("participant", "empty; expected a code")
    if cells["choice"] not in {str(n + 1) for n in range(N_CHOICES)}:
        raise FieldError("choice", f"{cells['choice']!r}; expected 1 to {N_CHOICES}")
    for name in ("describe_s", "choose_s", *(n for n in _PLAYS if cells.get(n))):
        try:
            is_good = 0 <= float(cells[name]) < float("inf")
        except ValueError:
            is_good = False
        if not is_good:
            raise FieldError(name, f"{cells[name]!r}; expected a number of 0 or more")


def write_people(paths: Sequence[Path], folder: Path) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Write ``people.csv``, ``participants.csv`` and ``agreement.csv`` beside the key of a study.

    ``people.csv`` is what ``vidence run actpld --model replay:FILE`` reads: for each question and person the
    choice and the description; `sample` counts the people who answered a question, by their codes. `log` has
    both, as a reply that describes and then chooses.

    Args:
        paths: the files that people saved.
        folder: that of the study, with its ``key.csv``.

    Returns:
        The files, and what there is to say.

    Raises:
        DataError: as for `read_answers`, or no answer at all.
    """
    answers = read_answers(paths, folder / "key.csv")
    asked = [one for one in answers if one.key["kind"] == "asked"]
    if not asked:
        raise DataError(f"{', '.join(map(str, paths))}: no answer to a question of the study")
    by_item: dict[str, dict[str, Answer]] = defaultdict(dict)
    for one in sorted(asked, key=lambda one: (one.who, one.key["item_id"])):
        if (other := by_item[one.key["item_id"]].setdefault(one.who, one)) is not one:
            raise DataError(f"{one.where}: {one.who!r} has answered this question at {other.where} already")
    rows = []
    for item_id, people in sorted(by_item.items()):
        for sample, (who, one) in enumerate(people.items()):
            letter = one.key[f"letter_{one.cells['choice']}"]
            chosen = one.key[f"choice_{one.cells['choice']}"]
            text, described = letter and f"Answer: {letter}", one.cells["description"]
            words = (text, chosen, str(int(one.is_right)), described, f"{item_id}/description")
            rows.append((item_id, str(sample), who, *words, "\n".join(filter(None, (described, text)))))
    tables: dict[str, Sequence[Sequence[str | float | None]]] = {
        "people.csv": [PEOPLE, *rows],
        "participants.csv": _participants(answers),
        "agreement.csv": _agreement(asked),
    }
    written = []
    for name, cells in tables.items():
        write_whole(folder / name, csv_text(cells, is_data=True).encode())
        written.append(folder / name)
    return tuple(written), _sentences(answers, by_item, folder=folder)


def _participants(answers: Sequence[Answer]) -> list[Sequence[str | float | None]]:
    """A row for each person: how many answers, how right by set, catch trials, seconds, plays."""
    table: list[Sequence[str | float | None]] = [
        (
            "participant",
            "forms",
            "n_answered",
            "right",
            "right_low",
            "right_high",
            "right_single",
            "right_social",
            "catch_right",
            "n_catch",
            "describe_s_median",
            "choose_s_median",
            "plays_mean",
        )
    ]
    for who in sorted({one.who for one in answers}):
        mine = [one for one in answers if one.who == who]
        asked = [one for one in mine if one.key["kind"] == "asked"]
        catch = [one.is_right for one in mine if one.key["kind"] == "catch"]
        forms = sorted({one.key["form"] for one in mine}, key=int)
        interval = (
            mean_interval([float(one.is_right) for one in asked], clusters=[_cluster(one) for one in asked])
            if asked
            else None
        )
        by_set = [
            _mean([float(one.is_right) for one in asked if one.key["set"] == name])
            for name in ("single", "social")
        ]
        plays = [sum(float(one.cells.get(name) or 0) for name in _PLAYS) for one in asked]
        bounds = [None] * 3 if interval is None else [interval.value, interval.low, interval.high]
        table.append(
            (
                who,
                "+".join(forms),
                len(asked),
                *(_rounded(v) for v in bounds),
                *(_rounded(v) for v in by_set),
                sum(catch),
                len(catch),
                *(
                    _rounded(statistics.median(float(one.cells[name]) for one in asked)) if asked else None
                    for name in ("describe_s", "choose_s")
                ),
                _rounded(_mean(plays)),
            )
        )
    return table


def _agreement(asked: Sequence[Answer]) -> list[Sequence[str | float | None]]:
    """A row for each two people: on the questions of both, the same choice, right and wrong together, kappa.

    Kappa and its interval are those of `vidence.statistics.agreement.item_agreement`: on right and wrong,
    with the sources of clips as clusters.
    """
    table: list[Sequence[str | float | None]] = [
        (
            "first",
            "second",
            "n",
            "same_choice",
            "both_right",
            "both_wrong",
            "kappa",
            "kappa_low",
            "kappa_high",
        )
    ]
    people: dict[str, dict[str, Answer]] = defaultdict(dict)
    for one in asked:
        people[one.who][one.key["item_id"]] = one
    for first, second in itertools.combinations(sorted(people), 2):
        shared = sorted(set(people[first]) & set(people[second]))
        pairs = [(people[first][i], people[second][i]) for i in shared]
        if not pairs:
            table.append((first, second, 0, *[None] * 6))
            continue
        found = item_agreement(
            [float(a.is_right) for a, _ in pairs],
            [float(b.is_right) for _, b in pairs],
            clusters=[_cluster(a) for a, _ in pairs],
            rng=np.random.default_rng(0),
        )
        same = _mean([float(_letter(a) == _letter(b)) for a, b in pairs])
        kappa = (found.kappa.value, found.kappa.low, found.kappa.high)
        counts = (len(pairs), _rounded(same), found.n_both_right, found.n_both_wrong)
        table.append((first, second, *counts, *(_rounded(v) for v in kappa)))
    return table


def _letter(one: Answer) -> str:
    return one.key[f"letter_{one.cells['choice']}"]


def _cluster(one: Answer) -> str:
    return one.key["source_id"] or one.key["item_id"]


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def _rounded(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else round(value, _DECIMALS)


def _sentences(
    answers: Sequence[Answer], by_item: Mapping[str, Mapping[str, Answer]], *, folder: Path
) -> tuple[str, ...]:
    """How many people, how to replay them, and who missed catch trials."""
    people = {one.who for one in answers}
    times = Counter(len(some) for some in by_item.values())
    least, most = min(times), max(times)
    target = next(iter(by_item)).rpartition("/")[2]
    said = [
        f"{len(people)} people answered {len(by_item)} questions, each by {least}"
        + (f" to {most}" if most > least else "")
        + "; as a run they are",
        f"  vidence run actpld --data {folder.parent} --split {target} --no-shuffle-choices "
        f"--model replay:{folder / 'people.csv'} --recorded-only --repeats {least}",
    ]
    if most > least:
        said.append(
            f"Of questions that more than {least} answered, the first {least} by their codes count then."
        )
    missed = sorted({one.who for one in answers if one.key["kind"] == "catch" and not one.is_right})
    if missed:
        said.append(f"Catch trials were missed by {', '.join(missed)}; see participants.csv.")
    return tuple(said)
