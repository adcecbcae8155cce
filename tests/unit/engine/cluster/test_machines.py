"""Calls of machines that are lost, hang or differ, with actors that are objects of this process."""

import asyncio
import concurrent.futures
import os
import pickle
import socket
import threading
from contextlib import contextmanager, nullcontext
from functools import partial
from types import SimpleNamespace

import anyio
import pytest

from vidence.engine.cluster import machines
from vidence.engine.cluster.machines import MOST_LOSSES, Machine, MachineProcesses, Machines, Size, places
from vidence.errors import LostClusterError, MediaError, UsageError, VidenceError
from vidence.media import remote


class RayError(Exception):
    pass


class RayTaskError(RayError):
    pass


class Actor:
    """An actor whose methods run in the loop of the test; it dies when `dies` says so of a call."""

    def __init__(self, cluster, kind):
        self._cluster, self._object, self.is_dead = cluster, kind(), False

    def __getattr__(self, method):
        return SimpleNamespace(remote=partial(self._call, method))

    def _call(self, method, *words, **named):
        future = concurrent.futures.Future()

        async def go():
            try:
                if self.is_dead or self._cluster.dies(method):
                    self.is_dead = True
                    raise RayError("the actor died")
                future.set_result(await getattr(self._object, method)(*words, **named))
            except RayError as error:
                future.set_exception(error)
            except Exception as error:  # noqa: BLE001 - Ray gives what a method raises so
                future.set_exception(RayTaskError(str(error)))

        self._cluster.tasks.append(asyncio.get_running_loop().create_task(go()))
        return SimpleNamespace(future=lambda: future)


class Cluster:
    """What `machines` wants of Ray: nodes, actors and its errors."""

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    def __init__(self, *cpus, dies=lambda method: False):
        self.dies, self.actors, self.options, self.tasks = dies, [], [], []
        self._nodes = [
            {
                "NodeID": f"{n:056x}",
                "NodeManagerHostname": f"host{n}",
                "Alive": True,
                "Resources": {"CPU": float(c)},
            }
            for n, c in enumerate(cpus)
        ]

    def nodes(self):
        return self._nodes

    def method(self, **_):
        return lambda method: method

    def remote(self, **_):
        def options(kind, **given):
            self.options.append(given)
            return SimpleNamespace(remote=partial(self._made, kind))

        return lambda kind: SimpleNamespace(options=partial(options, kind))

    def _made(self, kind):
        self.actors.append(Actor(self, kind))
        return self.actors[-1]

    def kill(self, actor):
        actor.is_dead = True


@pytest.fixture(autouse=True)
def _strategies(monkeypatch):
    pytest.importorskip("ray", reason="Ray is not installed")
    monkeypatch.chdir(os.getcwd())  # an actor goes to the folder of its driver


@contextmanager
def connecting(cluster):
    """What connects to the cluster, whose head listens meanwhile."""
    with socket.create_server(("127.0.0.1", 0)) as cluster.head:
        yield partial(nullcontext, (cluster, f"127.0.0.1:{cluster.head.getsockname()[1]}"))


def done(cluster, pieces, *, size=None, deadline_s=60.0):
    """What came of each piece, how many are done at a time, and what was said of machines."""
    said = []

    async def go(connected):
        found = {}
        async with MachineProcesses(connected, size or Size(), on_trouble=said.append) as processes:

            async def run(key, work):
                try:
                    found[key] = await processes.run(key, work, deadline_s=deadline_s)
                except VidenceError as error:
                    found[key] = error

            async with anyio.create_task_group() as tasks:
                for key, work in pieces.items():
                    tasks.start_soon(run, key, work)
            return found, processes.n_places

    with connecting(cluster) as connected:
        return *anyio.run(go, connected), said


def replied(cluster, words, *, most_calls):
    """What the actors reply to each of these words, of which several are on their way at a time."""

    async def go(connected):
        found, pool = {}, Machines(connected, Size(), on_trouble=pytest.fail)
        pool.open()
        waiting = enumerate(words)

        async def ask():
            for number, word in waiting:
                found[number] = await pool.call("reply", word, most_calls=most_calls)

        async with anyio.create_task_group() as tasks:
            for _ in range(most_calls * len(pool.places)):
                tasks.start_soon(ask)
        await pool.close()
        return [found[number] for number in range(len(words))]

    with connecting(cluster) as connected:
        return anyio.run(go, connected)


def dying(n, *, of="exchange"):
    """The first `n` calls of a method cost the actor."""
    left = [n]

    def dies(method):
        left[0] -= method == of
        return method == of and left[0] >= 0

    return dies


def test_work_is_done_by_all_machines_with_its_errors():
    cluster = Cluster(1, 2)
    pieces = {f"{n}.mp4": partial(pow, n, 2) for n in range(6)} | {"odd.mp4": partial(int, "x")}
    found, n_places, said = done(cluster, pieces)
    assert (n_places, len(cluster.actors), said) == (3, 2, [])
    assert [found[f"{n}.mp4"] for n in range(6)] == [0, 1, 4, 9, 16, 25]
    assert isinstance(found["odd.mp4"], MediaError)
    assert "odd.mp4: reading it ended with ValueError" in str(found["odd.mp4"])
    assert [one["num_cpus"] for one in cluster.options] == [1, 2]


def test_what_a_lost_machine_had_is_done_again_in_its_place():
    cluster = Cluster(1, dies=dying(1))
    found, _, said = done(cluster, {"a.mp4": partial(pow, 3, 2)})
    assert found == {"a.mp4": 9}
    assert said == ["host0: its worker is lost (the actor died); others do its work"]
    assert len(cluster.actors) == 2


def test_work_that_machines_die_of_is_set_aside():
    cluster = Cluster(1, 1, dies=dying(MOST_LOSSES))
    found, _, said = done(cluster, {"a.mp4": partial(pow, 3, 2)})
    assert isinstance(found["a.mp4"], MediaError)
    assert str(found["a.mp4"]) == "a.mp4: 3 workers of the cluster were lost with this file; it is skipped"
    assert len(said) >= MOST_LOSSES - 1  # the work ends with the last


def test_where_no_machine_can_begin_the_work_ends():
    cluster = Cluster(1, dies=dying(99, of="begin"))
    found, _, said = done(cluster, {"a.mp4": partial(pow, 3, 2)})
    assert "no machine of the cluster works any more (the actor died)" in str(found["a.mp4"])
    assert len(said) == len(cluster.actors) == MOST_LOSSES


def test_calls_go_many_at_a_time_and_what_they_share_once(monkeypatch):
    sent = []

    class Replying(Machine):
        async def exchange(self, content):
            sent.append(len(content))
            return await super().exchange(content)

        async def reply(self, word):
            return word[:4]

    monkeypatch.setattr(machines, "Machine", Replying)
    shared = [b"%04d" % n + bytes(500_000) for n in range(2)]
    words = [shared[n // 50] for n in range(100)]
    assert replied(Cluster(1, 1), words, most_calls=16) == [word[:4] for word in words]
    assert len(sent) <= 25  # 1 for 16 questions, and those that begin and end; there were 100
    assert max(sent) < 1_100_000

    monkeypatch.setattr(machines, "MOST_BYTES", 1_000_000)
    sent.clear()
    alone = [b"%04d" % n + bytes(400_000) for n in range(30)]
    assert replied(Cluster(1), alone, most_calls=30) == [word[:4] for word in alone]
    assert max(sent) < 1_300_000


def test_a_fault_of_the_program_on_a_machine_ends_all_calls(monkeypatch):
    class Faulty(Machine):
        async def reply(self, word):
            if word == b"9":
                raise TypeError("a fault")
            await anyio.sleep_forever()

    monkeypatch.setattr(machines, "Machine", Faulty)
    cluster = Cluster(1, 1)
    with pytest.RaisesGroup(*[pytest.RaisesExc(RayTaskError, match="a fault")] * 10):
        replied(cluster, [b"%d" % n for n in range(10)], most_calls=5)
    assert len(cluster.actors) == 2  # none was asked again, or lost


def test_a_call_is_begun_while_those_before_it_last(monkeypatch):
    class Meeting(Machine):
        second = anyio.Event()

        async def reply(self, word):
            if word == b"second":
                self.second.set()
            await self.second.wait()
            return word

    monkeypatch.setattr(machines, "Machine", Meeting)
    with connecting(Cluster(1)) as connected:

        async def go():
            pool = Machines(connected, Size(), on_trouble=pytest.fail)
            pool.open()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(partial(pool.call, "reply", b"first", most_calls=2))
                await anyio.sleep(0.1)  # the worker waits for its result
                with anyio.fail_after(5):
                    assert await pool.call("reply", b"second", most_calls=2) == b"second"
            await pool.close()

        anyio.run(go)


@pytest.fixture
def soon(monkeypatch):
    monkeypatch.setattr(machines, "PULSE_S", 0.05)
    monkeypatch.setattr(machines, "SILENT_S", 1.0)


def test_what_a_machine_that_falls_silent_had_is_given_to_another(monkeypatch, soon):
    is_silent = threading.Event()

    class Silent(Machine):
        async def pulse(self):
            if is_silent.is_set() and self is first[0]:
                await anyio.sleep_forever()

        async def do(self, key, content, deadline_s):
            first.append(self)
            if self is first[0]:
                is_silent.set()
                await anyio.sleep_forever()
            return pickle.dumps(pickle.loads(content)())  # noqa: S301 - ours

    first = []
    monkeypatch.setattr(machines, "Machine", Silent)
    found, _, said = done(Cluster(1), {"a.mp4": partial(pow, 3, 2)})
    assert found == {"a.mp4": 9}
    assert said == ["host0: its worker is lost (it says nothing); others do its work"]


def test_a_call_that_failed_on_a_machine_that_is_there_is_made_again(monkeypatch, soon):
    cluster = Cluster(1)
    failures = [RayError("unavailable for a moment")]
    call = Actor._call

    def once(self, method, *words, **named):
        if method == "exchange" and failures:
            future = concurrent.futures.Future()
            future.set_exception(failures.pop())
            return SimpleNamespace(future=lambda: future)
        return call(self, method, *words, **named)

    monkeypatch.setattr(Actor, "_call", once)
    assert done(cluster, {"a.mp4": partial(pow, 3, 2)}) == ({"a.mp4": 9}, 1, [])
    assert len(cluster.actors) == 1


def test_all_work_ends_with_the_head_of_the_cluster(monkeypatch, soon):
    class Waiting(Machine):
        async def do(self, key, content, deadline_s):
            cluster.head.close()
            await anyio.sleep_forever()

    cluster = Cluster(1, 1)
    monkeypatch.setattr(machines, "Machine", Waiting)
    found, _, said = done(cluster, {"a.mp4": partial(pow, 3, 2), "b.mp4": partial(pow, 3, 2)})
    assert said == []
    assert {str(one) for one in found.values()} == {str(found["a.mp4"])}
    assert isinstance(found["a.mp4"], LostClusterError)
    assert "the head of the Ray cluster at 127.0.0.1:" in str(found["a.mp4"])


def test_a_machine_without_the_keys_that_media_are_read_with_is_refused(monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_x")
    monkeypatch.setattr(remote, "_SPOKEN", {"hf", "https"})
    assert remote.keys_in_use() == ("HF_TOKEN",)
    monkeypatch.setattr(machines, "keys_in_use", lambda: ("HF_TOKEN", "AWS_PROFILE"))
    found, _, _ = done(Cluster(1), {"a.mp4": partial(pow, 3, 2)})
    assert isinstance(found["a.mp4"], UsageError)
    assert "host0 has no AWS_PROFILE, as this machine has for media" in str(found["a.mp4"])


@pytest.mark.parametrize(
    ("theirs", "is_refused"),
    [(("1", ""), False), (("1", "a"), False), (("1", "b"), True), (("2", "a"), True)],
)
def test_a_machine_with_another_version_is_refused(theirs, is_refused):
    ours = machines.Version(vidence="1", git_revision="a")
    problem = machines.refused(
        machines.Version(vidence=theirs[0], git_revision=theirs[1]), ours, [], machine="host3"
    )
    assert (problem is not None) == is_refused
    assert problem is None or "host3 has vidence" in str(problem)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (Size(), [8]),
        (Size(most_each=3), [8]),
        (Size(n_cpus=3), [3, 3]),
        (Size(n_cpus=4, most_each=2), [4]),
        (Size(n_cpus=2, most_each=5), [2, 2]),
        (Size(n_cpus=16), []),
        (Size(n_gpus=1), [4, 4]),
        (Size(n_gpus=1, n_cpus=3), [3, 3]),
        (Size(n_gpus=3), []),
        (Size(n_cpus=2, is_network=True), [2]),
        (Size(n_cpus=2, takes_cpus=False), [2]),
    ],
)
def test_a_machine_has_room_for_so_many_workers(size, expected):
    assert size.rooms({"CPU": 8.0, "GPU": 2.0}) == expected


@pytest.mark.parametrize(
    ("size", "n"), [(Size(), 8), (Size(most_each=3), 3), (Size(is_network=True, most_each=3), 1)]
)
def test_a_worker_has_so_many_processes(size, n):
    assert size.n_processes(8) == n


def test_workers_that_are_counted_need_no_machine_yet_and_dead_machines_do_not_count():
    assert [(p.node_id, p.n_cpus) for p in places(Size(replicas=2, n_cpus=4), [])] == [("", 4), ("", 4)]
    nodes = Cluster(2, 2).nodes()
    nodes[0]["Alive"] = False
    assert [p.host for p in places(Size(), nodes)] == ["host1"]
    with pytest.raises(UsageError, match="no machine of the cluster has the 1 GPUs and a processor"):
        places(Size(n_gpus=1), nodes)
