"""What is drawn, how likely, and what becomes of means that are weighted by it."""

from pathlib import Path

import msgspec
import numpy as np

from vidence.engine.plan import Plan
from vidence.engine.prepare import make_plan
from vidence.engine.samples import drawn, strata_met
from vidence.records import Item, Media

SIZES = {"easy": 60, "hard": 25, "odd": 15}


def plan(**fields: object) -> Plan:
    return make_plan("table", data=Path("x.jsonl"), model="baseline:constant", overrides=fields)


def items() -> list[Item]:
    values = [value for value, n in SIZES.items() for _ in range(n)]
    return [
        Item(
            item_id=f"q{i}",
            question="?",
            answer="x",
            answer_kind="text",
            media=(Media(path=f"v{i // 5}.mp4"),),
            tags={"level": value},
        )
        for i, value in enumerate(values)
    ]


def counts(kept: list[Item]) -> dict[str, int]:
    found = {value: 0 for value in SIZES}
    for item in kept:
        found[item.tags["level"]] += 1
    return found


def test_every_question_of_a_stratum_is_as_likely_as_the_probability_says() -> None:
    """Over 400 seeds, within four standard errors."""
    n_seeds, everything, how = 400, items(), plan(sample_by="level=10")
    n_drawn = np.zeros(100)
    place = {item.item_id: i for i, item in enumerate(everything)}
    for seed in range(n_seeds):
        kept, _ = drawn(everything, msgspec.structs.replace(how, seed=seed))
        n_drawn[[place[item.item_id] for item in kept]] += 1
    met = strata_met(everything, kept, "level")
    assert [(one.value, one.n, one.n_sampled) for one in met] == [
        ("easy", 60, 10),
        ("hard", 25, 10),
        ("odd", 15, 10),
    ]
    probability = np.repeat([one.probability for one in met], list(SIZES.values()))
    error = np.sqrt(probability * (1 - probability) / n_seeds)
    assert (np.abs(n_drawn / n_seeds - probability) < 4 * error).all()


def test_a_stratum_with_too_few_is_taken_whole_and_said() -> None:
    kept, (note,) = drawn(items(), plan(sample_by="level=20"))
    assert counts(kept) == {"easy": 20, "hard": 20, "odd": 15}
    assert "odd: 15 of 15" in note


def test_questions_without_the_tag_are_left_out_and_counted() -> None:
    untagged = [
        msgspec.structs.replace(item, tags={} if i % 5 == 0 else item.tags) for i, item in enumerate(items())
    ]
    kept, (note,) = drawn(untagged, plan(sample_by="level=5"))
    assert all("level" in item.tags for item in kept)
    assert "none of 20 without the tag" in note
