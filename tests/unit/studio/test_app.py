"""Django, set up from arguments, once in a process."""

import re
from importlib.metadata import requires

import pytest
from packaging.requirements import Requirement

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


def test_settings_follow_what_the_studio_was_told_and_nothing_else(tmp_path, monkeypatch):
    before = told(tmp_path)
    for name in ("DJANGO_SETTINGS_MODULE", "SECRET_KEY", "DATABASE_URL", "DEBUG"):
        monkeypatch.setenv(name, "x")
    assert {**told(tmp_path), "STUDIO": 0} == {**before, "STUDIO": 0}
    assert before["DEBUG"] is False
    other = StudioSettings(mode="view", data=tmp_path)
    second = settings_of_django(Studio(settings=other, secret=b"t" * 32, ticket=Ticket("")))
    assert second["SESSION_COOKIE_NAME"] != told(tmp_path)["SESSION_COOKIE_NAME"]
    assert "SECURE_PROXY_SSL_HEADER" not in told(tmp_path)
    assert told(tmp_path, is_behind_proxy=True)["SECURE_PROXY_SSL_HEADER"][1] == "https"


def packages(extra):
    """The names of all packages that come with one extra of ours, or with none."""
    found, waiting = set(), [(one, extra) for one in requires("vidence")]
    while waiting:
        said, of = waiting.pop()
        wanted = Requirement(said)
        name = re.sub(r"[-_.]+", "-", wanted.name).lower()
        if (wanted.marker and not wanted.marker.evaluate({"extra": of})) or (name, *wanted.extras) in found:
            continue
        found.add((name, *wanted.extras))
        waiting += [(one, of) for of in ("", *wanted.extras) for one in requires(name) or ()]
    return {one[0] for one in found}


def test_the_studio_adds_eleven_packages_at_most_and_needs_no_other_program():
    added = packages("studio") - packages("")
    assert {"django", "django-htmx", "uvicorn", "argon2-cffi"} <= added
    assert len(added) <= 11, sorted(added)
