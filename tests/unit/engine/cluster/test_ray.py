"""A cluster by its address: settings, what is missing, and a head that does not answer."""

import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from threading import Thread
from types import SimpleNamespace

import pytest

from vidence.engine.environment import Environment
from vidence.engine.executor import Parallelism, executor_of
from vidence.errors import UsageError, VidenceError

OPEN = "?insecure_cluster=true"
METHODS = ("/ray.rpc.NodeInfoGcsService/CheckAlive", "/ray.rpc.RayletDriver/ClusterInfo")


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
    said = rf"no Ray cluster at {address}: nothing answers at .*127\.0\.0\.2:1 \(.+\); run `ray start"
    with pytest.raises(UsageError, match=said), executor_of(address).connected():
        raise VidenceError("connected")


def test_what_ray_says_of_a_cluster_that_it_cannot_join_is_said(ray, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"ray://127.0.0.1:{server.getsockname()[1]}"

        def refuse(**_):
            raise ConnectionError("nothing is there")

        monkeypatch.setattr(ray, "init", refuse)
        said = f"no Ray cluster at {address}: nothing is there; run `ray start"
        with pytest.raises(UsageError, match=said), executor_of(f"{address}{OPEN}").connected():
            raise VidenceError("connected")


@contextmanager
def head(token):
    """What answers as the head of a cluster does; with an empty token to all."""
    grpc = pytest.importorskip("grpc", reason="Ray is installed without its client")

    class Head(grpc.GenericRpcHandler):
        def service(self, details):
            assert details.method in METHODS
            sent = dict(details.invocation_metadata).get("authorization", "")

            def say(request, context):
                if token and sent != f"Bearer {token}":
                    context.abort(grpc.StatusCode.UNAUTHENTICATED, "who is there?")
                return b""

            return grpc.unary_unary_rpc_method_handler(say)

    server = grpc.server(ThreadPoolExecutor(2), handlers=[Head()])
    port = server.add_insecure_port("127.0.0.2:0")  # Ray takes 127.0.0.1 for the outer address
    server.start()
    try:
        yield f"127.0.0.2:{port}"
    finally:
        server.stop(None)


@pytest.mark.parametrize("scheme", ["", "ray://"])
@pytest.mark.parametrize(
    ("token", "own", "said"),
    [
        ("", "", "runs code of any host that reaches its ports"),
        ("", "mine", "runs code of any host that reaches its ports"),
        ("theirs", "", "requires a token: set RAY_AUTH_MODE=token"),
        ("theirs", "mine", "requires another token: set RAY_AUTH_MODE=token"),
        ("theirs", "theirs", ""),
    ],
)
def test_a_cluster_is_joined_where_it_wants_a_token_and_knows_ours(
    ray, monkeypatch, scheme, token, own, said
):
    joined = []
    monkeypatch.setattr(ray, "init", lambda **given: joined.append(given["address"]))
    loader = SimpleNamespace(has_token=lambda **_: bool(own), get_raw_token=lambda **_: own)
    monkeypatch.setattr("ray._raylet.AuthenticationTokenLoader", SimpleNamespace(instance=lambda: loader))
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    with head(token) as place:
        monkeypatch.setenv("RAY_ADDRESS", place)
        named = f"ray://{place}" if scheme else "ray"
        if said:
            with pytest.raises(UsageError, match=said), executor_of(named).connected():
                raise VidenceError("connected")
            assert joined == []
            named += OPEN
        with executor_of(named).connected() as (_, at):
            assert at == place
    assert joined == [f"{scheme}{place}"]


def test_what_does_not_speak_as_ray_does_is_no_cluster(ray):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(5)
        address = f"ray://127.0.0.1:{server.getsockname()[1]}"

        def hang_up():
            with suppress(OSError):
                while True:
                    server.accept()[0].close()

        Thread(target=hang_up, daemon=True).start()
        said = f"no Ray cluster at {address}: nothing answers at {address} as Ray does"
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
            with executor_of(f"{address}{OPEN}").connected() as (_, at):
                assert f"ray://{at}" == address
            assert asked == [address, address, "end"]
            return
        said = f"the Ray cluster at {address} accepted no driver in two tries: RuntimeError: no server;"
        with pytest.raises(UsageError, match=said), executor_of(f"{address}{OPEN}").connected():
            raise VidenceError("connected")
