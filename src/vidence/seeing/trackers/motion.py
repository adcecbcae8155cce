"""Track by motion alone: no picture is looked at, so that boxes from a file need no video to be decoded.

motion
motion?max_age_s=2
"""

import msgspec

from vidence.seeing.association import Associating, AssociationSettings, PlaceSettings


class Settings(PlaceSettings):
    """Options of the tracker: those of `PlaceSettings`."""


def create(settings: Settings) -> Associating:
    """Association by place in two stages of confidence (see `association`)."""
    return Associating("motion", AssociationSettings(**msgspec.structs.asdict(settings)))
