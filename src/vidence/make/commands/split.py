"""Cut a set into splits that share no source; what two splits have in common."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vidence.console.files import screen, show, write_said
from vidence.console.options import PATH, json_option
from vidence.engine.plan import PlanOverrides
from vidence.errors import UsageError
from vidence.make.commands.gate import load_items
from vidence.make.commands.items import items_in

if TYPE_CHECKING:
    from vidence.make.gates.splits import Shared, Split
    from vidence.records import Item
    from vidence.tables.table import Measure, Table

SECTION = "Make"

SHARES_SOMETHING = 3  # two splits have in common what they should not
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_MOST_LISTED = 20


@click.command()
@click.argument("whats", metavar="ITEMS [OTHER]", nargs=-1, required=True)
@click.option(
    "--shares", metavar="NAME=SHARE,…", help="The splits and how much of the questions each has, 1 together."
)
@click.option("--stratify", default="", metavar="TAG,…", help="Spread the values of these tags evenly.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the order of sources.")
@click.option("--check", is_flag=True, help="Say what the sets ITEMS and OTHER have in common.")
@click.option("--data", type=PATH, help="A benchmark's questions, for a name of one.")
@click.option("--part", metavar="SPLIT", help="The part of the benchmark.")
@click.option("--media", type=PATH, help="The folder in which the media lie.")
@click.option("--hash/--no-hash", "hashed", default=True, help="Tell files apart by their bytes, too.")
@click.option("--near", type=click.FloatRange(0.5, 1), default=0.8, show_default=True, help="Near questions.")
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), help="Folder of one file for each split."
)
@json_option
def split(
    *,
    whats: tuple[str, ...],
    shares: str | None,
    stratify: str,
    seed: int,
    check: bool,
    data: Path | None,
    part: str | None,
    media: Path | None,
    hashed: bool,
    near: float,
    out: Path | None,
    json_path: Path | None,
) -> int:
    """Cut the questions of ITEMS into splits that share no source, or compare two splits with --check.

    Questions are of one source that share a source_id, a path, or the bytes of a file, directly or through
    others. With --check the exit code is 3 where the two sets share something.
    """
    shown = screen(json_path)
    overrides: PlanOverrides = {"split": part, "media": str(media) if media else None}
    if check:
        if len(whats) != _PAIR or shares is not None:
            raise UsageError("--check takes two files and no --shares: vidence split --check A B")
        tables, sentences, code = _compare(whats, overrides, hashed=hashed, near=near)
    else:
        if len(whats) != 1 or shares is None:
            raise UsageError("expected one file and --shares, such as --shares validation=0.333,test=0.667")
        tables, sentences = _cut(
            whats[0],
            (data, overrides),
            shares=shares_of(shares),
            stratify=[tag.strip() for tag in stratify.split(",") if tag.strip()],
            seed=seed,
            hashed=hashed,
            out=out,
        )
        code = 0
    write_said(json_path, "split", sentences=sentences, tables=tables)
    show(shown, sentences, tables)
    return code


_PAIR = 2


def shares_of(text: str) -> dict[str, float]:
    """The splits and their shares, as a user writes them.

    Raises:
        UsageError: a name or a share is none, or a name comes twice.
    """
    found: dict[str, float] = {}
    for part in text.split(","):
        name, _, share = (piece.strip() for piece in part.partition("="))
        try:
            value = float(share)
        except ValueError:
            value = 0.0
        if not _NAME.fullmatch(name) or name in found or value <= 0:
            raise UsageError(f"--shares {text!r}; expected names and shares: validation=0.333,test=0.667")
        found[name] = value
    return found


def _cut(
    what: str,
    source: tuple[Path | None, PlanOverrides],
    *,
    shares: Mapping[str, float],
    stratify: Sequence[str],
    seed: int,
    hashed: bool,
    out: Path | None,
) -> "tuple[list[Table], list[str]]":
    import msgspec

    from vidence.make.gates.splits import hashes_of, split_items

    loaded, items = load_items(what, source[0], overrides=source[1])
    hashes = hashes_of(items, loaded.media_root) if hashed else {}
    found = split_items(items, shares, hashes=hashes, stratify=stratify, seed=seed)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for name, mine in found.parts.items():
            tagged = [msgspec.structs.replace(one, tags=one.tags | {"split": name}) for one in mine]
            items_in(tagged, out / f"{name}.jsonl", media_root=loaded.media_root)
    sentences = [
        f"{len(items):,} questions of {found.n_sources:,} sources, the largest with {found.largest_source:,}"
        "; no two splits share a source."
    ]
    return [_parts_table(found, stratify, n=len(items))], sentences


def _parts_table(found: "Split", stratify: Sequence[str], *, n: int) -> "Table":
    from vidence.tables.table import count, lines, share, tabulate

    strata = sorted({_stratum(item, stratify) for mine in found.parts.values() for item in mine})
    counts = {name: Counter(_stratum(item, stratify) for item in mine) for name, mine in found.parts.items()}
    measures: list[Measure[str]] = [
        count("n", lambda name: len(found.parts[name]), "questions"),
        share("share", lambda name: len(found.parts[name]) / n),
        count("sources", lambda name: len({one.source_id for one in found.parts[name]})),
    ]
    if stratify:
        measures += [_stratum_count(stratum, counts) for stratum in strata]
    return tabulate(
        "splits",
        "Splits by source",
        label="split",
        rows=lines((name, name) for name in found.parts),
        measures=measures,
    )


def _stratum_count(stratum: str, counts: Mapping[str, Counter[str]]) -> "Measure[str]":
    from vidence.tables.table import count

    return count(stratum, lambda name: counts[name][stratum])


def _stratum(item: "Item", stratify: Sequence[str]) -> str:
    return ", ".join(item.tags.get(tag, "none") for tag in stratify)


def _compare(
    whats: Sequence[str], overrides: PlanOverrides, *, hashed: bool, near: float
) -> "tuple[list[Table], list[str], int]":
    from vidence.make.gates.splits import hashes_of, near_images, shared_between

    (one, ours), (other, theirs) = (load_items(what, None, overrides=overrides) for what in whats)
    hashes: dict[str, str] = {}
    if hashed:
        hashes = hashes_of(ours, one.media_root) | hashes_of(theirs, other.media_root)
    shared = shared_between(ours, theirs, hashes=hashes, near=near)
    shared = (*shared, *near_images(ours, theirs, roots=(one.media_root, other.media_root)))
    kinds = Counter(found.kind for found in shared)
    said = ", ".join(f"{n:,} {kind}" for kind, n in kinds.items())
    sentences = [
        f"{whats[0]} and {whats[1]} share {said}." if said else "The two share nothing that was found."
    ]
    return ([_shared_table(shared)] if shared else []), sentences, SHARES_SOMETHING if shared else 0


def _shared_table(shared: "Sequence[Shared]") -> "Table":
    from vidence.tables.table import RowSpec, count, number, tabulate

    return tabulate(
        "shared",
        "What both have",
        label="what",
        rows=[RowSpec(f"{one.kind} {one.what}", one.what, one) for one in shared[:_MOST_LISTED]],
        measures=[
            number("kind", lambda one: one.kind, kind="text"),
            count("first", lambda one: len(one.first), "questions of the first"),
            count("second", lambda one: len(one.second), "of the second"),
            number("example", lambda one: f"{one.first[0]}, {one.second[0]}", kind="text"),
        ],
        notes=[f"The first {_MOST_LISTED} of {len(shared):,}." if len(shared) > _MOST_LISTED else ""],
    )
