"""Small scenes, random ones and the street of the worked examples, and compositions that the search finds."""

import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import msgspec

from vidence.make.compose.scene_bits import SceneBits
from vidence.make.compose.search import ALL_SHAPES, QuotaCell, Search, Shape
from vidence.make.sources.scene import (
    AttributeFact,
    Complete,
    Entity,
    EventFact,
    Header,
    KnownFact,
    PlaceFact,
    RelationFact,
    Scene,
)
from vidence.make.sources.scene_files import find_contradictions, read_scenes
from vidence.make.sources.vocabulary import (
    Attribute,
    Category,
    EventKind,
    Margins,
    Relation,
    Table,
    Vocabulary,
)

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


WIDE = msgspec.structs.replace(
    WORDS,
    attributes={
        **WORDS.attributes,
        "n": Attribute(of=("thing",), number=True),
        "size": Attribute(of=("thing",), values=("small", "middling", "large"), ordered=True),
    },
    known={"origin": Table(values=("north", "south", "east"), answer="location")},
)


def wide_scene(seed: int, *, n: int = 9, missing: float = 0.0) -> Scene:
    """A random scene with numbers, sizes, places on a plan, and a table of what is known of a value."""
    base, rng = random_scene(seed, n=n, missing=missing), random.Random(seed + 1000)
    facts = list(base.facts)
    for name in (f"t{i}" for i in range(n)):
        told = (
            AttributeFact(of=name, name="n", value=rng.randint(1, 6)),
            AttributeFact(of=name, name="size", value=rng.choice(WIDE.attributes["size"].values)),
            PlaceFact(
                of=name,
                at=(rng.randint(0, 12), rng.randint(0, 12)),
                plan=rng.choice("ppppq") if seed % 3 == 0 else "p",
            ),
        )
        facts += [fact for fact in told if rng.random() >= missing]
    facts += [
        KnownFact(table="origin", of=value, value=where)
        for value, where in zip(("red", "blue", "grey"), ("north", "south", "east"), strict=True)
    ]
    if missing:
        facts.append(PlaceFact(of="t0", at=(50, 50), plan="p"))
    return Scene(
        header=base.header,
        vocabulary=WIDE,
        entities=base.entities,
        facts=tuple(facts),
        complete=base.complete,
        contradictions=tuple(find_contradictions(facts, WIDE)),
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


def searched(scene: Scene, *, n: int, seed: int = 0, shapes: Sequence[Shape] = ALL_SHAPES):
    """What comes of so many attempts at drawn cells."""
    search = Search(SceneBits(scene), rng=random.Random(seed), shapes=shapes)
    drawn = random.Random(seed + 1)
    types = {one.type for one in search.asked} | {"attribute"}
    types |= {"relationship"} if search.more.world.places else set()
    types |= {table.answer for table in scene.vocabulary.known.values()}
    for number in range(n):
        logic = drawn.choice(("conjunctive", "sequential"))
        wanted = QuotaCell(drawn.choice(sorted(types)), logic, drawn.randint(2, 6))
        if (made := search.tried(wanted, number=number)) is not None:
            yield made


def yard() -> Scene:
    """A yard on a plan: lamps around two people, apart enough that every direction is told for certain."""
    rng = random.Random(3)
    words = Vocabulary(
        categories={"person": Category(), "lamp": Category()},
        attributes={
            "colour": Attribute(of=("lamp",), values=("red", "blue", "green", "white", "black", "brown")),
            "number": Attribute(of=("lamp",), number=True),
            "base": Attribute(of=("lamp",), values=("round", "square", "long")),
            "top": Attribute(of=("person",), values=("red", "blue", "green", "white")),
        },
        margins=Margins(direction_deg=1, distance=1.01),
    )
    facts, entities = [], {}
    for i, (x, y) in enumerate([(0, 0), (20, 0), (0, 20), (20, 20)]):
        entities[f"p{i}"] = Entity(entity=f"p{i}", category="person", spans=((3.0 * i, 3.0 * i + 2),))
        facts += [
            PlaceFact(of=f"p{i}", at=(x, y)),
            AttributeFact(of=f"p{i}", name="top", value=words.attributes["top"].values[i]),
        ]
    for i in range(6):
        entities[f"l{i}"] = Entity(entity=f"l{i}", category="lamp", spans=((20.0 + i, 30.0 + i),))
        at = (rng.choice((6, 10, 13)), rng.choice((4, 10, 15)))
        colour = words.attributes["colour"].values[i]
        facts += [PlaceFact(of=f"l{i}", at=(at[0] + i / 7, at[1] + i / 5)),
                  AttributeFact(of=f"l{i}", name="colour", value=colour),
                  AttributeFact(of=f"l{i}", name="base", value=("round", "square", "long")[i % 3]),
                  AttributeFact(of=f"l{i}", name="number", value=i + 1)]  # fmt: skip
    return Scene(
        header=Header(scene="yard", vocabulary="v"),
        vocabulary=words,
        entities=entities,
        facts=tuple(facts),
        complete=frozenset([("person", ""), ("lamp", "")]),
        contradictions=(),
    )


def street() -> Scene:
    """The street of the worked examples."""
    return read_scenes(GOLDEN / "lane.jsonl")["lane"]
