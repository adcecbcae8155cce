"""Laws of proofs: gaps never make one, single conditions decide where they should, order says nothing."""

import dataclasses
import random
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from vidence.make.compose.parsing import parse_compositions
from vidence.make.compose.program import read_compositions
from vidence.make.compose.prove import Rules, prove
from vidence.make.compose.types import with_skills
from vidence.make.compose.world import World
from vidence.make.sources.scene import AttributeFact, Entity, Header, RelationFact, Scene
from vidence.make.sources.scene_files import find_contradictions, read_scenes
from vidence.make.sources.vocabulary import Attribute, Category, Relation, Vocabulary

VALUES = {"a": ("0", "1"), "b": ("0", "1", "2"), "c": ("red", "blue", "grey", "black")}
WORDS = Vocabulary(
    categories={"thing": Category()},
    attributes={
        name: Attribute(of=("thing",), values=values, near=(("grey", "black"),) if name == "c" else ())
        for name, values in VALUES.items()
    },
    relations={"near": Relation(symmetric=True)},
)
SINGLE = [
    'the(thing(a == "1", b == "0")).c',
    'T = the(thing(a == "1", b != "0")); T.c',
    'count(thing(a == "1", c == "red"))',
    'T = the(thing(a == "0", b == "1")); v = T.c; count(thing(c == v, a == "1"))',
    'T = the(thing(b == "2", c == "red")); the(thing(near(T), a == "1")).c',
    'T = the(thing(b == "2")); the(thing(not near(T), c in {"red", "blue"})).b',
]
OTHERS = [
    'first(thing(a == "1", b == "0"), "appears").c',
    'T = last(thing(c == "red"), "begins"); the(thing(a == T.a, b == "1", appears_after(T))).c',
    'v = mode(thing(a == "1"), "c"); count(thing(c == v, b == "0"))',
    'shared(thing(a == "1", b == "0"), "c")',
    'longest_run(thing(a == "1", b != "2"), "c")',
]
NAMES = [f"t{n}" for n in range(5)]


@st.composite
def scenes(draw, *, may_miss: bool):
    facts, starts = [], draw(st.permutations([0.0, 0.3, 5.0, 10.0, 15.0]))
    for name in NAMES:
        for attribute, values in VALUES.items():
            value = draw(st.sampled_from(values))
            facts.append(AttributeFact(of=name, name=attribute, value=value))
    for position, one in enumerate(NAMES):
        for other in NAMES[position + 1 :]:
            facts.append(RelationFact(name="near", of=one, to=other, holds=draw(st.booleans())))
    missing = draw(st.sets(st.integers(0, len(facts) - 1), max_size=5)) if may_miss else set()
    entities = {
        n: Entity(entity=n, category="thing", spans=((s, s + 8),)) for n, s in zip(NAMES, starts, strict=True)
    }
    return entities, facts, missing


def scene(entities, facts):
    return Scene(
        header=Header(scene="s", vocabulary="v"),
        vocabulary=WORDS,
        entities=entities,
        facts=tuple(facts),
        complete=frozenset([("thing", "")]),
        contradictions=tuple(find_contradictions(facts, WORDS)),
    )


def said(text, found, **more):
    (written,) = parse_compositions(text, source="x")
    return prove(with_skills(written, WORDS), World(found), rules=Rules(), **more)


def otherwise(fact, draw):
    if isinstance(fact, RelationFact):
        return msgspec.structs.replace(fact, holds=draw(st.booleans()))
    return msgspec.structs.replace(fact, value=draw(st.sampled_from(VALUES[fact.name])))


@given(scenes(may_miss=True), st.sampled_from(SINGLE + OTHERS), st.data())
def test_to_complete_what_is_unknown_never_undoes_a_proof(drawn, text, data):
    entities, facts, missing = drawn
    known = [fact for position, fact in enumerate(facts) if position not in missing]
    before = said(text, scene(entities, known))
    if not before.is_proven:
        return
    completed = [otherwise(fact, data.draw) if at in missing else fact for at, fact in enumerate(facts)]
    after = said(text, scene(entities, completed))
    assert after.is_proven, after.problems
    assert after.proof.answer == before.proof.answer


@given(scenes(may_miss=False), st.sampled_from(SINGLE))
def test_single_conditions_decide_where_steps_only_add_bindings(drawn, text):
    entities, facts, _ = drawn
    found = scene(entities, facts)
    one, every = said(text, found), said(text, found, subsets="all")
    if one.proof is not None:
        assert one.proof.subsets.mode == "singles"
    near = any(problem.reason == "too-near" for problem in [*one.problems, *every.problems])
    assert near or [p.name for p in one.problems] == [p.name for p in every.problems]


@given(scenes(may_miss=True), st.sampled_from(SINGLE + OTHERS), st.randoms(use_true_random=False))
def test_the_order_of_facts_says_nothing(drawn, text, random):
    entities, facts, missing = drawn
    known = [fact for position, fact in enumerate(facts) if position not in missing]
    mixed = random.sample(known, len(known))
    turned = dict(random.sample(list(entities.items()), len(entities)))
    assert said(text, scene(entities, known)) == said(text, scene(turned, mixed))


def test_gaps_in_the_street_never_make_a_proof_that_completion_undoes():
    golden = Path(__file__).parents[1] / "golden" / "compose"
    street = read_scenes(golden / "lane.jsonl")["lane"]
    programs = [one for one, _ in read_compositions(golden / "examples.txt", {"lane": street})]
    values, rng, n_proven = street.vocabulary.attributes, random.Random(19), 0
    places = [at for at, fact in enumerate(street.facts) if isinstance(fact, AttributeFact)]
    for _ in range(25):
        missing = set(rng.sample(places, 6))
        known = tuple(fact for at, fact in enumerate(street.facts) if at not in missing)
        facts = []
        for at, fact in enumerate(street.facts):
            listed = values[fact.name].values if at in missing else ()
            facts.append(msgspec.structs.replace(fact, value=rng.choice(listed)) if listed else fact)
        before, after = (World(dataclasses.replace(street, facts=told)) for told in (known, tuple(facts)))
        for program in programs:
            if prove(program, before, rules=Rules()).is_proven:
                n_proven += 1
                assert prove(program, after, rules=Rules()).is_proven
    assert n_proven > 50  # else the law says nothing
