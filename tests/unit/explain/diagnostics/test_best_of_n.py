"""Best of N on readers and reward models whose behaviour is planted."""

import itertools
import json
import re

import numpy as np
import pytest

from subjects.planted_readers import (
    Candidates,
    GradedReward,
    LongReplies,
    candidate_subjects,
    item,
    perfect,
)
from subjects.simulated import drive
from subjects.stated import column, curves, marks, stated
from vidence import catalog
from vidence.contracts import Examined
from vidence.errors import UsageError
from vidence.explain.diagnostics.best_of_n import BestOfNFinding, length_bias, within_auc
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


def two_questions():
    """Two questions with four candidates each, twice: by two rewards, of which the second knows little."""
    first = BestOfNFinding(
        marks=marks(1, 0, 0, 0),
        same_as=(0, 1, 1, None),
        lengths=(5, 9, 1, 3),
        n_distinct=1,
        points={"self": (3, 1, None, 0), "a:1": (0, 0, 0, 0)},
        picked={"self": {"0": 0, "1": 0, "2": 0}, "a:1": {"0": 0, "1": 0, "2": 0}},
        places={"self": (0, 1, None), "a:1": (None, None, None)},
        n_unread={"self": 1, "a:1": 0},
        reward_tokens={"self": 10, "a:1": 4},
    )
    second = BestOfNFinding(
        marks=marks(0, 1, 1, 0),
        same_as=(0, 1, 1, 0),
        lengths=(4, 4, 2, 8),
        n_distinct=4,
        points={"self": (1, 1, 4, 0), "a:1": (2, None, None, None)},
        picked={"self": {"0": 0, "1": 0, "2": 2}, "a:1": {"0": 0, "1": 0, "2": 0}},
        places={"self": (1, 1, 3), "a:1": (None, 2, None)},
        n_unread={"self": 0, "a:1": 3},
        reward_tokens={"self": 20, "a:1": 5},
    )
    return [(item(2 * i), (first, second)[i % 2]) for i in range(4)]


def test_what_two_questions_say_worked_out_by_hand():
    said = stated(make(m="1|2", rewards="self|a:1"), two_questions())
    table = said["best-of-n"]
    rows = ("self:nested", "self:averaged", "a:1:nested", "a:1:averaged", "random", "longest", "majority",
            "oracle")  # fmt: skip
    none = (None,) * 4
    for key, values in {
        "m0": (0.5, 0.375, 0.5, 0.375, 0.375, 0.375, 0.375, 0.375),
        # Of the six pairs of the first question three hold the right reply; of those of the second three hold
        # the one with four points, and the others pick one of two with one point, of which one is right.
        "m1": (0.5, 0.625, 0.5, 0.291667, 0.375, 0.291667, 0.416667, 0.666667),
        "m2": (1.0, 1.0, 0.5, 0.125, 0.375, 0.0, 0.25, 1.0),
        "gain1": (0.0, 0.25, 0.0, -0.083333, *none),
        "gain2": (0.5, 0.625, 0.0, -0.25, *none),
    }.items():
        assert column(table, key) == dict(zip(rows, values, strict=True)), key
    assert [value is None for value in column(table, "p1").values()] == [False] * 4 + [True] * 4
    assert column(table, "p1")["a:1:nested"] == 1.0
    assert "Of 4 questions 2 have the same reply each time; on average 2.5 of 4 differ." in table.note
    for key, of_self, of_other in (
        ("efficiency", 1.0, -0.4),
        ("above_majority", 0.75, -0.125),
        ("auc", 0.9375, 0.375),
        ("length", 1.0, None),
        ("unread", 2, 6),
        ("none", 0, 0),
        ("tokens", 15.0, 4.5),
    ):
        assert column(said["rewards"], key) == {"self": of_self, "a:1": of_other}, key
    auc, length = (said["rewards"].estimate("self", key) for key in ("auc", "length"))
    assert 0 <= auc.low < auc.high <= 1
    assert (length.low, length.high) != (0.0, 1.0)
    assert length.high <= 1
    drawn = curves(said["by-candidates"])
    assert drawn["self"] == [(1, 0.375), (2, 0.625), (4, 1.0)]
    assert drawn["a:1"] == [(1, 0.375), (2, 0.291667), (4, 0.125)]
    assert drawn["oracle (pass@N)"] == [(1, 0.375), (2, 0.666667), (4, 1.0)]
    assert len(drawn) == 6


def test_what_lists_of_two_questions_say_worked_out_by_hand():
    said = stated(make(m="1|2", rewards="self|a:1", form="list"), two_questions())
    assert column(said["places"], "self") == {"1": 0.25, "2": 0.583333, "3": 0.0, "4": 0.166667}
    # The other reward picked one place of one question only.
    assert column(said["places"], "a:1") == {"1": 0.0, "2": 0.0, "3": 1.0, "4": 0.0}
    assert "each is picked in 25.0 % of the lists" in said["places"].note
    assert column(said["rewards"], "none") == {"self": 0, "a:1": 2}
    assert column(said["rewards"], "above_majority") == {"self": 0.75, "a:1": 0.25}
    assert not {"auc", "length"} & set(said["rewards"].keys)
    drawn = curves(said["by-candidates"])
    assert drawn["self"] == [(1, 0.5), (2, 0.5), (4, 1.0)]
    assert len(drawn) == 6


def test_how_often_models_are_asked_at_most():
    # Four candidates, and each looked at twice at most; a list of two and one of four, each in three orders.
    assert make(m="1|2", rewards="self|a:1").most_asks(item(0), n_frames=8) == 4 + 2 * 4 * 2
    assert make(m="1|2", form="list").most_asks(item(0), n_frames=8) == 4 + 2 * 3 * 2
    assert make().n_drawn == 8


def test_points_and_length_of_right_and_of_wrong_replies_are_ranked_apart():
    # Among right ones they run together, among wrong ones apart: the mean is 0. Equal points share a rank.
    ranks, values = np.array([0.0, 1, 2, 2, 1, 0]), np.array([1.0, 1, 1, 0, 0, 0])
    assert length_bias(ranks, values, (1, 2, 3, 4, 5, 6)) == pytest.approx(0.0)
    assert length_bias(np.array([1.0, 1, 3]), np.ones(3), (5, 7, 9)) == pytest.approx(np.sqrt(3) / 2)
    assert length_bias(np.array([1.0, 2]), np.ones(2), (5, 7)) is None
    assert length_bias(np.array([1.0, 2, 3]), np.ones(3), (7, 7, 7)) is None
