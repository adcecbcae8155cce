"""The demonstration: made quickly, and with something in every state."""

from collections import Counter
from datetime import UTC, datetime

import pytest

from vidence.engine.environment import Environment
from vidence.errors import UsageError
from vidence.studio.demonstration import PROJECT, RUNS, WORLD, fill, is_made, make_material
from vidence.studio.records.items import ItemRow
from vidence.studio.upkeep import verify


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    """Videos and runs."""
    folder = tmp_path_factory.mktemp("demonstration")
    environment = Environment(cache_root=folder / "cache", n_workers=1)
    make_material(folder, environment=environment, now=datetime(2026, 11, 23, tzinfo=UTC))
    return folder


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


def test_every_question_fits_the_form_of_its_protocol(solo, material):
    from vidence.studio.bridge.items import item_of, wording_of
    from vidence.studio.checking import check
    from vidence.studio.workflow import to_revision
    from vidence.studio.writing import desk_of, form_of_project

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
