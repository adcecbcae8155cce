"""The configuration of `vidence make compose`."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from vidence.engine.config_file import read_config
from vidence.make.compose.compose_drafting import TASK
from vidence.make.compose.offers import OptionRules
from vidence.make.compose.quotas import Quota, Strength
from vidence.make.gates.rules import GateRules
from vidence.make.pipeline.models import AskLimits, NamedModel
from vidence.make.release.made_release import MakingRelease
from vidence.records import Record


class ReviewFrom(Record, omit_defaults=True):
    """The folder of a review (`vidence review open`) of the questions; only what it accepted stays."""

    folder: str


class ComposeConfig(Record, omit_defaults=True):
    """The configuration; paths start from its folder.

    `media` is the folder with the videos of scenes, `media_licence` the licence that these are under.
    """

    name: str
    scenes: tuple[str, ...] | str
    out: str = ""
    media: str = ""
    media_licence: str = ""
    seed: int = 0
    quota: Quota = Quota()
    need: Strength = Strength()
    options: OptionRules = OptionRules()
    models: Mapping[str, NamedModel | str] = msgspec.field(default_factory=dict)
    asking: AskLimits = AskLimits()
    gates: GateRules | None = None
    review: ReviewFrom | None = None
    release: MakingRelease | None = None

    @property
    def scene_files(self) -> tuple[str, ...]:
        """The files of scenes."""
        return (self.scenes,) if isinstance(self.scenes, str) else self.scenes


def read_compose(path: Path) -> ComposeConfig:
    """The configuration.

    Raises:
        UsageError: as for `read_config`.
        UnknownNameError: ``[gates.blind]`` names a task that there is not.
    """
    read = read_config(path, ComposeConfig)
    if read.gates is not None:
        read.gates.blind.check_hold((TASK,))
    return read
