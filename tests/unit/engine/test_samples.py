"""What is drawn, how likely, and what becomes of means that are weighted by it."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from vidence.engine.plan import Plan, Stratum
from vidence.engine.prepare import make_plan
from vidence.engine.samples import drawn, strata_met
from vidence.errors import UsageError
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


def test_weights_of_one_over_the_probability_give_the_mean_of_the_set() -> None:
    """Right are all easy ones, and every fifth of the others: 60 + 5 + 3 of 100."""
    everything = items()
    right = {i.item_id: float(i.tags["level"] == "easy" or int(i.item_id[1:]) % 5 == 0) for i in everything}
    weighted, plain = [], []
    for seed in range(400):
        how = plan(sample_by="level=10", seed=seed)
        kept, _ = drawn(everything, how)
        weight = {one.value: 1 / one.probability for one in strata_met(everything, kept, "level")}
        values = np.array([right[i.item_id] for i in kept])
        weights = np.array([weight[i.tags["level"]] for i in kept])
        weighted.append(float(values @ weights / weights.sum()))
        plain.append(float(values.mean()))
    assert np.mean(weighted) == pytest.approx(0.68, abs=0.01)
    assert np.mean(plain) == pytest.approx((1 + 0.2 + 0.2) / 3, abs=0.02)


def test_a_stratum_is_asked_as_likely_as_its_share() -> None:
    assert Stratum(tag="level", value="odd", n=15, n_sampled=3).probability == 0.2


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(UsageError, match="sample and sample_by exclude each other"):
        plan(sample_by="level=3", sample=2)
    with pytest.raises(UsageError, match="no question has the tag 'tusk'; tags are: level"):
        drawn(items(), plan(sample_by="tusk=5"))


def test_questions_without_the_tag_are_left_out_and_counted() -> None:
    untagged = [
        msgspec.structs.replace(item, tags={} if i % 5 == 0 else item.tags) for i, item in enumerate(items())
    ]
    kept, (note,) = drawn(untagged, plan(sample_by="level=5"))
    assert all("level" in item.tags for item in kept)
    assert "none of 20 without the tag" in note
