"""Items in, sheets out, sheets in: what people do with files, and what is refused."""

import csv
import io

import pytest

from subjects.reviewing import LONG, Team, answers, at
from vidence.errors import DataError
from vidence.make.review.recording import Recorder, Share, draw, said_before, submit
from vidence.make.review.sheets import has_writing, minutes_of, sheet, take_in


def rows_of(team: Team, by: str = "bob", role: str = "reviewer") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(sheet(team.reviews, by=by, role=role).decode("utf-8-sig"))))


def filled(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return path


def take(team: Team, path, by: str = "bob", role: str = "reviewer", minute: int = 500):
    recorder = Recorder(team.reviews, by=by, role=role, at=at(minute))
    taken = take_in(team.reviews, recorder, [path], by=by, role=role)
    team._take(recorder)
    return taken.n_decided, taken.n_solved, taken.n_known


def drawn(protocol: str = "mmvu", n: int = 3) -> Team:
    team = Team(protocol)
    for i in range(n):
        team.put(item_id=f"q{i + 1}", tags={"task": "ab"[i % 2]})
        team.act("claim", "bob", item_id=f"q{i + 1}")
    return team


def good(team: Team, row: dict[str, str]) -> dict[str, str]:
    return row | answers(team.protocol) | {"verdict": "accept", "minutes": "4:12"}


def test_a_sheet_shows_the_item_and_is_taken_in_once(tmp_path):
    team = drawn()
    rows = rows_of(team)
    assert [row["item_id"] for row in rows] == ["q1", "q2", "q3"]
    assert rows[0]["item.question"] == "Which?"
    assert rows[0]["item.choices"] == "A. a\nB. b"
    assert rows[0]["item.tags"] == "task: a"
    back = rows[1] | {"answer": "no", "verdict": "return", "note": LONG}
    path = filled(tmp_path / "a.csv", [good(team, rows[0]), back, rows[2]])
    assert take(team, path) == (2, 0, 0)
    assert [one.state for one in team.reviews.states.values()] == ["accepted", "returned", "in-review"]
    assert team.reviews.events[-2].minutes == pytest.approx(4.2)
    assert take(team, path) == (0, 0, 2)
    path = filled(tmp_path / "b.csv", [good(team, rows[0]) | {"note": "and yet"}])
    with pytest.raises(DataError, match="line 2: q1 was decided already: accept by bob"):
        take(team, path)


def test_the_message_of_a_return_is_in_the_next_sheet_but_no_other_s_count(tmp_path):
    team = drawn("humanpcr-r", 1)
    team.act("return", "bob", message=LONG, checks={"evidence": "1"})
    team.put(question="Which one?")
    other = team.copy()
    team.look("cid", "reject", message="I count one piece of evidence only.")
    other.act("claim", "dan")
    whole = team.merged(other)
    assert rows_of(whole, "dan")[0]["said before"] == f"bob: {LONG}"
    state = whole.reviews.states["q1"]
    assert [one.by for one in said_before(whole.reviews, state, by="cid")] == ["bob", "cid"]


def test_the_key_is_in_the_second_sheet(tmp_path):
    team = drawn("perceptioncomp", 1)
    (row,) = rows_of(team)
    assert "item.answer" not in row
    assert "item.tags" not in row
    early = filled(tmp_path / "a.csv", [row | {"your answer": "A", "verdict": "accept"}])
    with pytest.raises(DataError, match="a verdict before its key was shown"):
        take(team, early)
    assert take(team, filled(tmp_path / "b.csv", [row | {"your answer": "B"}])) == (0, 1, 0)
    assert team.reviews.events[-1].answer == "B"
    (row,) = rows_of(team)
    assert row["item.answer"] == "A"
    whole = good(team, row) | {"level": "3", "witnesses": "second: at 41 s there is a red cup, too"}
    assert take(team, filled(tmp_path / "c.csv", [whole])) == (1, 0, 0)
    assert team.state == "accepted"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"verdict": "return", "note": "no"}, "line 2: q1 is in-review; return by bob: a message of 2 signs"),
        ({"verdict": "perhaps"}, "line 2: q1 has the verdict 'perhaps'; expected accept or return or reject"),
        ({"answer": "no"}, "line 2: q1 is accepted, and 'answer' is no"),
        ({"answer": "well"}, "line 2: q1 has 'well' under 'answer'; expected yes or no or nothing"),
        ({"answer": ""}, "accept by bob: no answer to answer"),
        ({"minutes": "long"}, "line 2: q1 has 'long' under 'minutes'"),
        ({"check": "abc"}, "line 2: q1 was changed after the sheet was written"),
        ({"item_id": "q9"}, "line 2: q9 is not in the sheet"),
    ],
)
def test_what_a_sheet_cannot_say_is_named_with_its_line_and_nothing_is_taken(tmp_path, change, said):
    team = drawn()
    rows = rows_of(team)
    path = filled(tmp_path / "a.csv", [good(team, rows[0]) | change, good(team, rows[1])])
    with pytest.raises(DataError) as caught:
        take(team, path)
    assert str(path) in str(caught.value)
    assert said in str(caught.value)
    assert {one.state for one in team.reviews.states.values()} == {"in-review"}


def test_a_sheet_is_read_however_a_spreadsheet_saves_it_and_what_is_not_said_waits(tmp_path):
    """With semicolons, without our columns, in another order, in two files, as CSV in UTF-8 with a mark."""
    team = drawn("herbench", 4)
    paths = []
    for name, lines in (("a", ("q3;Reject;no", "q1;accept;")), ("b", ("q2;;", "q4;accept;YES"))):
        paths.append(tmp_path / f"{name}.csv")
        paths[-1].write_text("\r\n".join(["item_id;verdict;unique", *lines]), encoding="utf-8-sig")
    recorder = Recorder(team.reviews, by="bob", role="reviewer", at=at(500))
    assert take_in(team.reviews, recorder, paths, by="bob", role="reviewer").n_decided == 3
    assert [(one.item_id, one.kind, one.checks) for one in recorder.events] == [
        *(("q1", "accept", {}), ("q3", "reject", {"unique": "no"}), ("q4", "accept", {"unique": "yes"}))
    ]


@pytest.mark.parametrize(
    ("contents", "said"),
    [
        ([b""], "is empty; expected a sheet"),
        ([b"item_id,note\n"], "no column verdict; expected a first line"),
        ([b"\xff\xfe\x00"], "expected UTF-8: save it again with that encoding"),
        ([], "cannot be read"),
        ([b'item_id,verdict,note\nq1,accept,"half" a\n'], "expected quotes in pairs"),
        ([b"item_id,verdict,note\nq1,,hm\n"], "q1 has no verdict; expected accept or reject"),
        ([b"item_id,verdict\n,accept\n"], "an empty id is not in the sheet"),
        ([b"item_id,verdict\nq1,perhaps\nq2,well\n"], "2 faults"),
        ([b"item_id,verdict\nq1,accept\nq1,reject\n"], "line 3: a second line for q1, after line 2"),
        ([b"item_id,verdict\nq1,accept\n"] * 2, r"1\.csv, line 2: a second line for q1"),
    ],
)
def test_what_is_no_sheet_is_refused(tmp_path, contents, said):
    paths = [tmp_path / f"{i}.csv" for i in range(max(1, len(contents)))]
    for path, content in zip(paths, contents, strict=False):
        path.write_bytes(content)
    team = drawn("herbench")
    recorder = Recorder(team.reviews, by="bob", role="reviewer", at=at(500))
    with pytest.raises(DataError, match=said):
        take_in(team.reviews, recorder, paths, by="bob", role="reviewer")
    assert recorder.events == ()


def test_nothing_in_a_sheet_is_run_as_a_formula():
    team = Team()
    team.put(question="=HYPERLINK(1)", choices=["+1", "-x"])
    team.act("claim", "bob")
    (row,) = rows_of(team)
    assert (row["item.question"], row["item.choices"]) == ("'=HYPERLINK(1)", "A. +1\nB. -x")


@pytest.mark.parametrize(
    ("content", "is_begun"),
    [
        *((None, False), ("id,verdict\nx,\n", False), ("id;verdict\nx;\n", False)),
        *(("id,verdict\nx,yes\n", True), ("id\nx\n", True), ("", True)),
    ],
)
def test_a_sheet_with_writing_is_told_from_one_without(tmp_path, content, is_begun):
    path = tmp_path / "a.csv"
    if content is not None:
        path.write_text(content)
    assert has_writing(path, b"", filled=("verdict",)) == (is_begun and content != "")
    assert has_writing(path, b"template", filled=()) == (content is not None)


@pytest.mark.parametrize("said", ["6", "much", "-1"])
def test_scores_are_within_their_range(tmp_path, said):
    team = drawn("humanpcr-r", 1)
    (row,) = rows_of(team)
    path = filled(tmp_path / "a.csv", [good(team, row) | {"complexity": said}])
    with pytest.raises(DataError, match="under 'complexity'; expected 1 to 5"):
        take(team, path)


def test_a_share_of_each_stratum_is_drawn_by_the_seed_and_never_one_s_own():
    team = Team("herbench")
    for i in range(20):
        team.put("ann" if i < 15 else "bob", item_id=f"q{i}", tags={"task": "ab"[i % 2]})

    def ids(by: str, seed: int, share: float = 0.4) -> list[str]:
        recorder = Recorder(team.reviews, by=by, role="reviewer", at=at(100))
        wanted = Share(share=share, tag="task", seed=seed)
        assert draw(team.reviews, recorder, by=by, role="reviewer", wanted=wanted) == len(recorder.events)
        return [one.item_id for one in recorder.events]

    assert ids("cid", 1) == ids("cid", 1) != ids("cid", 2)
    assert [int(one[1:]) % 2 for one in ids("cid", 1)].count(0) == 4
    assert len(ids("cid", 1)) == 8
    assert {int(one[1:]) for one in ids("bob", 1, share=1.0)} == set(range(15))


def test_items_go_in_with_their_authors_and_only_when_they_changed():
    team = Team()
    items = {name: {"item_id": name, "author": name.upper(), "minutes": 20} for name in ("a", "b")}
    recorders, done = submit(team.reviews, items, by="", role="author", at=at(1))
    team._take(*recorders)
    assert (done.n_new, done.n_same) == (2, 0)
    assert {one.by: one.minutes for one in team.reviews.events} == {"A": 20.0, "B": 20.0}
    assert submit(team.reviews, items, by="", role="author", at=at(2))[1].n_same == 2
    changed = {"a": {"item_id": "a", "author": "A"}, "c": {"item_id": "c"}}
    with pytest.raises(DataError) as caught:
        submit(team.reviews, changed, by="", role="author", at=at(2))
    assert "a is submitted; submit by A: 'submit' is not allowed" in str(caught.value)
    assert "c has no author" in str(caught.value)


def test_an_edit_of_a_question_is_a_question():
    team = Team()
    team.put()
    assert team.act("claim", "bob") == ""
    for broken in ({"question": 3}, {"surprise": "field"}):
        with pytest.raises(DataError, match=r"the wording of q1 is no question .*; fix it"):
            team.put(by="bob", role="reviewer", **broken)
    team.put(by="bob", role="reviewer", question="Which one?", misconception={"b": "why"})
    assert team.reviews.content("q1")["question"] == "Which one?"


def test_minutes_of_a_mended_draft_are_paid_as_far_as_they_grew():
    team = Team()
    team.put(minutes=20)
    for minutes, paid in ((20, None), (32, 12.0)):
        fresh = team.copy()
        assert fresh.back("bob") == ""
        fresh.put(minutes=minutes, question="Which one?")
        assert (fresh.reviews.events[-1].kind, fresh.reviews.events[-1].minutes) == ("resubmit", paid)


def test_a_wording_without_its_event_is_taken_up():
    team = Team()
    team.put()
    (revision,) = team.reviews.revisions.values()
    left = Team()
    left.reviews = type(left.reviews).of(left.protocol, [revision], ())
    assert left.state == "drafting"
    left.minute = 50
    left.put()
    assert list(left.reviews.revisions) == [revision.sha256]
    assert left.state == "submitted"


def test_nobody_writes_before_what_they_did(tmp_path):
    team = drawn()
    recorder = Recorder(team.reviews, by="bob", role="reviewer", at=at(0))
    assert recorder.fault == ""
    recorder.add("release", "q1")
    assert "when bob did something last" in recorder.fault


def test_minutes_are_read_as_people_write_them():
    assert [minutes_of(text) for text in ("20:17", "4.5", "4:75", "-3", "inf")] == [
        pytest.approx(20.2833, abs=1e-4),
        4.5,
        None,
        None,
        None,
    ]
