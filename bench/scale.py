"""How far a cluster scales: several machines as processes of this one, and a driver that is fed by nobody.

    python bench/scale.py [--nodes 1 2 4 8] [--questions 1600] [--in-flight 4]
        [--driver 2000 200000] [--floor 30]

Needs the extra `ray`. The server answers after 300 ms, so that asking is the limit and not the processor;
each machine has one processor and may have four requests in flight. It is no part of `bench/run.py`: its
figures stand in docs/design/scale.md, with the load of the machine.
"""

import argparse
import itertools
import json
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock

import anyio
import msgspec
import numpy as np
import psutil
from PIL import Image

from vidence.engine import evaluate
from vidence.engine.environment import Environment
from vidence.engine.evaluate import opened_run
from vidence.engine.events import TrialStored
from vidence.engine.executors import ray as ray_executor
from vidence.engine.executors.dispatch import Dispatch
from vidence.engine.executors.executor import Duty
from vidence.engine.executors.messages import Find, Inbound, Outbound, PutReply, QuestionResult
from vidence.engine.executors.ray import answer
from vidence.engine.prepare import make_plan
from vidence.engine.session import Planned, opened_session
from vidence.engine.store import RunStore
from vidence.engine.views import DecodeCount
from vidence.records import Prompt, Reply, TextPart, Trial

LATENCY_S = 0.3
PER_CLIP = 8
STORE_BYTES = 80 * 2**20
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def write(folder: Path, n: int, *, with_media: bool) -> Path:
    """Questions, eight on each clip."""
    path = folder / "questions.jsonl"
    with path.open("w") as lines:
        for i in range(n):
            row = {"item_id": f"q{i}", "question": f"Question {i}?", "choices": ["x", "y"], "answer": "A"}
            if with_media:
                name = f"{i // PER_CLIP}.png"
                if i % PER_CLIP == 0:
                    Image.fromarray(np.full((360, 640, 3), i % 250, np.uint8)).save(folder / name)
                row["media"] = [{"path": name, "kind": "image"}]
            lines.write(json.dumps(row) + "\n")
    return path


def workers() -> list[psutil.Process]:
    found = []
    for one in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if any("ray::" in word and "Machine" in word for word in one.cmdline()):
                found += [one, *one.children(recursive=True)]
    return found


class Processors:
    """What the processes of workers have done, looked at every two seconds."""

    def __init__(self) -> None:
        self._seen: dict[int, float] = {}
        self._at_s = 0.0

    def look(self) -> None:
        if time.monotonic() - self._at_s > 2:
            self._at_s = time.monotonic()
            for one in workers():
                with suppress(psutil.Error):
                    times = one.cpu_times()
                    self._seen[one.pid] = times.user + times.system

    @property
    def total_s(self) -> float:
        return sum(self._seen.values())


def run(folder: Path, data: Path, out: str, *, on: str, base_url: str, concurrency: int) -> dict[str, float]:
    """One run; how long it asked, and what processors did."""
    plan = make_plan(
        "table",
        data=data,
        model=f"openai:m?base_url={base_url}",
        overrides={"concurrency": concurrency, "memory": str(folder / f"{out}.replies.sqlite")},
    )
    processors, tried_s, n_calls = Processors(), [], itertools.count()

    class Counting(Dispatch):
        def heard(self, worker: str, outbound: Outbound) -> Inbound:
            next(n_calls)
            return super().heard(worker, outbound)

    def heard(event: object) -> None:
        if isinstance(event, TrialStored):
            tried_s.append(time.monotonic())
            if on != "local":
                processors.look()

    async def go() -> None:
        await evaluate.run(
            plan,
            folder / out,
            environment=Environment(cache_root=folder / f"cache-{out}", n_workers=1, on=on),
            now=NOW,
            on_event=heard,
        )

    children_s = resource.getrusage(resource.RUSAGE_CHILDREN)
    before_s, began_s = time.process_time(), time.monotonic()
    with mock.patch.object(ray_executor, "Dispatch", Counting):
        anyio.run(go)
    decoders = resource.getrusage(resource.RUSAGE_CHILDREN)
    decoded_s = decoders.ru_utime + decoders.ru_stime - children_s.ru_utime - children_s.ru_stime
    return {
        "whole_s": time.monotonic() - began_s,
        "asking_s": max(tried_s) - min(tried_s) + LATENCY_S,
        "calls": next(n_calls),
        "driver_cpu_s": time.process_time() - before_s,
        "workers_cpu_s": decoded_s if on == "local" else processors.total_s,
    }


@contextmanager
def server(folder: Path):
    """The address of a server of its own process."""
    port_file = folder / "port"
    command = [sys.executable, str(Path(__file__).with_name("stub.py")), "--port-file", str(port_file)]
    process = subprocess.Popen([*command, "--latency-s", str(LATENCY_S)])
    try:
        while not port_file.exists() or not port_file.read_text():
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port_file.read_text().strip()}/v1"
    finally:
        process.kill()
        process.wait()


@contextmanager
def cluster(n: int, cache: Path):
    import ray
    from ray.cluster_utils import Cluster

    os.environ["VIDENCE_CACHE"] = str(cache)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    size = {"num_cpus": 1, "object_store_memory": STORE_BYTES}
    found = Cluster(initialize_head=True, head_node_args={**size, "include_dashboard": False})
    for _ in range(n - 1):
        found.add_node(**size)
    ray.init(address=found.address, namespace="vidence", log_to_driver=False, logging_level="ERROR")
    try:
        yield
    finally:
        ray.shutdown()
        found.shutdown()


def spread(n_nodes: list[int], n_questions: int, *, in_flight: int) -> None:
    """Efficiency on 1, 2, 4, 8 machines, and the local run beside them."""
    print(
        "| on | machines | asking | efficiency | whole | calls | CPU driver "
        "| CPU workers and decoders | load |"
    )
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as name, server(Path(name)) as base_url:
        folder = Path(name)
        data = write(folder, n_questions, with_media=True)
        for n in [0, *n_nodes]:
            asked = {"base_url": base_url, "concurrency": in_flight * max(n, 1)}
            if n == 0:
                found = run(folder, data, "local", on="local", **asked)
            else:
                with cluster(n, folder / f"cache-{n}"):
                    found = run(folder, data, f"ray-{n}", on="ray", **asked)
            ideal_s = n_questions * LATENCY_S / (in_flight * max(n, 1))
            print(
                f"| {'ray' if n else 'local'} | {max(n, 1)} | {found['asking_s']:.1f} s | "
                f"{ideal_s / found['asking_s']:.2f} | {found['whole_s']:.1f} s | "
                f"{found['calls']} | {found['driver_cpu_s']:.2f} s | {found['workers_cpu_s']:.2f} s | "
                f"{os.getloadavg()[0]:.1f} |",
                flush=True,
            )


class Bare:
    """An actor that does nothing: what Ray itself takes of a worker's processor."""

    async def spent_s(self) -> float:
        return time.process_time()

    async def exchange(self, said: bytes) -> bytes:
        await anyio.sleep(0.02)
        return said


def floor(seconds: float, *, n_calls: int = 400) -> None:
    """A worker without vidence: to begin, idle for some seconds, and for a call of 1 KB, there and here."""
    with tempfile.TemporaryDirectory() as name, cluster(1, Path(name)):
        import ray

        async def go() -> dict[str, float]:
            actor = ray.remote(Bare).options(num_cpus=1, max_concurrency=64).remote()
            begun_s = await answer(actor.spent_s.remote())
            await anyio.sleep(seconds)
            idle_s = await answer(actor.spent_s.remote()) - begun_s
            before_s, here_s = await answer(actor.spent_s.remote()), time.process_time()
            for _ in range(n_calls):
                await answer(actor.exchange.remote(bytes(1024)))
            here_s = time.process_time() - here_s
            called_s = await answer(actor.spent_s.remote()) - before_s
            return {
                "begin_cpu_s": begun_s,
                "idle_ms_per_s": 1000 * idle_s / seconds,
                "worker_ms_per_call": 1000 * called_s / n_calls,
                "driver_ms_per_call": 1000 * here_s / n_calls,
            }

        print(json.dumps(anyio.run(go) | {"load": os.getloadavg()[0]}), flush=True)


def most_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def drive(n: int) -> None:
    """A driver with `n` questions that is told what workers would tell: its rate, and its memory."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = write(folder, n, with_media=False)

        async def go() -> dict[str, float]:
            plan = make_plan("table", data=data, model="baseline:longest", overrides={"concurrency": 64})
            environment = Environment(cache_root=folder / "cache", n_workers=1)
            first = msgspec.structs.replace(plan, limit=1)
            await evaluate.run(
                first, folder / "one", environment=environment, now=NOW, on_event=lambda e: None
            )
            with RunStore(folder / "one") as store:
                (trial,) = store.trials()
            opened = opened_session(plan, environment=environment, now=NOW, on_event=lambda event: None)
            async with opened as session:
                with opened_run(folder / "run", session.prepared) as store:
                    return fed(session, store, trial)

        found = anyio.run(go)
        print(json.dumps(found | {"n": n, "rss_mb": most_mb()}))


def with_words(trial: Trial) -> Trial:
    """The trial with a prompt and a reply as long as they usually are."""
    words = " ".join(f"word{i}" for i in range(200))
    prompt = Prompt(parts=(TextPart(text=words),), choices=("x", "y"))
    return msgspec.structs.replace(trial, prompt=prompt, reply=Reply(text=words[:600]))


def fed(session, store, trial) -> dict[str, float]:
    """Hand a dispatch what 8 workers say: for each question a look-up, a reply and a trial of its own."""
    raw = pickle.dumps(with_words(trial))
    todo = Planned(session.prepared.items, n_repeats=1, numbers=store.unanswered(1))

    def keep(tried: TrialStored) -> None:
        store.add(tried.trial)

    duty = Duty(
        todo=todo,
        task=None,
        keep=keep,
        together=store.together,
        n_consumers=64,
        most_each=None,
        count=DecodeCount(),
    )
    dispatch = Dispatch(session, duty, clock=time.monotonic)
    names = [f"worker {n}" for n in range(8)]
    for one in names:
        dispatch.join(one)
    numbers, inbounds = dict.fromkeys(names, 0), {one: dispatch.first(one) for one in names}
    spent_s, n_done, n_bytes = 0.0, 0, 0
    while not dispatch.is_over:
        for one in names:
            messages = []
            for unit in inbounds[one].units:
                for item, repeat in unit.todo:
                    key = item.item_id.encode().rjust(32, b"k")
                    own = msgspec.structs.replace(pickle.loads(raw), item_id=item.item_id)  # noqa: S301
                    made = TrialStored(trial=own, cost=0.0)
                    for message in (
                        Find(key=key, claims=True),
                        PutReply(key=key, reply=own.reply),
                        QuestionResult(unit=unit.number, item_id=item.item_id, repeat=repeat, what=made),
                    ):
                        numbers[one] += 1
                        messages.append((numbers[one], message))
                    n_done += 1
            said = pickle.dumps(Outbound(messages=messages, n_wanted=4, has_ended=False))
            began_s = time.process_time()
            inbounds[one] = dispatch.heard(one, pickle.loads(said))  # noqa: S301 - our own
            n_bytes += len(said)
            spent_s += time.process_time() - began_s
    return {"trials_per_cpu_s": n_done / spent_s, "bytes_of_a_trial": n_bytes / n_done}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, nargs="*", default=[1, 2, 4, 8])
    parser.add_argument("--questions", type=int, default=1600)
    parser.add_argument("--in-flight", type=int, default=4, help="requests at a time of each machine")
    parser.add_argument("--driver", type=int, nargs="*", default=[2_000, 200_000])
    parser.add_argument("--floor", type=float, default=0.0, help="seconds that a bare actor is idle")
    parser.add_argument("--drive", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.drive:
        drive(given.drive)
        return
    for n in given.driver:
        subprocess.run([sys.executable, __file__, "--drive", str(n)], check=True)
    if given.floor:
        floor(given.floor)
    if given.nodes:
        spread(given.nodes, given.questions, in_flight=given.in_flight)


if __name__ == "__main__":
    main()
