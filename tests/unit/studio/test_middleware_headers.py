"""Every answer tells the browser what it may load, whatever the answer is."""

import html
import json
from pathlib import Path

from servers.studio import studio
from vidence.studio.middleware import shown

SAID = {
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def policy(answer):
    """The parts of the policy of an answer."""
    parts = (one.strip().partition(" ") for one in answer["Content-Security-Policy"].split(";"))
    return {name: said for name, _, said in parts}


def test_every_answer_has_them_and_no_script_or_style(team):
    team.user("Ada", "author")
    client = team.signed_in("Ada")
    for where, status in [
        ("/", 200),
        ("/sign-in", 200),
        ("/nothing", 404),
        ("/health", 403),
        ("/sign-out", 405),
        ("/static/django_htmx/htmx-2.min.js", 200),
        ("/static/nothing.css", 404),
        ("/enter", 403),
    ]:
        answer = client.get(where)
        assert answer.status_code == status
        if where != "/enter":
            assert {name: answer[name] for name in SAID} == SAID
        said = policy(answer)
        assert said["default-src"] == "'none'"
        assert said["frame-ancestors"] == "'none'"
        assert {said[f"{one}-src"] for one in ("script", "style", "img", "media", "connect")} == {"'self'"}
        assert "unsafe" not in answer["Content-Security-Policy"]
        assert "Access-Control-Allow-Origin" not in answer
    for where in ("/sign-in", "/nothing"):
        assert "no-store" in team.client().get(where)["Cache-Control"]
    from vidence.studio.assets import edition

    found = team.client().get(f"/static/{edition()}/studio.css")
    assert found["Cache-Control"] == "public, max-age=31536000, immutable"


def test_a_fault_of_the_server_has_them_and_says_nothing_of_itself(team, monkeypatch):
    from vidence.studio.pages import projects

    def broken(*_more):
        raise RuntimeError("the password is 1234")

    monkeypatch.setattr(projects, "render", broken)
    team.user("Ada", "author")
    client = team.signed_in("Ada")
    client.raise_request_exception = False
    answer = client.get("/")
    assert answer.status_code == 500
    assert "1234" not in answer.content.decode()
    assert "RuntimeError" not in answer.content.decode()
    assert policy(answer)["default-src"] == "'none'"


def test_pages_have_no_script_or_style_in_them(team):
    team.user("Ada", "operator")
    team.project()
    client = team.signed_in("Ada")
    for where in ("/", "/projects/films/", "/health", "/nothing"):
        page = client.get(where).content.decode()
        assert "<style" not in page
        assert " style=" not in page
        assert " on" not in page.replace(" one", "").replace(" only", "")
        assert "javascript:" not in page
        assert page.count("<script") == page.count('<script src="/static/')


def test_folders_are_named_without_where_they_lie_and_addresses_stay(tmp_path):
    data = tmp_path / 'a "b" & c'
    with studio("team", data, media_roots=(Path("/media"), Path("/"))) as team:
        texts = {
            f"{data}/x.mp4: gone": 'a "b" & c/x.mp4: gone',
            html.escape(f"({data}) {data}2"): html.escape(
                f'(a "b" & c) {shown(str(data.parent))}/a "b" & c2'
            ),
            json.dumps({"words": f"{data}."}): json.dumps({"words": 'a "b" & c.'}),
            '"/media/abc/file" or /media/films/a.mp4': '"/media/abc/file" or media/films/a.mp4',
            "relative/media/x and https://a.b/media/": "relative/media/x and https://a.b/media/",
        }
        assert {text: shown(text) for text in texts} == texts
        project = team.project("films")
        project.media_root = "/srv/lab/films"
        project.save()
        assert shown("below /srv/lab/films, or /srv/lab/others") == "below films, or /srv/lab/others"
