"""The package's style sheets and scripts, at addresses that change with their content."""

import hashlib
import mimetypes
from functools import cache
from importlib.resources import files
from pathlib import Path

from django import template
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.safestring import SafeString

from vidence.media.lights import light_player
from vidence.study.dots import dots_script
from vidence.tables.rendering import style_sheet

register = template.Library()
_HERE = Path(__file__).parent / "static"
_YEAR = "public, max-age=31536000, immutable"
mimetypes.add_type("text/javascript", ".js")


def _own() -> dict[str, bytes]:
    """Return the files of ``static``, and those of lower rooms: style sheet, point-light scripts."""
    own = {path.relative_to(_HERE).as_posix(): path for path in _HERE.rglob("*") if path.is_file()}
    shared = {"point-light.js": light_player(), "study-dots.js": dots_script()}
    shared["looks.css"] = style_sheet().encode()
    return {name: path.read_bytes() for name, path in sorted(own.items())} | shared


@cache
def _kept() -> dict[str, tuple[str, bytes]]:
    """Return every served file by its address below ``/static/``: type and bytes."""
    values = {f"{edition()}/{name}": (_type(name), content) for name, content in _own().items()}
    htmx = files("django_htmx") / "static" / "django_htmx"
    for path in htmx.iterdir():
        if path.name.endswith(".js"):
            values[f"django_htmx/{path.name}"] = (_type(path.name), path.read_bytes())
    return values


def _type(name: str) -> str:
    return mimetypes.guess_type(name)[0] or "application/octet-stream"


@cache
def edition() -> str:
    """Return a hash of all own files: scripts that import each other always have the same edition."""
    hashed = hashlib.sha256()
    for name, content in _own().items():
        hashed.update(name.encode() + b"\0" + content)
    return hashed.hexdigest()[:12]


@register.simple_tag
def asset(name: str) -> SafeString:
    """Return the address of a file in the folder ``static``."""
    if f"{edition()}/{name}" not in _kept():
        raise KeyError(f"there is no {name!r} in {_HERE}")
    return SafeString(f"/static/{edition()}/{name}")


def static(_request: HttpRequest, name: str) -> HttpResponse:
    """Serve one of the files."""
    static = _kept().get(name)
    if static is None:
        raise Http404
    kind, body = static
    is_dated = name.startswith(edition())
    return HttpResponse(body, content_type=kind, headers={"Cache-Control": _YEAR if is_dated else "no-cache"})
