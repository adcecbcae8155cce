"""The state of the server: its database, copies and their checks, the disk, what waits, versions."""

import platform
import shutil
from datetime import UTC, datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from django.core.cache import caches
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from vidence.studio.access import BOTH, route
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import UserRow
from vidence.studio.records.work import AssignmentRow, AuditEventRow, TimeCorrectionRow, TimeSpanRow
from vidence.studio.settings import current
from vidence.studio.upkeep import check_copy, count_tables, mode_of, newest_copy

_OLD: Final = timedelta(days=7)
"""A copy that is older than this is warned of."""
_LITTLE: Final = 0.1
"""The share of a disk that should be free."""
_PACKAGES: Final = ("vidence", "django", "django-htmx", "uvicorn")


def health(request: HttpRequest) -> HttpResponse:
    """The database, its copies, the disk, what waits, and versions."""
    from django.db import connection
    from django.db.migrations.recorder import MigrationRecorder

    settings = current().settings
    newest = newest_copy(settings.data)
    if request.method == "POST" and newest is not None:
        check_copy(newest, by=request.person.name)
        return redirect("health")
    now = settings.clock()
    applied = MigrationRecorder.Migration.objects.filter(app="studio").order_by("-id").first()
    fields = {
        "trouble": caches["kept"].get("trouble"),
        "vendor": connection.vendor,
        "database_mode": mode_of(connection),
        "is_tls": settings.is_tls or settings.is_behind_proxy,
        "n_rows": sum(count_tables(connection).values()),
        "migration": "none" if applied is None else applied.name,
        "copy": _copy(newest, now),
        "checked": AuditEventRow.objects.filter(kind__startswith="copy-").order_by("-number").first(),
        "disks": [
            _disk(path) for path in dict.fromkeys((settings.data, settings.cache_root or settings.data))
        ],
        "waits": _waits(),
        "versions": [("Python", platform.python_version()), *((name, _version(name)) for name in _PACKAGES)],
    }
    return render(request, "health.html", fields)


def _copy(path: Path | None, now: datetime) -> dict[str, object] | None:
    """A copy: its name and size, how old it is, and whether that is too old."""
    if path is None:
        return None
    stat = path.stat()
    at = datetime.fromtimestamp(stat.st_mtime, UTC)
    return {"name": path.name, "bytes": stat.st_size, "at": at, "is_old": now - at > _OLD}


def _disk(path: Path) -> dict[str, object]:
    """How much of the disk of a folder, or of the nearest one above that is there, is free."""
    there = next(entry for entry in (path, *path.parents) if entry.exists())
    used = shutil.disk_usage(there)
    return {
        "path": path,
        "free": used.free,
        "total": used.total,
        "is_little": used.free < _LITTLE * used.total,
    }


def _waits() -> list[tuple[str, int]]:
    """How much of each kind is open."""
    items = ItemRow.objects
    return [
        ("items waiting for a reviewer", items.filter(state="submitted").count()),
        ("items waiting for a meta-reviewer", items.filter(state="reviewed").count()),
        ("items waiting for their author", items.filter(state="returned").count()),
        ("open claims", AssignmentRow.objects.filter(state="claimed").count()),
        ("open spans of time", TimeSpanRow.objects.filter(is_open=True).count()),
        ("time corrections to decide", TimeCorrectionRow.objects.filter(state="filed").count()),
        ("accounts", UserRow.objects.filter(is_active=True).count()),
    ]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed as a package"


urls = [route("health", health, name="health", roles={"operator"}, to=BOTH)]
