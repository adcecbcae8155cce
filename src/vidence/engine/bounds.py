"""What sandboxed work may access: the parent's side of `engine.sandbox`."""

import os
import platform
import socket
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from glob import escape, glob
from pathlib import Path
from typing import Final

from vidence.engine.sandbox import Rules
from vidence.installation import packaged
from vidence.media.address import Address, MediaPath
from vidence.records import Record

# Steps of a filter, see the kernel's userspace-api/seccomp_filter.rst; a call is denied with EACCES.
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _DENY, _KILL = 0x7FFF0000, 0x0005000D, 0x80000000
_X32: Final = 0x40000000  # x86-64 has calls from here on that have other numbers below
_FAMILIES: Final = (socket.AF_INET, socket.AF_INET6, 16)  # 16: netlink, which names are looked up with


class _Tables(Record):
    """``sandbox.toml``."""

    variables: dict[str, tuple[str, ...]]
    files: dict[str, tuple[str, ...]]
    calls: dict[str, dict[str, tuple[int, ...]]]


@cache
def _tables() -> _Tables:
    return packaged("vidence.engine", "sandbox.toml", _Tables)


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What work may access, if the system can enforce it."""

    reads: tuple[MediaPath, ...] = ()
    """Readable files, folders and addresses. Addresses allow network access and pass their drivers' keys."""
    writes: tuple[Path, ...] = ()
    """Writable folders."""

    @property
    def networks(self) -> frozenset[str]:
        """Return the protocols of the addresses, plus ``any`` if there are addresses."""
        schemes = {read.scheme for read in self.reads if isinstance(read, Address)}
        return frozenset(schemes | {"any"} if schemes else ())

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment variables for the work: no keys except those of address drivers."""
        known = _tables().variables
        begin = tuple(name for network in self.networks for name in known.get(network, ()))
        return {k: v for k, v in os.environ.items() if k in known["always"] or k.upper().startswith(begin)}

    @property
    def rules(self) -> Rules:
        """Return the readable and writable files and the system-call filter."""
        files = [str(read) for read in self.reads if not isinstance(read, Address)]
        links = [link for file in files for link in glob(f"{escape(file)}/*") if os.path.islink(link)]
        system = _globbed("always", *self.networks)
        writes = [*map(str, self.writes), *_globbed("devices")]
        program = call_filter(platform.machine(), has_network=bool(self.networks))
        return [*system, *self._code(), *files, *links], writes, program

    def _code(self) -> Iterator[str]:
        """Yield the paths that Python and variables name, but no folder above the user's home."""
        home, given = Path("~").expanduser().resolve(), self.environment
        values = (given.get(name, "") for name in _tables().variables["paths"])
        named = (folder for value in values for folder in value.split(os.pathsep))
        for folder in (sys.prefix, sys.base_prefix, str(Path(__file__).parents[1]), *sys.path, *named):
            if folder and not home.is_relative_to(Path(folder).resolve()):
                yield folder


def _globbed(*names: str) -> list[str]:
    patterns = (pattern for name in names for pattern in _tables().files.get(name, ()))
    return [path for pattern in patterns for path in glob(os.path.expanduser(pattern))]


def call_filter(machine: str, *, has_network: bool) -> bytes:
    """Return the BPF program that filters system calls; with a network, only internet sockets are allowed.

    Empty for a machine whose calls are not known.
    """
    calls = _tables().calls.get(machine)
    if calls is None:
        return b""
    (kind,), (make_socket, *on_sockets) = calls["kind"], calls["sockets"]
    steps = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, kind), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    if machine == "x86_64":
        steps += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _DENY)]
    for call in (*calls["refused"], *(() if has_network else (make_socket, *on_sockets))):
        steps += [(_EQUAL, 0, 1, call), (_RETURN, 0, 0, _DENY)]
    if has_network:
        n = len(_FAMILIES)
        steps += [(_EQUAL, 0, n + 2, make_socket), (_LOAD, 0, 0, 16)]
        steps += [(_EQUAL, n - place, 0, family) for place, family in enumerate(_FAMILIES)]
        steps += [(_RETURN, 0, 0, _DENY)]
    return b"".join(struct.pack("HBBI", *step) for step in [*steps, (_RETURN, 0, 0, _ALLOW)])
