"""Copies of the database that are made by themselves, while it is in use, and checked."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event, Thread
from typing import Final

from vidence.errors import StoreError
from vidence.studio.full_disk import COPY
from vidence.studio.settings import current
from vidence.studio.upkeep import BACKUPS, backup, newest_copy

MOST: Final = 14
"""How many copies that were made by themselves are kept; those that somebody asked for stay."""
_MARK: Final = "-by-itself"
_LOOKS_S: Final = 60.0


def copy_when_due(data: Path, *, every: timedelta, at: datetime) -> Path | None:
    """Copy the database where no copy is as young as `every`, and throw the oldest of too many away.

    What was found is written down with the events of safety, and stands on the page of the server's state.

    Args:
        data: the folder of the studio.
        every: how old the newest copy may be.
        at: now.

    Returns:
        The copy; None where none was due.

    Raises:
        StoreError: it cannot be written, or is not sound.
    """
    from django.db import transaction

    from vidence.studio import audit

    newest = newest_copy(data)
    if newest is not None and at - datetime.fromtimestamp(newest.stat().st_mtime, UTC) < every:
        return None
    folder = data / BACKUPS
    done = backup(data, to=folder / f"studio-{at:%Y%m%dT%H%M%S_%fZ}{_MARK}.sqlite3", at=at)
    for one in sorted(folder.glob(f"studio-*{_MARK}.sqlite3"))[:-MOST]:
        one.unlink()
    with transaction.atomic():
        details = {"fault": "", "n_rows": sum(done.n_rows.values())}
        audit.note("copy-sound", about=done.path.name, details=details)
    return done.path


def keep_copying(
    data: Path, *, every: timedelta, over: Event, looks_s: float = _LOOKS_S
) -> Callable[[], None]:
    """What starts a thread that copies when it is due, until `over`; the process does not wait for it.

    A copy that cannot be made is told on the page of the server's state, and tried again.
    """

    def work() -> None:
        from django.db import DatabaseError, connection

        while True:
            try:
                copy_when_due(data, every=every, at=current().settings.clock())
            except (StoreError, DatabaseError, OSError) as error:
                current().troubles.note(f"{COPY}: {error}", at=current().settings.clock())
            finally:
                connection.close()
            if over.wait(looks_s):
                return

    return Thread(target=work, name="copies", daemon=True).start
