"""Rules of video selection: gates by measure, domain quotas, presets of three papers."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from vidence.engine.config_file import Count, CountOrNone, read_config
from vidence.engine.jobs import NamedModel
from vidence.engine.limits import AskLimits
from vidence.errors import UnknownNameError, UsageError
from vidence.records import Record
from vidence.tables.table import Kind


@dataclass(frozen=True)
class Measure:
    """A measure for gates: title and kind as a column, and definition."""

    title: str
    kind: Kind
    words: str


MEASURES: Final[Mapping[str, Measure]] = {
    "seconds": Measure("seconds", "number", "length in seconds"),
    "fps": Measure("frames/s", "number", "frames a second"),
    "short_px": Measure("short side, px", "count", "shorter side in pixels"),
    "audio": Measure("audio", "count", "1 with a sound track, 0 without"),
    "cuts_per_minute": Measure("cuts/min", "number", "cuts a minute"),
    "motion": Measure("motion", "number", "mean difference of greys in a shot, 0 to 255"),
    "people": Measure("people", "number", "people a frame"),
    "things": Measure("things", "number", "other things a frame, of a detector with classes"),
    "text": Measure("text", "share", "share of frames with on-screen text"),
    "lecture": Measure("lecture", "share", "share of frames like a lecture"),
    "age_days": Measure("days old", "count", "days since it was published"),
}
OTHERS: Final = "*"

Quantile = Annotated[float, Meta(ge=0, le=1)]


class Gate(Record, omit_defaults=True):
    """A gate on a measure: inclusive thresholds, or quantiles among the measured videos.

    A gate without any of these lets everything through, and takes back the gate of a preset.
    """

    at_least: float | None = None
    at_most: float | None = None
    from_quantile: Quantile | None = None
    to_quantile: Quantile | None = None

    def __post_init__(self) -> None:
        for low, high in ((self.at_least, self.at_most), (self.from_quantile, self.to_quantile)):
            if low is not None and high is not None and low > high:
                raise UsageError(f"nothing lies between {low:g} and {high:g}; expected the lower one first")

    @property
    def is_open(self) -> bool:
        """Whether it admits everything."""
        return self == Gate()


class MeasureRules(Record, omit_defaults=True):
    """How to measure videos; an empty spec disables that measure.

    `looks` is how many frames the detector is shown, evenly over the video.
    """

    detector: str = "hog"
    cuts: str = "content"
    looks: Count = 32


class AskRules(Record, omit_defaults=True):
    """The rater: `looker` (a name in ``[models]``) finds frames with text or like a lecture.

    Empty, it is left out. `templates` is a folder with a ``select_look.txt`` of your own.
    """

    looker: str = ""
    templates: str = ""


class SelectRules(Record, omit_defaults=True):
    """The rules file. `quotas` limits videos per domain; ``*`` is any other domain.

    `unmeasured` says what becomes of a video of which a gated measure is not known: it is dropped, or kept
    with that said beside it. `seed` decides which videos a quota keeps.
    """

    preset: str = ""
    gates: Mapping[str, Gate] = msgspec.field(default_factory=dict)
    quotas: Mapping[str, CountOrNone] = msgspec.field(default_factory=dict)
    unmeasured: Literal["drop", "keep"] = "drop"
    seed: int = 0
    measure: MeasureRules = MeasureRules()
    ask: AskRules = AskRules()
    models: Mapping[str, NamedModel | str] = msgspec.field(default_factory=dict)
    asking: AskLimits = AskLimits()

    def __post_init__(self) -> None:
        for name in self.gates:
            if name == "shots_per_minute":
                raise UsageError("shots_per_minute is cuts_per_minute now: a clip without a cut is one shot")
            if name not in MEASURES:
                raise UnknownNameError("measure", name, MEASURES)
        if self.ask.looker and self.ask.looker not in self.models:
            raise UnknownNameError("model (looker)", self.ask.looker, self.models)

    @property
    def wanted_gates(self) -> dict[str, Gate]:
        """Return the preset's gates overridden by the file's, without open ones."""
        gates = {**PRESETS.get(self.preset, {}), **self.gates}
        return {name: gates[name] for name in MEASURES if name in gates and not gates[name].is_open}


_UPPER_THREE_QUARTERS: Final = Gate(from_quantile=0.25)
PRESETS: Final[Mapping[str, Mapping[str, Gate]]] = {
    "perceptioncomp": {
        "seconds": Gate(at_least=120, at_most=600),
        "cuts_per_minute": _UPPER_THREE_QUARTERS,
        "motion": _UPPER_THREE_QUARTERS,
        "people": _UPPER_THREE_QUARTERS,
    },
    "mmvu": {"audio": Gate(at_most=0), "text": Gate(at_most=0.25), "lecture": Gate(at_most=0.25)},
    "humanpcr-r": {"seconds": Gate(at_least=300), "age_days": Gate(at_most=731)},
}
"""Gates of papers. What the papers give are lengths, ages, and words; the other numbers are ours.

Source: PerceptionComp, section 3.1 (2 to 10 minutes; many people and things, many changes of scene, much
    camera motion); MMVU, section 3.2 (no sound track, minimal on-screen text, no lectures); HumanPCR,
    appendix B.3.1 (five minutes and more, of the last two years).
Departs: quantiles and the shares of frames, which the papers do not give; PerceptionComp's words about
    things are not gated, since the default detector knows only people.
"""


def read_rules(path: Path | None, *, preset: str = "") -> SelectRules:
    """Return the rules in a file, or those of a preset.

    Args:
        path: the file; None: there is none.
        preset: goes before that of the file.

    Raises:
        UsageError: as for `read_config`, a preset or a measure that is not known, or nothing to go by.
    """
    rules = SelectRules() if path is None else read_config(path, SelectRules)
    if preset:
        rules = msgspec.structs.replace(rules, preset=preset)
    if rules.preset and rules.preset not in PRESETS:
        raise UnknownNameError("preset", rules.preset, PRESETS)
    return rules
