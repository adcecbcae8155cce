"""``vidence stats power``: sentences before a run."""

import json

import pytest


def test_a_plan_in_sentences(vidence):
    said = vidence(
        *("stats", "power", "--items", "1000", "--videos", "200", "--accuracy", ".5"),
        *("--correlation", "0", "--icc", ".25", "--difference", ".1"),
    ).out
    # Five questions a video: design effect 1 + 4 * 0.25 = 2, so 500 independent questions. Two runs that
    # are right half the time and independently differ on half of the questions.
    assert "they count as 500 independent questions" in said
    assert "differ on 50.0 % of the questions" in said
    # (1.972 + 0.843) * sqrt((0.5 - 0.088 ** 2) / 500) = 8.8 points: t quantiles of 199 degrees of freedom.
    assert "on the same questions: 8.8 points" in said
    assert "A difference of 10 points is detected with power 0.8" in said


def test_the_correlation_is_not_the_most_hopeful_one_and_is_said(vidence):
    command = ("stats", "power", "--items", "50", "--videos", "5", "--accuracy", ".5")
    said = vidence(*command).out
    assert "correlation within a video 0.10: they count as 26 independent questions" in said
    assert "The correlation is assumed: 0.1 is the largest of pairs of models on three benchmarks" in said
    assert "assumed" not in vidence(*command, "--icc", "0").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--accuracy", ".5"), "give the number of questions with --items"),
        (("--items", "10"), "give the expected accuracy"),
        (("--items", "10", "--accuracy", ".9", "--difference", ".2"), "cannot grow by 20 points"),
        (("--items", "10", "--accuracy", "50"), "not in the range"),
        (("--items", "10", "--videos", "20", "--accuracy", ".5"), "10 items on 20 videos"),
        (("--run", "nowhere"), "nowhere is not a run folder"),
    ],
)
def test_what_cannot_be_planned_is_refused(vidence, words, message):
    done = vidence("stats", "power", *words)
    assert done.code == 2
    assert message in done.err


def test_a_run_is_planned_by_its_sources(vidence):
    lines = [
        {"item_id": f"q{i}", "media": [{"path": f"v{i}.mp4"}], "source_id": f"film{i // 4}", "question": "?"}
        | {"choices": ["yes", "no"], "answer": "A"}
        for i in range(40)
    ]
    (vidence.folder / "q.jsonl").write_text("\n".join(map(json.dumps, lines)))
    said = [{"item_id": f"q{i}", "text": "AB"[i // 4 % 2]} for i in range(40)]
    (vidence.folder / "r.jsonl").write_text("\n".join(map(json.dumps, said)))
    run = vidence("run", "table", "--data", "q.jsonl", "--model", "replay:r.jsonl", "--out", "r", "--no-page")
    assert "clustered by source; 40 questions on 10 sources" in " ".join(run.out.split())
    found = vidence("stats", "power", "--run", "r").out
    assert "40 questions on 10 sources, correlation within a source 1.00: they count as 10" in found
