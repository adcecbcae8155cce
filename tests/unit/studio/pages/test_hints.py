"""The pages of trying hints: what they hold, the stamp of time, who is refused."""

import html
import re

import pytest

from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow, ReviewRow
from vidence.studio.workflow import Act, RecordedAct, act

WORDS = {
    "item_id": "q1",
    "media": [{"path": "THE-FILM.mp4"}],
    "question": "Why does it <b>smoke</b>?",
    "answer": "THE-KEY",
    "answer_kind": "text",
    "rationale": "THE-REASON",
    "evidence": [{"note": "THE-EVIDENCE", "start_s": 1.0, "end_s": 2.0}],
    "hints": ["THE-FIRST", "THE-SECOND", "THE-THIRD"],
}


class Place:
    """An item of Ann's, and the browser of Bob, who may try its hints."""

    def __init__(self, team):
        self.team, project = team, team.project(protocol="humanpcr-r")
        add_items(project, ["q1"], kinds={})
        users = [
            team.user(name, role, project="films") for name, role in (("Ann", "author"), ("Bob", "reviewer"))
        ]
        ItemRow.objects.update(author=users[0])
        said = Act(kind="submit", role="author", by=users[0].pseudonym, content=WORDS)
        assert isinstance(act(ItemRow.objects.get(), said), RecordedAct)
        self.base = f"/projects/films/items/{ItemRow.objects.get().public}/"
        self.address = f"{self.base}hints"
        self.bob = team.signed_in("Bob")

    def stamp(self):
        return re.search(r'name="opened" value="([^"]+)"', self.bob.get(self.address).content.decode())[1]

    def answer(self, **more):
        told = {"act": "answer", "answer": "of the heat", "sure": "yes", "opened": self.stamp(), **more}
        return self.bob.post(self.address, told)


@pytest.fixture
def place(team):
    return Place(team)


def text(answer):
    return html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode()))


def test_an_answer_is_timed_and_judged_and_the_page_holds_nothing_else(place):
    page = place.bob.get(place.address).content.decode()
    assert [one in page for one in ("THE-FIRST", "THE-SECOND", "THE-THIRD")] == [True] * 3
    assert [
        one for one in ("THE-KEY", "THE-REASON", "THE-EVIDENCE", "THE-FILM", "<b>smoke") if one in page
    ] == []
    assert "/media/" not in page
    assert "q1" in text(place.bob.get("/projects/films/hints"))
    assert "Try its hints" in text(place.bob.get(place.base))
    ann = place.team.signed_in("Ann")
    page = text(ann.get(place.address))
    assert "You wrote this" in page
    assert "THE-FIRST" not in page
    refused = ann.post(
        place.address, {"act": "answer", "answer": "x", "sure": "yes", "opened": place.stamp()}
    )
    assert refused.status_code == 409
    assert ReviewRow.objects.count() == 0
    opened = place.stamp()
    place.team.clock.move(40)
    assert place.answer(opened=opened).status_code == 302
    assert ReviewRow.objects.get().seconds == 40.0
    assert "THE-KEY" in text(place.bob.get(place.address))
    assert place.bob.post(place.address, {"act": "judge"}).status_code == 400
    assert place.bob.post(place.address, {"act": "judge", "same": "yes"}).status_code == 302
    assert ReviewRow.objects.get().decision == "too-strong"
    assert "no hints for you" in text(place.bob.get("/projects/films/hints"))
    history = text(place.team.signed_in("Ann").get(place.base))
    assert "too strong: the question and the hints were enough" in history
    assert "Hints, tried" not in text(place.bob.get(place.base))


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"sure": ""}, 400),
        ({"answer": " "}, 400),
        ({"opened": "no-stamp"}, 409),
        ({"opened": ""}, 409),
        ({"answer": "x" * 2_001}, 409),
        ({"act": "none", "answer": "", "sure": ""}, 302),
    ],
)
def test_an_answer_is_whole_or_says_that_there_is_none(place, more, status):
    assert place.answer(**more).status_code == status
    assert ReviewRow.objects.count() == (status == 302)


def test_a_stamp_of_another_wording_is_none(place):
    opened = place.stamp()
    row = ItemRow.objects.get()
    act(row, Act(kind="claim", role="reviewer", by="eve"))
    act(row, Act(kind="return", role="reviewer", by="eve", checks={"objective": "no"}, message="x" * 40))
    by, words = row.author.pseudonym, {**WORDS, "hints": ["ANOTHER"]}
    again = Act(kind="resubmit", role="author", by=by, origin="author_revise", content=words)
    assert isinstance(act(row, again), RecordedAct)
    assert place.answer(opened=opened).status_code == 409
    assert ReviewRow.objects.count() == 0
