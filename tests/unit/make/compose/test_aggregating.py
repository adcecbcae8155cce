"""What members have together, in a small scene whose values are seen at a glance."""

import pytest

from subjects.composing import event_log
from vidence.make.compose.aggregating import Nothing, together
from vidence.make.compose.world import Doubt, World
from vidence.make.sources.composition import Aggregate, Members
from vidence.make.sources.scene import AttributeFact, Entity, Header, Scene
from vidence.make.sources.vocabulary import Attribute, Category, Vocabulary

WORDS = Vocabulary(
    categories={"cup": Category()},
    attributes={
        "size": Attribute(of=("cup",), values=("small", "middling", "large"), ordered=True),
        "n": Attribute(of=("cup",), number=True),
        "colour": Attribute(of=("cup",), values=("red", "blue", "navy"), near=(("blue", "navy"),)),
    },
)
SIZES, NUMBERS = ("small", "large", "large"), (10, 9, 9)
NAMES = ("c0", "c1", "c2")


def world(*, colours=("red", "red", "blue")):
    facts = [
        AttributeFact(of=name, name=attribute, value=value)
        for attribute, values in (("size", SIZES), ("n", NUMBERS), ("colour", colours))
        for name, value in zip(NAMES, values, strict=False)
    ]
    spans = {name: ((10.0 * i, 10.0 * i + 5),) for i, name in enumerate(NAMES)}
    entities = {name: Entity(entity=name, category="cup", spans=span) for name, span in spans.items()}
    return World(Scene(header=Header(scene="s", vocabulary="v"), vocabulary=WORDS, entities=entities,
                       facts=tuple(facts), complete=frozenset([("cup", "")])))  # fmt: skip


def asked(how, attribute="size"):
    return Aggregate(how=how, of=Members(category="cup"), attribute=attribute)


@pytest.mark.parametrize(
    ("how", "attribute", "found"),
    [
        ("mode", "size", "large"),
        ("largest", "size", "large"),
        ("smallest", "size", "small"),
        ("largest", "n", 10),
        ("longest_run", "size", 2),
        ("values", "size", ("large", "small")),
        ("values", "n", (9, 10)),
        ("shared", "size", Nothing("large: no one value size")),
    ],
)
def test_what_three_cups_have(how, attribute, found):
    assert together(asked(how, attribute), NAMES, world()) == found


def test_of_nobody_there_is_nothing():
    assert together(asked("largest"), (), world()) == Nothing("nothing has a size")
    assert together(asked("mode"), (), world()) == Nothing("nothing: no commonest size")
    assert together(asked("values"), (), world()) == ()
    assert together(asked("longest_run"), (), world()) == 0


def test_a_tie_is_named():
    assert together(asked("mode"), NAMES[:2], world()) == Nothing("small and large: no commonest size")


def test_what_is_unknown_or_too_near_stays_in_doubt():
    assert together(asked("mode", "colour"), NAMES, world(colours=("red",))).reason == "unknown-fact"
    near = together(asked("values", "colour"), NAMES, world(colours=("red", "blue", "navy")))
    assert near == Doubt("too-near", "colour: blue and navy")


def test_events_have_values_too():
    log = event_log(n=6)
    names = tuple(f"e{i}" for i in range(6))
    told = {fact.of: fact.value for fact in log.facts if isinstance(fact, AttributeFact)}
    found = together(asked("values", "object"), names, World(log))
    assert found == tuple(sorted(set(told.values())))
