"""Model weights on the machines of a cluster: replicas that this process sends requests to."""

import logging
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from vidence.ask.models.weights import WeightSettings
from vidence.catalog import create, names, parse_spec, settings_type
from vidence.contracts import Model, Request
from vidence.engine.cluster.machines import MOST_LOSSES, Connected, Machines, Size
from vidence.errors import RejectedRequestError, UsageError
from vidence.records import Reply

_log: Final = logging.getLogger(__name__)


def has_weights(spec: str) -> bool:
    """Whether a model's weights are loaded by vidence, not by a server."""
    name = parse_spec(spec).name
    settings = settings_type("model", name) if name in names("model") else None
    return settings is not None and issubclass(settings, WeightSettings)


def gpus_of(spec: str) -> int:
    """Return how many GPUs the weights of a spec need.

    >>> gpus_of("vllm:some/weights?tensor_parallel_size=2"), gpus_of("transformers:w?device=cpu")
    (2, 0)
    """
    options = parse_spec(spec).options
    return 0 if options.get("device") == "cpu" else int(options.get("tensor_parallel_size", 1))


def gpus_taken(wanted: int, nodes: Iterable[Mapping[str, Any]], *, may_grow: bool) -> int:
    """Return how many GPUs a replica uses on a cluster; without GPUs, weights run on processors.

    Args:
        wanted: how many the weights need.
        nodes: the machines, as Ray lists them.
        may_grow: whether machines with GPUs may be added.

    Raises:
        UsageError: the cluster has GPUs, but no machine has as many as needed.
    """
    if may_grow:
        return wanted
    most = max((int(node["Resources"].get("GPU", 0)) for node in nodes), default=0)
    if 0 < most < wanted:
        raise UsageError(
            f"one model takes {wanted} GPUs, a machine of the cluster has {most}; lower tensor_parallel_size"
        )
    return min(wanted, most)


class Replicas:
    """Replicas that each load all of the models; a replica per model would let the first take all GPUs.

    Args:
        connected: connects this process to the cluster.
        size: of each replica, without GPUs.
        specs: the models.
        n_gpus: GPUs per replica; None: as the models need.
    """

    def __init__(self, connected: Connected, size: Size, specs: Sequence[str], *, n_gpus: int | None) -> None:
        self._n_gpus = n_gpus
        self._n_wanted = max(map(gpus_of, specs))
        self.machines = Machines(connected, size, on_trouble=_log.warning)
        self._n_open = 0

    def open(self, spec: str) -> Model:
        """Open a model: weights on the replicas, which start at the first request; others in this process.

        Raises:
            UsageError: there is no cluster, or none of its machines has as many GPUs as a model takes.
            VidenceError: the model cannot be opened.
        """
        own: Model = create("model", spec)
        if not has_weights(spec):
            return own
        if not self._n_open:
            self.machines.open(self._sized)
        self._n_open += 1
        return ReplicatedModel(spec, own, self)

    def _sized(self, size: Size, nodes: Sequence[Mapping[str, Any]]) -> Size:
        n_gpus = self._n_gpus
        if n_gpus is None:
            n_gpus = gpus_taken(self._n_wanted, nodes, may_grow=size.replicas > 0)
        return replace(size, n_gpus=n_gpus)

    async def close(self) -> None:
        """Close one model; closing the last one ends the replicas."""
        self._n_open -= 1
        if not self._n_open:
            await self.machines.close()


class ReplicatedModel:
    """A `Model` whose requests go to the least busy replica."""

    by_item = False

    def __init__(self, spec: str, own: Model, replicas: Replicas) -> None:
        """`own` is the model opened in this process; its weights are not loaded here."""
        self._spec, self._replicas = spec, replicas
        self.identity = own.identity
        self.looks = own.looks
        self._most_each = own.max_in_flight or sys.maxsize
        self.max_in_flight = own.max_in_flight and own.max_in_flight * len(replicas.machines.places)

    async def reply(self, request: Request) -> Reply:
        """Return the reply to a request; see `Model.reply`."""
        sent = replace(request, images=dict(request.images))
        reply: Reply | None = await self._replicas.machines.call(
            "reply", self._spec, self.identity, sent, most_calls=self._most_each
        )
        if reply is None:
            raise RejectedRequestError(
                f"{MOST_LOSSES} workers of the cluster were lost with this question; {self.identity} does "
                "not answer it"
            )
        return reply

    async def close(self) -> None:
        """Release the replicas if no other model uses them."""
        await self._replicas.close()
