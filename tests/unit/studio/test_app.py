"""Django, set up from arguments, once in a process."""

import pytest

from servers.studio import SECRET, configured
from vidence.errors import UsageError
from vidence.studio.app import configure, settings_of_django
from vidence.studio.settings import Studio, StudioSettings, Ticket


def told(tmp_path, **more):
    settings = StudioSettings(data=tmp_path, **{"mode": "team", **more})
    return settings_of_django(Studio(settings=settings, secret=SECRET, ticket=Ticket("")))


def test_a_process_has_one_studio(tmp_path):
    configured()
    with pytest.raises(UsageError, match="start another process"):
        configure(StudioSettings(mode="solo", data=tmp_path))


def test_nothing_is_taken_from_the_environment(tmp_path, monkeypatch):
    before = told(tmp_path)
    for name in ("DJANGO_SETTINGS_MODULE", "SECRET_KEY", "DATABASE_URL", "DEBUG"):
        monkeypatch.setenv(name, "x")
    assert {**told(tmp_path), "STUDIO": 0} == {**before, "STUDIO": 0}
    assert before["DEBUG"] is False


def test_cookies_of_two_servers_on_one_host_have_different_names(tmp_path):
    other = StudioSettings(mode="view", data=tmp_path)
    second = settings_of_django(Studio(settings=other, secret=b"t" * 32, ticket=Ticket("")))
    assert second["SESSION_COOKIE_NAME"] != told(tmp_path)["SESSION_COOKIE_NAME"]


def test_a_proxy_is_believed_only_where_it_was_named(tmp_path):
    assert "SECURE_PROXY_SSL_HEADER" not in told(tmp_path)
    assert told(tmp_path, is_behind_proxy=True)["SECURE_PROXY_SSL_HEADER"][1] == "https"


def test_sessions_of_one_person_end_with_the_process(tmp_path):
    assert told(tmp_path, mode="solo")["SESSION_ENGINE"].endswith("cache")
    assert told(tmp_path)["SESSION_ENGINE"].endswith("db")
