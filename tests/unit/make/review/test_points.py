"""Verdicts about fields, and what a new wording leaves as it was."""

from subjects.reviewing import CONTENT, LONG, Team, answers, at
from vidence.make.review.points import field_verdicts, last_return, marked_fields, stage_of
from vidence.make.review.recording import submit

MMVU = {
    "question": "yes",
    "choices": "yes",
    "answer": "no",
    "media": "yes",
    "knowledge": "yes",
    "steps": "yes",
}


def returned() -> Team:
    team = Team()
    team.put()
    said = answers(team.protocol, answer="no", expert="no")
    assert team.look("bob", "return", message=LONG, checks=said) == ""
    return team


def test_a_decision_says_something_of_each_field():
    team = returned()
    event = team.reviews.events[-1]
    stage = stage_of(event, team.protocol)
    assert field_verdicts(event, stage) == MMVU
    assert marked_fields(event, stage) == ("answer",)
    assert stage_of(team.reviews.events[0], team.protocol) is None


def test_a_failed_check_goes_before_others_about_the_same_field():
    team = Team("actpld")
    team.put()
    assert team.look("bob", "reject", checks=answers(team.protocol, groups="no")) == ""
    event = team.reviews.events[-1]
    assert field_verdicts(event, team.protocol.stages[0]) == {
        "answer": "yes",
        "media": "yes",
        "choices": "no",
    }


def test_what_was_to_be_mended_and_is_as_it_was_is_said():
    team = returned()
    state = team.reviews.states["q1"]
    assert last_return(team.reviews.events, state.revision).by == "bob"
    assert last_return(team.reviews.events, "other") is None
    choices = list(reversed(CONTENT["choices"]))
    for changed, left in (
        ({"question": "What?"}, {"q1": ("answer",)}),
        ({"answer": "B"}, {}),
        ({"choices": choices}, {}),
    ):
        _, done = submit(
            team.reviews, {"q1": CONTENT | changed}, by="ann", role="author", at=at(team.minute + 1)
        )
        assert done.untouched == left
