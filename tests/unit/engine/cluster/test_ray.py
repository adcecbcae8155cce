"""A cluster by its address: settings, what is missing, and a head that does not answer."""

import socket
import sys

import pytest

from vidence.engine.environment import Environment
from vidence.engine.executor import Parallelism, executor_of
from vidence.errors import UsageError, VidenceError


@pytest.fixture
def ray():
    return pytest.importorskip("ray", reason="Ray is not installed")


def test_without_ray_the_command_that_installs_it_is_named_before_anything_is_done(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"--on ray needs Ray, which is not installed: .*install.*ray"):
        Parallelism.of(Environment(cache_root=tmp_path, on="ray"))


@pytest.mark.parametrize(
    ("on", "said"),
    [
        ("ray?replicas=0.5", "replicas"),
        ("ray?replicas=-1", "replicas"),
        ("ray?cpus=many", "cpus"),
        ("ray?nodes=2", "nodes"),
    ],
)
def test_a_setting_that_is_none_is_refused(ray, on, said):
    with pytest.raises(UsageError, match=said):
        executor_of(on)


def test_only_models_with_weights_are_opened_on_machines(ray):
    executor = executor_of("ray://head:10001?replicas=8&gpus=1")
    assert executor.opener(["openai:gpt-5", "baseline:longest"]) is None
    assert executor.opener(["openai:gpt-5", "vllm:weights"]) is not None


@pytest.mark.parametrize("address", ["ray", "ray://127.0.0.2:1"])
def test_a_cluster_that_is_gone_is_said_at_once(ray, monkeypatch, address):
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.2:1")  # Ray takes 127.0.0.1 for this machine's outer address
    said = rf"no Ray cluster at {address}: nothing answers at .*127\.0\.0\.2:1 \(.+\); start one with"
    with pytest.raises(UsageError, match=said), executor_of(address).connected():
        raise VidenceError("connected")


def test_what_ray_says_of_a_cluster_that_it_cannot_join_is_said(ray, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"ray://127.0.0.1:{server.getsockname()[1]}"

        def refuse(**_):
            raise ConnectionError("nothing is there")

        monkeypatch.setattr(ray, "init", refuse)
        said = f"no Ray cluster at {address}: nothing is there; start one with `ray start"
        with pytest.raises(UsageError, match=said), executor_of(address).connected():
            raise VidenceError("connected")


@pytest.mark.parametrize("n_refused", [1, 2])
def test_a_head_that_was_too_slow_for_a_driver_is_asked_once_more(ray, monkeypatch, n_refused):
    asked = []

    def refuse(*, address, **_):
        asked.append(address)
        if len(asked) <= n_refused:
            raise ConnectionAbortedError("Initialization failure:\n  a line\nRuntimeError: no server\n")

    monkeypatch.setattr(ray, "init", refuse)
    monkeypatch.setattr(ray, "shutdown", lambda: asked.append("end"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"ray://127.0.0.1:{server.getsockname()[1]}"
        if n_refused == 1:
            with executor_of(address).connected():
                pass
            assert asked == [address, address, "end"]
            return
        said = f"the Ray cluster at {address} was asked twice and took no driver: RuntimeError: no server;"
        with pytest.raises(UsageError, match=said), executor_of(address).connected():
            raise VidenceError("connected")
