"""Wrong input gets one clear message and loses nothing; no traceback ever reaches the user."""

import json
import re

import pytest

from servers.openai_stub import OpenAIStub
from vidence.records import Answered, Failed
from videos.hostile import with_edits
from videos.soundtrack import sound


def model(server: OpenAIStub) -> str:
    return f"openai:m?base_url={server.base_url}"


RUN = ["run", "table", "--data", "questions.jsonl", "--no-page", "--out", "r", "--model"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "perceptioncmp", "--data", "x", "--model", "scripted:A"], "Did you mean 'perceptioncomp'"),
        ([*RUN, "scripted:A", "--selector", "midpoint"], "Did you mean 'midpoints'"),
        ([*RUN, "openai:x?basurl=http://localhost:1"], "Did you mean 'base_url'"),
        ([*RUN, "scripted:A", "--size", "small"], "short:720"),
        ([*RUN, "scripted:A", "--limit", "2", "--sample", "2"], "exclude each other"),
        ([*RUN, "scripted:A", "--where", "tusk=t0"], "tags are: task"),
        ([*RUN, "scripted:A", "--where", "task=t0", "--where", "task=t1"], "gives 'task' twice"),
        ([*RUN, "scripted:A", "--recorded-only"], "replay:FILE"),
        ([*RUN, "replay:absent.jsonl"], "absent.jsonl"),
        (
            ["report", "questions.jsonl"],
            "questions.jsonl is a file; give the folder that `vidence run` wrote",
        ),
        (["demo", "--out", "questions.jsonl/out"], "questions.jsonl/out, or one above it, is a file"),
        (
            [*RUN, "baseline:constant?letter=Q"],
            "always says Q, and no question has that choice: the choices are A to C",
        ),
        ([*RUN, "scripted:A", "--judge", "rule-first"], "needs a judge model; add --judge-model"),
        (
            ["run", "table", "--data", "https://x/q.jsonl", "--model", "scripted:A"],
            "https://x/q.jsonl is an address; fetch the file",
        ),
        (["list", "benchmark"], "Did you mean 'benchmarks'"),
        (["videos", "track", "questions.jsonl", "--tracker", "srot"], "Did you mean 'sort'"),
        (["rum"], "Did you mean 'run'"),
    ],
)
def test_a_wrong_command_says_what_would_be_right(vidence, questions, words, message):
    questions(n_clips=1)
    done = vidence(*words)
    assert done.code == 2, (done.out, done.err)
    assert message in done.err
    assert "Traceback" not in done.err


def test_names_that_look_like_markup_are_shown_as_they_are(vidence, questions):
    questions(n_clips=1, n_questions=1)
    spec, folder = "scripted:A [/red] [bold]x", "r[dim]z[/]"
    done = vidence("run", "table", "--data", "questions.jsonl", "--model", spec, "--out", folder, "--no-page")
    assert done.code == 0, done.err
    assert f"table · {spec} · {folder}" in done.err
    again = vidence("resume", folder)
    assert f"wrote {folder}/report.html" in again.err
    third = vidence("resume", folder)
    assert f"see vidence report '{folder}'" in third.err
    found = vidence("diagnose", "mrfs", folder, "--no-page")
    assert f"mrfs · {spec} · {folder}" in found.err
    refused = vidence("diagnose", "mrfs", folder, "--protocol", "own", "--frames", "3")
    assert "leave out --frames, --protocol" in refused.err


def test_bad_lines_are_listed_and_the_good_ones_asked(vidence, questions):
    path = questions(n_clips=1, n_questions=2)
    good = path.read_text()
    bad = [
        '{"item_id": "x1", "question": "?", ',
        json.dumps({"item_id": "x2", "question": "?", "choices": ["a", "b"], "answer": "z"}),
        json.dumps({"item_id": "0-0", "question": "?", "choices": ["a", "b"], "answer": "A"}),
        json.dumps({"item_id": "x3", "question": "?", "choises": ["a", "b"], "answer": "A"}),
    ]
    path.write_text("\n".join([good, *bad]))
    done = vidence(*RUN, "baseline:constant?letter=A")
    assert done.code == 3, done.err  # lines were left out
    assert set(vidence.trials("r")) == {"0-0", "0-1"}
    for number in (3, 4, 5, 6):
        assert re.search(rf"questions\.jsonl:{number}:", done.err), done.err
    strict = vidence(*RUN[:-2], "r2", "--model", "baseline:constant?letter=A", "--strict")
    assert strict.code == 2
    assert "questions.jsonl:3" in strict.err


def test_missing_media_are_listed_before_anything_is_asked(vidence, questions):
    questions(n_clips=2, n_questions=2)
    (vidence.folder / "clip1.mp4").unlink()
    with OpenAIStub(answer="A") as server:
        done = vidence(*RUN, model(server))
        assert done.code == 2
        assert "1 video is missing, which 2 of 4 questions need:" in done.err
        assert "clip1.mp4\n" in done.err
        assert "--allow-missing" in done.err
        assert server.n_requests == 0
        allowed = vidence(*RUN, model(server), "--allow-missing")
        assert allowed.code == 3, allowed.err
        assert server.n_requests == 2


def test_a_bad_video_fails_its_own_questions_and_no_others(vidence, questions):
    bad = {
        "empty.mp4": "is empty",
        "text.mp4": "is text",
        "cut.mp4": "cut.mp4",
        "sound.mp4": "holds only audio",
        "no-frames.mkv": "holds no frame",
        "list.mp4": "is a list of files (ffconcat), which names other files",
        "edits.mp4": "1,100 edits, more than 1,000",
    }
    (vidence.folder / "list.mp4").write_text("ffconcat version 1.0\nfile clip0.mp4\n")
    (vidence.folder / "empty.mp4").write_bytes(b"")
    sound(vidence.folder / "sound.mp4")
    sound(vidence.folder / "no-frames.mkv", with_video=True)
    (vidence.folder / "text.mp4").write_text("this is not a video\n" * 50)
    questions(n_clips=1)
    whole = (vidence.folder / "clip0.mp4").read_bytes()
    (vidence.folder / "cut.mp4").write_bytes(whole[: len(whole) // 3])
    (vidence.folder / "edits.mp4").write_bytes(with_edits(whole, 1_100))
    questions(clips=["clip0.mp4", *bad], n_questions=1)
    with OpenAIStub(answer="Answer: A") as server:
        done = vidence(*RUN, model(server))
        assert server.n_requests == 1
    assert done.code == 3, done.err
    assert "Traceback" not in done.err
    trials = vidence.trials("r")
    assert isinstance(trials["0-0"].score.outcome, Answered)
    for number, (name, reason) in enumerate(bad.items(), start=1):
        outcome = trials[f"{number}-0"].score.outcome
        assert isinstance(outcome, Failed), name
        assert outcome.stage == "media"
        assert name in outcome.message
        assert reason in outcome.message
        assert name in done.err


def test_a_server_that_is_down_ends_the_run_with_what_to_do(vidence, questions):
    questions(n_clips=2, n_questions=10)
    flags = ("--set", "attempts=2", "--concurrency", "2", "--patience", "2s")
    done = vidence(*RUN, "openai:m?base_url=http://127.0.0.1:9/v1", *flags)
    assert done.code == 2
    assert "no answer: trying on for 0:0" in done.err
    assert "no request has succeeded, for" in done.err
    assert "right" not in done.out  # no accuracy of nothing
    assert "127.0.0.1:9" in done.err
    assert "vidence resume" in done.err
    assert "Traceback" not in done.err


def test_a_missing_key_is_all_that_is_said_and_nothing_is_left(vidence, questions):
    questions()
    done = vidence(*RUN, "openai:gpt-4.1")
    assert done.code == 2
    assert "OPENAI_API_KEY is not set" in done.err
    assert "did not finish" not in done.err
    assert not (vidence.folder / "r").exists()
    assert vidence(*RUN, "baseline:constant").code == 0
    kept = vidence("replies", "judge", "r", "--judge-model", "openai:gpt-4.1", "--judge", "mmvu-official")
    assert kept.code == 2
    assert vidence("report", "r").code == 0


def test_work_that_did_not_begin_is_not_said_to_be_kept(vidence, questions):
    questions(n_clips=1)
    (vidence.folder / "bad.toml").write_text("nosuch = 1\n")
    (vidence.folder / "broken.toml").write_text("a = [\n")
    assert vidence(*RUN, "baseline:constant").code == 0
    for words, message in (
        (["make", "herbench", "bad.toml"], "bad.toml:1: there is no setting 'nosuch'"),
        (["make", "herbench", "broken.toml"], "broken.toml is not TOML"),
        (
            ["replies", "judge", "r", "--judge-model", "scripted:A", "--judge", "NOPE"],
            "there is no judge named 'NOPE'",
        ),
    ):
        done = vidence(*words)
        assert done.code == 2
        assert message in done.err
        assert "kept" not in done.err


def test_a_message_that_ends_in_a_question_has_no_second_stop(vidence, questions):
    questions(n_clips=1)
    away = ("openai:m?base_url=http://127.0.0.1:9/v1", "--patience", "1s")
    done = vidence("diagnose", "modality", "table", "--data", "questions.jsonl", "--model", *away)
    assert done.code == 2
    assert "is base_url right? Check the server" in done.err


def test_a_wrong_key_ends_the_run_and_is_never_shown(vidence, questions):
    questions()
    vidence.env["OPENAI_API_KEY"] = "sk-very-secret"
    with OpenAIStub(answer="A", key="right") as server:
        done = vidence(*RUN, model(server))
        assert done.code == 2
        assert "OPENAI_API_KEY" in done.err
        for path in [p for p in vidence.folder.rglob("*") if p.is_file()]:
            assert b"sk-very-secret" not in path.read_bytes(), path
        assert "sk-very-secret" not in done.out + done.err
        vidence.env["OPENAI_API_KEY"] = "right"
        assert vidence("resume", "r", "--no-page").code == 0


def test_two_runs_in_one_folder(vidence, questions):
    questions(n_clips=1)
    assert vidence(*RUN, "baseline:constant?letter=A").code == 0
    other = vidence(*RUN, "baseline:constant?letter=B")
    assert other.code == 2
    assert "holds another run:" in other.err
    assert '"baseline:constant?letter=A" there, "baseline:constant?letter=B" here' in other.err
