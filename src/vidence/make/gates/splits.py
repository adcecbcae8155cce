"""Split a dataset by source; find overlap between splits."""

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from vidence.errors import DataError, MediaError, UsageError, cause
from vidence.make.gates.checks import asked_text
from vidence.media.encode import Size
from vidence.media.files import resolve
from vidence.media.stills import read_image
from vidence.records import Item, Record, by_key
from vidence.statistics.near_duplicates import LEAST, difference_hash, gather, near_pairs

MOST_BITS: Final = 4
_ROUNDING: Final = 1e-6
_THIRDS: Final = 0.005  # 0.33 and 0.67 are meant to be 1


def hashes_of(items: Sequence[Item], media_root: Path) -> dict[str, str]:
    """Return the SHA-256 of local media files by the items' paths.

    A hash that an item states is taken as it is; a folder of images, and what is not here, have none.

    Raises:
        DataError: a file cannot be read, or a medium leads out of its folder.
    """
    hashes: dict[str, str] = {}
    for medium in (media for item in items for media in item.media):
        name = medium.path or medium.url or ""
        if name in hashes:
            continue
        if medium.sha256:
            hashes[name] = medium.sha256.casefold()
            continue
        path = resolve(media_root, medium)
        if path.is_file():
            hashes[name] = sha256_of(path)
    return hashes


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file.

    Raises:
        DataError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({cause(error)})") from error


def sources_of(items: Sequence[Item], hashes: Mapping[str, str]) -> tuple[int, ...]:
    """Return the source of each item as a number: items with a common source, path or file share it.

    Sharing is passed on: where A shares a file with B, and B a source with C, all three are of one source.

    Args:
        items: the questions.
        hashes: the SHA-256 of media files by their names, as far as they are known.
    """
    first: dict[tuple[str, str], int] = {}
    pairs = []
    for i, item in enumerate(items):
        for key in _marks(item, hashes):
            if (other := first.setdefault(key, i)) != i:
                pairs.append((other, i))
    groups = list(range(len(items)))
    for group in gather(pairs):
        for i in group:
            groups[i] = group[0]
    return tuple(groups)


def _marks(item: Item, hashes: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Return the keys that connect an item with others."""
    if item.source:
        yield "source", item.source
    for medium in item.media:
        name = medium.path or medium.url or ""
        yield "path", name
        if digest := (medium.sha256 or "").casefold() or hashes.get(name, ""):
            yield "sha256", digest


# --------------------------------------------------------------------------- a split


@dataclass(frozen=True, kw_only=True)
class Split:
    """The items of each split in original order; `n_sources` counts independent sources."""

    parts: Mapping[str, tuple[Item, ...]]
    n_sources: int
    largest_source: int
    """Number of questions of the largest source."""


def split_items(
    items: Sequence[Item],
    shares: Mapping[str, float],
    *,
    hashes: Mapping[str, str],
    stratify: Sequence[str] = (),
    seed: int = 0,
) -> Split:
    """Split a dataset so that no source is in two splits.

    Sources are dealt out from the largest on, those of one size in an order drawn from the seed; each goes to
    the split that still lacks most of what it holds, by the values of the tags in `stratify` together. Only a
    split that is not full takes another source, so that none is above its share by a whole source.

    Args:
        items: the questions.
        shares: of the splits by their names; together 1.
        hashes: as for `sources_of`.
        stratify: tags.
        seed: of the order.

    Raises:
        UsageError: shares that are not above 0 and 1 together, no items, or a tag that no item has.
    """
    _check_shares(items, shares, stratify)
    groups = sources_of(items, hashes)
    members = by_key((group, i) for i, group in enumerate(groups))
    whole = math.fsum(shares.values())
    shares = {name: share / whole for name, share in shares.items()}
    strata = [tuple(item.tags.get(tag, "") for tag in stratify) for item in items]
    total = Counter(strata)
    lacks = {name: {key: share * n for key, n in total.items()} for name, share in shares.items()}
    left = {name: share * len(items) for name, share in shares.items()}
    drawn = dict(zip(members, np.random.default_rng(seed).permutation(len(members)).tolist(), strict=True))
    chosen: dict[int, str] = {}
    for group, mine in sorted(members.items(), key=lambda values: (-len(values[1]), drawn[values[0]])):
        held = Counter(strata[i] for i in mine)
        open_ones = [name for name in shares if left[name] > _ROUNDING] or [max(left, key=lambda n: left[n])]
        wanted = {name: _gain(held, lacks[name], left[name], total=total) for name in open_ones}
        best = max(open_ones, key=lambda name: wanted[name])
        chosen[group] = best
        left[best] -= len(mine)
        for key, n in held.items():
            lacks[best][key] -= n
    parts = {
        name: tuple(item for item, group in zip(items, groups, strict=True) if chosen[group] == name)
        for name in shares
    }
    return Split(parts=parts, n_sources=len(members), largest_source=max(map(len, members.values())))


def _check_shares(items: Sequence[Item], shares: Mapping[str, float], stratify: Sequence[str]) -> None:
    if not items:
        raise UsageError("there is no question to split")
    is_whole = abs(math.fsum(shares.values()) - 1) <= _THIRDS
    if not shares or min(shares.values()) <= 0 or not is_whole:
        message = ", ".join(f"{name}={share:g}" for name, share in shares.items()) or "none"
        raise UsageError(
            f"shares {message}; expected numbers above 0 that are 1 together: validation=0.4,test=0.6"
        )
    for tag in stratify:
        if not any(tag in item.tags for item in items):
            known = ", ".join(sorted({name for item in items for name in item.tags})) or "none"
            raise UsageError(f"no question has the tag {tag!r}; tags are {known}")


def _gain(
    held: Mapping[tuple[str, ...], int],
    lacks: Mapping[tuple[str, ...], float],
    left: float,
    *,
    total: Mapping[tuple[str, ...], int],
) -> tuple[float, float]:
    """Return how much a source improves the strata of a split, then how empty the split is."""
    nearer = sum((abs(lacks[key]) - abs(lacks[key] - n)) / total[key] for key, n in held.items())
    return round(nearer, 9), round(left, 9)


# --------------------------------------------------------------------------- what splits share


class Shared(Record, omit_defaults=True):
    """Something that two datasets share.

    `kind` is ``source``, ``path``, ``file`` (the same bytes), ``span`` (stretches of one file that overlap),
    ``question`` (the same words), ``near-question``, or ``near-image`` (nearly equal by `difference_hash`).
    `first` and `second` are ids of items.
    """

    kind: str
    what: str
    first: tuple[str, ...]
    second: tuple[str, ...]


def shared_between(
    ones: Sequence[Item], others: Sequence[Item], *, hashes: Mapping[str, str], near: float = LEAST
) -> tuple[Shared, ...]:
    """Return the overlap of two datasets, most severe first.

    Args:
        ones: the questions of one split.
        others: those of the other one.
        hashes: as for `sources_of`.
        near: from which resemblance on two questions are near.
    """
    shareds: list[Shared] = []
    for kind, title in (("source", "source"), ("path", "path"), ("sha256", "file")):
        first, second = _by_mark(ones, hashes, kind), _by_mark(others, hashes, kind)
        shareds += [
            Shared(kind=title, what=name, first=ids, second=second[name])
            for name, ids in first.items()
            if name in second
        ]
    return (*shareds, *_shared_spans(ones, others), *_shared_questions(ones, others, near=near))


def _by_mark(items: Sequence[Item], hashes: Mapping[str, str], kind: str) -> dict[str, tuple[str, ...]]:
    marks = ((what, item.item_id) for item in items for word, what in _marks(item, hashes) if word == kind)
    return {name: tuple(dict.fromkeys(ids)) for name, ids in by_key(marks).items() if name}


def _shared_spans(ones: Sequence[Item], others: Sequence[Item]) -> Iterator[Shared]:
    """Return stretches of a file shown in both datasets; a whole file overlaps with any part."""
    films = ((item.item_id, medium) for item in others for medium in item.media if medium.kind != "image")
    spans = by_key((medium.path or medium.url, (item_id, medium)) for item_id, medium in films)
    met: dict[str, tuple[list[str], list[str]]] = {}
    for item in ones:
        for medium in item.media:
            for other_id, other in spans.get(medium.path or medium.url, ()):
                if medium.start_s is None and other.start_s is None:
                    continue  # the path says it
                start = max(medium.start_s or 0.0, other.start_s or 0.0)
                end = min(medium.end_s or math.inf, other.end_s or math.inf)
                if start < end:
                    name = f"{medium.path or medium.url} {start:g} to {end:g} s"
                    firsts, seconds = met.setdefault(name, ([], []))
                    firsts.append(item.item_id)
                    seconds.append(other_id)
    for name, (firsts, seconds) in met.items():
        unique = tuple(dict.fromkeys(firsts)), tuple(dict.fromkeys(seconds))
        yield Shared(kind="span", what=name, first=unique[0], second=unique[1])


def _shared_questions(ones: Sequence[Item], others: Sequence[Item], *, near: float) -> Iterator[Shared]:
    """Return questions with choices that are nearly the same in both datasets."""
    texts: dict[str, tuple[list[str], list[str]]] = {}
    for side, items in enumerate((ones, others)):
        for item in items:
            texts.setdefault(asked_text(item), ([], []))[side].append(item.item_id)
    names = list(texts)
    for name, (first, second) in texts.items():
        if first and second:
            yield Shared(
                kind="question", what=name.partition("\n")[0], first=tuple(first), second=tuple(second)
            )
    for pair in near_pairs(names, least=near):
        (a, b), (c, d) = texts[names[pair.first]], texts[names[pair.second]]
        what = f"{names[pair.first].partition(chr(10))[0]} ({pair.resemblance:.2f})"
        for first, second in ((a, d), (c, b)):
            if first and second:
                yield Shared(kind="near-question", what=what, first=tuple(first), second=tuple(second))


def near_images(
    ones: Sequence[Item], others: Sequence[Item], *, roots: tuple[Path, Path], most: int = MOST_BITS
) -> tuple[Shared, ...]:
    """Return near-duplicate images at different paths, for people to check.

    Args:
        ones: the questions of one split.
        others: those of the other one.
        roots: the folders that their media start from.
        most: bits of `difference_hash` in which near images differ at most.

    Raises:
        DataError: a medium leads out of its folder.
    """
    first, second = (_looks(items, root) for items, root in zip((ones, others), roots, strict=True))
    images = []
    for name, (look, ids) in first.items():
        for other, (its_look, its_ids) in second.items():
            bits = (look ^ its_look).bit_count()
            if name != other and bits <= most:
                what = f"{name} and {other} ({bits} bits)"
                images.append(Shared(kind="near-image", what=what, first=tuple(ids), second=tuple(its_ids)))
    return tuple(images)


def _looks(items: Sequence[Item], root: Path) -> dict[str, tuple[int, list[str]]]:
    """Return the hash of each readable image, with the items that show it."""
    looks: dict[str, tuple[int, list[str]]] = {}
    for item in items:
        for medium in item.media:
            name = medium.path or medium.url or ""
            if name in looks:
                looks[name][1].append(item.item_id)
            elif medium.kind == "image":
                try:
                    look = difference_hash(read_image(resolve(root, medium), size=Size()))
                except (MediaError, UsageError):
                    continue  # not here, or too small to have a look
                looks[name] = (look, [item.item_id])
    return looks
