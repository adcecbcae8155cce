"""Many compositions proved, scene by scene, in several processes if they are wanted."""

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeAlias

import msgspec

from vidence.engine.executor import Parallelism
from vidence.engine.side_by_side import side_by_side
from vidence.engine.workers import MOST_BYTES
from vidence.errors import VidenceError
from vidence.make.compose.prove import Rules, prove
from vidence.make.compose.world import World
from vidence.make.sources.composition import Composition
from vidence.make.sources.proof import Verdict
from vidence.make.sources.scene import Scene

Asked: TypeAlias = tuple[Composition, int]
"""A composition, and the line on which it stands in its file."""


def prove_all(
    asked: Sequence[Asked],
    scenes: Mapping[str, Scene],
    *,
    rules: Rules,
    n_workers: int = 1,
    most_bytes: int = MOST_BYTES,
) -> list[Verdict]:
    """What can be said of each composition, in their order; the same however many processes there are.

    What is asked of a scene again and again is kept while its compositions are proved, and only so long. A
    scene is split only where there are fewer scenes than processes.

    Args:
        asked: the compositions.
        scenes: the scenes by name.
        rules: what a proof asks for.
        n_workers: how many processes work; 1: this one.
        most_bytes: how much memory each of them may have.

    Raises:
        UsageError: a composition has too many bindings; the first that has.
    """
    portions = list(_portions(asked, n_workers))
    verdicts: dict[int, Verdict] = {}
    if n_workers < 2 or len(portions) < 2:
        for portion in portions:
            some = [asked[place] for place in portion]
            world = World(scenes[some[0][0].scene])
            verdicts |= zip(portion, _proved(world, some, rules), strict=True)
        return [verdicts[place] for place in range(len(asked))]
    pieces = []
    for portion in portions:
        some = [asked[place] for place in portion]
        away = _Away(scenes[some[0][0].scene], some, rules)
        pieces.append((f"the scene {some[0][0].scene!r}", away.prove))
    errors: dict[int, VidenceError] = {}
    here = Parallelism(n_workers=n_workers, most_bytes=most_bytes)
    for number, made in side_by_side(pieces, here):
        if isinstance(made, VidenceError):
            errors[number] = made
        else:
            decoded = (msgspec.json.decode(one, type=Verdict) for one in made)
            verdicts |= zip(portions[number], decoded, strict=True)
    for number in sorted(errors):
        raise errors[number]
    return [verdicts[place] for place in range(len(asked))]


def _portions(asked: Sequence[Asked], n_workers: int) -> Iterator[list[int]]:
    """The places of compositions that are proved together: those of a scene, or of a part of it."""
    of_scene: dict[str, list[int]] = {}
    for place, (composition, _) in enumerate(asked):
        of_scene.setdefault(composition.scene, []).append(place)
    n_parts = -(-n_workers // max(len(of_scene), 1))
    for places in of_scene.values():
        size = -(-len(places) // n_parts)
        yield from (places[start : start + size] for start in range(0, len(places), size))


def _proved(world: World, some: Sequence[Asked], rules: Rules) -> list[Verdict]:
    with _without_collecting():
        return [prove(composition, world, rules=rules, line=line) for composition, line in some]


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Do not look for cycles of references: a proof makes none, and looking takes a quarter of its time."""
    is_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_on:
            gc.enable()


class _Away:
    """What a process proves of a scene.

    A field is left out of JSON that *is* its default, not one that equals it, and what was pickled is a copy.
    So verdicts travel as JSON.
    """

    def __init__(self, scene: Scene, some: Sequence[Asked], rules: Rules) -> None:
        self._scene, self._some, self._rules = scene, some, rules

    def prove(self) -> list[bytes]:
        """The verdicts as JSON."""
        world = World(self._scene)
        return [msgspec.json.encode(one) for one in _proved(world, self._some, self._rules)]
