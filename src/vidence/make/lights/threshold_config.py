"""Configuration of thresholds: what is shown, varied and asked (the file of ``vidence threshold``)."""

import math
import re
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from vidence.engine.config_file import read_config
from vidence.errors import UsageError
from vidence.make.lights.ablation_config import (
    ALIASES,
    DOTS,
    FRAMES,
    AblationConfig,
    Condition,
    Level,
    Motions,
    base_spec,
    conditions,
)
from vidence.pointlight.specs import Share, StimulusSpec
from vidence.records import Record
from vidence.statistics.psychometrics import FEWEST_LEVELS, Curve, Shape

Task: TypeAlias = Literal["identify", "detect", "direction"]
N_CHOICES: dict[Task, int] = {"identify": 3, "detect": 2, "direction": 2}
# Settings of which more is harder, and of which more is easier; of others the configuration must say it.
HARDER = ("n_noise", "jitter_m", "dropout", "place_jitter_m")
EASIER = (
    FRAMES,
    DOTS,
    "contrast",
    "dot_radius_px",
    "dot_radius_deg",
    "life_frames",
    "n_life_dots",
    "px_per_m",
)
# What a task decides itself, and nobody else.
_OF_TASK: dict[Task, tuple[str, ...]] = {
    "identify": (),
    "detect": ("target",),
    "direction": ("is_mirrored", "heading"),
}
# An actor seen from nearer to the front than this faces neither side.
LEAST_SIDE_DEG = 10.0
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


class Varied(Record, omit_defaults=True):
    """The one thing that is varied, as in ``vidence ablate``, and its levels, three numbers or more.

    `is_harder` says whether more of it makes the task harder; None: as is known of the setting.
    """

    setting: str = "noise_dots"
    levels: tuple[int | float, ...] = (0, 10, 20, 40, 60, 80)
    is_harder: bool | None = None


class Method(Record, omit_defaults=True):
    """How thresholds are found.

    ``constant`` shows every clip at every level; ``staircase`` asks `n_trials` questions, each at the level
    that tells most after the answers so far. The threshold is the level at which `proportion` of the answers
    are right (None: half-way from guessing to 1). `scale` ``log`` counts levels by their logarithm; None: for
    a weibull only. `n_boot` draws of clusters make the intervals of ``constant``.
    """

    kind: Literal["constant", "staircase"] = "constant"
    n_trials: Annotated[int, Meta(ge=1)] = 60
    proportion: Share | None = None
    shape: Shape = "logistic"
    scale: Literal["linear", "log"] | None = None
    most_lapses: Annotated[float, Meta(ge=0, lt=0.5)] = 0.06
    n_boot: Annotated[int, Meta(ge=1)] = 2000


class AskConfig(Record, omit_defaults=True):
    """Whom to ask, and how. `overrides` are fields of a plan.

    In a model, ``{base}`` is the folder of the clips at the easiest level: ``pointlight-nn`` alone is
    ``pointlight-nn:{base}``. Answers of people are a file: ``replay:FILE``, from the configuration's folder.
    """

    models: tuple[str, ...] = ("pointlight-nn",)
    n_frames: Annotated[int, Meta(ge=1)] = 8
    overrides: dict[str, Level] = msgspec.field(default_factory=dict)


class Observer(Record, omit_defaults=True):
    """A simulated observer: right at a level with the chance of its psychometric function.

    `location` (F = 0.5) and `width` (F from 0.05 to 0.95) are on the scale of the function: natural
    logarithms of levels where it is logarithmic.
    """

    name: str
    location: float
    width: Annotated[float, Meta(gt=0)]
    lapse: Annotated[float, Meta(ge=0, lt=0.5)] = 0.0

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise UsageError(f"observers: {self.name!r} is no name; use letters, digits, dots and dashes")


class ThresholdConfig(Record, omit_defaults=True):
    """The whole file. `stimulus` are settings of the display as for ``vidence pointlight --set``."""

    out: str = "threshold"
    seed: int = 0
    task: Task = "identify"
    motions: Motions = Motions()
    stimulus: dict[str, Level] = msgspec.field(default_factory=dict)
    vary: Varied = Varied()
    method: Method = Method()
    ask: AskConfig = AskConfig()
    observers: tuple[Observer, ...] = ()

    def __post_init__(self) -> None:
        levels = self.vary.levels
        if len(levels) < FEWEST_LEVELS or list(levels) != sorted(set(levels)):
            raise UsageError(f"vary.levels: expected {FEWEST_LEVELS} or more that ascend; got {list(levels)}")
        if not all(map(math.isfinite, levels)):
            raise UsageError("vary.levels: expected numbers")
        given = set(self.stimulus) | {ALIASES.get(self.vary.setting, self.vary.setting)}
        for name in _OF_TASK[self.task]:
            if name in {ALIASES.get(one, one) for one in given}:
                raise UsageError(f"{name} is what the task {self.task!r} asks about; leave it out")
        if not self.ask.models and not self.observers:
            raise UsageError("name a model (ask.models) or an observer")
        names = [one.name for one in self.observers]
        if len(set(names)) < len(names):
            raise UsageError("observers: a name stands there twice")
        if not 1 / N_CHOICES[self.task] < self.proportion < 1 - self.method.most_lapses:
            raise UsageError(
                f"method.proportion {self.proportion:g}: expected more than guessing gets "
                f"({1 / N_CHOICES[self.task]:.2f}) and less than 1 less lapses"
            )
        curve = curve_of(self)
        curve.scaled(levels)

    @property
    def proportion(self) -> float:
        """The share of right answers at the threshold."""
        given = self.method.proportion
        return (1 + 1 / N_CHOICES[self.task]) / 2 if given is None else given


def read_threshold(path: Path) -> ThresholdConfig:
    """The configuration of a file.

    Raises:
        UsageError: it cannot be read, or something in it makes no sense; with the line where there is one.
    """
    config = read_config(path, ThresholdConfig)
    try:
        levels_of(config)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
    return config


def setting_of(config: ThresholdConfig) -> str:
    """The setting that is varied, by its own name."""
    return ALIASES.get(config.vary.setting, config.vary.setting)


def curve_of(config: ThresholdConfig) -> Curve:
    """The family of functions that is fitted.

    Raises:
        UsageError: whether more is harder is not known; or a shape that is none of the scale.
    """
    setting, is_harder = setting_of(config), config.vary.is_harder
    if is_harder is None:
        if setting not in (*HARDER, *EASIER):
            raise UsageError(f"vary.is_harder: say whether more of {setting} makes the task harder")
        is_harder = setting in HARDER
    method = config.method
    is_log = method.shape == "weibull" if method.scale is None else method.scale == "log"
    return Curve(
        shape=method.shape,
        guess=1 / N_CHOICES[config.task],
        is_falling=is_harder,
        is_log=is_log,
        most_lapses=method.most_lapses,
    )


def ablation_of(config: ThresholdConfig) -> AblationConfig:
    """The same motions and levels as an ablation, whose clips these are.

    The directions of walkers are asked in profile and on a belt where the stimulus does not say otherwise:
    a figure that crosses the picture gives its direction away by any one dot.
    """
    usual: dict[str, Level] = {}
    if config.task == "direction":
        usual = {"yaw_deg": 90, "framing": "root"}
    return AblationConfig(
        seed=config.seed,
        motions=config.motions,
        stimulus=usual | config.stimulus,
        vary={config.vary.setting: config.vary.levels},
    )


def levels_of(config: ThresholdConfig) -> tuple[Condition, ...]:
    """One condition for each level, in the order of the file.

    Raises:
        UsageError: an unknown setting, or a level that makes no sense.
    """
    wanted = set(map(float, config.vary.levels))
    ((_, found),) = conditions(ablation_of(config))
    made = [c for c in found if (level := _number(c.level)) is not None and level in wanted]
    if len(made) < len(wanted):
        raise UsageError(f"vary.{config.vary.setting}: only settings that are numbers have a threshold")
    return tuple(made)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def shown_as(config: ThresholdConfig) -> StimulusSpec:
    """How clips are shown but for what is varied."""
    return base_spec(ablation_of(config))
