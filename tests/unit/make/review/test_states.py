"""The states of an item: which acts lead where, and which the guards refuse."""

import msgspec
import pytest

from subjects.reviewing import LONG, Team, answers, at
from vidence.make.review.protocol import Check, Protocol, Stage, load_protocol
from vidence.make.review.recording import said_before, shown_to
from vidence.make.review.revisions import Event, new_revision
from vidence.make.review.states import advance, allowed_kinds


def began(protocol="mmvu") -> Team:
    team = Team(protocol)
    team.put()
    return team


def test_the_way_through_one_stage_and_through_two():
    team = began()
    assert team.state == "submitted"
    assert team.look("bob") == ""
    assert team.state == "accepted"
    team = began("humanpcr-r")
    assert team.look("bob") == ""
    assert team.state == "reviewed"
    assert team.look("cid", role="meta") == ""
    assert team.state == "accepted"


def test_nobody_reviews_their_own_and_meta_is_a_third_person():
    team = began("humanpcr-r")
    said = team.act("claim", "ann")
    assert said == (
        "q1 is submitted; claim by ann: ann is its author; authors do not review their own items; "
        "allowed now: claim, withdraw, say"
    )
    team.look("bob")
    assert "bob was its reviewer" in team.act("claim", "bob", "meta")
    assert "ann is its author" in team.act("claim", "ann", "meta")
    assert "the role 'reviewer'; expected 'meta'" in team.act("claim", "cid")


def test_an_author_revises_once_over_all_stages():
    team = began("humanpcr-r")
    assert team.back("bob") == ""
    assert (team.state, team.reviews.states["q1"].returns_left) == ("returned", 0)
    assert "allowed now: resubmit, withdraw" in team.act("claim", "bob")
    team.put(question="Which one?")
    assert team.look("bob") == ""  # the same person again, of the same stage
    assert "revised it already" in team.back("cid", "meta") or "not allowed" in team.back("dan", "meta")
    assert team.state == "in-meta"
    kinds = allowed_kinds(team.reviews.states["q1"], team.protocol)
    assert "return" not in kinds
    assert "reject" in kinds


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"message": LONG}, "no failed check"),
        ({"message": "short", "checks": {"answer": "no"}}, "a message of 5 signs; expected 40 or more"),
        ({"message": LONG, "checks": {"colour": "no"}}, "'colour' is no check or score here"),
        ({"message": LONG, "checks": {"answer": "perhaps"}}, "expected yes or no"),
    ],
)
def test_a_return_needs_a_message_and_a_failed_check(said, why):
    team = began()
    team.act("claim", "bob")
    assert why in team.act("return", "bob", **said)
    assert team.state == "in-review"


@pytest.mark.parametrize(
    ("checks", "scores", "why"),
    [
        ({"evidence": "1"}, {}, "'evidence' is 1; 2 or more are needed"),
        ({"facts": "no"}, {}, "'facts' is no; one of them is wrong"),
        (None, {"complexity": 5}, "no score for diversity, clarity"),
        (None, {"complexity": 9}, "9 under 'complexity'; expected 1 to 5"),
    ],
)
def test_what_is_accepted_has_every_answer_and_no_fault(checks, scores, why):
    team = began("humanpcr-r")
    team.act("claim", "bob")
    said = {"checks": answers(team.protocol, **(checks or {}))}
    if scores:
        said["scores"] = scores
    assert why in team.act("accept", "bob", **said)
    assert "no answer to" in team.act("accept", "bob", checks={})


def test_the_meta_stage_has_a_higher_bar():
    team = began("humanpcr-r")
    team.look("bob")
    assert "'complexity' is 2; 3 or more are needed" in team.look(
        "cid", role="meta", scores={"complexity": 2}
    )


def test_a_validator_edits_and_accepts_the_new_wording():
    team = began()
    team.act("claim", "bob")
    team.put("bob", "reviewer", question="Which one?")
    state = team.reviews.states["q1"]
    assert (state.state, state.n, state.was_edited, state.author) == ("in-review", 2, True, "ann")
    assert team.act("accept", "bob") == ""
    assert team.reviews.events[-1].revision == team.reviews.states["q1"].revision


def test_a_solver_sees_no_key_before_the_answer_is_in():
    team = began("perceptioncomp")
    team.act("claim", "bob")
    seen = shown_to(team.reviews, team.reviews.states["q1"], by="bob")
    assert seen == {"question": "Which?", "choices": ["a", "b"]}
    assert "not solved yet" in team.act("accept", "bob")
    assert "no answer" in team.act("solve", "bob")
    assert team.act("solve", "bob", answer="A") == ""
    assert "answer" in shown_to(team.reviews, team.reviews.states["q1"], by="bob")
    assert "answer" not in shown_to(team.reviews, team.reviews.states["q1"], by="dan")
    assert "no witness was given" in team.act("accept", "bob")
    assert "no condition" in team.act("witness", "bob", message="something")
    assert team.act("witness", "bob", message="second: at 41 s there is a red cup, too") == ""
    assert team.reviews.events[-1].checks == {"second": "yes"}
    assert team.act("accept", "bob") == ""


def test_each_condition_needs_a_witness():
    team = Team("perceptioncomp")
    team.put(tags={"n_conditions": "3"})
    team.act("claim", "bob")
    team.act("solve", "bob", answer="A")
    two = "first: at 3 s nobody waves\nsecond: at 41 s there is a red cup, too"
    assert team.act("witness", "bob", message=two) == ""
    assert "witnesses of 2 of 3 conditions; each needs one" in team.act("accept", "bob")
    assert team.act("witness", "bob", message="second: at 50 s, again") == ""
    assert "witnesses of 2 of 3" in team.act("accept", "bob")
    assert team.act("witness", "bob", message="third: at 60 s he sits") == ""
    assert team.act("accept", "bob") == ""


def test_two_looks_that_differ_need_a_third():
    stage = Stage(role="reviewer", checks=(Check(id="right", words="Is it right?"),), looks=2)
    team = began(Protocol(title="two", stages=(stage,)))
    assert team.act("claim", "bob") == ""
    assert team.act("claim", "cid") == ""
    assert "bob, cid looks at it" in team.act("claim", "dan")
    team.act("accept", "bob")
    assert team.state == "in-review"
    team.act("reject", "cid", message="no")
    assert team.reviews.states["q1"].is_disputed
    assert "no claim of this person" in team.act("accept", "bob")
    assert "bob has it already" in team.act("claim", "bob")
    assert team.look("dan") == ""
    state = team.reviews.states["q1"]
    assert (state.state, state.is_disputed, state.was_disputed) == ("accepted", False, True)


@pytest.mark.parametrize(("third", "end"), [("accept", "accepted"), ("reject", "rejected")])
def test_two_decisions_on_one_revision_by_people_apart_need_a_third(third, end):
    one = began()
    other = one.copy()
    one.look("bob")
    assert one.state == "accepted"
    other.look("cid", "reject", message="It can be answered without the video.")
    whole = one.merged(other)
    state = whole.reviews.states["q1"]
    assert whole.reviews.folded.refused == ()
    assert (whole.state, state.is_disputed) == ("in-review", True)
    assert [said.by for said in state.decisions] == ["bob", "cid"]
    assert whole.look("dan", third, message="I agree with one of you.") == ""
    assert whole.state == end


def test_two_that_agree_apart_need_nobody():
    one = began()
    other = one.copy()
    one.look("bob")
    other.look("cid")
    assert one.merged(other).state == "accepted"
    assert other.merged(one).reviews.states == one.merged(other).reviews.states


def test_a_return_that_is_disputed_gives_the_chance_back():
    one = began()
    other = one.copy()
    one.back("bob")
    other.look("cid")
    whole = one.merged(other)
    assert (whole.state, whole.reviews.states["q1"].returns_left) == ("in-review", 1)
    assert whole.back("dan") == ""
    assert (whole.state, whole.reviews.states["q1"].returns_left) == ("returned", 0)


def test_what_comes_too_late_is_kept_without_effect():
    one = began()
    other = one.copy()
    one.back("bob")
    one.put(question="Which one?")
    other.minute = 20
    other.look("cid")
    whole = one.merged(other)
    assert whole.state == "submitted"
    assert [event.kind for event, _ in whole.reviews.folded.refused] == ["claim", "accept"]
    assert "it is about revision 1, and 2 is the last" in whole.reviews.folded.refused[0][1]


def test_only_operators_undo_an_end_and_it_takes_two():
    team = began()
    team.look("bob")
    assert "no message" in team.act("reject", "olga", "operator")
    assert "by an operator, with a message" in team.act("withdraw", "ann", "author", message="mine")
    assert team.act("withdraw", "olga", "operator", message="The video is gone.") == ""
    assert team.state == "voided"
    assert "its author, or looked at it" in team.act("reopen", "bob", "operator", message="back")
    assert team.act("reopen", "olga", "operator", message="It is back.") == ""
    assert team.state == "voided"
    assert "a second operator" in team.act("reopen", "olga", "operator", message="It is back.")
    assert team.act("reopen", "otto", "operator", message="So it is.") == ""
    assert team.state == "accepted"
    assert team.act("reject", "olga", "operator", message="The audit found two right choices.") == ""
    assert team.state == "rejected"
    assert "allowed now: reopen" in team.act("claim", "cid")


def test_a_rejected_item_goes_back_to_where_it_waited():
    team = began("humanpcr-r")
    team.look("bob")
    team.look("cid", "reject", "meta", message="too easy")
    for name in ("olga", "otto"):
        assert team.act("reopen", name, "operator", message="looked at the wrong one") == ""
    assert team.state == "reviewed"
    assert team.look("dan", role="meta") == ""


def test_what_is_given_back_waits_again_and_an_author_may_withdraw():
    team = began()
    team.act("claim", "bob")
    assert team.act("release", "bob") == ""
    assert team.state == "submitted"
    assert "its author, ann" in team.act("withdraw", "bob", "author")
    assert team.act("withdraw", "ann", "author") == ""
    assert team.state == "withdrawn"


def test_whoever_has_to_do_with_an_item_says_something_about_it():
    team = began("humanpcr-r")
    assert team.act("say", "ann", role="author", message="see the second scene") == ""
    assert "bob is not its reviewer" in team.act("say", "bob", message="which one?")
    assert team.act("claim", "bob") == ""
    before = team.reviews.states["q1"]
    assert team.act("say", "bob", message="which one?") == ""
    assert team.act("say", "olga", role="operator", message="the one with the cup") == ""
    assert team.reviews.states["q1"] == before
    assert "no message" in team.act("say", "bob", message=" ")
    assert "dan is not its author" in team.act("say", "dan", role="author", message="mine")
    assert [one.message for one in said_before(team.reviews, before, by="bob")] == [
        *("see the second scene", "which one?", "the one with the cup")
    ]
    assert team.act("accept", "bob") == ""
    assert team.act("say", "bob", message="well made") == ""
    assert team.look("cid", role="meta") == ""
    assert "'say' is not allowed" in team.act("say", "bob", message="too late")


def test_a_claim_expires_by_an_operator_once_it_is_old():
    protocol = msgspec.structs.replace(load_protocol("mmvu"), claim_days=0.5)
    team = began(protocol)
    assert team.act("claim", "bob") == ""
    assert team.reviews.states["q1"].since == {"bob": "2026-11-22T00:02:00.000000Z"}
    assert "bob has had it for 0.0 days; a claim expires after 0.5" in team.act(
        "expire", "olga", role="operator", whose="bob"
    )
    team.minute += 12 * 60
    assert "no claim of cid; claims: bob" in team.act("expire", "olga", role="operator", whose="cid")
    assert "expected 'operator'" in team.act("expire", "bob", whose="bob")
    assert team.act("expire", "olga", role="operator", whose="bob") == ""
    assert (team.state, team.reviews.states["q1"].since) == ("submitted", {})
    assert "no claim of this person" in team.act("accept", "bob") or "not allowed" in team.act(
        "accept", "bob"
    )
    assert team.look("bob") == ""


def test_what_nobody_mends_is_rejected_by_an_operator():
    team = began()
    assert team.back("bob") == ""
    assert "no message; an item that is returned is rejected with a reason" in team.act(
        "reject", "olga", role="operator"
    )
    assert "no claim of this person" in team.act("reject", "bob", message=LONG)
    assert team.act("reject", "olga", role="operator", message="no answer for a month") == ""
    assert team.state == "rejected"
    assert team.act("reopen", "olga", role="operator", message="she was ill") == ""
    assert team.act("reopen", "pia", role="operator", message="she was ill") == ""
    assert (team.state, team.reviews.states["q1"].returns_left) == ("returned", 0)


def test_a_new_wording_changes_something():
    team = began()
    assert team.back("bob") == ""
    state, known = team.reviews.states["q1"], dict(team.reviews.revisions)
    same = new_revision(
        "q1",
        known[state.revision].content,
        parent=known[state.revision],
        origin="author_revise",
        by="ann",
        at=at(9),
    )
    known[same.sha256] = same
    event = Event(
        event_id="", item_id="q1", revision=same.sha256, kind="resubmit", role="author", by="ann", at=at(9)
    )
    assert "nothing in it is changed" in advance(state, event, revisions=known, protocol=team.protocol)
