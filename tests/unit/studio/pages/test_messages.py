"""The pages of messages: the thread of an item, the badge in the head, drafts, two tabs, who is refused."""

import html
import re

import pytest

from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow, TransitionRow
from vidence.studio.records.work import DraftRow, ReadRow
from vidence.studio.workflow import Act, RecordedAct, act

JSON = {"Accept": "application/json"}
HOSTILE = "<img src=x onerror=window.pwned=1> {{ 7*7 }}"
WORDS = {"item_id": "q1", "question": "Which cup?", "choices": ["red", "blue"], "answer": "A"}


class Place:
    """An item of Ann's that Bob looks at, with the browsers of both."""

    def __init__(self, team):
        self.team, project = team, team.project()
        add_items(project, ["q1"], kinds={"q1": "mcq"})
        ann, bob, _ = (
            team.user(name, role, project="films")
            for name, role in (("Ann", "author"), ("Bob", "reviewer"), ("Eve", "reviewer"))
        )
        row = ItemRow.objects.get()
        ItemRow.objects.update(author=ann)
        for said in (
            Act(kind="submit", role="author", by=ann.pseudonym, content=WORDS),
            Act(kind="claim", role="reviewer", by=bob.pseudonym),
        ):
            assert isinstance(act(row, said), RecordedAct)
        self.address = f"/projects/films/items/{row.public}/messages"
        self.ann, self.bob = team.signed_in("Ann"), team.signed_in("Bob")

    def say(self, client, words, *, version=0, **more):
        told = {
            "act": "say",
            "words": words,
            "version": version,
            "request": f"r{version}{words}"[:64],
            **more,
        }
        return client.post(self.address, told)


@pytest.fixture
def place(team):
    return Place(team)


def text(answer):
    return html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode()))


def test_a_message_reaches_the_author_with_a_badge_that_goes_when_it_is_read(place):
    assert place.say(place.bob, HOSTILE).status_code == 302
    start = text(place.ann.get("/work"))
    assert "1 new message" in start
    assert "q1" in text(place.ann.get("/messages"))
    page = place.ann.get(place.address).content.decode()
    assert HOSTILE not in page
    assert "About revision 1" in page
    assert "p00" not in re.sub(r"message\.p\d+", "", page)  # no pseudonym of another
    seen = re.search(r'name="seen" value="(\d+)"><button name="act" value="read"', page)[1]
    assert ReadRow.objects.count() == 0
    assert place.ann.post(place.address, {"act": "read", "seen": seen}).status_code == 302
    assert "new message" not in text(place.ann.get("/work"))
    assert "nothing new" in text(place.ann.get("/messages"))


def test_an_answer_reads_what_its_page_held(place):
    place.say(place.bob, "Which cup is meant?")
    last = TransitionRow.objects.order_by("-number").first().number
    assert place.say(place.ann, "The left one.", seen=last).status_code == 302
    assert "new message" not in text(place.ann.get("/work"))
    assert "1 new message" in text(place.bob.get("/work"))


def test_a_message_is_saved_while_it_is_written(place):
    saved = place.bob.post(place.address, {"words": "Wh", "version": 0, "request": "r1"}, headers=JSON)
    assert (saved.status_code, saved.json()["version"]) == (200, 1)
    assert ">\nWh</textarea>" in place.bob.get(place.address).content.decode()
    other = place.bob.post(place.address, {"words": "No", "version": 0, "request": "r2"}, headers=JSON)
    assert (other.status_code, other.json()) == (409, {"version": 1, "closed": False})
    both = place.say(place.bob, "Not this", version=0)
    assert both.status_code == 409
    assert "What was saved in another tab" in text(both)
    assert ">\nNot this</textarea>" in both.content.decode()
    assert place.say(place.bob, "Not this", version=1).status_code == 302
    assert DraftRow.objects.filter(is_closed=False).count() == 0


def test_a_begun_message_is_no_draft_of_the_review(place):
    place.bob.post(place.address, {"words": "Wh", "version": 0, "request": "r1"}, headers=JSON)
    page = place.bob.get(place.address.replace("messages", "review"))
    assert page.status_code == 200
    assert "nothing written yet" in text(page)


def test_who_has_nothing_to_do_with_it_reads_and_says_nothing(place):
    place.say(place.bob, "THE-WORDS")
    eve = place.team.signed_in("Eve")
    assert "THE-WORDS" not in text(eve.get(place.address))
    assert place.say(eve, "Hello").status_code == 409
    refused = eve.post(place.address, {"words": "Hello"}, headers=JSON)
    assert refused.status_code == 400
    assert "Only its author" in refused.json()["words"]
    assert "new message" not in text(eve.get("/work"))
    assert DraftRow.objects.filter(is_closed=False).count() == 0


@pytest.mark.parametrize(("words", "status"), [("", 409), ("x" * 4_001, 409), ("\u202egnp", 302)])
def test_a_message_has_words(place, words, status):
    assert place.say(place.bob, words).status_code == status


def test_one_who_only_looks_has_no_messages(view):
    assert view.signed_in().get("/messages").status_code in (403, 404)
