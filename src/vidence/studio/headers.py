"""What every answer tells the browser of what the page may load, beside what Django's own middleware says."""

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

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
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Robots-Tag": "noindex, nofollow",
    "Cache-Control": "no-store",
}


class HeadersMiddleware(MiddlewareMixin):
    """Gives each answer the headers that it does not have."""

    def process_response(self, _request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Add them."""
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response
