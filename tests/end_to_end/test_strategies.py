"""Strategies and their diagnostics over HTTP: what is asked, what comes out of the memory, what is kept."""

import json
import re

import pytest

from servers.openai_stub import OpenAIStub

LETTERS = "BACBBCAB"
"""What the simulated model answers on its n-th ask about a question."""


class Server:
    """Answers each question anew as `LETTERS` says, and gives B 4 points and others 1."""

    def __init__(self):
        self.n_asked: dict[str, int] = {}
        self.kinds: list[str] = []
        self.temperatures: list[object] = []

    def __call__(self, body):
        parts = body["messages"][-1]["content"]
        words = (
            parts if isinstance(parts, str) else "\n".join(p["text"] for p in parts if p["type"] == "text")
        )
        if "how far this reply can be trusted" in words:
            self.kinds.append("reward")
            self.temperatures.append(body.get("temperature"))
            marked = re.search(r'<reply id="([0-9a-f]{16})">\n"(.*)"', words)
            score = 4 if marked[2].endswith("Answer: B") else 1
            return json.dumps({"id": marked[1], "score": score})
        if "Review the last answer" in words:
            self.kinds.append("critique")
            return "Look at the end again."
        if "what you answered before" in words:
            self.kinds.append("rewrite")
            return "Answer: C"
        self.kinds.append("candidate")
        question = re.search(r"Question \d about clip \d", words)[0]
        n = self.n_asked[question] = self.n_asked.get(question, -1) + 1
        return f"Answer: {LETTERS[n]}"


@pytest.fixture
def server(vidence):
    says = Server()
    with OpenAIStub(answer=says, key="k") as stub:
        vidence.env["OPENAI_API_KEY"] = "k"
        says.address = stub.base_url
        yield says


def run(vidence, server, *more, out="r", command=("run", "table")):
    words = (*command, "--data", "questions.jsonl", "--out", out, "--frames", "2")
    model = f"openai:m?base_url={server.address}"
    done = vidence(*words, "--model", model, "--temperature", "1", "--concurrency", "1", *more)
    server.kinds, kinds = [], server.kinds
    return done, {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}


def test_candidates_are_shared_and_one_candidate_is_the_plain_run(vidence, questions, server):
    questions(n_clips=1, n_questions=2)
    done, asked = run(vidence, server, "--no-page", out="plain")
    assert (done.code, asked) == (0, {"candidate": 2}), done.err
    one = ("--no-page", "--strategy", "best-of-n?m=0")
    assert run(vidence, server, *one, out="m0")[1] == {}
    plain, same = vidence.trials("plain"), vidence.trials("m0")
    assert {k: t.reply.text for k, t in plain.items()} == {k: t.reply.text for k, t in same.items()}
    done, asked = run(vidence, server, "--no-page", "--strategy", "best-of-n?m=2", out="m2")
    assert asked == {"candidate": 6, "reward": 6}  # of B, A, C and B the words of B are weighed once
    assert set(server.temperatures) == {0.0}
    for trial in vidence.trials("m2").values():
        assert trial.reply.text == "Answer: B"
        assert [step.is_remembered for step in trial.steps][:2] == [True, False]
        assert len(trial.steps) == 4 + 3
    done, asked = run(vidence, server, "--no-page", "--strategy", "self-consistency?n=5", out="vote")
    assert asked == {"candidate": 2}
    assert {t.reply.text for t in vidence.trials("vote").values()} == {"Answer: B"}
    done, asked = run(vidence, server, "--no-page", "--repeats", "5", out="repeats")
    assert (done.code, asked) == (0, {}), done.err


def test_refining_keeps_its_steps_and_goes_on_where_it_stopped(vidence, questions, server):
    questions(n_clips=1, n_questions=1)
    done, asked = run(vidence, server, "--no-page", "--strategy", "self-refine?rounds=2")
    assert (done.code, asked) == (0, {"candidate": 1, "critique": 2, "rewrite": 2}), done.err
    (trial,) = vidence.trials("r").values()
    assert (trial.reply.text, trial.score.outcome.answer) == ("Answer: C", "C")
    assert [step.role for step in trial.steps] == ["candidate", *["critique", "rewrite"] * 2]
    done, asked = run(vidence, server, "--no-page", "--strategy", "self-refine?rounds=3", out="longer")
    assert asked == {"critique": 1, "rewrite": 1}


def test_a_diagnostic_shares_the_candidates_of_runs_and_of_all_its_rows(vidence, questions, server):
    questions(n_clips=1, n_questions=2)
    assert run(vidence, server, "--no-page", "--repeats", "3")[1] == {"candidate": 6}
    other = f"openai:other%3Fbase_url={server.address}"
    words = ("--set", "m=0|1|2|3", "--set", f"rewards=self|{other.replace('%3F', '?')}")
    done, asked = run(vidence, server, *words, out="d", command=("diagnose", "best-of-n", "table"))
    assert done.code == 0, done.err
    assert asked == {"candidate": 2 * 8 - 6, "reward": 2 * 2 * 3}  # A, B and C are weighed once by each
    assert "Best of N" in done.out
    assert "majority vote" in done.out
    done, asked = run(vidence, server, out="d", command=("diagnose", "self-refine", "table"))
    assert (done.code, asked) == (0, {"critique": 6, "rewrite": 2 * 9}), done.err
    done, asked = run(
        vidence, server, "--temperature", "0", out="e", command=("diagnose", "best-of-n", "table")
    )
    assert (done.code, asked) == (2, {})
    assert "8 candidates at temperature 0 are equal" in done.err
