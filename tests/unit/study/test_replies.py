"""Trials over replies: which replies, in which order, and what a page shows of them."""

import pytest

from subjects.planted_errors import item, plant
from vidence.errors import DataError, UsageError
from vidence.records import Evidence
from vidence.study.replies import ShownReply, ShownTrial, lines_of, reply_trials, shown_trial, shows_replies
from vidence.study.study import Field, Phase, PlannedTrial, Study

FORM = (Field(name="kind", kind="kinds"), Field(name="better", kind="pair"))
ONE, TWO = Phase(name="a", shows=("question", "reply"), fields=("kind",)), Phase(name="b", fields=("better",))
STUDY = Study(phases=(ONE, TWO), form=FORM)
RUNS = {"gpt": {"knowledge": 0.9}, "qwen": {"perception": 0.9}}


def shown(phase, planted, *, other=""):
    one = next(i for i in reply_trials(STUDY, phase, planted.packet) if i.run == "gpt")
    trial = PlannedTrial(
        place=0, phase=phase.name, item_id=one.item_id, condition="none", run="gpt", other=one.other
    )
    return shown_trial(item(int(one.item_id[1:])), trial, phase, lines=lines_of(planted.packet))


def test_replies_come_once_each_and_pairs_with_either_run_first():
    planted = plant(RUNS, n=60)
    ones, pairs = (reply_trials(STUDY, phase, planted.packet) for phase in (ONE, TWO))
    assert sorted((i.run, i.item_id) for i in ones) == sorted(
        pair for pair, kind in planted.kinds.items() if kind != "right"
    )
    assert {(i.run, i.other) for i in pairs} == {("gpt", "qwen"), ("qwen", "gpt")}
    assert len({i.item_id for i in pairs}) == len(pairs) > 30
    firsts = sum(i.run == "gpt" for i in pairs) / len(pairs)
    assert 0.25 < firsts < 0.75
    assert reply_trials(STUDY, TWO, planted.packet) == pairs


def test_a_page_shows_what_its_phase_names_and_no_run():
    planted = plant(RUNS, n=20)
    page = shown(ONE, planted)
    assert (page.reference, page.rationale, page.evidence, page.label) == ("", "", (), "")
    assert (len(page.replies), page.replies[0].answer, page.choices) == (1, "B", ("one", "two", "three"))
    both = Phase(name="b", shows=("reply", "reference", "label", "rationale"), fields=("better",))
    page = shown(both, planted)
    assert (page.question, page.choices, page.conditions) == ("", (), ())
    assert (page.reference, page.label, page.rationale) == ("A. one", "one", "The door opens first.")
    assert len(page.replies) == 2
    assert not any(name in repr(page) for name in RUNS)
    titles = [title for title, _ in page.parts]
    assert titles[-3:] == ["The right answer", "Why it is right", "Label"]
    assert {"First reply", "Second reply"} <= set(titles)
    silent = ShownTrial(
        replies=(ShownReply(reply="", outcome="no reply"),), evidence=(Evidence(frames=(3, 4)),)
    )
    assert silent.parts == (("The reply", "no reply"), ("Evidence", "e1: frame 3, frame 4"))


def test_a_reply_that_was_not_drawn_and_a_field_that_is_not_there_are_refused():
    planted = plant(RUNS, n=20)
    trial = PlannedTrial(place=0, phase="a", item_id="q0001", condition="none", run="o3")
    with pytest.raises(DataError, match="the reply of 'o3' to 'q0001' was not drawn"):
        shown_trial(item(1), trial, ONE, lines=lines_of(planted.packet))
    with pytest.raises(UsageError, match="phase 'c' asks for the field 'score'; the form has kind, better"):
        STUDY.fields_of(Phase(name="c", fields=("score",)))
    assert shows_replies(STUDY)
    assert not shows_replies(Study(phases=(Phase(name="a"),)))
