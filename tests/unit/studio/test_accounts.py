"""Accounts: what is refused, and that names are compared without regard to capitals."""

import pytest

from servers.studio import PASSWORD
from vidence.errors import UsageError
from vidence.studio.accounts import (
    Profile,
    account_of,
    add_user,
    choose_password,
    close_account,
    first_password,
    has_first_password,
    key_of,
    known_account,
    refuse_password,
    set_password,
    set_roles,
    stamp,
    take_roles,
    try_password,
    user_of,
    with_stamp,
)
from vidence.studio.records.work import AuditEventRow


@pytest.mark.parametrize(
    ("name", "password", "more", "said"),
    [
        ("ADA", PASSWORD, {"roles": ["author"]}, "already"),
        ("  ", PASSWORD, {"roles": ["author"]}, "the name is empty"),
        ("Bob", "short", {"roles": ["author"]}, "a password of 5 signs; expected 10 or more"),
        ("Bob", "x" * 1001, {"roles": ["author"]}, "1000 at most"),
        ("Bob", PASSWORD, {"roles": ["root"]}, "there is no role 'root'; expected researcher, author"),
        ("Bob", PASSWORD, {"roles": []}, "no roles"),
        ("Bob", PASSWORD, {"roles": ["author"], "project": "films"}, "there is no project 'films'"),
        ("Bob", PASSWORD, {"roles": ["author"], "profile": Profile(pseudonym="p001")}, "'p001' is taken"),
    ],
)
def test_what_makes_no_account_is_said(team, name, password, more, said):
    team.user("Ada", "author")
    with pytest.raises(UsageError, match=said):
        add_user(name, password, **more)


def test_the_password_is_kept_as_a_hash(team):
    user = team.user("Ada", "author")
    assert PASSWORD not in user.password
    assert all(PASSWORD not in repr(row) for row in AuditEventRow.objects.values_list())


def test_argon2_is_what_passwords_are_hashed_with(tmp_path):
    from vidence.studio.app import settings_of_django
    from vidence.studio.settings import Studio, StudioSettings, Ticket

    made = Studio(settings=StudioSettings(mode="team", data=tmp_path), secret=b"s", ticket=Ticket(""))
    assert settings_of_django(made)["PASSWORD_HASHERS"][0].endswith("Argon2PasswordHasher")


def test_roles_are_by_project_and_replaced(team):
    team.project()
    team.user("Ada", "author", "reviewer", project="films")
    set_roles("ada", ["meta"], project="films")
    assert [one.roles for one in user_of("Ada").memberships.all()] == [["meta"]]
    with pytest.raises(UsageError, match="there is no user 'Bob'"):
        user_of("Bob")


def test_a_stamp_fits_its_account_alone(team):
    ada, bob = team.user("Ada", "author"), team.user("Bob", "author")
    assert with_stamp(str(ada.public), stamp(ada)) == ada
    assert with_stamp(str(ada.public), stamp(bob)) is None
    assert with_stamp(str(ada.public), "") is None


def test_one_who_works_alone_has_an_account_that_nobody_signs_in_with(solo):
    from vidence.studio.access import SOLO, Person
    from vidence.studio.accounts import try_password

    alone = Person(name=SOLO, shown="you", roles={})
    assert account_of(alone) == account_of(alone)
    assert account_of(alone).pseudonym == SOLO
    assert [try_password(SOLO, said, address="") for said in ("", "!", PASSWORD)] == [None] * 3


def test_one_who_works_alone_has_one_account_whatever_is_done_first(solo):
    from vidence.studio.records.people import UserRow
    from vidence.studio.records.work import TimeSpanRow

    solo.project("films")
    client = solo.signed_in()
    person = client.get("/").wsgi_request.person
    assert known_account(person) is None
    row = account_of(person)
    assert client.post("/beat", {"path": "/projects/films/"}).status_code == 204
    assert known_account(person) == row == TimeSpanRow.objects.get().user
    assert UserRow.objects.count() == 1


def test_an_account_is_that_of_its_person(team):
    from vidence.studio.accounts import person_of_user

    ada = team.user("Ada", "author")
    assert account_of(person_of_user(ada, [])) == ada


def test_names_are_compared_without_capitals_and_blanks():
    assert key_of("  Ada  LOVELACE ") == "ada lovelace"


def test_a_long_password_is_fine(team):
    team.user("Ada", "author")
    set_password("Ada", "x" * 1000)
    assert try_password("Ada", "x" * 1000, address="a") == user_of("Ada")
    assert try_password("Ada", "x" * 999, address="a") is None
    with pytest.raises(UsageError, match="1000 at most"):
        refuse_password("x" * 1001)


def test_every_act_says_who_did_it(team):
    team.project()
    add_user("Ada", PASSWORD, roles=["author"], by="p009")
    set_roles("Ada", ["meta"], project="films", by="p009")
    take_roles("Ada", project="films", by="p009")
    set_password("Ada", f"{PASSWORD}!", by="p009", is_first=True)
    close_account("Ada", by="p009")
    found = list(AuditEventRow.objects.order_by("number").values_list("kind", "by", "about"))
    assert found.pop(0)[0] == "project-added"
    kinds = ["user-added", "roles-changed", "roles-changed", "password-changed", "account-closed"]
    assert found == [(one, "p009", "p001") for one in kinds]
    with pytest.raises(UsageError, match="closed already"):
        close_account("Ada")


def demote(name):
    set_roles(name, ["author"])


def take(name):
    take_roles(name, by="p001")


@pytest.mark.parametrize("go", [demote, take, close_account])
def test_the_last_operator_stays(team, go):
    team.user("Olga", "operator")
    team.user("Omar", "operator")
    team.user("Pia", "operator", project=team.project().slug)
    close_account("Omar")
    before = AuditEventRow.objects.count()
    with pytest.raises(UsageError, match="Olga is the last operator of this studio; make another"):
        go("Olga")
    assert (user_of("Olga").is_active, AuditEventRow.objects.count()) == (True, before)
    close_account("Pia")  # Olga leads that project as well
    team.user("Otto", "operator")
    go("Olga")
    with pytest.raises(UsageError, match="last operator"):
        go("Otto")


def test_the_last_operator_of_a_project_stays(team):
    team.project()
    team.user("Pia", "operator", project="films")
    for go in (close_account, lambda name: set_roles(name, ["meta"], project="films")):
        with pytest.raises(UsageError, match="Pia is the last operator of the project films"):
            go("Pia")
    set_roles("Pia", ["operator", "meta"], project="films")
    assert user_of("Pia").memberships.get().roles == ["meta", "operator"]


def test_roles_that_nobody_has_are_not_taken(team):
    team.project()
    team.user("Ada", "author")
    with pytest.raises(UsageError, match="Ada has no role in the project films"):
        take_roles("Ada", project="films", by="p009")
    with pytest.raises(UsageError, match="there is no project"):
        take_roles("Ada", project="nothing", by="p009")


def test_a_first_password_gives_way_to_one_of_ones_own(team):
    word = first_password()
    assert word != first_password()
    ada = add_user("Ada", word, roles=["author"], profile=Profile(has_first_password=True))
    assert has_first_password(ada)
    for before, new, why in (
        ("wrong", PASSWORD, "is wrong"),
        (word, word, "choose another"),
        (word, "x", "10"),
    ):
        with pytest.raises(UsageError, match=why):
            choose_password(ada, before, new)
    assert has_first_password(user_of("Ada"))
    choose_password(ada, word, PASSWORD)
    assert not has_first_password(user_of("Ada"))
    assert try_password("Ada", PASSWORD, address="a") == ada
    assert not has_first_password(None)


@pytest.mark.parametrize("profile", [Profile(shown="x" * 151), Profile(pseudonym="x" * 65)])
def test_names_that_no_column_holds_are_refused(team, profile):
    with pytest.raises(UsageError, match="at most"):
        add_user("Ada", PASSWORD, roles=["author"], profile=profile)
