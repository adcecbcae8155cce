"""The page of people: roles of one project, by its operators."""

import pytest

from vidence.studio.accounts import Terms, person_of_user, set_roles
from vidence.studio.pages.people import coverage, domains_in, members
from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import MembershipRow, UserRow
from vidence.studio.workflow import protocol_of

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


def test_what_cannot_be_is_said_and_nothing_of_another_project_changes(team, client):
    from html import unescape

    assert team.user("Ann", "author").pseudonym == "p002"
    for said, why in [
        ({"name": "Nobody", "roles": ["author"]}, "there is no user"),
        ({"name": "Ann"}, "no roles; choose one"),
        ({"name": "Ann", "roles": ["root"]}, "there is no role"),
        ({"name": "Ann", "roles": ["author"], "until": "soon"}, "expected a day such as"),
    ]:
        before = list(MembershipRow.objects.values_list())
        answer = client.post(WHERE, said)
        assert (answer.status_code, why in unescape(answer.content.decode())) == (400, True)
        assert list(MembershipRow.objects.values_list()) == before
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


@pytest.fixture
def place(team):
    return team.project(protocol="mmvu")


def test_roles_and_domains_are_of_one_project(team, place):
    others = team.project("others")
    bob = team.user("Bob", "reviewer", project="others")
    client = team.signed_in("Bob")
    set_roles(bob, place, ["meta", "author"], terms=Terms(domains=("law",), is_author_of_the_paper=True))
    person = person_of_user(bob)
    assert person.roles_in("films") == {"author", "meta"}
    assert person.roles_in("others") == {"reviewer"}
    assert client.get("/projects/films/").status_code == 200  # from the next request on
    row = MembershipRow.objects.get(project=place)
    assert (row.roles, row.domains, row.is_author_of_the_paper) == (["author", "meta"], ["law"], True)
    set_roles(bob, place, ["meta"])
    assert MembershipRow.objects.get(project=place).domains == ["law"]
    set_roles(bob, place, ())
    assert list(MembershipRow.objects.values_list("project", flat=True)) == [others.pk]


def test_each_domain_with_fewer_than_two_is_named(team, place):
    add_items(place, ["q1", "q2", "q3"], kinds={})
    for item, domain in zip(ItemRow.objects.order_by("item_id"), ("law", "law", "art"), strict=True):
        item.strata = {"domain": domain}
        item.save()
    for name, roles, domains in (
        ("Ann", ("author",), ["law"]),
        ("Ben", ("author", "reviewer"), []),
        ("Bob", ("reviewer",), ["law", "art"]),
        ("Eve", ("researcher",), ["law"]),
    ):
        team.user(name, *roles, project="films")
        MembershipRow.objects.filter(user__name=name).update(domains=domains)
    protocol = protocol_of(place)
    found = coverage(place, protocol, members(place, protocol))
    assert [(one.domain, one.n_items, one.n_people, one.lacks) for one in found] == [
        ("art", 1, {"author": 1, "reviewer": 2}, ("author",)),
        ("law", 2, {"author": 2, "reviewer": 2}, ()),
    ]
    MembershipRow.objects.filter(user__name="Ann").update(qualified_until=team.clock())
    people = members(place, protocol)
    assert [list(one.closed) for one in people] == [["author"], [], [], []]
    assert coverage(place, protocol, people)[1].lacks == ("author",)


def test_domains_as_people_write_them():
    assert domains_in("b,a , ,  a b ") == ("a", "a b", "b")
