"""Versions of a protocol: read, tried on what was done, used, locked."""

import pytest

from vidence.errors import UsageError
from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow, TransitionRow
from vidence.studio.records.people import ProtocolVersionRow
from vidence.studio.rulebooks import diff, dry_run, keep, read, remove, use, versions
from vidence.studio.upkeep import verify
from vidence.studio.workflow import Act, act, protocol_of

LONG = "The cup is never seen; say which one is meant, and when it can be seen."


@pytest.fixture
def place(team):
    """MMVU's protocol, one item returned and one not begun."""
    project = team.project(protocol="mmvu")
    add_items(project, ["q1", "q2"], kinds={})
    item = ItemRow.objects.get(item_id="q1")
    first = protocol_of(project).stages[0].checks[0].id
    for said in (
        Act(kind="submit", by="ann", role="author", content={"question": "Which?"}),
        Act(kind="claim", by="bob", role="reviewer"),
        Act(kind="return", by="bob", role="reviewer", message=LONG, checks={first: "no"}),
    ):
        act(item, said)
    return project


def changed(project, old, new):
    source = project.protocol.source
    assert old in source
    return source.replace(old, new)


def test_a_text_that_is_no_protocol_is_refused_with_its_line(place):
    with pytest.raises(
        UsageError, match=r"protocol.toml:4: there is no setting 'retruns'. Did you mean 'returns'"
    ):
        read(changed(place, "returns = 1", "retruns = 1"))
    with pytest.raises(UsageError, match="is no TOML"):
        keep(place, "title = ", by="p009")
    with pytest.raises(UsageError, match="200000 at most"):
        read("#" * 200_001)
    assert ProtocolVersionRow.objects.count() == 0


def test_a_version_is_kept_used_and_then_locked(place):
    second = keep(place, changed(place, "most_annotations = 10", "most_annotations = 5"), by="p009")
    assert [(one.n, one.used_at is not None) for one in versions(place)] == [(2, False), (1, True)]
    with pytest.raises(UsageError, match="version 2 has the same text"):
        keep(place, second.protocol.source.replace("\n", "\r\n"), by="p009")
    tried = use(second, by="p009")
    assert (tried.n_items, tried.n_events, tried.n_changed, tried.faults) == (2, 3, 0, ())
    place.refresh_from_db()
    assert protocol_of(place).pay.most_annotations == 5
    with pytest.raises(UsageError, match="version 2 is locked: it was in use from 2026-11-23"):
        remove(second, by="p009")
    assert list(verify()) == []
    first = ProtocolVersionRow.objects.get(n=1)
    use(first, by="p009")
    place.refresh_from_db()
    assert place.protocol == first.protocol


def test_a_version_that_was_never_used_can_go(place):
    second = keep(place, changed(place, "returns = 1", "returns = 2"), by="p009")
    remove(second, by="p009")
    assert [one.n for one in versions(place)] == [1]


def test_rules_that_refuse_what_was_done_are_not_used(place):
    none = keep(place, changed(place, "returns = 1", "returns = 0"), by="p009")
    tried = dry_run(place, read(none.protocol.source))
    assert tried.faults
    assert tried.faults[0].startswith("q1: ")
    before = list(TransitionRow.objects.values_list()), place.protocol_id
    with pytest.raises(UsageError, match="version 2 does not fit what was done: q1"):
        use(none, by="p009")
    place.refresh_from_db()
    assert (list(TransitionRow.objects.values_list()), place.protocol_id) == before


def test_more_returns_are_given_to_all_items(place):
    use(keep(place, changed(place, "returns = 1", "returns = 3"), by="p009"), by="p009")
    assert dict(ItemRow.objects.values_list("item_id", "returns_left")) == {"q1": 2, "q2": 3}
    assert list(verify()) == []


def test_what_differs_is_said_line_by_line():
    assert diff("a\nb", "a\nb", names=("one", "two")) == ""
    assert diff("a\nb", "a\nc", names=("one", "two")).splitlines()[-2:] == ["-b", "+c"]
