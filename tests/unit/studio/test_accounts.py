"""Accounts: what is refused, and that names are compared without regard to capitals."""

import pytest

from servers.studio import PASSWORD
from vidence.errors import UsageError
from vidence.studio.accounts import (
    Profile,
    account_of,
    add_user,
    close_account,
    key_of,
    known_account,
    person_of_user,
    project_of,
    set_password,
    set_roles,
    user_of,
)
from vidence.studio.records.work import AuditEventRow


def test_what_makes_no_account_is_said(team):
    team.user("Ada", "author")
    for name, password, more, said in [
        ("ADA", PASSWORD, {"roles": ["author"]}, "already"),
        ("  ", PASSWORD, {"roles": ["author"]}, "the name is empty"),
        ("Bob", "short", {"roles": ["author"]}, "too short. It must contain at least 10 characters"),
        ("Bob", PASSWORD, {"roles": ["root"]}, "there is no role 'root'; expected researcher, author"),
        ("Bob", PASSWORD, {"roles": []}, "no roles"),
        ("Bob", PASSWORD, {"roles": ["author"], "project": "films"}, "there is no project 'films'"),
        ("Bob", PASSWORD, {"roles": ["author"], "profile": Profile(pseudonym="p001")}, "'p001' is taken"),
        ("Bob", PASSWORD, {"roles": ["author"], "profile": Profile(shown="x" * 151)}, "at most"),
        ("Bob", PASSWORD, {"roles": ["author"], "profile": Profile(pseudonym="x" * 65)}, "at most"),
    ]:
        with pytest.raises(UsageError, match=said):
            add_user(name, password, **more)


def test_passwords_are_kept_as_a_hash_of_argon2(tmp_path, team):
    from vidence.studio.app import settings_of_django
    from vidence.studio.settings import Studio, StudioSettings, Ticket

    made = Studio(settings=StudioSettings(mode="team", data=tmp_path), secret=b"s", ticket=Ticket(""))
    assert settings_of_django(made)["PASSWORD_HASHERS"][0].endswith("Argon2PasswordHasher")
    assert key_of("  \uff21da  LOVELACE ") == "ada lovelace"
    user = team.user("Ada", "author")
    assert PASSWORD not in user.password
    assert all(PASSWORD not in repr(row) for row in AuditEventRow.objects.values_list())
    assert account_of(person_of_user(user)) == user


def test_roles_are_by_project_and_replaced(team):
    team.project()
    team.user("Ada", "author", "reviewer", project="films")
    set_roles(user_of("ada"), project_of("films"), ["meta"])
    assert [one.roles for one in user_of("Ada").memberships.all()] == [["meta"]]
    with pytest.raises(UsageError, match="there is no user 'Bob'"):
        user_of("Bob")


def test_one_who_works_alone_has_one_account_that_nobody_signs_in_with(solo):
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
    from vidence.studio.access import SOLO, Person

    alone = Person(name=SOLO, shown="you", roles={})
    assert account_of(alone) == account_of(alone)
    assert account_of(alone).pseudonym == SOLO
    assert [account_of(alone).check_password(said) for said in ("", "!", PASSWORD)] == [False] * 3


def test_every_act_says_who_did_it(team):
    team.project()
    add_user("Ada", PASSWORD, roles=["author"], by="p009")
    ada = user_of("Ada")
    set_roles(ada, project_of("films"), ["meta"], by="p009")
    set_roles(ada, project_of("films"), (), by="p009")
    set_password(ada, f"{PASSWORD}!", by="p009", is_first=True)
    close_account(ada, by="p009")
    found = list(AuditEventRow.objects.order_by("number").values_list("kind", "by", "about"))
    assert found.pop(0)[0] == "project-added"
    kinds = ["user-added", "roles-changed", "roles-changed", "password-changed", "account-closed"]
    assert found == [(one, "p009", "p001") for one in kinds]
    with pytest.raises(UsageError, match="already closed"):
        close_account(ada)


def demote(user):
    set_roles(user, None, ["author"])


def take(user):
    set_roles(user, None, ())


@pytest.mark.parametrize("go", [demote, take, close_account])
def test_the_last_operator_stays(team, go):
    team.user("Olga", "operator")
    team.user("Omar", "operator")
    team.user("Pia", "operator", project=team.project().slug)
    close_account(user_of("Omar"))
    before = AuditEventRow.objects.count()
    with pytest.raises(UsageError, match="Olga is the last operator of this studio; make another"):
        go(user_of("Olga"))
    assert (user_of("Olga").is_active, AuditEventRow.objects.count()) == (True, before)
    close_account(user_of("Pia"))  # Olga leads that project as well
    team.user("Otto", "operator")
    go(user_of("Olga"))
    with pytest.raises(UsageError, match="last operator"):
        go(user_of("Otto"))


def test_the_last_operator_of_a_project_stays(team):
    team.project()
    team.user("Pia", "operator", project="films")
    films = project_of("films")
    for go in (close_account, lambda user: set_roles(user, films, ["meta"])):
        with pytest.raises(UsageError, match="Pia is the last operator of the project films"):
            go(user_of("Pia"))
    set_roles(user_of("Pia"), films, ["operator", "meta"])
    assert user_of("Pia").memberships.get().roles == ["meta", "operator"]


def test_roles_that_an_account_does_not_have_are_not_taken(team):
    films = team.project()
    with pytest.raises(UsageError, match="Ada has no role in the project films"):
        set_roles(team.user("Ada", "author"), films, ())
    with pytest.raises(UsageError, match="there is no project"):
        project_of("nothing")
