"""Split a dataset by source; report overlap between splits."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from vidence.console.files import screen, show, write_said
from vidence.console.flags import FOLDER, JSON, argument, command, flag
from vidence.engine.question_set import LoadedSet, QuestionSet, items_in
from vidence.errors import UsageError
from vidence.media.whole import own_folder
from vidence.records import Record

if TYPE_CHECKING:
    from vidence.make.gates.splits import Shared, Split
    from vidence.records import Item
    from vidence.tables.table import Measure, Table

GROUP = "items"

SHARES_SOMETHING = 3  # two splits have in common what they should not
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_MOST_LISTED = 20


class SplitWanted(Record):
    """The dataset to split, or the two splits to compare."""

    whats: Annotated[tuple[str, ...], argument("ITEMS [OTHER]")]
    shares: Annotated[
        str | None, flag("Splits and their shares of the questions, which sum to 1.", metavar="NAME=SHARE,…")
    ] = None
    stratify: Annotated[str, flag("Balance the values of these tags across splits.", metavar="TAG,…")] = ""
    seed: Annotated[int, flag("Seed of the order of sources.", type=click.IntRange(0))] = 0
    check: Annotated[bool, flag("Report the overlap of ITEMS and OTHER.")] = False
    media: Annotated[str | None, flag("Folder of the media files.", metavar="FOLDER")] = None
    out: Annotated[Path | None, flag("Folder for one file per split.", type=FOLDER)] = None
    json_path: Annotated[Path | None, JSON] = None

    def load(self, what: str) -> LoadedSet:
        """Read the questions of one dataset."""
        return QuestionSet(what=what, media=self.media).load()


@command()
def split(given: SplitWanted) -> int:
    """Split the questions of ITEMS by source, or compare two splits with --check.

    Questions that share a source_id, a path or the bytes of a file, directly or through others, have one
    source. With --check, the exit code is 3 if the two sets overlap.
    """
    result = screen(given.json_path)
    if given.check:
        if len(given.whats) != _PAIR or given.shares is not None:
            raise UsageError("--check takes two files and no --shares: vidence items split --check A B")
        tables, sentences, code = _compare(given)
    else:
        if len(given.whats) != 1 or given.shares is None:
            raise UsageError("expected one file and --shares, such as --shares validation=0.333,test=0.667")
        tables, sentences = _cut(given, _shares_of(given.shares))
        code = 0
    write_said(given.json_path, "split", sentences=sentences, tables=tables)
    show(result, sentences, tables)
    return code


_PAIR = 2


def _shares_of(text: str) -> dict[str, float]:
    """Parse splits and shares.

    Raises:
        UsageError: a name or a share is none, or a name comes twice.
    """
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, _, share = (piece.strip() for piece in part.partition("="))
        try:
            value = float(share)
        except ValueError:
            value = 0.0
        if not _NAME.fullmatch(name) or name in shares or value <= 0:
            raise UsageError(f"--shares {text!r}; expected names and shares: validation=0.333,test=0.667")
        shares[name] = value
    return shares


def _cut(given: SplitWanted, shares: Mapping[str, float]) -> "tuple[list[Table], list[str]]":
    import msgspec

    from vidence.make.gates.splits import hashes_of, split_items

    read = given.load(given.whats[0])
    items, root = read.items, read.loaded.media_root
    stratify = [tag.strip() for tag in given.stratify.split(",") if tag.strip()]
    split = split_items(items, shares, hashes=hashes_of(items, root), stratify=stratify, seed=given.seed)
    if given.out is not None:
        own_folder(given.out, ".vidence-split")
        for name, mine in split.parts.items():
            tagged = [msgspec.structs.replace(item, tags=item.tags | {"split": name}) for item in mine]
            items_in(tagged, given.out / f"{name}.jsonl", media_root=root)
    sentences = [
        f"{len(items):,} questions of {split.n_sources:,} sources, the largest with {split.largest_source:,}"
        "; no two splits share a source."
    ]
    return [_parts_table(split, stratify, n=len(items))], sentences


def _parts_table(split: "Split", stratify: Sequence[str], *, n: int) -> "Table":
    from vidence.tables.table import count, lines, share, tabulate

    strata = sorted({_stratum(item, stratify) for mine in split.parts.values() for item in mine})
    counts = {name: Counter(_stratum(item, stratify) for item in mine) for name, mine in split.parts.items()}
    measures: list[Measure[str]] = [
        count("n", lambda name: len(split.parts[name]), "questions"),
        share("share", lambda name: len(split.parts[name]) / n),
        count("sources", lambda name: len({item.source_id for item in split.parts[name]})),
    ]
    if stratify:
        measures += [_stratum_count(stratum, counts) for stratum in strata]
    return tabulate(
        "splits",
        "Splits by source",
        label="split",
        rows=lines((name, name) for name in split.parts),
        measures=measures,
    )


def _stratum_count(stratum: str, counts: Mapping[str, Counter[str]]) -> "Measure[str]":
    from vidence.tables.table import count

    return count(stratum, lambda name: counts[name][stratum])


def _stratum(item: "Item", stratify: Sequence[str]) -> str:
    return ", ".join(item.tags.get(tag, "none") for tag in stratify)


def _compare(given: SplitWanted) -> "tuple[list[Table], list[str], int]":
    from vidence.make.gates.splits import hashes_of, near_images, shared_between

    ours, theirs = map(given.load, given.whats)
    roots = (ours.loaded.media_root, theirs.loaded.media_root)
    hashes = hashes_of(ours.items, roots[0]) | hashes_of(theirs.items, roots[1])
    shared = shared_between(ours.items, theirs.items, hashes=hashes)
    shared = (*shared, *near_images(ours.items, theirs.items, roots=roots))
    kinds = Counter(result.kind for result in shared)
    message = ", ".join(f"{n:,} {kind}" for kind, n in kinds.items())
    sentences = [
        f"{given.whats[0]} and {given.whats[1]} share {message}."
        if message
        else "The two share nothing that was found."
    ]
    return ([_shared_table(shared)] if shared else []), sentences, SHARES_SOMETHING if shared else 0


def _shared_table(shared: "Sequence[Shared]") -> "Table":
    from vidence.tables.table import RowSpec, count, tabulate, words

    return tabulate(
        "shared",
        "What both have",
        label="what",
        rows=[RowSpec(f"{entry.kind} {entry.what}", entry.what, entry) for entry in shared[:_MOST_LISTED]],
        measures=[
            words("kind", lambda entry: entry.kind),
            count("first", lambda entry: len(entry.first), "questions of the first"),
            count("second", lambda entry: len(entry.second), "of the second"),
            words("example", lambda entry: f"{entry.first[0]}, {entry.second[0]}"),
        ],
        notes=[f"The first {_MOST_LISTED} of {len(shared):,}." if len(shared) > _MOST_LISTED else ""],
    )
