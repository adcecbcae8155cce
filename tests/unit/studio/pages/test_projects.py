"""A project is begun in the browser, under a preset or a text, within the folders of the studio."""

import re
from html import unescape

import pytest

from servers.studio import studio
from vidence.make.review.protocol import load_protocol, protocol_bytes
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
    assert "Begin a project" in words(client.get("/"))
    said = {**FILMS, "languages": "de, en", "media": str(folder / "media" / "a")}
    assert client.post(WHERE, said).headers["Location"] == "/projects/films/"
    row = ProjectRow.objects.get()
    assert (row.title, row.languages, row.media_root) == (
        "Films",
        ["de", "en"],
        str(folder / "media" / "a"),
    )
    assert protocol_of(row) == load_protocol("mmvu")
    assert AuditEventRow.objects.get(kind="project-added").by == "solo"
    again = client.post(WHERE, said)
    assert (again.status_code, "already" in words(again)) == (400, True)
    assert 'value="de, en"' in again.content.decode()


def test_a_text_is_tried_before_it_counts(place):
    client, _ = place
    assert protocol_bytes("mmvu").decode() != OWN
    checked = client.post(WHERE, {**FILMS, "act": "check"})
    assert "It can be read" in words(checked)
    assert "Nothing was begun yet." in words(checked)
    assert "returns = 1" in words(checked)
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


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"slug": "Films of 1"}, "expected small letters, digits and -, as 'films-of-1'"),
        ({"slug": ""}, "expected small letters"),
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
        ({"media": "a\0b"}, "expected one of this studio"),
    ],
)
def test_what_cannot_begin_is_said(place, said, why):
    client, _ = place
    answer = client.post(WHERE, {**FILMS, **said})
    assert (answer.status_code, why in words(answer)) == (400, True)
    assert not ProjectRow.objects.exists()


def test_a_studio_without_folders_says_how_to_name_one(solo):
    client = solo.signed_in()
    assert "was told of none" in words(client.get(WHERE))
    answer = client.post(WHERE, {**FILMS, "media": "films"})
    assert (answer.status_code, "--media-root" in words(answer)) == (400, True)


def test_an_operator_of_all_projects_begins_one(team):
    team.user("Olga", "operator")
    assert team.signed_in("Olga").post(WHERE, FILMS).status_code == 302
    assert AuditEventRow.objects.get(kind="project-added").by == "p001"
