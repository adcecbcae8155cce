"""Submitted answers: what is read, what is wrong with them, and what they score."""

import json
from datetime import UTC, datetime
from pathlib import Path

import anyio
import msgspec
import pytest

from vidence.engine.environment import environment
from vidence.engine.evaluate import Summary
from vidence.engine.submission import SubmissionCheck, checked, read_submission, score_submission
from vidence.errors import DataError, StoreError
from vidence.records import Item, Media
from vidence.report.opened_run import open_run
from vidence.report.results import load_run
from vidence.report.scores import ScoredQuestions

NOW = datetime(2026, 1, 2, tzinfo=UTC)
RIGHT = "BADC"


def items(n: int = 8) -> tuple[Item, ...]:
    """Questions with four choices, every fourth of them open."""
    return tuple(
        Item(
            item_id=f"q{i}",
            media=(Media(path=f"v{i // 2}.mp4"),),
            question=f"Question {i}?",
            choices=() if i % 4 == 3 else ("red", "green", "blue", "grey"),
            answer="a blue bus" if i % 4 == 3 else RIGHT[i % 4],
            answer_kind="text" if i % 4 == 3 else "choice",
        )
        for i in range(n)
    )


def written(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def check_of(path: Path, questions: tuple[Item, ...]) -> SubmissionCheck:
    return checked(read_submission(path), questions)


def scored(check: SubmissionCheck, folder: Path, **overrides: object) -> Summary:
    async def work() -> Summary:
        return await score_submission(
            check,
            folder,
            overrides=overrides,
            environment=environment(),
            now=NOW,
            on_event=lambda event: None,
        )

    return anyio.run(work)


def values_of(folder: Path) -> dict[str, float]:
    """The mean score of each question of a run that has one."""
    found = ScoredQuestions.of(load_run(folder).rows)
    return dict(zip((item.item_id for item in found.items), found.values.tolist(), strict=True))


def test_each_fault_is_counted_and_its_first_five_lines_are_named(tmp_path):
    rows: list[dict[str, object]] = [{"item_id": f"x{i}", "answer": "A"} for i in range(7)]
    rows += [
        {"item_id": "q0", "answer": "B"},
        {"item_id": "q0", "answer": "A"},
        {"item_id": "q1", "answer": "F"},
    ]
    check = check_of(written(tmp_path / "s.jsonl", rows), items())
    assert [len(one) for one in (check.unknown, check.doubled, check.missing, check.outside)] == [7, 1, 6, 1]
    said = "\n".join(check.sentences())
    assert "line 5: 'x4'; and 2 more" in said
    assert "7 unknown ids: line 1: 'x0'; line 2" in check.sentences(is_taken=False)[0]
    assert "7 unknown ids (left out): line 1: 'x0'; line 2: 'x1'" in said
    assert said.count("and 2 more") == 1
    assert "1 id given again (the first line of each counts): line 9: 'q0'" in said
    assert "1 answer outside the options (counted as wrong): line 10: 'q1': 'F', expected A to D" in said
    hidden = tuple(msgspec.structs.replace(item, answer="") for item in items())
    assert check_of(tmp_path / "s.jsonl", hidden).sentences() == check.sentences(), (
        "the answers decide nothing"
    )


def test_a_clean_submission_is_scored_with_its_interval(tmp_path):
    rows: list[dict[str, object]] = [{"item_id": one.item_id, "answer": one.answer} for one in items()]
    rows[0]["answer"], rows[1]["answer"] = "D", " red"  # wrong; the text of the right choice
    check = check_of(written(tmp_path / "s.jsonl", rows), items())
    assert check.is_clean
    scored(check, tmp_path / "run")
    assert values_of(tmp_path / "run") == {"q0": 0.0} | {f"q{i}": 1.0 for i in (1, 2, 4, 5, 6)}
    estimate = open_run(tmp_path / "run").accuracy
    assert estimate is not None
    assert (estimate.value, estimate.n, estimate.n_clusters) == (5 / 6, 6, 4)
    with pytest.raises(StoreError, match="holds a run already; choose another --out"):
        scored(check, tmp_path / "run")


def test_the_submitted_answer_counts_whatever_its_reply_says(tmp_path):
    rows: list[dict[str, object]] = [
        {"item_id": "q0", "answer": "A", "reply": "The answer is B."},
        {"item_id": "q1", "answer": "", "reply": "The answer is A."},
        {"item_id": "q2", "answer": "D", "reply": ""},
    ]
    check = check_of(written(tmp_path / "s.jsonl", rows), items(3))
    scored(check, tmp_path / "run")
    assert values_of(tmp_path / "run") == {"q0": 0.0, "q1": 1.0, "q2": 1.0}


def test_what_is_missing_outside_or_empty_counts_as_wrong_with_a_judge_too(tmp_path):
    rows: list[dict[str, object]] = [
        {"item_id": "q0", "answer": "E"},
        {"item_id": "q1", "answer": ""},
        {"item_id": "q3", "answer": "a blue bus"},
    ]
    check = check_of(written(tmp_path / "s.jsonl", rows), items(8))
    summary = scored(check, tmp_path / "run", judge="rule-first", judge_models=("scripted:no",))
    assert values_of(tmp_path / "run") == {"q3": 1.0} | {f"q{i}": 0.0 for i in (0, 1, 2, 4, 5, 6, 7)}
    assert summary.n_judge_errors == 0


def test_a_table_of_the_users_own_is_read_and_repeats_are_averaged(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("item_id,answer,repeat,team\nq0,B,0,x\nq0,A,1,x\nq1,A,0,x\nq1,,1,x\n")
    check = check_of(path, items(2))
    assert check.n_repeats == 2
    assert check.is_clean
    scored(check, tmp_path / "run")
    assert values_of(tmp_path / "run") == {"q0": 0.5, "q1": 0.5}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (
            '{"item_id": "q0", "answer": "A"}\n{"item_id": "q1"}\n',
            "line 2: answer: no such column; found 'item_id'",
        ),
        ('{"item_id": "", "answer": "A"}', "line 1: item_id: empty"),
        ('{"item_id": "q0", "answer": ["A"]}', "line 1: answer: list found; expected a text"),
        ('{"item_id": "q0", "answer": "A", "repeat": 100}', "line 1: repeat: Expected `int` <= 99"),
        ("nonsense", "line 1: JSON"),
    ],
)
def test_rows_that_are_no_answer_are_refused_with_their_line(tmp_path, content, says):
    path = tmp_path / "s.jsonl"
    path.write_text(content)
    with pytest.raises(DataError) as caught:
        read_submission(path)
    assert says in str(caught.value)


def test_a_submission_to_other_questions_is_refused(tmp_path):
    check = check_of(written(tmp_path / "s.jsonl", [{"item_id": "x", "answer": "A"}]), items(2))
    with pytest.raises(DataError, match="answers none of the 2 questions; check its ids"):
        scored(check, tmp_path / "run")
    with pytest.raises(DataError, match=r"has no submission\.jsonl"):
        read_submission(tmp_path)
