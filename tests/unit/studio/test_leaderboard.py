"""Opening a board: which split, which limits; and what is refused."""

import re
import shutil
from datetime import UTC, datetime

import pytest

from subjects.hidden_board import hidden_split, open_board
from vidence.errors import UsageError


@pytest.fixture(scope="module")
def split(tmp_path_factory):
    return hidden_split(tmp_path_factory.mktemp("hidden"), 8)


def test_it_is_opened_once_and_gets_other_limits(team, split, tmp_path):
    from vidence.studio import leaderboard

    open_board(team, split, tmp_path)
    open_board(team, split, tmp_path, most_a_day=1)
    row = leaderboard.board_here()
    assert (row.title, row.split, row.n_items, row.most_a_day) == ("table-1.0.0", "test", 8, 1)
    items = leaderboard.items_of(row)
    assert [one.item_id for one in items] == list(split.key)
    assert {(one.answer, one.question, one.rationale) for one in items} == {("", "", "")}
    other = hidden_split(tmp_path / "other", 7)
    with pytest.raises(UsageError, match=r"this folder already has the board of 'table-1\.0\.0'"):
        open_board(team, other, tmp_path)
    changed = tmp_path / "changed"
    shutil.copytree(split.release, changed)
    (hashes := changed / "about" / "hidden.jsonl").write_text(
        re.sub('sha256":"....', 'sha256":"0000', hashes.read_text())
    )
    with pytest.raises(UsageError, match=r"this folder already has the board of 'table-1\.0\.0'"):
        leaderboard.open_board(changed, "", leaderboard.Limits())


def test_what_is_not_given_stays_and_no_board_is_opened_that_has_ended(team, split):
    from vidence.studio.leaderboard import Limits, has_ended, open_board

    with pytest.raises(UsageError, match="2026-11-22 has passed; expected a last day in the future"):
        open_board(split.release, "", Limits(last_day=datetime(2026, 11, 22, tzinfo=UTC)))
    row = open_board(split.release, "", Limits(most_a_day=5, last_day=datetime(2026, 11, 23, tzinfo=UTC)))
    assert (row.most_a_day, row.most_in_all, has_ended(row, team.clock())) == (5, 20, False)
    row = open_board(split.release, "", Limits(most_in_all=7), title="Tables")
    assert (row.most_a_day, row.most_in_all, row.title) == (5, 7, "Tables")
    assert row.ends_at == datetime(2026, 11, 24, tzinfo=UTC)


def test_a_folder_without_the_split_is_refused(team, split, tmp_path):
    from vidence.studio.leaderboard import Limits, open_board

    limits = Limits(most_a_day=1, most_in_all=1)
    with pytest.raises(UsageError, match="has no hidden split; expected one"):
        open_board(tmp_path, "", limits)
    with pytest.raises(UsageError, match="has the hidden splits test; expected 'dev'"):
        open_board(split.release, "dev", limits)
    two = tmp_path / "two"
    shutil.copytree(split.release, two)
    shutil.copy(two / "questions-test.jsonl", two / "questions-dev.jsonl")
    with pytest.raises(UsageError, match="the hidden splits dev, test; expected one, or --split"):
        open_board(two, "", limits)
    assert open_board(two, "dev", limits, title="Tables").title == "Tables"
