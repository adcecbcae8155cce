"""Runs that are asked in batches: waves, kills, what expires or is refused, and what it costs."""

import json
import re
import signal
import time

import pytest

from servers.batch_api import BatchApi, GeminiBatchApi, MessageBatchApi
from servers.openai_stub import OpenAIStub
from vidence.engine.plan import read_plan

RUN = ("run", "table", "--data", "questions.jsonl", "--out", "r", "--no-page", "--batch", "--frames", "2")
RUN += ("--set", "batch_poll_s=0.2", "--price-in", "1")


@pytest.fixture
def asked(vidence, questions):
    """Ask 12 questions about three clips through a batch API; more words of the command come last."""
    questions(n_clips=3, n_questions=4)

    def ask(api, *more):
        with OpenAIStub(canned_for=api) as server:
            done = vidence(*RUN, "--model", f"openai:m?base_url={server.base_url}", *more)
            assert not [one for one in server.requests if "chat" in one.path]
        return done

    return ask


def notes(vidence):
    return [*vidence.folder.rglob("*.batches/*.json")]


def test_a_run_is_one_batch_at_half_the_price_and_nothing_is_left_of_it(asked, vidence):
    api = BatchApi()
    done = asked(api)
    assert done.code == 0, done.err
    assert "wave 1: 12 questions wait for a batch" in done.err
    assert "batch batch-0: 1 of 12 done (in_progress)" in done.err
    assert len(api.made) == 1
    assert len(set(api.asked)) == len(api.asked) == 12
    assert len(vidence.trials("r")) == 12
    assert "$6.00" in done.out + done.err
    assert notes(vidence) == []


@pytest.mark.parametrize(("provider", "api"), [("anthropic", MessageBatchApi), ("gemini", GeminiBatchApi)])
def test_other_providers_have_batches_too(vidence, questions, provider, api):
    """The answer to the creation is lost, and one question is refused."""
    questions(n_clips=3, n_questions=4)
    api = api(has_lost=True, refused="Question 3 about clip 2")
    with OpenAIStub(canned_for=api) as server:
        done = vidence(*RUN, "--model", f"{provider}:m?base_url={server.base_url.removesuffix('/v1')}")
    assert done.code == 3, done.err
    assert re.search(r"batch \S+: \d+ of 12 done", done.err)
    assert len(api.made) == 1
    assert len(set(api.asked)) == len(api.asked) == 12
    outcomes = [type(one.score.outcome).__name__ for one in vidence.trials("r").values()]
    assert sorted(outcomes) == ["Answered"] * 11 + ["Failed"]
    assert "$5.50" in done.out + done.err
    assert notes(vidence) == []


def test_a_killed_run_finds_its_batch_again(vidence, questions):
    questions(n_clips=3, n_questions=4)
    api = BatchApi(is_open=True)
    with OpenAIStub(canned_for=api) as server:
        process = vidence.start(*RUN, "--model", f"openai:m?base_url={server.base_url}")
        end_s = time.monotonic() + 60
        while not api.looks:
            assert time.monotonic() < end_s, process.communicate()
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        api.is_open = False
        done = vidence("resume", "r")
    assert done.code == 0, done.err
    assert len(vidence.trials("r")) == len(api.asked) == 12
    assert len(api.made) == 1


def test_a_run_that_is_stopped_says_how_to_go_on_and_its_batch_stays(vidence, questions):
    questions(n_clips=3, n_questions=4)
    api = BatchApi(is_open=True)
    with OpenAIStub(canned_for=api) as server:
        process = vidence.start(*RUN, "--model", f"openai:m?base_url={server.base_url}")
        end_s = time.monotonic() + 60
        while not api.looks:
            assert time.monotonic() < end_s, process.communicate()
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=30)[1]
    assert process.returncode == 130, said
    assert "Go on with: vidence resume r" in said
    assert "Traceback" not in said
    assert len(notes(vidence)) == 1


def test_an_estimate_costs_half_and_needs_no_key(vidence, questions):
    questions(n_clips=1, n_questions=2)
    vidence.env.pop("OPENAI_API_KEY", None)
    asked = ("run", "table", "--data", "questions.jsonl", "--frames", "2", "--dry-run", "--json", "-")
    asked += ("--model", "openai:gpt-4.1")
    tables = [json.loads(vidence(*asked, *more).out)["tables"][0] for more in ((), ("--batch",))]
    whole, half = (next(one for one in table["lines"] if one["key"] == "dollars") for table in tables)
    assert not tables[1]["lines"][-1]["most"].get("value")  # hours
    assert "each wave within 24 hours" in tables[1]["note"]
    assert "in flight" not in tables[1]["note"]
    for end in ("least", "most"):
        assert 0 < half[end]["value"] == pytest.approx(whole[end]["value"] / 2)


def test_a_batch_whose_answer_is_lost_is_found_by_its_name(asked, vidence):
    api = BatchApi(has_lost=True)
    done = asked(api)
    assert done.code == 0, done.err
    assert len(api.made) == 1
    assert len(vidence.trials("r")) == 12


def test_what_expired_goes_with_the_next_wave_and_what_is_refused_fails(asked, vidence):
    api = BatchApi(n_expired=5, refused="Question 3 about clip 2")
    done = asked(api)
    assert done.code == 3, done.err
    assert "wave 2: 5 questions wait" in done.err
    assert len(api.asked) == 12 + 5
    assert len(set(api.asked)) == 12
    outcomes = [type(one.score.outcome).__name__ for one in vidence.trials("r").values()]
    assert sorted(outcomes) == ["Answered"] * 11 + ["Failed"]


def test_a_batch_that_is_refused_as_a_whole_ends_the_run_with_the_reason(asked, vidence):
    done = asked(BatchApi(reason="Enqueued token limit reached"))
    assert done.code == 2, done.err
    assert re.search(
        r"no request of batch batch-0 was answered at \S+: failed: Enqueued token limit", done.err
    )
    assert notes(vidence) == []


def free_questions(questions):
    """Three questions without choices."""
    path = questions(n_clips=1, n_questions=3)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    free = [{k: v for k, v in one.items() if k != "choices"} | {"answer_kind": "text"} for one in lines]
    path.write_text("\n".join(map(json.dumps, free)))


def verdict(body):
    """A free answer, or a verdict on it."""
    form = re.search(r"\b[0-9a-f]{16}\b", json.dumps(body))
    given = {"id": form and form[0], "extracted_answer": "a", "correct": True}
    return json.dumps(given) if form else "It is A."


def test_a_judge_is_asked_in_the_wave_after_the_answers(vidence, questions):
    free_questions(questions)
    api = BatchApi(answer=verdict)
    with OpenAIStub(canned_for=api) as server:
        model = f"openai:m?base_url={server.base_url}"
        judged = ("--judge", "mmvu-official", "--judge-model", model)
        done = vidence(*RUN, "--model", model, *judged)
    assert done.code == 0, done.err
    assert "wave 2: 3 questions wait" in done.err
    assert "wave 3" not in done.err
    assert len(set(api.asked)) == len(api.asked) == 6
    assert [one.score.value for one in vidence.trials("r").values()] == [1.0] * 3
    assert not any(
        one.is_remembered for one in vidence.trials("r").values()
    )  # they were paid for in this run


def test_a_stored_run_is_judged_in_batches_and_what_its_answers_cost_stays(vidence, questions):
    free_questions(questions)
    answering, judging = BatchApi(answer=verdict), BatchApi(answer=verdict, n_expired=1)
    with OpenAIStub(canned_for=answering) as server:
        assert vidence(*RUN, "--model", f"openai:m?base_url={server.base_url}").code == 0
    with OpenAIStub(canned_for=judging) as server:
        words = (
            "replies",
            "judge",
            "r",
            "--judge",
            "mmvu-official",
            "--no-page",
            "--set",
            "judge_price_in=1",
        )
        words += ("--judge-model", f"openai:m?base_url={server.base_url}")
        refused = vidence(*words, "--batch", "--max-cost", "1")
        done = vidence(*words, "--batch", "--set", "batch_poll_s=0.2")
        assert not [one for one in server.requests if "chat" in one.path]
    assert refused.code == 2
    assert "--batch excludes --max-cost" in refused.err
    assert done.code == 0, done.err
    assert "wave 1: 3 questions wait" in done.err
    assert "wave 2: 1 questions wait" in done.err
    assert len(judging.asked) == 3 + 1
    assert [one.score.value for one in vidence.trials("r").values()] == [1.0] * 3
    assert "$1.50" in done.out + done.err
    assert read_plan(vidence.folder / "r")[0].batch
    assert notes(vidence) == []
    with OpenAIStub(answer=verdict) as server:  # asked at once, within a limit
        words = (*words[:-1], f"openai:n?base_url={server.base_url}", "--max-cost", "9")
        done = vidence(*words)
        assert server.n_requests == 3
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--max-cost", "1"], "--batch excludes --max-cost"),
        (["--model", "scripted:A"], "models, not with scripted:A"),
        (["--selector", "frag-scores:model"], "--batch excludes frag-scores:model"),
    ],
)
def test_what_batches_cannot_do_is_said_before_anything_is_sent(asked, words, said):
    api = BatchApi()
    done = asked(api, *words)
    assert done.code == 2
    assert said in done.err
    assert api.files == {}
