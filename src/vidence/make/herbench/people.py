"""People's files in a session: the rows of each video, and what is said of those that are not used."""

from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from vidence.make.herbench.session import HerbenchSession
from vidence.make.people.rows import CardCheckRow, CountRow, FalseCheckRow, ShotRow, TrackRow, read_rows
from vidence.make.people.track_acts import Unused

RowT = TypeVar("RowT", ShotRow, TrackRow, CountRow, CardCheckRow, FalseCheckRow)


def folder_of(work: HerbenchSession) -> Path | None:
    """The folder of people's files; None where the configuration names none."""
    rules = work.config.people
    return None if rules is None else work.root / rules.folder


def rows_of(work: HerbenchSession, kind: type[RowT], video_id: str) -> tuple[RowT, ...]:
    """The rows of a kind about a video, in their order; a file is read once a session.

    Raises:
        DataError: the file has a fault; nothing of it is used.
    """
    folder = folder_of(work)
    if folder is None:
        return ()
    if kind not in work.people:
        known = None if work.overrides.limit else work.video_ids
        work.people[kind] = read_rows(folder, kind, videos=known)
    return tuple(row for row in work.people[kind] if isinstance(row, kind) and row.video_id == video_id)


def name_unused(work: HerbenchSession, unused: Iterable[Unused]) -> None:
    """Say which rows are not used and why, to the user and in the account."""
    for one in unused:
        work.ledger.notes.append(str(one))
        work.trouble(str(one))
