"""What the viewer's pages share in this process: the runs, their index, and what takes a while."""

from collections.abc import Callable, Hashable
from functools import cache
from threading import Lock
from typing import Final

from django.http import Http404

from vidence.report.results import Run
from vidence.studio.bridge.indexing import Indexer
from vidence.studio.bridge.labels import Labels
from vidence.studio.bridge.later import Later, Worker
from vidence.studio.bridge.places import ViewablePath, find_places
from vidence.studio.bridge.run_status import Standings
from vidence.studio.bridge.runs import open_head
from vidence.studio.pages.answers import as_piece
from vidence.studio.settings import current

WAIT_S: Final = 1.0
_MOST_PIECES: Final = 12


class Desk:
    """The paths of the studio as they are now."""

    def __init__(self) -> None:
        self.wait_s = WAIT_S
        self.indexer = Indexer(wait_s=WAIT_S)
        self.standings = Standings(wait_s=WAIT_S)
        self.pieces: Later[str] = Later(Worker("viewer-pieces"), most=_MOST_PIECES)
        """Tables and figures as HTML, by the run and its last row."""
        self._lock = Lock()
        self._places: dict[str, ViewablePath] = {}

    def places(self) -> tuple[ViewablePath, ...]:
        """Scan the paths again and return everything below them."""
        places = find_places(current().settings.paths)
        with self._lock:
            self._places = {place.id: place for place in places}
        return places

    def place(self, place_id: str) -> ViewablePath:
        """One of them.

        Raises:
            Http404: there is none.
        """
        with self._lock:
            known = self._places.get(place_id)
        if known is None:
            self.places()
            with self._lock:
                known = self._places.get(place_id)
        if known is None:
            raise Http404
        return known

    def piece(self, key: Hashable, make: Callable[[], str], *, again: str) -> dict[str, str]:
        """Something that takes a while as HTML; without it yet, where it is to be asked for again.

        What `make` raises is raised here. Every text in what it makes is escaped already.
        """
        piece = self.pieces.get(key, make, wait_s=self.wait_s)
        return {"piece": as_piece(piece or ""), "again": "" if piece else again}

    def labels(self) -> Labels:
        """Return the error labels below the paths."""
        with self._lock:
            known = tuple(self._places.values())
        return Labels(place for place in known or self.places() if place.kind == "labels")

    def run(self, place_id: str) -> tuple[ViewablePath, Run]:
        """A run without its trials.

        Raises:
            Http404: there is none.
            StoreError: it is damaged.
        """
        place = self.place(place_id)
        if place.kind != "run":
            raise Http404
        return place, open_head(place.folder)


@cache
def desk() -> Desk:
    """The one of this process."""
    return Desk()
