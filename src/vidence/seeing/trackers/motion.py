"""Motion alone: no picture is looked at, so that boxes from a file need no video to be decoded.

motion
motion?max_age=60
"""

from collections.abc import Mapping

from vidence.errors import UsageError
from vidence.seeing.trackers._associating import Associating, read_settings

_OF_LOOKS = ("place", "most_distance", "alike", "clear_by", "gallery")


def create(argument: str, options: Mapping[str, str]) -> Associating:
    """Association by place in two stages of confidence (see `association`); there is no argument.

    The options are the fields of `AssociationSettings` that say nothing of looks.

    Raises:
        UsageError: an argument is given, or a wrong option.
    """
    if argument:
        raise UsageError(
            f"motion takes no argument, and got {argument!r}; options follow a ?: motion?max_age=60"
        )
    settings = read_settings("motion", options, without=_OF_LOOKS)
    return Associating("motion", settings)
