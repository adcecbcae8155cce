"""Beats over HTTP, the page of time, and the ledger of a project."""

import pytest

from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow
from vidence.studio.records.work import TimeCorrectionRow, TimeSpanRow
from vidence.studio.workflow import Act, act

TIME = "/projects/films/time"


@pytest.fixture
def place(team):
    project = team.project(protocol="mmvu")
    add_items(project, ["q1"], kinds={})
    for name, role in (("Ann", "author"), ("Rita", "researcher"), ("Olga", "operator"), ("Omar", "operator")):
        team.user(name, role, project="films")
    return project


def beat(client, path="/projects/films/", **more):
    return client.post("/beat", {"path": path, **more}).status_code


def test_beats_count_by_the_clock_of_the_server_until_one_signs_out(team, place):
    client = team.signed_in("Ann")
    for _ in range(5):
        assert beat(client, time="2026-11-24T09:00:00Z", at="9999999999") == 204
        team.clock.move(15)
    row = TimeSpanRow.objects.get()
    assert (row.end_at - row.start_at).total_seconds() == 60
    assert row.start_at.day == 23
    beat(client)
    client.post("/sign-out")
    assert not TimeSpanRow.objects.get().is_open


def test_which_beats_count(team, place):
    item = ItemRow.objects.get()
    team.project("others")
    client = team.signed_in("Ann")
    assert beat(client, "/nowhere") == 400
    for path in ("/", "/projects/others/", "/projects/no-such/"):
        assert beat(client, path) == 204
    assert beat(team.signed_in("Rita")) == beat(team.signed_in("Olga")) == 204
    assert TimeSpanRow.objects.count() == 0
    assert beat(client, f"/projects/films/items/{item.public}/") == 204
    assert TimeSpanRow.objects.get().item == item
    assert team.client().post("/beat", {"path": "/"}).status_code == 401


def test_a_board_of_a_set_is_work_on_its_project(team, place, monkeypatch):
    from types import SimpleNamespace

    from vidence.studio.pages import time
    from vidence.studio.records.boards import MadeSetRow

    made = MadeSetRow.objects.create(project=place, folder="made/a", people_folder="people")
    loose = MadeSetRow.objects.create(folder="made/b", people_folder="people")
    client = team.signed_in("Ann")
    for row, n_spans in ((loose, 0), (made, 1)):
        monkeypatch.setattr(
            time, "resolve", lambda _, row=row: SimpleNamespace(kwargs={"made_set": row.public})
        )
        assert beat(client, "/sets/x/") == 204
        assert TimeSpanRow.objects.count() == n_spans


def correct(client, **more):
    said = {"act": "file", "kind": "active", "start": "2026-11-23T08:00", "end": "2026-11-23T08:30"}
    return client.post(TIME, {**said, "reason": "watched on paper", **more})


def test_a_correction_goes_from_the_worker_to_an_operator(team, place):
    for more in [{"start": "noon"}, {"end": "2026-11-23T07:00"}, {"reason": "no"}, {"act": "x"}]:
        answer = correct(team.signed_in("Ann"), **more)
        page = answer.content.decode()
        assert answer.status_code == 400
        assert 'role="alert"' in page
        assert 'value="2026-11-23T0' in page
        assert TimeCorrectionRow.objects.count() == 0
    ann, olga = team.signed_in("Ann"), team.signed_in("Olga")
    assert correct(ann).status_code == 302
    row = TimeCorrectionRow.objects.get()
    decide = {"correction": str(row.public), "act": "approve"}
    assert ann.post(TIME, decide).status_code == 400
    assert "watched on paper" in olga.get(TIME).content.decode()
    assert olga.post(TIME, decide).status_code == 302
    page = ann.get(TIME).content.decode()
    assert "Today: 0:30:00" in page
    assert "3.00 USD" in page
    assert "No corrections" in olga.get(TIME).content.decode()
    again = olga.post(TIME, decide)
    assert (again.status_code, "already approved" in again.content.decode()) == (400, True)


def test_nobody_sees_the_time_of_others_but_operators(team, place):
    beat(team.signed_in("Ann"))
    team.user("Ben", "author", project="films")
    assert "All people today" not in team.signed_in("Ben").get(TIME).content.decode()
    assert "All people today" in team.signed_in("Olga").get(TIME).content.decode()
    assert correct(team.signed_in("Rita")).status_code == 403


def test_the_ledger_says_what_each_has_earned(team, place):
    where = "/projects/films/ledger"
    client = team.signed_in("Olga")
    assert "Nothing has been earned yet" in client.get(where).content.decode()
    done = act(ItemRow.objects.get(), Act(kind="submit", by="p001", role="author", content={"question": "?"}))
    assert done.number == 1
    page = client.get(where).content.decode()
    assert "<h2>p001</h2>" in page
    assert "Pending: <strong>2.00 USD</strong>" in page
