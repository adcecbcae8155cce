"""One checkpoint, two ways to it: in this process, and behind a server. The letters must be the same."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from servers.model_asks import maker
from servers.tiny_requests import ask_together, make_request
from servers.tiny_vlm import build
from servers.tiny_vlm_server import TinyVlmServer
from vidence.contracts import Request
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
    with TinyVlmServer(folder) as running:
        yield running


def questions(sampling: Sampling) -> list[Request]:
    """With none to eight frames, with and without a system prompt."""
    return [
        make_request(range(seed, seed + n), sampling, text=f"{text} A. a dog B. a cat", system=system)
        for seed, n in enumerate((0, 1, 2, 4, 8, 1))
        for text, system in (("Who runs?", ""), ("What is left at the end of the clip?", "Be brief."))
    ]


def test_the_same_checkpoint_says_the_same(folder, server):
    served = {"base_url": server.base_url, "top_logprobs": "266"}
    local = create_transformers(str(folder), {"device": "cpu", "threads": "1"})
    for sampling in (LETTER, WORDS):
        requests = questions(sampling)
        here = ask_together(local, requests)
        there = ask_together(create_openai("tiny", served), requests, close=True)
        assert all(isinstance(r, Reply) for r in (*here, *there)), [*here, *there]
        assert [r.text for r in here] == [r.text for r in there]
        assert [r.finish for r in here] == [r.finish for r in there]
        assert [r.usage for r in here] == [r.usage for r in there]
        for one, other in zip(here, there, strict=True):
            assert set(one.choice_logps) == set("ABCD")
            assert one.choice_logps == pytest.approx(other.choice_logps, abs=1e-4)
        # Were the replies all alike, their being equal would say little.
        assert len({r.text for r in here}) >= (2 if sampling is LETTER else 5)
