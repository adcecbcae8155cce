"""Drafts of a review: nothing that a reviewer wrote is lost with a claim, a tab or a session."""

import re

import pytest

from vidence.studio.access import Person
from vidence.studio.looking import expire
from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow
from vidence.studio.records.work import DraftLogRow, DraftRow
from vidence.studio.workflow import Act, Done, act

WORDS = {"question": "Which cup?", "choices": ["red", "blue"], "answer": "A"}
SCRIPT = {"HTTP_ACCEPT": "application/json"}


class Place:
    def __init__(self, team):
        self.team = team
        self.project = team.project("films", "mmvu")
        add_items(self.project, ["q1"], kinds={})
        act(self.item, Act(kind="submit", role="author", by="ann", content=WORDS))
        self.name = team.user("Bob", "reviewer", project="films").pseudonym
        team.user("Cid", "reviewer", project="films")
        self.client = team.signed_in("Bob")
        self.client.post(f"{self.base}/claim")

    @property
    def item(self):
        return ItemRow.objects.select_related("project").get(item_id="q1")

    @property
    def base(self):
        return f"/projects/films/items/{self.item.public}"

    def page(self):
        return self.client.get(f"{self.base}/review").content.decode()

    def hidden(self):
        names = "opened|seen|wording|version|request"
        return dict(re.findall(rf'type="hidden" name="({names})" value="([^"]*)"', self.page()))

    def send(self, hidden, *, script=True, **said):
        return self.client.post(f"{self.base}/review", {**hidden, **said}, **(SCRIPT if script else {}))

    def expire(self):
        operator = Person(name="olga", shown="Olga", roles={"": frozenset({"operator"})})
        assert isinstance(expire(self.item, operator, self.name), Done)


@pytest.fixture
def place(team):
    return Place(team)


def test_what_is_saved_stands_in_the_form_again(place):
    hidden = place.hidden()
    told = place.send(hidden, message="The second cup is red, too.", **{"note:question": "which one?"})
    assert told.json()["version"] == 1
    page = place.page()
    assert "The second cup is red, too." in page
    assert 'value="which one?"' in page
    assert DraftRow.objects.get().stage == "reviewer"
    assert place.item.state == "in-review"


def test_an_expired_claim_keeps_the_draft(place):
    hidden = place.hidden()
    place.send(hidden, message="half a sentence")
    place.expire()
    late = place.send(place_version(hidden, 1), message="half a sentence, and its end")
    assert late.json()["version"] == 2
    assert "half a sentence, and its end" in place.page()
    refused = place.send(place_version(hidden, 2), script=False, act="return", message="all of it " * 9)
    assert refused.status_code == 409
    assert "your claim has ended" in refused.content.decode()
    place.client.post(f"{place.base}/claim")
    assert "all of it" in place.page()


def test_what_was_written_without_a_save_is_kept_when_the_claim_has_ended(place):
    hidden = place.hidden()
    place.expire()
    refused = place.send(hidden, script=False, act="return", message="only in this form")
    assert refused.status_code == 409
    assert "only in this form" in DraftRow.objects.get().body


def test_another_tab_overwrites_nothing(place):
    hidden = place.hidden()
    place.send(hidden, message="in the first tab")
    second = hidden | {"request": "another"}
    assert place.send(second, message="in the second tab").status_code == 409
    shown = place.send(second, script=False, act="return", message="in the second tab")
    page = shown.content.decode()
    assert "version 1 of your review was saved meanwhile" in page
    assert "in the first tab" in page
    assert "in the second tab" in page
    assert place.item.state == "in-review"


def test_a_decision_closes_the_draft_and_a_late_save_opens_none(place):
    hidden = place.hidden()
    words = "The cup is never seen; say which one is meant, and when it can be seen."
    names = re.findall(r'type="radio" name="([^"]+)" value="(?:right|yes|5|3)"', place.page())
    said = {
        one: "right" if one.startswith("field:") else "5" if one.startswith("score:") else "yes"
        for one in names
    }
    said |= {next(one for one in names if one.startswith("check:")): "no"}
    done = place.send(hidden, script=False, act="return", message=words, **said)
    assert done.status_code == 302, re.findall(r'role="alert">([^<]*)', done.content.decode())
    assert DraftRow.objects.get().is_closed
    assert words in DraftLogRow.objects.get().body
    late = place.send(hidden | {"request": "late"}, message="typed on")
    assert late.status_code == 409
    assert late.json()["closed"]
    assert DraftRow.objects.count() == 1


def test_somebody_without_a_claim_keeps_nothing(place):
    hidden = place.hidden()
    client = place.team.signed_in("Cid")
    refused = client.post(f"{place.base}/review", {**hidden, "message": "x"}, **SCRIPT)
    assert refused.status_code == 409
    assert not DraftRow.objects.exists()


def test_of_another_wording_only_the_words_come_back(place):
    name = re.search(r'type="radio" name="([^"]+)"', place.page())[1]
    place.send(place.hidden() | {"wording": "0" * 64}, message="still so", **{name: "yes"})
    page = place.page()
    assert "of an earlier wording" in page
    assert "still so" in page
    assert " checked" not in page.replace('name="next"', "")


def test_what_is_too_long_is_refused_as_words(place):
    assert place.send(place.hidden(), message="x" * 400_001).status_code == 400


def place_version(hidden, version):
    return hidden | {"version": str(version), "request": f"request-{version}"}


def test_a_form_that_an_older_protocol_gave_out_is_told_so_and_loses_nothing(place):
    from vidence.studio.rulebooks import keep, use

    hidden = place.hidden()
    source = place.project.protocol.source
    changed = source.replace('id = "expert"', 'id = "expertise"')
    assert changed != source
    use(keep(place.project, changed, by="p009"), by="p009")
    told = place.send(hidden, script=False, act="return", message="written under the old rules")
    assert told.status_code == 409
    assert "written under the old rules" in told.content.decode()
    assert "check:expertise" in told.content.decode()
    assert place.item.state == "in-review"
    assert "written under the old rules" in DraftRow.objects.get().body
