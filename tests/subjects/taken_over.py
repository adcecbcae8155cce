"""What a decoder tries that a file has taken over; imported by worker processes, so it imports little."""

import ctypes
import errno
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path


def own_environment() -> bytes:
    return Path("/proc/self/environ").read_bytes()


def of_its_child() -> bytes:
    return subprocess.run(["cat", "/proc/self/environ"], capture_output=True, check=False).stdout


def attempts(keys: Path, folder: Path, parent: int, port: int) -> dict[str, Callable[[], object]]:
    """What a decoder should not be able to do, by name; each raises where it is refused."""
    home = Path.home()
    libc = ctypes.CDLL(None, use_errno=True)

    def call(name: str, *words: object) -> None:
        if getattr(libc, name)(*words) == -1:
            raise OSError(ctypes.get_errno(), name)

    return {
        "read a file of keys": keys.read_bytes,
        "read it through a link in the cache": lambda: linked(keys, folder / "a"),
        "read it under another name": lambda: os.link(keys, folder / "b"),
        "list the home folder": lambda: os.listdir(home),
        "list the root": lambda: os.listdir("/"),
        "read the environment of its parent": Path(f"/proc/{parent}/environ").read_bytes,
        "read the command lines of others": Path(f"/proc/{parent}/cmdline").read_bytes,
        "read the memory of its parent": lambda: Path(f"/proc/{parent}/mem").open("rb").read(1),
        "write beside the file": lambda: keys.write_bytes(b"x"),
        "write a new file beside it": lambda: keys.with_name("new").write_bytes(b"x"),
        "write into the home folder": lambda: (home / ".vidence-sandbox-test").write_bytes(b"x"),
        "write into a folder of all": lambda: Path("/var/tmp/.vidence-sandbox-test").write_bytes(b"x"),  # noqa: S108
        "truncate it": lambda: os.truncate(keys, 0),
        "remove it": keys.unlink,
        "signal its parent": lambda: os.kill(parent, 0),
        "network: trace its parent": lambda: call("ptrace", 16, parent, 0, 0),
        "network: connect": lambda: socket.create_connection(("127.0.0.1", port), timeout=5),
        "network: listen": lambda: socket.create_server(("127.0.0.1", 0)),
        "network: send a datagram": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
        "network: talk to a daemon": lambda: socket.socket(socket.AF_UNIX),
        "network: make calls by io_uring": lambda: call("syscall", 425, 1, bytes(120)),
        "network: change the rights of a file": lambda: keys.chmod(0o777),
        "network: enter a namespace": lambda: call("unshare", 0x10000000),
    }


def linked(path: Path, link: Path) -> bytes:
    link.symlink_to(path)
    return link.read_bytes()


def attack(*words: object) -> dict[str, str]:
    ended = {}
    for name, attempt in attempts(*words).items():
        try:
            attempt()
            ended[name] = "done"
        except OSError as error:
            is_refused = error.errno in (errno.EACCES, errno.EPERM, errno.EXDEV)
            ended[name] = "refused" if is_refused else str(error)
    return ended


def attack_of_a_child(keys: Path, port: int) -> list[int]:
    """The exit codes of children that read the keys and connect."""
    words = (f"open({str(keys)!r}).read()", f"import socket; socket.create_connection(('127.0.0.1', {port}))")
    run = partial(subprocess.run, stderr=subprocess.DEVNULL, check=False)
    return [run([sys.executable, "-c", one]).returncode for one in words]


def connect(port: int, family: int) -> str:
    with socket.socket(family) as made:
        made.connect(("127.0.0.1", port))
    return "connected"


def send(content: bytes) -> None:
    """Write to the parent in place of an outcome, and go on as nothing had happened."""
    for pipe in range(3, 20):
        try:
            os.write(pipe, struct.pack(">Q", len(content)) + content)
        except OSError:
            continue
    os._exit(0)


def lie() -> None:
    for pipe in range(3, 20):
        try:
            os.write(pipe, struct.pack(">Q", 2**60))
        except OSError:
            continue
