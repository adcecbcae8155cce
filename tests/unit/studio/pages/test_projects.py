"""A project is begun in the browser, under a preset or a text, within the folders of the studio."""

import re
from html import unescape

import pytest

from servers.studio import studio
from vidence.make.review.protocol import load_protocol, protocol_bytes
from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import ProjectRow, ProtocolRow
from vidence.studio.records.work import AuditEventRow
from vidence.studio.workflow import protocol_of

WHERE = "/new-project"
FILMS = {"act": "begin", "title": "Films", "slug": "films", "protocol": "mmvu"}
OWN = protocol_bytes("mmvu").decode().replace("returns = 1", "returns = 2", 1)


@pytest.fixture
def place(tmp_path):
    """A studio of one person with two folders of media, and one beside them with a link to it."""
    for name in ("media/a", "media/b", "elsewhere"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "media" / "a" / "link").symlink_to(tmp_path / "elsewhere")
    roots = (tmp_path / "media" / "a", tmp_path / "media" / "b")
    with studio("solo", tmp_path / "studio", media_roots=roots) as made:
        yield made.signed_in(), tmp_path


def words(answer):
    return unescape(re.sub(r"(<[^>]+>|\s)+", " ", answer.content.decode()))


def test_a_project_begins_under_a_preset(place):
    client, folder = place
    assert "Create a project" in words(client.get("/"))
    said = {**FILMS, "languages": "de, en", "media": str(folder / "media" / "a")}
    assert client.post(WHERE, said).headers["Location"] == "/projects/films/"
    row = ProjectRow.objects.get()
    assert (row.title, row.languages, row.media_root) == ("Films", ["de", "en"], str(folder / "media" / "a"))
    assert protocol_of(row) == load_protocol("mmvu")
    assert AuditEventRow.objects.get(kind="project-added").by == "solo"
    again = client.post(WHERE, said)
    assert (again.status_code, "already" in words(again)) == (400, True)
    assert 'value="de, en"' in again.content.decode()


def test_what_cannot_begin_is_said_and_a_text_is_tried_before_it_counts(place):
    for said, why in [
        ({"slug": "Films of 1"}, "expected lower-case letters, digits and -: 'films-of-1'"),
        ({"slug": ""}, "expected lower-case letters"),
        ({"slug": "x" * 61}, "expected 60 and 300 at most"),
        ({"title": "x" * 301}, "expected 60 and 300 at most"),
        ({"protocol": "mmvuu"}, "there is no protocol named 'mmvuu'"),
        ({"protocol": ""}, "there is no protocol named ''"),
        ({"protocol": "/etc/passwd.toml"}, "there is no protocol named"),
        ({"protocol": "text"}, "protocol.toml"),
        ({"languages": "en, german!"}, "the language 'german!'; expected a tag"),
        ({"media": "/"}, "expected one of this studio"),
        ({"media": "../../elsewhere"}, "expected one of this studio"),
        ({"media": "link"}, "expected one of this studio"),
        ({"media": "nothing"}, "expected one of this studio"),
    ]:
        client, _ = place
        answer = client.post(WHERE, {**FILMS, **said})
        assert (answer.status_code, why in words(answer)) == (400, True)
        assert not ProjectRow.objects.exists()
    client, _ = place
    assert protocol_bytes("mmvu").decode() != OWN
    checked = client.post(WHERE, {**FILMS, "act": "check"})
    assert "The protocol is valid" in words(checked)
    assert "Nothing is saved yet." in words(checked)
    assert "returns = 1" in words(checked)
    other = {**FILMS, "act": "check", "protocol": "herbench", "source": protocol_bytes("mmvu").decode()}
    assert protocol_bytes("herbench").decode() in unescape(client.post(WHERE, other).content.decode())
    differs = client.post(WHERE, {**FILMS, "source": OWN})
    assert (differs.status_code, "the text differs from the preset mmvu" in words(differs)) == (400, True)
    assert "returns: 2" in words(
        client.post(WHERE, {**FILMS, "act": "check", "protocol": "text", "source": OWN})
    )
    broken = client.post(WHERE, {**FILMS, "protocol": "text", "source": "title = 3"})
    assert (broken.status_code, "protocol.toml" in words(broken)) == (400, True)
    assert not ProjectRow.objects.exists()
    assert not ProtocolRow.objects.exists()
    sent = {**FILMS, "protocol": "text", "source": OWN.replace("\n", "\r\n")}
    assert client.post(WHERE, sent).status_code == 302
    assert ProjectRow.objects.get().protocol.source == OWN


def test_a_studio_without_folders_says_how_to_name_one(solo):
    client = solo.signed_in()
    assert "has none; start it" in words(client.get(WHERE))
    answer = client.post(WHERE, {**FILMS, "media": "films"})
    assert (answer.status_code, "--media-root" in words(answer)) == (400, True)


def test_an_operator_of_all_projects_begins_one(team):
    team.user("Olga", "operator")
    assert team.signed_in("Olga").post(WHERE, FILMS).status_code == 302
    assert AuditEventRow.objects.get(kind="project-added").by == "p001"


def test_the_first_page_counts_items_and_shows_runs_to_researchers(team):
    project = team.project("films")
    add_items(project, ["a", "b"], kinds={})
    for name, role in (("Ada", "author"), ("Rita", "researcher")):
        team.user(name, role, project="films")
    ItemRow.objects.filter(item_id="a").update(state="accepted")
    page = words(team.signed_in("Ada").get("/"))
    assert re.search(r"films 2 1 \d{4}-", page), page
    assert "Runs and sets" not in page
    assert "Runs and sets" in words(team.signed_in("Rita").get("/"))


@pytest.fixture
def many(solo):
    """A project of 230 items, the first 20 of them returned."""
    project = solo.project()
    add_items(project, [f"q{n:03}" for n in range(230)], kinds={})
    ItemRow.objects.filter(item_id__lt="q020").update(state="returned")
    return solo.signed_in()


def test_items_are_shown_page_by_page(many):
    for asked, shown, first in (
        ("", "1 to 25 of 230, page 1 of 10", "q000"),
        ("page=3", "51 to 75 of 230, page 3 of 10", "q050"),
        ("page=99", "226 to 230 of 230, page 10 of 10", "q225"),
        ("page=x", "1 to 25 of 230, page 1 of 10", "q000"),
        ("state=returned", "1 to 20 of 20, page 1 of 1", "q000"),
        ("state=drafting&page=2", "26 to 50 of 210, page 2 of 9", "q045"),
        ("state=nothing", "1 to 25 of 230, page 1 of 10", "q000"),
        ("words=Q19", "1 to 10 of 10, page 1 of 1", "q190"),
        ("words=none", "none, page 1 of 1", ""),
    ):
        answer = many.get(f"/projects/films/?{asked}")
        assert shown in words(answer), asked
        found = re.findall(r">(q\d{3})</a>", answer.content.decode())
        assert found[:1] == ([first] if first else [])
        assert len(found) <= 25
    page = many.get("/projects/films/?state=drafting&words=q19").content.decode()
    assert 'href="?state=drafting&amp;words=q19&amp;page=2"' not in page  # 10 of them fit on one
    page = many.get("/projects/films/?state=drafting&words=q").content.decode()
    assert 'href="?state=drafting&amp;words=q&amp;page=2"' in page
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    asked = []
    for where in ("?words=q00", ""):
        with CaptureQueriesContext(connection) as queries:
            many.get(f"/projects/films/{where}")
        asked.append(len(queries))
    assert asked[0] == asked[1] < 10
