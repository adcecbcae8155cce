"""Checks without models, and letters."""

from collections import Counter

import pytest

from subjects.gated import FRUIT, draft
from vidence.make.gates.checks import check
from vidence.make.gates.letters import spread_letters
from vidence.make.gates.rules import CheckRules

LONG = "Somebody opens the drawer beside the sink, takes a knife, and then washes it. How often, {}?"
COUNTS = ("3", "4", "5", "6", "7")


def reasons(*drafts, **rules) -> dict[str, str]:
    dropped = check(drafts, CheckRules(**rules))
    assert {one.stage for one in dropped} <= {"checks"}
    return {one.what: one.reason for one in dropped}


def test_sound_drafts_pass_in_their_order():
    drafts = [draft("one"), draft("two", choices=("red", "green", "blue", "white", "black"))]
    assert check(drafts, CheckRules()) == check([], CheckRules()) == ()


def test_of_equal_drafts_the_first_stays_whatever_the_order_of_their_choices():
    first = draft("one", question="Which fruit?")
    second = draft("two", question="which  fruit", choices=FRUIT[::-1], answer_index=4)
    assert reasons(first, second) == {"two": "repeat"}


def test_the_same_words_about_another_video_or_for_another_task_stay():
    same = {"question": "Which fruit?"}
    assert (
        reasons(draft("a", **same), draft("b", **same, video_id="v2"), draft("c", **same, task="FAM")) == {}
    )


def test_two_right_answers_to_one_question_remove_both():
    same = {"question": "Which fruit?"}
    assert reasons(draft("a", **same), draft("b", **same, answer_index=2)) == {
        "a": "contradiction",
        "b": "contradiction",
    }


def test_nearly_equal_drafts_are_one_only_with_the_same_answer_and_evidence():
    def about(name: str, **changes: object):
        return draft(name, question=LONG.format(name), choices=COUNTS, **changes)

    one = about("first time")
    assert reasons(one, about("first times")) == {"first times": "near-repeat"}
    assert reasons(one, about("first times", answer_index=3)) == {}
    # overlap 1 s of 5 s that both cover together
    apart = ((1.0, 2.0), (10.0, 11.0), (20.0, 21.0))
    assert reasons(one, about("first times", spans=apart)) == {}
    assert reasons(one, about("first times", spans=apart), same_evidence=0.2) == {
        "first times": "near-repeat"
    }
    assert reasons(one, about("first times", spans=apart), same_evidence=0.21) == {}


ASKED = (
    "What colour is the car?",
    "Which of these does the man in the kitchen pick up first?",
    "How many people walk past the shop before the bus stops?",
    "Where does the woman put the cup after she has washed it?",
    "Who opens the door?",
)
PREFIXES = (
    "In the video, ",
    "Based on the following clip, ",
    "Please watch the video and answer: ",
    "From what is shown in the footage: ",
    "Based on the video that you have been given, ",
    "Now, in the film above, ",
    "Having watched the whole recording, ",
)


def moved(text: str) -> str:
    """The same words with the last three before the others."""
    words = text.rstrip("?").split()
    return " ".join((*words[-3:], *words[:-3])) + "?"


@pytest.mark.parametrize("text", ASKED)
def test_a_question_asked_again_with_a_prefix_or_in_another_order_is_near(text):
    again = [*(f"{prefix}{text[0].lower()}{text[1:]}" for prefix in PREFIXES), moved(text), text.lower()]
    for other in again:
        turned = draft("b", question=other, choices=FRUIT[::-1], answer_index=4)
        assert reasons(draft("a", question=text), turned) == {
            "b": "repeat" if other == text.lower() else "near-repeat"
        }
    fewer = ("apple", "pear", "plum", "fig", "lime")
    assert reasons(draft("a", question=text), draft("b", question=moved(text), choices=fewer)) != {}
    others = ("apple", "rice", "milk", "salt", "lime")
    assert reasons(draft("a", question=text), draft("b", question=moved(text), choices=others)) == {}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What colour is the car?", "What colour is the bus?"),
        ("What is in the box on the table?", "What is on the box in front of the table?"),
        ("How many people walk past the shop?", "How many tall people walk past the shop?"),
        ("Of the men in red coats, who leaves last?", "Of the men in blue coats, who leaves last?"),
    ],
)
def test_other_words_ask_for_something_else_even_with_the_same_answer(one, other):
    assert reasons(draft("a", question=one), draft("b", question=other)) == {}


def test_a_chain_of_near_repeats_keeps_what_is_only_near_to_a_dropped_one():
    words = "Which of these does the person in the kitchen do first, and which one last"
    texts = [words, words + " today", words + " today, if any"]
    drafts = [draft(str(i), question=text) for i, text in enumerate(texts)]
    dropped = reasons(*drafts, near=0.85)
    assert dropped == {"1": "near-repeat"}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"choices": ("a plum", "the plum", "fig", "kiwi", "pear")}, "same-options"),
        ({"choices": ("2 to 4", "3 times", "5", "6", "7"), "answer_index": 1}, "overlapping-options"),
        ({"choices": ("red", "red or blue", "green", "white", "black")}, "overlapping-options"),
        ({"question": "The answer is apple. Which fruit is it?"}, "answer-in-question"),
        ({"question": "Which one is it, if option A is ripe?"}, "letter-in-question"),
        ({"question": "What does {person_name} take?"}, "left-by-a-template"),
        ({"facts": {"apple": "at 3 s", "fig": "at 3 s", "plum": "never"}}, "facts-name-two"),
    ],
)
def test_ambiguous_drafts_and_those_that_give_themselves_away_go(changes, reason):
    assert reasons(draft("bad", **changes), draft("good", task="FAM")) == {"bad": reason}


# --------------------------------------------------------------------------- letters


def many(n: int, task: str, index: int, **changes: object):
    return [draft(f"{task}{i}", task=task, answer_index=index, **changes) for i in range(n)]


def test_letters_are_even_in_every_task_and_over_all():
    drafts = [*many(23, "AC", 0), *many(12, "FAM", 4), *many(3, "FOM", 2)]
    spread = spread_letters(drafts, seed=5)
    for task, n in (("AC", 23), ("FAM", 12), ("FOM", 3)):
        counts = Counter(d.answer_index for d in spread if d.task == task)
        assert {counts[i] for i in range(5)} <= {n // 5, n // 5 + 1}
    overall = Counter(d.answer_index for d in spread)
    assert sorted(overall.values()) == [7, 7, 8, 8, 8]
    for old, new in zip(drafts, spread, strict=True):
        assert new.choices[new.answer_index] == old.choices[old.answer_index]
        assert sorted(new.choices) == sorted(old.choices)
        assert (new.draft_id, new.evidence) == (old.draft_id, old.evidence)


def test_only_what_is_too_much_moves_and_a_second_spread_moves_nothing():
    even = [draft(f"d{i}", answer_index=i % 5) for i in range(10)]
    assert spread_letters(even, seed=1) == tuple(even)
    lopsided = [*even, draft("d10", answer_index=0), draft("d11", answer_index=0)]
    once = spread_letters(lopsided, seed=1)
    assert sum(one != other for one, other in zip(lopsided, once, strict=True)) == 1
    assert spread_letters(once, seed=1) == once
    assert spread_letters(lopsided, seed=1) == once


def test_the_order_of_wrong_choices_does_not_tell_where_the_right_one_was():
    drafts = [draft(f"d{i}", choices=("1", "2", "3", "4", "5"), answer_index=0) for i in range(300)]
    moved = [d for d in spread_letters(drafts, seed=3) if d.answer_index]
    ascending = sum(list(w) == sorted(w) for d in moved for w in [[c for c in d.choices if c != "1"]])
    assert len(moved) == 240
    assert ascending < 25  # 240 / 24 by chance; all of them if the wrong ones kept their order


def test_choices_that_speak_of_others_stay_where_they_are():
    choices = ("apple", "pear", "plum", "fig", "none of the above")
    fixed = [draft(f"f{i}", choices=choices, answer_index=4) for i in range(5)]
    spread = spread_letters([*fixed, *many(20, "AC", 4)], seed=1)
    assert spread[:5] == tuple(fixed)
    assert set(Counter(one.answer_index for one in spread).values()) == {5}
