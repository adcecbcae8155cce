"""What the search finds in a scene with gaps is true of the world of which the scene tells a part."""

import dataclasses
import random
from collections import Counter

import msgspec

from conftest import IS_THOROUGH
from subjects.composing import event_log, random_scene, searched
from vidence.make.compose.prove import Rules, prove
from vidence.make.compose.world import World
from vidence.make.sources.scene import AttributeFact, RelationFact, Scene
from vidence.make.sources.scene_files import find_contradictions
from vidence.statistics.intervals import proportion

KEPT, WRONG = 0.95, 0.3
# Seeds of scenes and of logs, how many proofs these give at least, and the bound on what is false of them.
SEEDS, LOGS, LEAST, BOUND = (44, 6, 350, 0.011) if IS_THOROUGH else (12, 2, 95, 0.04)


def part_of(world: Scene, rng: random.Random, *, kept: float = KEPT) -> Scene:
    """A scene that lacks some of the attributes and relations; things and events are listed."""
    facts = tuple(
        one for one in world.facts if not isinstance(one, AttributeFact | RelationFact) or rng.random() < kept
    )
    return dataclasses.replace(
        world,
        facts=facts,
        complete=frozenset([("thing", ""), ("event", "")]),
        contradictions=tuple(find_contradictions(facts, world.vocabulary)),
    )


def held_against(world: Scene, scene: Scene, *, seed: int) -> Counter[str]:
    """How many of the compositions that are proven in a scene are so in the world, with the same answer."""
    truth, found = World(world), Counter[str]()
    for made in searched(scene, n=150, seed=seed):
        asked = msgspec.structs.replace(made.composition, scene_sha256="")
        verdict = prove(asked, truth, rules=Rules())
        is_held = verdict.is_proven and verdict.proof.answer.value == made.proof.answer.value
        found["held" if is_held else "false"] += 1
        found[made.shape] += 1
    return found


def test_no_proof_from_a_scene_with_gaps_is_false_in_the_world():
    found = Counter[str]()
    for seed in range(SEEDS):
        world = random_scene(seed, n=16, n_events=12)
        found += held_against(world, part_of(world, random.Random(seed)), seed=seed)
    log = event_log(n=60)
    for seed in range(LOGS):
        found += held_against(log, part_of(log, random.Random(seed)), seed=seed)
    assert found["false"] == 0
    assert found["held"] >= LEAST, found
    assert proportion(found["false"], found["held"]).high < BOUND
    assert {"attribute", "count", "ordered", "next", "tally", "ranked"} <= set(found)


def test_proofs_from_scenes_that_are_wrong_are_found_to_be_false():
    """Else the law above would hold whatever is compared."""
    found = Counter[str]()
    for seed in range(6):
        world = random_scene(seed, n=16, n_events=12)
        rng = random.Random(seed)
        wrong = tuple(
            msgspec.structs.replace(fact, value=rng.choice(world.vocabulary.attributes[fact.name].values))
            if isinstance(fact, AttributeFact) and rng.random() < WRONG
            else fact
            for fact in world.facts
        )
        found += held_against(world, dataclasses.replace(world, facts=wrong), seed=seed)
    assert found["false"] >= 20, found
