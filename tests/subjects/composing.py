"""Small scenes, random ones and the street of the worked examples, and compositions that the search finds."""

import random
from itertools import pairwise
from pathlib import Path

from vidence.make.composing.scene_bits import SceneBits
from vidence.make.composing.search import Search, Wanted
from vidence.make.scene_graph.contradictions import find_contradictions
from vidence.make.scene_graph.scene import (
    AttributeFact,
    Complete,
    Entity,
    EventFact,
    Header,
    RelationFact,
    Scene,
)
from vidence.make.scene_graph.scene_files import read_scenes
from vidence.make.scene_graph.vocabulary import Attribute, Category, EventKind, Relation, Vocabulary

GOLDEN = Path(__file__).parents[1] / "golden" / "compose"
WORDS = Vocabulary(
    categories={"thing": Category()},
    attributes={
        "a": Attribute(of=("thing",), values=("0", "1", "2")),
        "b": Attribute(of=("thing",), values=("x", "y", "z")),
        "c": Attribute(of=("thing",), values=("red", "blue", "grey", "black"), near=(("grey", "black"),)),
    },
    relations={"near": Relation(symmetric=True), "above": Relation(inverse="below", transitive=True),
               "below": Relation(inverse="above", transitive=True)},
    events={"jump": EventKind(roles={"who": "thing"}), "fall": EventKind(roles={"who": "thing"}),
            "turn": EventKind(roles={"who": "thing"})},
)  # fmt: skip


def random_scene(seed: int, *, n: int = 8, n_events: int = 6, missing: float = 0.0) -> Scene:
    """Things with values, relations, spans and events, some of which nobody stated."""
    rng = random.Random(seed)
    names, facts, entities = [f"t{i}" for i in range(n)], [], {}
    for name in names:
        start = round(rng.uniform(0, 90), 1)
        entities[name] = Entity(entity=name, category="thing", spans=((start, start + 8),))
        for attribute, known in WORDS.attributes.items():
            if rng.random() >= missing:
                facts.append(AttributeFact(of=name, name=attribute, value=rng.choice(known.values)))
    for one, other in zip(names, names[2:], strict=False):
        facts.append(RelationFact(name="near", of=one, to=other, holds=rng.random() < 0.8))
    for one, other in pairwise(names[:4]):
        facts.append(RelationFact(name="above", of=one, to=other))
    for i in range(n_events):
        at = round(rng.uniform(0, 90), 1)
        kind, who = rng.choice(("jump", "fall", "turn")), rng.choice(names)
        facts.append(EventFact(id=f"e{i}", kind=kind, roles={"who": who}, span=(at, at + 4)))
        entities[f"e{i}"] = Entity(entity=f"e{i}", category="event", spans=((at, at + 4),))
    complete = [Complete(complete=one) for one in ("thing", "event", "near", "above")]
    return Scene(
        header=Header(scene=f"s{seed}", vocabulary="v"),
        vocabulary=WORDS,
        entities=entities,
        facts=tuple(facts),
        complete=frozenset((one.complete, one.for_) for one in complete[: 2 if missing else 4]),
        contradictions=tuple(find_contradictions(facts, WORDS)),
    )


def event_log(*, n: int = 40, complete: tuple[str, ...] = ("event",)) -> Scene:
    """Events with kinds and objects and nobody who does them, as a log of narrations gives."""
    rng = random.Random(5)
    kinds, objects = ("take", "put", "wash"), ("cup", "plate", "pan", "lid", "fork", "knife")
    words = Vocabulary(
        attributes={"object": Attribute(of=("event",), values=objects, answer="object")},
        events={kind: EventKind() for kind in kinds},
    )
    facts, entities = [], {}
    for i in range(n):
        at = 3.0 * i
        facts.append(EventFact(id=f"e{i}", kind=rng.choice(kinds), span=(at, at + 2)))
        facts.append(AttributeFact(of=f"e{i}", name="object", value=rng.choice(objects)))
        entities[f"e{i}"] = Entity(entity=f"e{i}", category="event", spans=((at, at + 2),))
    return Scene(
        header=Header(scene="log", vocabulary="v", truth="log"),
        vocabulary=words,
        entities=entities,
        facts=tuple(facts),
        complete=frozenset((one, "event" if one != "event" else "") for one in complete),
    )


def searched(scene: Scene, *, n: int, seed: int = 0):
    """What comes of so many attempts at drawn cells."""
    search = Search(SceneBits(scene), rng=random.Random(seed))
    drawn = random.Random(seed + 1)
    types = sorted({"attribute", *(one.type for one in search.asked)})
    for number in range(n):
        logic = drawn.choice(("conjunctive", "sequential"))
        wanted = Wanted(drawn.choice(types), logic, drawn.randint(2, 6))
        if (made := search.tried(wanted, number=number)) is not None:
            yield made


def street() -> Scene:
    """The street of the worked examples."""
    return read_scenes(GOLDEN / "lane.jsonl")["lane"]
