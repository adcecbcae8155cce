"""Facts that exclude each other, and entities that nothing tells apart."""

from vidence.make.sources.scene import AttributeFact, Entity, PlaceFact, RelationFact
from vidence.make.sources.scene_files import find_contradictions, find_twins
from vidence.make.sources.vocabulary import Relation, Vocabulary

WORDS = Vocabulary(
    relations={
        "before": Relation(transitive=True, inverse="behind"),
        "behind": Relation(transitive=True, inverse="before"),
    }
)


def about(*facts):
    return [one.about for one in find_contradictions(facts, WORDS)]


def top(value, **more):
    return AttributeFact(of="p", name="top", value=value, **more)


def test_two_values_at_one_time():
    assert about(top("red"), top("blue")) == [("attribute", "p", "top")]
    assert about(top("red", span=(0, 5)), top("blue", span=(5, 9))) == []
    assert about(top("red", span=(0, 6)), top("blue", span=(5, 9))) == [("attribute", "p", "top")]
    assert about(top("red"), top("red", id="f2")) == []


def test_held_and_denied():
    assert about(top("red"), top("red", holds=False)) == [("attribute", "p", "top")]
    assert about(top("red"), top("blue", holds=False)) == []
    assert about(top("red", holds=False), top("blue", holds=False)) == []
    one = RelationFact(name="before", of="a", to="b")
    assert about(one, RelationFact(name="before", of="a", to="b", holds=False)) == [
        ("relation", "a", "before", "b")
    ]


def test_a_cycle_of_an_order_leaves_out_all_of_it():
    facts = [
        RelationFact(name="before", of="a", to="b"),
        RelationFact(name="behind", of="c", to="b"),
        RelationFact(name="before", of="c", to="a"),
        RelationFact(name="before", of="c", to="d"),
    ]
    assert sorted(about(*facts)) == [
        ("relation", "a", "before", "b"),
        ("relation", "c", "before", "a"),
        ("relation", "c", "behind", "b"),
    ]
    assert about(*facts[:2]) == []


def test_both_sources_and_spans_are_shown():
    (one,) = find_contradictions([top("red", by="person:1", span=(0, 6)), top("blue", by="log")], WORDS)
    assert all(word in one.says for word in ("red", "blue", "person:1", "log", "[0,6]"))


def test_two_places():
    assert about(PlaceFact(of="p", at=(0, 1)), PlaceFact(of="p", at=(0, 2))) == [("place", "p")]


def test_twins():
    entities = {name: Entity(entity=name, category="person") for name in ("p1", "p2", "p3")}
    facts = [AttributeFact(of=name, name="top", value="red") for name in ("p1", "p2")]
    assert list(find_twins(entities, facts)) == ["twins: p1, p2 are alike in everything"]
    assert list(find_twins(entities, [*facts, RelationFact(name="before", of="p1", to="p2")])) == []
