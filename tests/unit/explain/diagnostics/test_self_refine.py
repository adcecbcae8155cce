"""Self-refinement of models that repair and spoil with planted chances."""

import numpy as np
import pytest

from subjects.simulated import Simulated, drive
from vidence import catalog
from vidence.contracts import Examined
from vidence.errors import UsageError
from vidence.explain.diagnostics.self_refine import FOREIGN_REVIEWS, foreign_review
from vidence.records import Item, Media, Reply

REPAIRS, SPOILS, START = 0.5, 0.2, 0.3


def make(**options):
    return catalog.create("diagnostic", catalog.Spec(name="self-refine", options=options))


def item(number):
    return Item(
        item_id=f"q{number:04d}",
        media=(Media(path=f"v{number // 2}.mp4"),),
        question="Which?",
        choices=("one", "two", "three", "four"),
        answer="ABCD"[number % 4],
    )


class Refiner:
    """Repairs and spoils with planted chances where there is a review of its own; re-draws otherwise.

    Without a review of its own it keeps an answer with chance .7, and otherwise draws it anew.
    """

    def __init__(self, asked, rng):
        self.asked, self.rng = asked, rng
        self.kinds = []

    def draw(self, p):
        letters = "ABCD"
        wrong = letters.replace(self.asked.answer, "")
        return self.asked.answer if self.rng.random() < p else wrong[int(self.rng.integers(3))]

    def __call__(self, ask):
        text = ask.prompt.text
        if "words: critique" in text:
            self.kinds.append("critique")
            return Reply(text="own words")
        if "words: rewrite" not in text:
            self.kinds.append("candidate")
            return Reply(text=self.draw(START))
        self.kinds.append("rewrite")
        before = [line for line in text.split("\n") if line in ("A", "B", "C", "D")][-1]
        is_right = before == self.asked.answer
        if "own words" in text:
            return Reply(text=self.draw(1 - SPOILS if is_right else REPAIRS))
        return Reply(text=before if self.rng.random() < 0.7 else self.draw(START))


def examined(n, *, seed=0, **options):
    one, rng, found, kinds = make(**options), np.random.default_rng(seed), [], []
    for number in range(n):
        asked = item(number)
        model = Refiner(asked, rng)
        driven = drive(one.examine(Simulated(asked, {"plan": (0.0,)})), model)
        found.append(Examined(item=asked, finding=driven.made))
        kinds.append(model.kinds)
    said = {s.name: s for s in one.summarise(found, rng=np.random.default_rng(0), level=0.95)}
    return said, found, kinds


def holds(estimate, value):
    return estimate.low <= value <= estimate.high


def test_six_asks_a_question_and_each_control_so_many_more():
    _, _, [kinds] = examined(1, controls="none")
    assert [kinds.count(k) for k in ("candidate", "critique", "rewrite")] == [1, 3, 3 + 3]
    _, _, [kinds] = examined(1)
    assert [kinds.count(k) for k in ("candidate", "critique", "rewrite")] == [4, 3, 3 + 3 + 3]


def test_accuracy_heads_for_the_balance_of_what_is_repaired_and_spoiled():
    said, _, _ = examined(500, rounds="4")
    planted = START
    for n in range(5):
        assert holds(said["self-refine"].estimate(f"own:{n}", "accuracy"), planted), n
        planted = planted * (1 - SPOILS) + (1 - planted) * REPAIRS
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
