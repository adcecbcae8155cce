"""What the tables of work refuse by themselves: two open claims, two open spans, a request saved twice."""

from datetime import timedelta

import pytest

from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import MembershipRow, QualificationRow
from vidence.studio.records.work import AssignmentRow, DraftLogRow, DraftRow, TimeSpanRow


@pytest.fixture
def told(team):
    """A person, a project and an item."""
    project = team.project()
    add_items(project, ["q1"], kinds={})
    return {"user": team.user("Ada", "author"), "item": ItemRow.objects.get(), "now": team.clock()}


def refused(write):
    from django.db import IntegrityError, transaction

    with pytest.raises(IntegrityError), transaction.atomic():
        write()


def test_the_tables_refuse_what_is_open_twice_or_cannot_be(told):
    user, item, now = told["user"], told["item"], told["now"]
    claim = {"user": user, "item": item, "stage": "reviewer", "claimed_at": now}
    AssignmentRow.objects.create(state="expired", **claim)
    AssignmentRow.objects.create(state="claimed", **claim)
    refused(lambda: AssignmentRow.objects.create(state="claimed", **claim))
    draft = {"user": user, "item": item, "project": item.project, "stage": "annotate", "saved_at": now}
    first = DraftRow.objects.create(**draft)
    refused(lambda: DraftRow.objects.create(**draft))
    DraftLogRow.objects.create(draft=first, version=1, body='{"a": "\\u0000"}', request="r1", at=now)
    refused(lambda: DraftLogRow.objects.create(draft=first, version=1, body="{}", request="r2", at=now))
    refused(lambda: DraftLogRow.objects.create(draft=first, version=2, body="{}", request="r1", at=now))
    span = {"user": told["user"], "kind": "active", "source": "heartbeat", "start_at": told["now"]}
    TimeSpanRow.objects.create(end_at=told["now"], is_open=True, **span)
    refused(lambda: TimeSpanRow.objects.create(end_at=told["now"], is_open=True, **span))
    refused(lambda: TimeSpanRow.objects.create(end_at=told["now"] - timedelta(seconds=1), **span))
    user, project = told["user"], told["item"].project
    MembershipRow.objects.create(user=user, project=project, roles=[])
    refused(lambda: MembershipRow.objects.create(user=user, project=project, roles=[]))
    refused(lambda: MembershipRow.objects.create(user=user, project=None, roles=[]))
    try_ = {
        "user": told["user"],
        "project": told["item"].project,
        "n_try": 1,
        "is_passed": True,
        "at": told["now"],
    }
    refused(lambda: QualificationRow.objects.create(n_right=3, n_asked=2, **try_))
    QualificationRow.objects.create(n_right=2, n_asked=2, **try_)
    refused(lambda: QualificationRow.objects.create(n_right=1, n_asked=2, **try_))
