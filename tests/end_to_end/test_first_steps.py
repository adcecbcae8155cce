"""What newcomers do first: own questions, recorded answers, judges, a comparison, the browser."""

import csv
import json
import re
import signal
import urllib.request
from pathlib import Path

import pytest

from servers.openai_stub import OpenAIStub
from vidence import catalog

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


QUESTION = {
    "item_id": "q1",
    "media": [{"path": "kitchen.mp4"}],
    "question": "What is put into the pan first?",
    "choices": ["oil", "onions", "rice"],
    "answer": "A",
}
OWN = ("run", "table", "--data", "questions.jsonl", "--model")
MODEL = (*OWN, "openai:gpt-4.1", "--frames", "16")
JUDGED = ("--judge", "rule-first", "--judge-model", "openai:gpt-4.1")


def run_folder(vidence) -> str:
    """The run folder that a command without --out made."""
    (folder,) = (vidence.folder / "runs").iterdir()
    return f"runs/{folder.name}"


@pytest.fixture
def kitchen(vidence, questions):
    """The command line in a folder with a question and its video."""
    questions(clips=["kitchen.mp4"], n_questions=1)
    (vidence.folder / "questions.jsonl").write_text(json.dumps(QUESTION) + "\n", encoding="utf-8")
    return vidence


def test_own_questions_are_asked_and_the_report_is_written(kitchen):
    with OpenAIStub(answer="Answer: A") as server:
        kitchen.env["OPENAI_BASE_URL"] = server.base_url
        done = kitchen(*MODEL)
        (asked,) = server.requests
    assert done.code == 0, done.err
    images = [part for part in asked.body["messages"][-1]["content"] if part["type"] == "image_url"]
    assert len(images) == 16
    assert "Accuracy 100.0 %" in done.out
    folder = run_folder(kitchen)
    page = (kitchen.folder / folder / "report.html").read_text(encoding="utf-8")
    assert str(QUESTION["question"]) in page
    assert "Accuracy 100.0 %" in kitchen("report", folder).out


def test_recorded_answers_need_neither_media_nor_model(vidence):
    questions = {"item_id": "q2", **{k: v for k, v in QUESTION.items() if k != "item_id"}}
    lines = [json.dumps(QUESTION), json.dumps(questions)]
    (vidence.folder / "questions.jsonl").write_text("\n".join(lines), encoding="utf-8")
    recorded = [{"item_id": "q1", "text": "onions"}, {"item_id": "q2", "text": "A man pours oil."}]
    (vidence.folder / "answers.jsonl").write_text("\n".join(map(json.dumps, recorded)), encoding="utf-8")
    done = vidence(*OWN, "replay:answers.jsonl")
    assert done.code == 0, done.err
    folder = run_folder(vidence)
    assert vidence("report", folder, "--csv", "trials.csv").code == 0
    with (vidence.folder / "trials.csv").open(newline="", encoding="utf-8") as file:
        rows = [
            (r["item_id"], r["parser"], r["outcome"], r["read"], r["correct"]) for r in csv.DictReader(file)
        ]
    assert rows == [("q1", "robust", "answered", "B", "0"), ("q2", "robust", "unreadable", "", "0")]
    loose = vidence("report", folder, "--parser", "herbench-official")
    assert "Accuracy 50.0 %" in loose.out


def two_runs(vidence, answers: dict[str, list[str]]) -> None:
    """Two runs with these answers recorded, in turn, for eight questions."""
    release = [
        {
            "id": f"validation_{i}",
            "video": f"https://example.org/videos/Art/{i}.mp4",
            "question_type": "open-ended",
            "metadata": {"subject": "Art"},
            "question": f"What is shown in {i}?",
            "choices": dict.fromkeys("ABCDE", ""),
            "answer": "a red car",
        }
        for i in range(8)
    ]
    (vidence.folder / "validation.json").write_text(json.dumps(release), encoding="utf-8")
    for name, said in answers.items():
        rows = [{"item_id": f"validation_{i}", "text": said[i % len(said)]} for i in range(8)]
        (vidence.folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        done = vidence(
            *("run", "mmvu", "--data", "validation.json", "--model", f"replay:{name}.jsonl"),
            *("--out", f"runs/{name}"),
        )
        assert done.code == 0, done.err
        assert "Waiting for a judge" in done.out


def test_open_answers_are_judged_afterwards_and_two_runs_compared(vidence):
    two_runs(vidence, {"mmvu-qwen": ["a blue dog"], "mmvu-gpt": ["A red car.", "some vehicle"]})

    def verdict(body):
        marked = re.search(r'<reply id=\\"(\w+)', json.dumps(body))[1]
        said = {"extracted_answer": "a vehicle", "reason": "not the same", "correct": False}
        return json.dumps({"id": marked} | said)

    with OpenAIStub(answer=verdict) as server:
        vidence.env["OPENAI_BASE_URL"] = server.base_url
        judged = vidence("replies", "judge", "runs/mmvu-qwen", *JUDGED)
        assert (judged.code, server.n_requests) == (0, 8), judged.err
        other = vidence("replies", "judge", "runs/mmvu-gpt", *JUDGED)
    assert "Accuracy 0.0 %" in judged.out
    assert server.n_requests == 12  # what equals the right answer needs no judge
    assert "Accuracy 50.0 %" in other.out
    compared = vidence("compare", "runs/mmvu-qwen", "runs/mmvu-gpt")
    assert compared.code == 0, compared.err
    assert "50.0 points above" in " ".join(compared.out.split())


def opened(vidence, *words: str) -> str:
    """The page behind the address that a command prints; the command ends with it."""
    vidence.env.update(BROWSER="true", PYTHONUNBUFFERED="1")
    server = vidence.start(*words)
    try:
        said = next(line for line in server.stdout if "ticket=" in line)
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with browser.open(said.split(": ", 1)[1].strip()) as page:
            return page.read().decode()
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=60)


def test_runs_and_the_demonstration_open_in_a_browser(kitchen):
    with OpenAIStub(answer="Answer: A") as server:
        kitchen.env["OPENAI_BASE_URL"] = server.base_url
        kitchen(*MODEL, "--out", "runs/mine")
    assert "runs/mine" in opened(kitchen, "view", "runs")
    assert "Demonstration" in opened(kitchen, "studio")


def test_the_number_of_benchmarks_is_right():
    not_released = {"table", "toml", "phantom"}
    assert f"{len({*catalog.names('benchmark')} - not_released)} benchmarks are built in" in README
