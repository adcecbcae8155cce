"""Acts on items: what the rules of a review allow is kept in chains, and nothing else."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from vidence.make.review.revisions import chains, in_order
from vidence.make.review.states import allowed_kinds, fold
from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow, RevisionRow, TransitionRow
from vidence.studio.upkeep import verify
from vidence.studio.workflow import (
    Act,
    RecordedAct,
    Refused,
    act,
    events_of,
    protocol_of,
    revisions_of,
    standing,
    to_event,
)

WORDS = {"question": "Which cup?", "answer": "the red one"}
LONG = "The cup is never seen; say which one is meant, and when it can be seen."


@dataclass
class Place:
    project: Any
    item: Any
    clock: Any

    def do(self, kind, by="ann", role="author", **more):
        return act(self.item, Act(kind=kind, by=by, role=role, **more))


@pytest.fixture
def place(team):
    """An item that nobody has written yet, under MMVU's protocol."""
    project = team.project(protocol="mmvu")
    add_items(project, ["q1"], kinds={"q1": "mcq"})
    return Place(project, ItemRow.objects.get(), team.clock)


def check_of(place):
    return protocol_of(place.project).stages[0].checks[0].id


def test_the_rows_are_the_events_and_wordings_of_a_review(place):
    place.do("submit", content=WORDS)
    place.do("claim", "bob", "reviewer")
    place.do("release", "bob", "reviewer")
    events, revisions = list(events_of(place.item)), revisions_of(place.item)
    assert [one.fault for one in (*events, *revisions.values())] == [""] * 4
    assert chains(events)[1] == {}
    protocol = protocol_of(place.project)
    found = fold(revisions, in_order(events), protocol)
    assert found.refused == ()
    assert found.states["q1"] == standing(place.item, protocol)
    assert place.item.standing["state"] == "submitted"


def test_what_is_refused_leaves_nothing(place):
    place.do("submit", content=WORDS)
    before = list(TransitionRow.objects.values_list()), list(RevisionRow.objects.values_list())
    version = place.item.lock_version
    for refused in (
        place.do("claim", "ann", "reviewer"),
        place.do("accept", "bob", "reviewer"),
        place.do("submit", content=WORDS),
        place.do("resubmit", "eve", content=WORDS, origin="author_revise"),
        place.do("reopen", "bob", "operator", message="again"),
        place.do("claim", "no pseudonym!", "reviewer"),
    ):
        assert isinstance(refused, Refused), refused
    assert (list(TransitionRow.objects.values_list()), list(RevisionRow.objects.values_list())) == before
    assert place.item.lock_version == version


def test_who_saw_an_older_item_is_told(place):
    seen = place.item.lock_version
    place.do("submit", content=WORDS)
    late = place.do("claim", "bob", "reviewer", seen=seen)
    assert late == Refused(reason="it has changed since it was shown")
    assert isinstance(place.do("claim", "bob", "reviewer", seen=place.item.lock_version), RecordedAct)


def test_a_clock_that_was_set_back_changes_no_order(place):
    place.do("submit", content=WORDS)
    place.clock.move(-3600)
    place.do("withdraw")
    times = [to_event(one).at for one in TransitionRow.objects.order_by("number")]
    assert times[0] == times[1]
    assert list(verify()) == []


def test_content_is_kept_as_it_was_written(place):
    words = {"question": "Wo?\n\u202e\U0001f600 {{7*7}}", "n": 3, "z": None, "a": [1.5, "\x00"]}
    place.do("submit", content=words)
    assert json.loads(RevisionRow.objects.get().content) == words


def test_only_what_is_allowed_is_ever_kept(place):
    """Every kind of act is tried in every state that a walk comes through."""
    from vidence.make.review.revisions import KINDS

    for _ in range(6):
        protocol = protocol_of(place.project)
        allowed = set(allowed_kinds(standing(place.item, protocol), protocol))
        for kind in KINDS:
            if kind not in allowed:
                assert isinstance(place.do(kind, "eve", "operator", message=LONG), Refused)
        step = {"drafting": ("submit", "ann", "author"), "submitted": ("claim", "bob", "reviewer")}.get(
            place.item.state, ("release", "bob", "reviewer")
        )
        content = WORDS if step[0] == "submit" else None
        assert isinstance(place.do(*step, content=content), RecordedAct)
