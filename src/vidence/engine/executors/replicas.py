"""How many workers are taken of a cluster, and what each of them takes of its machine."""

import importlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final
from urllib.parse import parse_qsl

import anyio.to_thread
import msgspec
from msgspec import Meta

from vidence.ask.embedding import weights as embedding
from vidence.ask.models import weights as models
from vidence.catalog import Spec, names, settings_type
from vidence.engine.plan import Plan
from vidence.engine.specs import model_spec, named_specs
from vidence.errors import UsageError
from vidence.records import Record

IDLE_S: Final = 30.0
"""After how long a worker with nothing to do is given back, where the number of workers has bounds."""
ALONE_S: Final = 120.0
"""How long work waits for the first worker, where all machines are there."""
COMING_S: Final = 900.0
"""The same where machines were asked for."""
_BOUNDS: Final = r"[1-9]\d{0,4}(\.\.[1-9]\d{0,4})?"
_EXPECTED: Final = "a number or bounds, such as replicas=8 or replicas=2..8; further gpus=N and cpus=N"


class Settings(Record):
    """What stands behind the address of a cluster: ``ray?replicas=2..8&gpus=1``."""

    replicas: Annotated[
        str,
        Meta(
            pattern=f"^({_BOUNDS})?$",
            description="how many workers, as 8 or 2..8: the cluster is asked for more while work "
            "waits, and who has nothing to do is given back; without it one on each machine that is there",
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


def piece_settings(on: str) -> tuple[str, Settings]:
    """`split_address` for pieces of work, such as videos to watch: they take a GPU where a detector says so.

    Raises:
        UsageError: the same, or GPUs are wanted.
    """
    address, found = split_address(on)
    if found.gpus:
        raise UsageError(
            f"--on {on}: gpus={found.gpus}, and what watches, measures, cuts and draws videos takes "
            "the GPUs that it needs, as a model with weights does; leave gpus away, and say cpus=N for the "
            "processes of each worker"
        )
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
        n_left: questions, pieces of work or requests that are not done.
        is_waiting: whether some of them are with no worker yet.
    """
    least, most = bounds
    return max(least, min(most, n_left)) if is_waiting else least


class MachineRequest:
    """What a cluster was asked for: the machines of so many workers; one without an autoscaler does nothing.

    A cluster keeps one such request, the last one, whoever made it.

    Args:
        settings: the processors of each worker; without them it is asked for one.
        n_gpus: the GPUs of each.
    """

    def __init__(self, settings: Settings, *, n_gpus: int) -> None:
        self._room = Room(n_cpus=settings.cpus or 1, n_gpus=n_gpus)
        self._n = 0

    async def ask_for(self, n: int) -> None:
        """Ask for the machines of so many workers; 0 takes it back."""
        if n == self._n:
            return
        self._n = n
        sdk = importlib.import_module("ray.autoscaler.sdk")
        await anyio.to_thread.run_sync(partial(sdk.request_resources, bundles=[self._room.bundle] * n))


# ------------------------------------------------------------------ GPUs


def has_weights(kind: str, name: str) -> bool:
    """Whether a model or an embedder of that name has weights of its own; servers have theirs elsewhere."""
    settings = settings_type(kind, name) if name in names(kind) else None
    return settings is not None and issubclass(settings, models.WeightSettings | embedding.WeightSettings)


def gpus_of_spec(kind: str, text: str, *, base: str = "") -> int:
    """How many GPUs the weights take that a spec names, those of what it opens itself included.

    Args:
        kind: of the spec, such as ``model``, or ``selector``, which may open an embedder.
        text: the spec.
        base: the spec of the plan's model, which that of a further one may change by ``+key=value``.

    >>> gpus_of_spec("selector", "aks:clip:some/weights"), gpus_of_spec("model", "openai:gpt-5")
    (1, 0)
    """
    found = [spec for inner, spec in named_specs(kind, text, base=base) if has_weights(inner, spec.name)]
    return max((_gpus_of_weights(spec) for spec in found), default=0)


def _gpus_of_weights(spec: Spec) -> int:
    return 0 if spec.options.get("device") == "cpu" else int(spec.options.get("tensor_parallel_size", 1))


def gpus_of_plan(
    plan: Plan, *, selectors: Iterable[str] = (), others: Mapping[str, str] | None = None
) -> int:
    """How many GPUs one worker of a run takes for the weights that it loads; 0 where servers have them.

    Args:
        plan: its model, its judges, and what its selector and its strategy open.
        selectors: further ones that are shown, as those of a diagnostic.
        others: specs of further models, such as those of a diagnostic.
    """
    wanted = [("model", text) for text in (plan.model, *plan.judge_models)]
    wanted += [("model", model_spec(plan.model, text)) for text in (others or {}).values()]
    wanted += [("selector", text) for text in (plan.selector, *selectors)]
    wanted += [("strategy", plan.strategy)]
    return max(gpus_of_spec(kind, text, base=plan.model) for kind, text in wanted)


def gpus_taken(settings: Settings, wanted: int, nodes: Iterable[Mapping[str, Any]]) -> int:
    """How many GPUs a worker takes on a cluster; where it has none, weights are on processors.

    Args:
        settings: what was said of it.
        wanted: what the weights take where nothing was said.
        nodes: the machines, as Ray counts them.

    Raises:
        UsageError: the cluster has some, all machines are there, and none has as many as are wanted.
    """
    if settings.gpus is not None:
        return settings.gpus
    if settings.bounds is not None:  # machines may come that have them
        return wanted
    most = max((int(one["Resources"].get("GPU", 0)) for one in nodes), default=0)
    if 0 < most < wanted:
        raise UsageError(
            f"one model takes {wanted} GPUs, and no machine of the cluster has more than {most}; give a "
            "smaller tensor_parallel_size"
        )
    return min(wanted, most)
