"""Who may try the hints of an item, what is kept of it, and what comes of hints that are too strong."""

import pytest

from vidence.studio.access import Person
from vidence.studio.hint_trials import answer, asked_now, closed, open_tries
from vidence.studio.hint_tries import of_wording, refusal, too_strong
from vidence.studio.projects import add_items, add_project
from vidence.studio.records.items import ItemRow, ReviewRow
from vidence.studio.workflow import Act, RecordedAct, Refused, act, protocol_of

WORDS = {
    "item_id": "q1",
    "question": "Which cup is filled second?",
    "choices": ["the red one", "the blue one"],
    "answer": "B",
    "hints": ["Something is poured.", "One of two is meant.", "Look at the left hand."],
}


class Desk:
    """An item of Ann's with hints, and who else is there."""

    def __init__(self, team, protocol="mmvu", words=WORDS):
        self.team, self.project = team, add_project("films", protocol)
        add_items(self.project, ["q1"], kinds={})
        roles = (
            ("Ann", "author"),
            ("Bob", "reviewer"),
            ("Eve", "reviewer"),
            ("Olga", "operator"),
            ("Rex", "researcher"),
        )
        self.users = {name: team.user(name, role, project="films") for name, role in roles}
        self.roles = dict(roles)
        ItemRow.objects.update(author=self.users["Ann"])
        self.do("Ann", "submit", "author", content=words)

    def do(self, name, kind, role, **more):
        return act(self.item, Act(kind=kind, role=role, by=self.users[name].pseudonym, **more))

    @property
    def item(self):
        return ItemRow.objects.select_related("project__protocol", "author", "current").get(item_id="q1")

    def person(self, name, *roles):
        user = self.users[name]
        told = {"films": frozenset(roles or (self.roles[name],))}
        return Person(name=user.pseudonym, shown=name, roles=told, user=user)

    def answer(self, name, words, *, is_sure=True):
        return answer(self.item, self.person(name), words, is_sure=is_sure, opened=self.team.settings.clock())


@pytest.fixture
def desk(team):
    return Desk(team)


def accept(desk, name="Bob"):
    checks = {one.id: "yes" for one in protocol_of(desk.project).stages[0].checks}
    return desk.do(name, "accept", "reviewer", checks=checks)


def test_who_wrote_it_or_may_know_it_tries_nothing(desk):
    assert "You wrote this" in closed(desk.item, desk.person("Ann"))
    assert "no role" in closed(desk.item, desk.person("Olga"))
    assert "You know its answer" in closed(desk.item, desk.person("Olga", "operator", "author"))
    assert closed(desk.item, desk.person("Eve")) == ""
    desk.do("Bob", "claim", "reviewer")
    assert "You know its answer" in closed(desk.item, desk.person("Bob"))
    assert isinstance(desk.answer("Bob", "B"), Refused)
    assert ReviewRow.objects.count() == 0


@pytest.mark.parametrize("bad", ["C", "the blue one", "x" * 2_001])
def test_an_answer_that_is_no_option_is_refused(desk, bad):
    assert isinstance(desk.answer("Eve", bad), Refused)
    assert ReviewRow.objects.count() == 0


def test_hints_that_were_enough_keep_an_item_from_being_accepted(desk):
    desk.answer("Eve", "B")
    desk.do("Bob", "claim", "reviewer")
    refused = accept(desk)
    assert isinstance(refused, Refused)
    assert "without the video, in 0 s: the hints are too strong" in refused.reason
    assert [one.n for one in too_strong(desk.item)] == [1]
    weaker = {**WORDS, "hints": ["Something is poured."]}
    assert isinstance(
        desk.do("Bob", "edit", "reviewer", content=weaker, origin="validator_edit"), RecordedAct
    )
    assert of_wording(desk.item, weaker) == ()
    assert isinstance(accept(desk), RecordedAct)


def test_who_tried_hints_does_not_solve_before_the_key(team):
    desk = Desk(team, "perceptioncomp")
    desk.answer("Eve", "A")
    protocol = protocol_of(desk.project)
    assert "has tried its hints" in refusal("claim", desk.item, protocol, by=desk.users["Eve"].pseudonym)
    assert isinstance(desk.do("Eve", "claim", "reviewer"), Refused)
    assert isinstance(desk.do("Bob", "claim", "reviewer"), RecordedAct)


def test_the_list_has_what_nobody_has_tried(desk):
    eve = desk.person("Eve")
    assert [one.item_id for one in open_tries(desk.project, eve)] == ["q1"]
    assert open_tries(desk.project, desk.person("Ann")) == []
    desk.answer("Bob", "A")
    assert open_tries(desk.project, eve) == []
    assert closed(desk.item, eve) == ""


def test_without_hints_there_is_nothing_to_try(team):
    desk = Desk(team, words={**WORDS, "hints": []})
    assert asked_now(desk.item) is None
    assert closed(desk.item, desk.person("Eve")) == "It has no hints."
    assert open_tries(desk.project, desk.person("Eve")) == []


def test_nothing_is_tried_behind_the_end(desk):
    desk.do("Bob", "claim", "reviewer")
    assert isinstance(accept(desk), RecordedAct)
    assert "It is accepted" in closed(desk.item, desk.person("Eve"))
