"""Who reads which message of an item: its author, those who look before and behind their decision."""

import pytest

from vidence.make.review.files import Reviews
from vidence.make.review.protocol import load_protocol
from vidence.make.review.revisions import Event, chained, new_revision
from vidence.make.review.states import fold
from vidence.studio.rules.threads import messages_told, says_as

AT = "2026-11-22T09:30:{:02d}.000000Z"
WORDS = {"item_id": "q1", "question": "Which cup?", "choices": ["red", "blue"], "answer": "A"}
ROLES = {
    "ann": ("author",),
    "bob": ("reviewer",),
    "mia": ("meta",),
    "olga": ("operator",),
    "lead": ("operator", "reviewer"),
    "eve": ("author", "reviewer"),
    "rex": ("researcher",),
}
LONG = "THE-RETURN: the cup is never seen; say which one is meant."


def review(*acts, protocol="humanpcr-r"):
    """The review of one item after some acts: (who, as what, kind, more)."""
    rules = load_protocol(protocol)
    revisions, chains, events, last = {}, {}, [], None
    for number, (by, role, kind, told) in enumerate(acts):
        at = AT.format(number)
        more = dict(told)
        if content := more.pop("content", None):
            origin = "submit" if last is None else "author_revise"
            last = new_revision("q1", content, parent=last, origin=origin, by=by, at=at)
            revisions[last.sha256] = last
        bare = Event(
            event_id="", item_id="q1", revision=last.sha256, kind=kind, role=role, by=by, at=at, **more
        )
        (event,) = chained([bare], last=chains.get(by, ""))
        chains[by] = event.event_id
        events.append(event)
    folded = fold(revisions, events, rules)
    assert folded.refused == ()
    return Reviews(protocol=rules, revisions=revisions, events=tuple(events), folded=folded)


def read(reviews, by, **more):
    state = reviews.states["q1"]
    found = messages_told(reviews, state, by=by, roles=ROLES[by], **more)
    return [one.message.split(":")[0] for one in found]


def begun():
    return [
        ("ann", "author", "submit", {"content": WORDS}),
        ("ann", "author", "say", {"message": "FROM-ANN"}),
        ("bob", "reviewer", "claim", {}),
        ("bob", "reviewer", "say", {"message": "FROM-BOB"}),
    ]


def returned():
    failed = {"checks": {"objective": "no"}, "message": LONG}
    return [
        *begun(),
        ("bob", "reviewer", "return", failed),
        ("ann", "author", "say", {"message": "AND-ANN"}),
    ]


COUNTED = {"evidence": "2", "proactive": "1"}


def test_the_author_reads_all_and_who_has_nothing_to_do_with_it_nothing():
    found = review(*returned())
    assert read(found, "ann") == ["FROM-ANN", "FROM-BOB", "THE-RETURN", "AND-ANN"]
    assert read(found, "olga") == ["FROM-ANN", "FROM-BOB", "THE-RETURN", "AND-ANN"]
    assert [read(found, name) for name in ("mia", "eve", "rex", "lead")] == [[], [], [], []]


def test_who_looks_reads_none_before_their_own_counts():
    found = review(*begun())
    assert read(found, "bob") == ["FROM-BOB"]
    assert read(found, "bob", counted=COUNTED) == ["FROM-ANN", "FROM-BOB"]


def test_who_has_returned_it_reads_the_answer_of_its_author_and_of_the_next_wording_nothing_yet():
    assert read(review(*returned()), "bob") == ["FROM-ANN", "FROM-BOB", "THE-RETURN", "AND-ANN"]
    again = [
        *returned(),
        ("ann", "author", "resubmit", {"content": WORDS | {"question": "Which bowl?"}}),
        ("ann", "author", "say", {"message": "OF-THE-SECOND"}),
    ]
    assert read(review(*again), "bob") == ["FROM-ANN", "FROM-BOB", "THE-RETURN", "AND-ANN"]
    assert read(review(*again), "olga")[-1] == "OF-THE-SECOND"


def test_a_second_look_reads_nothing_of_the_first():
    found = review(
        ("ann", "author", "submit", {"content": WORDS}),
        ("bob", "reviewer", "claim", {}),
        ("bob", "reviewer", "say", {"message": "FROM-BOB"}),
        ("bob", "reviewer", "release", {}),
        ("eve", "reviewer", "claim", {}),
        protocol="mmvu",
    )
    assert read(found, "eve") == []


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("ann", "author"),
        ("bob", "reviewer"),
        ("mia", None),
        ("eve", None),
        ("rex", None),
        ("olga", "operator"),
    ],
)
def test_one_says_something_as_what_one_has_to_do_with_it(name, role):
    found = review(*returned())
    assert says_as(found, found.states["q1"], by=name, roles=ROLES[name]) == role


def test_an_operator_who_is_still_to_look_says_nothing_as_an_operator():
    found = review(*begun())
    assert says_as(found, found.states["q1"], by="lead", roles=ROLES["lead"]) is None


def test_a_role_that_was_taken_away_says_nothing():
    found = review(*returned())
    assert says_as(found, found.states["q1"], by="ann", roles=("researcher",)) is None
    assert says_as(found, found.states["q1"], by="bob", roles=()) is None
