"""Rates by author, reviewer, week, tag; small groups hidden."""

import pytest

from subjects.reviewing import LONG, Team
from vidence.errors import UsageError
from vidence.make.review.groups import group_table, groups_of


@pytest.fixture
def team() -> Team:
    """Six items of ann accepted, three of dan rejected, one of dan on its way."""
    team = Team()
    for i in range(10):
        name = f"q{i}"
        team.put("ann" if i < 6 else "dan", item_id=name, tags={"domain": "art" if i < 5 else "law"})
        if i == 9:
            continue
        assert team.act("claim", "bob" if i % 2 else "eve", item_id=name) == ""
        kind = "accept" if i < 6 else "reject"
        assert team.act(kind, "bob" if i % 2 else "eve", item_id=name, message=LONG) == ""
    return team


def counts(team: Team, key: str) -> dict[str, tuple[int, tuple[int, int]]]:
    return {one.name: (one.n_items, one.rates["accepted"]) for one in groups_of(team.reviews, key)}


def test_items_are_counted_by_who_what_and_when(team):
    assert counts(team, "author") == {"ann": (6, (6, 6)), "dan": (4, (0, 3))}
    assert counts(team, "reviewer") == {"bob": (4, (3, 4)), "eve": (5, (3, 5))}
    assert counts(team, "tag:domain") == {"art": (5, (5, 5)), "law": (5, (1, 4))}
    assert counts(team, "week") == {"2026-W47": (9, (6, 9))}  # Sunday, 22 November
    assert counts(team, "tag:other") == {"": (10, (6, 9))}


def test_shares_of_fewer_than_five_are_for_operators(team):
    groups = groups_of(team.reviews, "author")
    table = group_table(groups, "author", level=0.95, shows_all=False)
    column = [one.key for one in table.columns].index("accepted")
    ann, dan = table.rows
    assert ann.values[column].value == 1.0
    assert dan.values[column] is None
    assert "4 shares of fewer than 5 items are not shown" in table.note
    whole = group_table(groups, "author", level=0.95, shows_all=True)
    assert whole.rows[1].values[column].value == 0.0
    assert "not shown" not in whole.note
    assert group_table((), "author", level=0.95, shows_all=False).rows == ()


@pytest.mark.parametrize("key", ["day", "tag:", ""])
def test_an_unknown_key_is_refused(team, key):
    with pytest.raises(UsageError, match="expected one of author, reviewer, week, tag:NAME"):
        groups_of(team.reviews, key)
