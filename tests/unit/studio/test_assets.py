"""Files of the package: under dated addresses, and nothing else."""

import pytest

from vidence.studio.assets import asset, edition


def test_nothing_else_is_given_out(team):
    for name in [
        "../settings.py",
        "..%2fsettings.py",
        "%2e%2e/settings.py",
        "%252e%252e/settings.py",
        "..\\settings.py",
        "studio.css%00.js",
        "/etc/passwd",
        "//etc/passwd",
        "\uff0e\uff0e/settings.py",
        "STUDIO.CSS",
        "studio.css",
        "",
        ".",
        "django_htmx/../../settings.py",
        "django_htmx/",
    ]:
        for place in ("/static/", f"/static/{edition()}/"):
            if place + name != f"/static/{edition()}/studio.css":
                assert team.client().get(place + name).status_code == 404


def test_a_file_has_its_type_and_the_script_of_pages_is_there(team):
    for name, kind in [("studio.css", "text/css"), ("icon.svg", "image/svg+xml")]:
        answer = team.client().get(asset(name))
        assert (answer.status_code, answer["Content-Type"].partition(";")[0]) == (200, kind)
    page = team.client().get("/sign-in").content.decode()
    (where,) = [one.split('"')[0] for one in page.split('src="')[1:]]
    answer = team.client().get(where)
    assert answer["Content-Type"].partition(";")[0] == "text/javascript"
    assert len(answer.content) > 10_000


def test_a_name_that_is_not_there_fails_where_the_page_is_written():
    with pytest.raises(KeyError, match=r"there is no 'nothing\.css'"):
        asset("nothing.css")
