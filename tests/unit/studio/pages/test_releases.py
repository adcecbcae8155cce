"""Releases of what was accepted, and their page."""

import msgspec
import pytest

from vidence.errors import DataError, UsageError
from vidence.make.pipeline.ledger import ACCOUNT_FILE, Account
from vidence.make.review.protocol import load_protocol
from vidence.records import Item
from vidence.studio.bridge.recorded_files import take_items
from vidence.studio.pages.releases import Wish, release, releases_of
from vidence.studio.records.boards import MadeSetRow
from vidence.studio.records.items import ItemRow
from vidence.studio.records.work import AuditEventRow
from vidence.studio.workflow import Act, RecordedAct, act

ANY = ("all",)


def question(name, path="videos/a.mp4"):
    said = {"item_id": name, "media": ({"path": path},), "question": f"Which {name}?", "answer": "B"}
    return msgspec.convert(said | {"choices": ["one", "two"]}, Item)


def accept(item_id):
    item = ItemRow.objects.get(item_id=item_id)
    checks = {one.id: "yes" for one in load_protocol("mmvu").stages[0].checks}
    for kind, more in (("claim", {}), ("accept", {"checks": checks})):
        assert isinstance(act(item, Act(kind=kind, by="bob", role="reviewer", **more)), RecordedAct)


@pytest.fixture
def project(team):
    """A project with two questions, one of them accepted."""
    made = team.project("films", "mmvu")
    take_items(made, [question("q1"), question("q2")])
    accept("q1")
    return made


def test_only_what_was_accepted_is_released_and_a_release_never_changes(project):
    found = release(project, Wish(without_licence=ANY), by="olga")
    lines = (found.folder / "items.jsonl").read_bytes().splitlines()
    assert [msgspec.json.decode(one, type=Item).item_id for one in lines] == ["q1"]
    assert releases_of(project) == [found.folder]
    assert "1.0.0" in found.folder.name
    event = AuditEventRow.objects.get(kind="released")
    assert (event.by, event.about, event.details["n"]) == ("olga", "films", 1)
    release(project, Wish(without_licence=ANY), by="olga")
    assert not release(project, Wish(without_licence=ANY), by="olga").is_new
    accept("q2")
    with pytest.raises(UsageError, match=r"1\.0\.0"):
        release(project, Wish(without_licence=ANY), by="olga")
    release(project, Wish(version="1.1.0", without_licence=ANY), by="olga")
    assert [one.name for one in releases_of(project)] == ["films-1.0.0", "films-1.1.0"]


def test_without_anything_accepted_there_is_no_release(team):
    made = team.project("films", "mmvu")
    take_items(made, [question("q1")])
    with pytest.raises(UsageError, match="no question is accepted yet"):
        release(made, Wish(), by="olga")
    assert releases_of(made) == []


def test_media_outside_the_folder_of_the_project_are_not_released(team):
    made = team.project("films", "mmvu")
    take_items(made, [question("q1", "/etc/a.mp4")])
    accept("q1")
    with pytest.raises(DataError, match="outside the folder"):
        release(made, Wish(without_licence=ANY), by="olga")


def test_the_page_releases_and_says_what_is_wrong(project, team):
    team.user("Ann", "author", "reviewer", "meta", "researcher")
    assert team.signed_in("Ann").post("/projects/films/releases/", {}).status_code == 403
    team.user("Olga", "operator")
    client = team.signed_in("Olga")
    address = "/projects/films/releases/"
    assert b"1 of 2 questions is accepted" in client.get(address).content
    refused = client.post(address, {"version": "../x", "without": "all"})
    assert refused.status_code == 400
    assert b"Not released: version is" in refused.content
    assert client.post(address, {"version": "1.0.0", "without": "all"}).status_code == 302
    shown = client.get(address).content.decode()
    assert "films-1.0.0" in shown
    assert "vidence run table --data" in shown


def test_the_cautions_of_the_making_are_shown_and_stand_in_the_datasheet(project, team, tmp_path):
    made = tmp_path / "made"
    made.mkdir()
    account = Account(stages=(), cautions=("3 of 4 cards were told without the film <b>",))
    (made / ACCOUNT_FILE).write_bytes(msgspec.json.encode(account))
    MadeSetRow.objects.create(project=project, folder=str(made), people_folder=str(made))
    team.user("Olga", "operator")
    client, address = team.signed_in("Olga"), "/projects/films/releases/"
    said = "Caution: 3 of 4 cards were told without the film &lt;b&gt;."
    assert said in client.get(address).content.decode()
    assert client.post(address, {"version": "1.0.0", "without": "all"}).status_code == 302
    sheets = [one.read_text() for one in (team.settings.data / "releases").rglob("*.md")]
    assert any("told without the film" in one for one in sheets)
    (made / "other").mkdir()
    (made / "other" / ACCOUNT_FILE).write_bytes(msgspec.json.encode(account))
    MadeSetRow.objects.create(project=project, folder=str(made / "other"), people_folder="x")
    shown = client.get(address).content.decode()
    assert shown.count(said + " The datasheet does not mention it, since the project has several sets.") == 2
    (made / ACCOUNT_FILE).write_text("{")
    assert "is no account of a making" in client.get(address).content.decode()
    assert b"is no account of a making" in client.post(address, {"version": "2.0.0"}).content
