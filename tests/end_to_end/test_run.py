"""`vidence run` against a server: what is sent, what is kept, what is never done twice."""

import base64
import csv
import io
import json
import signal
import subprocess
import sys
import time

import numpy as np
from PIL import Image

from servers.openai_stub import Canned, OpenAIStub
from vidence.records import Answered, Failed

RUN = ("run", "table", "--data", "questions.jsonl", "--model")


def model(server: OpenAIStub) -> str:
    return f"openai:m?base_url={server.base_url}"


def sent_images(body: dict[str, object]) -> list[np.ndarray]:
    """The images of a request, decoded."""
    parts = [p for p in body["messages"][0]["content"] if p["type"] == "image_url"]
    contents = [base64.b64decode(p["image_url"]["url"].split(",", 1)[1]) for p in parts]
    return [np.asarray(Image.open(io.BytesIO(c))) for c in contents]


def test_a_run_from_questions_to_tables(vidence, questions):
    questions()
    with OpenAIStub(answer="I think so.\nAnswer: B") as server:
        done = vidence.apart(*RUN, model(server), "--frames", "4", "--out", "r")
    assert done.code == 0, done.err
    assert server.n_requests == 6
    trials = vidence.trials("r")
    assert {t.score.outcome for t in trials.values()} == {
        Answered(answer="B", rule=trials["0-0"].score.outcome.rule)
    }
    assert [t.score.value for t in trials.values()] == [0.0, 1.0, 0.0, 1.0, 0.0, 0.0]
    # 40 frames, 4 equal segments: the middles, at 10 frames per second
    refs = trials["0-0"].selection.frames
    assert [(r.frame_index, round(r.time_s, 3)) for r in refs] == [(5, 0.5), (15, 1.5), (25, 2.5), (35, 3.5)]
    assert trials["0-0"].selection.n_candidates == 40
    # the frames that were sent are those frames: their brightness says which
    body = next(s.body for s in server.requests if "Question 0 about clip 0" in s.raw.decode())
    shades = [round(image.mean()) for image in sent_images(body)]
    assert all(abs(shade - 4 * index) <= 4 for shade, index in zip(shades, (5, 15, 25, 35), strict=True))
    assert "33.3 %" in done.out
    page = (vidence.folder / "r" / "report.html").read_text()
    assert "33.3 %" in page
    assert "Question 0 about clip 0?" in page


def test_nothing_is_asked_twice(vidence, questions):
    questions()
    with OpenAIStub(answer="Answer: A") as server:
        command = [*RUN, model(server), "--no-page"]
        first = vidence(*command, "--out", "one")
        again = vidence(*command, "--out", "one")
        other = vidence(*command, "--out", "two")
        assert (first.code, again.code, other.code) == (0, 0, 0), other.err
        assert server.n_requests == 6
        assert all(t.is_remembered for t in vidence.trials("two").values())
        assert "6 replies taken from the reply memory" in other.err
        fresh = vidence(*command, "--out", "three", "--set", "memory=own.sqlite")
        assert fresh.code == 0
        assert server.n_requests == 12


def test_a_signal_stops_cleanly_and_says_how_to_go_on(vidence, questions):
    questions(n_clips=4, n_questions=10)
    with OpenAIStub(answer="Answer: A", latency_s=0.1) as server:
        words = [*RUN, model(server)]
        process = vidence.start(*words, "--out", "r", "--concurrency", "2", "--no-page")
        deadline = time.monotonic() + 60
        while server.n_requests < 5:
            assert time.monotonic() < deadline, "the run never reached 5 requests"
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        assert process.returncode == 130
        assert "vidence resume r" in err
        assert "Traceback" not in err
        assert vidence("resume", "r", "--no-page").code == 0
    assert len(vidence.trials("r")) == 40


def test_failed_questions_are_counted_as_wrong_and_asked_again(vidence, questions):
    questions(n_clips=1, n_questions=3)
    with OpenAIStub(answer="Answer: A") as server:
        refuse = Canned(status=400, body=b'{"error": {"message": "too many images"}}')
        server.canned.append(refuse)
        done = vidence(*RUN, model(server), "--out", "r", "--concurrency", "1", "--no-page")
        assert done.code == 3
        closing = done.err.splitlines()[-1]
        assert closing.startswith("1 question failed, which counts as wrong: ")
        assert "too many images" in closing
        assert closing.endswith(" Ask again with: vidence resume r")
        failed = [t for t in vidence.trials("r").values() if isinstance(t.score.outcome, Failed)]
        assert [f.score.value for f in failed] == [0.0]
        assert "too many images" in failed[0].score.outcome.message
        assert failed[0].prompt is not None
        assert vidence("resume", "r", "--no-page").code == 0
        assert server.n_requests == 4
    assert all(isinstance(t.score.outcome, Answered) for t in vidence.trials("r").values())


def test_the_spending_limit_ends_the_run_and_resume_goes_on(vidence, questions):
    questions(n_clips=2, n_questions=10)
    with OpenAIStub(answer="Answer: A") as server:
        prices = ["--price-in", "1000", "--price-out", "1000", "--max-cost", "0.05", "--concurrency", "1"]
        words = [*RUN, model(server), "--no-page", "--out", "r"]
        done = vidence(*words, *prices)
        assert done.code == 2
        assert "the limit is 0.05" in done.err
        n_first = server.n_requests
        assert 0 < n_first < 20
        assert len(vidence.trials("r")) == n_first
        assert vidence("resume", "r", "--max-cost", "100", "--no-page").code == 0
        assert server.n_requests == 20


def test_each_video_is_decoded_once_and_not_at_all_when_cached(vidence, questions):
    questions(n_clips=3, n_questions=10)
    with OpenAIStub(answer="Answer: A") as server:
        words = [*RUN, model(server), "--frames", "8", "--no-page", "--out"]
        first, again = (vidence(*words, out) for out in ("one", "two"))
    assert "videos read 3 times, 24 frames decoded" in first.err
    assert "videos read" not in again.err


def test_replay_needs_no_media_and_reports_as_csv(vidence, questions):
    questions(n_clips=1, n_questions=3)
    (vidence.folder / "clip0.mp4").unlink()
    rows = [{"key": "0-0", "said": "Answer: A"}, {"key": "0-1", "said": "no idea"}]
    (vidence.folder / "answers.jsonl").write_text("\n".join(json.dumps(r) for r in rows))
    words = [*RUN, "replay:answers.jsonl?id=key&text=said", "--no-page", "--out", "r"]
    done = vidence(*words)
    assert done.code == 3, done.err  # the third question has no recorded reply
    assert vidence("report", "r", "--csv", "r.csv").code == 0
    with (vidence.folder / "r.csv").open() as file:
        table = list(csv.DictReader(file))
    assert list(table[0])[:7] == ["item_id", "model", "parser", "outcome", "read", "gold", "correct"]
    assert [(r["item_id"], r["outcome"], r["read"], r["gold"], float(r["correct"])) for r in table] == [
        ("0-0", "answered", "A", "A", 1.0),
        ("0-1", "unreadable", "", "B", 0.0),
        ("0-2", "failed", "", "C", 0.0),
    ]
    only = vidence(*words[:-1], "r2", "--recorded-only")
    assert only.code == 0, only.err
    assert set(vidence.trials("r2")) == {"0-0", "0-1"}


def test_whoever_closes_the_pipe_loses_no_file(vidence, questions):
    questions(n_clips=1)
    words = [*RUN, "baseline:longest", "--out", "r"]
    process = vidence.start(*words)
    process.stdout.close()
    assert process.wait(timeout=60) in {0, 1}
    assert "Traceback" not in process.stderr.read()
    process.stderr.close()
    assert (vidence.folder / "r" / "report.html").exists()


def test_a_terminal_that_knows_only_ascii_shows_codes(vidence, questions):
    questions(n_clips=1)
    vidence.env["PYTHONIOENCODING"] = "ascii"
    words = [*RUN, "baseline:longest", "--out", "r"]
    done = vidence.apart(*words)
    assert done.code == 0, done.err
    assert "Accuracy" in done.out


def test_sigterm_stops_a_run_that_ignores_interrupts(vidence, questions):
    """As under nohup, or as a background job of a script."""
    questions(n_clips=4, n_questions=10)
    with OpenAIStub(answer="Answer: A", latency_s=0.1) as server:
        words = [*RUN, model(server), "--out", "r", "--no-page"]
        process = subprocess.Popen(
            [sys.executable, "-m", "vidence", *words, "--concurrency", "2"],
            cwd=vidence.folder,
            env=vidence.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        )
        deadline = time.monotonic() + 60
        for n_requests, sent in ((5, signal.SIGINT), (10, signal.SIGTERM)):
            while server.n_requests < n_requests:
                assert time.monotonic() < deadline, f"the run never reached {n_requests} requests"
                time.sleep(0.02)
            process.send_signal(sent)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "vidence resume r" in err
    assert "Traceback" not in err


def test_lines_without_a_usable_question_end_with_3_and_are_said_everywhere(vidence, questions):
    questions(n_clips=1, n_questions=3)
    whole = (vidence.folder / "questions.jsonl").read_text()
    (vidence.folder / "questions.jsonl").write_text(whole.strip() + '\n{"item_id": "bad"}\n')
    words = [*RUN, "baseline:constant", "--no-page"]
    said = "Left out: 1 line that could not be used, beside 3 questions"
    for name in ("one", "two"):
        done = vidence(*words, "--out", name)
        assert done.code == 3, done.err
        assert said in " ".join(done.out.split())
        assert "1 line of the questions left out" in " ".join(done.err.split())
    again = vidence(*words, "--out", "one")
    assert again.code == 3
    assert "nothing is left to ask" in again.err
    assert vidence("resume", "one", "--no-page").code == 3
    reported = vidence("report", "one", "--json", "one.json")
    assert reported.code == 0, reported.err  # the report is made; it says what it lacks
    assert said in " ".join(reported.out.split())
    assert json.loads((vidence.folder / "one.json").read_text())["n_left_out"] == 1
    compared = vidence("compare", "one", "two", "--json", "both.json")
    assert said in " ".join(compared.out.split())
    assert said in (vidence.folder / "both.json").read_text()
    assert vidence(*words, "--out", "three", "--strict").code == 2


def test_replies_that_were_cut_off_name_the_flag(vidence, questions):
    questions(n_clips=1, n_questions=3)
    spec = "scripted:The answer is A"
    done = vidence(*RUN, spec, "--max-tokens", "2", "--out", "r", "--no-page")
    assert done.code == 0
    assert "3 of 3 replies cut off at the limit of 2 tokens; --max-tokens sets a higher one" in done.err
    assert "3 of 3 replies were cut off at 2 tokens; --max-tokens" in " ".join(done.out.split())
    likely = vidence(*RUN, spec, "--max-tokens", "1", "--parser", "logp", "--out", "l", "--no-page")
    assert "cut off" not in likely.err + likely.out  # no more than the first token is read


def test_a_server_that_never_answers_is_the_headline(vidence, questions):
    questions(n_clips=1, n_questions=3)
    done = vidence(
        *RUN, "openai:m?base_url=http://127.0.0.1:9/v1",
        "--set", "attempts=1", "--patience", "0", "--out", "r",
    )  # fmt: skip
    assert done.code == 3
    said = " ".join(done.out.split())
    assert "No score, since none of 3 questions was ever answered: no connection to http://127.0.0.1" in said
    assert "Accuracy" not in done.out
    assert "?." not in done.err
    assert "Accuracy 0.0" not in (vidence.folder / "r" / "report.html").read_text()
