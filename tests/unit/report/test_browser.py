"""Which questions a page shows, and what all runs made of each."""

import dataclasses
from collections import Counter

from vidence.records import Answered, Unreadable
from vidence.report.browser import Entry, RunReply, browse, pick
from vidence.report.questions import ContactSheets

RIGHT, WRONG, UNREADABLE = Answered(answer="A"), Answered(answer="B"), Unreadable(reason="-")


def sheets():
    return ContactSheets(cache_root=None, media_root=None, budget_bytes=0)


def named(*runs):
    return [(f"run-{i}", f"run {i}", run) for i, run in enumerate(runs, start=1)]


def outcomes(runs, name, *some, items=None):
    items = items or [runs.question(f"i{n}", f"v{n}", "A") for n in range(len(some))]
    trials = [runs.marked(item, one) for item, one in zip(items, some, strict=True)]
    return runs.load(name, items=items, trials=trials)


def test_rare_fates_are_whole_and_the_rest_is_shared_alike():
    fates = ["right"] * 60 + ["wrong"] * 30 + ["unreadable"] * 2
    assert Counter(pick(fates, fates, 22)) == {"right": 10, "wrong": 10, "unreadable": 2}
    assert pick("abc", "xyx", 10) == pick("abc", "xyx", 3) == ["a", "b", "c"]
    assert pick(range(100), ["right"] * 100, 4) == [12, 37, 62, 87]  # spread in its order
    assert all(len(pick("abc", "xyz", n)) <= n for n in range(3))


def test_a_question_stands_once_with_a_mark_for_each_run(runs):
    first = outcomes(runs, "a", RIGHT, WRONG)
    second = outcomes(runs, "b", WRONG, WRONG)
    found = browse(named(first, second), sheets=sheets(), n_items=100)
    assert [entry.item.item_id for entry in found.entries] == ["i0", "i1"]
    assert [entry.marks for entry in found.entries] == ["run-1:right run-2:wrong", "run-1:wrong run-2:wrong"]
    assert [one.name for one in found.entries[0].told] == ["run 1", "run 2"]
    assert found.entries[0].n_right == 1
    assert found.entries[0].readers("A") == "read in run 1"
    assert found.entries[1].readers("B") == "read in run 1, run 2"
    assert found.entries[0].readers("C") == ""
    assert found.note == "All 4 trials on 2 questions."


def test_many_who_said_the_same_are_counted(runs):
    several = [outcomes(runs, f"r{i}", RIGHT) for i in range(4)]
    (entry,) = browse(named(*several), sheets=sheets(), n_items=100).entries
    assert entry.readers("A") == "read in 4 of 4"


def test_the_same_id_under_another_question_stands_apart(runs):
    other = [runs.question("i0", "v0", "A", question="Another?")]
    found = browse(
        named(outcomes(runs, "a", RIGHT), outcomes(runs, "b", RIGHT, items=other)), sheets=sheets(), n_items=9
    )
    assert [len(entry.told) for entry in found.entries] == [1, 1]


def test_other_orders_of_the_choices_are_told(runs):
    item = runs.question("i0", "v0", "A")
    trials = [
        runs.marked(item, RIGHT, choice_order=order, repeat=i) for i, order in enumerate(((), (1, 0, 2, 3)))
    ]
    (entry,) = browse(
        named(runs.load("a", items=[item], trials=trials, repeats=2)), sheets=sheets(), n_items=9
    ).entries
    assert not entry.is_one_order
    assert [one.name for one in entry.told] == ["repeat 0", "repeat 1"]


def test_frames_stand_once_where_all_runs_were_shown_the_same(runs):
    first, again, other = (
        RunReply(
            run_id=f"r{i}", name="", row=runs.load(f"r{i}").rows[0], sheet_id=sheet, shown="", prompt_note=""
        )
        for i, sheet in enumerate(("s1", "s1", "s2"))
    )
    entry = Entry(id="q", item=runs.items[0], told=(first, again), tag_ids="", is_one_order=True)
    assert entry.one_sheet == "s1"
    assert dataclasses.replace(entry, told=(first, other)).one_sheet == ""


def test_room_is_counted_in_trials(runs):
    several = [outcomes(runs, f"r{i}", *[RIGHT] * 10) for i in range(3)]
    found = browse(named(*several), sheets=sheets(), n_items=12)
    assert len(found.entries) == 4
    assert found.note.startswith("12 of 30 trials on 4 questions: alike many")
    assert len(browse(named(*several), sheets=sheets(), n_items=2).entries) == 1
    assert browse(named(*several), sheets=sheets(), n_items=0).entries == ()
