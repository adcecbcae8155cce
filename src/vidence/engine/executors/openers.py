"""Where models are opened that flows of this process ask: here, or on the machines of a cluster."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from vidence.catalog import create, parse_spec
from vidence.contracts import Model
from vidence.engine.executors.executor import LOCAL, executor_of
from vidence.engine.executors.replicas import has_weights
from vidence.engine.specs import without_sampling

Opener: TypeAlias = Callable[[str], Model]
"""Opens the model of a spec."""


def opener(on: str, specs: Iterable[str]) -> Opener | None:
    """How models are opened; None: in this process.

    Servers are asked from this process wherever the work is done: it has the memory, the limits and the
    budget, and only waits for them. Weights are replicas on the machines of a cluster.

    Args:
        on: ``local``, ``ray``, or the address of a cluster.
        specs: all models that will be opened.

    Raises:
        UsageError: `on` is no place to work, or Ray is not installed.
    """
    executor_of(on)
    if on == LOCAL:
        return None
    from vidence.engine.executors.ray_models import Replicas

    parsed = map(parse_spec, specs)
    weights = {without_sampling(spec)[0] for spec in parsed if has_weights("model", spec.name)}
    if not weights:
        return None
    replicas = Replicas(on, weights)

    def open_model(spec: str) -> Model:
        model: Model = replicas.open(spec) if spec in weights else create("model", spec)
        return model

    return open_model
