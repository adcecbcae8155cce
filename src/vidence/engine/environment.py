"""The environment of a run on this machine: cache folder, number of cores, clock."""

import math
import os
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import platformdirs

from vidence.errors import UsageError

# Of a worker: a decoder holds some pictures at a time; one of 8K takes 0.1 GB as RGB.
MOST_BYTES: Final = 4 * 2**30
CACHE_VARIABLE = "VIDENCE_CACHE"
CACHE_SIZE_VARIABLE = "VIDENCE_CACHE_GB"
SETTINGS_VARIABLE = "VIDENCE_SETTINGS"
STATE_VARIABLE = "VIDENCE_STATE"
WORKER_SIZE_VARIABLE = "VIDENCE_WORKER_GB"
ON_VARIABLE = "VIDENCE_ON"
_LEAST_WORKER_BYTES = 2**29  # Python, numpy and FFmpeg take half of it before a picture is decoded
_MOST_GB = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Environment:
    """Folders and workers that a run uses on this machine; they do not affect results.

    `worker_max_bytes` is the memory limit of each decoding process.
    """

    cache_root: Path
    cache_max_bytes: int = 20 * 2**30
    n_workers: int = 2
    settings_file: Path | None = None
    """The user's settings (`engine.trust`); None if there is no settings file."""
    state_root: Path | None = None
    """The user's folder, where `engine.trust` stores decisions; None: nothing is stored."""
    worker_max_bytes: int = MOST_BYTES
    on: str = "local"
    """Where work is done: on this machine or others (`executor.executor_of`)."""

    def memory(self, named: str = "") -> Path:
        """Return the reply cache's file: the plan's, or the default."""
        return Path(named) if named else self.cache_root / "replies.sqlite"


def cache_root() -> Path:
    """Return the cache folder for frames and replies: VIDENCE_CACHE, or one in the user's cache folder."""
    named = os.environ.get(CACHE_VARIABLE)
    return Path(named) if named else Path(platformdirs.user_cache_dir("vidence"))


def environment(cache: Path | None = None, *, on: str | None = None) -> Environment:
    """Return the cache and workers of this machine.

    Args:
        cache: the cache folder; None: `cache_root`.
        on: where to work; None: VIDENCE_ON, or this machine.

    Raises:
        UsageError: VIDENCE_CACHE_GB or VIDENCE_WORKER_GB is not a number of gigabytes.
    """
    settings, state = os.environ.get(SETTINGS_VARIABLE), os.environ.get(STATE_VARIABLE)
    return Environment(
        settings_file=Path(settings or platformdirs.user_config_path("vidence") / "settings.toml"),
        state_root=Path(state or platformdirs.user_state_path("vidence")),
        cache_root=cache_root() if cache is None else cache,
        cache_max_bytes=_bytes_of(CACHE_SIZE_VARIABLE, 20 * 2**30),
        n_workers=max(
            1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        ),
        on=on or os.environ.get(ON_VARIABLE) or "local",
        worker_max_bytes=_bytes_of(WORKER_SIZE_VARIABLE, MOST_BYTES, least=_LEAST_WORKER_BYTES),
    )


def _bytes_of(variable: str, usual: int, *, least: int = 0) -> int:
    """Return the bytes of a variable given in gigabytes, or the default if it is not set."""
    text = os.environ.get(variable)
    if text is None:
        return usual
    try:
        size_gb = float(text)
    except ValueError:
        size_gb = math.nan
    if not least / 2**30 <= size_gb <= _MOST_GB:
        raise UsageError(f"{variable} is {text!r}; expected {least / 2**30:g} to {_MOST_GB:,} (gigabytes)")
    return int(size_gb * 2**30)


def now() -> datetime:
    """Return the current time with its time zone."""
    return datetime.now(tz=UTC)


def machine() -> str:
    """Return an id of the space in which process numbers are unique: machine and container."""
    try:
        return f"{platform.node()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return platform.node()
