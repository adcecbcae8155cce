"""Rates of a project: counted from transitions, with denominators; small groups hidden from peers."""

import re

import pytest

from vidence.make.review.rates import counted
from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow
from vidence.studio.reviewing import reviews_of
from vidence.studio.workflow import Act, RecordedAct, act

LONG = "The cup is never seen; say which one is meant, and when it can be seen."
CHECKS = dict.fromkeys(("language", "answer", "distractors", "visual"), "yes")


@pytest.fixture
def films(team):
    """Ten items: six accepted, one of them after a return; two rejected; one in review; one not written."""
    project = team.project("films", "humanpcr-pc")
    names = [f"q{i}" for i in range(10)]
    add_items(project, names, kinds={})
    items = {one.item_id: one for one in ItemRow.objects.all()}

    def do(name, kind, by="bob", role="reviewer", **more):
        done = act(items[name], Act(kind=kind, role=role, by=by, **more))
        assert isinstance(done, RecordedAct), done

    for i, name in enumerate(names[:9]):
        words = {"question": f"Which {i}?", "answer": "red", "tags": {"task": "a" if i < 5 else "b"}}
        do(name, "submit", by="ann" if i < 5 else "abe", role="author", content=words)
        do(name, "claim")
        if i == 0:
            do(name, "return", message=LONG, checks={"answer": "no"})
            new = {**words, "answer": "blue"}
            do(name, "resubmit", by="ann", role="author", content=new, origin="author_revise")
            do(name, "claim")
        if i < 6:
            do(name, "accept", checks=CHECKS)
        elif i < 8:
            do(name, "reject", checks={"visual": "no"})
    return team, project


def text(answer):
    return re.sub(r"(<[^>]+>|\s)+", " ", answer.content.decode())


def test_rates_are_counted_and_small_groups_shown_to_operators_only(films):
    _, project = films
    ItemRow.objects.update(state="accepted")  # what columns say does not count
    reviews = reviews_of(project)
    found = {name: (k, n) for name, _, k, n in counted(list(reviews.states.values()), reviews.protocol)}
    assert found == {
        "first-pass": (5, 8),
        "revised": (1, 8),
        "rescued": (1, 1),
        "accepted": (6, 8),
        "rejected": (2, 8),
        "ended": (8, 9),
    }
    team, _ = films
    team.user("Mia", "meta", project="films")
    team.user("Olga", "operator", project="films")
    team.user("Bob", "reviewer", project="films")
    peer = text(team.signed_in("Mia").get("/projects/films/rates?by=author"))
    assert "62.5" in peer
    assert "shares of fewer than 5 items are not shown" in peer
    assert "not shown" not in text(team.signed_in("Olga").get("/projects/films/rates?by=author"))
    assert team.signed_in("Bob").get("/projects/films/rates").status_code == 403
    wrong = team.signed_in("Mia").get("/projects/films/rates?by=%3Cb%3E")
    assert wrong.status_code == 404
    assert "there is no group" in text(wrong)
    assert "abe" in text(team.signed_in("Olga").get("/projects/films/rates"))
    assert "2026-W48" in text(team.signed_in("Olga").get("/projects/films/rates?by=week"))
