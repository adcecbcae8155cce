"""A trial's media at addresses that reveal nothing, and media served for a single view."""

import hmac
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, Literal

import msgspec
from django.db import transaction

from vidence.errors import UsageError
from vidence.records import Media, Record
from vidence.studio.media import MediumFile, signed_name
from vidence.studio.records.studies import ParticipantRow, ResponseRow
from vidence.studio.settings import current
from vidence.studio.studies import Seat, locked, note
from vidence.study.dots import dots_file
from vidence.study.study import PlannedTrial
from vidence.study.videos import medium_file

ONCE_SLACK: Final = 1.25
"""Factor on a medium's length for which a single view is served."""
_STILL: Final = Media(kind="image")
Source = Literal["file", "once", "picture", "reply", "dots"]


class View(Record):
    """A single view of a medium: its address's key, and its end."""

    key: str
    ends: datetime


@dataclass(frozen=True, kw_only=True)
class TrialFile:
    """A file shown in a trial: `source` says how, `n` counts the trial's files, from 0."""

    token: str
    source: Source
    n: int
    path: Path
    kind: str = "image"
    start_s: float | None = None
    end_s: float | None = None
    time_s: float | None = None

    @property
    def medium(self) -> MediumFile:
        """Return the file for the studio's media server, which serves no other files."""
        return MediumFile(token=self.token, path=self.path, kind=self.kind, within=(self.path.parent,))


def files_of(seat: Seat, planned: PlannedTrial) -> Iterator[TrialFile]:
    """Yield the files that a trial shows, by condition; tokens are specific to participant and trial."""
    folder, condition = seat.folder.file.folder.resolve(), planned.condition
    media = seat.folder.items[planned.item_id].media
    n, secret = 0, current().secret

    def of(source: Source, path: Path, *, medium: Media = _STILL, time_s: float | None = None) -> TrialFile:
        return TrialFile(
            token=signed_name(f"{seat.row.public}\0{planned.place}\0{source}\0{n}".encode(), secret),
            source=source,
            n=n,
            path=Path(os.path.realpath(path)),
            kind=medium.kind,
            start_s=medium.start_s,
            end_s=medium.end_s,
            time_s=time_s,
        )

    if condition in ("whole", "once"):
        for medium in media:
            source: Source = "once" if condition == "once" and medium.kind == "video" else "file"
            yield of(source, medium_file(folder, medium), medium=medium)
            n += 1
    elif condition == "dots" and media:
        yield of("dots", dots_file(folder, planned.item_id, seat.folder.items))
        n += 1
    elif condition.startswith("frames"):
        for path, time_s in seat.folder.pictures(planned):
            yield of("picture", path, time_s=time_s)
            n += 1
    if "reply" in seat.folder.study.phase(planned.phase).shows:
        for run in filter(None, (planned.run, planned.other)):
            line = seat.folder.lines.get((run, planned.item_id))
            if line is not None and line.picture:
                n += 1
                yield of("reply", folder / line.picture)


def file_named(row: ParticipantRow, token: str, *sources: Source) -> tuple[TrialFile, int] | None:
    """Return a token's file and trial, if the participant may see it now.

    A token of a medium that is seen once is refused where it is asked for in another way, which is noted.
    """
    seat = Seat(row)
    for kept in sorted(seat.rows.values(), key=lambda entry: entry.shown_at, reverse=True):
        planned = seat.planned(kept.place)
        for file in files_of(seat, planned) if planned is not None else ():
            if hmac.compare_digest(file.token, token):
                if file.source == "once" and "once" not in sources:
                    note(seat.row, "refused-view", place=kept.place, words="its file was requested")
                is_open = file.source in sources and seat.trial_at(kept.place) is not None
                return (file, kept.place) if is_open else None
    return None


# --------------------------------------------------------------------------- once


def begin_view(row: ParticipantRow, place: int, file: TrialFile, *, length_s: float) -> View:
    """Start the single view of a medium.

    Args:
        row: the participant.
        place: of the trial.
        file: the medium.
        length_s: how long it is.

    Raises:
        UsageError: it was begun before, or the study is closed.
    """
    refused = False
    with transaction.atomic():
        seat = locked(row)
        kept = seat.rows[place]
        views = _views(kept)
        if str(file.n) in views:
            note(seat.row, "refused-view", place=place, words="it was seen before")
            refused = True
        else:
            view = View(
                key=secrets.token_urlsafe(16), ends=seat.now + timedelta(seconds=ONCE_SLACK * length_s)
            )
            kept.views = msgspec.json.encode({**views, str(file.n): view}).decode()
            kept.n_plays += 1
            kept.save()
            note(seat.row, "played", place=place)
    if refused:
        raise UsageError("This video is shown only once, and it has been shown.")
    return view


def end_view(row: ParticipantRow, place: int, file: TrialFile) -> None:
    """End a view that reached the end of the medium."""
    with transaction.atomic():
        seat = locked(row)
        kept = seat.rows[place]
        views = _views(kept)
        view = views.get(str(file.n))
        if view is not None and view.ends > seat.now:
            views[str(file.n)] = View(key=view.key, ends=seat.now)
            kept.views = msgspec.json.encode(views).decode()
            kept.save()
            note(seat.row, "viewed", place=place)


def may_view(row: ParticipantRow, place: int, file: TrialFile, *, key: str) -> bool:
    """Whether bytes are still served to the page that started the view; refusals are logged."""
    kept = ResponseRow.objects.get(participant=row, place=place)
    view = _views(kept).get(str(file.n))
    is_open = (
        view is not None
        and hmac.compare_digest(view.key.encode(), key.encode())
        and current().settings.clock() < view.ends
    )
    if not is_open:
        note(row, "refused-view", place=place, words="its time was over" if view else "it was not started")
    return is_open


def was_viewed(kept: ResponseRow, file: TrialFile) -> bool:
    """Whether the single view of a medium was started."""
    return str(file.n) in _views(kept)


def _views(kept: ResponseRow) -> dict[str, View]:
    return msgspec.json.decode(kept.views, type=dict[str, View])
