"""Where models are opened that flows of this process ask: here, or on the machines of a cluster."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from vidence.ask.models.weights import WeightSettings
from vidence.catalog import create, parse_spec, settings_type
from vidence.contracts import Model
from vidence.engine.executors.executor import LOCAL, executor_of
from vidence.engine.specs import without_sampling

Opener: TypeAlias = Callable[[str], Model]
"""Opens the model of a spec."""


def gpus_of_model(text: str) -> int:
    """How many GPUs the weights of a model take; 0 where it has none of its own."""
    spec = parse_spec(text)
    settings = settings_type("model", spec.name)
    has_weights = settings is not None and issubclass(settings, WeightSettings)
    return int(spec.options.get("tensor_parallel_size", 1)) if has_weights else 0


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

    weights = {without_sampling(parse_spec(spec))[0] for spec in specs if gpus_of_model(spec)}
    if not weights:
        return None
    replicas = Replicas(on, weights)

    def open_model(spec: str) -> Model:
        model: Model = replicas.open(spec) if spec in weights else create("model", spec)
        return model

    return open_model
