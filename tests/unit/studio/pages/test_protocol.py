"""The page of the protocol: looked at, kept, used, removed; every fault with its line."""

import pytest

from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import ProtocolVersionRow
from vidence.studio.workflow import Act, act, protocol_of

WHERE = "/projects/films/protocol"


@pytest.fixture
def place(team):
    project = team.project(protocol="mmvu")
    add_items(project, ["q1"], kinds={})
    act(ItemRow.objects.get(), Act(kind="submit", by="ann", role="author", content={"question": "?"}))
    team.user("Olga", "operator", project="films")
    return project


def test_a_text_is_looked_at_without_being_kept(team, place):
    client = team.signed_in("Olga")
    source = place.protocol.source
    same = client.post(WHERE, {"act": "check", "source": source.replace("\n", "\r\n")})
    assert "It is the one in use." in same.content.decode()
    page = client.post(WHERE, {"act": "check", "source": source.replace("returns = 1", "returns = 2")})
    assert page.status_code == 200
    words = page.content.decode()
    assert "+returns = 2" in words
    assert "1 acts on 1 items" in words
    assert "1 items have another number of returns left" in words
    bad = client.post(WHERE, {"act": "check", "source": source.replace('role = "reviewer"', 'role = "boss"')})
    assert bad.status_code == 400
    assert "protocol.toml:8" in bad.content.decode()
    assert ProtocolVersionRow.objects.count() == 0


def test_versions_are_kept_used_and_removed(team, place):
    client = team.signed_in("Olga")
    source = place.protocol.source
    for n in (2, 3):
        changed = source.replace("returns = 1", f"returns = {n}")
        assert client.post(WHERE, {"act": "keep", "source": changed}).status_code == 302
    second, third = (str(ProtocolVersionRow.objects.get(n=n).public) for n in (2, 3))
    assert client.post(WHERE, {"act": "use", "version": second}).status_code == 302
    place.refresh_from_db()
    assert protocol_of(place).returns == 2
    assert client.post(WHERE, {"act": "remove", "version": second}).status_code == 400
    assert client.post(WHERE, {"act": "remove", "version": third}).status_code == 302
    page = client.get(WHERE).content.decode()
    assert "In use: version 2" in page
    assert "Version 3" not in page
    for name in ("", third):
        assert client.post(WHERE, {"act": "use", "version": name}).status_code == 404
    assert client.post(WHERE, {"act": "burn", "version": second}).status_code == 400


def test_what_a_text_would_break_is_named(team, place):
    protocol = place.protocol.source
    item = ItemRow.objects.get()
    act(item, Act(kind="claim", by="bob", role="reviewer"))
    no_edits = protocol.replace('edits = ["validator_edit"]', "")
    checks = {one.id: "yes" for one in protocol_of(place).stages[0].checks}
    edit = {"question": "Which?"}
    act(item, Act(kind="edit", by="bob", role="reviewer", content=edit, origin="validator_edit"))
    act(item, Act(kind="accept", by="bob", role="reviewer", checks=checks))
    client = team.signed_in("Olga")
    page = client.post(WHERE, {"act": "check", "source": no_edits}).content.decode()
    assert "cannot be used here" in page
    assert "q1: " in page
