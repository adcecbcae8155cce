"""The files of a review: added to, read again, merged, and every fault named with file and line."""

import pytest

from subjects.reviewing import Team
from vidence.errors import DataError, UsageError
from vidence.make.review.files import EVENTS_FILE, REVISIONS_FILE, add_to, merge, read_items, read_reviews
from vidence.make.review.protocol import protocol_bytes
from vidence.make.review.recording import begin


def kept(folder, team: Team, protocol: str = "mmvu"):
    begin(folder, protocol_bytes(protocol))
    add_to(folder, revisions=tuple(team.reviews.revisions.values()), events=team.reviews.events)
    return folder


@pytest.fixture
def team() -> Team:
    some = Team()
    some.put(question="Which “this”\u2028or\n'that'?")
    some.act("claim", "bob")
    some.act(
        "return",
        "bob",
        message="=HYPERLINK(1), 'quoted'\nand " + "more " * 9,
        checks={"answer": "no"},
        minutes=4 + 12 / 60,
    )
    return some


def test_what_is_written_is_read_again(tmp_path, team):
    found = read_reviews(kept(tmp_path / "a", team))
    assert found.events == team.reviews.events
    assert found.states == team.reviews.states
    assert dict(found.revisions) == dict(team.reviews.revisions)


def test_what_is_there_stays_and_nothing_is_written_twice(tmp_path, team):
    folder = kept(tmp_path / "a", team)
    before = (folder / EVENTS_FILE).read_bytes()
    assert add_to(folder, revisions=(), events=team.reviews.events) == ()
    team.put(question="Again?")
    kept(folder, team)
    assert (folder / EVENTS_FILE).read_bytes().startswith(before)
    assert read_reviews(folder).states["q1"].n == 2


def test_teams_merge_by_events_in_any_order_and_only_once(tmp_path, team):
    other = team.copy()
    other.put("eve", item_id="q2")
    team.put(question="Again?")
    mine, theirs = kept(tmp_path / "a", team), kept(tmp_path / "b", other)
    assert merge(mine, [theirs]).n_events == 1
    again = merge(mine, [theirs])
    assert (again.n_events, again.n_revisions, again.refused) == (0, 0, ())
    merge(theirs, [mine / EVENTS_FILE, mine / REVISIONS_FILE])
    assert read_reviews(mine).states == read_reviews(theirs).states
    assert read_reviews(mine).events == read_reviews(theirs).events


def test_what_the_guards_refuse_is_kept_and_named_once(tmp_path):
    team = Team()
    team.put()
    other = team.copy()
    team.back("bob")
    team.put(question="Again?")
    mine = kept(tmp_path / "a", team)
    other.minute = 20
    other.look("cid")
    merged = merge(mine, [kept(tmp_path / "b", other)])
    assert [event.kind for event, _ in merged.refused] == ["claim", "accept"]
    assert "it is about revision 1, and 2 is the last; allowed now: claim" in merged.refused[0][1]
    assert (merged.n_events, read_reviews(mine).states["q1"].state) == (2, "submitted")
    assert merge(mine, [tmp_path / "b"]).refused == ()


def test_a_person_who_wrote_in_two_copies_is_refused(tmp_path, team):
    mine = kept(tmp_path / "a", team)
    other = team.copy()
    other.put(question="Again?")
    other.look("cid")
    team.put(question="Or so?")
    kept(mine, team)
    with pytest.raises(DataError, match="ann has two events behind"):
        merge(mine, [kept(tmp_path / "b", other)])


def test_another_protocol_is_another_review(tmp_path, team):
    mine = kept(tmp_path / "a", team)
    with pytest.raises(UsageError, match="with another protocol"):
        merge(mine, [kept(tmp_path / "b", Team("herbench"), "herbench")])
    with pytest.raises(UsageError, match="already reviewed with another protocol"):
        begin(mine, protocol_bytes("herbench"))
    with pytest.raises(UsageError, match="holds no review"):
        read_reviews(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace('"no"', '"yes"'), "reviews.jsonl:3: the event"),
        (
            lambda text: "".join(text.splitlines(keepends=True)[::2]),
            "reviews.jsonl:2: the event of bob before",
        ),
        (lambda text: text[:-20], "reviews.jsonl:3: the line does not end"),
        (lambda text: text + "nonsense\n", "reviews.jsonl:4: no JSON"),
        (lambda text: text + '{"event_id": "x"}\n', "reviews.jsonl:4: Object missing required field"),
        (lambda text: text.replace('"kind":"claim"', '"kind":"guess"'), "reviews.jsonl:2: Invalid enum"),
        (lambda text: text.replace("more ", "less "), "reviews.jsonl:3: the event"),
    ],
)
def test_every_fault_of_a_file_is_named(tmp_path, team, change, said):
    path = kept(tmp_path, team) / EVENTS_FILE
    text = path.read_text()
    path.write_text(change(text))
    assert path.read_text() != text
    with pytest.raises(DataError) as caught:
        read_reviews(tmp_path)
    assert said in str(caught.value)


def test_items_are_read_as_they_are_and_faults_named(tmp_path):
    path = tmp_path / "items.jsonl"
    path.write_text('{"item_id": "a", "anything": [1, {"b": 2}]}\n')
    assert read_items(path) == {"a": {"item_id": "a", "anything": [1, {"b": 2}]}}
    path.write_text('{"item_id": "a"}\n\n{"item_id": "a"}\n[1]\nno\n')
    with pytest.raises(DataError) as caught:
        read_items(path)
    assert "3 faults" in str(caught.value)
    for said in (":3: a second item 'a'", ":4: no item_id", ":5: no JSON"):
        assert said in str(caught.value)
