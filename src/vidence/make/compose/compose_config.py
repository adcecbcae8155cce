"""The configuration of `vidence make compose`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from vidence.engine.config_file import Count, read_config
from vidence.errors import UsageError
from vidence.make.compose.compose_drafting import TASK
from vidence.make.compose.offers import OptionRules
from vidence.make.compose.quotas import Quota, Strength
from vidence.make.gates.rules import GateRules
from vidence.make.pipeline.models import AskLimits, NamedModel
from vidence.make.release.made_release import MakingRelease
from vidence.records import Record


class WordingRules(Record, omit_defaults=True):
    """How questions get their words.

    `templates`: sentences of ours, read back exactly. `model`: `model` words the program, and `check_model`
    (names in ``[models]``), which sees only the words and the vocabulary, translates it back; where that is
    another program, both are evaluated on the scene and on `variants` changed ones. `templates` of your own
    (``compose_word.txt``, ``compose_read.txt``) may stand in the folder `prompts`.
    """

    way: Literal["templates", "model"] = "templates"
    model: str = ""
    check_model: str = ""
    variants: Count = 20
    most_words: Count = 90
    prompts: str = ""

    def __post_init__(self) -> None:
        if self.way == "model" and not (self.model and self.check_model):
            raise UsageError('way = "model" needs `model` and `check_model`, names in [models]')


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
    wording: WordingRules = WordingRules()
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
