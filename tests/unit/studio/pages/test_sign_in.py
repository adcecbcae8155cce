"""The door: the printed address works once, passwords are slowed, sessions end, nothing leads elsewhere."""

import logging
import re

import pytest

from servers.studio import PASSWORD, TICKET, studio
from vidence.studio.accounts import close_account, set_password, user_of
from vidence.studio.pages.sign_in import MOST_OF_ADDRESS, MOST_TRIES, WINDOW_S
from vidence.studio.settings import current


def cookie(client):
    """The session of a browser."""
    (found,) = [one for name, one in client.cookies.items() if re.fullmatch("vidence_[0-9a-f]+", name)]
    return found


def tried(client, name, password):
    return client.post("/sign-in", {"username": name, "password": password})


def test_the_printed_address_works_once_and_lets_no_second_browser_in(solo, caplog):
    assert solo.client().get("/sign-in").status_code == 404
    caplog.set_level(logging.DEBUG)
    first = solo.client()
    done = first.get("/enter", {"ticket": TICKET})
    assert (done.status_code, done["Location"], done["Referrer-Policy"]) == (302, "/", "no-referrer")
    assert first.get("/").status_code == 200
    for client in (first, solo.client()):
        again = client.get("/enter", {"ticket": TICKET})
        assert again.status_code == 403
        assert again["Referrer-Policy"] == "no-referrer"
        assert TICKET not in again.content.decode()
    assert solo.client().get("/").status_code == 403
    assert first.get("/").status_code == 200
    assert TICKET not in caplog.text


@pytest.mark.parametrize("word", ["", "no", TICKET.upper(), "\udcff", "x" * 10_000])
def test_another_word_opens_nothing(view, word):
    client = view.client()
    assert client.get("/enter", {"ticket": word.encode("utf-8", "replace")}).status_code == 403
    assert client.get("/").status_code == 403
    assert client.get("/enter", {"ticket": TICKET}).status_code == 302


def test_a_team_signs_in_by_a_form_alone_and_comes_to_places_on_this_host(team):
    for _ in range(3):
        client = team.client()
        assert client.get("/sign-in").status_code == 200
        assert [name for name in client.cookies if not name.endswith("_form")] == []
    assert team.client().get("/enter", {"ticket": ""}).status_code == 403
    assert team.client().get("/enter", {"ticket": TICKET}).status_code == 403
    for name in ("\ud800".encode("utf-8", "surrogatepass"), "x" * 5000):
        assert tried(team.client(), name, PASSWORD).status_code == 403
    for name in ("\0", "A\0da"):
        assert tried(team.client(), name, PASSWORD).status_code == 400
    team.user("Ada", "author")
    for wanted, ends in [
        ("/projects/films/?a=b", "/projects/films/?a=b"),
        ("https://evil.example/", "/"),
        ("//evil.example", "/"),
        ("///evil.example", "/"),
        ("/\\evil.example", "/"),
        ("\\\\evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("http:evil", "/"),
        ("/\t/evil.example", "/"),
        (" //evil.example", "/"),
        ("", "/"),
    ]:
        done = team.client().post("/sign-in", {"username": "Ada", "password": PASSWORD, "next": wanted})
        assert (done.status_code, done["Location"]) == (302, ends)
        shown = team.client().get("/sign-in", {"next": wanted})
        assert "evil" not in shown.content.decode() or ends != "/"


def test_signing_in_begins_a_new_session_and_signing_out_ends_it_at_once(team):
    team.user("Ada", "author")
    client = team.client()
    client.get("/sign-in")
    client.cookies[current().cookie] = before = "a" * 32  # planted before the sign-in
    assert tried(client, " aDA ", PASSWORD).status_code == 302
    after = cookie(client)
    assert after.value != before
    assert after["httponly"]
    assert after["samesite"] == "Lax"
    assert not after["secure"]
    stranger = team.client()
    stranger.cookies[after.key] = before
    assert stranger.get("/").status_code == 302
    copy = team.client()
    copy.cookies = client.cookies.copy()
    assert copy.get("/").status_code == 200
    assert client.post("/sign-out").status_code == 302
    assert copy.get("/").status_code == 302


@pytest.mark.parametrize("more", [{"is_tls": True}, {"is_behind_proxy": True}])
def test_cookies_are_for_tls_alone_where_there_is_tls(tmp_path, more):
    with studio("team", tmp_path, **more) as team:
        team.user("Ada", "author")
        assert cookie(team.signed_in("Ada", headers={"referer": "https://127.0.0.1/"}))["secure"]


@pytest.mark.parametrize(
    "change",
    [lambda: set_password(user_of("Ada"), "another long password"), lambda: close_account(user_of("Ada"))],
)
def test_a_new_password_or_a_closed_account_ends_all_sessions(team, change):
    team.user("Ada", "author")
    client = team.signed_in("Ada")
    assert client.get("/").status_code == 200
    change()
    assert client.get("/").status_code == 302


@pytest.mark.parametrize("name", ["Ada", "Nobody"])
def test_wrong_passwords_from_one_address_are_refused_alike_for_all_names(team, name):
    team.user("Ada", "author")
    said = set()
    for n in range(MOST_TRIES + 2):
        done = tried(team.client(), name if n % 2 else f" {name.upper()} ", "wrong password")
        assert done.status_code == (403 if n < MOST_TRIES else 429)
        said.add(done.content.decode().split("<form method")[0].split('role="alert">')[1])
    assert len(said) == 1
    locked = tried(team.client(), name, PASSWORD)
    assert (locked.status_code, int(locked["Retry-After"])) == (429, WINDOW_S)
    elsewhere = tried(team.client(REMOTE_ADDR="198.51.100.7"), name, PASSWORD)  # nobody is kept out there
    assert elsewhere.status_code == (302 if name == "Ada" else 403)
    assert tried(team.client(), "Another", PASSWORD).status_code == 403
    team.clock.move(WINDOW_S - 1)
    assert tried(team.client(), name, PASSWORD).status_code == 429
    team.clock.move(1)
    assert tried(team.client(), name, PASSWORD).status_code == (302 if name == "Ada" else 403)


def test_a_known_and_an_unknown_name_are_asked_of_the_database_alike(team, monkeypatch):
    """Work stands for time: no password is hashed and no row read for one name that is not for the other."""
    from django.contrib.auth.hashers import MD5PasswordHasher
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    team.user("Ada", "author")
    worked = []
    encode = MD5PasswordHasher.encode
    monkeypatch.setattr(
        MD5PasswordHasher, "encode", lambda self, *more: worked.append(1) or encode(self, *more)
    )
    done = {}
    for name in ("Ada", "Nobody"):
        client = team.client()
        client.get("/sign-in")
        done[name] = []
        for _ in range(MOST_TRIES + 2):
            worked.clear()
            with CaptureQueriesContext(connection) as asked:
                answer = tried(client, name, "wrong password")
            status = (
                answer.status_code,
                re.sub(r'(csrf\w+" value=|value=)"[^"]*"', "", answer.content.decode()),
            )
            tables = [re.findall(r'^[A-Z]+|"(?:studio|django)_[a-z]+"(?!\.)', one["sql"]) for one in asked]
            done[name].append((status, len(worked), tables))
    assert done["Ada"] == done["Nobody"]
    assert {(one[0][0], one[1]) for one in done["Ada"]} == {(403, 1), (429, 0)}


def test_many_names_from_one_address_are_refused(team):
    client = team.client()
    answers = [tried(client, f"name {n}", "wrong password").status_code for n in range(MOST_OF_ADDRESS + 2)]
    assert answers == [403] * 100 + [429] * 2
    assert tried(team.client(REMOTE_ADDR="10.0.0.9"), "name", "wrong password").status_code == 403


def test_an_address_of_ipv6_is_as_large_as_what_one_machine_is_given(team):
    for n in range(MOST_TRIES):
        one = team.client(REMOTE_ADDR=f"2001:db8:0:1:{n:x}::1")
        assert tried(one, "Ada", "wrong password").status_code == 403
    assert tried(team.client(REMOTE_ADDR="2001:db8:0:1:ffff::"), "Ada", "x").status_code == 429
    for other in ("2001:db8:0:2::1", "::ffff:10.0.0.1", "::ffff:10.0.0.2"):
        answers = [
            tried(team.client(REMOTE_ADDR=other), "Ada", "x").status_code for _ in range(MOST_TRIES + 1)
        ]
        assert answers == [403] * MOST_TRIES + [429], other


def test_nobody_is_kept_out_by_others_of_the_same_address(team):
    """Behind one address a known browser goes on, and is itself bounded; its cookie is for its name alone."""
    for name in ("Ada", "Bob"):
        team.user(name, "author")
    browser = team.signed_in("Ada")
    browser.post("/sign-out")
    stranger = team.client()
    for name in ("Ada", *(f"name {n}" for n in range(9))):
        for _ in range(MOST_TRIES):
            assert tried(stranger, name, "wrong password").status_code == 403
    assert tried(stranger, "Ada", PASSWORD).status_code == 429
    assert tried(browser, "Bob", PASSWORD).status_code == 429
    assert tried(browser, "Ada", "wrong password").status_code == 403
    assert tried(browser, "Ada", PASSWORD).status_code == 302
    browser.post("/sign-out")
    (known,) = [one for name, one in browser.cookies.items() if name.endswith("_known")]
    assert (known["httponly"], known["samesite"]) == (True, "Lax")
    stranger.cookies[known.key] = f"{known.value[:-1]}{'a' if known.value[-1] != 'a' else 'b'}"
    assert tried(stranger, "Ada", PASSWORD).status_code == 429
    answers = [tried(browser, "Ada", "wrong password").status_code for _ in range(MOST_TRIES + 1)]
    assert answers == [403] * MOST_TRIES + [429]


def test_no_more_passwords_are_tried_at_the_same_time_than_one_after_the_other(team, monkeypatch):
    from concurrent.futures import ThreadPoolExecutor
    from time import sleep

    from django.contrib.auth.forms import AuthenticationForm
    from django.core.exceptions import ValidationError
    from django.test import RequestFactory

    from vidence.studio.pages.sign_in import SignInForm

    hashed = []

    def slow(_form):
        hashed.append(1)
        sleep(0.05)
        raise ValidationError("wrong")

    monkeypatch.setattr(AuthenticationForm, "clean", slow)
    request = RequestFactory().post("/sign-in")
    with ThreadPoolExecutor(32) as many:
        forms = [SignInForm(request, {"username": "Ada", "password": "x"}) for _ in range(64)]
        assert not any(many.map(lambda form: form.is_valid(), forms))
    assert len(hashed) == MOST_TRIES


def test_refusals_fill_no_disk(team):
    from vidence.studio.records.work import AuditEventRow

    for n in range(150):
        one = team.client(REMOTE_ADDR=f"10.0.0.{n}")
        assert tried(one, "x" * 5000 if n % 2 else "Ada", "wrong password").status_code == 403
    assert AuditEventRow.objects.filter(kind="sign-in-refused").count() == 100
    team.clock.move(WINDOW_S)
    tried(team.client(), "Ada", "wrong password")
    assert AuditEventRow.objects.count() == 101


def test_a_right_password_is_not_counted_against_the_address(team):
    team.user("Ada", "author")
    for _ in range(101):
        assert tried(team.client(), "Ada", PASSWORD).status_code == 302


def test_behind_a_proxy_the_address_is_what_the_proxy_saw(tmp_path):
    with studio("team", tmp_path, is_behind_proxy=True) as team:
        codes = [
            team.client(headers={"x-forwarded-for": f"10.9.9.{n}, 10.0.0.1"}, secure=True)
            .post(
                "/sign-in",
                {"username": f"name {n}", "password": "x" * 12},
                secure=True,
                headers={"x-forwarded-proto": "https"},
            )
            .status_code
            for n in range(101)
        ]
        assert codes[-1] == 429
