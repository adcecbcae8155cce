"""The day's work of one person, counted from what was recorded."""

import pytest

from servers.studio import PASSWORD
from vidence.studio import caps
from vidence.studio.accounts import Profile, add_user
from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow
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
def place(team, tmp_path):
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


def left(place, by, role, clock):
    found = caps.left(by, place, role, clock=clock, protocol=protocol_of(place))
    return (found.n, found.n_done, found.n_held)


def test_an_author_writes_two_a_day(place, team):
    assert left(place, "ann", "author", team.clock) == (2, 0, 0)
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
    assert left(place, "ann", "author", team.clock) == (2, 0, 0)
    assert isinstance(do("q3", "submit", "ann", "author"), RecordedAct)


def test_claims_count_as_long_as_they_are_held(place, team):
    for name in ("q0", "q1"):
        do(name, "submit", "ann", "author")
    assert isinstance(do("q0", "claim", "rob", "reviewer"), RecordedAct)
    assert left(place, "rob", "reviewer", team.clock) == (0, 0, 1)
    assert "holds 1" in do("q1", "claim", "rob", "reviewer").reason
    do("q0", "release", "rob", "reviewer")
    assert left(place, "rob", "reviewer", team.clock) == (1, 0, 0)
    do("q0", "claim", "rob", "reviewer")
    returned = do("q0", "return", "rob", "reviewer", message=LONG, checks={"right": "no"})
    assert isinstance(returned, RecordedAct)
    assert left(place, "rob", "reviewer", team.clock) == (0, 1, 0)
    assert isinstance(do("q1", "claim", "rob", "reviewer"), Refused)
    team.clock.move(24 * 3600)
    assert isinstance(do("q1", "claim", "rob", "reviewer"), RecordedAct)


def test_taking_the_next_one_names_the_rule_and_tries_no_item(place, team, monkeypatch):
    from vidence.studio import reviewing
    from vidence.studio.access import Person

    for name in ("q0", "q1"):
        do(name, "submit", "ann", "author")
    do("q0", "claim", "rob", "reviewer")
    monkeypatch.setattr(reviewing, "claim", None)
    rob = Person(name="rob", shown="rob", roles={"films": frozenset({"reviewer"})})
    found = reviewing.take_next(place, "reviewer", person=rob)
    assert "allows 1 validations a day" in found.reason


def test_a_new_wording_of_what_was_returned_is_not_counted(place, team):
    for name in ("q0", "q1"):
        do(name, "submit", "ann", "author")
    do("q0", "claim", "rob", "reviewer")
    do("q0", "return", "rob", "reviewer", message=LONG, checks={"right": "no"})
    again = do("q0", "resubmit", "ann", "author", content={"question": "Which cup?"}, origin="author_revise")
    assert isinstance(again, RecordedAct)


def test_what_is_imported_is_not_counted_against_anybody(place):
    for i in range(4):
        done = act(
            ItemRow.objects.get(item_id=f"q{i}"),
            Act(kind="submit", by="ann", role="author", content={"question": str(i)}, origin="import"),
        )
        assert isinstance(done, RecordedAct)


def test_a_protocol_without_caps_allows_any_number(team):
    project = team.project(protocol="herbench")
    assert caps.left("ann", project, "author", clock=team.clock, protocol=protocol_of(project)) is None
    assert caps.left("ann", project, "operator", clock=team.clock, protocol=protocol_of(project)) is None
