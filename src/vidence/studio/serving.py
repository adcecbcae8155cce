"""Serve a studio from this process: on loopback for one person, or for a team."""

import ipaddress
import secrets
import socket
import ssl
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import uvicorn

from vidence.errors import UsageError, cause
from vidence.records import Record
from vidence.studio.bodies import Application

LOOPBACK_HOST: Final = "127.0.0.1"
_GRACE_S: Final = 3


class Tls(Record):
    """A certificate with its chain, and its key, both as PEM files."""

    certificate: Path
    key: Path


class Bind(Record):
    """Where a server listens; port 0 means any free port."""

    host: str = LOOPBACK_HOST
    port: int = 0
    tls: Tls | None = None
    is_behind_proxy: bool = False

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


def refuse_unsafe(bind: Bind, *, has_accounts: bool) -> None:
    """Refuse to serve a studio on a network without the necessary protection.

    Raises:
        UsageError: other machines could reach it without accounts or without TLS.
    """
    if bind.is_loopback:
        return
    if not has_accounts:
        raise UsageError(
            f"{bind.host} is reached from other machines, and here are no accounts; leave --host out, or set "
            "a team up with: vidence studio serve"
        )
    if bind.tls is None and not bind.is_behind_proxy:
        raise UsageError(
            f"{bind.host} is reached from other machines, and passwords would cross the network in clear; "
            "add --tls CERT KEY, or --behind-proxy if a proxy handles TLS"
        )


def try_tls(tls: Tls) -> None:
    """Check that a certificate and its key can be used.

    Raises:
        UsageError: they cannot.
    """
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(tls.certificate, tls.key, password="")
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{tls.certificate} and {tls.key} cannot be used for TLS: {cause(error)}; expected a certificate "
            "and its key in PEM, without a password"
        ) from error


def new_ticket() -> str:
    """Return the one-time ticket for a printed address."""
    return secrets.token_urlsafe(24)


def listen(bind: Bind) -> socket.socket:
    """Return a listening socket.

    It is made as one of TCP by name: on any other asyncio leaves Nagle's algorithm on, and the second part
    of an answer waits some 40 ms for the browser's delayed acknowledgement.

    Raises:
        UsageError: the address cannot be had.
    """
    try:
        family = socket.getaddrinfo(bind.host, bind.port, type=socket.SOCK_STREAM)[0][0]
        result = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            result.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            result.bind((bind.host, bind.port))
            result.listen(128)
        except OSError:
            result.close()
            raise
    except OSError as error:
        raise UsageError(
            f"cannot listen at {bind.host}:{bind.port}: {cause(error)}; choose another --port"
        ) from error
    return result


def address(bind: Bind, listening: socket.socket) -> str:
    """Return the address for a browser, without a trailing slash."""
    port = listening.getsockname()[1]
    host = f"[{bind.host}]" if ":" in bind.host else bind.host
    return f"{'http' if bind.tls is None else 'https'}://{host}:{port}"


def serve(
    application: Application,
    listening: socket.socket,
    *,
    tls: Tls | None = None,
    on_start: Sequence[Callable[[], object]] = (),
) -> None:
    """Serve until the process is stopped (Ctrl-C, SIGTERM).

    Nothing is written about single requests: an address may hold what lets somebody in.
    """
    config = uvicorn.Config(
        application,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE_S,
        ssl_certfile=None if tls is None else tls.certificate,
        ssl_keyfile=None if tls is None else tls.key,
    )
    for act in on_start:
        act()
    uvicorn.Server(config).run(sockets=[listening])
