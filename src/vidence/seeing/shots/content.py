"""Shots by how much the picture changes, without a network and without torch.

content
content?ratio=4
content?rule=adaptive&threshold=3&min_frames=15
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vidence.catalog import take_options
from vidence.errors import UsageError
from vidence.media.sizes import Size
from vidence.seeing.shooting import Span, cuts_to_spans, spans_between
from vidence.seeing.shots.jumps import CutRule, JumpMeter, small

if TYPE_CHECKING:
    from scenedetect.detector import SceneDetector

NAME: Final = "content"
VERSION: Final = 1
Rule: TypeAlias = Literal["jumps", "adaptive", "hsv"]
_RULES: Final[Mapping[str, Rule]] = {"jumps": "jumps", "adaptive": "adaptive", "hsv": "hsv"}
_USUAL_THRESHOLD: Final = {"adaptive": 3.0, "hsv": 27.0}
# PySceneDetect scales pictures down to about this size itself.
_SCENEDETECT_LONG_PX: Final = 256
# Its clock wants a rate; all lengths that we give it are in frames, so that it does not matter.
_ANY_FPS: Final = 25.0


@dataclass(frozen=True, kw_only=True)
class Options:
    """`threshold` and `min_frames` are PySceneDetect's, `cut` is for our own rule."""

    rule: Rule = "jumps"
    cut: CutRule = field(default_factory=CutRule)
    threshold: float = 0.0
    min_frames: int = 15


class Content:
    """A `ShotDetector` that compares neighbouring frames.

    The rule ``jumps`` is ours (see `CutRule`): a cut is a jump that stands out from the two before it and the
    two behind it, where what moves a little does not count. Frames that show nothing are in no shot, so that
    a fade through black or white parts two shots; dissolves are for ``transnetv2``. ``adaptive`` and ``hsv``
    are PySceneDetect's AdaptiveDetector and ContentDetector, put to the frames that vidence decodes.

    Source: none for ``jumps``. HERBench uses TransNetV2 (section 7.4) and nothing without a network.
    Departs: PySceneDetect is given pictures scaled by our pinned filter.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        if options.rule == "jumps":
            cut = options.cut
            self.size = Size(kind="short", pixels=54)
            rule = f"ratio {cut.ratio:g} least {cut.least:g} window {cut.window} blank {cut.blank:g}"
        else:
            if find_spec("scenedetect") is None or find_spec("cv2") is None:
                raise UsageError(
                    f"the shot detector content?rule={options.rule} needs PySceneDetect and OpenCV: install "
                    "them with pip install 'vidence[build]', or say content, whose own rule needs neither"
                )
            self.size = Size(kind="long", pixels=_SCENEDETECT_LONG_PX)
            made_by = f"PySceneDetect {version('scenedetect-headless')}"
            rule = f"{made_by} threshold {options.threshold:g} least frames {options.min_frames}"
        self.identity = f"{NAME}-{VERSION} {options.rule} {rule}"

    def watch(self) -> "_JumpWatch | _SceneWatch":
        """Begin with a new video."""
        if self._options.rule == "jumps":
            return _JumpWatch(self._options.cut)
        return _SceneWatch(_scene_detector(self._options))


class _JumpWatch:
    def __init__(self, rule: CutRule) -> None:
        self._rule = rule
        self._meter = JumpMeter()

    def see(self, picture: NDArray[np.uint8]) -> None:
        """Look at the next frame."""
        self._meter.see(small(picture))

    def spans(self) -> tuple[Span, ...]:
        """The shots of all frames that were seen."""
        gaps = [*self._meter.cuts(self._rule), *self._meter.blanks(self._rule)]
        return spans_between(gaps, n_frames=len(self._meter.jumps))


class _SceneWatch:
    def __init__(self, detector: "SceneDetector") -> None:
        self._detector = detector
        self._n_seen = 0
        self._cuts: list[int] = []

    def see(self, picture: NDArray[np.uint8]) -> None:
        """Look at the next frame."""
        from scenedetect import FrameTimecode

        clock = FrameTimecode(self._n_seen, fps=_ANY_FPS)
        found = self._detector.process_frame(clock, np.ascontiguousarray(picture[:, :, ::-1]))
        self._cuts += [int(cut.frame_num) for cut in found]
        self._n_seen += 1

    def spans(self) -> tuple[Span, ...]:
        """The shots of all frames that were seen."""
        from scenedetect import FrameTimecode

        if self._n_seen == 0:
            return ()
        late = self._detector.post_process(FrameTimecode(self._n_seen - 1, fps=_ANY_FPS))
        cuts = sorted({*self._cuts, *(int(cut.frame_num) for cut in late)})
        return cuts_to_spans(cuts, n_frames=self._n_seen)


def _scene_detector(options: Options) -> "SceneDetector":
    from scenedetect import AdaptiveDetector, ContentDetector

    made: SceneDetector
    if options.rule == "adaptive":
        made = AdaptiveDetector(adaptive_threshold=options.threshold, min_scene_len=options.min_frames)
    else:
        made = ContentDetector(threshold=options.threshold, min_scene_len=options.min_frames)
    return made


def _rule(text: str) -> Rule:
    if text not in _RULES:
        raise ValueError(f"expected one of {', '.join(_RULES)}")
    return _RULES[text]


def _above(least: float) -> Callable[[str], float]:
    def read(text: str) -> float:
        value = float(text)
        if not least < value < float("inf"):
            raise ValueError(f"expected a number above {least:g}")
        return value

    return read


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError("expected a whole number from 1")
    return value


def create(options: Mapping[str, str]) -> Content:
    """Shots by change: ``rule`` (jumps, adaptive, hsv).

    For ``jumps``: ``ratio`` (3), ``least`` (0.02), ``window`` (2 frames), ``blank`` (2 levels). For
    PySceneDetect's: ``threshold`` (3 for adaptive, 27 for hsv) and ``min_frames`` (15).

    Raises:
        UsageError: PySceneDetect is wanted and not installed, or an option is wrong.
    """
    values = take_options(
        NAME,
        options,
        {
            "rule": _rule,
            "ratio": _above(1),
            "least": _above(0),
            "window": _count,
            "blank": _above(-1e-9),
            "threshold": _above(0),
            "min_frames": _count,
        },
    )
    rule = _RULES[str(values.pop("rule", "jumps"))]
    own = {"ratio", "least", "window", "blank"} if rule == "jumps" else {"threshold", "min_frames"}
    foreign = sorted(values.keys() - own)
    if foreign:
        raise UsageError(f"content?rule={rule} has no option {foreign[0]!r}; it has {', '.join(sorted(own))}")
    numbers = {name: float(str(value)) for name, value in values.items()}
    usual = CutRule()
    return Content(
        Options(
            rule=rule,
            cut=CutRule(
                ratio=numbers.get("ratio", usual.ratio),
                least=numbers.get("least", usual.least),
                window=int(numbers.get("window", usual.window)),
                blank=numbers.get("blank", usual.blank),
            ),
            threshold=numbers.get("threshold", _USUAL_THRESHOLD.get(rule, 0.0)),
            min_frames=int(numbers.get("min_frames", 15)),
        )
    )
