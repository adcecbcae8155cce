"""What the tables of items refuse by themselves, whatever the code above them does."""

import pytest

from vidence.studio.projects import add_items
from vidence.studio.records.fields import HASH_LENGTH
from vidence.studio.records.items import ItemRow, MediumRow, ReviewRow, RevisionRow
from vidence.studio.workflow import Act, act


@pytest.fixture
def item(team):
    """An item that Ada has put in."""
    add_items(team.project(), ["q1"], kinds={})
    found = ItemRow.objects.get()
    act(found, Act(kind="submit", role="author", by="p001", content={"question": "Which?"}))
    return found


def refused(write):
    from django.db import IntegrityError, transaction

    with pytest.raises(IntegrityError), transaction.atomic():
        write()


def test_the_tables_refuse_what_cannot_be(item, team):
    refused(lambda: ItemRow.objects.update(returns_left=-1))
    refused(lambda: ItemRow.objects.update(state="perfect"))
    refused(lambda: ItemRow.objects.create(
        project=item.project, item_id="q1", kind="open", state="drafting", returns_left=1,
        created_at=item.created_at, changed_at=item.created_at,
    ))  # fmt: skip
    ada, bob = team.user("Ada", "author"), team.user("Bob", "reviewer")
    look = {
        "item": item,
        "revision": item.current,
        "stage": "reviewer",
        "author": ada,
        "begun_at": team.clock(),
    }
    refused(lambda: ReviewRow.objects.create(reviewer=ada, **look))
    ReviewRow.objects.create(reviewer=bob, **look)
    refused(lambda: ReviewRow.objects.create(reviewer=bob, **look))
    first = RevisionRow.objects.get()
    assert len(first.sha256) == HASH_LENGTH
    again = {"item": item, "content": "{}", "origin": "submit", "by": "p001", "at": first.at}
    refused(lambda: RevisionRow.objects.create(n=1, sha256="0" * 64, **again))
    refused(lambda: RevisionRow.objects.create(n=2, sha256=first.sha256, **again))
    one = {"project": item.project, "path": "a.mp4", "kind": "video", "state": "usable"}
    MediumRow.objects.create(**one)
    refused(lambda: MediumRow.objects.create(**one))
    refused(lambda: MediumRow.objects.create(**{**one, "path": "b", "kind": "film"}))
