"""Guidelines in versions, and trial items whose answers are known."""

import pytest

from vidence.errors import UsageError
from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow, RevisionRow
from vidence.studio.records.people import MembershipRow
from vidence.studio.training import (
    Seat,
    Trial,
    accept,
    add_guideline,
    add_trial,
    answer,
    newest,
    read_by,
    refusal,
    standing,
)
from vidence.studio.workflow import Act, RecordedAct, Refused, act, protocol_of

PROTOCOL = """title = "With trials"
[[stages]]
role = "reviewer"
[[stages.checks]]
id = "right"
words = "It is right."
[qualification]
pass_mark = 0.75
tries = 2
days = {days}
again = {again}
"""


@pytest.fixture
def begin(team, tmp_path):
    def begun(*, days=0, again="true"):
        file = tmp_path / "trials.toml"
        file.write_text(PROTOCOL.format(days=days, again=again))
        project = team.project(protocol=str(file))
        add_items(project, ["q1"], kinds={})
        user = team.user("Ann", "author", "reviewer", project="films")
        return Seat(user=user, project=project, protocol=protocol_of(project), role="reviewer")

    return begun


def trials(project, n=4):
    said = Trial(role="reviewer", words="A question", options=("accept", "return", "reject"), right="return")
    return [add_trial(project, said) for _ in range(n)]


def answers(rows, n_right):
    return {str(one.public): "return" if i < n_right else "accept" for i, one in enumerate(rows)}


def test_a_version_is_read_before_work_and_ties_what_is_written(begin):
    seat = begin()

    def submit():
        item = ItemRow.objects.get()
        return act(item, Act(kind="submit", by=seat.user.pseudonym, role="author", content={"question": "?"}))

    first = add_guideline(seat.project, "Write plainly.\r\n", by="p009")
    assert first.source == "Write plainly."
    assert "version 1 of the guidelines must be read first" in submit().reason
    accept(seat.user, first)
    accept(seat.user, first)
    second = add_guideline(seat.project, "Write plainly and briefly.", by="p009")
    assert (second.version, newest(seat.project)) == (2, second)
    assert isinstance(submit(), Refused)
    accept(seat.user, second)
    third = add_guideline(seat.project, "Write well.", by="p009")
    assert read_by(seat.user.pseudonym, seat.project) == second
    assert third.version == 3
    accept(seat.user, third)
    assert isinstance(submit(), RecordedAct)
    assert RevisionRow.objects.get().guideline == third
    assert MembershipRow.objects.get(user=seat.user).guideline == third


@pytest.mark.parametrize("words", ["", "  \n", "Write plainly."])
def test_guidelines_that_are_empty_or_the_same(begin, words):
    seat = begin()
    add_guideline(seat.project, "Write plainly.", by="p009")
    with pytest.raises(UsageError, match=r"empty|nothing has changed"):
        add_guideline(seat.project, words, by="p009")


def test_a_role_opens_with_enough_right_answers_and_an_operator_may_end_it(begin, team):
    seat = begin()
    assert refusal(seat) == ""  # nothing is asked
    rows = trials(seat.project)
    assert "must be passed first" in refusal(seat)
    with pytest.raises(UsageError, match="trial item 4 has no answer"):
        answer(seat, dict(list(answers(rows, 4).items())[:3]))
    assert not answer(seat, answers(rows, 2)).is_passed
    assert standing(seat).last == (2, 4)
    assert answer(seat, answers(rows, 3)).is_passed
    assert refusal(seat) == ""
    with pytest.raises(UsageError, match="or has passed it"):
        answer(seat, answers(rows, 4))
    MembershipRow.objects.filter(user=seat.user).update(qualified_until=team.clock())
    assert "ended on 2026-11-23" in refusal(seat)


@pytest.mark.parametrize(("again", "is_asked"), [("true", True), ("false", False)])
def test_new_guidelines_ask_anew_where_the_protocol_says_so(begin, again, is_asked):
    seat = begin(again=again)
    rows = trials(seat.project)
    assert answer(seat, answers(rows, 4)).is_passed
    accept(seat.user, add_guideline(seat.project, "Write plainly.", by="p009"))
    assert bool(refusal(seat)) == is_asked
    if is_asked:
        assert answer(seat, answers(rows, 4)).n_try == 2
        assert refusal(seat) == ""


def test_a_pass_ends_where_the_protocol_says_so(begin, team):
    seat = begin(days=30)
    rows = trials(seat.project)
    answer(seat, answers(rows, 4))
    team.clock.move(30 * 86400 - 1)
    assert refusal(seat) == ""
    team.clock.move(1)
    assert "must be passed first" in refusal(seat)
    assert standing(seat).n_tries == 0
    assert answer(seat, answers(rows, 4)).is_passed


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"role": "operator"}, "'operator' is not among them"),
        ({"words": " "}, "is empty"),
        ({"options": ("return", " return ")}, "1 answers to choose from"),
        ({"right": "keep"}, "'keep' is not among"),
    ],
)
def test_trial_items_that_cannot_be(begin, changed, said):
    fields = {"role": "reviewer", "words": "A", "options": ("accept", "return"), "right": "return"}
    with pytest.raises(UsageError, match=said):
        add_trial(begin().project, Trial(**{**fields, **changed}))
