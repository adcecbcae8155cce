"""My work: what came back, what is claimed, what waits, and what may be taken."""

import re

import pytest

from vidence.studio.pages import work
from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow
from vidence.studio.records.work import AssignmentRow
from vidence.studio.workflow import Act, act

WORDS = {"question": "Which cup?", "choices": ["red", "blue"], "answer": "A", "tags": {"task": "t"}}


@pytest.fixture
def place(team):
    """Two items that wait, and people of each kind."""
    project = team.project("films", "mmvu")
    add_items(project, ["q1", "q2"], kinds={})
    for item in ItemRow.objects.order_by("item_id"):
        act(item, Act(kind="submit", role="author", by="ann", content=WORDS))
        team.clock.move(3600)
    for name, *roles in (("Bob", "reviewer"), ("Cid", "reviewer"), ("Olga", "operator"), ("Ann", "author")):
        team.user(name, *roles, project="films")
    return team


def text(answer):
    return re.sub(r"<[^>]+>|\s+", " ", answer.content.decode())


def test_queues_are_taken_from_the_oldest_and_a_claim_is_refused_or_expires(place):
    bob = place.signed_in("Bob")
    page = bob.get("/work")
    assert re.search(r"reviewer\s+2\s+2\shours\s", text(page))
    assert b"Take the next" in page.content
    assert b"Take the next" not in place.signed_in("Ann").get("/work").content
    assert bob.post("/projects/films/next", {"role": "king"}).status_code == 400
    assert all(one.callback.roles for one in work.urls)
    there = bob.post("/projects/films/next", {"role": "reviewer"})
    item = ItemRow.objects.get(item_id="q1")
    assert there.headers["Location"] == f"/projects/films/items/{item.public}/review"
    assert f"/items/{item.public}/review" in bob.get("/work").content.decode()
    assert bob.post(f"/projects/films/items/{item.public}/release").status_code == 302
    assert f"/items/{item.public}/review" not in bob.get("/work").content.decode()
    assert bob.post(f"/projects/films/items/{item.public}/claim").status_code == 302
    refused = place.signed_in("Cid").post(f"/projects/films/items/{item.public}/claim")
    assert refused.status_code == 409
    assert "looks at it" in text(refused)
    claim = AssignmentRow.objects.get(state="claimed")
    olga = place.signed_in("Olga")
    assert "Release" in text(olga.get("/work"))
    olga.post(f"/projects/films/items/{item.public}/expire", {"whose": claim.user.pseudonym})
    claim.refresh_from_db()
    assert claim.state == "expired"
    assert bob.post(f"/projects/films/items/{item.public}/expire").status_code == 403


def test_what_came_back_stands_first(place):
    ann = place.user("Author", "author", project="films")
    add_items(ItemRow.objects.first().project, ["q3"], kinds={})
    item = ItemRow.objects.get(item_id="q3")
    act(item, Act(kind="submit", role="author", by=ann.pseudonym, content=WORDS))
    act(item, Act(kind="claim", role="reviewer", by="eve"))
    checks = {"question": "no"}
    act(item, Act(kind="return", role="reviewer", by="eve", checks=checks, message="x" * 40))
    page = text(place.signed_in("Author").get("/work"))
    assert page.index("Returned to you") < page.index("q3") < page.index("Claimed by you")


def test_a_share_is_drawn(place):
    bob = place.signed_in("Bob")
    for share, status in (("x", 400), ("0", 400), ("101", 400), ("nan", 400), ("15", 200)):
        answer = bob.post(
            "/projects/films/draw", {"role": "reviewer", "share": share, "tag": "task", "seed": "1"}
        )
        assert answer.status_code == status, share
    assert "1 items were drawn" in text(answer)
    assert AssignmentRow.objects.count() == 1


def test_a_studio_that_only_shows_has_no_work(view):
    assert view.signed_in().get("/work").status_code == 404
