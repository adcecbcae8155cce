"""Messages of an item as they are kept: what is new to whom, what was read, drafts."""

import pytest

from vidence.errors import DataError
from vidence.studio.access import Person
from vidence.studio.drafts import Conflict, Saved
from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow
from vidence.studio.records.work import DraftRow, ReadRow
from vidence.studio.threads import keep, mark_read, say, thread_of, unread, words_in, written_by
from vidence.studio.workflow import Act, RecordedAct, Refused, act

WORDS = {"item_id": "q1", "question": "Which cup?", "choices": ["red", "blue"], "answer": "A"}


class Desk:
    """An item of Ann's that Bob looks at."""

    def __init__(self, team):
        project = team.project()
        add_items(project, ["q1"], kinds={"q1": "mcq"})
        self.people = {
            name: team.user(name, role, project="films")
            for name, role in (("Ann", "author"), ("Bob", "reviewer"), ("Eve", "reviewer"))
        }
        row = self.item
        ItemRow.objects.update(author=self.people["Ann"])
        ann, bob = (self.people[name].pseudonym for name in ("Ann", "Bob"))
        for said in (
            Act(kind="submit", role="author", by=ann, content=WORDS),
            Act(kind="claim", role="reviewer", by=bob),
        ):
            assert isinstance(act(row, said), RecordedAct)

    @property
    def item(self):
        return ItemRow.objects.select_related("project__protocol", "author").get(item_id="q1")

    def person(self, name, *roles):
        user = self.people[name]
        usual = {"Ann": "author"}.get(name, "reviewer")
        roles = {"films": frozenset(roles or (usual,))}
        return Person(name=user.pseudonym, shown=name, roles=roles, user=user)


@pytest.fixture
def desk(team):
    return Desk(team)


def test_a_message_is_new_to_the_other_until_it_is_read(desk):
    ann, bob = desk.person("Ann"), desk.person("Bob")
    assert isinstance(say(desk.item, bob, "Which cup is meant?"), RecordedAct)
    assert [(one.item_id, n) for one, n in unread(ann)] == [("q1", 1)]
    assert unread(bob) == []
    found = thread_of(desk.item, ann)
    assert [(one.role, one.n, one.is_mine, one.is_new) for one in found.messages] == [
        ("reviewer", 1, False, True)
    ]
    mark_read(desk.item, ann, up_to=found.last)
    assert unread(ann) == []
    assert thread_of(desk.item, ann).n_new == 0
    say(desk.item, bob, "And which hand?")
    assert [n for _, n in unread(ann)] == [1]
    mark_read(desk.item, ann, up_to=1)  # a page that was opened before
    assert ReadRow.objects.get().transition.number == found.last


def test_a_number_that_is_no_message_marks_nothing(desk):
    ann, bob = desk.person("Ann"), desk.person("Bob")
    say(desk.item, bob, "Which cup is meant?")
    for bad in (0, -1, 10**9):
        mark_read(desk.item, ann, up_to=bad)
    mark_read(desk.item, desk.person("Eve"), up_to=3)
    assert ReadRow.objects.count() == 0


def test_what_may_not_be_read_is_not_counted(desk):
    say(desk.item, desk.person("Bob"), "Which cup is meant?")
    assert unread(desk.person("Eve")) == []
    assert thread_of(desk.item, desk.person("Eve")).messages == ()


def test_who_has_nothing_to_do_with_it_says_nothing(desk):
    eve = desk.person("Eve")
    assert "Only its author" in thread_of(desk.item, eve).closed
    assert isinstance(say(desk.item, eve, "Hello"), Refused)
    assert isinstance(say(desk.item, desk.person("Bob"), "x" * 4_001), Refused)
    assert isinstance(say(desk.item, desk.person("Bob"), "  "), Refused)


def test_a_message_that_is_begun_is_kept_and_ends_with_the_sent_one(desk):
    bob = desk.person("Bob")
    assert written_by(desk.item, bob).version == 0
    assert DraftRow.objects.count() == 0
    assert isinstance(keep(desk.item, bob, "Which", seen=0, request="r1"), Saved)
    assert written_by(desk.item, bob).words == "Which"
    assert isinstance(keep(desk.item, bob, "What", seen=0, request="r2"), Conflict)
    say(desk.item, bob, "Which cup is meant?")
    assert written_by(desk.item, bob).words == ""
    assert DraftRow.objects.get().is_closed


def test_a_draft_of_another_kind_is_no_message():
    with pytest.raises(DataError, match="cannot be read"):
        words_in('{"question": "Which?"}')
