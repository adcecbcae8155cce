"""Tries of hints as rows: which say something of a wording, and what they speak against."""

import pytest

from vidence.studio.hint_tries import GUESS, STAGE, SURE, content_of, of_wording, refusal, tries_of
from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow, ReviewRow
from vidence.studio.workflow import Act, RecordedAct, act, protocol_of

WORDS = {"item_id": "q1", "question": "Which?", "choices": ["red", "blue"], "answer": "B", "hints": ["Look."]}


@pytest.fixture
def item(team):
    """An item with one try for each of two people: a guess, and one that was enough."""
    add_items(team.project(), ["q1"], kinds={})
    row = ItemRow.objects.get()
    assert isinstance(act(row, Act(kind="submit", role="author", by="ann", content=WORDS)), RecordedAct)
    for name, decision, said in (("Eve", "guessed", GUESS), ("Bob", "too-strong", SURE)):
        ReviewRow.objects.create(
            item=row,
            revision=row.current,
            stage=STAGE,
            reviewer=team.user(name, "reviewer"),
            decision=decision,
            answer="B",
            feedback=said,
            seconds=12,
            begun_at=team.settings.clock(),
            ended_at=team.settings.clock(),
        )
    return row


def test_tries_say_what_they_came_to_and_in_which_time(item):
    found = [(one.n, one.answer, one.said, one.seconds, one.finding) for one in tries_of(item)]
    assert found == [(1, "B", GUESS, 12.0, "guessed"), (1, "B", SURE, 12.0, "too-strong")]


def test_they_are_about_a_wording_as_long_as_its_words_stay(item):
    content = content_of(item.current.content)
    assert len(of_wording(item, content)) == 2
    assert len(of_wording(item, {**content, "answer": "A", "rationale": "more"})) == 2
    assert of_wording(item, {**content, "hints": ["Look again."]}) == ()
    assert of_wording(item, {**content, "hints": []}) == ()


def test_only_acceptance_is_spoken_against(item):
    protocol = protocol_of(item.project)
    assert "too strong; return it" in refusal("accept", item, protocol, by="mia")
    for kind in ("return", "reject", "edit", "claim"):
        assert refusal(kind, item, protocol, by="mia") == ""
    ReviewRow.objects.filter(decision="too-strong").delete()
    assert refusal("accept", item, protocol, by="mia") == ""
