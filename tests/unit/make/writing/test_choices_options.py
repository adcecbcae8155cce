"""Wrong choices: near misses out of a space, and what is wrong with those that somebody wrote."""

from collections import Counter

import numpy as np
import pytest

from vidence.make.sources.annotations.annotation_records import AnnotationRecord, Label, LabelSpace
from vidence.make.writing.choices_options import in_order, n_wanted, near_misses, options_fault

TREE = LabelSpace(
    name="x",
    labels=(
        *(Label(name=name, parent="cutlery") for name in ("fork", "knife", "spoon", "ladle")),
        *(Label(name=name, parent="dishes") for name in ("plate", "bowl", "cup")),
        Label(name="teaspoon", parent="spoon"),
        Label(name="mug", parent="dishes", synonyms=("cup of tea",)),
    ),
)
NUMBERS = LabelSpace(name="n", labels=tuple(Label(name=str(n)) for n in range(1, 10)))


def drawn(record: AnnotationRecord, space: LabelSpace, seed: int, **more: object) -> tuple[str, ...]:
    settings = {"n": 4, "confusable": (), "n_left": {}} | more
    found = near_misses(record, space, rng=np.random.default_rng(seed), **settings)
    assert isinstance(found, tuple), found
    return found


def test_siblings_come_first_and_what_is_true_never():
    record = AnnotationRecord(record_id="a", label="spoon", also_true=("knife",))
    for seed in range(40):
        wrong = drawn(record, TREE, seed)
        assert set(wrong[:2]) == {"fork", "ladle"}
        assert not {"spoon", "teaspoon", "knife", "cutlery"} & set(wrong)
        assert options_fault("Which?", record, wrong, n=4, space=TREE) is None


def test_confusable_labels_come_before_siblings():
    record = AnnotationRecord(record_id="a", label="fork")
    assert drawn(record, TREE, 1, confusable=(("bowl", "fork"),))[0] == "bowl"


def test_too_few_false_labels_are_an_objection():
    record = AnnotationRecord(record_id="a", label="fork", also_true=("plate", "bowl", "cup", "mug", "ladle"))
    found = near_misses(record, TREE, n=4, confusable=(), n_left={}, rng=np.random.default_rng(1))
    assert found.reason == "wrong-number"
    assert "3 labels are false" in found.detail
    assert n_wanted(5, LabelSpace(name="s", labels=TREE.labels[:2])) == 2
    assert n_wanted(5, None) == 5


def test_the_right_number_has_every_rank_and_neighbours_touch():
    ranks: Counter[int] = Counter()
    record = AnnotationRecord(record_id="a", label="5")
    for seed in range(500):
        numbers = sorted(map(int, (*drawn(record, NUMBERS, seed), "5")))
        assert numbers == list(range(numbers[0], numbers[0] + 5))
        ranks[numbers.index(5)] += 1
    assert set(ranks) == set(range(5))
    assert min(ranks.values()) > 60


def test_a_guess_at_the_label_that_is_right_most_often_gains_little():
    """With labels drawn by how often they are right the popular one is right about as often as others."""
    flat = LabelSpace(name="f", labels=tuple(Label(name=name) for name in "abcdefghij"))
    often = dict(zip("abcdefghij", (60, 60, 60, 60, 60, 20, 20, 20, 20, 20), strict=True))
    truths = [name for name, n in often.items() for _ in range(n)]
    n_popular = 0
    n_even = 0
    for i, truth in enumerate(truths):
        record = AnnotationRecord(record_id=str(i), label=truth)
        for weights, is_even in ((often, False), ({}, True)):
            shown = (truth, *drawn(record, flat, i, n_left=weights))
            hit = max(shown, key=lambda name: (often[name], name)) == truth
            n_popular += hit and not is_even
            n_even += hit and is_even
    assert n_even / len(truths) > 0.3
    assert n_popular / len(truths) < 0.25


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (("fork", "plate"), "wrong-number"),
        (("Mug.", "fork", "plate"), "truth-among-wrong"),
        (("the mugs", "fork", "plate"), "paraphrase"),
        (("cup of tea", "fork", "plate"), "paraphrase"),
        (("a spoon", "fork", "plate"), "also-true"),
        (("dishes", "fork", "plate"), "also-true"),
        (("fork", "fork", "plate"), "overlapping"),
        (("mug or plate", "fork", "bowl"), "overlapping"),
        (("all of the above", "fork", "plate"), "refers-to-choices"),
        (("fork", "bowl", "plate"), ""),
        (("fork", "bowl", "plate\x00"), "not-plain"),
        (("fork", "bowl", "\u202eetalp"), "not-plain"),
        (("fork", "bowl", "plate\u200b"), "not-plain"),
        (("fork", "bowl", "{right}"), "not-plain"),
        (("fork\nB. pan", "bowl", "plate"), "not-plain"),
        (("A", "B", "C"), "not-plain"),
        (("**fork**", "bowl", "plate"), "not-plain"),
        (("fork<br>", "bowl", "plate"), "not-plain"),
    ],
)
def test_what_is_wrong_with_wrong_choices(wrong, reason):
    record = AnnotationRecord(record_id="a", label="mug", also_true=("spoon",))
    found = options_fault("Which thing is it?", record, wrong, n=3, space=TREE)
    assert (found.reason if found is not None else "") == reason


def test_choices_are_put_in_an_order_and_numbers_ascend():
    rng = np.random.default_rng(3)
    assert in_order("3", ("5", "4", "10"), rng=rng) == (("3", "4", "5", "10"), 0)
    choices, right = in_order("a", ("b", "c"), rng=rng)
    assert choices[right] == "a"
    assert sorted(choices) == ["a", "b", "c"]
