"""Whether a false text differs in what is listed, and in nothing else."""

import pytest

from vidence.make.herbench.cards.falsifying import changes_between, check_changes
from vidence.make.pipeline.material import Change

TRUE = "A young woman in a red coat walks past two parked cars on a wet street."


def mod(before: str, after: str) -> Change:
    return Change(kind="modification", before=before, after=after)


def add(after: str) -> Change:
    return Change(kind="addition", after=after)


GOOD = [
    ("A young woman in a green coat walks past three parked cars on a wet street.",
     [mod("red", "green"), mod("two", "three")]),
    ("An old man in a red coat runs past two parked cars on a wet street.",
     [mod("young woman", "old man"), mod("walks", "runs")]),
    ("A young woman in a red coat and with a small dog walks past one parked car on a wet street.",
     [add("a small dog"), mod("two", "one")]),
    ("A young woman in a red hat coat walks past two parked cars on a wet street beside a kiosk.",
     [add("hat"), add("beside a kiosk")]),
    ("Young women in blue coats walk past four parked buses in a dry street.",
     [mod("red", "blue"), mod("woman", "women"), mod("two", "four"), mod("cars", "buses"),
      mod("wet", "dry")]),
]  # fmt: skip


@pytest.mark.parametrize(("false", "changes"), GOOD)
def test_listed_changes_are_accepted_in_any_order(false, changes):
    assert check_changes(TRUE, false, changes) is None
    assert check_changes(TRUE, false, changes[::-1]) is None


BAD = [
    ("A young woman in a green coat walks past two parked cars on a wet street.", [mod("red", "green")],
     "wrong-number-of-changes", "1 change"),
    ("A young woman in a green coat walks past three parked cars on a wet street.",
     [mod("red", "green")] * 6, "wrong-number-of-changes", "6 changes"),
    ("A young woman in a green coat walks past three parked vans on a wet street.",
     [mod("red", "green"), mod("two", "three")], "other-differences", "cars, vans"),
    ("A young woman in a green coat walks past three parked cars on a street.",
     [mod("red", "green"), mod("two", "three")], "other-differences", "wet"),
    ("A young woman in a green coat never walks past three parked cars on a wet street.",
     [mod("red", "green"), mod("two", "three")], "other-differences", "never"),
    ("A young woman in a green coat walks without three parked cars on a wet street.",
     [mod("red", "green"), mod("two", "three")], "other-differences", "past, without"),
    ("A young coat in a green woman walks past three parked cars on a wet street.",
     [mod("red", "green"), mod("two", "three")], "other-differences", "order"),
    ("A young woman in a red coat walks past three parked cars on a wet street.",
     [mod("red", "green"), mod("two", "three")], "change-not-there", "'green' does not stand in the false"),
    ("A young woman in a green coat walks past three parked cars on a wet street.",
     [mod("blue", "green"), mod("two", "three")], "change-not-there", "'blue' does not stand in the first"),
    ("A young woman in a green coat walks past three parked cars on a wet street.",
     [mod("red", "teal"), mod("two", "three")], "change-not-there", "'teal' does not stand in the false"),
    ("A young woman in the green coat walks past two parked cars on a wet street.",
     [mod("in a", "in the"), mod("red", "green")], "change-not-there", "no word that means something"),
    ("A young woman in a green coat walks past three parked cars on a wet street.",
     [mod("", "green"), mod("two", "three")], "change-not-there", "empty 'before'"),
    ("A young woman in a green coat walks past three parked cars on a wet street.",
     [Change(kind="addition", before="red", after="green"), mod("two", "three")], "change-not-there",
     "must be empty"),
    # A change that is listed twice is used once.
    ("A young woman in a green coat walks past two parked cars on a wet street.",
     [mod("red", "green"), mod("red", "green")], "other-differences", ""),
]  # fmt: skip


@pytest.mark.parametrize(("false", "changes", "reason", "told"), BAD)
def test_everything_else_is_refused_with_words(false, changes, reason, told):
    wrong = check_changes(TRUE, false, changes)
    assert wrong is not None
    assert wrong.reason == reason
    assert told in wrong.detail


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("A red car and a black car wait.", "A yellow bus and a black car wait."),
        ("A black bus and a yellow car.", "A black car and a yellow bus."),
    ],
)
def test_a_word_that_stands_elsewhere_too_is_no_fault(true, false):
    """``car`` still stands in both; what they say is another thing."""
    assert check_changes(true, false, changes_between(true, false)) is None


def test_the_same_parts_in_another_order_are_not_false():
    true, false = "A yellow bus and a black car.", "A black car and a yellow bus."
    wrong = check_changes(true, false, changes_between(true, false))
    assert wrong is not None
    assert wrong.reason == "same-as-another"


def test_a_false_text_must_be_no_other_card():
    false, changes = GOOD[0]
    wrong = check_changes(TRUE, false, changes, taken=["Another.", false.upper()])
    assert wrong is not None
    assert wrong.reason == "same-as-another"


def test_long_texts_are_checked_in_time():
    words = [f"w{i}" for i in range(75)]
    false = ["red", *words[1:40], "blue", *words[41:]]
    changes = [mod("w0", "red"), mod("w40", "blue")]
    assert check_changes(" ".join(words), " ".join(false), changes) is None
    glue = " ".join(["the a of in on"] * 14)
    assert check_changes(f"x {glue} y", f"p {glue} {glue} q", [mod("x", "p"), mod("y", "q")]) is None
