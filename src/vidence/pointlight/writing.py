"""Write stimuli to files: numbered pictures, videos, and the record to rebuild them.

Pictures pass once, one at a time: what is written, hashed and laid on sheets needs no clip in memory.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
import numpy as np
from PIL import Image

from vidence.errors import DataError, UsageError, cause
from vidence.media.whole import own_folder
from vidence.media.written import Picture, Sink
from vidence.pointlight.drawing import frames
from vidence.pointlight.figures import Staging
from vidence.pointlight.motion import Motion, MotionSource
from vidence.pointlight.specs import SPEC_VERSION, StimulusSpec
from vidence.pointlight.stimulus import Stimulus, make_stimulus
from vidence.records import Record


class MadeFrom(Record):
    """The motion of a stimulus; `digest` is the SHA-256 of its points, names and rate."""

    source: MotionSource
    digest: str
    n_frames: int
    fps: float


class Sidecar(Record, omit_defaults=True):
    """The sidecar of a stimulus, from which it can be rebuilt bit for bit.

    `frames_digest` is the SHA-256 over the pixels of all frames, before any encoding. `staging` names the
    sources and how they were read (None in files of versions before this one: name the sources then).
    """

    spec: StimulusSpec
    spec_version: int
    figures: tuple[MadeFrom, ...]
    frames_digest: str
    n_frames: int
    fps: float
    px_per_m: float
    vidence: str
    staging: Staging | None = None


def motion_digest(motion: Motion) -> str:
    """The SHA-256 of what a stimulus depends on: positions, validity, names and frame rate."""
    digest = hashlib.sha256(repr((motion.names, float(motion.fps), motion.positions_m.shape)).encode())
    digest.update(np.where(motion.is_valid[..., None], motion.positions_m, 0.0).astype("<f8").tobytes())
    digest.update(motion.is_valid.astype(np.uint8).tobytes())
    return digest.hexdigest()


def passed(pictures: Iterable[Picture], sinks: Collection[Sink] = ()) -> str:
    """Pass each picture to every sink; return the SHA-256 over all pixels in order."""
    digest = hashlib.sha256()
    for picture in pictures:
        digest.update(np.ascontiguousarray(picture).tobytes())
        for sink in sinks:
            sink(picture)
    return digest.hexdigest()


def sidecar(
    stimulus: Stimulus, figures: Sequence[Motion], digest: str, *, vidence: str, staging: Staging
) -> Sidecar:
    """Return what is needed to rebuild a stimulus.

    Args:
        stimulus: the stimulus.
        figures: what it was made from.
        digest: over its pixels, see `passed`.
        vidence: the version of this package.
        staging: how the figures were come by.
    """
    return Sidecar(
        spec=stimulus.spec,
        spec_version=SPEC_VERSION,
        figures=tuple(
            MadeFrom(source=f.source, digest=motion_digest(f), n_frames=f.n_frames, fps=f.fps)
            for f in figures
        ),
        frames_digest=digest,
        n_frames=stimulus.n_frames,
        fps=stimulus.fps,
        px_per_m=stimulus.px_per_m,
        vidence=vidence,
        staging=staging,
    )


def read_sidecar(path: Path) -> Sidecar:
    """Read a sidecar.

    Raises:
        DataError: it does not exist, or is not one.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=Sidecar)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {cause(error)}") from error
    except (msgspec.MsgspecError, UsageError) as error:
        raise DataError(f"{path}: is no sidecar of a stimulus: {error}") from error


def remake(kept: Sidecar, figures: Sequence[Motion]) -> Stimulus:
    """Rebuild a stimulus from its sidecar and verify every pixel.

    Args:
        kept: the sidecar.
        figures: the same motions.

    Raises:
        DataError: other motions, or pixels that came out differently; the message says which.
    """
    if len(figures) != len(kept.figures):
        raise DataError(f"the stimulus was made from {len(kept.figures)} motions, not {len(figures)}")
    for figure, made_from in zip(figures, kept.figures, strict=True):
        if motion_digest(figure) != made_from.digest:
            raise DataError(
                f"{figure.source.file or 'this motion'} is not what the stimulus was made from "
                f"({made_from.source.file or 'no file'}, {made_from.n_frames} frames at "
                f"{made_from.fps:g} per second)"
            )
    stimulus = make_stimulus(figures, kept.spec)
    text = passed(frames(stimulus))
    if text != kept.frames_digest:
        raise DataError(
            f"the pictures came out differently (SHA-256 {text[:12]}, before {kept.frames_digest[:12]}); "
            f"the stimulus was made by vidence {kept.vidence}, format {kept.spec_version}"
        )
    return stimulus


@contextmanager
def numbered_pictures(folder: Path) -> Iterator[Sink]:
    """Write ``0001.png`` and so on into a new or empty folder; errors as for `own_folder`."""
    own_folder(folder)
    numbers = iter(range(1, 10**9))

    def add(picture: Picture) -> None:
        Image.fromarray(picture).save(folder / f"{next(numbers):04d}.png", optimize=False)

    yield add
