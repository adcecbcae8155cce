"""What is drawn, how likely, and what becomes of means that are weighted by it."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from vidence.engine.plan import Plan, Stratum
from vidence.engine.prepare import make_plan
from vidence.engine.samples import drawn, shared_out, strata_met
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


def test_a_proportional_sample_has_of_each_value_its_share() -> None:
    kept, notes = drawn(items(), plan(sample=20, strata="level"))
    assert counts(kept) == {"easy": 12, "hard": 5, "odd": 3}
    counted = "easy: 12 of 60; hard: 5 of 25; odd: 3 of 15"
    assert notes == [f"sampled by level, of each value its share of 20 questions ({counted})"]
    assert [i.item_id for i in kept] == [i.item_id for i in items() if i in kept]


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (7, {"easy": 4, "hard": 2, "odd": 1}),  # 4.2, 1.75, 1.05
        (1, {"easy": 1, "hard": 0, "odd": 0}),
        (10, {"easy": 6, "hard": 3, "odd": 1}),  # 6, 2.5, 1.5: of equal remainders the first name
        (100, SIZES),
        (500, SIZES),
    ],
)
def test_what_is_left_goes_to_the_largest_remainders(n: int, expected: dict[str, int]) -> None:
    assert shared_out(SIZES, n) == expected
    assert sum(expected.values()) == min(n, 100)


def test_every_question_of_a_stratum_is_as_likely_as_the_probability_says() -> None:
    """Over 2,000 seeds, within four standard errors."""
    n_seeds, everything = 2000, items()
    n_drawn = np.zeros(100)
    place = {item.item_id: i for i, item in enumerate(everything)}
    for seed in range(n_seeds):
        kept, _ = drawn(everything, plan(sample_by="level=10", seed=seed))
        n_drawn[[place[item.item_id] for item in kept]] += 1
    met = strata_met(everything, kept, plan(sample_by="level=10"))
    assert [(one.value, one.n, one.n_sampled) for one in met] == [
        ("easy", 60, 10),
        ("hard", 25, 10),
        ("odd", 15, 10),
    ]
    probability = np.repeat([one.probability for one in met], list(SIZES.values()))
    error = np.sqrt(probability * (1 - probability) / n_seeds)
    assert (np.abs(n_drawn / n_seeds - probability) < 4 * error).all()


def test_videos_come_with_all_their_questions() -> None:
    kept, notes = drawn(items(), plan(sample_videos=3, seed=2))
    assert len(kept) == 15
    assert len({item.video_id for item in kept}) == 3
    assert notes == ["sampled 3 of 20 videos, with all their 15 questions"]
    assert drawn(items(), plan(sample_videos=3, seed=2))[0] == kept
    assert drawn(items(), plan(sample_videos=3, seed=3))[0] != kept
    assert drawn(items(), plan(sample_videos=20)) == (items(), [])


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
        weight = {one.value: 1 / one.probability for one in strata_met(everything, kept, how)}
        values = np.array([right[i.item_id] for i in kept])
        weights = np.array([weight[i.tags["level"]] for i in kept])
        weighted.append(float(values @ weights / weights.sum()))
        plain.append(float(values.mean()))
    assert np.mean(weighted) == pytest.approx(0.68, abs=0.01)
    assert np.mean(plain) == pytest.approx((1 + 0.2 + 0.2) / 3, abs=0.02)


def test_a_plan_without_strata_has_none() -> None:
    assert strata_met(items(), items(), plan(sample=5)) == ()
    assert Stratum(tag="level", value="odd", n=15, n_sampled=3).probability == 0.2


def test_strata_without_a_number_of_questions_are_refused() -> None:
    with pytest.raises(UsageError, match="strata is 'level' without sample"):
        plan(strata="level")
    with pytest.raises(UsageError, match="sample_by and sample_videos exclude each other"):
        plan(sample_by="level=3", sample_videos=2)
    with pytest.raises(UsageError, match="no question has the tag 'tusk'; tags are: level"):
        drawn(items(), plan(sample=5, strata="tusk"))


# --------------------------------------------------------------------------- questions without the tag


def some_untagged() -> list[Item]:
    return [
        msgspec.structs.replace(item, tags={} if i % 5 == 0 else item.tags) for i, item in enumerate(items())
    ]


def test_questions_without_the_tag_are_left_out_and_counted_where_nothing_is_said() -> None:
    kept, (note,) = drawn(some_untagged(), plan(sample=40, strata="level"))
    assert all("level" in item.tags for item in kept)
    assert "none of 20 without the tag" in note


@pytest.mark.parametrize(
    "sample", [{"sample": 40, "strata": "level"}, {"sample_by": "level=5"}], ids=["shares", "each"]
)
def test_questions_without_the_tag_can_be_a_stratum_of_their_own_or_be_refused(sample) -> None:
    asked = plan(**sample, strata_missing="keep")
    kept, (note,) = drawn(some_untagged(), asked)
    untagged = [item for item in kept if not item.tags]
    assert len(untagged) == (8 if "strata" in sample else 5)  # 20 of 100 are untagged, 40 are asked
    assert "(none): " in note
    assert "without the tag" not in note
    met = {one.value: (one.n, one.n_sampled) for one in strata_met(some_untagged(), kept, asked)}
    assert met["(none)"] == (20, len(untagged))
    with pytest.raises(UsageError, match="20 of 100 questions lack the tag 'level'"):
        drawn(some_untagged(), plan(**sample, strata_missing="refuse"))
    whole = drawn(items(), plan(**sample))
    assert drawn(items(), plan(**sample, strata_missing="refuse")) == whole


def test_another_word_is_refused() -> None:
    with pytest.raises(UsageError, match="strata_missing is 'drop'"):
        plan(strata_missing="drop")
