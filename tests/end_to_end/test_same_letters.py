"""One checkpoint, two ways to it: in this process, and behind a server. The letters must be the same."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from servers.model_asks import maker
from servers.tiny_requests import GREEDY, ask_together, make_request
from servers.tiny_vlm import build
from servers.tiny_vlm_server import Fault, TinyVlmServer
from vidence.contracts import Request
from vidence.errors import AccessError, RejectedRequestError, TransientModelError, VidenceError
from vidence.records import Reply, Sampling

create_openai = maker("model", "openai")
create_transformers = maker("model", "transformers")

pytest.importorskip("torch", reason="needs the extra 'transformers'")
pytest.importorskip("transformers", reason="needs the extra 'transformers'")
pytestmark = pytest.mark.torch

LETTER = Sampling(temperature=0.0, max_tokens=1, want_choice_logps=True)
WORDS = Sampling(temperature=0.0, max_tokens=16, want_choice_logps=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("same") / "tiny")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[TinyVlmServer]:
    with TinyVlmServer(folder, key="right") as running:
        yield running


@pytest.fixture
def ask_server(
    server: TinyVlmServer, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Sequence[Request], str], list[Reply | VidenceError]]:
    def ask(requests: Sequence[Request], key: str = "right") -> list[Reply | VidenceError]:
        monkeypatch.setenv("TINY_KEY", key)
        options = {"base_url": server.base_url, "api_key_env": "TINY_KEY", "top_logprobs": "266"}
        return ask_together(create_openai("tiny", options), requests, close=True)

    return ask


def questions(sampling: Sampling) -> list[Request]:
    """With none to eight frames, with and without a system prompt."""
    return [
        make_request(range(seed, seed + n), sampling, text=f"{text} A. a dog B. a cat", system=system)
        for seed, n in enumerate((0, 1, 2, 4, 8, 1))
        for text, system in (("Who runs?", ""), ("What is left at the end of the clip?", "Be brief."))
    ]


def test_the_same_checkpoint_says_the_same(folder, ask_server):
    local = create_transformers(str(folder), {"device": "cpu", "threads": "1"})
    for sampling in (LETTER, WORDS):
        requests = questions(sampling)
        here, there = ask_together(local, requests), ask_server(requests)
        assert all(isinstance(r, Reply) for r in (*here, *there)), [*here, *there]
        assert [r.text for r in here] == [r.text for r in there]
        assert [r.finish for r in here] == [r.finish for r in there]
        assert [r.usage for r in here] == [r.usage for r in there]
        for one, other in zip(here, there, strict=True):
            assert set(one.choice_logps) == set("ABCD")
            assert one.choice_logps == pytest.approx(other.choice_logps, abs=1e-4)
        # Were the replies all alike, their being equal would say little.
        assert len({r.text for r in here}) >= (2 if sampling is LETTER else 5)


class TestServer:
    """What other tests rely on."""

    def test_faults_come_in_turn(self, server, ask_server):
        server.faults.extend(
            [Fault(status=429, retry_after_s=2), Fault(status=500), Fault(status=0), Fault(delay_s=0.01)]
        )
        outcomes = [ask_server([make_request([1])])[0] for _ in range(4)]
        assert [type(o) for o in outcomes] == [*[TransientModelError] * 3, Reply]
        assert outcomes[0].retry_after_s == 2

    def test_a_wrong_key(self, ask_server):
        assert isinstance(ask_server([make_request([1])], "wrong")[0], AccessError)

    def test_an_image_that_is_none(self, ask_server):
        good = make_request([1])
        images = dict.fromkeys(good.images, b"no image")
        bad = Request(item_id="i", prompt=good.prompt, sampling=GREEDY, images=images)
        assert isinstance(ask_server([bad])[0], RejectedRequestError)

    def test_stop_and_n(self, server):
        body = {"messages": [{"role": "user", "content": "Who runs?"}], "temperature": 0, "max_tokens": 12}
        answer = server.answerer.answer(body)
        text = answer["choices"][0]["message"]["content"]
        assert len(text) > 1
        cut = server.answerer.answer({**body, "stop": text[1], "n": 2})["choices"]
        assert [c["message"]["content"] for c in cut] == [text[: text.index(text[1])]] * 2
        assert cut[0]["finish_reason"] == "stop"
        drawn = {**body, "temperature": 1.5, "seed": 3, "n": 3}
        said = [c["message"]["content"] for c in server.answerer.answer(drawn)["choices"]]
        assert said == [c["message"]["content"] for c in server.answerer.answer(drawn)["choices"]]
        assert len(set(said)) == 3
