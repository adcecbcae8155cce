"""Self-refinement of models that repair and spoil with planted chances."""

import numpy as np
import pytest

from vidence import catalog
from vidence.contracts import Examined
from vidence.errors import UsageError
from vidence.explain.diagnostics.self_refine import FOREIGN_REVIEWS, foreign_review
from vidence.explain.planted.readers import Refiner, item
from vidence.explain.planted.simulated import Simulated, drive
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


def test_accuracy_heads_for_the_balance_of_what_is_repaired_and_spoiled():
    said, _, _ = examined(500, rounds="4")
    refiner = Refiner(rng=np.random.default_rng(0))
    assert [round(refiner.after(n), 3) for n in (0, 1, 2)] == [0.3, 0.59, 0.677]
    for n in range(5):
        assert holds(said["self-refine"].estimate(f"own:{n}", "accuracy"), refiner.after(n)), n
    assert holds(said["controls"].estimate("own", "a"), REPAIRS)
    assert holds(said["controls"].estimate("own", "b"), SPOILS)
    assert said["controls"].value("own", "limit") == pytest.approx(REPAIRS / (REPAIRS + SPOILS), abs=0.05)


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
