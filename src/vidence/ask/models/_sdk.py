"""What the models that go through an official SDK share: the SDK, the key, the connections."""

import importlib.util
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

import msgspec

from vidence.ask.models._http import Answer, Server
from vidence.errors import AccessError, ModelError, TransientModelError, UsageError

if TYPE_CHECKING:
    import httpx2

DecodedT = TypeVar("DecodedT")

_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
NO_KEY = "none"  # what an SDK that insists on a key is given for a server that wants none


def need_library(name: str, *, owner: str, extra: str) -> None:
    """See that an optional library is installed, without importing it.

    Raises:
        UsageError: it is not; the message says how to install it.
    """
    try:
        is_there = importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # the package around it is not there either
        is_there = False
    if not is_there:
        raise UsageError(f"{owner} needs the library {name}; run: pip install 'vidence[{extra}]'")


def read_key(variable: str, *, example: str) -> str:
    """The key in an environment variable, empty where it is not set.

    Raises:
        UsageError: no name of a variable, or a value that can be no key; the message shows neither.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", variable):
        raise UsageError(
            f"api_key_env must be the name of an environment variable, for example {example}; what "
            "was given is none (not shown: if it is the key itself, it belongs into the variable)"
        )
    key = os.environ.get(variable, "").strip()
    if not re.fullmatch(r"[\x21-\x7e]*", key):
        raise UsageError(
            f"the environment variable {variable} holds blanks or characters that no key has (not "
            "shown); set it again"
        )
    return key


def check_key(server: Server, *, host: str) -> None:
    """See that the provider itself is not asked without a key.

    Raises:
        AccessError: it would be.
    """
    if server.host == host and not server.key:
        raise AccessError(
            f"{server.address} needs a key and the environment variable {server.key_env} is not set; set "
            "it, or name another one with api_key_env=NAME"
        )


def spec_text(head: str, options: Mapping[str, object]) -> str:
    """A spec with those options that are not empty and not None; what an identity is made of."""
    told = {k: _option_text(v) for k, v in options.items() if v is not None and v not in ("", {})}
    return f"{head}?" + "&".join(f"{k}={v}" for k, v in told.items())


def _option_text(value: object) -> str:
    if isinstance(value, dict):
        return quote(msgspec.json.encode(value, order="sorted").decode(), safe="{}:,[]")
    return f"{value:g}" if isinstance(value, float) else str(value)


def open_connections(server: Server) -> "httpx2.AsyncClient":
    """A pool of connections for an SDK: no limit of its own, no time-out, no redirects.

    Raises:
        AccessError: the address cannot be asked at all.
    """
    import httpx2

    try:
        httpx2.URL(server.address)
    except httpx2.InvalidURL as error:
        raise AccessError(f"{server.address} cannot be asked: {error}; correct base_url") from error
    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(None),
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
        # A proxy can never reach what "localhost" means here.
        trust_env=server.host not in _LOOPBACK,
    )


def connection_fault(error: BaseException, server: Server) -> ModelError:
    """The error that stands for a connection that did not come about, or broke."""
    import httpx2

    address = server.address
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return TransientModelError(
            f"no connection to {address} ({error or type(error).__name__}): nothing seems to be "
            "listening there; is the server running, and is base_url right?"
        )
    said = server.hide_key(f"{type(error).__name__}: {error}")
    return TransientModelError(f"the connection to {address} broke: {said}")


def too_slow(server: Server, *, timeout_s: float, option: str = "timeout_s") -> TransientModelError:
    """The error that stands for an answer that took too long."""
    return TransientModelError(
        f"{server.address} did not answer within {timeout_s:g} s; "
        f"a longer wait can be allowed with {option}=SECONDS"
    )


def decode_reply(answer: Answer, server: Server, *, kind: type[DecodedT], what: str, api: str) -> DecodedT:
    """The JSON of a reply as `kind`; `what` and `api` name it and its maker in messages.

    Raises:
        TransientModelError: not UTF-8, not JSON, or other JSON than a reply's.
    """
    hint = f"is {server.address} the address of {api}?"
    try:
        answer.body.decode()
        return msgspec.json.decode(answer.body, type=kind)
    except UnicodeDecodeError as error:
        raise TransientModelError(
            f"{server.address} sent a reply that is not UTF-8 "
            f"(byte {error.start} of {len(answer.body)}); {hint}"
        ) from error
    except msgspec.ValidationError as error:
        raise TransientModelError(f"{server.address} sent JSON that is no {what}: {error}; {hint}") from error
    except msgspec.DecodeError as error:
        start = " ".join(server.hide_key(answer.body[:200].decode(errors="replace")).split())
        raise TransientModelError(
            f"{server.address} sent a reply that is not JSON ({error}): {start!r}; {hint}"
        ) from error
