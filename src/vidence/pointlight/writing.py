"""Write stimuli as files: numbered pictures, videos, and the record to make them again."""

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias, cast

import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from vidence.errors import DataError, UsageError
from vidence.pointlight.drawing import frames
from vidence.pointlight.motion import Motion, MotionSource
from vidence.pointlight.specs import SPEC_VERSION, StimulusSpec
from vidence.pointlight.stimulus import Stimulus, make_stimulus
from vidence.records import Record

Pictures: TypeAlias = Sequence[NDArray[np.uint8]]
# How each kind of file is written: the encoder, its pixel format, its options.
_VIDEO = {
    ".mp4": ("libx264", "yuv420p", {"crf": "16", "preset": "medium"}),
    ".webm": ("libvpx-vp9", "yuv420p", {"crf": "20", "b": "0"}),
}


class MadeFrom(Record):
    """A motion that a stimulus was made from; `digest` is the SHA-256 over its points, names and rate."""

    source: MotionSource
    digest: str
    n_frames: int
    fps: float


class Sidecar(Record):
    """What stands beside a stimulus: with the same motions it can be made again, bit for bit.

    `frames_digest` is the SHA-256 over the pixels of all frames, before any encoding.
    """

    spec: StimulusSpec
    spec_version: int
    figures: tuple[MadeFrom, ...]
    frames_digest: str
    n_frames: int
    fps: float
    px_per_m: float
    vidence: str


def motion_digest(motion: Motion) -> str:
    """The SHA-256 over what a stimulus depends on: places, validity, names and frame rate."""
    digest = hashlib.sha256(repr((motion.names, float(motion.fps), motion.positions_m.shape)).encode())
    digest.update(np.where(motion.is_valid[..., None], motion.positions_m, 0.0).astype("<f8").tobytes())
    digest.update(motion.is_valid.astype(np.uint8).tobytes())
    return digest.hexdigest()


def frames_digest(pictures: Pictures) -> str:
    """The SHA-256 over the pixels of pictures, in their order."""
    digest = hashlib.sha256()
    for picture in pictures:
        digest.update(np.ascontiguousarray(picture).tobytes())
    return digest.hexdigest()


def sidecar(stimulus: Stimulus, figures: Sequence[Motion], pictures: Pictures, *, vidence: str) -> Sidecar:
    """What has to be kept to make a stimulus again; `vidence` is the version of this package."""
    return Sidecar(
        spec=stimulus.spec,
        spec_version=SPEC_VERSION,
        figures=tuple(
            MadeFrom(source=f.source, digest=motion_digest(f), n_frames=f.n_frames, fps=f.fps)
            for f in figures
        ),
        frames_digest=frames_digest(pictures),
        n_frames=stimulus.n_frames,
        fps=stimulus.fps,
        px_per_m=stimulus.px_per_m,
        vidence=vidence,
    )


def read_sidecar(path: Path) -> Sidecar:
    """Read a sidecar.

    Raises:
        DataError: it is not there, or is not one.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=Sidecar)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
    except (msgspec.MsgspecError, UsageError) as error:
        raise DataError(f"{path}: is no sidecar of a stimulus: {error}") from error


def remake(kept: Sidecar, figures: Sequence[Motion]) -> tuple[Stimulus, list[NDArray[np.uint8]]]:
    """Make a stimulus again from its sidecar.

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
    pictures = list(frames(stimulus))
    found = frames_digest(pictures)
    if found != kept.frames_digest:
        raise DataError(
            f"the pictures came out differently (SHA-256 {found[:12]}, before {kept.frames_digest[:12]}); "
            f"the stimulus was made by vidence {kept.vidence}, format {kept.spec_version}"
        )
    return stimulus, pictures


def write_pictures(pictures: Pictures, folder: Path) -> None:
    """Write ``0001.png`` and so on; a folder that has other files is refused.

    Raises:
        UsageError: the folder is there and not empty.
    """
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty; name another folder, or empty it")
    folder.mkdir(parents=True, exist_ok=True)
    for number, picture in enumerate(pictures, start=1):
        Image.fromarray(picture).save(folder / f"{number:04d}.png", optimize=False)


def write_video(pictures: Pictures, path: Path, *, fps: float) -> None:
    """Write an MP4 (H.264), WebM (VP9) or GIF, by the ending of the name.

    Every frame of MP4 and WebM has its exact time. A GIF counts hundredths of a second: times are rounded,
    and rates above 50 are refused, since viewers slow them down.

    Raises:
        UsageError: another ending, no pictures, sides of odd length (not for GIF), or a GIF that is too fast.
    """
    if not pictures:
        raise UsageError(f"{path}: there are no pictures to write")
    kind = path.suffix.lower()
    if kind == ".gif":
        _write_gif(pictures, path, fps=fps)
    elif kind in _VIDEO:
        _write_video(pictures, path, fps=fps)
    else:
        raise UsageError(f"{path}: a video ends in .mp4, .webm or .gif, not {kind or 'nothing'}")


def _write_gif(pictures: Pictures, path: Path, *, fps: float) -> None:
    if fps > 50:
        raise UsageError(f"{path}: a GIF shows 50 frames per second at most, not {fps:g}; lower the rate")
    images = [Image.fromarray(p).quantize(colors=64, dither=Image.Dither.NONE) for p in pictures]
    ends = [round(100 * (n + 1) / fps) for n in range(len(images))]
    waits = [10 * (end - start) for start, end in zip([0, *ends], ends, strict=False)]
    images[0].save(path, save_all=True, append_images=images[1:], duration=waits, loop=0, disposal=1)


def _write_video(pictures: Pictures, path: Path, *, fps: float) -> None:
    import av
    from av.video.stream import VideoStream

    codec, pixels, options = _VIDEO[path.suffix.lower()]
    height_px, width_px = pictures[0].shape[:2]
    if height_px % 2 or width_px % 2:
        raise UsageError(f"{path}: the sides of a video must be even, not {width_px}x{height_px}")
    rate = Fraction(fps).limit_denominator(1001)
    with av.open(str(path), "w") as container:
        stream = cast(VideoStream, container.add_stream(codec, rate=rate, options=options))
        stream.width, stream.height, stream.pix_fmt = width_px, height_px, pixels
        for picture in pictures:
            for packet in stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
