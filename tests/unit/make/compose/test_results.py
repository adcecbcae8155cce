"""The search and the verifier say the same of the same programs, without a line of code in common."""

import random
from collections import Counter
from contextlib import suppress
from dataclasses import replace

import msgspec
import pytest

from subjects.composing import GOLDEN, random_scene, searched, street
from vidence.make.compose.composition_files import read_compositions
from vidence.make.compose.finding import CompositionResult, Refused, find_proof
from vidence.make.compose.prove import Rules, prove
from vidence.make.compose.results import Results
from vidence.make.compose.scene_bits import SceneBits
from vidence.make.compose.search import PLAIN
from vidence.make.compose.world import World
from vidence.make.sources.composition import (
    Aggregate,
    AttributeOf,
    Compare,
    Composition,
    Condition,
    Literally,
    Members,
    Select,
    Step,
    The,
    Timed,
    Variable,
)
from vidence.make.sources.contradictions import find_contradictions


def same(composition, scene, *, world=None):
    """Whether both prove a composition, with what they differ in."""
    found = find_proof(composition, SceneBits(scene))
    verdict = prove(composition, world or World(scene), rules=Rules())
    if not isinstance(found, CompositionResult) or not verdict.is_proven:
        return verdict.is_proven, [] if isinstance(found, CompositionResult) == verdict.is_proven else [
            "whether it is proven"
        ]
    return True, [n for n in found.__struct_fields__ if getattr(found, n) != getattr(verdict.proof, n)]


def drawn_program(rng):
    """A program of one or two sets, whether it makes sense or not."""
    values = {"a": "012", "b": "xyz", "c": ("red", "blue", "grey", "black")}
    n = 0

    def name():
        nonlocal n
        n += 1
        return f"c{n}"

    def atoms(count):
        for attribute in rng.sample(sorted(values), count):
            value = Literally(value=rng.choice(values[attribute]))
            yield Compare(attribute=attribute, how=rng.choice(("==", "!=")), value=value, condition=name())

    first = Members(category="thing", atoms=tuple(atoms(rng.randint(1, 3))))
    if rng.random() < 0.2:
        steps = [Step(variable="answer", value=Aggregate(how="count", of=first))]
    else:
        steps = [Step(variable="A", value=The(of=first, pick="A"))]
        if rng.random() < 0.7:
            more = [*atoms(rng.randint(0, 2))]
            if rng.random() < 0.5:
                steps.append(Step(variable="X", value=AttributeOf(of=Variable(name="A"), name="c")))
                more.append(Compare(attribute="c", how="==", value=Variable(name="X"), condition=name()))
            else:
                how = rng.choice(("appears_after", "appears_before", "during", "before", "after"))
                more.append(Timed(how=how, of=Variable(name="A"), condition=name()))
            second = Members(category="thing", atoms=tuple(more))
            picked = The(of=second, pick="B")
            if rng.random() < 0.6:
                by = rng.choice(("appears", "ends"))
                picked = Select(
                    how=rng.choice(("first", "last")), of=second, pick="B", condition=name(), by=by
                )
            steps.append(Step(variable="B", value=picked))
        answer = AttributeOf(of=Variable(name=steps[-1].variable), name=rng.choice("abc"))
        steps.append(Step(variable="answer", value=answer))
    conditions = tuple(Condition(id=f"c{i + 1}", skill="semantic") for i in range(n))
    return Composition(composition="p", scene="s", steps=tuple(steps), conditions=conditions)


@pytest.mark.parametrize("missing", [0.0, 0.08])
def test_random_programs_are_proven_by_both_or_by_none_and_alike(missing):
    rng, n_proven = random.Random(5), 0
    for seed in range(20):
        scene = random_scene(seed, missing=missing)
        world = World(scene)
        for _ in range(60):
            program = drawn_program(rng)
            is_proven, differs = same(program, scene, world=world)
            assert not differs, (seed, program)
            n_proven += is_proven
    assert n_proven > 30


@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_what_the_search_finds_is_proven_alike(missing):
    shapes = Counter()
    for seed in range(8):
        scene = random_scene(seed, n=16, n_events=10, missing=missing)
        world = World(scene)
        for made in searched(scene, n=150, seed=seed):
            verdict = prove(made.composition, world, rules=Rules())
            assert verdict.is_proven, (made.composition, verdict.problems)
            for name in made.found.__struct_fields__:
                assert getattr(made.found, name) == getattr(verdict.proof, name), (name, made.composition)
            shapes[made.shape] += 1
    assert len(shapes) >= 4


def test_the_worked_examples_that_it_knows():
    n_known = 0
    for one, _ in read_compositions(GOLDEN / "examples.txt", {"lane": street()}):
        with suppress(ValueError):
            Results(one, SceneBits(street()))
            n_known += 1
            assert same(one, street())[1] == []
    assert n_known >= 3


def test_a_program_of_another_kind_is_refused_by_name():
    many = Aggregate(how="longest_run", of=Members(category="thing"), attribute="a")
    last = Select(how="nth", n=2, of=Members(category="thing"), pick="A", condition="c1", by="appears")
    timed = Timed(how="within", of=Variable(name="A"), seconds=(3.0,), condition="c1")
    within = The(of=Members(category="thing", atoms=(timed,)), pick="answer")
    for value, says in (
        (many, "a step is of a kind"),
        (last, "a step is of a kind"),
        (within, "not evaluated"),
    ):
        other = Composition(
            composition="p", scene="s", steps=(Step(variable="answer", value=value),), conditions=()
        )
        with pytest.raises(ValueError, match=f"p: .*{says}"):
            Results(other, SceneBits(random_scene(0)))


def test_contradictions_and_doubts_are_never_proven():
    scene = random_scene(3)
    doubled = msgspec.structs.replace(scene.facts[0], value="2" if scene.facts[0].value != "2" else "1")
    facts = (*scene.facts, doubled)
    wrong = replace(scene, facts=facts, contradictions=tuple(find_contradictions(facts, scene.vocabulary)))
    assert wrong.contradictions
    bits = SceneBits(wrong)
    assert bits.told("t0", "a") == ((), True)
    for made in searched(wrong, n=200):
        named = set(map(str, made.found.binding.values()))
        assert not ("t0" in named and made.found.answer.domain == "a")


def test_an_empty_set_is_refused_by_both():
    scene = random_scene(0)
    values = {fact.value for fact in scene.facts if getattr(fact, "name", "") == "a"}
    atoms = [
        Compare(attribute="a", how="==", value=Literally(value=value), condition=f"c{i}")
        for i, value in enumerate(sorted(values)[:2], start=1)
    ]
    nobody = Members(category="thing", atoms=tuple(atoms))
    counted = Step(variable="answer", value=Aggregate(how="count", of=nobody))
    steps = {
        "the": (Step(variable="P", value=The(of=nobody, pick="P")),),
        "first": (
            Step(variable="P", value=Select(how="first", of=nobody, pick="P", condition="c3", by="appears")),
        ),
    }
    read = Step(variable="answer", value=AttributeOf(of=Variable(name="P"), name="b"))
    for name, first in steps.items():
        n = 2 if name == "the" else 3
        conditions = tuple(Condition(id=f"c{i + 1}", skill="semantic") for i in range(n))
        made = Composition(composition=name, scene="s0", steps=(*first, read), conditions=conditions)
        assert find_proof(made, SceneBits(scene)) == Refused(reason="no-single-answer")
        (problem,) = prove(made, World(scene), rules=Rules()).problems
        assert problem.reason == "no-referent"
    conditions = tuple(Condition(id=f"c{i + 1}", skill="semantic") for i in range(2))
    made = Composition(composition="count", scene="s0", steps=(counted,), conditions=conditions)
    assert same(made, scene) == (True, [])  # nobody has both values: 0, and without either there are some


def test_limits_on_guesses_refuse_what_would_be_refused_afterwards():
    scene = random_scene(1, n=16, n_events=10)
    bits, found = SceneBits(scene), list(searched(scene, n=900, shapes=PLAIN))
    guesses = [max(condition.without.guess for condition in one.found.conditions) for one in found]
    priors = [one.found.prior for one in found]
    for name, shares, reason in (
        ("most_guess", guesses, "weak-condition"),
        ("most_prior", priors, "easy-to-guess"),
    ):
        most = sorted(set(shares))[len(set(shares)) // 2 - 1]
        assert min(shares) <= most < max(shares)
        for made, share in zip(found, shares, strict=True):
            again = find_proof(made.composition, bits, **{name: most})
            if share > most:
                assert isinstance(again, Refused)
                assert again.reason == reason
            else:
                assert again == made.found


@pytest.mark.parametrize("unique", ["each step", "jointly", "value"])
def test_what_has_to_be_one_is_the_same_to_both(unique):
    rng, n_proven = random.Random(11), 0
    for seed in range(8):
        scene = random_scene(seed)
        world, bits = World(scene), SceneBits(scene)
        for _ in range(60):
            program = drawn_program(rng)
            found = find_proof(program, bits, unique=unique)
            verdict = prove(program, world, rules=Rules(unique=unique))
            assert isinstance(found, CompositionResult) == verdict.is_proven, (seed, program)
            if isinstance(found, CompositionResult):
                n_proven += 1
                assert not differences(found, verdict.proof)
    assert n_proven > 10


def differences(found, proof):
    """The fields in which two proofs differ, of those that both have."""
    return [name for name in found.__struct_fields__ if getattr(found, name) != getattr(proof, name)]
