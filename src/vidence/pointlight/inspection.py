"""All that can be said of a motion, as one record."""

from vidence.pointlight import checks
from vidence.pointlight.body import SETS, points_of
from vidence.pointlight.checks import Check
from vidence.pointlight.motion import Motion
from vidence.records import Record

FEWEST_FRAMES = 8


class MotionReport(Record, kw_only=True):
    """What a file of motion holds, what was done about its defects, and what is doubtful.

    `points_missing` are those of the 13 points of a body that it does not give. `notes` tell what was mended
    on reading. `is_usable` is False with fewer than 8 frames.
    """

    file: str
    format: str
    metres_per_unit: float
    fps_claimed: float | None
    fps: float
    fps_note: str
    n_frames: int
    duration_s: float
    kind: str
    points: tuple[str, ...]
    points_missing: tuple[str, ...]
    notes: tuple[str, ...]
    checks: tuple[Check, ...]
    is_usable: bool

    @property
    def doubts(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(c for c in self.checks if c.verdict == "doubtful")


def inspect(motion: Motion, *, fewest_frames: int = FEWEST_FRAMES) -> MotionReport:
    """Run every check on a motion.

    Args:
        motion: joints, markers, or a body.
        fewest_frames: with fewer than these no stimulus can be cut from it.
    """
    source = motion.source
    is_usable = motion.n_frames >= fewest_frames
    frames = Check(
        name="frames",
        verdict="fine" if is_usable else "doubtful",
        value=float(motion.n_frames),
        unit="frames",
        low=float(fewest_frames),
        message="" if is_usable else "too short for a stimulus",
    )
    there = points_of(motion.names)
    return MotionReport(
        file=source.file,
        format=source.format,
        metres_per_unit=source.metres_per_unit,
        fps_claimed=source.fps_claimed,
        fps=motion.fps,
        fps_note=source.fps_note,
        n_frames=motion.n_frames,
        duration_s=motion.duration_s,
        kind=motion.kind,
        points=motion.names,
        points_missing=tuple(p for p in SETS["13"] if p not in there),
        notes=source.notes,
        checks=(
            frames,
            checks.height(motion),
            checks.upright(motion),
            checks.skeleton(motion),
            checks.limbs(motion),
            checks.gaps(motion),
            checks.first_step(motion),
            checks.jumps(motion),
            checks.gravity(motion),
            checks.stride(motion),
        ),
        is_usable=is_usable,
    )
