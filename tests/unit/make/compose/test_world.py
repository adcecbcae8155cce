"""Statements that are true, false or in doubt."""

import pytest

from vidence.make.compose.world import Doubt, World
from vidence.make.sources.scene import AttributeFact, Entity, Header, PlaceFact, RelationFact, Scene
from vidence.make.sources.vocabulary import Attribute, Category, Relation, Vocabulary

WORDS = Vocabulary(
    categories={"p": Category()},
    attributes={
        "age": Attribute(of=("p",), values=("young", "grown", "old"), ordered=True),
        "top": Attribute(of=("p",), values=("grey", "black", "red"), near=(("grey", "black"),)),
    },
    relations={
        "before": Relation(transitive=True, inverse="behind"),
        "behind": Relation(transitive=True, inverse="before"),
    },
)


def world(*facts, complete=(), **spans):
    entities = {n: Entity(entity=n, category="p", spans=spans.get(n, ((0, 10),))) for n in "abc"}
    return World(
        Scene(
            header=Header(scene="s", vocabulary="v"),
            vocabulary=WORDS,
            entities=entities,
            facts=facts,
            complete=frozenset(complete),
        )
    )


def reason(truth):
    return truth.reason if isinstance(truth, Doubt) else truth


def test_values_are_true_false_unknown_or_too_near():
    found = world(
        AttributeFact(of="a", name="top", value="black"),
        AttributeFact(of="c", name="top", value="red", holds=False),
    )
    said = [reason(found.compare("a", "top", how="==", value=one)) for one in ("black", "red", "grey")]
    assert said == [True, False, "too-near"]
    assert reason(found.compare("b", "top", how="==", value="red")) == "unknown-fact"
    assert reason(found.compare("c", "top", how="==", value="red")) is False
    assert reason(found.compare("c", "top", how="!=", value="red")) is True
    assert reason(found.compare("c", "top", how="==", value="grey")) == "unknown-fact"
    assert reason(world(complete=[("top", "p")]).compare("b", "top", how="==", value="red")) is False


def test_a_value_of_a_part_of_the_time_leaves_the_rest_open():
    part = AttributeFact(of="a", name="top", value="red", span=(0, 5))
    rest = AttributeFact(of="a", name="top", value="black", span=(5, 10))
    assert reason(world(part).compare("a", "top", how="==", value="grey")) == "unknown-fact"
    assert reason(world(part, rest).compare("a", "top", how="==", value="red")) is True
    assert world(part, rest).values("a", "top") == (("red", "black"), None)
    assert world(part, rest).values("a", "top", (1, 2)) == (("red",), None)
    assert world(part, rest).values("a", "top", (5.2, 5.2))[1].reason == "too-near"


def test_ordered_values():
    found = world(AttributeFact(of="a", name="age", value="grown"))
    assert [found.compare("a", "age", how=how, value="grown") for how in ("<", "<=", ">=", ">")] == [
        *(False, True, True, False)
    ]
    assert found.compare("a", "age", how="<", value="old") is True


def test_orders_are_closed_and_exclude_their_reverse():
    found = world(RelationFact(name="before", of="a", to="b"), RelationFact(name="behind", of="c", to="b"))
    assert found.related("a", "before", "c") is True
    assert found.related("c", "behind", "a") is True
    assert found.related("c", "before", "a") is False
    assert found.related("a", "before", "a") is False
    assert reason(world().related("a", "before", "b")) == "unknown-fact"
    assert world(complete=[("behind", "")]).related("a", "before", "b") is False


def test_times_within_the_margin_are_unknown():
    found = world(a=((0, 10),), b=((10.3, 20),), c=((30, 40),))
    assert reason(found.timed("b", "after", of="a", seconds=())) == "too-near"
    assert found.timed("c", "after", of="a", seconds=()) is True
    assert found.timed("a", "before", of="c", seconds=()) is True
    assert found.timed("a", "during", of="c", seconds=()) is False
    assert found.timed("a", "during", of="a", seconds=()) is False
    assert found.timed("c", "within", of="b", seconds=(11.0,)) is True
    assert found.timed("c", "begins_in", of=None, seconds=(0.0, 20.0)) is False


def test_places():
    at = {"a": (0, 0), "b": (10, 0), "c": (0, 11)}
    found = world(*(PlaceFact(of=name, at=place) for name, place in at.items()))
    assert reason(found.nearer("b", "c", "a")) == "too-near"
    assert found.sector("c", "a", 0.0) == "left"
    assert found.sector("c", "a", 180.0) == "right"
    assert reason(found.sector("c", "a", 65.0)) == "too-near"
    assert reason(world().sector("c", "a", 0.0)) == "unknown-fact"
    assert found.bearing("a", "c") == pytest.approx(90)
    assert isinstance(found.heading("a"), Doubt)
