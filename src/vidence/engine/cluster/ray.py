"""The executor for Ray clusters: `ray` is this machine's cluster, `ray://HOST:10001` any other."""

import importlib
import logging
import os
import socket
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Annotated, ClassVar, Final
from urllib.parse import urlsplit

from msgspec import Meta

from vidence.engine.cluster.machines import MachineProcesses, Size
from vidence.engine.cluster.replicas import Replicas, has_weights
from vidence.engine.executor import Opener, Parallelism
from vidence.errors import UsageError, cause
from vidence.installation import adding
from vidence.records import Record

_ANSWER_S: Final = 10.0  # how long the head of a cluster may take to accept a connection


class Settings(Record):
    """The options of ``ray``, as in ``ray?replicas=8&gpus=1``."""

    positional: ClassVar[str] = "address"

    address: Annotated[str, Meta(description="//HOST:10001 of another cluster, as in ray://HOST:10001")] = ""
    replicas: Annotated[
        int, Meta(ge=0, le=100_000, description="number of workers; 0: one on each machine that is there")
    ] = 0
    gpus: (
        Annotated[
            int, Meta(ge=0, description="GPUs of each replica of weights (default: as the model needs)")
        ]
        | None
    ) = None
    cpus: Annotated[
        int, Meta(ge=0, description="processors of each worker; 0: an equal part of the machine's")
    ] = 0
    insecure_cluster: Annotated[
        bool,
        Meta(
            description="allow a cluster without a token, which runs code of any host that reaches its ports"
        ),
    ] = False


def create(settings: Settings) -> "RayExecutor":
    """Create the executor.

    Raises:
        UsageError: Ray is not installed.
    """
    return RayExecutor(settings)


class RayExecutor:
    """The `engine.executor.Executor` of a cluster."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._ray = library()

    @contextmanager
    def connected(self) -> Iterator[tuple[ModuleType, str]]:
        """Yield Ray and the head's address; an existing connection is reused and left open.

        Raises:
            UsageError: there is no cluster, it does not answer, or it refuses the driver.
        """
        ray = self._ray
        if ray.is_initialized():
            yield ray, ray.get_runtime_context().gcs_address
            return
        address = f"ray:{self._settings.address}" if self._settings.address else ""
        place = _connect(ray, address, may_be_open=self._settings.insecure_cluster)
        try:
            yield ray, place.removeprefix("ray://")
        finally:
            ray.shutdown()

    def processes(self, wanted: Parallelism, *, on_trouble: Callable[[str], None]) -> MachineProcesses:
        """Return processes on all machines; see `Executor.processes`."""
        settings = self._settings
        size = Size(
            replicas=settings.replicas,
            n_cpus=settings.cpus,
            n_gpus=wanted.gpus_each or 0,
            most_each=wanted.most_each,
            is_network=wanted.gpus_each is not None,
            bounds=wanted.bounds,
        )
        return MachineProcesses(self.connected, size, on_trouble=on_trouble)

    def opener(self, specs: Collection[str]) -> Opener | None:
        """Return what opens models: weights on the machines, servers from here; see `Executor.opener`."""
        weights = [spec for spec in specs if has_weights(spec)]
        if not weights:
            return None
        settings = self._settings
        size = Size(replicas=settings.replicas, n_cpus=settings.cpus, takes_cpus=False)
        return Replicas(self.connected, size, weights, n_gpus=settings.gpus).open


def library() -> ModuleType:
    """Import Ray.

    Raises:
        UsageError: Ray is not installed; the message has the command that installs it.
    """
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise UsageError(f"--on ray needs Ray, which is not installed: {adding('ray')}") from error


def _connect(ray: ModuleType, address: str, *, may_be_open: bool) -> str:
    """Join a cluster, and return the head's address."""
    named = address or "ray"
    try:
        place = _answering(address or _own_cluster())
        if not may_be_open:
            _check_token(place, named)
        try:
            _join(ray, place)
        except ConnectionAbortedError:  # its head begins a process for each driver, which may take too long
            _join(ray, place)
        return place
    except ConnectionAbortedError as error:
        why = str(error).strip().splitlines() or [type(error).__name__]
        raise UsageError(
            f"the Ray cluster at {named} accepted no driver in two tries: {why[-1].strip()}; see the logs of "
            "its head, try again later, or use --on ray on one of its machines"
        ) from error
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(
            f"there is no Ray cluster at {named}: {cause(error)}; run `ray start --head` (`ray start "
            "--address=HOST:6379` on further machines) with RAY_AUTH_MODE=token, and use --on "
            "ray://HOST:10001, or --on ray on one of them"
        ) from error


def _check_token(place: str, named: str) -> None:
    """Reject a cluster that accepts callers without a token, or that rejects ours.

    Raises:
        UsageError: the cluster is refused.
        ConnectionError: no Ray head answers at the address.
    """
    if _serves(place):
        raise UsageError(
            f"the Ray cluster at {named} runs code of any host that reaches its ports; start it with "
            "RAY_AUTH_MODE=token (`ray get-auth-token --generate`), or, on a closed network, use --on "
            f"'{named}?insecure_cluster=true'"
        )
    token = importlib.import_module("ray._raylet").AuthenticationTokenLoader.instance()
    own = token.get_raw_token(ignore_auth_mode=True) if token.has_token(ignore_auth_mode=True) else ""
    if os.environ.get("RAY_AUTH_MODE", "token") != "token" or not own or not _serves(place, own):
        raise UsageError(
            f"the Ray cluster at {named} requires {'another' if own else 'a'} token: set RAY_AUTH_MODE=token "
            "and RAY_AUTH_TOKEN_PATH to the file with its token"
        )


def _serves(place: str, token: str = "") -> bool:
    """Whether a head accepts requests with this token, or without one; tested by a request."""
    grpc = importlib.import_module("grpc")
    of_clients = place.startswith("ray://")
    method = "/ray.rpc.RayletDriver/ClusterInfo" if of_clients else "/ray.rpc.NodeInfoGcsService/CheckAlive"
    with grpc.insecure_channel(place.removeprefix("ray://")) as channel:
        try:
            channel.unary_unary(method)(
                b"", timeout=_ANSWER_S, metadata=[("authorization", f"Bearer {token}")] if token else None
            )
        except grpc.RpcError as error:
            if error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
                raise ConnectionError(
                    f"nothing answers at {place} as Ray does ({error.details()})"
                ) from error
            return error.code() is not grpc.StatusCode.UNAUTHENTICATED
    return True


def _join(ray: ModuleType, place: str) -> None:
    ray.init(address=place, namespace="vidence", log_to_driver=False, logging_level=logging.ERROR)


def _own_cluster() -> str:
    """Return the head's address in this machine's cluster, HOST:PORT.

    Raises:
        ConnectionError: there is none, or several are and nothing says which.
    """
    services = importlib.import_module("ray._private.services")
    try:
        return str(services.canonicalize_bootstrap_address_or_die("auto"))
    except ConnectionError as error:  # its message names flags of Ray's own commands
        raise ConnectionError(
            "this machine is in no cluster, or in several, and RAY_ADDRESS names none"
        ) from error


def _answering(place: str) -> str:
    """Return the address if something accepts connections there; Ray itself would wait for minutes.

    Raises:
        OSError: nothing does.
    """
    parts = urlsplit(place if "://" in place else f"//{place}")
    try:
        socket.create_connection((parts.hostname, parts.port), timeout=_ANSWER_S).close()
    except OSError as error:
        raise ConnectionError(f"nothing answers at {place} ({cause(error)})") from error
    return place
