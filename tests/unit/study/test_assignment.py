"""Who gets which trials: complete designs, no catch trial first, the same again from seed and slot."""

from collections import Counter

import msgspec
import pytest

from vidence.explain.diagnostics.conditions import own_letter
from vidence.records import Item
from vidence.study.assignment import all_trials, assignment, wrong_items
from vidence.study.drawing import Drawn
from vidence.study.replies import Stimulus
from vidence.study.study import Catch, Draw, Field, Overlap, Phase, Practice, Response, Study

ANSWER = (Field(name="answer", kind="answer"),)


def drawn(n, *, n_catch=0, n_practice=0, pairs=False):
    asked = tuple(
        Stimulus(item_id=f"q{i}", **({"run": "a", "other": "b"} if pairs else {})) for i in range(n)
    )
    return Drawn(
        study_sha256="0" * 64,
        benchmark="table",
        asked=asked,
        practice=tuple(Stimulus(item_id=f"p{i}") for i in range(n_practice)),
        catch={f"c{i}": "A" for i in range(n_catch)},
        n_choices={f"q{i}": 4 for i in range(n)},
    )


def study(*phases, **more):
    return Study(phases=phases or (Phase(name="first"),), form=ANSWER, **more)


def test_a_crossed_study_gives_everything_to_everyone_in_orders_of_their_own():
    asking = study(draw=Draw(seed=7), shuffle_choices=True)
    slots = [assignment(asking, drawn(40), slot) for slot in range(3)]
    assert all({t.item_id for t in own} == {f"q{i}" for i in range(40)} for own in slots)
    assert len({tuple(t.item_id for t in own) for own in slots}) == 3
    assert slots[1] == assignment(asking, drawn(40), 1)
    assert slots[1] != assignment(study(draw=Draw(seed=8), shuffle_choices=True), drawn(40), 1)
    assert [t.place for t in slots[0]] == list(range(40))
    assert len({t.choice_order for t in slots[0]}) > 10
    assert all(sorted(t.choice_order) == [0, 1, 2, 3] for t in slots[2])
    given = assignment(study(order="given"), drawn(5), 2)
    assert [t.item_id for t in given] == ["q0", "q1", "q2", "q3", "q4"]
    assert not any(t.choice_order for t in given)


def test_a_full_latin_square_has_each_item_in_each_condition_equally_often():
    conditions = ("whole", "once", "none")
    asking = study(*(Phase(name=c, condition=c) for c in conditions), design="latin-square", n_people=6)
    counts = Counter()
    for slot in range(6):
        trials = assignment(asking, drawn(12), slot)
        assert Counter(t.item_id for t in trials) == Counter(f"q{i}" for i in range(12))
        assert set(Counter(t.phase for t in trials).values()) == {4}
        counts.update((t.item_id, t.condition) for t in trials)
    assert len(counts) == 36
    assert set(counts.values()) == {2}


def test_split_deals_all_out_with_the_shares_of_two_people_and_of_again():
    asking = study(design="split", n_people=5, overlap=Overlap(two=0.2, again=0.1))
    hands = [assignment(asking, drawn(100), slot) for slot in range(5)]
    people = Counter(t.item_id for own in hands for t in own if not t.repeat)
    assert Counter(people.values()) == {1: 80, 2: 20}
    assert {len([t for t in own if not t.repeat]) for own in hands} == {24}
    for own in hands:
        again = [t for t in own if t.repeat]
        assert len(again) == 2
        assert own[-2:] == tuple(again)  # as far from the first time as can be
        assert {t.item_id for t in again} < {t.item_id for t in own if not t.repeat}
    pairs = {
        tuple(slot for slot, own in enumerate(hands) if item in {t.item_id for t in own})
        for item, n in people.items()
        if n == 2
    }
    assert len(pairs) > 4  # not always the same two people


@pytest.mark.parametrize("n", [1, 2, 9, 30])
def test_catch_trials_are_spread_and_never_first(n):
    asking = study(Phase(name="one"), Phase(name="two"), catch=Catch(n=3, items="c.jsonl"))
    for slot in range(20):
        trials = assignment(asking, drawn(n, n_catch=6), slot)
        assert [t.place for t in trials] == list(range(2 * (n + 3)))
        for name in ("one", "two"):
            own = [t for t in trials if t.phase == name]
            caught = [i for i, t in enumerate(own) if t.kind == "catch"]
            assert len(caught) == 3
            assert caught[0] > 0
            assert all(own[i].expected == "A" for i in caught)
            if n == 30:
                assert caught[0] <= 10 < caught[1] <= 21 < caught[2]
        assert len({t.item_id for t in trials if t.kind == "catch"}) == 6


def test_phases_of_wrong_answers_keep_their_places_and_ask_what_was_wrong():
    phases = (Phase(name="closed"), Phase(name="oracle", items="wrong"), Phase(name="last"))
    asking = study(*phases, catch=Catch(n=1, items="c.jsonl"), practice=Practice(n=2))
    put = drawn(6, n_catch=3, n_practice=2)
    fixed = assignment(asking, put, 0)
    assert [t.kind for t in fixed[:2]] == ["practice", "practice"]
    last = [t for t in fixed if t.phase == "last"]
    assert last[0].place == 2 + 7 + 7
    items = {
        f"q{i}": Item(item_id=f"q{i}", question="?", choices=("a", "b", "c", "d"), answer="B")
        for i in range(6)
    }
    items["q5"] = Item(item_id="q5", question="?", answer="Blue whale", answer_kind="text")
    closed = {t.item_id: t for t in fixed if t.phase == "closed" and t.kind == "asked"}
    said = {"q0": "B", "q1": "A", "q2": "B", "q3": "B", "q5": " blue  WHALE"}  # q4 is empty
    responses = [Response(participant="P01", trial=closed[i], values={"answer": v}) for i, v in said.items()]
    every = all_trials(asking, put, 0, responses=responses, items=items)
    oracle = [t for t in every if t.phase == "oracle"]
    assert {t.item_id for t in oracle if t.kind == "asked"} == {"q1", "q4"}
    assert [t.place for t in oracle] == [9, 10, 11]
    assert oracle[0].kind == "asked"
    assert [t for t in every if t.phase != "oracle"] == list(fixed)
    said |= {"q1": "B", "q4": "B"}
    responses = [Response(participant="P01", trial=closed[i], values={"answer": v}) for i, v in said.items()]
    assert all_trials(asking, put, 0, responses=responses, items=items) == fixed
    second = msgspec.structs.replace(closed["q0"], repeat=1)  # the same item a second time is no answer
    responses.append(Response(participant="P01", trial=second, values={"answer": "C"}))
    assert not wrong_items(asking, list(said), before="closed", responses=responses, items=items)


def test_what_a_phase_keeps_is_not_asked_again_as_wrong():
    phases = (Phase(name="closed"), Phase(name="open", keeps=True), Phase(name="oracle", items="wrong"))
    asking, put = study(*phases), drawn(4)
    items = {f"q{i}": Item(item_id=f"q{i}", question="?", choices=("a", "b"), answer="B") for i in range(4)}
    said = {"closed": {"q0": "B", "q1": "B", "q2": "A"}, "open": {"q1": "A", "q3": "B"}}
    responses = [
        Response(participant="P01", trial=t, values={"answer": said[t.phase][t.item_id]})
        for t in assignment(asking, put, 0)
        if t.item_id in said[t.phase]
    ]
    every = all_trials(asking, put, 0, responses=responses, items=items)
    assert {t.item_id for t in every if t.phase == "oracle"} == {"q1", "q2"}


def test_which_reply_of_a_pair_stands_first_is_balanced_over_people():
    put = drawn(20, pairs=True)
    firsts = [t.run for slot in range(50) for t in assignment(study(), put, slot)]
    assert 400 < firsts.count("a") < 600
    assert {(t.run, t.other) for t in assignment(study(), put, 0)} == {("a", "b"), ("b", "a")}


def test_letters_of_the_page_are_turned_into_those_of_the_item():
    trial = assignment(study(shuffle_choices=True), drawn(1), 3)[0]
    order = trial.choice_order
    assert "".join(own_letter(shown, order) for shown in "ABCD") == "".join("ABCD"[i] for i in order)
    assert (own_letter("E", order), own_letter("AB", order), own_letter("B", ())) == ("E", "AB", "B")
