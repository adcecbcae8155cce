"""How many workers a run takes of a cluster, and what each of them takes of its machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final
from urllib.parse import parse_qsl

import msgspec
from msgspec import Meta

from vidence.errors import UsageError
from vidence.records import Record

_BOUNDS: Final = r"[1-9]\d{0,4}(\.\.[1-9]\d{0,4})?"
_EXPECTED: Final = "a number or bounds, such as replicas=8 or replicas=2..8; further gpus=N and cpus=N"


class Settings(Record):
    """What stands behind the address of a cluster: ``ray?replicas=2..8&gpus=1``."""

    replicas: Annotated[
        str,
        Meta(
            pattern=f"^({_BOUNDS})?$",
            description="how many workers, as 8 or 2..8: the cluster is asked for more while questions "
            "wait, and those with nothing to do are given back; without it one on each machine that is there",
        ),
    ] = ""
    gpus: (
        Annotated[int, Meta(ge=0, description="GPUs of each worker; without it as the model takes")] | None
    ) = None
    cpus: Annotated[
        int, Meta(ge=0, description="processors of each worker; 0: its part of the machine's")
    ] = 0

    @property
    def bounds(self) -> tuple[int, int] | None:
        """At least and at most so many; None where nothing was said."""
        if not self.replicas:
            return None
        least, _, most = self.replicas.partition("..")
        return int(least), int(most or least)


def split_address(on: str) -> tuple[str, Settings]:
    """The address of a cluster and the settings behind it.

    Raises:
        UsageError: an unknown setting or an impossible value.

    >>> split_address("ray?replicas=2..8")[1].bounds
    (2, 8)
    """
    address, _, query = on.partition("?")
    try:
        found = msgspec.convert(dict(parse_qsl(query, strict_parsing=bool(query))), Settings, strict=False)
    except (msgspec.ValidationError, ValueError) as error:
        raise UsageError(f"--on {on}: {error}; expected {_EXPECTED}") from error
    if found.bounds is not None and found.bounds[0] > found.bounds[1]:
        raise UsageError(f"--on {on}: the first bound is above the second; expected {_EXPECTED}")
    return address, found


@dataclass(frozen=True, kw_only=True)
class Room:
    """What one worker takes of its machine."""

    n_cpus: int
    n_gpus: int = 0

    @property
    def bundle(self) -> dict[str, float]:
        """As Ray is asked for it."""
        return {"CPU": float(self.n_cpus)} | ({"GPU": float(self.n_gpus)} if self.n_gpus else {})


def rooms(resources: Mapping[str, float], *, n_gpus: int, n_cpus: int = 0) -> list[Room]:
    """The workers of a machine: one, or as many as it has GPUs or processors for.

    Args:
        resources: as Ray counts them.
        n_gpus: how many GPUs one worker takes.
        n_cpus: how many processors it takes; 0: they share all of them.

    >>> rooms({"CPU": 16.0, "GPU": 8.0}, n_gpus=2)[-2:]
    [Room(n_cpus=4, n_gpus=2), Room(n_cpus=4, n_gpus=2)]
    """
    n_here = int(resources.get("CPU", 0))
    n = n_here // max(n_cpus, 1)  # each needs a processor to decode with
    if n_gpus:
        n = min(n, int(resources.get("GPU", 0)) // n_gpus)
    elif not n_cpus:
        n = min(n, 1)
    return [Room(n_cpus=n_cpus or n_here // max(n, 1), n_gpus=n_gpus)] * n


def n_asked_for(bounds: tuple[int, int], *, n_left: int, is_waiting: bool) -> int:
    """For how many workers a cluster is asked.

    Args:
        bounds: at least and at most.
        n_left: questions that are not done.
        is_waiting: whether some of them are with no worker yet.
    """
    least, most = bounds
    return max(least, min(most, n_left)) if is_waiting else least
