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


def test_what_was_made_is_known_again(material, tmp_path):
    assert not is_made(tmp_path / "absent")
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(UsageError, match="holds something else"):
        is_made(tmp_path)
    assert not is_made(material)
    assert {one.name for one in (material / RUNS).iterdir()} == {"sees-everything", "never-looks"}
    assert len(list((material / WORLD / "videos").iterdir())) == 3
