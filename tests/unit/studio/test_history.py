"""Who reads what of an item: the words of a revision, who did it, and what was said."""

import re

import pytest

from vidence.studio.access import Person
from vidence.studio.history import history_of
from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import UserRow
from vidence.studio.workflow import Act, RecordedAct, act, protocol_of

LONG = "The cup is never seen; say which one is meant, and when it can be seen."


def words(question, answer="A"):
    return {
        "item_id": "q1",
        "question": question,
        "choices": ["the red one", "the blue one"],
        "answer": answer,
    }


@pytest.fixture
def item(team):
    """An item that came back once and was handed in again."""
    project = team.project()
    add_items(project, ["q1"], kinds={"q1": "mcq"})
    row = ItemRow.objects.get()
    row.author = team.user("Ann", "author", project="films")
    row.save()
    ann = row.author.pseudonym
    check = protocol_of(project).stages[0].checks[0].id
    for said in (
        Act(kind="submit", by=ann, role="author", content=words("Which cup?")),
        Act(kind="claim", by="bob", role="reviewer"),
        Act(kind="return", by="bob", role="reviewer", message=LONG, checks={check: "no"}),
        Act(kind="resubmit", by=ann, role="author", content=words("Which bowl?"), origin="author_revise"),
    ):
        assert isinstance(act(row, said), RecordedAct)
    return row


def person(name, *roles):
    return Person(name=name, shown=name, roles={"films": frozenset(roles)})


def test_each_reads_what_is_theirs(item, team):
    found = history_of(item, person(item.author.pseudonym, "author"))
    assert [one.n for one in found.wordings] == [1, 2]
    assert [(p.change, p.text) for p in found.wordings[1].diffs[0].pieces if p.change != "same"] == [
        ("out", "cup"),
        ("in", "bowl"),
    ]
    assert [one.message for one in found.done if one.message] == [LONG]
    assert {one.by for one in found.done} == {""}
    found = history_of(item, person("olga", "operator"))
    assert (len(found.wordings), found.n_hidden) == (2, 0)
    assert {one.by for one in found.done} == {item.author.pseudonym, "bob"}
    assert {one.fault for one in (*found.done, *found.wordings)} == {""}
    found = history_of(item, person("bob", "reviewer"))
    assert [one.n for one in found.wordings] == [1]
    assert found.n_hidden == 1
    assert [one.message for one in found.done if one.message] == [LONG]
    team.user("Eve", "author", project="films")
    address = f"/projects/films/items/{item.public}/"
    assert "the red one" in team.signed_in("Ann").get(address).content.decode()
    assert "the red one" not in team.signed_in("Eve").get(address).content.decode()
    for role in ("reviewer", "meta", "researcher", "author"):
        found = history_of(item, person("eve", role))
        assert found.wordings == ()
        assert {(one.message, one.by) for one in found.done} == {("", "")}


def test_the_list_of_a_project_shows_each_what_they_may_read(item, team):
    def listed(name, role, asked=""):
        if not team_has(name):
            team.user(name, role, project="films")
        page = team.signed_in(name).get(f"/projects/films/{asked}").content.decode()
        return "Which bowl?" in page, item.author.pseudonym in page, "?sort=author" in page

    def team_has(name):
        return UserRow.objects.filter(name=name).exists()

    assert listed("Ann", "author") == (True, False, False)
    assert listed("Olga", "operator") == (True, True, True)
    for role in ("reviewer", "meta", "researcher"):
        assert listed(role.title(), role) == (False, False, False)
    add_items(item.project, ["a0", "z9"], kinds={})
    for asked, first in (("", "a0"), ("?sort=-item", "z9"), ("?sort=-state", "q1"), ("?sort=no", "a0")):
        page = team.signed_in("Olga").get(f"/projects/films/{asked}").content.decode()
        assert re.findall(r">([aqz]\d)</a>", page)[0] == first, asked
    by_author = team.signed_in("Reviewer").get("/projects/films/?sort=-author").content.decode()
    assert re.findall(r">([aqz]\d)</a>", by_author) == ["a0", "q1", "z9"]
