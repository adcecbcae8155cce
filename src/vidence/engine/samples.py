"""Which of a benchmark's questions a plan draws, and how likely each was to be drawn."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from vidence.engine.plan import UNTAGGED, Plan, Stratum
from vidence.errors import UsageError
from vidence.records import Item

Drawn: TypeAlias = tuple[Sequence[Item], list[str]]
"""The questions in the order of the release, and what to say of them."""


def drawn(items: Sequence[Item], plan: Plan) -> Drawn:
    """The questions that `limit` and the samples of a plan leave.

    Raises:
        UsageError: no question has the tag of a stratified sample, or one lacks it and is to be refused.
    """
    if plan.limit is not None:
        return items[: plan.limit], []
    if plan.sample_videos is not None:
        return _videos(items, plan.sample_videos, seed=plan.seed)
    if plan.stratum is not None:
        tag, n = plan.stratum
        return _each(_Strata.of(items, tag, plan), n, seed=plan.seed)
    if plan.sample is not None and plan.strata is not None:
        return _proportional(_Strata.of(items, plan.strata, plan), plan.sample, seed=plan.seed)
    if plan.sample is not None and plan.sample < len(items):
        places = np.random.default_rng(plan.seed).choice(len(items), plan.sample, replace=False)
        return [items[place] for place in np.sort(places)], []
    return items, []


def strata_met(items: Sequence[Item], asked: Sequence[Item], plan: Plan) -> tuple[Stratum, ...]:
    """The strata of a stratified sample, with how many questions each has and how many of them are asked.

    Args:
        items: the questions that could be drawn.
        asked: those of them that are asked.
        plan: what was drawn.
    """
    tag = plan.stratum[0] if plan.stratum else plan.strata
    if tag is None:
        return ()
    has_untagged = plan.strata_missing == "keep"
    n_asked = {value: len(places) for value, places in strata(asked, tag, has_untagged=has_untagged).items()}
    return tuple(
        Stratum(tag=tag, value=value, n=len(places), n_sampled=n_asked.get(value, 0))
        for value, places in sorted(strata(items, tag, has_untagged=has_untagged).items())
    )


def strata(items: Sequence[Item], tag: str, *, has_untagged: bool = False) -> dict[str, list[int]]:
    """The places of the questions with each value of a tag.

    Questions without it are in none, or with `has_untagged` in one of their own.
    """
    found: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        if has_untagged or tag in item.tags:
            found.setdefault(item.tags.get(tag, UNTAGGED), []).append(place)
    return found


@dataclass(frozen=True, kw_only=True)
class _Strata:
    """The questions of a stratified sample, and the places of those in each stratum."""

    items: Sequence[Item]
    tag: str
    places: dict[str, list[int]]

    @classmethod
    def of(cls, items: Sequence[Item], tag: str, plan: Plan) -> "_Strata":
        """The strata of a plan.

        Raises:
            UsageError: no question has the tag, or some lack it and are to be refused.
        """
        tagged = strata(items, tag)
        if not tagged:
            raise no_such_tag(tag, items)
        n_without = len(items) - sum(map(len, tagged.values()))
        if n_without and plan.strata_missing == "refuse":
            raise UsageError(
                f"{n_without:,} of {len(items):,} questions lack the tag {tag!r} of the sample; say "
                "--set strata_missing=keep to draw them as a stratum of their own, or leave-out to sample "
                "the others"
            )
        is_kept = plan.strata_missing == "keep"
        return cls(items=items, tag=tag, places=strata(items, tag, has_untagged=is_kept))

    @property
    def sizes(self) -> dict[str, int]:
        """How many questions each has."""
        return {value: len(places) for value, places in self.places.items()}


def no_such_tag(tag: str, items: Sequence[Item]) -> UsageError:
    """What is said of a tag that no question has."""
    tags = sorted({t for i in items for t in i.tags})
    return UsageError(f"no question has the tag {tag!r}; tags are: {', '.join(tags) or 'none'}")


def shared_out(sizes: Mapping[str, int], n: int) -> dict[str, int]:
    """So many in all, by size; what is left of the whole numbers goes to the largest remainders.

    Of equal remainders the first name gets it. All are taken where there are no more than `n`.

    >>> shared_out({"a": 50, "b": 30, "c": 20}, 7)
    {'a': 4, 'b': 2, 'c': 1}
    """
    total = sum(sizes.values())
    if n >= total:
        return dict(sizes)
    shares = {name: divmod(n * size, total) for name, size in sizes.items()}
    left = n - sum(whole for whole, _ in shares.values())
    by_remainder = sorted(shares, key=lambda name: (-shares[name][1], name))
    return {name: whole + (name in by_remainder[:left]) for name, (whole, _) in shares.items()}


def _each(among: _Strata, n: int, *, seed: int) -> Drawn:
    """N questions with each value of a tag."""
    kept, counts = _taken(among, {value: min(n, size) for value, size in among.sizes.items()}, seed=seed)
    return kept, [
        f"sampled by {among.tag}, {n} questions with each value or all that there are ({counts}): a mean "
        "over questions is that of this sample, where values weigh otherwise than in the set; the table of "
        "the sample has the weighted mean"
    ]


def _proportional(among: _Strata, n: int, *, seed: int) -> Drawn:
    """N questions, of each value of a tag as many as its share of the set."""
    kept, counts = _taken(among, shared_out(among.sizes, n), seed=seed)
    return kept, [f"sampled by {among.tag}, of each value its share of {len(kept)} questions ({counts})"]


def _taken(among: _Strata, wanted: Mapping[str, int], *, seed: int) -> tuple[Sequence[Item], str]:
    """So many questions with each value, and the counts; one value's do not depend on the others."""
    found, tag = among.places, among.tag
    kept: list[int] = []
    for value, n in wanted.items():
        rng = np.random.default_rng(list(hashlib.sha256(f"{seed}/{tag}/{value}".encode()).digest()))
        kept += rng.choice(found[value], n, replace=False).tolist()
    counts = "; ".join(f"{value}: {wanted[value]} of {len(found[value])}" for value in sorted(wanted))
    without = len(among.items) - sum(map(len, found.values()))
    return [among.items[place] for place in sorted(kept)], counts + (
        f"; none of {without} without the tag" if without else ""
    )


def _videos(items: Sequence[Item], n: int, *, seed: int) -> Drawn:
    """All questions of N videos."""
    videos = list(dict.fromkeys(item.video_id for item in items))
    if n >= len(videos):
        return items, []
    places = np.random.default_rng(seed).choice(len(videos), n, replace=False)
    chosen = {videos[place] for place in places}
    kept = [item for item in items if item.video_id in chosen]
    return kept, [f"sampled {n} of {len(videos):,} videos, with all their {len(kept):,} questions"]
