"""Which questions a plan draws, and their probabilities of being drawn."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

import msgspec
import numpy as np

from vidence.ask.files import read_json
from vidence.engine.plan import Plan, Stratum
from vidence.errors import DataError, UsageError
from vidence.records import Item, Record
from vidence.statistics.groups import group_rule
from vidence.text import quoted

SUBSET_FILE = "subset.json"
"""File name of a run's subset."""
DRAWN_FILE = "drawn.json"
"""File name of a study's draw."""

DrawT = TypeVar("DrawT", bound=msgspec.Struct)
Drawn: TypeAlias = tuple[Sequence[Item], list[str]]
"""Questions in release order, and notes."""


def drawn(items: Sequence[Item], plan: Plan) -> Drawn:
    """Apply a plan's `limit` and sample.

    Raises:
        UsageError: no question has the tag of a stratified sample.
    """
    if plan.limit is not None:
        return _whole_groups(items, items[: plan.limit], plan)
    if plan.stratum is not None:
        return _each(items, *plan.stratum, seed=plan.seed)
    if plan.sample is not None and plan.sample < len(items):
        places = np.random.default_rng(plan.seed).choice(len(items), plan.sample, replace=False)
        return _whole_groups(items, [items[place] for place in np.sort(places)], plan)
    return items, []


def _whole_groups(items: Sequence[Item], some: Sequence[Item], plan: Plan) -> Drawn:
    """Add the rest of the drawn questions' groups if the headline scores groups."""
    grouped = group_rule(plan.headline)
    if grouped is None:
        return some, []
    _, tag = grouped
    wanted = {item.tags.get(tag, item.item_id) for item in some}
    kept = [item for item in items if item.tags.get(tag, item.item_id) in wanted]
    more = len(kept) - len(some)
    return kept, [f"{more} questions more, so that each {tag} is whole"] if more else []


class _Asked(msgspec.Struct):
    item_id: str


class StudyDraw(msgspec.Struct):
    """The part of `DRAWN_FILE` that a run reads: the questions asked, and the hash of study.toml."""

    study_sha256: str
    asked: tuple[_Asked, ...]

    def of(self, items: Sequence[Item]) -> list[Item]:
        """Return the drawn questions of a set, in the order of the set.

        Raises:
            UsageError: a drawn question is not in the set.
        """
        ids = {entry.item_id for entry in self.asked}
        kept = [item for item in items if item.item_id in ids]
        if lost := sorted(ids - {item.item_id for item in kept}):
            raise UsageError(
                f"{len(lost)} of {len(ids)} questions of the study are not in the set, such as {lost[0]!r}; "
                "give the data that it was drawn from, or draw it again"
            )
        return kept


def read_draw(folder: Path, kind: type[DrawT]) -> DrawT:
    """Read a study's draw from its folder.

    Raises:
        DataError: nothing was drawn, or the file cannot be read.
    """
    path = folder / DRAWN_FILE
    if not path.exists():
        raise DataError(
            f"{folder} has no {DRAWN_FILE}: nothing is drawn yet; run vidence study draw {quoted(folder)}"
        )
    return read_json(path, kind, advice="draw the study again")


def question_digest(item: Item) -> str:
    """Return a short hash of a question's text, its choices in their own order, and its answer."""
    return hashlib.sha256(msgspec.json.encode((item.question, item.choices, item.answer))).hexdigest()[:16]


class Subset(Record):
    """Questions from which a full score can be predicted (anchors), and the data for the prediction.

    For each anchor, in one order: its digest by id, its weight in the full score, and its probability of
    being right at each ability. `whole` is the weighted curve of all questions. `error` is the root mean
    squared error of the prediction over `n_runs` left-out models; `sampling` the standard error of a full
    score from sampling questions. `average` is micro or macro:TAG.
    """

    format: Literal["vidence-subset/1"] = "vidence-subset/1"
    average: str
    n_items: int
    n_runs: int
    error: float
    sampling: float
    whole: tuple[float, ...]
    digests: dict[str, str]
    weights: tuple[float, ...]
    curves: tuple[tuple[float, ...], ...]

    def of(self, items: Sequence[Item]) -> list[Item]:
        """Return the subset's questions in a set, in the order of the set.

        Raises:
            UsageError: a question is missing from the set, or differs there.
        """
        kept = [item for item in items if self.digests.get(item.item_id) == question_digest(item)]
        if lost := sorted(self.digests.keys() - {item.item_id for item in kept}):
            raise UsageError(
                f"{len(lost)} of the {len(self.digests)} questions of the subset are missing or different, "
                f"such as {lost[0]!r}; give the data of the runs that chose it, or choose it again with "
                "vidence stats subset"
            )
        return kept


def read_subset(path: Path) -> Subset:
    """Read a subset from a file; see `read_json`."""
    advice = "expected a file that `vidence stats subset RUN... --out FILE` wrote"
    return read_json(path, Subset, advice=advice)


def strata_met(items: Sequence[Item], asked: Sequence[Item], tag: str) -> tuple[Stratum, ...]:
    """Return the strata of a sample by a tag, with the numbers of available and asked questions.

    Args:
        items: the available questions.
        asked: the questions asked.
        tag: the tag.
    """
    n_asked = {value: len(places) for value, places in strata(asked, tag).items()}
    return tuple(
        Stratum(tag=tag, value=value, n=len(places), n_sampled=n_asked.get(value, 0))
        for value, places in sorted(strata(items, tag).items())
    )


def strata(items: Sequence[Item], tag: str) -> dict[str, list[int]]:
    """Return the positions of the questions by value of a tag; questions without the tag are left out."""
    values: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        if tag in item.tags:
            values.setdefault(item.tags[tag], []).append(place)
    return values


def no_such_tag(tag: str, items: Sequence[Item]) -> UsageError:
    """Return the error for a tag that no question has."""
    tags = sorted({t for i in items for t in i.tags})
    return UsageError(f"no question has the tag {tag!r}; tags are: {', '.join(tags) or 'none'}")


def _each(items: Sequence[Item], tag: str, n: int, *, seed: int) -> Drawn:
    """Draw N questions per value of a tag, independently for each value."""
    places = strata(items, tag)
    if not places:
        raise no_such_tag(tag, items)
    kept: list[int] = []
    for value, among in places.items():
        rng = np.random.default_rng(list(hashlib.sha256(f"{seed}/{tag}/{value}".encode()).digest()))
        kept += rng.choice(among, min(n, len(among)), replace=False).tolist()
    counts = "; ".join(f"{value}: {min(n, len(of))} of {len(of)}" for value, of in sorted(places.items()))
    if without := len(items) - sum(map(len, places.values())):
        counts += f"; none of {without} without the tag"
    return [items[place] for place in sorted(kept)], [
        f"sampled by {tag}, {n} questions with each value or all that there are ({counts}): means over "
        "questions describe this sample; the table of the sample has the weighted mean"
    ]
