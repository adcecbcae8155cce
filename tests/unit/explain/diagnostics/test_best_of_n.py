"""Best of N on readers and reward models whose behaviour is planted."""

import numpy as np

from conftest import IS_THOROUGH
from subjects.planted_readers import Candidates, GradedReward, candidate_subjects, item, perfect
from subjects.simulated import drive
from subjects.stated import column, curves, marks, stated
from vidence import catalog
from vidence.contracts import Examined
from vidence.explain.diagnostics.best_of_n import BestOfNFinding

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


def test_intervals_of_the_lines_over_n_hold_what_is_planted():
    """Of 40 worlds 38 are expected to hold it; 33 or fewer have the probability .003."""
    held, oracle = {}, 1 - (1 - P) ** 8
    n_worlds, least = (40, 34) if IS_THOROUGH else (12, 9)
    for seed in range(n_worlds):
        reward = GradedReward(rng=np.random.default_rng(1000 + seed))
        one, found, _ = examined(40, reward, seed=seed)
        said = tables(one, found)
        lines = said["best-of-n"]
        for key, estimate, planted in (
            *((f"m{m}", lines.estimate("self:averaged", f"m{m}"), reward.best(P, 2**m)) for m in (1, 2, 3)),
            ("nested", lines.estimate("self:nested", "m3"), reward.best(P, 8)),
            ("oracle", lines.estimate("oracle", "m3"), oracle),
        ):
            held[key] = held.get(key, 0) + holds(estimate, planted)
    assert min(held.values()) >= least, held


def test_points_that_cannot_be_read_rank_last_and_are_counted():
    def reward(asked, text):
        return "nonsense" if asked.item_id == "q0000" else perfect(asked, text)

    one, found, _ = examined(40, reward)
    first = found[0].finding
    assert first.points["self"] == (None,) * 8
    assert first.picked["self"] == {"0": 0, "1": 0, "2": 0, "3": 0}
    assert "Points that could not be read rank last (self: 8)." in tables(one, found)["best-of-n"].note


def two_questions():
    """Two questions with four candidates each, twice: by two rewards, of which the second knows little."""
    first = BestOfNFinding(
        marks=marks(1, 0, 0, 0),
        same_as=(0, 1, 1, None),
        lengths=(5, 9, 1, 3),
        n_distinct=1,
        points={"self": (3, 1, None, 0), "a:1": (0, 0, 0, 0)},
        picked={"self": {"0": 0, "1": 0, "2": 0}, "a:1": {"0": 0, "1": 0, "2": 0}},
        n_unread={"self": 1, "a:1": 0},
    )
    second = BestOfNFinding(
        marks=marks(0, 1, 1, 0),
        same_as=(0, 1, 1, 0),
        lengths=(4, 4, 2, 8),
        n_distinct=4,
        points={"self": (1, 1, 4, 0), "a:1": (2, None, None, None)},
        picked={"self": {"0": 0, "1": 0, "2": 2}, "a:1": {"0": 0, "1": 0, "2": 0}},
        n_unread={"self": 0, "a:1": 3},
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
    assert "Points that could not be read rank last (self: 2, a:1: 6)." in table.note
    drawn = curves(said["by-candidates"])
    assert drawn["self"] == [(1, 0.375), (2, 0.625), (4, 1.0)]
    assert drawn["a:1"] == [(1, 0.375), (2, 0.291667), (4, 0.125)]
    assert drawn["oracle (pass@N)"] == [(1, 0.375), (2, 0.666667), (4, 1.0)]
    assert len(drawn) == 6


def test_how_often_models_are_asked_at_most():
    # Four candidates, and each looked at twice at most.
    assert make(m="1|2", rewards="self|a:1").most_asks(item(0), n_frames=8) == 4 + 2 * 4 * 2
    assert make().n_drawn == 8
    assert make(rewards="self|scripted:3").models() == {"scripted:3": "scripted:3"}
