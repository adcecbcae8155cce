"""A participant's way through a study: each step from the log, clocks of the server, what may be taken."""

from datetime import UTC, datetime, timedelta

import pytest

from vidence.errors import UsageError
from vidence.study.assignment import assignment
from vidence.study.drawing import Drawn
from vidence.study.progress import (
    GRACE_S,
    Begin,
    Calibration,
    Consent,
    Course,
    Debrief,
    Ended,
    Review,
    Trial,
    Waiting,
)
from vidence.study.replies import Stimulus
from vidence.study.study import Event, Field, Phase, Practice, Response, Study

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
ANSWER = Field(name="answer", kind="answer")
WORDS = Field(name="words", kind="text", is_frozen=True)
DRAWN = Drawn(
    study_sha256="0" * 64,
    benchmark="table",
    asked=(Stimulus(item_id="q0"), Stimulus(item_id="q1")),
    practice=(Stimulus(item_id="p0"),),
    n_choices={"q0": 3, "q1": 3, "p0": 3},
)


class Person:
    """A participant at a clock: what they do goes into the log as a server would write it."""

    def __init__(self, *phases, form=(ANSWER,), **more):
        self.study = Study(phases=phases, form=form, order="given", **more)
        self.drawn = DRAWN if self.study.practice.n else Drawn(**{**_fields(DRAWN), "practice": ()})
        self.events, self.responses, self.now = [], {}, START

    @property
    def course(self):
        trials = assignment(self.study, self.drawn, 0)
        return Course(
            study=self.study,
            trials=trials,
            events=self.events,
            responses=self.responses,
            n_choices=self.drawn.n_choices,
        )

    def sees(self, place=None):
        step = self.course.step(self.now, place=place)
        if isinstance(step, Trial):
            place = step.planned.place
            if not any(e.kind == "shown" and e.place == place for e in self.events):
                self.log("shown", place=place)
        return step

    def log(self, kind, note="", place=None):
        at = self.now.isoformat()
        self.events.append(Event(participant="P01", at=at, kind=kind, note=note, place=place))

    def wait(self, seconds):
        self.now += timedelta(seconds=seconds)

    def does(self, act, place, field="", **values):
        self.course.admit(act, values, place=place, now=self.now, field=field)
        trial = next(t for t in self.course.trials if t.place == place)
        held = self.responses.get(place)
        self.responses[place] = Response(
            participant="P01",
            trial=trial,
            values={**(held.values if held else {}), **values},
            answered_at=self.now.isoformat() if act == "submit" else "",
        )
        if act == "freeze":
            self.log("frozen", note=field, place=place)

    def begins(self, phase):
        assert isinstance(self.sees(), Begin)
        assert self.sees().phase.name == phase
        self.log("phase-began", note=phase)


def _fields(record):
    return {name: getattr(record, name) for name in record.__struct_fields__}


def refused(words):
    return pytest.raises(UsageError, match=words)


def test_from_consent_to_the_end_each_step_follows_from_the_log():
    one = Person(Phase(name="first"), calibrates=True, practice=Practice(n=1))
    assert one.sees() == Consent()
    with refused("is not yours"):
        one.does("submit", 0, answer="A")
    one.log("consented")
    assert one.sees() == Calibration()
    one.log("calibrated", note="38.1")
    step = one.sees()
    assert (step.planned.kind, step.place_in_phase, step.n_in_phase) == ("practice", 0, 1)
    assert step.seconds_left is None
    one.does("submit", 0, answer="C")
    assert one.sees() == Begin(phase=one.study.phases[0], n_trials=2)
    with refused("has not begun yet"):
        one.does("submit", 1, answer="A")
    one.begins("first")
    one.does("submit", one.sees().planned.place, answer="A")
    with refused("cannot be changed here"):
        one.does("submit", 1, answer="B")
    assert (one.sees().planned.item_id, one.sees().place_in_phase) == ("q1", 1)
    one.does("save", 2, answer="B")
    assert one.sees().planned.item_id == "q1"  # saved is not submitted
    one.does("submit", 2, answer="B")
    assert one.sees() == Debrief()
    one.log("finished")
    assert one.sees() == Ended(state="finished")
    with refused("the study is over for you: you have finished it"):
        one.does("save", 2, answer="A")


@pytest.mark.parametrize("kind", ["declined", "withdrawn"])
def test_who_declines_or_withdraws_sees_the_end_at_any_time(kind):
    one = Person(Phase(name="first"))
    if kind == "withdrawn":
        one.log("consented")
        one.begins("first")
        one.does("submit", 0, answer="A")
    one.log(kind)
    assert one.sees() == Ended(state=kind)
    with refused("the study is over for you"):
        one.does("submit", 1, answer="A")


def test_the_clock_of_a_phase_goes_on_and_ends_it_with_what_was_saved():
    one = Person(Phase(name="closed", limit_s=60), Phase(name="open"))
    one.log("consented")
    one.begins("closed")
    one.does("save", 0, answer="B")
    one.wait(59)
    assert one.sees().seconds_left == 1
    one.wait(1 + GRACE_S)
    assert isinstance(one.sees(), Begin)  # the next phase, also after a crash of the server
    one.does("save", 0, answer="C")  # sent in time, received late
    one.wait(0.1)
    with refused("part of the study has ended"):
        one.does("save", 0, answer="A")
    assert one.responses[0].values == {"answer": "C"}
    assert one.course.phase_ended(one.study.phases[0], one.now) == START + timedelta(seconds=60)


def test_nothing_late_is_taken_once_the_next_phase_has_begun():
    one = Person(Phase(name="closed", limit_s=60), Phase(name="open"))
    one.log("consented")
    one.begins("closed")
    one.wait(61)
    one.begins("open")
    with refused("part of the study has ended"):
        one.does("save", 0, answer="A")


def test_a_trial_that_runs_out_is_left_for_the_next():
    one = Person(Phase(name="first", trial_limit_s=10, limit_s=100))
    one.log("consented")
    one.begins("first")
    assert one.sees().seconds_left == 100  # the clock of the trial starts when it is shown
    one.wait(4)
    assert one.sees().seconds_left == 6
    one.wait(6)
    assert one.sees().planned.item_id == "q1"
    one.wait(GRACE_S + 0.1)
    with refused("the time for this trial has run out; continue"):
        one.does("submit", 0, answer="A")
    one.wait(10)
    assert one.sees() == Debrief()


def test_answers_can_be_changed_until_the_phase_ends_where_the_study_says_so():
    one = Person(Phase(name="open", may_change=True, limit_s=60))
    one.log("consented")
    one.begins("open")
    assert one.sees(place=1).planned.item_id == "q1"
    assert one.sees(place=1).may_leave
    one.does("submit", 1, answer="A")
    assert one.sees().planned.item_id == "q0"
    one.does("submit", 0, answer="A")
    assert one.sees() == Review(phase=one.study.phases[0], places=(0, 1), seconds_left=60)
    one.does("submit", 1, answer="C")
    assert one.sees(place=1).planned.item_id == "q1"
    one.log("phase-ended", note="open")
    assert one.sees() == Debrief()
    with refused("part of the study has ended"):
        one.does("submit", 1, answer="B")


def test_a_phase_that_opens_later_is_waited_for():
    opens = START + timedelta(hours=2)
    one = Person(Phase(name="late", opens_at=opens.isoformat()))
    one.log("consented")
    assert one.sees() == Waiting(phase=one.study.phases[0], until=opens)
    one.wait(7200)
    one.begins("late")


def test_kept_answers_of_the_phase_before_are_told_apart_from_new():
    one = Person(Phase(name="closed"), Phase(name="open", keeps=True, may_change=True))
    one.log("consented")
    one.begins("closed")
    assert one.sees().kept == {}
    one.does("submit", 0, answer="A")
    one.does("submit", 1, answer="B")
    one.begins("open")
    assert one.sees(place=2).kept == {"answer": "A"}
    one.does("save", 2, answer="C")
    kept = one.study.answers_in("open", one.responses.values())
    assert {r.trial.item_id: r.values["answer"] for r in kept} == {"q0": "C", "q1": "B"}


def test_words_are_frozen_before_the_options_are_handed_out():
    one = Person(Phase(name="first"), form=(WORDS, ANSWER))
    one.log("consented")
    one.begins("first")
    assert one.sees().fields_open == ("words",)
    with refused("answer: no field; expected words"):
        one.does("submit", 0, answer="A", words="someone waves")
    with refused("words: send it to see the rest"):
        one.does("submit", 0, words="someone waves")
    with refused("words cannot be sent yet; fill it in first"):
        one.does("freeze", 0, field="words", words="  ")
    with refused("answer cannot be sent yet"):
        one.does("freeze", 0, field="answer", words="someone waves")
    one.does("freeze", 0, field="words", words="someone waves")
    step = one.sees()
    assert (step.fields_open, step.frozen) == (("answer",), {"words": "someone waves"})
    with refused("words was sent as 'someone waves' and can no longer be changed"):
        one.does("submit", 0, answer="A", words="someone jumps")
    with refused("answer: 'D'; expected one of A, B, C"):
        one.does("submit", 0, answer="D")
    with refused("answer: empty; fill it in"):
        one.does("submit", 0)
    one.does("submit", 0, answer="A")
    assert one.responses[0].values == {"words": "someone waves", "answer": "A"}


def test_fields_are_shown_by_what_they_need_and_by_their_phase():
    form = (
        Field(name="right", kind="options", options=("yes", "no")),
        Field(name="why", kind="text", needs="right=no"),
        Field(name="note", kind="text", is_optional=True),
        Field(name="level", kind="scale", low=1, high=3),
    )
    one = Person(
        Phase(name="first", fields=("right", "why", "note")),
        Phase(name="second", fields=("level",)),
        form=form,
    )
    one.log("consented")
    one.begins("first")
    with refused("why: filled in, but asked only with right=no; leave it empty"):
        one.does("submit", 0, right="yes", why="because")
    with refused("why: empty; fill it in"):
        one.does("submit", 0, right="no")
    one.does("submit", 0, right="no", why="because")
    one.does("submit", 1, right="yes", note="hm")
    one.begins("second")
    assert one.sees().fields_open == ("level",)
