"""The environment of a run on this machine: cache folder, number of cores, clock."""

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import platformdirs

from vidence.errors import UsageError

CACHE_VARIABLE = "VIDENCE_CACHE"
CACHE_SIZE_VARIABLE = "VIDENCE_CACHE_GB"
SETTINGS_VARIABLE = "VIDENCE_SETTINGS"
STATE_VARIABLE = "VIDENCE_STATE"


@dataclass(frozen=True, kw_only=True)
class Environment:
    """What a run takes from the machine: folders and workers. Nothing of it changes a number."""

    cache_root: Path
    cache_max_bytes: int = 20 * 2**30
    n_workers: int = 2
    settings_file: Path | None = None
    """The user's own settings (`engine.trust`); None: there are none."""
    state_root: Path | None = None
    """The user's own folder, where `engine.trust` keeps what they have said; None: nothing is kept."""

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
        UsageError: VIDENCE_CACHE_GB is not a number.
    """
    text = os.environ.get(CACHE_SIZE_VARIABLE, "20")
    try:
        size_gb = float(text)
    except ValueError as error:
        raise UsageError(f"{CACHE_SIZE_VARIABLE} is {text!r}; expected a number of gigabytes") from error
    settings, state = os.environ.get(SETTINGS_VARIABLE), os.environ.get(STATE_VARIABLE)
    return Environment(
        settings_file=Path(settings or platformdirs.user_config_path("vidence") / "settings.toml"),
        state_root=Path(state or platformdirs.user_state_path("vidence")),
        cache_root=cache_root() if cache is None else cache,
        cache_max_bytes=int(size_gb * 2**30),
        n_workers=max(
            1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        ),
    )


def now() -> datetime:
    """The time, with its zone."""
    return datetime.now(tz=UTC)
