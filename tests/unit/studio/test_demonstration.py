"""The demonstration: made quickly, and with something in every state."""

import re
from collections import Counter
from datetime import UTC, datetime

import pytest

from servers.studio import studio
from vidence.engine.environment import Environment
from vidence.errors import UsageError
from vidence.studio import demonstration, demonstration_sets
from vidence.studio.demonstration import PROJECT, RUNS, WORLD, fill, is_made, make_material, paths_of
from vidence.studio.records.items import ItemRow
from vidence.studio.upkeep import verify


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    """Videos and runs."""
    folder = tmp_path_factory.mktemp("demonstration")
    environment = Environment(cache_root=folder / "cache", n_workers=1)
    assert make_material(folder, environment=environment, now=datetime(2026, 11, 23, tzinfo=UTC)) == ""
    return folder


@pytest.fixture
def solo(tmp_path, material):
    """A studio of one person that shows the material."""
    with studio("solo", tmp_path, paths=paths_of(material)) as made:
        yield made


def test_there_is_something_in_every_state(solo, material):
    fill(material)
    fill(material)
    counts = Counter(ItemRow.objects.values_list("state", flat=True))
    assert counts == {
        "submitted": 3,
        "in-review": 1,
        "returned": 1,
        "reviewed": 2,
        "in-meta": 1,
        "accepted": 1,
        "withdrawn": 1,
        "rejected": 1,
        "voided": 1,
        "drafting": 3,
    }
    assert list(verify()) == []
    page = solo.signed_in().get(f"/projects/{PROJECT}/").content.decode()
    assert "accepted" in page


def test_there_are_boards_a_study_under_way_and_a_board_of_three_teams(solo, material):
    from vidence.studio.leaderboard import board_here, standings
    from vidence.studio.records.boards import MadeSetRow
    from vidence.studio.records.studies import ParticipantRow, ResponseRow
    from vidence.studio.records.submissions import SubmissionRow
    from vidence.studio.verdicts import BOARDS

    fill(material)
    client, row = solo.signed_in(), MadeSetRow.objects.get()
    for name in BOARDS:
        answer = client.get(f"/sets/{row.public}/north/{name}")
        assert answer.status_code == 200, name
    page = client.get(f"/sets/{row.public}/north/cards").content.decode()
    assert len(re.findall(r'data-track="\d+"', page)) == 8, "everybody in the street"
    states = dict(ParticipantRow.objects.values_list("name", "state"))
    assert states == {"P01": "finished", "P02": "begun", "P03": "invited"}
    n_answers = Counter(
        ResponseRow.objects.exclude(answered_at=None).values_list("participant__name", flat=True)
    )
    assert n_answers == {"P01": 9, "P02": 3}
    board = board_here()
    shown = {(one.rank, one.team, one.points) for one in standings(board, solo.clock())}
    assert shown == {(1, "North Lab", 80), (2, "Red Pandas", 60), (2, "Uniform", 60)}
    assert Counter(SubmissionRow.objects.values_list("state", flat=True)) == {"scored": 5, "queued": 1}
    assert "North Lab" in client.get("/board").content.decode()


def test_without_scipy_the_boards_are_left_out_and_the_command_adds_it(tmp_path, monkeypatch):
    from types import SimpleNamespace

    for module, name in (
        (demonstration, "render"),
        (demonstration, "_questions"),
        (demonstration_sets, "draw_study"),
        (demonstration_sets, "release_hidden"),
    ):
        monkeypatch.setattr(module, name, lambda *_, **__: None)
    monkeypatch.setattr(demonstration, "anyio", SimpleNamespace(run=lambda *_: None))
    monkeypatch.setattr(demonstration, "find_spec", lambda _: None)
    environment = Environment(cache_root=tmp_path / "cache", n_workers=1)
    words = make_material(tmp_path / "demo", environment=environment, now=datetime(2026, 11, 23, tzinfo=UTC))
    assert words.startswith("without boards")
    assert "pip install" in words
    assert paths_of(tmp_path / "demo") == (tmp_path / "demo" / RUNS,)


def test_every_question_fits_the_form_of_its_protocol(solo, material, monkeypatch):
    from vidence.studio.bridge.items import item_of, wording_of
    from vidence.studio.checking import check
    from vidence.studio.workflow import to_revision
    from vidence.studio.writing import desk_of, form_of_project

    with monkeypatch.context() as changed:
        changed.setattr(demonstration_sets, "CONFIG", "no-such")
        fill(material)
    rows = ItemRow.objects.select_related("project", "current")
    assert {desk_of(one, author="ann").form.name for one in rows} == {"humanpcr-r"}
    assert {form_of_project(one.project) for one in rows} == {"humanpcr-r"}
    said = {}
    for one in rows.exclude(current=None):
        revision = to_revision(one.current, one.item_id)
        item = item_of(revision)
        assert (item.choices, [piece.kind for piece in item.evidence]) == ((), ["referred", "proactive"])
        found = check(wording_of(revision.content), desk_of(one, author="ann").told)
        said[one.item_id] = [(fault.field, fault.words) for fault in found.faults]
    assert len(said) == 12
    assert not any(said.values()), said


def test_what_was_made_is_known_again(material, tmp_path):
    assert not is_made(tmp_path / "absent")
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(UsageError, match="is not empty"):
        is_made(tmp_path)
    assert not is_made(material)
    assert {one.name for one in (material / RUNS).iterdir()} == {"sees-everything", "never-looks"}
    assert len(list((material / WORLD / "videos").iterdir())) == 3
