"""Diagnostics on what is not as they would like it: said in the findings, counted, and never guessed."""

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from end_to_end.conftest import write_clip
from servers.openai_stub import OpenAIStub
from subjects.command_line import Done

Rewrite = Callable[[list[dict]], None]


def diagnose(vidence, name: str, server: OpenAIStub, *more: str, frames: int = 4) -> tuple[Done, dict]:
    model = f"openai:m?base_url={server.base_url}"
    fixed = ["--data", "questions.jsonl", "--model", model, "--frames", str(frames), "--no-page"]
    done = vidence("diagnose", name, "table", *fixed, "--json", "found.json", *more)
    found = vidence.folder / "found.json"
    return done, json.loads(found.read_text()) if found.exists() else {}


def findings(found: dict) -> dict[str, dict]:
    return {one["item_id"]: one["finding"] for one in found["findings"]}


def sheet(found: dict, name: str) -> dict[str, list]:
    """The values of each line of a sheet."""
    (one,) = [s for s in found["statements"] if s["kind"] == "sheet" and s["name"] == name]
    return {entry["key"]: entry["values"] for entry in one["entries"]}


@pytest.fixture
def items(vidence, questions) -> Callable[..., Path]:
    """Write questions about one clip; the function given may change them."""

    def make(n: int, change: Rewrite = lambda lines: None) -> Path:
        path = questions(n_clips=1, n_questions=n)
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        change(lines)
        path.write_text("\n".join(map(json.dumps, lines)))
        return path

    return make


def test_a_question_without_probabilities_is_left_out_and_that_is_said(vidence, items):
    items(1)
    with OpenAIStub(answer="A", letter_logps=None) as server:
        done, found = diagnose(vidence, "frame-shares", server, "--set", "view=plan", "--out", "r", frames=2)
        assert server.n_requests == 3  # with both frames and without each
    assert done.code == 0, done.err
    finding = findings(found)["0-0"]
    assert finding["excluded"] == "no log-probabilities"
    assert "have none of a choice letter" in finding["why"]


def test_a_question_with_more_choices_than_letters_is_left_out(vidence, items):
    def many(lines: list[dict]) -> None:
        lines[1] |= {"choices": [f"number {i}" for i in range(27)], "answer": "number 3"}

    items(2, many)
    with OpenAIStub(answer="A", letter_logps={"A": -0.1, "B": -3.0, "C": -3.0}) as server:
        done, found = diagnose(vidence, "frame-shares", server, "--set", "view=plan", "--out", "r")
    assert done.code == 3, done.err  # one was left out
    assert "choices: 27 found; expected 2 to 26" in " ".join(done.err.split())
    assert set(findings(found)) == {"0-0"}


def test_answers_that_change_are_counted(vidence, items):
    items(4)
    seen: dict[str, int] = {}
    lock = threading.Lock()

    def answer(body: dict) -> str:
        """The same prompt gets another answer the second time, for two of the four questions."""
        words = json.dumps(body["messages"])
        with lock:
            seen[words] = seen.get(words, 0) + 1
            is_second = seen[words] == 2
        return "C" if is_second and ("Question 0" in words or "Question 2" in words) else "B"

    with OpenAIStub(answer=answer) as server:
        done, found = diagnose(vidence, "mrfs", server, "--set", "check_repeat=true", "--out", "r")
    assert done.code == 0, done.err
    assert {name: one["is_changed"] for name, one in findings(found).items()} == {
        "0-0": True, "0-1": False, "0-2": True, "0-3": False,
    }  # fmt: skip
    (named,) = [s for s in found["statements"] if "changed" in {e["key"] for e in s.get("entries", ())}]
    (changed,) = [e for e in named["entries"] if e["key"] == "changed"]
    shares = [v["value"] for v in changed["values"] if isinstance(v, dict)]
    assert shares == [0.5]


def test_a_video_of_one_frame_has_one_frame_to_give(vidence, items):
    items(1)
    write_clip(vidence.folder / "clip0.mp4", n_frames=1)

    def answer(body: dict) -> str:
        return "A" if "image_url" in json.dumps(body["messages"]) else "B"

    with OpenAIStub(answer=answer) as server:
        done, found = diagnose(vidence, "mrfs", server, "--out", "m", frames=16)
        assert done.code == 0, done.err
        finding = findings(found)["0-0"]
        assert (finding["category"], finding["mrfs"], finding["n_delivered"]) == ("visual-required", 1, 1)
        done, found = diagnose(vidence, "modality", server, "--out", "o", frames=16)
        assert done.code == 0, done.err
        marks = findings(found)["0-0"]["marks"]
        assert {name: marks[name][0]["value"] for name in ("text", "central", "full")} == {
            "text": 0.0, "central": 1.0, "full": 1.0,
        }  # fmt: skip
        done, found = diagnose(vidence, "frame-shares", server, "--set", "view=plan", "--out", "s")
        assert done.code == 0, done.err
        assert findings(found)["0-0"]["excluded"] == "fewer than two frames"


def test_questions_without_evidence_are_refused_or_filled_as_asked(vidence, items):
    def one_annotated(lines: list[dict]) -> None:
        lines[0]["evidence"] = [{"start_s": 1.0, "end_s": 2.0}]

    items(2, one_annotated)
    with OpenAIStub(answer="A") as server:
        done, found = diagnose(vidence, "mrfs", server, "--selector", "oracle", "--out", "refused")
        refused = findings(found)["0-1"]
        assert (refused["stage"], refused["error"]) == ("selection", "DataError")
        assert "has no annotated evidence" in refused["message"]
        assert findings(found)["0-0"]["category"] != "error"
        done, found = diagnose(vidence, "mrfs", server, "--selector", "oracle:fill", "--out", "filled")
        assert done.code == 0, done.err
        assert findings(found)["0-1"]["n_delivered"] == 16  # MRFS wants 16 whatever the plan's budget


def test_scores_that_say_nothing_give_a_ranking_spread_over_the_video(vidence, items):
    items(1)
    (vidence.folder / "s.json").write_text(json.dumps({"0-0": [0.25] * 8}))
    shown: list[int] = []

    def answer(body: dict) -> str:
        shown.append(json.dumps(body["messages"]).count("image_url") // 2)
        return "B"

    selector = "similarity?scores=s.json&grid=uniform:8"
    with OpenAIStub(answer=answer) as server:
        done, found = diagnose(
            vidence, "mrfs", server, "--selector", selector, "--set", "mode=exhaustive", "--out", "r"
        )
    assert done.code == 0, done.err
    finding = findings(found)["0-0"]
    assert finding["n_delivered"] == 8  # sixteen were wanted, eight were scored
    assert sorted(finding["asked"]) == list(range(9))


def test_lines_left_out_and_shared_sources_are_said(vidence, questions):
    path = questions(n_clips=2, n_questions=1)
    lines = [json.loads(line) | {"source_id": "film"} for line in path.read_text().splitlines()]
    path.write_text("\n".join([*map(json.dumps, lines), '{"item_id": "bad"}']))
    with OpenAIStub(answer="Answer: A") as server:
        done, _ = diagnose(vidence, "modality", server, "--out", "r")
    assert done.code == 3, done.err
    said = " ".join(done.out.split())
    assert "Left out when the questions were read, and in no figure: 1 line beside 2 questions" in said
    assert "Intervals are clustered by source: the questions are about 1 source." in said
