"""What every answer says to the browser: what the page may load, and who may frame or read it."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware

Application = Callable[..., Awaitable[None]]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Message], Awaitable[None]]

POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "media-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Robots-Tag": "noindex, nofollow",
    "Cache-Control": "no-store",
}


@sync_and_async_middleware
def Headers(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Give each answer the headers that it does not have."""
    from asgiref.sync import iscoroutinefunction

    def told(response: HttpResponse) -> HttpResponse:
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    if iscoroutinefunction(get_response):

        async def answer_later(request: HttpRequest) -> HttpResponse:
            return told(await get_response(request))

        return answer_later

    def answer(request: HttpRequest) -> HttpResponse:
        return told(get_response(request))

    return answer


def with_headers(application: Application) -> Application:
    """The application, whose answers have the headers also where no middleware was asked."""

    async def wrapped(scope: Message, receive: Receive, send: Send) -> None:
        async def telling(message: Message) -> None:
            if message["type"] == "http.response.start":
                said = list(message.get("headers", ()))
                names = {name.lower() for name, _ in said}
                said += [
                    (name.lower().encode(), value.encode())
                    for name, value in HEADERS.items()
                    if name.lower().encode() not in names
                ]
                message["headers"] = said
            await send(message)

        await application(scope, receive, telling)

    return wrapped
