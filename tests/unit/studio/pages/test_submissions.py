"""The pages Board and Submit: what is taken and counted, what a team sees of it, and what others see."""

import json
import re
import tempfile
from datetime import UTC, datetime

import pytest

from subjects.hidden_board import hidden_split, open_board, send

N = 100


@pytest.fixture(scope="module")
def split(tmp_path_factory):
    return hidden_split(tmp_path_factory.mktemp("hidden"), N)


@pytest.fixture
def board(team, split, tmp_path):
    return open_board(team, split, tmp_path / "cache")


def text(answer) -> str:
    return " ".join(answer.content.decode().split())


def rows(client, where: str) -> str:
    return text(client.get(where)).split("<tbody>")[1]


def test_a_score_is_shown_where_it_beats_the_best_of_the_team_by_enough(board):
    red = board.member("Ann", "red")
    assert "No score yet" in text(red.get("/board"))
    assert send(red, board.split.right(40)).status_code == 302
    assert "queued" in text(red.get("/board/submit"))
    assert board.score() == [""]
    assert "<strong>40</strong> points" in text(red.get("/board/submit"))
    send(red, board.split.right(45))  # by 5 of 100 answers that differ: as often by chance
    assert board.score() == [""]
    page = rows(red, "/board/submit")
    assert ("the best score of the team stays" in page, "45" in page) == (True, False)
    board.team.clock.move(24 * 3600)
    send(red, board.split.right(60))
    blue = board.member("Bob", "blue")
    send(blue, board.split.right(61))
    assert board.score() == ["", ""]
    assert "<strong>60</strong> points" in text(red.get("/board/submit"))
    assert "61" not in rows(red, "/board/submit")
    for client in (red, blue):
        said = rows(client, "/board")
        assert said.index("blue") < said.index("61") < said.index("red") < said.index("60")
    assert board.score() == [], "a second scorer has nothing to do"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: rows[3:], "3 missing answers: &#x27;table-001&#x27;; &#x27;table-002&#x27;"),
        (lambda rows: [*rows, rows[0]], "1 id given again: line 101: &#x27;table-001&#x27;"),
        (lambda rows: [*rows, b'{"item_id": "x", "answer": "A"}'], "1 unknown id: line 101"),
        (
            lambda rows: [rows[0].replace(rows[0][-3:-2], b"Q"), *rows[1:]],
            "1 answer outside the options: line 1: &#x27;table-001&#x27;: &#x27;Q&#x27;, expected A to D",
        ),
        (
            lambda rows: [*rows, rows[0].replace(b"}", b', "repeat": 99}')],
            "line 101: an answer of a repeat; expected one answer to each question",
        ),
        (
            lambda rows: [json.dumps({f"c{i}\n": 1 for i in range(9_000)}).encode(), *rows[1:]],
            "line 1: item_id: no such column; found &#x27;c0\\n, c1\\n, c2\\n, c3\\n, ",
        ),
        (lambda rows: [rows[0], b"{", *rows[2:]], "submission.jsonl, line 2: "),
        (lambda rows: [b"\xff\xfe", *rows[1:]], "submission.jsonl"),
        (lambda rows: [b"[" * 100_000], "submission.jsonl"),
        (lambda rows: [], "submission.jsonl"),
    ],
)
def test_a_file_that_cannot_count_is_refused_with_its_lines_and_costs_nothing(board, change, said):
    client = board.member("Ann", "red")
    answer = send(client, b"\n".join(change(board.split.right(50).splitlines())))
    assert answer.status_code == 400
    assert said in text(answer), re.findall(r"<li.*?</li>", text(answer))
    assert tempfile.gettempdir() not in text(answer)
    assert "<strong>2</strong> more today" in text(answer)
    assert "None yet" in text(answer)


def test_letters_and_texts_of_choices_are_taken_as_at_home(board):
    client = board.member("Ann", "red")
    said = dict(zip("ABCD", ("a", " a blue bowl", "(C)", "d"), strict=True))
    right = {name: said[letter] for name, letter in board.split.key.items()}
    assert send(client, board.split.submission(right)).status_code == 302
    again = send(client, board.split.submission(board.split.key))
    assert "sent the same answers" in text(again), "however they are written"
    assert board.score() == [""]
    assert "<strong>100</strong> points" in text(client.get("/board/submit"))


def test_a_team_has_its_limits_a_day_of_utc_and_in_all_whoever_sends(board, split, tmp_path):
    open_board(board.team, split, tmp_path, most_in_all=3)
    ann, ada = board.member("Ann", "red"), board.member("Ada", " RED ")
    assert send(ann, split.right(10)).status_code == 302
    again = send(ada, split.right(10))
    assert "sent the same answers on 2026-11-23 09:00 UTC; not counted again" in text(again)
    assert send(ada, split.right(11)).status_code == 302
    third = send(ann, split.right(12))
    assert (third.status_code, "send this one after midnight UTC" in text(third)) == (400, True)
    board.team.clock.move(15 * 3600 - 1)
    assert send(ann, split.right(12)).status_code == 400
    board.team.clock.move(1)
    assert send(ann, split.right(12)).status_code == 302
    assert "has sent all of its 3 submissions" in text(send(ada, split.right(13)))
    assert send(board.member("Bob", "blue"), split.right(13)).status_code == 302
    assert "your account has no team" in text(send(board.member("Cy", ""), split.right(13)))


def test_after_the_end_nothing_is_taken_and_the_strata_are_shown(board, split, tmp_path):
    from vidence.errors import UsageError
    from vidence.studio.leaderboard import board_here
    from vidence.studio.scoring import write_strata

    last = datetime(2026, 11, 23, tzinfo=UTC)
    open_board(board.team, split, tmp_path, last_day=last)
    red = board.member("Ann", "red")
    send(red, split.right(50))
    board.score()
    assert write_strata(board.vault(), board_here(), board.team.clock()) == 0
    assert "order" not in text(red.get("/board")).partition("<tbody>")[2]
    board.team.clock.move(15 * 3600)
    assert "the board has ended; nothing was saved" in text(send(red, split.right(60)))
    assert write_strata(board.vault(), board_here(), board.team.clock()) == 1
    assert write_strata(board.vault(), board_here(), board.team.clock()) == 0
    page = text(red.get("/board"))
    assert '<th scope="row">count</th><td class="number">50</td><td class="number">50</td>' in page
    with pytest.raises(UsageError, match="has ended and its strata are published"):
        open_board(board.team, split, tmp_path, last_day=datetime(2027, 1, 1, tzinfo=UTC))


def test_without_a_board_or_a_file_the_pages_say_so(team, split, tmp_path):
    team.user("Olga", "operator")
    assert "No board is open here" in text(team.signed_in("Olga").get("/board"))
    board = open_board(team, split, tmp_path)
    client = board.member("Ann", "red")
    assert client.post("/board/submit").status_code == 400
    assert 'href="/board"' in text(client.get("/"))
    assert team.signed_in("Olga").get("/board/submit").status_code == 403
    for where in ("/work", "/sets/", "/runs", "/accounts"):
        assert client.get(where).status_code == 403, where
