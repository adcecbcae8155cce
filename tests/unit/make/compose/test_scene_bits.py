"""Facts as bit sets: what nobody stated may be so, what is complete is not, what is too near is neither."""

from subjects.composing import WORDS, event_log
from vidence.make.compose.scene_bits import Masks, SceneBits
from vidence.make.sources.scene import AttributeFact, Entity, Header, RelationFact, Scene


def bits(*facts, complete=(), spans=None):
    names = ["t0", "t1", "t2"]
    spans = spans or {name: ((i * 10.0, i * 10 + 5.0),) for i, name in enumerate(names)}
    entities = {n: Entity(entity=n, category="thing", spans=spans.get(n, ())) for n in names}
    known = frozenset((one, "") for one in complete)
    scene = Scene(
        header=Header(scene="s", vocabulary="v"),
        vocabulary=WORDS,
        entities=entities,
        facts=facts,
        complete=known,
    )
    return SceneBits(scene)


def test_what_nobody_stated_may_be_so_unless_it_is_complete():
    told = [AttributeFact(of="t0", name="a", value="1"), AttributeFact(of="t1", name="a", value="2")]
    assert bits(*told).compared("thing", "a", how="==", value="1") == Masks(0b001, 0b101)
    assert bits(*told, complete=["a"]).compared("thing", "a", how="==", value="1") == Masks(0b001, 0b001)
    assert bits(*told).compared("thing", "a", how="!=", value="1") == Masks(0b010, 0b110)
    assert bits(*told).column("thing", "a").doubtful == 0b100


def test_events_are_listed_where_all_kinds_are():
    kinds = ("take", "put", "wash")
    assert SceneBits(event_log(complete=kinds)).lists_all("event")
    assert not SceneBits(event_log(complete=kinds[:2])).lists_all("event")


def test_near_values_and_denied_ones():
    told = [
        AttributeFact(of="t0", name="c", value="grey"),
        AttributeFact(of="t1", name="c", value="red"),
        AttributeFact(of="t2", name="c", value="black", holds=False),
    ]
    assert bits(*told).compared("thing", "c", how="==", value="black") == Masks(0, 0b001)


def test_relations_are_read_both_ways_and_followed():
    told = [RelationFact(name="above", of="t0", to="t1"), RelationFact(name="below", of="t2", to="t1")]
    found = bits(*told)
    assert found.related("thing", "above", "t2") == Masks(0b011, 0b011)
    assert found.related("thing", "below", "t0").must == 0b110


def test_times_within_the_margin_are_unknown():
    spans = {"t0": ((0.0, 5.0),), "t1": ((5.3, 9.0),), "t2": ((20.0, 25.0),)}
    found = bits(spans=spans)
    assert found.timed("thing", "after", "t0") == Masks(0b100, 0b110)
    assert found.timed("thing", "appears_after", "t0") == Masks(0b110, 0b110)
    assert found.timed("thing", "during", "t0") == Masks(0, 0b010)
    assert bits(spans={"t0": ((0.0, 5.0),)}).timed("thing", "before", "t0") == Masks(0, 0b110)


def test_order_lists_who_has_no_time():
    found = bits(spans={"t1": ((0.0, 5.0),), "t0": ((7.0, 8.0),)})
    assert found.in_order("thing", by_end=False) == ([(0.0, 1), (7.0, 0)], 0b100)
