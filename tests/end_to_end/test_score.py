"""A hidden split from its release to its score: released, asked, submitted, scored where the answers are."""

import json
from pathlib import Path

import msgspec
import pytest

from subjects.released import half_hidden
from vidence.report.opened_run import open_run

# Replies to the hidden questions table-001, -003, -005 and the open one: right, wrong, none, right.
REPLIES = ("<think>A or B?</think>The answer is B.", "a red cup", "I cannot say.", "It is the lamp.")


# A judge that marks by the whole prompt, so that any difference between two requests shows.
JUDGE = """
import hashlib, json, re

def mark(prompt, images):
    marked = re.search(r'<reply id="(\\w+)">', prompt)[1]
    is_right = hashlib.sha256(prompt.encode()).digest()[0] % 2 == 0
    if "'choice'" in prompt or '"choice"' in prompt:
        return json.dumps({"id": marked, "reason": "so", "choice": "D" if is_right else "none"})
    return json.dumps({"id": marked, "extracted_answer": "D" if is_right else "", "correct": is_right})
"""


@pytest.fixture
def released(vidence):
    lines = b"".join(msgspec.json.encode(row) + b"\n" for row in half_hidden())
    (vidence.folder / "set").mkdir()
    (vidence.folder / "set" / "things.jsonl").write_bytes(lines)
    done = vidence("items", "release", "set/things.jsonl", "--into", "out", "--hide", "test")
    assert done.code == 0, done.err
    ids = [json.loads(line)["item_id"] for line in hidden_file(vidence, "test.jsonl").splitlines()]
    rows = [{"item_id": one, "text": said} for one, said in zip(ids, REPLIES, strict=True)]
    (vidence.folder / "said.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return "out/things-1.0.0"


def hidden_file(vidence, name: str) -> str:
    return (vidence.folder / "out" / "things-1.0.0.hidden" / name).read_text()


REPLAYED = ("--model", "replay:said.jsonl", "--recorded-only", "--no-page")


def asked(vidence, data: str, out: str, *more: str):
    done = vidence("run", "table", "--data", data, *REPLAYED, "--out", out, *more)
    assert done.code == 0, done.err
    return done


def rows_of(folder) -> list[tuple[str, float | None]]:
    return [(row.item.item_id, row.correct) for row in open_run(folder).rows]


def test_the_score_of_a_submission_is_that_of_the_replies_with_the_answers(released, vidence):
    done = asked(vidence, f"{released}/questions-test.jsonl", "asked")
    assert "No score: answers hidden, of all 4 questions." in done.out
    assert "%" not in done.out.partition("Outcomes")[0]
    said = " ".join(done.err.split())
    assert "answers hidden: 4 questions; submission written to asked/submission.jsonl; score it where" in said
    lines = (vidence.folder / "asked" / "submission.jsonl").read_text().splitlines()
    assert [json.loads(line)["answer"] for line in lines] == ["B", "A", "", "It is the lamp."]
    assert [json.loads(line)["reply"] for line in lines] == list(REPLIES)
    hidden = f"{released}.hidden"
    scored = vidence("items", "score", "asked", "--answers", hidden, "--out", "scored", "--no-page")
    assert scored.code == 0, scored.err
    asked(vidence, f"{hidden}/test.jsonl", "known")
    known, ours = open_run(vidence.folder / "known"), open_run(vidence.folder / "scored")
    assert known.accuracy is not None
    assert known.accuracy == ours.accuracy
    assert rows_of(known.folder) == rows_of(ours.folder)
    assert "Accuracy 33.3 %" in scored.out
    compared = vidence("compare", "known", "scored")
    assert "have the same scores on all 3 questions" in " ".join(compared.out.split()), compared.err
    for line in hidden_file(vidence, "answers.jsonl").splitlines():
        assert json.loads(line)["salt"] not in scored.out


@pytest.mark.parametrize("judge", ["mmvu-official", "rule-first"])
def test_a_judge_of_a_submission_sees_what_a_judge_of_the_replies_sees(released, vidence, judge):
    (vidence.folder / "judge.py").write_text(JUDGE)
    judged = ("--judge", judge, "--judge-model", "judge.py:mark")
    asked(vidence, f"{released}/questions-test.jsonl", "asked", *judged)
    done = vidence(
        "items", "score", "asked", "--answers", f"{released}.hidden", *judged, "--out", "scored", "--no-page"
    )
    assert done.code in {0, 3}, done.err
    vidence("run", "table", "--data", f"{released}.hidden/test.jsonl", *REPLAYED, "--out", "known", *judged)
    known = {row.item.item_id: row.score for row in open_run(vidence.folder / "known").rows}
    ours = {row.item.item_id: row.score for row in open_run(vidence.folder / "scored").rows}
    assert known == ours
    assert any(score.verdicts for score in ours.values())
    assert "answers hidden: 4 questions" in asked(vidence, f"{released}/questions-test.jsonl", "two").err


def test_letters_of_shuffled_choices_are_submitted_in_the_order_of_the_item(released, vidence):
    data = f"{released}/questions-test.jsonl"
    said = ("--model", "baseline:constant?letter=B", "--shuffle-choices", "--repeats", "3", "--no-page")
    for where, out in ((data, "asked"), (f"{released}.hidden/test.jsonl", "known")):
        assert vidence("run", "table", "--data", where, *said, "--out", out).code == 0
    rows = [
        json.loads(row) for row in (vidence.folder / "asked" / "submission.jsonl").read_text().splitlines()
    ]
    assert [row["repeat"] for row in rows[:3]] == [0, 1, 2]
    assert len({row["answer"] for row in rows[:9]}) > 1
    assert vidence("items", "score", "asked", "--answers", f"{released}.hidden", "--out", "scored").code == 0
    assert rows_of(vidence.folder / "known") == rows_of(vidence.folder / "scored")


def test_what_needs_answers_says_that_they_are_hidden(released, vidence):
    data = f"{released}/questions-test.jsonl"
    asked(vidence, data, "runs/a")
    asked(vidence, data, "runs/b", "--parser", "herbench-official")
    listed = vidence("runs", "runs")
    assert listed.out.count("answers hidden") == 2
    for words in (
        ("compare", "runs/a", "runs/b"),
        ("replies", "judge", "runs/a", "--judge-model", "scripted:yes"),
        ("stats", "correlate", "runs/a", "runs/b", "--x", "all", "--y", "all"),
        ("stats", "contrast", "runs/a", "--tag", "subject", "--of", "Art", "--to", "Art"),
        ("diagnose", "rotations", "table", "--data", data, "--model", "baseline:random"),
        ("items", "audit", data),
        ("items", "gate", data),
        ("items", "release", data, "--into", "again"),
    ):
        done = vidence(*words)
        assert (done.code, "answers hidden" in done.err) == (2, True), (words, done.err)
    models = '[[models]]\nmodel = "baseline:random"\n[[models]]\nmodel = "baseline:longest"\n'
    panel = f'title = "p"\n[[benchmarks]]\nbenchmark = "table"\ndata = "{data}"\n{models}'
    (vidence.folder / "p.toml").write_text(panel)
    done = vidence("panel", "p.toml", "--out", "p")
    assert done.code == 0, done.err
    assert "No score: table, baseline:random: answers hidden, of 4 questions" in done.out
    assert (
        "no run of the panel has a score: answers hidden" in vidence("panel", "p.toml", "--as", "pivot").err
    )
    assert vidence.apart("view", "runs", "--export", "pages").code == 0
    pages = [path.read_text() for path in (vidence.folder / "pages").glob("*.html")]
    assert any("answer hidden" in page for page in pages)
    files = ("--html", "r.html", "--json", "r.json", "--csv", "r.csv", "--latex", "r.tex")
    done = vidence("report", "runs/a", *files)
    assert done.code == 0, done.err
    page = (vidence.folder / "r.html").read_text()
    assert "answer hidden" in page
    assert "No score: answers hidden" in page
    assert "NaN" not in (vidence.folder / "r.json").read_text()


def test_the_test_split_of_mmvu_is_asked_and_submitted(vidence):
    golden = str(Path(__file__).parents[1] / "golden" / "mmvu")
    done = vidence("run", "mmvu", "--split", "test", "--data", golden, "--model", "scripted:B", "--out", "r")
    assert done.code == 0, done.err
    assert "No score: answers hidden, of all 3 questions." in done.out
    rows = [json.loads(row) for row in (vidence.folder / "r" / "submission.jsonl").read_text().splitlines()]
    assert [(row["item_id"], row["answer"]) for row in rows] == [(f"test_{i}", "B") for i in range(3)]
    assert "No score: answers hidden" in (vidence.folder / "r" / "report.html").read_text()


def test_of_a_mixed_set_the_known_answers_are_scored_and_the_others_counted(released, vidence):
    whole = [
        json.loads(line) for line in (vidence.folder / released / "items.jsonl").read_text().splitlines()
    ]
    public = (vidence.folder / released / "questions-test.jsonl").read_text().splitlines()
    rows = [*whole, *map(json.loads, public)]
    (vidence.folder / "mixed.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = [{"item_id": row["item_id"], "text": "A"} for row in rows]
    (vidence.folder / "said.jsonl").write_text("".join(json.dumps(row) + "\n" for row in said))
    done = asked(vidence, "mixed.jsonl", "mixed")
    text = " ".join(done.out.split())
    assert "Answers hidden, and in no score: 4 questions." in text
    assert "Accuracy 25.0 % (95 % interval" in text
    n_hidden = len((vidence.folder / "mixed" / "submission.jsonl").read_text().splitlines())
    assert n_hidden == 4
    assert ", 4 hidden" in vidence("runs", ".").out
    kept = vidence("items", "audit", "mixed.jsonl")
    assert "answers hidden: 4 of 8 questions of mixed.jsonl, left out" in " ".join(kept.err.split())


def test_lines_that_fit_no_question_are_counted_and_named(released, vidence):
    (vidence.folder / "mine.csv").write_text("item_id,answer\ntable-001,A\ntable-001,B\nx,A\ntable-003,F\n")
    done = vidence("items", "score", "mine.csv", "--answers", f"{released}.hidden", "--no-page")
    assert done.code == 3
    said = " ".join(done.err.split())
    assert "1 unknown id (left out): line 4: 'x'" in said
    assert (
        "1 answer outside the options (counted as wrong): line 5: 'table-003': 'F', expected A to E" in said
    )
    assert "2 missing answers (counted as wrong): 'table-005'; 'table-007'" in said
    for words in (
        ("mine.csv", "--answers", "set"),
        ("mine.csv", "--answers", f"{released}.hidden", "--split", "x"),
    ):
        assert vidence("items", "score", *words).code == 2
