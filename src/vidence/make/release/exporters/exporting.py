"""The interface of exporters, and the check that reads their output back."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, Protocol

from vidence.catalog import create, names
from vidence.errors import DataError, UsageError
from vidence.make.pipeline.output import json_file
from vidence.records import Item, by_key

SPLIT, CANARY = "split", "canary"
_MOST_NAMED: Final = 3
_WHOLE: Final = ("question", "choices", "answer", "answer_kind")
_REST: Final = ("source", "evidence", "rationale", "steps", "hints", "knowledge", "provenance", "benchmark")


@dataclass(frozen=True, kw_only=True)
class ExportSet:
    """The questions of a release, each with its split in the tag ``split``.

    `hidden` are the questions of the splits whose answers are hidden, without anything that tells of them:
    their `answer` is empty. `canary` goes into every file; None for a release without one.
    """

    name: str
    open_ones: Sequence[Item]
    hidden: Sequence[Item] = ()
    canary: str | None = None

    @property
    def hidden_splits(self) -> dict[str, list[Item]]:
        """The questions without answers, by split."""
        return by_key((item.tags[SPLIT], item) for item in self.hidden)

    @property
    def marked(self) -> dict[str, str]:
        """Return the canary as a field of a row; empty without a canary."""
        return {} if self.canary is None else {CANARY: self.canary}


class Exporter(Protocol):
    """A release format, found by the name of its file.

    `own_tags` are tags that our loader of the format makes by itself.
    """

    name: str
    about: str
    own_tags: frozenset[str]

    def fault(self, item: Item) -> str:
        """Return why the format cannot express a question; empty if it can."""

    def files(self, exported: ExportSet) -> dict[Path, bytes]:
        """The files of the format by path in the release; deterministic for the same questions."""

    def read(self, folder: Path) -> tuple[Item, ...]:
        """The questions with answers, read from a release by our own loader of the format.

        Raises:
            DataError: they cannot be read.
        """


def exporters(wanted: Sequence[str]) -> tuple[Exporter, ...]:
    """The exporters of these names, each once.

    Raises:
        UnknownNameError: there is none of a name.
        UsageError: none is wanted.
    """
    if not wanted:
        raise UsageError(f"no format given; expected one or more of {', '.join(names('exporter'))}")
    return tuple(create("exporter", name) for name in dict.fromkeys(wanted))


def refuse_misfits(exporter: Exporter, items: Sequence[Item]) -> None:
    """Reject a dataset that a format cannot express completely.

    Raises:
        UsageError: how many questions do not fit, for which reasons; the first of each is named.
    """
    if faults := by_key((fault, item.item_id) for item in items if (fault := exporter.fault(item))):
        listed = "; ".join(
            f"{len(ids):,} ({ids[0]}): {fault}" for fault, ids in list(faults.items())[:_MOST_NAMED]
        )
        n = sum(map(len, faults.values()))
        raise UsageError(
            f"the format {exporter.name} cannot say {n:,} of {len(items):,} questions: {listed}. Leave the "
            "format out, or these questions"
        )


def same_medium(item: Item) -> str:
    """Why a question's media are not a single whole video with a path; empty if they are."""
    if len(item.media) != 1 or item.media[0].kind != "video":
        return "the format has one video for each question"
    if not item.media[0].path:
        return "the format wants the path of the video, and only an address is known"
    if item.media[0].start_s is not None or item.media[0].end_s is not None:
        return "the format knows whole videos, and a span is cut out of this one"
    return ""


def one_list(
    exported: ExportSet, path: Path, row: Callable[[Item, ExportSet], dict[str, object]]
) -> dict[Path, bytes]:
    """The files of a single-list format, and ``questions-SPLIT.json`` for each hidden split."""
    lists = {path: exported.open_ones} if exported.open_ones else {}
    lists |= {path.parent / f"questions-{name}.json": some for name, some in exported.hidden_splits.items()}
    return {name: json_file([row(item, exported) for item in some]) for name, some in lists.items()}


# --------------------------------------------------------------------------- reading back


def read_back(exporter: Exporter, folder: Path, items: Sequence[Item]) -> dict[str, int]:
    """Read an exporter's output back and compare it with the questions.

    Ids, questions, choices, answers, paths of media and all tags that the format has must be the same.

    Args:
        exporter: who wrote it.
        folder: the release.
        items: the questions with answers.

    Returns:
        For each field and tag that the format does not hold, of how many questions it is lost.

    Raises:
        DataError: something else came back; the format is not written.
    """
    if not items:
        return {}
    text = exporter.read(folder)
    came = {item.item_id: item for item in text}
    if [item.item_id for item in text] != list(came) or came.keys() != {i.item_id for i in items}:
        raise DataError(
            f"the format {exporter.name} gives {len(text):,} questions back, and {len(items):,} were written"
        )
    lost = Counter(name for item in items for name in _lost(exporter, item, came[item.item_id]))
    return dict(sorted(lost.items()))


def _lost(exporter: Exporter, item: Item, came: Item) -> list[str]:
    """Return what was lost of a question.

    Raises:
        DataError: something of it is another one.
    """
    wrong = [name for name in _WHOLE if getattr(item, name) != getattr(came, name)]
    wrong += [] if _names(item) == _names(came) else ["media"]
    lost = []
    for tag, value in item.tags.items():
        if came.tags.get(tag) == value:
            continue
        if tag in came.tags and tag not in exporter.own_tags:
            wrong.append(f"tag {tag}")
        lost.append(f"tag {tag}")
    if wrong:
        raise DataError(
            f"the format {exporter.name} does not give {item.item_id!r} back as it was: {', '.join(wrong)} "
            "differ"
        )
    lost += ["media" for _ in (1,) if item.media != came.media]
    return lost + [
        name for name in _REST if getattr(item, name) and getattr(item, name) != getattr(came, name)
    ]


def _names(item: Item) -> list[str]:
    """The names of the files that an item shows; formats start paths from different folders."""
    return [PurePosixPath(medium.path or medium.url or "").name for medium in item.media]
