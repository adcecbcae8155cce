"""Which trials a list shows, in which order: read from an address, asked of the index."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, cast, get_args
from urllib.parse import urlencode

import msgspec
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.http import Http404, QueryDict

from vidence.records import Record
from vidence.report.page import Link
from vidence.report.results import STATUSES
from vidence.studio.bridge.labels import BY
from vidence.studio.bridge.runs import DAMAGED
from vidence.studio.records.index import IndexTagRow, IndexTrialRow, IndexWordsRow
from vidence.studio.viewer.desk import desk
from vidence.text import visible

Sort = Literal["order", "latency", "-latency", "tokens", "-tokens", "margin", "-margin"]
Flip = Literal["", "any", "lost", "won"]
MOST_RUNS: Final = 3
PAGE: Final = 50
MOST_TAG_VALUES: Final = 60
_LONGEST_WORDS: Final = 200
_COLUMNS: Final = {"latency": "latency_s", "tokens": "tokens", "margin": "margin"}
SORTS: Final[Mapping[str, str]] = {
    "order": "as in the run",
    "-latency": "slowest first",
    "latency": "fastest first",
    "-tokens": "most tokens first",
    "tokens": "fewest tokens first",
    "margin": "smallest margin first",
    "-margin": "largest margin first",
}
FLIPS: Final[Mapping[Flip, str]] = {
    "any": "scored differently",
    "lost": "better in the first",
    "won": "better in the second",
}
FLAGS: Final[Mapping[str, tuple[str, str, Mapping[str, object]]]] = {
    "readers": ("has_readers_differ", "parsers disagree", {"readers_differ": True}),
    "judges": ("has_judges_differ", "judges disagree", {"judges_differ": True}),
    "cut": ("is_cut", "cut off", {"finish": "length"}),
}
"""By their names in addresses: the field, what it is in words, and what it asks of rows."""
FATES: Final[Mapping[str, str]] = {
    **{str(status): words for status, words in STATUSES.items()},
    DAMAGED: "damaged",
}


class Filter(Record):
    """What a list shows. `runs` are places, of which the first is listed; `tags` are names with values."""

    runs: tuple[str, ...]
    fates: tuple[str, ...] = ()
    tags: tuple[tuple[str, str], ...] = ()
    words: str = ""
    has_readers_differ: bool = False
    has_judges_differ: bool = False
    is_cut: bool = False
    label: str = ""
    """A label of errors, and who gave it: ``person:misread``."""
    flip: Flip = ""
    sort: Sort = "order"
    page: int = 1

    def query(self, *, page: int | None = None, flip: Flip | None = None) -> str:
        """The same as the query of an address; what is given replaces its own."""
        entry = msgspec.structs.replace(
            self, page=self.page if page is None else page, flip=self.flip if flip is None else flip
        )
        pairs = [("run", run) for run in entry.runs]
        pairs += [("fate", fate) for fate in entry.fates]
        pairs += [("tag", f"{name}={value}") for name, value in entry.tags]
        pairs += [(name, "1") for name in entry.flags]
        pairs += [("words", entry.words)] if entry.words else []
        pairs += [("label", entry.label)] if entry.label else []
        pairs += [("flip", entry.flip)] if entry.flip else []
        pairs += [("sort", entry.sort)] if entry.sort != "order" else []
        pairs += [("page", str(entry.page))] if entry.page > 1 else []
        return urlencode(pairs)

    @property
    def flags(self) -> list[str]:
        """Those that are set, by their names in addresses."""
        return [name for name, (field, _, _) in FLAGS.items() if getattr(self, field)]

    @property
    def said(self) -> list[str]:
        """What it keeps and in which order, in words.

        >>> Filter(runs=("a",), fates=("wrong",), tags=(("task", "order"),), is_cut=True, sort="margin").said
        ['wrong', 'task: order', 'cut off', 'smallest margin first']
        """
        kept = [" or ".join(FATES[fate] for fate in self.fates)] if self.fates else []
        kept += [visible(f"{name}: {value}") for name, value in self.tags]
        kept += [f"words: {visible(self.words)}"] if self.words else []
        kept += [FLAGS[name][1] for name in self.flags]
        kept += [label_words(self.label)] if self.label else []
        kept += [FLIPS[self.flip]] if self.flip else []
        return [*(kept or ["all questions"]), SORTS[self.sort]]

    @property
    def is_narrow(self) -> bool:
        """Whether it leaves anything out."""
        whole = Filter(runs=self.runs, sort=self.sort, page=self.page)
        return self != whole


def label_words(label: str) -> str:
    """A label of a filter in words.

    >>> label_words("person:misread")
    'misread, by people'
    """
    by, _, kind = label.partition(":")
    return visible(f"{kind}, by {BY.get(by, by)}")


def read_filter(query: QueryDict) -> Filter:
    """The filter of an address.

    Raises:
        Http404: it names no run, or too many.
    """
    runs = tuple(dict.fromkeys(query.getlist("run")))
    if not 0 < len(runs) <= MOST_RUNS:
        raise Http404
    pairs = [tuple(tag.split("=", 1)) for tag in query.getlist("tag") if "=" in tag]
    sort, flip = query.get("sort", "order"), query.get("flip", "")
    return Filter(
        runs=runs,
        fates=tuple(fate for fate in dict.fromkeys(query.getlist("fate")) if fate in FATES),
        tags=tuple((name, value) for name, value in pairs),
        words=query.get("words", "").strip()[:_LONGEST_WORDS],
        **{field: query.get(name) == "1" for name, (field, _, _) in FLAGS.items()},
        label=query.get("label", "")[:_LONGEST_WORDS],
        flip=cast("Flip", flip) if flip in get_args(Flip) and len(runs) > 1 else "",
        sort=cast("Sort", sort) if sort in get_args(Sort) else "order",
        page=page_in(query),
    )


def page_in(query: QueryDict) -> int:
    """The number of a page that an address names; 1 for anything that is none."""
    page = query.get("page", "1")
    return int(page) if page.isdecimal() and 0 < len(page) < 7 and int(page) else 1


def trials(asked: Filter) -> QuerySet:
    """The rows of the first run that a filter keeps, in order."""
    trials = IndexTrialRow.objects.filter(place=asked.runs[0])
    if asked.fates:
        trials = trials.filter(fate__in=asked.fates)
    for name, value in asked.tags:
        number = IndexTagRow.objects.filter(place=asked.runs[0], name=name, value=value).first()
        trials = trials.none() if number is None else trials.filter(tags__contains=f",{number.number},")
    for name in asked.flags:
        trials = trials.filter(**FLAGS[name][2])
    if asked.label:
        trials = trials.filter(item_id__in=desk().labels().items(asked.runs[0], asked.label))
    if asked.flip:
        trials = trials.filter(Exists(_flips(asked.runs[1], asked.flip)))
    if asked.words:
        same = {"item_id": OuterRef("item_id"), "repeat": OuterRef("repeat")}
        words = IndexWordsRow.objects.filter(place__in=asked.runs, **same)
        trials = trials.filter(Exists(words.filter(words__contains=asked.words.casefold())))
    return trials.order_by(*_order(asked.sort))


def _flips(other: str, flip: Flip) -> QuerySet:
    """The same trials of another run with another score."""
    lost, won = Q(value__lt=OuterRef("value")), Q(value__gt=OuterRef("value"))
    which = {"lost": lost, "won": won}.get(flip, lost | won)
    same = {"place": other, "item_id": OuterRef("item_id"), "repeat": OuterRef("repeat")}
    return IndexTrialRow.objects.filter(which, **same)


def _order(sort: Sort) -> tuple[object, ...]:
    if sort == "order":
        return ("position", "repeat")
    column = F(_COLUMNS[sort.removeprefix("-")])
    first = column.desc(nulls_last=True) if sort.startswith("-") else column.asc(nulls_last=True)
    return (first, "position", "repeat")


def beside(asked: Filter, rows: Sequence[IndexTrialRow]) -> dict[tuple[str, str, int], IndexTrialRow]:
    """The rows of the other runs for the same questions and repeats, by run, question and repeat."""
    if len(asked.runs) == 1 or not rows:
        return {}
    result = IndexTrialRow.objects.filter(place__in=asked.runs[1:], item_id__in=[r.item_id for r in rows])
    return {(row.place, row.item_id, row.repeat): row for row in result}


def fates_of(places: Sequence[str]) -> dict[str, dict[str, int]]:
    """How many trials of each run have each fate."""
    counted = IndexTrialRow.objects.filter(place__in=places).values("place", "fate").annotate(n=Count("id"))
    fates: dict[str, dict[str, int]] = {place: {} for place in places}
    for row in counted.order_by():
        fates[row["place"]][row["fate"]] = row["n"]
    return fates


def fate_links(place: str, fates: Mapping[str, int]) -> tuple[Link, ...]:
    """How many trials of a run have each fate, with the lists of them."""
    return tuple(
        Link(
            words=f"{fates[fate]} {words}",
            address=f"/items?{urlencode({'run': place, 'fate': fate})}",
            style=f"fate {fate}",
        )
        for fate, words in FATES.items()
        if fate in fates
    )


def tags_of(place: str) -> dict[str, list[tuple[str, int]]]:
    """The values of each tag with how many questions have them; tags with very many are left out."""
    tags: dict[str, list[tuple[str, int]]] = {}
    counts = IndexTagRow.objects.filter(place=place).values("name").annotate(n=Count("id"))
    few = [row["name"] for row in counts.order_by() if 1 < row["n"] <= MOST_TAG_VALUES]
    for tag in IndexTagRow.objects.filter(place=place, name__in=few).order_by("number"):
        tags.setdefault(tag.name, []).append((tag.value, tag.n_items))
    return {name: sorted(values) for name, values in tags.items()}
