"""The sandbox of a worker process on Linux: Landlock for files, seccomp for the network and other processes.

Imported by workers, so it imports little. Source: the kernel's userspace-api/landlock.rst.
"""

import ctypes
import os
import socket
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final, TypeAlias

Rules: TypeAlias = tuple[list[str], list[str], bytes]
"""Readable paths, writable folders, and a system-call filter (empty: none)."""
# Landlock's rights by their bits. Nothing may make links, devices, pipes and sockets (6, 9 to 12).
_READ: Final = 1 << 0 | 1 << 2 | 1 << 3  # execute, read a file, list a folder
_WRITE: Final = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 13 | 1 << 14
_OF_FILES: Final = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14
_SCOPES: Final = 3  # sockets without a name and signals stay in the sandbox
_NEW_RULESET, _ADD_RULE, _RESTRICT = 444, 445, 446
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2


def confine(rules: Rules) -> None:
    """Drop rights of this process and its children, as far as the system allows."""
    if sys.platform != "linux":
        return
    reads, writes, program = rules
    system = ctypes.CDLL(None)
    system.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    _bound_files(system, reads, writes)
    if program:
        content = ctypes.create_string_buffer(program, len(program))
        pointer = struct.pack("HP", len(program) // 8, ctypes.addressof(content))
        system.prctl(_SET_SECCOMP, _FILTER, pointer)


def landlock_version() -> int:
    """Return the version of Landlock; 0 if the system has none."""
    if sys.platform != "linux":
        return 0
    return max(0, int(ctypes.CDLL(None).syscall(_NEW_RULESET, None, ctypes.c_long(0), ctypes.c_long(1))))


def in_force() -> tuple[bool, bool]:
    """Test whether files of others and the network are blocked for this process."""
    return _is_refused(partial(os.listdir, "/")), _is_refused(socket.socket)


def _is_refused(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except PermissionError:
        return True
    return False


def _bound_files(system: ctypes.CDLL, reads: list[str], writes: list[str]) -> None:
    """Block all files but these; missing writable folders are created."""
    abi = landlock_version()
    known = (1 << 12 + min(abi, 3)) - 1  # versions 1 to 3 know 13 to 15 rights
    attributes = struct.pack("QQQ", known, 0, _SCOPES)[: 24 if abi >= 6 else 8]
    ruleset = system.syscall(_NEW_RULESET, attributes, ctypes.c_long(len(attributes)), ctypes.c_long(0))
    if ruleset < 0:
        return
    for folder in writes:
        with suppress(OSError):  # nothing is kept then
            os.makedirs(folder, mode=0o700, exist_ok=True)
    for rights, path in (*((_READ, path) for path in reads), *((_WRITE, path) for path in writes)):
        with suppress(OSError, ValueError):  # there is nothing of this name
            file = os.open(path, os.O_PATH | os.O_CLOEXEC)
            given = rights & known & (-1 if os.path.isdir(path) else _OF_FILES)
            rule = struct.pack("=Qi", given, file)
            system.syscall(_ADD_RULE, ctypes.c_long(ruleset), ctypes.c_long(1), rule, ctypes.c_long(0))
            os.close(file)
    system.syscall(_RESTRICT, ctypes.c_long(ruleset), ctypes.c_long(0))
    os.close(ruleset)
