"""Wrong choices: near misses out of a space, and what is wrong with those that somebody wrote."""

from collections import Counter

import numpy as np
import pytest

from vidence.make.sources.annotations.annotation_records import AnnotationRecord, Label, LabelSpace
from vidence.make.writing.choices_options import in_order, match_labels, n_wanted, neighbours, options_fault

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


def drawn(record: AnnotationRecord, space: LabelSpace, seed: int, *, n: int = 4, confusable=()):
    """The wrong labels of one question; it is alone, so that nothing is learnt from others."""
    (wrong,) = match_labels(
        [("Which?", record)], space, known=[], n=n, confusable=confusable, rng=np.random.default_rng(seed)
    )
    return wrong


def test_siblings_are_often_there_and_what_is_true_never():
    record = AnnotationRecord(record_id="a", label="spoon", also_true=("knife",))
    counts: Counter[str] = Counter()
    for seed in range(80):
        wrong = drawn(record, TREE, seed)
        assert isinstance(wrong, tuple), wrong
        counts.update(wrong)
        assert not {"spoon", "teaspoon", "knife", "cutlery"} & set(wrong)
        assert options_fault("Which?", record, wrong, n=4, space=TREE) is None
    assert set(counts) == {"fork", "ladle", "plate", "bowl", "cup", "mug"}


def test_confusable_labels_are_preferred():
    record = AnnotationRecord(record_id="a", label="fork")
    with_it, without = (
        sum("cup" in drawn(record, TREE, seed, n=2, confusable=pairs) for seed in range(60))
        for pairs in ([("cup", "fork")], [])
    )
    assert with_it > without + 10


def test_labels_that_are_taken_for_one_another_do_not_stand_together():
    labels = tuple(Label(name=a, near=(b,)) for a, b in ("ab", "ba", "cd", "dc"))
    near = LabelSpace(name="x", labels=(*labels, *(Label(name=one) for one in "efg")))
    for seed in range(40):
        shown = {"a", *drawn(AnnotationRecord(record_id="r", label="a"), near, seed, n=3)}
        assert "b" not in shown
        assert not {"c", "d"} <= shown


def test_too_few_false_labels_are_an_objection():
    record = AnnotationRecord(record_id="a", label="fork", also_true=("plate", "bowl", "cup", "mug", "ladle"))
    found = drawn(record, TREE, 1)
    assert found.reason == "wrong-number"
    assert "3 labels are false" in found.detail
    assert n_wanted(5, LabelSpace(name="s", labels=TREE.labels[:2])) == 2
    assert n_wanted(5, None) == 5


def test_the_right_number_has_every_rank_and_neighbours_touch():
    ranks: Counter[int] = Counter()
    record = AnnotationRecord(record_id="a", label="5")
    for seed in range(500):
        wrong = neighbours(record, NUMBERS, n=4, rng=np.random.default_rng(seed))
        numbers = sorted(map(int, (*wrong, "5")))
        assert numbers == list(range(numbers[0], numbers[0] + 5))
        ranks[numbers.index(5)] += 1
    assert set(ranks) == set(range(5))
    assert min(ranks.values()) > 60


def test_a_guess_at_the_label_that_is_right_most_often_gains_little():
    flat = LabelSpace(name="f", labels=tuple(Label(name=name) for name in "abcdefghij"))
    often = dict(zip("abcdefghij", (60, 60, 60, 60, 60, 20, 20, 20, 20, 20), strict=True))
    truths = [name for name, n in often.items() for _ in range(n)]
    records = [
        AnnotationRecord(record_id=str(i), label=truth, source_id=f"v{i % 40}")
        for i, truth in enumerate(truths)
    ]
    asked = [("Which?", record) for record in records]
    matched = match_labels(asked, flat, known=asked, n=4, confusable=(), rng=np.random.default_rng(0))
    hits = [
        max((truth, *wrong), key=lambda name: (often[name], name)) == truth
        for truth, wrong in zip(truths, matched, strict=True)
        if isinstance(wrong, tuple)
    ]
    assert len(hits) > 0.95 * len(truths)
    assert np.mean(hits) < 0.25


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
