"""What the README shows, done as it stands there: only addresses and names of files are the test's."""

import csv
import json
import re
import shlex
import shutil
import signal
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from servers.openai_stub import OpenAIStub
from subjects.planted_kitchens import log_of, plan_kitchen
from subjects.streets import plan_street, write_street

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SAMPLE = ROOT / "tests" / "golden" / "perceptioncomp" / "1-1114.json"


def blocks(language: str) -> list[str]:
    """The fenced blocks of the README in that language, or in none."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    return [body for name, body in found if name == language]


def commands() -> list[str]:
    """The lines in blocks that start with ``vidence``, continued lines joined."""
    lines = [line for block in blocks("") for line in block.replace("\\\n", " ").splitlines()]
    return [line for line in lines if line.startswith("vidence ")]


def command(*needles: str) -> list[str]:
    """The words of the one command that holds all of these, without ``vidence``."""
    (found,) = (line for line in commands() if all(needle in line for needle in needles))
    return shlex.split(found)[1:]


def own_question() -> dict[str, object]:
    """The question that the README shows."""
    (block,) = blocks("json")
    return json.loads(block)


def run_folder(vidence) -> str:
    """The run folder that a command without --out made."""
    (folder,) = (vidence.folder / "runs").iterdir()
    return f"runs/{folder.name}"


@pytest.fixture
def kitchen(vidence, questions):
    """The command line in a folder with the question of the README and its video."""
    questions(clips=["kitchen.mp4"], n_questions=1)
    (vidence.folder / "questions.jsonl").write_text(json.dumps(own_question()) + "\n", encoding="utf-8")
    return vidence


def test_a_benchmark_is_put_to_a_server(vidence, questions):
    videos = sorted({f"{row['video_id']}.mp4" for row in json.loads(SAMPLE.read_text("utf-8"))})
    questions(clips=videos, n_questions=1)
    release = vidence.folder / "PerceptionComp"
    (release / "benchmark" / "annotations").mkdir(parents=True)
    (release / "data").mkdir()
    shutil.copy(SAMPLE, release / "benchmark" / "annotations")
    for video in videos:
        shutil.move(vidence.folder / video, release / "data")
    words = command("run perceptioncomp", "base_url=")
    with OpenAIStub(answer="<think>I look.</think>\n<answer>C</answer>") as server:
        done = vidence(*(re.sub(r"base_url=\S+", f"base_url={server.base_url}", word) for word in words))
        n_asked = server.n_requests
        assert {request.body["model"] for request in server.requests} == {"Qwen2.5-VL-7B-Instruct"}
        again = vidence(*(re.sub(r"base_url=\S+", f"base_url={server.base_url}", word) for word in words))
        resumed = vidence("resume", run_folder(vidence))
        assert server.n_requests == n_asked
    assert (done.code, again.code, resumed.code) == (0, 0, 0), done.err + again.err + resumed.err
    trials = vidence.trials(run_folder(vidence))
    assert {t.score.outcome.answer for t in trials.values()} == {"C"}
    rows = json.loads(SAMPLE.read_text("utf-8"))
    assert len(trials) == len(rows)
    assert n_asked == len({(row["video_id"], row["question"]) for row in rows}), (
        "a repeated question is sent once"
    )


def test_own_questions_are_asked_and_the_report_is_written(kitchen):
    question = own_question()
    with OpenAIStub(answer="Answer: A") as server:
        kitchen.env["OPENAI_BASE_URL"] = server.base_url
        done = kitchen(*command("run table", "openai:"))
        (asked,) = server.requests
    assert done.code == 0, done.err
    images = [part for part in asked.body["messages"][-1]["content"] if part["type"] == "image_url"]
    assert len(images) == 16
    assert "Accuracy 100.0 %" in done.out
    folder = run_folder(kitchen)
    page = (kitchen.folder / folder / "report.html").read_text(encoding="utf-8")
    assert str(question["question"]) in page
    assert "Accuracy 100.0 %" in kitchen("report", folder).out


def test_recorded_answers_need_neither_media_nor_model(vidence):
    questions = {"item_id": "q2", **{k: v for k, v in own_question().items() if k != "item_id"}}
    lines = [json.dumps(own_question()), json.dumps(questions)]
    (vidence.folder / "questions.jsonl").write_text("\n".join(lines), encoding="utf-8")
    recorded = [{"item_id": "q1", "text": "onions"}, {"item_id": "q2", "text": "A man pours oil."}]
    (vidence.folder / "answers.jsonl").write_text("\n".join(map(json.dumps, recorded)), encoding="utf-8")
    done = vidence(*command("run table", "replay:"))
    assert done.code == 0, done.err
    folder = run_folder(vidence)
    assert "`vidence report DIR --csv trials.csv`" in README
    assert vidence("report", folder, "--csv", "trials.csv").code == 0
    with (vidence.folder / "trials.csv").open(newline="", encoding="utf-8") as file:
        rows = [
            (r["item_id"], r["parser"], r["outcome"], r["read"], r["correct"]) for r in csv.DictReader(file)
        ]
    assert rows == [("q1", "robust", "answered", "B", "0"), ("q2", "robust", "unreadable", "", "0")]
    assert "`--parser NAME`" in README
    loose = vidence("report", folder, "--parser", "herbench-official")
    assert "Accuracy 50.0 %" in loose.out


def two_runs(vidence, answers: dict[str, list[str]]) -> None:
    """The runs that the README names, with these answers recorded, in turn, for eight questions."""
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
        words = command("judge")
        judged = vidence(*words)
        assert (judged.code, server.n_requests) == (0, 8), judged.err
        other = vidence(*(word.replace("mmvu-qwen", "mmvu-gpt") for word in words))
    assert "Accuracy 0.0 %" in judged.out
    assert server.n_requests == 12  # what equals the right answer needs no judge
    assert "Accuracy 50.0 %" in other.out
    compared = vidence(*command("compare"))
    assert compared.code == 0, compared.err
    assert "50.0 points above" in " ".join(compared.out.split())


def test_a_diagnosis_says_how_many_frames_are_demanded(kitchen):
    with OpenAIStub(answer="Answer: A") as server:
        kitchen.env["OPENAI_BASE_URL"] = server.base_url
        kitchen(*command("run table", "openai:"), "--out", "runs/mmvu-qwen")
        done = kitchen(*command("diagnose"))
    assert done.code == 0, done.err
    # Whoever always says A is right without any frame: nothing is demanded.
    assert re.search(r"text-only\S*.*100\.0", done.out)
    assert (kitchen.folder / "runs" / "mmvu-qwen" / "diagnostics" / "mrfs.html").exists()


def test_questions_are_made_from_a_log(vidence):
    kitchens = [plan_kitchen(f"kitchen-{n}", rng=np.random.default_rng(n)) for n in range(3)]
    (vidence.folder / "log.csv").write_text(log_of(kitchens), encoding="utf-8")
    (config,) = blocks("toml")
    (vidence.folder / "kitchens.toml").write_text(config, encoding="utf-8")
    done = vidence(*command("make herbench"))
    assert done.code == 0, done.err
    made = vidence.folder / "made" / "kitchens"
    tasks = {json.loads(line)["tags"]["task"] for line in (made / "items.jsonl").read_text().splitlines()}
    assert tasks == {"AC", "ASII"}
    assert (made / "report.html").exists()


def test_people_are_followed(vidence):
    street = plan_street("street", looks=range(3), rng=np.random.default_rng(2))
    write_street(street, vidence.folder)
    done = vidence(*command("track street.mp4"))
    assert done.code == 0, done.err
    assert "3 tracks" in done.out


def test_points_of_light_are_shown_made_and_asked(vidence):
    done = vidence(*command("pointlight walker:"))
    assert done.code == 0, done.err
    assert (vidence.folder / "jump" / "clip.mp4").exists()
    rows = ["label,set,intention,group,file"]
    for n, action in enumerate(("walk", "jump", "wave", "bow")):
        for height in (1.6, 1.8):
            rows.append(f"{action},single,to {action},group-{n},walker:{action}?height_m={height}")
    (vidence.folder / "map.csv").write_text("\n".join(rows), encoding="utf-8")
    (vidence.folder / "lights.toml").write_text('name = "lights"\nmap = "map.csv"\n', encoding="utf-8")
    made = vidence(*command("make actpld"))
    assert made.code == 0, made.err
    asked = vidence(*command("run actpld"))
    assert asked.code == 0, asked.err
    assert len(vidence.trials(run_folder(vidence))) == 16  # 8 clips: the action, and what it is for


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
        kitchen(*command("run table", "openai:"), "--out", "runs/mine")
    assert "runs/mine" in opened(kitchen, *command("view"))
    assert "Demonstration" in opened(kitchen, *command("studio"))


def test_every_command_is_tested():
    assert len(commands()) == 15  # each one is in a test above, or in test_get.py: add a test with a command
