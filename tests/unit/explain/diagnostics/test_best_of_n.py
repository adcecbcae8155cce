"""Best of N on readers and reward models whose behaviour is planted."""

import itertools
import json
import re

import numpy as np
import pytest

from vidence import catalog
from vidence.contracts import Examined
from vidence.errors import UsageError
from vidence.explain.diagnostics.best_of_n import length_bias, within_auc
from vidence.explain.planted.readers import (
    Candidates,
    GradedReward,
    LongReplies,
    candidate_subjects,
    item,
    perfect,
)
from vidence.explain.planted.simulated import drive
from vidence.records import Reply

P = 0.4


def make(**options):
    return catalog.create("diagnostic", catalog.Spec(name="best-of-n", options=options))


def examined(n, reward, *, seed=0, p=P, **options):
    """Each question with a reward of `reward(asked, text)` as points."""
    one, found, asks = make(**options), [], []
    reader = Candidates(p=p, points=reward, rng=np.random.default_rng(seed))
    for subject in candidate_subjects(n):
        driven = drive(one.examine(subject), reader(subject.item))
        asks.append(driven.asks)
        found.append(Examined(item=subject.item, finding=driven.made))
    return one, found, asks


def tables(one, found):
    said = one.summarise(found, rng=np.random.default_rng(0), level=0.95)
    return {s.name: s for s in said}


def holds(estimate, value):
    return estimate.low <= value <= estimate.high


def test_m_0_to_3_and_several_rewards_share_eight_candidates():
    _, _, asks = examined(3, perfect, rewards="self|a:1|b:2")
    for some in asks:
        candidates = [ask for ask in some if "words: reward" not in ask.prompt.text]
        assert [ask.sample for ask in candidates] == list(range(8))
        for model in ("", "a:1", "b:2"):
            rewards = [a for a in some if "words: reward" in a.prompt.text and a.model == model]
            assert len(rewards) <= 8
        assert len(some) == 8 + 3 * len(
            {one.prompt.text for one in some if "words: reward" in one.prompt.text}
        )


def test_a_perfect_reward_follows_the_chance_that_one_of_n_is_right():
    one, found, _ = examined(400, perfect)
    table = tables(one, found)["best-of-n"]
    for kind in ("self:averaged", "self:nested", "oracle"):
        for m, n in ((0, 1), (1, 2), (2, 4), (3, 8)):
            assert holds(table.estimate(kind, f"m{m}"), 1 - (1 - P) ** n), (kind, m)
    for m in (1, 2, 3):
        assert table.value("random", f"m{m}").value == table.value("random", "m0").value
    quality = tables(one, found)["rewards"]
    assert quality.value("self", "efficiency").value == pytest.approx(1.0)
    assert quality.value("self", "auc").value == pytest.approx(1.0)


def test_a_reward_that_knows_nothing_gets_what_a_random_candidate_gets():
    rng = np.random.default_rng(6)
    one, found, _ = examined(400, lambda asked, text: int(rng.integers(5)))
    said = tables(one, found)
    pool = said["best-of-n"].value("random", "m0").value
    for m in (1, 2, 3):
        assert holds(said["best-of-n"].estimate("self:averaged", f"m{m}"), pool)
    assert holds(said["rewards"].estimate("self", "auc"), 0.5)
    assert holds(said["rewards"].estimate("self", "length"), 0.0)
    assert "likes long" not in said["rewards"].note


def test_a_reward_of_known_sharpness_gets_what_follows_from_it():
    reward = GradedReward(rng=np.random.default_rng(9))
    one, found, _ = examined(600, reward)
    said = tables(one, found)
    for m, n in ((1, 2), (2, 4), (3, 8)):
        assert holds(said["best-of-n"].estimate("self:averaged", f"m{m}"), reward.best(P, n))
    assert holds(said["rewards"].estimate("self", "auc"), reward.auc)


def test_intervals_of_the_lines_over_n_and_of_their_quality_hold_what_is_planted():
    """Of 40 worlds 38 are expected to hold it; 33 or fewer have the probability .003."""
    held, oracle = {}, 1 - (1 - P) ** 8
    for seed in range(40):
        reward = GradedReward(rng=np.random.default_rng(1000 + seed))
        one, found, _ = examined(40, reward, seed=seed)
        said = tables(one, found)
        lines, rewards = said["best-of-n"], said["rewards"]
        for key, estimate, planted in (
            *((f"m{m}", lines.estimate("self:averaged", f"m{m}"), reward.best(P, 2**m)) for m in (1, 2, 3)),
            ("nested", lines.estimate("self:nested", "m3"), reward.best(P, 8)),
            ("oracle", lines.estimate("oracle", "m3"), oracle),
            ("auc", rewards.estimate("self", "auc"), reward.auc),
            ("efficiency", rewards.estimate("self", "efficiency"), (reward.best(P, 8) - P) / (oracle - P)),
            ("another AUC", rewards.estimate("self", "auc"), 0.5),
        ):
            held[key] = held.get(key, 0) + holds(estimate, planted)
    assert held.pop("another AUC") == 0
    assert min(held.values()) >= 34, held


def test_a_reward_that_likes_length_is_named():
    one, found, _ = examined(150, lambda asked, text: min(4, len(text.split()) // 12))
    said = tables(one, found)
    assert said["rewards"].estimate("self", "length").low > 0.5
    assert "self likes long replies" in said["rewards"].note
    ours, longest = (said["best-of-n"].value(key, "m3").value for key in ("self:averaged", "longest"))
    assert abs(ours - longest) < 0.1


def test_points_that_cannot_be_read_rank_last_and_are_counted():
    def reward(asked, text):
        return "nonsense" if asked.item_id == "q0000" else perfect(asked, text)

    one, found, _ = examined(40, reward)
    first = found[0].finding
    assert first.points["self"] == (None,) * 8
    assert first.picked["self"] == {"0": 0, "1": 0, "2": 0, "3": 0}
    quality = tables(one, found)["rewards"]
    assert (quality.value("self", "unread"), quality.value("self", "none")) == (8, 1)


def test_at_one_and_at_all_candidates_nested_and_averaged_agree_but_for_ties():
    rng = np.random.default_rng(2)
    one, found, _ = examined(60, lambda asked, text: int(rng.integers(5)))
    for examined_one in found:
        values = [mark.value for mark in examined_one.finding.marks]
        points = examined_one.finding.points["self"]
        best = [v for v, p in zip(values, points, strict=True) if p == max(points)]
        assert values[examined_one.finding.picked["self"]["3"]] in best
    table = tables(one, found)["best-of-n"]
    averaged, pool = table.value("self:averaged", "m0"), table.value("random", "m0")
    assert averaged.value == pool.value


def test_a_list_says_which_place_it_likes():
    one, found = make(form="list", orders="6"), []
    for number in range(30):
        asked = item(number)

        def says(ask, asked=asked):
            if "words: reward-list" not in ask.prompt.text:
                return Reply(text="ABCD"[ask.sample % 4] + f" w{ask.sample}")
            marked = re.search(r'id="([0-9a-f]{16})"', ask.prompt.text)[1]
            return Reply(text=json.dumps({"id": marked, "best": "1"}))

        driven = drive(one.examine(LongReplies(asked, {"plan": (0.0,)})), says)
        assert len(driven.asks) <= 8 + 2 + 6 + 6  # two replies have two orders
        found.append(Examined(item=asked, finding=driven.made))
    said = tables(one, found)
    assert said["places"].value("1", "self").value == 1.0
    assert said["places"].value("2", "self").value == 0.0
    assert "self:averaged" not in [row.key for row in said["best-of-n"].rows]


def test_the_figures_of_one_question():
    ranks, values = np.array([3.0, 1.0, 1.0, 0.0]), np.array([1.0, 0.0, 1.0, 0.0])
    pairs = list(itertools.product(ranks[values == 1], ranks[values == 0]))
    assert within_auc(ranks, values) == sum((a > b) + (a == b) / 2 for a, b in pairs) / len(pairs)
    assert within_auc(ranks, np.ones(4)) is None
    assert length_bias(np.array([1.0, 2.0, 3.0]), np.zeros(3), (5, 6, 9)) == pytest.approx(1.0)
    assert length_bias(np.array([1.0, 1.0, 1.0]), np.zeros(3), (5, 6, 9)) is None
    assert length_bias(ranks, values, (1, 2, 3, 4)) is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"m": "0"}, "an m of 1 or more"),
        ({"m": "9"}, "m"),
        ({"rewards": "self|self"}, "different values"),
        ({"rewards": "oracle"}, "is no spec of a model"),
    ],
)
def test_other_options_are_refused(options, said):
    with pytest.raises(UsageError, match=said):
        make(**options)


def test_the_model_under_test_is_no_further_model() -> None:
    found = make(rewards="self|scripted:3").models()
    assert found == {"scripted:3": "scripted:3"}
