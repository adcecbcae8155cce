"""Drafts: each acknowledged save is kept, and a save on an older version overwrites nothing."""

import pytest

from vidence.errors import UsageError
from vidence.studio.drafts import MOST_BYTES, Conflict, Saved, close, new_request, open_draft, save
from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow
from vidence.studio.records.work import DraftLogRow


@pytest.fixture
def draft(team):
    """A draft that nothing was saved in."""
    add_items(team.project(), ["q1"], kinds={})
    return open_draft(team.user("Ada", "author"), ItemRow.objects.get(), stage="author", body="{}")


def test_each_save_is_a_version_and_a_line_of_the_log(draft):
    done = [save(draft, body=f"text {n}", seen=n, request=new_request()) for n in range(3)]
    assert [one.version for one in done] == [1, 2, 3]
    log = DraftLogRow.objects.filter(draft=draft).order_by("version")
    assert [(one.version, one.body) for one in log] == [(1, "text 0"), (2, "text 1"), (3, "text 2")]
    draft.refresh_from_db()
    assert (draft.version, draft.body) == (3, "text 2")


def test_saves_are_versions_once_and_conflicts_change_nothing(draft):
    save(draft, body="mine", seen=0, request="a")
    late = save(draft, body="theirs", seen=0, request="b")
    assert isinstance(late, Conflict)
    assert (late.version, late.body, late.is_closed) == (1, "mine", False)
    draft.refresh_from_db()
    assert draft.body == "mine"
    save(draft, body="mine", seen=0, request="a")
    assert save(draft, body="mine", seen=0, request="b").version == 1
    assert DraftLogRow.objects.count() == 1


def test_a_draft_is_opened_again_kept_once_and_closed(draft):
    again = open_draft(draft.user, draft.item, stage="author", body='{"another": 1}')
    assert (again.pk, again.body) == (draft.pk, "{}")
    first = save(draft, body="mine", seen=0, request="a")
    assert save(draft, body="mine", seen=0, request="a") == first
    assert isinstance(first, Saved)
    assert DraftLogRow.objects.count() == 1
    close(draft)
    late = save(draft, body="more", seen=1, request="b")
    assert isinstance(late, Conflict)
    assert late.is_closed


@pytest.mark.parametrize(("body", "request_"), [("x" * (MOST_BYTES + 1), "a"), ("x", ""), ("x", "a" * 65)])
def test_what_is_too_long_is_refused(draft, body, request_):
    with pytest.raises(UsageError):
        save(draft, body=body, seen=0, request=request_)
