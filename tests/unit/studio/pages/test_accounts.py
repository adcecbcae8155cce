"""The page of accounts, by operators of all projects; a first password and one's own."""

import re
from html import unescape

import pytest
from django.test import Client

from servers.studio import PASSWORD
from vidence.studio.accounts import user_of
from vidence.studio.records.people import UserRow
from vidence.studio.records.work import AuditEventRow

WHERE = "/accounts"
MADE = {"act": "make", "name": "Ada", "roles": ["author"], "project": "films"}


@pytest.fixture
def client(team):
    team.project()
    team.user("Olga", "operator")
    return team.signed_in("Olga")


def words(answer):
    return unescape(re.sub(r"(<[^>]+>|\s)+", " ", answer.content.decode()))


def test_an_account_is_made_with_a_password_that_is_shown_once(team, client):
    answer = client.post(WHERE, {**MADE, "shown": "Ada L.", "pseudonym": "fox"})
    password = re.search(r"signs in with ([a-z0-9]{16}) ", words(answer))[1]
    assert password not in client.get(WHERE).content.decode()
    ada = user_of("ada")
    assert (ada.shown, ada.pseudonym, ada.memberships.get().roles) == ("Ada L.", "fox", ["author"])
    assert all(password not in repr(one) for one in AuditEventRow.objects.values_list())
    assert AuditEventRow.objects.get(kind="user-added", by="p001").about == "fox"
    again = client.post(WHERE, MADE)
    assert (again.status_code, "already" in words(again)) == (400, True)
    assert 'value="Ada"' in again.content.decode()
    own = Client(SERVER_NAME="127.0.0.1")
    assert own.post("/sign-in", {"username": "Ada", "password": password}).status_code == 302
    for closed in ("/", "/projects/films/", "/work", "/media/x/file"):
        assert own.get(closed).headers["Location"] == "/password", closed
    assert own.post("/projects/films/next", {"role": "reviewer"}).status_code == 403
    said = {"old_password": password, "new_password1": PASSWORD, "new_password2": PASSWORD}
    other = Client(SERVER_NAME="127.0.0.1")
    other.post("/sign-in", {"username": "Ada", "password": password})
    for change, why in (
        ({"new_password2": "x"}, "match"),
        ({"old_password": "x"}, "incorrectly"),
        ({"new_password1": password, "new_password2": password}, "choose another"),
        ({"new_password1": "x", "new_password2": "x"}, "too short"),
    ):
        answer = own.post("/password", {**said, **change})
        assert (answer.status_code, why in words(answer)) == (400, True), why
    assert own.post("/password", said).headers["Location"] == "/"
    assert own.get("/").status_code == 200
    assert other.get("/").headers["Location"].startswith("/sign-in")  # its session has ended
    assert AuditEventRow.objects.filter(kind="password-changed", by="fox").count() == 1
    assert own.post("/sign-in", {"username": "Ada", "password": password}).status_code == 403
    assert team.signed_in("Ada").get("/projects/films/").status_code == 200


def test_a_password_that_the_operator_sets_is_not_shown(team, client):
    assert client.post(WHERE, {**MADE, "password": PASSWORD}).status_code == 302
    assert user_of("Ada").has_first_password
    ada = str(user_of("Ada").public)
    refused = client.post(WHERE, {"act": "password", "user": ada, "password": "short"})
    assert (refused.status_code, "at least 10 characters" in words(refused)) == (400, True)
    drawn = client.post(WHERE, {"act": "password", "user": ada})
    word = re.search(r"signs in with ([a-z0-9]{16}) ", words(drawn))[1]
    assert team.client().post("/sign-in", {"username": "Ada", "password": word}).status_code == 302


def test_roles_are_set_and_taken_and_accounts_closed(team, client):
    ada = team.user("Ada", "author")
    said = {"user": str(ada.public)}
    assert (
        client.post(
            WHERE, {**said, "act": "roles", "project": "films", "roles": ["meta", "reviewer"]}
        ).status_code
        == 302
    )
    found = {one.project and one.project.slug: one.roles for one in ada.memberships.all()}
    assert found == {None: ["author"], "films": ["reviewer", "meta"]}
    assert "author in all projects; reviewer, meta in films" in words(client.get(WHERE))
    assert client.post(WHERE, {**said, "act": "take", "project": ""}).status_code == 302
    assert [one.roles for one in ada.memberships.all()] == [["reviewer", "meta"]]
    assert client.post(WHERE, {**said, "act": "close"}).status_code == 302
    assert "closed" in words(client.get(WHERE))
    assert not UserRow.objects.get(pk=ada.pk).is_active


def test_a_refusal_names_its_rule_and_changes_nothing(client, team):
    for said, why in [
        ({"act": "close"}, "Olga is the last operator of this studio"),
        ({"act": "take"}, "Olga is the last operator of this studio"),
        ({"act": "roles", "roles": ["author"]}, "Olga is the last operator of this studio"),
        ({"act": "roles", "roles": ["root"]}, "there is no role 'root'"),
        ({"act": "roles"}, "no roles; expected"),
        ({"act": "roles", "roles": ["author"], "project": "x"}, "there is no project 'x'"),
        ({"act": "open"}, "this action is not available here"),
        ({**MADE, "name": " "}, "the name is empty"),
        ({**MADE, "name": "Bob", "roles": []}, "no roles; expected"),
        ({**MADE, "name": "Bob", "pseudonym": "p001"}, "the pseudonym 'p001' is taken"),
        ({**MADE, "roles": ["root"]}, "there is no role"),
    ]:
        own = UserRow.objects.get(name="Olga")
        before = AuditEventRow.objects.count()
        answer = client.post(WHERE, {"user": str(own.public), **said})
        assert (answer.status_code, why in words(answer)) == (400, True)
        assert (AuditEventRow.objects.count(), UserRow.objects.count()) == (before, 1)
    said = {"act": "close", "user": "00000000-0000-0000-0000-000000000001"}
    assert client.post(WHERE, said).status_code == 404
    team.user("Pia", "operator", project="films")
    pia = team.signed_in("Pia")
    for answer in (pia.get(WHERE), pia.post(WHERE, MADE), pia.get("/new-project")):
        assert answer.status_code == 403
    assert "Accounts" not in words(pia.get("/"))
    assert "Accounts" in words(client.get("/"))


def test_one_person_has_no_accounts(solo):
    client = solo.signed_in()
    assert "has one person" in words(client.get(WHERE))
    answer = client.post(WHERE, MADE)
    assert (answer.status_code, "has no accounts" in words(answer)) == (400, True)
    assert client.get("/password").status_code == 404
    assert not UserRow.objects.exists()
