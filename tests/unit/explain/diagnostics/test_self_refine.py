"""Self-refinement of models that repair and spoil with planted chances."""

import numpy as np
import pytest

from subjects.planted_readers import Refiner, item
from subjects.simulated import Simulated, drive
from subjects.stated import column, curves, marks, stated
from vidence import catalog
from vidence.contracts import Examined
from vidence.errors import UsageError
from vidence.explain.diagnostics.self_refine import FOREIGN_REVIEWS, SelfRefineFinding, foreign_review
from vidence.records import Reply

REPAIRS, SPOILS, START = 0.5, 0.2, 0.3


def make(**options):
    return catalog.create("diagnostic", catalog.Spec(name="self-refine", options=options))


def examined(n, *, seed=0, **options):
    one, rng, found, kinds = make(**options), np.random.default_rng(seed), [], []
    for number in range(n):
        asked = item(number)
        driven = drive(one.examine(Simulated(asked, {"plan": (0.0,)})), Refiner(rng=rng)(asked))
        found.append(Examined(item=asked, finding=driven.made))
        kinds.append([kind_of(ask) for ask in driven.asks])
    said = {s.name: s for s in one.summarise(found, rng=np.random.default_rng(0), level=0.95)}
    return said, found, kinds


def kind_of(ask):
    named = [kind for kind in ("critique", "rewrite") if f"words: {kind}" in ask.prompt.text]
    return named[0] if named else "candidate"


def holds(estimate, value):
    return estimate.low <= value <= estimate.high


def test_six_asks_a_question_and_each_control_so_many_more():
    _, _, [kinds] = examined(1, controls="none")
    assert [kinds.count(k) for k in ("candidate", "critique", "rewrite")] == [1, 3, 3 + 3]
    _, _, [kinds] = examined(1)
    assert [kinds.count(k) for k in ("candidate", "critique", "rewrite")] == [4, 3, 3 + 3 + 3]
    assert make().most_asks(item(0), n_frames=8) == 4 + 3 + 3 + 3 + 3
    assert make(controls="none").most_asks(item(0), n_frames=8) == 1 + 3 + 3 + 3


def test_accuracy_heads_for_the_balance_of_what_is_repaired_and_spoiled():
    said, _, _ = examined(500, rounds="4")
    refiner = Refiner(rng=np.random.default_rng(0))
    assert [round(refiner.after(n), 3) for n in (0, 1, 2)] == [0.3, 0.59, 0.677]
    for n in range(5):
        assert holds(said["self-refine"].estimate(f"own:{n}", "accuracy"), refiner.after(n)), n


def test_only_what_re_asking_does_not_repair_is_refinement():
    said, _, _ = examined(300, seed=1)
    controls = said["controls"]
    assert holds(controls.estimate("resample", "repaired"), START * (1 - START))
    assert holds(controls.estimate("resample", "spoiled"), START * (1 - START))
    for control in ("none", "foreign", "resample"):
        assert controls.estimate(control, "beyond").low > 0
        assert controls.value(control, "p_holm") < 0.01
    assert said["self-refine"].value("own:3", "mcnemar") < 0.01
    assert said["self-refine"].value("own:0", "mcnemar") is None


def test_a_foreign_review_is_the_same_each_time_and_not_the_models():
    assert foreign_review(item(1), 1) == foreign_review(item(1), 1)
    found = {foreign_review(item(number), n) for number in range(40) for n in (1, 2, 3)}
    assert found == set(FOREIGN_REVIEWS)


def test_answers_that_cannot_be_read_and_empty_reviews_are_counted():
    one, found = make(controls="resample", rounds="1"), []
    for number in range(4):
        asked = item(number)

        def says(ask, asked=asked):
            if "words: critique" in ask.prompt.text:
                return Reply(text=" ")
            return Reply(text="?" if "words: rewrite" in ask.prompt.text else asked.answer)

        found.append(
            Examined(item=asked, finding=drive(one.examine(Simulated(asked, {"plan": ()})), says).made)
        )
    table = one.summarise(found, rng=np.random.default_rng(0), level=0.95)[0]
    assert "4 reviews are empty" in table.note
    assert table.value("own:1", "unreadable") == 4
    assert (table.value("own:0", "accuracy").value, table.value("own:1", "accuracy").value) == (1.0, 0.0)


@pytest.mark.parametrize("options", [{"rounds": "0"}, {"rounds": "99"}, {"controls": "other"}])
def test_other_options_are_refused(options):
    with pytest.raises(UsageError, match="self-refine"):
        make(**options)


def four_questions():
    """Two rounds of four questions: by row the first answer, round 1 and round 2."""
    own = [(0, 1, 1), (1, 0, 1), (0, 0, 1), (1, 1, 1)]
    anew = [(0, 0, 0), (1, 1, 0), (0, 1, 1), (1, 1, 1)]
    tokens = [(10, 1, None), (None, 2, None), (20, 3, None), (30, 4, None)]
    same = [(False, True), (False, False), (True, False), (True, False)]
    return [
        (
            item(2 * i),
            SelfRefineFinding(
                marks={"own": marks(*own[i], tokens=tokens[i]), "resample": marks(*anew[i])},
                reviews=("words", "" if i == 0 else "words"),
                unchanged={"own": same[i], "resample": (True, True)},
            ),
        )
        for i in range(4)
    ]


def test_what_four_questions_say_worked_out_by_hand():
    said = stated(make(rounds="2", controls="resample"), four_questions())
    table = said["self-refine"]
    rows = ("own:0", "own:1", "own:2")
    for key, values in {
        "questions": (4, 4, 4),
        "accuracy": (0.5, 0.5, 1.0),
        "gain": (None, 0.0, 0.5),
        "repaired": (None, 0.25, 0.5),
        "spoiled": (None, 0.25, 0.0),
        "mcnemar": (None, 1.0, 0.5),
        "unchanged": (None, 0.5, 0.25),
        "tokens": (20.0, 2.5, None),
        "unreadable": (0, 0, 0),
    }.items():
        assert column(table, key) == dict(zip(rows, values, strict=True)), key
    assert "1 reviews are empty" in table.note
    assert "Guessing alone gets 25.0 %." in table.note
    for key, values in {
        "accuracy": (1.0, 0.5),
        "repaired": (0.5, 0.25),
        "spoiled": (0.0, 0.25),
        "beyond": (None, 0.25),
        "n": (4, 4),
    }.items():
        assert column(said["controls"], key) == dict(zip(("own", "resample"), values, strict=True)), key
    assert curves(said["by-round"]) == {
        "own review": [(0, 0.5), (1, 0.5), (2, 1.0)],
        "asked again": [(0, 0.5), (1, 0.75), (2, 0.5)],
    }


def test_scores_in_parts_have_no_test_of_pairs():
    some = {"own": marks(0.5, 1.0), "none": marks(0.5, 0.5)}
    one = SelfRefineFinding(marks=some, reviews=("words",), unchanged={"own": (False,)})
    found = [(item(2 * i), one) for i in range(3)]
    table = stated(make(rounds="1", controls="none"), found)["self-refine"]
    assert column(table, "mcnemar") == {"own:0": None, "own:1": None}
    assert column(table, "repaired") == {"own:0": None, "own:1": 1.0}
    assert "reviews are empty" not in table.note
