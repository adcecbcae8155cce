"""Who may begin work: one rule after the other, in words that name it, and a day's work of one person."""

import pytest

from servers.studio import PASSWORD
from vidence.studio.accounts import Profile, add_user
from vidence.studio.admission import is_asked, left_today, refusal
from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import MembershipRow
from vidence.studio.training import add_guideline
from vidence.studio.workflow import Act, RecordedAct, Refused, act, protocol_of

LONG = "The cup is never seen; say which one is meant, and when it can be seen."
PROTOCOL = """title = "Two a day"
[[stages]]
role = "reviewer"
[[stages.checks]]
id = "right"
words = "It is right."
[pay]
currency = "USD"
per_hour = 600
per_annotation = 200
per_validation = 40
most_annotations = 2
most_validations = 1
"""


@pytest.fixture
def place(team):
    project = team.project(protocol="mmvu")
    add_items(project, ["q1"], kinds={})
    return project


def asked(place, by, role="reviewer", item=None):
    return refusal(by, place, protocol_of(place), role=role, item=item)


def test_a_person_works_in_their_domains_when_they_have_read_the_guidelines(team, place):
    assert [is_asked(kind, "submit") for kind in ("submit", "claim", "accept", "release")] == [True] * 2 + [
        False
    ] * 2
    assert not is_asked("submit", "import")
    user = team.user("Bob", "reviewer", project="films")
    item = ItemRow.objects.get()
    item.strata = {"domain": "physics"}
    assert asked(place, user.pseudonym, item=item) == ""
    MembershipRow.objects.update(domains=["law", "art"])
    assert asked(place, user.pseudonym, item=item) == (
        "it is of the domain 'physics'; this person works in 'art', 'law'"
    )
    MembershipRow.objects.update(domains=["law", "physics"])
    assert asked(place, user.pseudonym, item=item) == ""
    assert asked(place, user.pseudonym) == ""
    add_guideline(place, "Write plainly.", by="p009")
    assert "must be read first" in asked(place, user.pseudonym)
    assert asked(place, user.pseudonym, role="operator") == ""
    assert asked(place, "somebody-else") == ""  # done elsewhere: no account here


def test_who_works_alone_is_not_asked(solo):
    project = solo.project(protocol="mmvu")
    add_guideline(project, "Write plainly.", by="solo")
    for i in range(12):  # more than MMVU's ten a day
        assert asked(project, "solo", role="author") == ""
        add_items(project, [f"q{i}"], kinds={})
        said = Act(kind="submit", by="solo", role="author", content={"question": str(i)})
        assert isinstance(act(ItemRow.objects.get(item_id=f"q{i}"), said), RecordedAct)


@pytest.fixture
def capped(team, tmp_path):
    """Five items under a protocol of two annotations and one validation a day."""
    file = tmp_path / "two.toml"
    file.write_text(PROTOCOL)
    project = team.project(protocol=str(file))
    add_items(project, [f"q{i}" for i in range(5)], kinds={})
    for name in ("ann", "bob", "rob"):
        about = Profile(pseudonym=name)
        add_user(name, PASSWORD, roles=["author", "reviewer"], project="films", profile=about)
    return project


def do(name, kind, by, role, **more):
    if kind == "submit":
        more["content"] = {"question": name}
    return act(ItemRow.objects.get(item_id=name), Act(kind=kind, by=by, role=role, **more))


def left(capped, by, role, clock):
    found = left_today(by, capped, role, clock=clock, protocol=protocol_of(capped))
    return (found.n, found.n_done, found.n_held)


def test_an_author_writes_two_a_day(capped, team):
    assert left(capped, "ann", "author", team.clock) == (2, 0, 0)
    assert isinstance(do("q0", "submit", "ann", "author"), RecordedAct)
    assert isinstance(do("q1", "submit", "ann", "author"), RecordedAct)
    third = do("q2", "submit", "ann", "author")
    assert isinstance(third, Refused)
    assert (
        "allows 2 annotations a day; this person has done 2; the next day begins at 2026-11-24"
        in third.reason
    )
    assert isinstance(do("q2", "submit", "bob", "author"), RecordedAct)
    team.clock.move(15 * 3600)
    assert left(capped, "ann", "author", team.clock) == (2, 0, 0)
    assert isinstance(do("q3", "submit", "ann", "author"), RecordedAct)


def test_claims_count_as_long_as_they_are_held(capped, team):
    for name in ("q0", "q1"):
        do(name, "submit", "ann", "author")
    assert isinstance(do("q0", "claim", "rob", "reviewer"), RecordedAct)
    assert left(capped, "rob", "reviewer", team.clock) == (0, 0, 1)
    assert "holds 1" in do("q1", "claim", "rob", "reviewer").reason
    do("q0", "release", "rob", "reviewer")
    assert left(capped, "rob", "reviewer", team.clock) == (1, 0, 0)
    do("q0", "claim", "rob", "reviewer")
    returned = do("q0", "return", "rob", "reviewer", message=LONG, checks={"right": "no"})
    assert isinstance(returned, RecordedAct)
    assert left(capped, "rob", "reviewer", team.clock) == (0, 1, 0)
    assert isinstance(do("q1", "claim", "rob", "reviewer"), Refused)
    team.clock.move(24 * 3600)
    assert isinstance(do("q1", "claim", "rob", "reviewer"), RecordedAct)


def test_taking_the_next_one_names_the_rule_and_tries_no_item(capped, team, monkeypatch):
    from vidence.studio import reviewing
    from vidence.studio.access import Person

    for name in ("q0", "q1"):
        do(name, "submit", "ann", "author")
    do("q0", "claim", "rob", "reviewer")
    monkeypatch.setattr(reviewing, "claim", None)
    rob = Person(name="rob", shown="rob", roles={"films": frozenset({"reviewer"})})
    found = reviewing.take_next(capped, "reviewer", person=rob)
    assert "allows 1 validations a day" in found.reason


def test_a_new_wording_of_what_was_returned_is_not_counted(capped, team):
    for name in ("q0", "q1"):
        do(name, "submit", "ann", "author")
    do("q0", "claim", "rob", "reviewer")
    do("q0", "return", "rob", "reviewer", message=LONG, checks={"right": "no"})
    again = do("q0", "resubmit", "ann", "author", content={"question": "Which cup?"}, origin="author_revise")
    assert isinstance(again, RecordedAct)


def test_what_is_imported_is_not_counted_against_anybody(capped):
    for i in range(4):
        done = act(
            ItemRow.objects.get(item_id=f"q{i}"),
            Act(kind="submit", by="ann", role="author", content={"question": str(i)}, origin="import"),
        )
        assert isinstance(done, RecordedAct)


def test_a_protocol_without_caps_allows_any_number(team):
    project = team.project(protocol="herbench")
    assert left_today("ann", project, "author", clock=team.clock, protocol=protocol_of(project)) is None
    assert left_today("ann", project, "operator", clock=team.clock, protocol=protocol_of(project)) is None
