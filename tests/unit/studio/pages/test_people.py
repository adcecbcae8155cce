"""The page of people: roles of one project, by its operators."""

import pytest

from vidence.studio.records.people import MembershipRow, UserRow

WHERE = "/projects/films/people"


@pytest.fixture
def client(team):
    team.project()
    team.user("Olga", "operator", project="films")
    return team.signed_in("Olga")


def test_somebody_is_taken_in_changed_and_taken_out(team, client):
    ann = team.user("Ann", "author", project="")
    MembershipRow.objects.filter(user=ann).delete()
    assert client.post(WHERE, {"name": " ANN ", "roles": ["author"], "domains": "law"}).status_code == 302
    assert client.post(WHERE, {"name": "ann", "roles": ["author"]}).status_code == 400
    said = {
        "user": str(ann.public),
        "roles": ["author", "reviewer"],
        "until": "2026-12-24",
        "is_author": "on",
    }
    assert client.post(WHERE, said).status_code == 302
    row = MembershipRow.objects.get(user=ann)
    assert (row.roles, row.domains, row.is_author_of_the_paper) == (["author", "reviewer"], [], True)
    assert f"{row.qualified_until:%Y-%m-%d}" == "2026-12-24"
    page = client.get(WHERE).content.decode()
    assert 'value="2026-12-24"' in page
    assert client.post(WHERE, {"user": str(ann.public)}).status_code == 302
    assert not MembershipRow.objects.filter(user=ann).exists()


def test_what_cannot_be_is_said(team, client):
    from html import unescape

    assert team.user("Ann", "author").pseudonym == "p002"
    for said, why in [
        ({"name": "Nobody", "roles": ["author"]}, "there is no user"),
        ({"name": "Ann"}, "no roles; say what"),
        ({"name": "Ann", "roles": ["root"]}, "there is no role"),
        ({"name": "Ann", "roles": ["author"], "until": "soon"}, "expected one such as"),
    ]:
        before = list(MembershipRow.objects.values_list())
        answer = client.post(WHERE, said)
        assert (answer.status_code, why in unescape(answer.content.decode())) == (400, True)
        assert list(MembershipRow.objects.values_list()) == before


def test_operators_of_one_project_change_nothing_in_another(team, client):
    team.project("others")
    bob = team.user("Bob", "author", project="others")
    assert client.post("/projects/others/people", {"name": "Olga", "roles": ["operator"]}).status_code == 404
    assert client.post(WHERE, {"user": str(bob.public), "roles": ["author"]}).status_code == 404
    own = UserRow.objects.get(name="Olga")
    refused = client.post(WHERE, {"user": str(own.public), "roles": ["author"]})
    assert "is the last operator of the project films" in refused.content.decode()


def test_one_who_works_alone_is_told_so(solo):
    solo.project()
    assert "has one person" in solo.signed_in().get(WHERE).content.decode()
