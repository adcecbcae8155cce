"""A cluster whose machines are processes of this one: the same trials; faults cost what is in flight."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import anyio
import msgspec
import numpy as np
import psutil
import pytest
from PIL import Image

from servers import ray_machines
from servers.growing_cluster import connect, growing_cluster
from servers.objects import on_loopback
from servers.openai_stub import Canned, OpenAIStub
from servers.ray_machines import PATIENCE_S, STORE_BYTES, kill_one, workers
from vidence.engine import evaluate
from vidence.engine.diagnose import diagnose, open_diagnostic
from vidence.engine.environment import Environment
from vidence.engine.events import MachineLost
from vidence.engine.executors import actors, dispatch
from vidence.engine.executors import ray as executor
from vidence.engine.executors.executor import executor_of
from vidence.engine.prepare import make_plan
from vidence.engine.store import RunStore
from vidence.errors import AccessError, UsageError, VidenceError

LATENCY_S = 0.1

# ------------------------------------------------------------------ without a cluster


def test_without_ray_the_command_that_installs_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"--on ray needs Ray, which is not installed: .*install.*ray"):
        executor_of("ray")


# ------------------------------------------------------------------ with one


@pytest.fixture(scope="module")
def ray():
    return pytest.importorskip("ray", reason="Ray is not installed")


@pytest.fixture
def connection(ray, cluster):
    with ray_machines.connection(cluster.address):
        yield


class Bench:
    """Questions about pictures, and runs over them that ask a server."""

    def __init__(self, folder: Path, server: OpenAIStub) -> None:
        self.folder, self.server = folder, server
        self.events = []

    def write(self, n_items: int, *, per_medium: int = 4) -> None:
        rows = []
        for i in range(n_items):
            name = f"{i // per_medium}.png"
            if i % per_medium == 0:
                Image.fromarray(np.full((24, 32, 3), i % 250, np.uint8)).save(self.folder / name)
            rows.append(
                {
                    "item_id": f"q{i}",
                    "question": f"Question {i}?",
                    "choices": ["x", "y"],
                    "answer": "A",
                    "media": [{"path": name, "kind": "image"}],
                }
            )
        (self.folder / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))

    @property
    def spec(self) -> str:
        return f"openai:m?base_url={self.server.base_url}"

    def run(self, out: str = "run", *, on: str = "ray", **overrides):
        overrides = {"concurrency": 8, "memory": str(self.folder / f"{out}.sqlite"), **overrides}
        model = overrides.pop("model", self.spec)
        plan = make_plan("table", data=self.folder / "questions.jsonl", model=model, overrides=overrides)

        async def go():
            return await evaluate.run(
                plan,
                self.folder / out,
                environment=Environment(cache_root=self.folder / "cache", n_workers=1, on=on),
                now=datetime(2026, 1, 1, tzinfo=UTC),
                on_event=self.events.append,
            )

        return anyio.run(go)

    def trials(self, out: str = "run"):
        with RunStore(self.folder / out) as store:
            return list(store.trials())

    @contextmanager
    def when(self, n_requests: int, act):
        """Do something as soon as so many requests came."""

        def wait():
            end_s = time.monotonic() + PATIENCE_S
            while self.server.n_requests < n_requests and time.monotonic() < end_s:
                time.sleep(0.01)
            act()

        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        yield
        thread.join(PATIENCE_S)


@pytest.fixture
def bench(tmp_path):
    with OpenAIStub(answer="Answer: A", latency_s=LATENCY_S, keep_bodies=False) as server:
        yield Bench(tmp_path, server)


def bare(trial):
    built = msgspec.to_builtins(trial)
    built["reply"].pop("latency_s", None)
    return built


pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning"
)


@pytest.mark.parametrize("model", ["", "baseline:longest"])
def test_a_cluster_makes_the_same_trials(bench, connection, model):
    bench.write(80)
    chosen = {"model": model} if model else {}
    local = bench.run("local", on="local", **chosen)
    summary = bench.run(**chosen)
    assert [bare(t) for t in bench.trials()] == [bare(t) for t in bench.trials("local")]
    assert bench.server.n_requests == (0 if model else 160)
    assert (summary.n_tried, summary.n_failed, summary.input_tokens) == (80, 0, local.input_tokens)


def test_a_cluster_reads_videos_at_an_address(bench, connection, monkeypatch):
    with on_loopback(monkeypatch) as server:
        bench.write(8)
        for path in bench.folder.glob("*.png"):
            server.put("lab", path.name, path.read_bytes())
        bench.run("local", on="local")
        bench.run(media=f"{server.url}/lab")
        assert [bare(t)["prompt"] for t in bench.trials()] == [
            bare(t)["prompt"] for t in bench.trials("local")
        ]
        assert set(server.sent) == {"lab/0.png", "lab/1.png"}


def test_a_worker_that_is_killed_costs_what_it_had_in_flight(bench, connection):
    bench.write(160)
    with bench.when(40, kill_one):
        summary = bench.run()
    assert (summary.n_tried, summary.n_failed) == (160, 0)
    assert 160 <= bench.server.n_requests <= 160 + 8
    assert sum(isinstance(event, MachineLost) for event in bench.events) == 1


def test_a_machine_that_is_lost_costs_what_it_had_in_flight(bench, connection, cluster):
    bench.write(160)

    def remove():
        cluster.remove_node(cluster.vidence_node, allow_graceful=False)

    try:
        with bench.when(40, remove):
            summary = bench.run()
    finally:
        cluster.vidence_node = cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES)
    assert (summary.n_tried, summary.n_failed) == (160, 0)
    assert 160 <= bench.server.n_requests <= 160 + 8


def test_a_machine_that_hangs_is_given_up(bench, connection, monkeypatch):
    monkeypatch.setattr(executor, "STALLED_S", 3.0)
    bench.write(80)
    stopped = []

    def stop():
        stopped.append(workers()[0])
        stopped[0].send_signal(signal.SIGSTOP)

    try:
        with bench.when(20, stop):
            summary = bench.run()
    finally:
        for process in stopped:
            with suppress(psutil.NoSuchProcess):
                process.kill()
    assert (summary.n_tried, summary.n_failed) == (80, 0)
    assert bench.server.n_requests <= 80 + 8


def command(bench, on: str) -> list[str]:
    """The run as a command of its own process."""
    words = ["run", "table", "--data", str(bench.folder / "questions.jsonl"), "--model", bench.spec]
    words += ["--out", str(bench.folder / "run"), "--on", on, "--concurrency", "8", "--no-page"]
    return [sys.executable, "-m", "vidence", *words]


def test_a_driver_that_is_killed_goes_on_where_it_stopped(bench, cluster):
    bench.write(120)
    env = os.environ | {"VIDENCE_CACHE": str(bench.folder / "cache")}
    driver = subprocess.Popen(
        command(bench, "ray"), env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    end_s = time.monotonic() + PATIENCE_S
    while bench.server.n_requests < 60 and time.monotonic() < end_s:
        time.sleep(0.01)
    driver.kill()
    driver.wait()
    n_before = len(bench.trials())
    assert 0 < n_before < 120
    done = subprocess.run(command(bench, "ray"), env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(bench.trials()) == 120
    # Each worker has 4 requests in flight, and 2 more questions under way: replies may wait for the disk.
    assert bench.server.n_requests <= 120 + 2 * (4 + 2)


def heard(**given) -> subprocess.Popen:
    """A process that hears SIGINT, also where the tests themselves run in the background."""
    return subprocess.Popen(
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **given,
    )


def test_a_run_under_way_is_listed_viewed_and_ends_with_ctrl_c(bench, connection, ray, tmp_path):
    bench.write(400)
    bench.server.latency_s = 0.5  # 25 s in all
    env = os.environ | {"VIDENCE_CACHE": str(bench.folder / "cache")}

    def vidence(*words):
        words = [sys.executable, "-m", "vidence", *map(str, words)]
        return subprocess.run(words, env=env, capture_output=True, text=True, check=True)

    driver = heard(args=command(bench, "ray"), env=env)
    end_s = time.monotonic() + 2 * PATIENCE_S
    while bench.server.n_requests < 20 and time.monotonic() < end_s:
        time.sleep(0.01)
    names = [one["name"] for one in ray.util.list_named_actors(all_namespaces=True)]
    listed = vidence("runs", bench.folder, "--json", "-")
    vidence("view", bench.folder / "run", "--export", tmp_path / "pages", "--most", "5")
    driver.send_signal(signal.SIGINT)
    said, _ = driver.communicate(timeout=2 * PATIENCE_S)
    assert driver.returncode == 130, said
    assert f"vidence resume {bench.folder / 'run'}" in said
    assert len(names) == 2
    assert all(name.startswith(f"vidence {socket.gethostname()} ") for name in names)
    (row,) = json.loads(listed.stdout)["runs"]
    assert row["status"] == "running"
    assert (tmp_path / "pages" / "index.html").is_file()
    assert 0 < len(bench.trials()) < 400
    while ray.util.list_named_actors(all_namespaces=True) and time.monotonic() < end_s:
        time.sleep(0.05)
    assert not ray.util.list_named_actors(all_namespaces=True)
    bench.server.latency_s = 0.0
    vidence("resume", bench.folder / "run", "--on", "local", "--no-page")
    assert len(bench.trials()) == 400
    assert bench.server.n_requests <= 400 + 2 * (4 + 2)


SHIFTED = """
import os, time
from pathlib import Path
ahead_s = 86_400.0
wall, steady = time.time, time.monotonic
time.time, time.monotonic = lambda: wall() + ahead_s, lambda: steady() + ahead_s
Path(os.environ["SHIFTED"], str(os.getpid())).write_text(str(time.time()))
"""


def test_clocks_that_are_a_day_apart_change_nothing(bench, connection, cluster, tmp_path):
    folder = tmp_path / "shifted"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(SHIFTED)
    path = os.pathsep.join([str(folder), os.environ["PYTHONPATH"]])
    variables = {"PYTHONPATH": path, "SHIFTED": str(folder)}
    node = cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES, env_vars=variables)
    bench.write(120)
    seen = []
    try:
        with bench.when(40, lambda: seen.extend(one.pid for one in workers())):
            summary = bench.run(concurrency=12)
    finally:
        cluster.remove_node(node)
    ahead = [pid for pid in seen if (folder / str(pid)).is_file()]
    assert (len(seen), len(ahead)) == (3, 1)
    assert float((folder / str(ahead[0])).read_text()) > time.time() + 80_000
    assert (summary.n_tried, summary.n_failed, bench.server.n_requests) == (120, 0, 120)
    assert not any(isinstance(event, MachineLost) for event in bench.events)


def test_a_driver_outside_of_the_cluster_is_its_client(bench, cluster):
    pytest.importorskip("grpc", reason="Ray is installed without its client")
    bench.write(40)
    env = os.environ | {"VIDENCE_CACHE": str(bench.folder / "cache")}
    env.pop("RAY_ADDRESS")
    words = command(bench, cluster.vidence_address)
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    if "was asked twice and took no driver" in done.stderr:
        pytest.skip("Ray gives its own client server 30 s to begin, which this machine is too busy for")
    assert done.returncode == 0, done.stderr
    assert (len(bench.trials()), bench.server.n_requests) == (40, 40)


def stop_a_decoder() -> None:
    """Stop the first decoder of a worker that there is: it hangs."""
    end_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < end_s:
        for worker in workers():
            with suppress(psutil.Error):
                for child in worker.children():
                    if any("vidence.engine.worker" in word for word in child.cmdline()):
                        child.send_signal(signal.SIGSTOP)
                        return
        time.sleep(0.01)


def test_a_decoder_that_hangs_on_one_machine_holds_up_nobody(bench, connection):
    bench.write(80)
    began_s = time.monotonic()
    with bench.when(0, stop_a_decoder):
        summary = bench.run(decode_timeout_s=30)
    # The other machine is given the video as well, and is done before the deadline.
    assert (summary.n_tried, summary.n_failed) == (80, 0)
    assert time.monotonic() - began_s < 30


def test_another_version_on_a_machine_ends_the_run(bench, connection, monkeypatch):
    bench.write(4)
    monkeypatch.setattr(actors, "hello", lambda: actors.Hello(vidence="9.9", git_revision=""))
    with pytest.raises(UsageError, match=r"has vidence .*, and the run begins with 9\.9; install the same"):
        bench.run()


def test_replies_that_fill_the_store_of_objects_come_through(bench, connection):
    bench.write(120)
    bench.server.answer = "Answer: A " + "very " * 200_000  # 120 MB in all, and 80 MB on each machine
    bench.server.latency_s = 0.0
    summary = bench.run()
    assert (summary.n_tried, summary.n_failed) == (120, 0)


def test_an_error_of_the_server_ends_the_run(bench, connection):
    bench.write(40)
    bench.server.canned_for = lambda seen: Canned(status=401)
    with pytest.raises(AccessError):
        bench.run()


@pytest.mark.parametrize("address", ["ray", "ray://127.0.0.2:1"])
def test_a_cluster_that_is_gone_is_said_at_once(ray, monkeypatch, address):
    monkeypatch.setenv(
        "RAY_ADDRESS", "127.0.0.2:1"
    )  # Ray takes 127.0.0.1 for the outer address of this machine
    said = rf"no Ray cluster at {address}: nothing answers at .*127\.0\.0\.2:1 \(.+\); start one with"
    with pytest.raises(UsageError, match=said), executor.connected(ray, address):
        raise VidenceError("connected")


def test_what_ray_says_of_a_cluster_that_it_cannot_join_is_said(ray, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"ray://127.0.0.1:{server.getsockname()[1]}"

        def refuse(**_):
            raise ConnectionError("nobody is there")

        monkeypatch.setattr(ray, "init", refuse)
        said = f"no Ray cluster at {address}: nobody is there; start one with `ray start"
        with pytest.raises(UsageError, match=said), executor.connected(ray, address):
            raise VidenceError("connected")


@pytest.mark.parametrize("n_refused", [1, 2])
def test_a_head_that_was_too_slow_for_a_driver_is_asked_once_more(ray, monkeypatch, n_refused):
    asked = []

    def refuse(*, address, **_):
        asked.append(address)
        if len(asked) <= n_refused:
            raise ConnectionAbortedError(
                "Initialization failure from server:\nTraceback:\n  a line\nRuntimeError: no server\n"
            )

    monkeypatch.setattr(ray, "init", refuse)
    monkeypatch.setattr(ray, "shutdown", lambda: asked.append("end"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"ray://127.0.0.1:{server.getsockname()[1]}"
        if n_refused == 1:
            with executor.connected(ray, address):
                pass
            assert asked == [address, address, "end"]
            return
        said = (
            f"the Ray cluster at {address} was asked twice and took no driver: RuntimeError: no server; try"
        )
        with pytest.raises(UsageError, match=said), executor.connected(ray, address):
            raise VidenceError("connected")


def test_a_diagnostic_finds_the_same_on_a_cluster(bench, connection, monkeypatch):
    # A unit that takes long is given to a second worker, and what that one remembers it did not ask.
    monkeypatch.setattr(dispatch, "_LEAST_S", PATIENCE_S)
    bench.write(16)
    found = {}
    for on in ("local", "ray"):
        plan = make_plan(
            "table",
            data=bench.folder / "questions.jsonl",
            model=bench.spec,
            overrides={"concurrency": 8, "memory": str(bench.folder / f"{on}.sqlite")},
        )
        diagnostic = open_diagnostic("modality", {})

        async def go(plan=plan, diagnostic=diagnostic, on=on):
            return await diagnose(
                diagnostic,
                plan,
                bench.folder / on,
                options={},
                environment=Environment(cache_root=bench.folder / "cache", n_workers=1, on=on),
                now=datetime(2026, 1, 1, tzinfo=UTC),
                on_event=bench.events.append,
            )

        account = anyio.run(go)
        with RunStore(bench.folder / on) as store:
            findings = store.findings("modality", diagnostic.finding)
        found[on] = [one.finding for one in findings.values()], account.n_examined, account.n_asked
    assert found["ray"] == found["local"]
    assert found["ray"][1] == 16


def test_bounds_hold_and_the_cluster_is_asked_for_more(bench, connection, asked_for):
    bench.write(40)
    seen = []
    with bench.when(20, lambda: seen.extend(workers())):
        summary = bench.run(on="ray?replicas=1&cpus=1")
    assert (summary.n_tried, len(seen)) == (40, 1)
    assert asked_for == [[{"CPU": 1.0}], []]
    bench.run("more", on="ray?replicas=1..6&cpus=1")
    assert asked_for[2] == [{"CPU": 1.0}] * 6
    assert asked_for[-1] == []


def test_a_worker_with_nothing_to_do_is_given_back(bench, connection, asked_for, monkeypatch):
    monkeypatch.setattr(executor, "IDLE_S", 0.5)
    monkeypatch.setattr(dispatch, "_LEAST_S", PATIENCE_S)  # the only unit stays with one worker
    bench.write(24, per_medium=24)
    bench.server.latency_s = 2.0  # four at a time: 12 s
    seen = []
    with bench.when(21, lambda: seen.extend(workers())):
        summary = bench.run(on="ray?replicas=1..2")
    assert (summary.n_tried, summary.n_failed, bench.server.n_requests) == (24, 0, 24)
    assert len(seen) == 1
    assert asked_for == [[{"CPU": 1.0}] * 2, [{"CPU": 1.0}], []]


def test_an_autoscaler_brings_the_machines_that_are_asked_for(bench, ray, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    monkeypatch.setenv("VIDENCE_CACHE", str(tmp_path / "cache"))
    bench.write(80)
    bench.server.latency_s = 1.0
    n_alive = []
    with growing_cluster(tmp_path, most=3, store_bytes=STORE_BYTES) as address:
        connect(address, patience_s=2 * PATIENCE_S)
        try:
            n_before = sum(one["Alive"] for one in ray.nodes())
            with bench.when(60, lambda: n_alive.append(sum(one["Alive"] for one in ray.nodes()))):
                summary = bench.run(on="ray?replicas=1..2&cpus=1")
        finally:
            ray.shutdown()
    assert (summary.n_tried, summary.n_failed) == (80, 0)
    assert n_before == 1
    assert 2 <= n_alive[0] <= 3


@pytest.mark.torch
def test_replicas_of_weights_are_workers(bench, connection, cluster, tmp_path):
    pytest.importorskip("transformers")
    from servers.tiny_vlm import build

    build(tmp_path / "tiny")
    bench.write(16)
    model = f"transformers:{tmp_path / 'tiny'}"
    chosen = {"model": model, "max_tokens": 4}
    bench.run("local", on="local", **chosen)
    node = cluster.add_node(num_cpus=2, num_gpus=2, object_store_memory=STORE_BYTES)  # so it is told
    seen = []

    def look():
        end_s = time.monotonic() + PATIENCE_S
        while len(seen) < 2 and time.monotonic() < end_s:
            seen[:] = workers()
            time.sleep(0.05)

    try:
        with bench.when(0, look):
            bench.run(**chosen)
    finally:
        cluster.remove_node(node)
    assert len(seen) == 2
    assert [t.reply.text for t in bench.trials()] == [t.reply.text for t in bench.trials("local")]
