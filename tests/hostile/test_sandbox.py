"""A decoder that a file has taken over: what it can reach from its worker process, by trying."""

import os
import pickle
import platform
import re
import socket
import struct
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio
import numpy as np
import pytest

from servers.virtual_time import in_loop
from subjects.taken_over import attack, attack_of_a_child, connect, lie, of_its_child, own_environment, send
from vidence.engine import bounds, outcomes, sandbox
from vidence.engine.bounds import Bounds
from vidence.engine.executor import Workers
from vidence.errors import MediaError, UnknownNameError
from vidence.media.address import Address
from vidence.media.encode import EncodedFrame
from vidence.media.files import Delivery

needs_landlock = pytest.mark.skipif(sandbox.landlock_version() == 0, reason="this system has no Landlock")
needs_seccomp = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"),
    reason="the filter is written for Linux on x86_64 and aarch64",
)
KEYS = {
    "OPENAI_API_KEY": "sk-planted-1",
    "HF_TOKEN": "hf_planted_2",
    "AWS_SECRET_ACCESS_KEY": "planted-3",
    "LAB_KEY": "planted-4",
    "HTTPS_PROXY": "http://me:planted-5@proxy.example",
    "VIDENCE_TOKEN": "planted-6",
    "PYTHON_SECRET": "planted-7",
}


def tried(work: Callable[[], object], **reach: tuple[object, ...]) -> object:
    """What comes of work in a worker, or how it was refused."""

    async def go() -> object:
        async with Workers(1, bounds=Bounds(**reach)) as workers:
            try:
                return await workers.run("film.mp4", work, deadline_s=60)
            except MediaError as error:
                return error

    return anyio.run(go)


def planted(environment: bytes) -> set[str]:
    return {name for name, value in KEYS.items() if value.encode() in environment}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_key_is_in_the_environment_of_a_worker(monkeypatch):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    environment = tried(own_environment)
    assert planted(environment) == planted(tried(of_its_child)) == set()
    assert b"PATH=" in environment
    for address, keys in {
        "https://h.example/a.mp4": {"HTTPS_PROXY"},
        "s3://lab/a.mp4": {"HTTPS_PROXY", "AWS_SECRET_ACCESS_KEY"},
        "hf://datasets/o/n/a.mp4": {"HTTPS_PROXY", "HF_TOKEN"},
    }.items():
        assert planted(tried(own_environment, reads=(Address(address),))) == keys


def test_a_module_in_the_folder_where_a_command_begins_is_not_imported(tmp_path, monkeypatch):
    """Files of a stranger lie there: `numpy.py` beside a clip was run, with every key."""
    for name in ("numpy", "msgspec", "vidence"):
        (tmp_path / f"{name}.py").write_text(f"open('ran-{name}', 'w')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])
    assert tried(partial(np.add, 1, 2), writes=(tmp_path,)) == 3
    assert not [*tmp_path.glob("ran-*")]


@pytest.fixture
def place(tmp_path):
    (tmp_path / "keys").mkdir()
    (tmp_path / "cache").mkdir()
    (tmp_path / "keys" / "credentials").write_text("planted-8")
    return tmp_path / "keys" / "credentials", tmp_path / "cache"


@needs_landlock
@needs_seccomp
def test_a_decoder_that_is_taken_over_reaches_no_key_and_no_network(place, record_attack):
    keys, cache = place
    before = keys.stat()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        ended = tried(partial(attack, keys, cache, os.getpid(), port), writes=(cache,))
        of_children = tried(partial(attack_of_a_child, keys, port), writes=(cache,))
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    fallen = {name: how for name, how in ended.items() if how != "refused"}
    if sandbox.landlock_version() < 6:
        fallen.pop("signal its parent")
    record_attack("decoders that are taken over", len(ended), len(ended) - len(fallen))
    assert not fallen
    assert of_children == [1, 1]
    assert (keys.read_text(), keys.stat().st_mode) == ("planted-8", before.st_mode)
    assert {one.name for one in keys.parent.iterdir()} == {"credentials"}


@needs_landlock
def test_a_worker_reads_what_it_is_given_and_writes_its_cache_only(place, tmp_path):
    keys, cache = place
    images = tmp_path / "frames"
    images.mkdir()
    (images / "1.png").symlink_to(keys)
    assert tried(keys.read_text, reads=(keys,)) == "planted-8"
    assert tried((images / "1.png").read_text, reads=(images,)) == "planted-8"
    assert tried(partial((cache / "new" / "f").write_text, "x"), writes=(cache / "new",)) == 1
    refused = tried(partial(keys.write_text, "x"), reads=(keys,))
    assert "Permission denied" in str(refused)


@needs_seccomp
def test_a_worker_that_reads_addresses_reaches_servers_and_no_daemon(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        web = (Address("https://h.example/a.mp4"),)
        assert tried(partial(connect, port, socket.AF_INET), reads=web) == "connected"
        assert "PermissionError" in str(tried(partial(connect, port, socket.AF_UNIX), reads=web))


# ----------------------------------------------------------------------- what a worker sends back


class Crafted:
    """Unpickled as it is, it calls a function of its choice."""

    def __init__(self, function: Callable[..., object], *words: object) -> None:
        self.function, self.words = function, words

    def __reduce__(self) -> tuple[object, ...]:
        return self.function, self.words


@pytest.mark.parametrize(
    "value",
    [
        Crafted(os.system, "touch PWNED"),
        Crafted(eval, "open('PWNED', 'w')"),
        Crafted(pickle.loads, pickle.dumps(Crafted(os.mkdir, "PWNED"))),
        Crafted(np.load, "PWNED"),
        Crafted(getattr, "", "join"),
        np.array([{}], object),
    ],
    ids=["system", "eval", "loads", "function-of-numpy", "getattr", "objects"],
)
@in_loop
async def test_what_a_worker_sends_back_is_data_and_calls_nothing(value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = r"film\.mp4: its decoder sent an invalid result \(.*Error: .*; it is skipped"
    async with Workers(1) as workers:
        with pytest.raises(MediaError, match=said):
            await workers.run("film.mp4", partial(send, pickle.dumps((True, value))), deadline_s=60)
        assert await workers.run("film.mp4", partial(pow, 2, 3), deadline_s=60) == 8
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("content", [b"", b"x", pickle.dumps(7), pickle.dumps((False, 7)), pickle.dumps(())])
@in_loop
async def test_what_is_no_outcome_sets_its_file_aside(content):
    async with Workers(1) as workers:
        with pytest.raises(MediaError, match="sent an invalid result"):
            await workers.run("film.mp4", partial(send, content), deadline_s=60)


@in_loop
async def test_a_worker_that_says_it_sends_more_than_it_may_have_is_not_waited_for():
    async with Workers(1) as workers:
        with pytest.raises(MediaError, match="sent an invalid result"):
            await workers.run("film.mp4", lie, deadline_s=60)


def test_values_come_back_as_they_were():
    frame = EncodedFrame(data=b"\xff\xd8", width_px=2, height_px=1, digest="0" * 64)
    arrays = [
        np.arange(6, dtype="<i8").reshape(2, 3),
        np.zeros((0, 3)),
        np.asfortranarray(np.eye(3, dtype=np.float32)),
        np.array(["a", "bc"]),
    ]
    for array in arrays:
        back = outcomes.loads("f", outcomes.dumps(array))
        np.testing.assert_array_equal(back, array)
        assert (back.dtype, back.shape) == (array.dtype, array.shape)
    delivery = Delivery(frames={3: frame}, problems={4: "damaged"}, n_decoded=1, n_from_cache=0)
    for value in (delivery, {"a": {1, 2}, "b": Path("x")}, np.float64(0.5), range(3), 2**80):
        assert outcomes.loads("f", outcomes.dumps(value)) == value
    error = outcomes.loads("f", outcomes.dumps(UnknownNameError("model", "gtp", ["gpt"])))
    assert (type(error), error.known) == (UnknownNameError, ("gpt",))
    with pytest.raises(TypeError, match="an array of object cannot be the result of a job"):
        outcomes.dumps(np.array([{}], object))


# ------------------------------------------------------------------------------------ the filter


def verdict(program: bytes, *, machine: int, call: int, word: int = 0) -> int:
    """What the kernel makes of a call by a filter."""
    steps = [*struct.iter_unpack("HBBI", program)]
    values, at, number = {0: call, 4: machine, 16: word}, 0, 0
    while True:
        code, is_so, is_not, constant = steps[at]
        at += 1
        if code == 0x06:
            return constant
        if code == 0x20:
            number = values[constant]
        else:
            at += is_so if (number == constant if code == 0x15 else number >= constant) else is_not


ALLOWED, DENIED, KILLED = 0x7FFF0000, 0x0005000D, 0x80000000


@pytest.mark.parametrize(
    ("machine", "kind", "calls"),
    [
        ("x86_64", 0xC000003E, {"socket": 41, "connect": 42, "ptrace": 101, "read": 0, "openat": 257}),
        ("aarch64", 0xC00000B7, {"socket": 198, "connect": 203, "ptrace": 117, "read": 63, "openat": 56}),
    ],
)
def test_the_filter_says_what_it_should_on_each_machine(machine, kind, calls):
    for has_network in (False, True):
        program = bounds.call_filter(machine, has_network=has_network)
        ask = partial(verdict, program, machine=kind)
        assert ask(call=calls["ptrace"]) == DENIED
        assert ask(call=calls["read"]) == ask(call=calls["openat"]) == ALLOWED
        assert ask(call=calls["connect"]) == (ALLOWED if has_network else DENIED)
        for family, is_internet in {1: False, 2: True, 10: True, 16: True, 40: False}.items():
            assert (ask(call=calls["socket"], word=family) == ALLOWED) == (has_network and is_internet)
        assert verdict(program, machine=0x40000003, call=4) == KILLED  # calls of 32 bits
    assert (verdict(program, machine=kind, call=0x40000000) == DENIED) == (machine == "x86_64")


def test_the_numbers_of_calls_are_those_of_the_kernel():
    headers = {
        "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
        "aarch64": Path("/usr/include/asm-generic/unistd.h"),
    }
    wanted = (
        *("socket", "connect", "accept", "bind", "listen", "accept4", "ptrace", "process_vm_readv", "mount"),
        *("process_vm_writev", "pidfd_getfd", "io_uring_setup", "add_key", "keyctl", "request_key", "bpf"),
        *("perf_event_open", "unshare", "setns", "userfaultfd", "shmat", "fchmod", "fchmodat", "fchown"),
        *("fchownat", "setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr"),
    )
    for machine, header in headers.items():
        if not header.is_file():
            pytest.skip(f"{header} is not there")
        numbers = dict(re.findall(r"#define __NR3?2?6?4?_?(\w+) (\d+)", header.read_text()))
        program = bounds.call_filter(machine, has_network=False)
        kind = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}[machine]
        for name in wanted:
            assert verdict(program, machine=kind, call=int(numbers[name])) == DENIED, (machine, name)
