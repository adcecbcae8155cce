"""The environment of a run on this machine: cache folder, number of cores, clock."""

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import platformdirs

from vidence.errors import UsageError

CACHE_VARIABLE = "VIDENCE_CACHE"
CACHE_SIZE_VARIABLE = "VIDENCE_CACHE_GB"
_MOST_GB = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Environment:
    """What a run takes from the machine: folders and workers. Nothing of it changes a number."""

    cache_root: Path
    cache_max_bytes: int = 20 * 2**30
    n_workers: int = 2

    @property
    def memory(self) -> Path:
        """The file of remembered replies, unless a plan names another."""
        return self.cache_root / "replies.sqlite"


def cache_root() -> Path:
    """The folder for decoded frames and remembered replies: VIDENCE_CACHE, or the user's cache folder."""
    named = os.environ.get(CACHE_VARIABLE)
    return Path(named) if named else Path(platformdirs.user_cache_dir("vidence"))


def environment(cache: Path | None = None) -> Environment:
    """Cache and workers of this machine.

    Args:
        cache: the cache folder; None takes `cache_root`.

    Raises:
        UsageError: VIDENCE_CACHE_GB is no number of gigabytes.
    """
    text = os.environ.get(CACHE_SIZE_VARIABLE, "20")
    try:
        size_gb = float(text)
        if not 0 <= size_gb <= _MOST_GB:
            raise ValueError
    except ValueError as error:
        raise UsageError(
            f"{CACHE_SIZE_VARIABLE} is {text!r}; expected a number of gigabytes from 0 to {_MOST_GB:,}"
        ) from error
    return Environment(
        cache_root=cache_root() if cache is None else cache,
        cache_max_bytes=int(size_gb * 2**30),
        n_workers=max(
            1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        ),
    )


def now() -> datetime:
    """The time, with its zone."""
    return datetime.now(tz=UTC)
