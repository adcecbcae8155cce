"""The SDK of the Gemini API, asked so that each answer comes back as the server gave it."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import anyio

from vidence.ask.models import _sdk
from vidence.ask.models._http import Answer, Server

if TYPE_CHECKING:
    import httpx2
    from google.genai import Client

AnsweredT = TypeVar("AnsweredT")


class BadAnswer(Exception):
    """An answer that is no success, or one that is not UTF-8."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        super().__init__(f"status {answer.status}")


async def _look(response: "httpx2.Response") -> None:
    """Take answers out of the SDK's hands that it would repeat, or read with other letters."""
    content = await response.aread()
    answer = Answer(status=response.status_code, headers=response.headers, body=content)
    if response.status_code != 200:
        raise BadAnswer(answer)
    try:
        content.decode()
    except UnicodeDecodeError as error:
        raise BadAnswer(answer) from error


class Caller:
    """One client of the SDK, without retries of its own.

    The connections belong to the event loop of the first call; close it in the same loop. After
    `close` the next call opens new ones.
    """

    def __init__(self, server: Server, *, api_version: str = "") -> None:
        self.server = server
        self._api_version = api_version
        self._connections: httpx2.AsyncClient | None = None
        self._client: Client | None = None

    def open(self) -> "Client":
        """The client; made at the first call.

        Raises:
            AccessError: the address cannot be asked at all.
        """
        if self._client is None:
            from google.genai import Client, types

            self._connections = _sdk.open_connections(self.server)
            self._connections.event_hooks = {"response": [_look]}
            options = types.HttpOptions(
                base_url=self.server.address,
                api_version=self._api_version or None,
                httpx_async_client=self._connections,
            )
            key = self.server.key or _sdk.NO_KEY
            self._client = Client(enterprise=False, api_key=key, http_options=options)
        return self._client

    async def within(
        self, timeout_s: float, ask: Callable[["Client"], Awaitable[AnsweredT]], *, option: str = "timeout_s"
    ) -> AnsweredT:
        """Ask, and wait at most `timeout_s` seconds; `option` names the option that allows more.

        Raises:
            BadAnswer: an answer that is no success.
            TransientModelError: no connection, a broken one, or no answer in time.
            AccessError: the address cannot be asked at all.
        """
        import httpx2

        client = self.open()
        try:
            with anyio.fail_after(timeout_s):
                return await ask(client)
        except httpx2.HTTPError as error:
            raise _sdk.connection_fault(error, self.server) from error
        except TimeoutError as error:
            raise _sdk.too_slow(self.server, timeout_s=timeout_s, option=option) from error

    async def close(self) -> None:
        """Close the connections; closing twice is fine."""
        client, connections = self._client, self._connections
        self._client = self._connections = None
        if client is not None and connections is not None:
            client.close()
            await connections.aclose()
