"""Weights on machines: which models they are of, and how many GPUs a replica takes."""

from types import SimpleNamespace

import pytest

from vidence.engine.cluster.replicas import ReplicatedModel, gpus_of, gpus_taken, has_weights
from vidence.errors import UsageError


@pytest.mark.parametrize(
    ("spec", "expected"),
    [("transformers:w", True), ("vllm:w", True), ("openai:gpt-5", False), ("baseline:longest", False)],
)
def test_models_of_servers_and_rules_have_no_weights(spec, expected):
    assert has_weights(spec) == expected


@pytest.mark.parametrize(
    ("spec", "n"),
    [("transformers:w", 1), ("transformers:w?device=cpu", 0), ("vllm:w?tensor_parallel_size=4", 4)],
)
def test_a_replica_takes_the_gpus_of_its_weights(spec, n):
    assert gpus_of(spec) == n


@pytest.mark.parametrize(
    ("wanted", "there", "may_grow", "expected"),
    [(1, [0, 0], False, 0), (2, [4], False, 2), (1, [], True, 1), (4, [2], True, 4)],
)
def test_a_cluster_without_gpus_computes_on_processors_unless_it_grows(wanted, there, may_grow, expected):
    nodes = [{"Resources": {"GPU": float(n)}} for n in there]
    assert gpus_taken(wanted, nodes, may_grow=may_grow) == expected


def test_more_gpus_than_any_machine_has_are_refused():
    with pytest.raises(UsageError, match="takes 4 GPUs, a machine of the cluster has 2"):
        gpus_taken(4, [{"Resources": {"GPU": 2.0}}, {"Resources": {}}], may_grow=False)


@pytest.mark.parametrize(("own", "expected"), [(4, 12), (None, None)])
def test_replicas_take_as_many_requests_as_their_weights_together(own, expected):
    weights = SimpleNamespace(identity="w", looks=True, max_in_flight=own)
    replicas = SimpleNamespace(machines=SimpleNamespace(places=[None] * 3))
    assert ReplicatedModel("transformers:w", weights, replicas).max_in_flight == expected
