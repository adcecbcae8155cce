"""Configuration of an ablation: what is shown, varied and asked (the file of ``vidence ablate``)."""

import hashlib
import re
from pathlib import Path
from typing import TypeAlias

import msgspec

from vidence.engine.config_file import read_config
from vidence.errors import UsageError
from vidence.pointlight.specs import StimulusSpec, spec_of
from vidence.records import Record

Level: TypeAlias = bool | int | float | str

# Names for what papers vary, and the setting that each stands for.
ALIASES = {
    "inversion": "is_inverted",
    "mirror": "is_mirrored",
    "scrambling": "scramble",
    "noise_dots": "n_noise",
    "jitter": "jitter_m",
    "view": "yaw_deg",
    "elevation": "pitch_deg",
}
# Varied by us and not by a setting of the stimulus: frames shown, dots of the figure.
FRAMES, DOTS = "frames", "dots"
TITLES = {
    FRAMES: "frames shown",
    DOTS: "dots of the figure",
    "is_inverted": "inversion",
    "is_mirrored": "mirror image",
    "scramble": "scrambling",
    "n_noise": "noise dots",
    "jitter_m": "jitter of each dot (m)",
    "dropout": "share of dots that are out",
    "yaw_deg": "angle of view (degrees)",
    "pitch_deg": "elevation of the viewer (degrees)",
    "fps": "frames per second, the same time shown",
    "contrast": "contrast",
    "dot_radius_px": "radius of the dots (px)",
    "life_frames": "lifetime of the dots (frames)",
    "is_backwards": "direction of time",
    "is_loop": "motion made a loop",
}
# Words for what is either so or not so, for people; tables and names of folders keep false and true.
_EITHER = {
    "is_inverted": ("upright", "upside down"),
    "is_mirrored": ("as recorded", "mirrored"),
    "is_backwards": ("forwards", "backwards"),
}
_FIXED = {"seed", "n_frames", "start_frame", "width_px", "height_px"}
DEFAULT_FACTORS: dict[str, tuple[Level, ...]] = {
    FRAMES: (1, 2, 4, 8),
    DOTS: (2, 4, 8, 13),
    "inversion": (False, True),
    "scrambling": ("none", "places", "phases", "both"),
    "noise_dots": (0, 10, 20, 40),
    "view": (0, 45, 90),
    "fps": (8, 15, 30),
}


class Motions(Record, omit_defaults=True):
    """Who moves: the built-in figure, or with `table` the recordings of a table.

    `n_each` clips of each action of the figure, its angle of view spread by `yaw_spread_deg` to both sides.
    `table` is as for ``vidence make actpld``, its files lie in `folder`; both start from the configuration.
    `duration_s` is how much of a motion is shown at most, in seconds.
    """

    n_each: int = 6
    yaw_spread_deg: float = 20.0
    table: str = ""
    folder: str = "."
    points: str = "13"
    duration_s: float = 1.5


class AskConfig(Record, omit_defaults=True):
    """Whom to ask, and how. `overrides` are fields of a plan, such as ``temperature`` or ``max_cost``.

    In a model, ``{base}`` is the folder of clips without any manipulation, and ``{same}`` the one under test:
    ``pointlight-nn`` alone is ``pointlight-nn:{base}``.
    """

    models: tuple[str, ...] = ("baseline:random", "pointlight-nn")
    split: str = "label"
    protocol: str = "paper"
    n_frames: int = 8
    overrides: dict[str, Level] = msgspec.field(default_factory=dict)


class Observing(Record, omit_defaults=True):
    """The ideal observer; none with `n_trials` 0.

    `sd_px` is what it adds to the jitter of the display, in pixels, one observer for each: half a pixel is
    what a picture can show; much more shows how information grows with frames and dots.
    """

    n_trials: int = 300
    sd_px: tuple[float, ...] = (0.5, 16.0)


class AblationConfig(Record, omit_defaults=True):
    """The whole file. `stimulus` are settings of the display as for ``vidence pointlight --set``.

    `vary` has for each factor its levels: ``frames``, ``dots``, one of `ALIASES`, or any setting of the
    display. The level that is not varied is always shown, and everything else is compared with it.
    """

    out: str = "ablation"
    seed: int = 0
    motions: Motions = Motions()
    stimulus: dict[str, Level] = msgspec.field(default_factory=dict)
    vary: dict[str, tuple[Level, ...]] = msgspec.field(default_factory=lambda: dict(DEFAULT_FACTORS))
    ask: AskConfig = AskConfig()
    observer: Observing = Observing()

    def __post_init__(self) -> None:
        for factor, levels in self.vary.items():
            if not levels or len(set(map(str, levels))) < len(levels):
                raise UsageError(f"vary.{factor}: expected one level or more, each once; got {list(levels)}")
        if len({ALIASES.get(f, f) for f in self.vary}) < len(self.vary):
            raise UsageError("vary: a factor stands there twice, under two names")
        if not self.ask.models:
            raise UsageError("ask.models: name at least one model")
        if self.motions.n_each < 1 or not self.motions.duration_s > 0:
            raise UsageError("motions: n_each and duration_s must be above 0")


class Condition(Record):
    """One way to show all clips: `factor` at `level`; the base has neither.

    `settings` are those of the display that differ from the base; `n_dots` and `n_frames` are None where they
    do not. `place` is where the level stands on an axis.
    """

    name: str
    factor: str = ""
    level: str = ""
    place: float = 0.0
    settings: dict[str, str] = msgspec.field(default_factory=dict)
    n_dots: int | None = None
    n_frames: int | None = None

    @property
    def folder(self) -> str:
        """The folder of its clips; how many frames are shown of a clip does not change it."""
        return BASE.name if self.n_frames is not None else self.name


def shown_frames(config: AblationConfig, condition: Condition) -> int:
    """How many frames of a clip a model is shown: at another rate those of the same time, one at least."""
    if condition.n_frames is not None:
        return condition.n_frames
    usual, fps = base_spec(config).fps, spec_under(config, condition).fps
    if usual is None or fps is None or usual == fps:
        return config.ask.n_frames
    return max(1, round(config.ask.n_frames * fps / usual))


BASE = Condition(name="base")


def read_ablation(path: Path) -> AblationConfig:
    """The configuration of a file.

    Raises:
        UsageError: it cannot be read, or something in it makes no sense; with the line where there is one.
    """
    config = read_config(path, AblationConfig)
    try:
        conditions(config)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
    return config


def base_spec(config: AblationConfig) -> StimulusSpec:
    """How clips are shown without manipulation: 128 pixels, as ActPLD shows them, from half the side.

    Actors face the viewer where the angle of view is 0. Noise dots keep the phases of the figure's: a model
    sees a part of the clip, in which a slow action is at one of its phases.
    """
    usual = {"width_px": "128", "height_px": "128", "dot_radius_px": "1.5", "yaw_deg": "45"}
    start = spec_of(usual | {"noise_phases": "kept", "heading": "viewer"})
    return spec_of({k: _text(v) for k, v in config.stimulus.items()}, start=start)


def spec_under(config: AblationConfig, condition: Condition) -> StimulusSpec:
    """How clips are shown in a condition."""
    return spec_of(condition.settings, start=base_spec(config))


def conditions(config: AblationConfig) -> tuple[tuple[str, tuple[Condition, ...]], ...]:
    """For each factor its conditions in the order of the file; the base among them, first where not named.

    Raises:
        UsageError: an unknown factor, or a level that makes no sense.
    """
    made = []
    for name, levels in config.vary.items():
        factor = ALIASES.get(name, name)
        if factor == "fps" and (base_spec(config).fps is None or "none" in map(_text, levels)):
            raise UsageError("vary.fps: the time that is shown is held, so every rate must be a number")
        if factor in _FIXED:
            raise UsageError(f"vary.{name}: cannot be varied here; vary {FRAMES} or a setting of the display")
        usual = _usual(config, factor)
        found = [_condition(config, factor, level=level, usual=usual) for level in levels]
        if not any(c.name == BASE.name for c in found):
            found.insert(0, _condition(config, factor, level=usual, usual=usual))
        has_numbers = all(type(level) in {int, float} for level in (*levels, usual))
        places = [float(c.level) if has_numbers else float(i) for i, c in enumerate(found)]
        placed = (msgspec.structs.replace(c, place=p) for c, p in zip(found, places, strict=True))
        made.append((factor, tuple(placed)))
    return tuple(made)


def _usual(config: AblationConfig, factor: str) -> Level:
    """The level of a factor in the base."""
    if factor == FRAMES:
        return config.ask.n_frames
    if factor == DOTS:
        return int(config.motions.points) if config.motions.points.isdigit() else "all"
    spec = base_spec(config)
    fields = {f: getattr(one, f) for one in (spec.view, spec) for f in one.__struct_fields__ if f != "view"}
    if factor not in fields:
        known = ", ".join((FRAMES, DOTS, *ALIASES, *sorted(set(fields) - _FIXED)))
        raise UsageError(f"vary: there is nothing named {factor!r} to vary; known: {known}")
    usual: Level | None = fields[factor]
    return "none" if usual is None else usual


def _condition(config: AblationConfig, factor: str, *, level: Level, usual: Level) -> Condition:
    text = _text(level)
    is_usual = level == usual or text == _text(usual)
    made = Condition(
        name=BASE.name if is_usual else f"{factor}-{text}".replace("/", "_"), factor=factor, level=text
    )
    if is_usual:
        return made
    if factor not in {FRAMES, DOTS}:
        spec_of({factor: text}, start=base_spec(config))
        return msgspec.structs.replace(made, settings={factor: text})
    if isinstance(level, bool) or not isinstance(level, int) or level < 1:
        raise UsageError(f"vary.{factor}: {level!r} is no number of {factor}; expected 1 or more")
    if factor == FRAMES:
        return msgspec.structs.replace(made, n_frames=level)
    if isinstance(usual, int) and level > usual:
        raise UsageError(f"vary.dots: {level} dots are wanted, and the figure has {usual}")
    return msgspec.structs.replace(made, n_dots=level)


def title_of(factor: str) -> str:
    """A factor in words."""
    return TITLES.get(factor, factor.removeprefix("is_").replace("_", " "))


def words_of(condition: Condition) -> str:
    """The level of a condition in words."""
    no, yes = _EITHER.get(condition.factor, ("no", "yes"))
    return {"false": no, "true": yes}.get(condition.level, condition.level)


def _text(level: Level) -> str:
    if isinstance(level, bool):
        return str(level).lower()
    return f"{level:g}" if isinstance(level, float) else str(level)


def folder_name(model: str) -> str:
    """What the folder of a model's runs is called: its name, and what tells it from others like it."""
    digest = hashlib.sha256(model.encode()).hexdigest()[:8]
    name = re.sub(r"[^A-Za-z0-9.]+", "-", model)[:40].strip("-.")
    return f"{name}-{digest}"


def model_spec(model: str, *, base: Path, same: Path) -> str:
    """A model with the folders that it may name filled in."""
    whole = re.sub(r"^pointlight-nn(?=\?|$)", "pointlight-nn:{base}", model)
    return whole.replace("{base}", str(base)).replace("{same}", str(same))


def unique(factors: tuple[tuple[str, tuple[Condition, ...]], ...]) -> tuple[Condition, ...]:
    """Every condition once, the base first."""
    by_name = {BASE.name: BASE}
    for _, some in factors:
        by_name |= {c.name: c for c in some if c.name not in by_name}
    return tuple(by_name.values())
