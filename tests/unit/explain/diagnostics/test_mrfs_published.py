"""Which demands stand beside the one that HERBench prints."""

import pytest

from vidence import catalog
from vidence.errors import UsageError
from vidence.explain.diagnostics.mrfs_published import beside_herbench, departures, of_another_model


def diagnostic(**options):
    spec = catalog.Spec(name="mrfs", options={"protocol": "herbench-standard", **options})
    return catalog.create("diagnostic", spec)


@pytest.mark.parametrize("ranking", ["aks:blip-itm", "aks:blip-itm:/w?mode=official&embedder.text=lavis"])
def test_the_papers_ranking_is_aks_over_blip(ranking):
    assert departures(ranking=ranking, n_frames=16, n_orders=1, asks_without=True) == []
    assert diagnostic().views(selector=ranking, n_frames=4)["ranked"].n_frames == 16
    assert diagnostic(selector=ranking).views(selector="midpoints", n_frames=4)["ranked"].selector == ranking


@pytest.mark.parametrize("ranking", ["aks:clip", "aks", "bolt:blip-itm", "midpoints", "evidence"])
def test_another_ranking_is_refused_before_anything_is_asked(ranking):
    with pytest.raises(
        UsageError, match=rf"the ranking {ranking} \(expected aks:blip-itm\); name the ranking"
    ):
        diagnostic().views(selector=ranking, n_frames=16)
    free = catalog.create("diagnostic", "mrfs")
    assert free.views(selector=ranking, n_frames=16)["ranked"].selector == ranking


@pytest.mark.parametrize(
    ("model", "is_it"),
    [
        ("transformers:Qwen/Qwen2.5-VL-7B-Instruct", True),
        ("openai:qwen2.5-vl-72b-instruct?base_url=http://x", True),
        ("vllm:Qwen/Qwen2-VL-7B-Instruct", False),
        ("phantom:fuser", False),
    ],
)
def test_the_model_is_known_by_its_name(model, is_it):
    assert (of_another_model(model) == []) == is_it


def test_what_differs_is_said():
    assert beside_herbench([]).startswith("HERBench prints 5.49 (Qwen2.5-VL, aks:blip-itm, x = 16).")
    assert "is not set beside this mean, since it has x = 8; a." in beside_herbench(["x = 8", "a"])
