"""Detect cuts by how much the frame changes; needs no network and no torch.

content
content?ratio=4
content?rule=adaptive&threshold=3&min_frames=15
"""

from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.installation import adding
from vidence.media.encode import Size
from vidence.records import Record
from vidence.seeing.shooting import ShotScores, cuts_to_spans, spans_between
from vidence.seeing.shots.dissolves import DissolveMeter
from vidence.seeing.shots.jumps import CutRule, JumpMeter, small
from vidence.seeing.tracks import Span

if TYPE_CHECKING:
    from scenedetect.detector import SceneDetector

NAME: Final = "content"
VERSION: Final = 2
_USUAL_THRESHOLD: Final = {"adaptive": 3.0, "hsv": 27.0}
# PySceneDetect scales pictures down to about this size itself.
_SCENEDETECT_LONG_PX: Final = 256
# So many frames may lie between a fade and the cut or the blank frames that it leads to.
_REACH: Final = 8
# Its clock wants a rate; all lengths that we give it are in frames, so that it does not matter.
_ANY_FPS: Final = 25.0


class Settings(Record):
    """Options of the detector; `ratio` to `dissolves` are of the rule ``jumps``, others PySceneDetect's."""

    rule: Annotated[
        Literal["jumps", "adaptive", "hsv"],
        Meta(description="jumps: ours; adaptive, hsv: AdaptiveDetector, ContentDetector of PySceneDetect"),
    ] = "jumps"
    ratio: Annotated[float, Meta(gt=1, description="jumps: how much a cut exceeds the jumps around it")] = 3.0
    least: Annotated[float, Meta(gt=0, description="jumps: smallest jump that is a cut, 0 to 1")] = 0.02
    window: Annotated[int, Meta(ge=1, description="jumps: frames before and after to compare with")] = 2
    blank: Annotated[
        float, Meta(ge=0, description="jumps: spread of values (0 to 255) below which a frame is blank")
    ] = 2.0
    dissolves: Annotated[bool, Meta(description="jumps: also detect dissolves")] = True
    threshold: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        Meta(description="adaptive, hsv: threshold of PySceneDetect (usually 3 for adaptive, 27 for hsv)"),
    ] = None
    min_frames: Annotated[int, Meta(ge=1, description="adaptive, hsv: frames of the shortest shot")] = 15

    def __post_init__(self) -> None:
        ours = ("ratio", "least", "window", "blank", "dissolves")
        foreign = ("threshold", "min_frames") if self.rule == "jumps" else ours
        defaults = {field.name: field.default for field in msgspec.structs.fields(Settings)}
        if wrong := [name for name in foreign if getattr(self, name) != defaults[name]]:
            raise UsageError(
                f"content?rule={self.rule} has no option {wrong[0]!r}; {', '.join(ours)} belong to the rule "
                "jumps, threshold and min_frames to adaptive and hsv"
            )


class Content:
    """A `ShotDetector` that compares neighbouring frames.

    The rule ``jumps`` is ours (see `CutRule`): a cut is a jump that stands out from the two before it and the
    two behind it, where what moves a little does not count. Frames that show nothing are in no shot, so that
    a fade through black or white parts two shots. Dissolves are found where the pictures on both sides are
    still enough (see `DissolveMeter`); ``transnetv2`` finds more of them. ``adaptive`` and ``hsv``
    are PySceneDetect's AdaptiveDetector and ContentDetector, put to the frames that vidence decodes.

    Source: none for ``jumps``. HERBench uses TransNetV2 (section 7.4) and nothing without a network.
    Departs: PySceneDetect is given pictures scaled by our pinned filter.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        if settings.rule == "jumps":
            cut = self._cut = CutRule(
                ratio=settings.ratio, least=settings.least, window=settings.window, blank=settings.blank
            )
            self.size = Size(kind="short", pixels=54)
            rule = f"ratio {cut.ratio:g} least {cut.least:g} window {cut.window} blank {cut.blank:g}"
            rule += " dissolves" if settings.dissolves else ""
        else:
            if find_spec("scenedetect") is None or find_spec("cv2") is None:
                raise UsageError(
                    f"the shot detector content?rule={settings.rule} needs PySceneDetect and OpenCV: install "
                    f"them with {adding('build')}, or say content, whose own rule needs neither"
                )
            self.size = Size(kind="long", pixels=_SCENEDETECT_LONG_PX)
            made_by = f"PySceneDetect {version('scenedetect-headless')}"
            rule = f"{made_by} threshold {_threshold(settings):g} least frames {settings.min_frames}"
        self.identity = f"{NAME}-{VERSION} {settings.rule} {rule}"

    def watch(self) -> "_JumpWatch | _SceneWatch":
        """Start with a new video."""
        if self._settings.rule == "jumps":
            return _JumpWatch(self._cut, DissolveMeter() if self._settings.dissolves else None)
        return _SceneWatch(_scene_detector(self._settings))


class _JumpWatch:
    def __init__(self, rule: CutRule, dissolves: DissolveMeter | None) -> None:
        self._rule = rule
        self._meter = JumpMeter()
        self._dissolves = dissolves

    def see(self, picture: NDArray[np.uint8]) -> None:
        """Look at the next frame."""
        cells = small(picture)
        self._meter.see(cells)
        if self._dissolves is not None:
            self._dissolves.see(cells)

    def spans(self) -> tuple[Span, ...]:
        """The shots of all frames that were seen."""
        hard = [*self._meter.cuts(self._rule), *self._meter.blanks(self._rule)]
        slow = [] if self._dissolves is None else self._dissolves.gaps()
        # A dissolve beside a cut or blank frames is the fade there.
        slow = [gap for gap in slow if not any(gap.is_near(entry, reach=_REACH) for entry in hard)]
        return spans_between([*hard, *slow], n_frames=len(self._meter.jumps))

    def scores(self) -> ShotScores:
        """The jumps to all frames that were seen."""
        return ShotScores(
            values=self._meter.jumps.astype(np.float32),
            least=self._rule.least,
            what=f"jump from the frame before, 0 to 1; a cut is {self._rule.ratio:g} times those around it",
        )


class _SceneWatch:
    def __init__(self, detector: "SceneDetector") -> None:
        self._detector = detector
        self._n_seen = 0
        self._cuts: list[int] = []

    def see(self, picture: NDArray[np.uint8]) -> None:
        """Look at the next frame."""
        from scenedetect import FrameTimecode

        clock = FrameTimecode(self._n_seen, fps=_ANY_FPS)
        frame = self._detector.process_frame(clock, np.ascontiguousarray(picture[:, :, ::-1]))
        self._cuts += [int(cut.frame_num) for cut in frame]
        self._n_seen += 1

    def spans(self) -> tuple[Span, ...]:
        """The shots of all frames that were seen."""
        from scenedetect import FrameTimecode

        if self._n_seen == 0:
            return ()
        late = self._detector.post_process(FrameTimecode(self._n_seen - 1, fps=_ANY_FPS))
        cuts = sorted({*self._cuts, *(int(cut.frame_num) for cut in late)})
        return cuts_to_spans(cuts, n_frames=self._n_seen)

    def scores(self) -> None:
        """None: PySceneDetect hands no scores out with its cuts."""
        return


def _threshold(settings: Settings) -> float:
    return _USUAL_THRESHOLD[settings.rule] if settings.threshold is None else settings.threshold


def _scene_detector(settings: Settings) -> "SceneDetector":
    from scenedetect import AdaptiveDetector, ContentDetector

    threshold, shortest = _threshold(settings), settings.min_frames
    if settings.rule == "adaptive":
        return AdaptiveDetector(adaptive_threshold=threshold, min_scene_len=shortest)
    return ContentDetector(threshold=threshold, min_scene_len=shortest)


def create(settings: Settings) -> Content:
    """Shots by how much the picture changes.

    Raises:
        UsageError: PySceneDetect is wanted and not installed.
    """
    return Content(settings)
