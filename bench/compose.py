"""What composed questions cost: search with proof objects, and the same proven anew by the verifier."""

import random
import time
from collections.abc import Iterator

from harness import Bench, Row, below

N_SCENES, N_ENTITIES, N_EACH = 10, 200, 500
"""Scenes, entities of each, and compositions of each logic in each scene: 10,000 in all."""


def drawn_scene(seed: int):
    """200 entities with 60 predicates (seven attributes of eight values, one of four), relations, times."""
    from vidence.make.scene_graph.scene import AttributeFact, Entity, Header, RelationFact, Scene
    from vidence.make.scene_graph.vocabulary import Attribute, Category, Relation, Vocabulary

    rng = random.Random(seed)
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
    from vidence.make.composing.quotas import Quota, Strength, fill
    from vidence.make.composing.scene_bits import SceneBits
    from vidence.make.composing.search import PLAIN

    most = 5 if logic == "conjunctive" else 7
    quota = Quota(
        per_video=n,
        types=("attribute",),
        logic=(logic,),
        conditions=(2, most),
        facts=0,
        negations=False,
        shapes=PLAIN,
    )
    fields = {scene.header.scene: SceneBits(scene) for scene in scenes}
    yield from fill(fields, quota, Strength(), seed=0).composed


def composing(bench: Bench) -> list[Row]:
    """Search and verifier over the same compositions; CPU seconds of one process, and their ratio."""
    return measured(N_SCENES, N_EACH)


def measured(n_scenes: int, n_each: int) -> list[Row]:
    """The rows for so many scenes and compositions of each logic in each of them."""
    from vidence.make.composed.proofs import proved
    from vidence.make.proving.world import World

    scenes = [drawn_scene(seed) for seed in range(n_scenes)]
    found, taken = [], {}
    for logic in ("conjunctive", "sequential"):
        start = time.process_time()
        made = list(searched(scenes, logic, n_each))
        taken[logic] = time.process_time() - start
        found += made
        taken[f"n {logic}"] = len(made)
    start = time.process_time()
    proved(found, {scene.header.scene: World(scene) for scene in scenes})
    taken["verifier"] = time.process_time() - start
    search = taken["conjunctive"] + taken["sequential"]
    return [
        Row(
            "(composing) compositions",
            f"{taken['n conjunctive']:,} conjunctive, {taken['n sequential']:,} chains",
        ),
        below("(composing) search, conjunctive alone", taken["conjunctive"], 3, "CPU-s"),
        below("(composing) search and proof objects, all", search, 60, "CPU-s"),
        below("(composing) verifier, all fields alike", taken["verifier"], 120, "CPU-s"),
        Row("(composing) verifier / search", f"{taken['verifier'] / search:.2f}"),
    ]


ALL = (composing,)
