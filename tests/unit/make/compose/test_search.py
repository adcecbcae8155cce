"""What the search lists is all that there is, and only that."""

import dataclasses
import random
from collections import Counter

import msgspec
import pytest

from subjects.composing import WORDS, event_log, random_scene, searched, street, wide_scene
from vidence.make.compose import search as search_module
from vidence.make.compose.atoms import Statements, needed
from vidence.make.compose.program import without_atom
from vidence.make.compose.prove import Rules, prove
from vidence.make.compose.scene_bits import SceneBits
from vidence.make.compose.search import QuotaCell, Search
from vidence.make.compose.wording import PlainWords
from vidence.make.compose.world import World
from vidence.make.sources.composition import Select, Variable
from vidence.make.sources.scene import AttributeFact
from vidence.make.sources.vocabulary import Domain


def test_a_link_is_never_taken_out():
    (made, *_) = searched(street(), n=200, shapes=("carried",))
    links = [c for c in made.composition.conditions if c.skill == "correspondence"]
    assert without_atom(made.composition, links[0].id) is None
    other = next(c for c in made.composition.conditions if c.skill == "semantic")
    fewer = without_atom(made.composition, other.id)
    assert [one.id for one in fewer.conditions] == [f"c{i + 1}" for i in range(len(fewer.conditions))]


def test_a_value_is_carried_to_another_attribute_of_its_domain():
    rim = msgspec.structs.replace(WORDS.attributes["c"], domain="colour")
    domains = {"colour": Domain(values=rim.values, near=rim.near)}
    words = msgspec.structs.replace(
        WORDS, domains=domains, attributes={**WORDS.attributes, "c": rim, "d": rim}
    )
    drawn, rng = random_scene(3, n=14), random.Random(3)
    more = tuple(AttributeFact(of=f"t{i}", name="d", value=rng.choice(rim.values)) for i in range(14))
    scene = dataclasses.replace(drawn, vocabulary=words, facts=(*drawn.facts, *more))
    carried = list(searched(scene, n=600, shapes=("carried",)))
    world = World(scene)
    assert all(prove(made.composition, world, rules=Rules()).is_proven for made in carried)
    names = {(made.composition.steps[-3].value.name, _linked(made)) for made in carried}
    assert {("c", "d"), ("d", "c")} & names, names


def _linked(made):
    """The attribute that is compared with what was found before."""
    last = made.composition.steps[-2].value.of
    return next(a.attribute for a in last.atoms if isinstance(getattr(a, "value", None), Variable))


def test_twins_are_never_meant_and_always_counted():
    scene = street()
    assert any("h1, h2" in note for note in scene.notes)
    made = list(searched(scene, n=500))
    assert not any({"h1", "h2"} & set(map(str, one.proof.binding.values())) for one in made)
    assert any(one.shape == "count" for one in made)


def test_what_others_make_needless_is_dropped():
    bits = SceneBits(street())
    statements = Statements(bits, negations=False)
    taken = statements.single("person", 2, random.Random(0), n=3)
    assert needed(taken, bits.everybody["person"], 1 << 2) == list(taken)


def test_a_log_of_events_gives_what_comes_next_and_counts():
    scene = event_log()
    world, shapes, answers = World(scene), Counter(), Counter()
    for made in searched(scene, n=900):
        assert prove(made.composition, world, rules=Rules(), subsets="all").is_proven
        shapes[made.shape] += 1
        answers[made.proof.answer.type, made.shape] += 1
    assert {"count", "next", "ranked", "tally"} <= set(shapes)
    assert min(answers[kind, "next"] for kind in ("action", "object", "event")) >= 3
    assert min(shapes.values()) >= 5, shapes


def test_an_event_is_told_by_the_two_that_it_is_between():
    scene = event_log(n=15)
    world, words = World(scene), PlainWords(scene.vocabulary)
    between = list(searched(scene, n=600, shapes=["between"]))
    assert len(between) > 5
    for composed in between:
        assert prove(composed.composition, world, rules=Rules(), subsets="all").is_proven
        assert words.read(words.write(composed.composition)) == composed.composition.steps


def test_a_shape_that_is_often_drawn_gives_way_to_others():
    search = Search(SceneBits(event_log(n=15)), rng=random.Random(0))
    search.often = frozenset({"next"})
    composed = [search.tried(QuotaCell("object", "sequential", 4), number=n) for n in range(200)]
    assert {one.shape for one in composed if one is not None} == {"between", "ranked"}
    only = Search(SceneBits(event_log(n=15)), rng=random.Random(0), shapes=["next"])
    only.often = frozenset({"next"})
    assert any(only.tried(QuotaCell("object", "sequential", 4), number=n) for n in range(200))


def test_who_is_like_others_is_told_by_coming_first_or_last():
    shapes = Counter(
        one.shape
        for seed in range(6)
        for one in searched(random_scene(seed, n=14), n=200)
        if any(
            isinstance(step.value, Select) and step.variable in ("P", "T") for step in one.composition.steps
        )
        or one.shape == "ranked"
    )
    assert shapes["ranked"] > 0
    assert len(shapes) > 1


def test_every_condition_of_what_is_counted_shuts_out_a_member_alone():
    for seed in range(4):
        search = Search(SceneBits(wide_scene(seed)), rng=random.Random(seed), shapes=["count"])
        made = [search.tried(QuotaCell("attribute", "conjunctive", n % 4 + 2), number=n) for n in range(100)]
        assert any(made)
        assert search.refused["unneeded"] == search.n_left_out == 0


def test_a_shape_that_never_gives_the_size_is_not_drawn_again_and_again(monkeypatch):
    drawn, draw = Counter(), Search._drawn

    def noted(self, shape, wanted):
        drawn[shape] += 1
        return None if shape == "related" else draw(self, shape, wanted)

    monkeypatch.setattr(Search, "_drawn", noted)
    search = Search(SceneBits(wide_scene(0)), rng=random.Random(0), shapes=["related", "ranked"])
    for number in range(300):
        search.tried(QuotaCell("attribute", "sequential", 2, "spatial"), number=number)
    assert drawn["related"] == 100
    assert drawn["ranked"] == 200


def test_what_fills_no_cell_is_not_proved(monkeypatch):
    monkeypatch.setattr(search_module, "find_proof", lambda *_, **__: pytest.fail("proved"))
    search = Search(SceneBits(wide_scene(0)), rng=random.Random(0))
    for number in range(20):
        assert (
            search.tried(QuotaCell("attribute", "conjunctive", 2), number=number, fits=lambda *_: False)
            is None
        )
    assert search.refused["of-another-cell"] > 0


def test_a_cell_without_a_shape_says_so():
    search = Search(SceneBits(random_scene(0)), rng=random.Random(0))
    assert search.tried(QuotaCell("location", "conjunctive", 2), number=1) is None
    assert search.refused == {"no-shape": 1}


def test_a_condition_without_a_witness_is_left_out():
    search, world, made = Search(SceneBits(street()), rng=random.Random(0)), World(street()), []
    for number in range(200):
        before = search.n_left_out
        one = search.tried(QuotaCell("attribute", "sequential", 3 + number % 3), number=number)
        made += [one] if one is not None and search.n_left_out > before else []
    assert made
    assert all(prove(one.composition, world, rules=Rules(), subsets="all").is_proven for one in made)
