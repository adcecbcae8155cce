"""How many workers there are and what each takes of its machine, as settings behind the address say."""

import pytest

from vidence.engine.executors.executor import executor_of
from vidence.engine.executors.replicas import n_asked_for, rooms, split_address
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
