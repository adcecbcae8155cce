"""How many workers there are and what each takes of its machine, as settings behind the address say."""

import json

import anyio
import pytest

from vidence.engine.executors.executor import executor_of
from vidence.engine.executors.replicas import (
    MachineRequest,
    Settings,
    gpus_of_plan,
    gpus_of_spec,
    gpus_taken,
    n_asked_for,
    piece_settings,
    rooms,
    split_address,
)
from vidence.engine.prepare import make_plan
from vidence.errors import UsageError


@pytest.mark.parametrize(
    ("resources", "takes", "expected"),
    [
        ({"CPU": 4.0}, (0, 0), [(4, 0)]),
        ({"CPU": 4.0, "GPU": 2.0}, (0, 0), [(4, 0)]),
        ({"CPU": 0.0}, (0, 0), []),
        ({"CPU": 8.0, "GPU": 2.0}, (1, 0), [(4, 1), (4, 1)]),
        ({"CPU": 8.0, "GPU": 3.0}, (2, 0), [(8, 2)]),
        ({"CPU": 2.0, "GPU": 8.0}, (1, 0), [(1, 1), (1, 1)]),
        ({"CPU": 8.0}, (1, 0), []),
        ({"CPU": 8.0}, (0, 3), [(3, 0), (3, 0)]),
        ({"CPU": 8.0, "GPU": 4.0}, (1, 4), [(4, 1), (4, 1)]),
        ({"CPU": 2.0}, (0, 4), []),
    ],
)
def test_a_machine_has_a_worker_or_as_many_as_it_has_room_for(resources, takes, expected):
    n_gpus, n_cpus = takes
    found = rooms(resources, n_gpus=n_gpus, n_cpus=n_cpus)
    assert [(room.n_cpus, room.n_gpus) for room in found] == expected


def test_what_a_worker_takes_is_said_as_ray_is_asked_for_it():
    (room,) = rooms({"CPU": 4.0, "GPU": 1.0}, n_gpus=1)
    assert room.bundle == {"CPU": 4.0, "GPU": 1.0}
    (room,) = rooms({"CPU": 4.0, "GPU": 1.0}, n_gpus=0)
    assert room.bundle == {"CPU": 4.0}


@pytest.mark.parametrize(
    ("on", "address", "bounds", "takes"),
    [
        ("ray", "ray", None, (None, 0)),
        ("ray://head:10001", "ray://head:10001", None, (None, 0)),
        ("ray?replicas=8", "ray", (8, 8), (None, 0)),
        ("ray://head:10001?replicas=2..8&gpus=1&cpus=4", "ray://head:10001", (2, 8), (1, 4)),
        ("ray?gpus=0", "ray", None, (0, 0)),
    ],
)
def test_settings_stand_behind_the_address(on, address, bounds, takes):
    found, settings = split_address(on)
    assert (found, settings.bounds, (settings.gpus, settings.cpus)) == (address, bounds, takes)


@pytest.mark.parametrize(
    "query",
    ["replicas=0", "replicas=2..", "replicas=8..2", "replicas=many", "gpus=-1", "workers=2", "replicas"],
)
def test_an_impossible_setting_is_refused(query):
    with pytest.raises(
        UsageError, match=rf"--on ray\?{query}: .*expected .* such as replicas=8 or replicas=2"
    ):
        split_address(f"ray?{query}")


def test_an_executor_has_its_settings():
    pytest.importorskip("ray", reason="Ray is not installed")
    with pytest.raises(UsageError, match="the first bound is above the second"):
        executor_of("ray?replicas=3..2")
    executor_of("ray://head:10001?replicas=2..3")


def test_machines_are_asked_for_while_questions_wait():
    assert n_asked_for((2, 8), n_left=500, is_waiting=True) == 8
    assert n_asked_for((2, 8), n_left=5, is_waiting=True) == 5
    assert n_asked_for((2, 8), n_left=1, is_waiting=True) == 2
    assert n_asked_for((2, 8), n_left=500, is_waiting=False) == 2


def test_pieces_of_work_take_no_gpus():
    assert piece_settings("ray?replicas=2&gpus=0")[1].bounds == (2, 2)
    with pytest.raises(UsageError, match="leave gpus away"):
        piece_settings("ray://head:10001?gpus=2")


def test_the_same_is_asked_for_once(asked_for):
    asked = MachineRequest(Settings(cpus=4), n_gpus=1)
    for n in (0, 2, 2, 1, 0):
        anyio.run(asked.ask_for, n)
    assert asked_for == [[{"CPU": 4.0, "GPU": 1.0}] * 2, [{"CPU": 4.0, "GPU": 1.0}], []]


# ------------------------------------------------------------------ GPUs

SERVER = "openai:m?base_url=http://127.0.0.1/v1"


@pytest.mark.parametrize(
    ("kind", "spec", "expected"),
    [
        ("model", SERVER, 0),
        ("model", "baseline:longest", 0),
        ("model", "transformers:some/model", 1),
        ("model", "transformers:some/model?device=cpu", 0),
        ("model", "vllm:some/model?tensor_parallel_size=4", 4),
        ("selector", "uniform", 0),
        ("selector", "aks:clip:some/weights", 1),
        ("selector", "aks:clip:some/weights?embedder.device=cpu", 0),
        ("selector", "aks:phantom-codes", 0),
        ("selector", "frag-scores:model:vllm:some/model", 1),
    ],
)
def test_weights_take_gpus_and_servers_take_none(kind, spec, expected):
    assert gpus_of_spec(kind, spec) == expected


def test_all_weights_of_a_run_are_counted(tmp_path):
    (tmp_path / "questions.jsonl").write_text(
        json.dumps({"item_id": "q", "question": "?", "choices": ["x", "y"], "answer": "A"})
    )

    def gpus(model, *, selectors=(), others=None, **overrides):
        plan = make_plan("table", data=tmp_path / "questions.jsonl", model=model, overrides=overrides)
        return gpus_of_plan(plan, selectors=selectors, others=others)

    assert gpus(SERVER) == 0
    assert gpus("transformers:some/model") == 1
    assert gpus("baseline:longest", judge_models=("vllm:some/model?tensor_parallel_size=2",)) == 2
    assert gpus(SERVER, selector="aks:clip:some/weights") == 1
    assert gpus(SERVER, selectors=["bolt:siglip:some/weights"]) == 1
    assert gpus(SERVER, others={"other": "+timeout_s=9"}) == 0
    assert gpus(SERVER, others={"other": "vllm:some/model"}) == 1


@pytest.mark.parametrize(
    ("wanted", "gpus", "expected"), [(1, [], 0), (1, [0, 0], 0), (2, [0, 8], 2), (0, [8], 0)]
)
def test_weights_take_gpus_where_a_cluster_has_them(wanted, gpus, expected):
    nodes = [{"Resources": {"CPU": 4.0, "GPU": float(n)}} for n in gpus]
    assert gpus_taken(Settings(), wanted, nodes) == expected


def test_settings_say_otherwise_and_machines_with_gpus_may_come():
    nodes = [{"Resources": {"CPU": 4.0}}]
    assert gpus_taken(Settings(gpus=0), 1, nodes) == 0
    assert gpus_taken(Settings(gpus=2), 0, nodes) == 2
    assert gpus_taken(Settings(replicas="1..4"), 1, nodes) == 1


def test_weights_that_no_machine_has_room_for_are_refused():
    with pytest.raises(UsageError, match="takes 4 GPUs, and no machine of the cluster has more than 2"):
        gpus_taken(Settings(), 4, [{"Resources": {"GPU": 2.0}}, {"Resources": {}}])
