"""Where things stand on plans, and what is known beyond the video, as the search uses it."""

import cmath
import math

from vidence.make.sources.composition import DIRECTIONS
from vidence.make.sources.scene import KnownFact, PlaceFact, Scene, ValueOrNumber

_SECTOR_DEG = 360 / len(DIRECTIONS)


class Ground:
    """Places and tables of a scene. What cannot be told, or not with certainty, is None."""

    def __init__(self, scene: Scene) -> None:
        self.margins = scene.vocabulary.margins
        wrong = {one.about for one in scene.contradictions}
        self.places: dict[str, dict[str, complex]] = {}
        self.known: dict[tuple[str, ValueOrNumber], ValueOrNumber] = {}
        for fact in scene.facts:
            if isinstance(fact, PlaceFact) and ("place", fact.of) not in wrong:
                self.places.setdefault(fact.of, {})[fact.plan] = complex(*fact.at)
            elif isinstance(fact, KnownFact) and ("known", fact.table, str(fact.of)) not in wrong:
                self.known[fact.table, fact.of] = fact.value

    def way(self, one: str, other: str) -> complex | None:
        """The way from one thing to another on the first plan that has both."""
        here, there = self.places.get(one, {}), self.places.get(other, {})
        shared = sorted(here.keys() & there.keys())
        return there[shared[0]] - here[shared[0]] if shared else None

    def bearing(self, one: str, other: str) -> float | None:
        """The direction from one thing to another, in degrees against the clock from the x axis."""
        way = self.way(one, other)
        return None if not way else math.degrees(cmath.phase(way))

    def sector(self, name: str, seen_from: str, heading: float) -> str | None:
        """In which of eight directions a thing lies for somebody who looks along a heading."""
        bearing = self.bearing(seen_from, name)
        if bearing is None:
            return None
        number, rest = divmod((bearing - heading) % 360 + _SECTOR_DEG / 2, _SECTOR_DEG)
        to_edge = min(rest, _SECTOR_DEG - rest)
        return None if to_edge < self.margins.direction_deg else DIRECTIONS[int(number) % len(DIRECTIONS)]
