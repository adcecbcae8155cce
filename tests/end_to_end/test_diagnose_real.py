"""Diagnostics on real clips, asked of the same tiny weights behind a server and in this process.

The weights are random: the numbers mean nothing, the mechanics must hold.
"""

import json
import math
from itertools import pairwise

import pytest

from conftest import IS_THOROUGH, need
from servers.tiny_embedders import build_siglip2
from servers.tiny_vlm import build
from servers.tiny_vlm_server import TinyVlmServer

pytest.importorskip("torch", reason="needs the extra 'transformers'")
pytest.importorskip("transformers", reason="needs the extra 'transformers'")
pytestmark = pytest.mark.torch

MOST = 4


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    return build(tmp_path_factory.mktemp("weights") / "tiny")


@pytest.fixture
def questions(data_dir):
    return need(data_dir / "questions.jsonl")


def diagnosis(vidence, name, questions, model, *more):
    """What the command writes as JSON."""
    done = vidence(
        "diagnose", name, "table", "--data", str(questions), "--model", model, "--frames", str(MOST),
        "--size", "long:160", "--max-tokens", "6", "--no-page", "--json", "found.json", *more,
    )  # fmt: skip
    assert done.code == 0, done.err
    return json.loads((vidence.folder / "found.json").read_text()) | {"err": done.err}


def shown(body):
    """The words of a request, and its images in their order."""
    parts = body["messages"][-1]["content"]
    if isinstance(parts, str):
        return parts[parts.index("Question:") :], ()
    images = [p["image_url"]["url"] for p in parts if p["type"] == "image_url"]
    words = " ".join(p["text"] for p in parts if p["type"] == "text")
    return words[words.index("Question:") :], tuple(images)  # before it stands how many frames there are


def test_prefixes_nest_and_nothing_is_asked_twice(vidence, weights, questions):
    asks = (*(() if IS_THOROUGH else ("--limit", "4")), "--set", f"max={MOST}", "--out")
    with TinyVlmServer(weights) as server:
        model = f"openai:tiny?base_url={server.base_url}"
        whole = diagnosis(vidence, "mrfs", questions, model, "--set", "mode=exhaustive", *asks, "whole")
        n_items = len(whole["findings"])
        assert n_items > 0
        assert len(server.bodies) == n_items * (MOST + 1)
        by_words = {}
        for words, images in map(shown, server.bodies):
            by_words.setdefault(words, {})[len(images)] = images
        assert len(by_words) == n_items
        for prefixes in by_words.values():
            assert sorted(prefixes) == list(range(MOST + 1))
            for fewer, more in pairwise(prefixes[n] for n in range(MOST + 1)):
                # the same frames and one more, all in the order of time
                assert [image for image in more if image in fewer] == list(fewer)
        halved = diagnosis(vidence, "mrfs", questions, model, *asks, "halved")
        assert "; 0 replies requested" in halved["err"]
        assert len(server.bodies) == n_items * (MOST + 1)
    right = {one["item_id"]: one["finding"]["right"] for one in whole["findings"]}
    for one in halved["findings"]:
        finding = one["finding"]
        assert set(finding["asked"]) <= set(range(MOST + 1))
        assert finding["right"].items() <= right[one["item_id"]].items()
        if finding["category"] == "visual-required":
            assert finding["right"][str(finding["mrfs"])] is True


def test_probabilities_are_over_the_letters_alone(vidence, weights, questions):
    asks = ("--limit", "6" if IS_THOROUGH else "3", "--set", "view=plan", "--out")
    with TinyVlmServer(weights) as server:
        model = f"openai:tiny?base_url={server.base_url}"
        served = diagnosis(vidence, "frame-shares", questions, model, *asks, "served")
        assert len(server.bodies) == len(served["findings"]) * (MOST + 1)
    local = diagnosis(vidence, "frame-shares", questions, f"transformers:{weights}", *asks, "local")
    lines = [json.loads(line) for line in questions.read_text().splitlines() if line.strip()]
    n_choices = {line["item_id"]: len(line["choices"]) for line in lines}
    there = {one["item_id"]: one["finding"] for one in served["findings"]}
    assert len(there) == len(local["findings"])
    for one in local["findings"]:
        here = one["finding"]
        assert len(here["probabilities"]) == n_choices[one["item_id"]]
        assert math.fsum(here["probabilities"]) == pytest.approx(1)
        assert len(here["deltas"]) == len(here["times_s"]) == MOST
        if "shares" in here:
            assert math.fsum(here["shares"]) == pytest.approx(1)
        other = there[one["item_id"]]
        assert here["chosen"] == other["chosen"]
        if not here.get("n_floored") and not other.get("n_floored"):
            assert here["probabilities"] == pytest.approx(other["probabilities"], abs=1e-4)
            assert here["deltas"] == pytest.approx(other["deltas"], abs=1e-3)


def test_selectors_that_ask_and_search_are_compared_on_real_clips(vidence, weights, questions, tmp_path):
    """FRAG by the model's own probabilities, T* by tiny SigLIP weights; a second time nothing is asked."""
    seeing = build_siglip2(tmp_path / "siglip")
    frag = "frag-scores:model?grid=uniform:6"
    tstar = f"tstar:siglip:{seeing}?embedder.score=sigmoid&side=2&least=1"
    asks = (
        "--limit", "2", "--set", f"selectors={frag}|{tstar}", "--set", "missing=fill", "--set",
        "oracle=midpoints", "--set", "blind=false",
    )  # fmt: skip
    with TinyVlmServer(weights) as server:
        model = f"openai:tiny?base_url={server.base_url}"
        found = diagnosis(vidence, "selector-gap", questions, model, *asks, "--out", "first")
        about_one = [body for body in server.bodies if body["max_tokens"] == 1]
        assert len(about_one) == 2 * 6
        n_asked = len(server.bodies)
        again = diagnosis(vidence, "selector-gap", questions, model, *asks, "--out", "second")
        assert len(server.bodies) == n_asked
    for one, other in zip(found["findings"], again["findings"], strict=True):
        finding = one["finding"]
        assert finding == other["finding"]
        assert set(finding["n_frames"].values()) == {MOST}
        assert {frag, tstar} <= finding["marks"].keys()
