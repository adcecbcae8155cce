"""What composed questions cost: search with its proofs, and the same proven again from a file.

``python bench/compose.py`` prints the rows of it alone, with `--scenes` and `--each` those of fewer.
"""

import argparse
import os
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from harness import Bench, Row, below

T = TypeVar("T")

N_SCENES, N_ENTITIES, N_EACH = 10, 200, 500
"""Scenes, entities of each, and compositions of each logic in each scene: 10,000 in all."""


def drawn_scene(seed: int):
    """200 entities with 60 predicates (seven attributes of eight values, one of four), relations, times."""
    from vidence.make.sources.scene import AttributeFact, Entity, Header, RelationFact, Scene
    from vidence.make.sources.vocabulary import Attribute, Category, Relation, Vocabulary

    rng = Random(seed)
    attributes = {
        f"a{i}": Attribute(of=("thing",), values=tuple(f"v{n}" for n in range(8))) for i in range(7)
    }
    attributes["b"] = Attribute(of=("thing",), values=("p", "q", "r", "s"))
    words = Vocabulary(
        categories={"thing": Category()}, attributes=attributes, relations={"near": Relation(symmetric=True)}
    )
    names = [f"t{n}" for n in range(N_ENTITIES)]
    starts = {name: round(rng.uniform(0, 3000), 1) for name in names}
    entities = {n: Entity(entity=n, category="thing", spans=((at, at + 20),)) for n, at in starts.items()}
    facts = [
        AttributeFact(of=name, name=a, value=rng.choice(one.values))
        for name in names
        for a, one in attributes.items()
    ]
    pairs = [(one, other) for one in names for other in rng.sample(names, 3) if one != other]
    return Scene(
        header=Header(scene=f"s{seed}", vocabulary="v"),
        vocabulary=words,
        entities=entities,
        facts=(*facts, *(RelationFact(name="near", of=one, to=other) for one, other in pairs)),
        complete=frozenset([("thing", ""), ("near", "")]),
    )


def searched(scenes, logic: str, n: int) -> Iterator[object]:
    """What the search finds of one logic."""
    from vidence.make.compose.quotas import Quota, Strength, fill
    from vidence.make.compose.scene_bits import SceneBits

    most = 5 if logic == "conjunctive" else 7
    quota = Quota(
        per_video=n, types=("attribute",), logic=(logic,), conditions=(2, most), facts=0, negations=False
    )
    fields = {scene.header.scene: SceneBits(scene) for scene in scenes}
    yield from fill(fields, quota, Strength(), seed=0).composed


@dataclass(frozen=True)
class Timed:
    """The seconds that something took: of processors, with those of worker processes; and by the clock."""

    cpu_s: float
    wall_s: float

    def __str__(self) -> str:
        return f"{self.cpu_s:.1f} CPU-s, {self.wall_s:.1f} s"


def timed(work: Callable[[], T]) -> tuple[T, Timed]:
    """What some work gives, and what it took."""

    def cpu_s() -> float:
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(one.ru_utime + one.ru_stime for one in used)

    cpu, wall = cpu_s(), time.perf_counter()
    made = work()
    return made, Timed(cpu_s() - cpu, time.perf_counter() - wall)


def composing(bench: Bench) -> list[Row]:
    """Search and verifier over the same compositions."""
    return measured(N_SCENES, N_EACH)


def measured(n_scenes: int, n_each: int) -> list[Row]:
    """The rows for so many scenes and compositions of each logic in each of them; targets are for all."""
    from vidence.make.compose import quotas, scene_bits  # noqa: F401 - so that no measure has the import
    from vidence.make.compose.prove import Rules, prove_all

    scenes = {f"s{seed}": drawn_scene(seed) for seed in range(n_scenes)}
    some = list(scenes.values())
    conjunctions, alone = timed(lambda: list(searched(some, "conjunctive", n_each)))
    chains, together = timed(lambda: list(searched(some, "sequential", n_each)))
    asked = [(one.composition, 0) for one in (*conjunctions, *chains)]
    search = Timed(alone.cpu_s + together.cpu_s, alone.wall_s + together.wall_s)
    _, one = timed(lambda: prove_all(asked, scenes, rules=Rules()))
    load = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    return [
        Row(
            "(composing) compositions, scenes of 200 entities x 60 predicates",
            f"{len(conjunctions):,} conjunctive, {len(chains):,} chains; load of the machine {load}",
        ),
        below("(composing) search, conjunctive alone", alone.cpu_s, 3, "CPU-s"),
        below("(composing) search and proof objects, all", search.cpu_s, 60, "CPU-s"),
        below("(composing) search and proof objects, all: wall", search.wall_s, 30, "s"),
        below("(composing) verifier: wall", one.wall_s, 60, "s"),
        Row("(composing) verifier", str(one)),
        Row("(composing) verifier / search, CPU", f"{one.cpu_s / search.cpu_s:.2f}"),
    ]


ALL = (composing,)

if __name__ == "__main__":
    from run import as_markdown

    parser = argparse.ArgumentParser()
    parser.add_argument("--scenes", type=int, default=N_SCENES)
    parser.add_argument("--each", type=int, default=N_EACH)
    options = parser.parse_args()
    print(as_markdown(measured(options.scenes, options.each)))
