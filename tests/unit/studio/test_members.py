"""People of a project: their roles and domains, and who is there for each domain."""

import pytest

from vidence.studio.accounts import Terms, person_of_user, set_roles
from vidence.studio.members import coverage, domains_in, members
from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import MembershipRow
from vidence.studio.workflow import protocol_of


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


def test_people_of_all_projects_are_shown(team, place):
    team.user("Olga", "operator", "reviewer")
    found = members(place, protocol_of(place))
    assert [(one.user.name, one.membership.project, one.is_open("reviewer")) for one in found] == [
        ("Olga", None, True)
    ]


def test_domains_as_people_write_them():
    assert domains_in("b,a , ,  a b ") == ("a", "a b", "b")
