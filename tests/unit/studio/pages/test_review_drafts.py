"""Drafts of a review: nothing that a reviewer wrote is lost with a claim, a tab or a session."""

import re

import pytest

from servers.studio import under
from vidence.studio.access import Person
from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow, ReviewRow
from vidence.studio.records.work import DraftLogRow, DraftRow
from vidence.studio.reviewing import expire
from vidence.studio.workflow import Act, RecordedAct, act

WORDS = {"question": "Which cup?", "choices": ["red", "blue"], "answer": "A"}
SCRIPT = {"HTTP_ACCEPT": "application/json"}


class Place:
    def __init__(self, team, protocol="mmvu"):
        self.team = team
        self.project = team.project("films", protocol)
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

    def hidden(self, form=""):
        """The hidden fields of the form of the decision, or of that of an act."""
        names = "opened|seen|wording|version|request"
        forms = re.findall(r"<form .*?</form>", self.page(), re.DOTALL)
        mark = f'name="act" value="{form}"' if form else "data-look"
        mine = next(one for one in forms if mark in one)
        return dict(re.findall(rf'type="hidden" name="({names})" value="([^"]*)"', mine))

    def send(self, hidden, *, script=True, **said):
        return self.client.post(f"{self.base}/review", {**hidden, **said}, **(SCRIPT if script else {}))

    def expire(self):
        operator = Person(name="olga", shown="Olga", roles={"": frozenset({"operator"})})
        assert isinstance(expire(self.item, operator, self.name), RecordedAct)


@pytest.fixture
def place(team):
    return Place(team)


def test_what_is_saved_stands_in_the_form_until_it_is_decided(place):
    hidden = place.hidden()
    refused = place.team.signed_in("Cid").post(f"{place.base}/review", {**hidden, "message": "x"}, **SCRIPT)
    assert (refused.status_code, DraftRow.objects.exists()) == (409, False)  # without a claim
    assert place.send(hidden, message="x" * 400_001).status_code == 400
    said = {"message": "in the first tab", "note:question": "which one?"}
    assert place.send(hidden, **said).json()["version"] == 1
    assert "in the first tab" in place.page()
    assert 'value="which one?"' in place.page()
    assert (DraftRow.objects.get().stage, place.item.state) == ("reviewer", "in-review")
    second = hidden | {"request": "another"}  # another tab overwrites nothing
    assert place.send(second, message="in the second tab").status_code == 409
    page = place.send(second, script=False, act="return", message="in the second tab").content.decode()
    for words in ("version 1 of your review was saved meanwhile", "in the first tab", "in the second tab"):
        assert words in page
    assert place.item.state == "in-review"
    words = "The cup is never seen; say which one is meant, and when it can be seen."
    names = re.findall(r'type="radio" name="([^"]+)" value="(?:right|yes|5|3)"', place.page())
    picks = {"field": "right", "score": "5", "check": "yes"}
    said = {one: picks[one.partition(":")[0]] for one in names}
    said |= {next(one for one in names if one.startswith("check:")): "no"}
    done = place.send(place.hidden(), script=False, act="return", message=words, **said)
    assert done.status_code == 302, re.findall(r'role="alert">([^<]*)', done.content.decode())
    assert DraftRow.objects.get().is_closed
    assert words in DraftLogRow.objects.last().body
    late = place.send(hidden | {"request": "late"}, message="typed on")
    assert (late.status_code, late.json()["closed"], DraftRow.objects.count()) == (409, True, 1)


@pytest.mark.parametrize("is_saved", [True, False])
def test_a_claim_that_has_ended_says_so_and_keeps_what_was_written(place, is_saved):
    hidden = place.hidden()
    if is_saved:
        place.send(hidden, message="half a sentence")
    place.expire()
    assert place.item.state == "submitted"
    if is_saved:
        late = place.send(place_version(hidden, 1), message="half a sentence, and its end")
        assert late.json()["version"] == 2
        assert "half a sentence, and its end" in place.page()
        hidden = place_version(hidden, 2)
    refused = place.send(hidden, script=False, act="return", message="all of it " * 9)
    assert refused.status_code == 409
    assert "your claim has ended" in refused.content.decode()
    assert "all of it" in DraftRow.objects.get().body
    place.client.post(f"{place.base}/claim")
    assert "all of it" in place.page()


def place_version(hidden, version):
    return hidden | {"version": str(version), "request": f"request-{version}"}


def test_of_another_wording_only_the_words_come_back(place):
    name = re.search(r'type="radio" name="([^"]+)"', place.page())[1]
    place.send(place.hidden() | {"wording": "0" * 64}, message="still so", **{name: "yes"})
    page = place.page()
    assert "about an earlier wording" in page
    assert "still so" in page
    assert " checked" not in page.replace('name="next"', "")


def test_a_form_that_an_older_protocol_gave_out_is_told_so_and_loses_nothing(place):
    hidden, source = place.hidden(), place.project.protocol.source
    changed = source.replace('id = "expert"', 'id = "expertise"')
    assert changed != source
    under(place.project, changed)
    told = place.send(hidden, script=False, act="return", message="written under the old rules")
    assert told.status_code == 409
    assert "written under the old rules" in told.content.decode()
    assert "check:expertise" in told.content.decode()
    assert place.item.state == "in-review"
    assert "written under the old rules" in DraftRow.objects.get().body


FORMS = (
    ("perceptioncomp", "solve", {"answer": "half an answer"}),
    ("humanpcr-r", "count", {"check:evidence": "2"}),
    ("mmvu", "say", {"words": "half a message"}),
)


@pytest.mark.parametrize(("protocol", "form", "said"), FORMS)
def test_each_form_keeps_what_is_written_in_it_until_it_is_sent(team, protocol, form, said):
    place = Place(team, protocol)
    hidden = place.hidden(form) | {"act": form}
    n_events, words = place.item.transitions.count(), next(iter(said.values()))
    assert place.send(hidden, **said).json()["version"] == 1
    assert any(one in place.page() for one in (f"{words}</textarea>", f'value="{words}"'))
    other, sevens = hidden | {"request": "of another tab"}, dict.fromkeys(said, "7")
    late = place.send(other, **sevens)
    assert (late.status_code, late.json()["closed"]) == (409, False)
    shown = place.send(other, script=False, **sevens).content.decode()
    assert "What was saved in another tab" in shown
    assert words in shown
    by_button = {"version": "1", "request": "by a button", "act": [form, "save"]}
    assert place.send({**hidden, **by_button}, script=False, **said).status_code == 302
    assert place.item.transitions.count() == n_events
    draft = DraftRow.objects.get(stage__endswith=f":{form}")
    assert draft.project_id == place.project.pk
    if form == "say":
        place.send(place.hidden(), message="of the decision")
    full = dict.fromkeys(("check:evidence", "check:proactive"), "2") if form == "count" else said
    sent = {**hidden, "version": str(draft.version), "request": "sent"}
    done = place.send(sent, script=False, **full)
    assert done.status_code == 302, re.findall(r'role="alert">([^<]*)', done.content.decode())
    assert DraftRow.objects.get(stage__endswith=f":{form}").is_closed
    assert DraftRow.objects.filter(is_closed=False).count() == (form == "say")
    if form in ("solve", "count"):
        late = place.send(sent | {"request": "late"}, **full)
        assert (late.status_code, late.json()["closed"]) == (409, True)


@pytest.mark.parametrize(("protocol", "form", "said"), FORMS)
def test_a_form_of_older_rules_goes_through_or_is_told_so_and_loses_nothing(team, protocol, form, said):
    place = Place(team, protocol)
    hidden, source = place.hidden(form) | {"act": form}, place.project.protocol.source
    changed = source.replace('title = "', 'title = "Newer: ', 1)
    assert changed != source
    under(place.project, changed)
    done, words = place.send(hidden, script=False, **said), next(iter(said.values()))
    if done.status_code == 302:
        kept = [place.item.transitions.order_by("number").last().event]
        kept += [said for one in ReviewRow.objects.all() for said in one.checks.values()]
    else:
        assert done.status_code in (400, 409)
        kept = [one.body for one in DraftRow.objects.filter(is_closed=False)]
        assert words in done.content.decode()
    assert any(words in one for one in kept), (done.status_code, kept)


def edit_page(place):
    page = place.client.get(f"{place.base}/review/edit").content.decode()
    names = "seen|wording|version|request|act"
    return page, dict(re.findall(rf'type="hidden" name="({names})" value="([^"]*)"', page))


def test_an_edit_is_kept_and_sent_once(place):
    _, hidden = edit_page(place)
    said = {"text:question": "Which cup is red?", "text:choices": "red\nblue", "text:answer": "A"}
    where, other = f"{place.base}/review/edit", {**hidden, **said, "text:question": "Which?", "request": "2"}
    assert place.client.post(where, {**hidden, **said}, **SCRIPT).json()["version"] == 1
    page, again = edit_page(place)
    assert "Which cup is red?</textarea>" in page
    assert place.item.current.n == 1
    assert place.client.post(where, other, **SCRIPT).status_code == 409
    shown = place.client.post(where, other)
    assert shown.status_code == 409
    assert "What was saved in another tab" in shown.content.decode()
    assert "Which?</textarea>" in shown.content.decode()
    assert place.client.post(where, {**again, **said}).status_code == 302
    assert place.item.current.n == 2
    assert DraftRow.objects.get().is_closed
    assert edit_page(place)[1]["version"] == "0"


@pytest.mark.parametrize("has_ended", [True, False])
def test_an_edit_of_an_earlier_wording_or_claim_is_kept(place, has_ended):
    _, hidden = edit_page(place)
    where, said = f"{place.base}/review/edit", {"text:question": "Which cup is MINE?"}
    if not has_ended:
        place.client.post(where, {**hidden, **said, "wording": "0" * 64}, **SCRIPT)
        page, _ = edit_page(place)
        assert "What you wrote for an earlier wording" in page
        assert "Which cup is MINE?</dd>" in page
        assert "MINE?</textarea>" not in page
        return
    place.expire()
    assert place.client.post(where, {**hidden, **said}).status_code == 409
    place.client.post(f"{place.base}/claim")
    assert "MINE?</textarea>" in edit_page(place)[0]


def test_a_session_that_ends_loses_nothing_and_the_same_save_goes_through_afterwards(place):
    hidden = place.hidden()
    place.client.post("/sign-out")
    assert place.send(hidden, message="written signed out").status_code == 401
    assert not DraftRow.objects.exists()
    place.client = place.team.signed_in("Bob")
    assert place.send(hidden, message="written signed out").json()["version"] == 1
    assert "written signed out" in place.page()
