"""Strategies and their diagnostics on real clips, asked of tiny random weights behind a real server.

What the model says is noise: neither a reward nor a review of its own means anything. What is asked, what is
shared, what is kept and what is counted must hold nevertheless.
"""

import json
from collections import Counter

import pytest

from conftest import IS_THOROUGH, need
from servers.tiny_vlm import build
from servers.tiny_vlm_server import TinyVlmServer
from vidence.engine.store import RunStore

pytest.importorskip("torch", reason="needs the extra 'transformers'")
pytest.importorskip("transformers", reason="needs the extra 'transformers'")
pytestmark = pytest.mark.torch

N_ITEMS, N_REPEATS = (10, 3) if IS_THOROUGH else (2, 2)
HINTS = ("What is asked about is seen.", "It is seen more than once.", "Look near the end, too.")


class Asked:
    """Commands over the first questions, and the words that the server was sent for each."""

    def __init__(self, vidence, server, data_dir):
        lines = need(data_dir / "questions.jsonl").read_text().splitlines()[:N_ITEMS]
        self.items = [json.loads(line) | {"hints": HINTS} for line in lines]
        for item in self.items:
            for media in item["media"]:
                media["path"] = str(need(data_dir / media["path"]))
        (vidence.folder / "q.jsonl").write_text("\n".join(map(json.dumps, self.items)))
        self.vidence, self.server = vidence, server

    def __call__(self, *words):
        before = len(self.server.bodies)
        done = self.vidence(
            *words, "--data", "q.jsonl", "--model", f"openai:tiny?base_url={self.server.base_url}",
            "--frames", "2", "--size", "long:112", "--max-tokens", "6", "--temperature", "2", "--no-page",
        )  # fmt: skip
        assert done.code == 0, done.err
        return done, [json.dumps(body["messages"]) for body in self.server.bodies[before:]]

    def run(self, strategy, out, *more):
        _, sent = self("run", "table", "--strategy", strategy, "--out", out, *more)
        return self.vidence.trials(out), sent


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    return build(tmp_path_factory.mktemp("weights") / "tiny")


@pytest.fixture
def asked(vidence, weights, data_dir):
    with TinyVlmServer(weights) as server:
        yield Asked(vidence, server, data_dir)


def test_every_strategy_goes_through_and_shares_its_candidates(asked):
    _, sent = asked("run", "table", "--repeats", str(N_REPEATS), "--out", "plain")
    assert len(sent) == N_ITEMS * N_REPEATS
    with RunStore(asked.vidence.folder / "plain") as store:
        plain = {(t.item_id, t.repeat): t for t in store.trials()}
    first = {item_id: t for (item_id, repeat), t in plain.items() if not repeat}
    texts = [{t.reply.text for (one, _), t in plain.items() if one == item_id} for item_id in first]
    assert any(len(some) > 1 for some in texts)  # else candidates would be one reply
    voted, sent = asked.run(f"self-consistency?n={N_REPEATS}", "vote")
    assert sent == []
    for item_id, trial in voted.items():
        read = [getattr(plain[item_id, i].score.outcome, "answer", None) for i in range(N_REPEATS)]
        most = Counter(one for one in read if one is not None).most_common()
        said = getattr(trial.score.outcome, "answer", None)
        assert said in ({one for one, n in most if n == most[0][1]} or {None})
    best, sent = asked.run("best-of-n?m=1", "best", "--limit", "2")  # a reward writes up to 256 tokens
    assert len(best) == 2
    assert sent
    assert all("how far this reply can be trusted" in words for words in sent)
    for item_id, trial in best.items():  # a reward that is noise gives no points, and the earliest is kept
        assert [step.role for step in trial.steps][:2] == ["candidate", "candidate"]
        assert trial.reply.text == first[item_id].reply.text
    refined, sent = asked.run("self-refine?rounds=1", "refined")
    assert len(sent) == 2 * N_ITEMS
    for trial in refined.values():
        assert [step.role for step in trial.steps] == ["candidate", "critique", "rewrite"]
        assert trial.steps[0].reply.text == first[trial.item_id].reply.text
        assert trial.steps[0].is_remembered
        assert trial.reply == trial.steps[2].reply
    hinted, sent = asked.run("hints:2", "hinted")
    assert (len(hinted), len(sent)) == (N_ITEMS, N_ITEMS)
    assert all(HINTS[0] in words and HINTS[1] in words and HINTS[2] not in words for words in sent)
