"""Videos with known evidence: a folder with videos, the questions about them, and all that was planted.

videos/v000.mp4 ...   cards that appear and disappear over moving scenery
items.jsonl           the questions, one `vidence-item/1` object per line
world.json            seed, spec, versions, and every card with its span
"""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Literal, cast

import av
import msgspec
import numpy as np
from av.video.stream import VideoStream

from vidence.ask.phantom.code import read
from vidence.ask.phantom.plan import PlantedPiece, VideoPlan, WorldSpec, plan_world
from vidence.ask.phantom.scene import Scene
from vidence.errors import DataError, MediaError
from vidence.media.video import FrameProblem, open_video
from vidence.media.whole import own_folder, remove_leftovers, whole_file, write_whole
from vidence.records import Record

__all__ = ["PlantedPiece", "PlantedVideo", "World", "WorldSpec", "read_world", "render"]

WORLD_FILE = "world.json"
ITEMS_FILE = "items.jsonl"
VERSION = 1
_GOP = 250  # frames between keyframes: as sparse as in real data
# No keyframe where a card appears: decoding must start far before the frame that is wanted.
# With macroblock trees, x264 as built into PyAV 18.1 does not give the same bytes twice.
_ENCODER_OPTIONS = {
    "libx264": {"sc_threshold": "0", "mbtree": "0"},
    "libx265": {"x265-params": "scenecut=0:log-level=none"},
}


class PlantedVideo(Record):
    """One rendered video and the cards in it. `rate` is the mean number of frames per second."""

    path: str
    width_px: int
    height_px: int
    codec: str
    is_variable: bool
    rate: float
    n_frames: int
    duration_s: float
    sha256: str
    pieces: tuple[PlantedPiece, ...]


class World(Record):
    """Everything that was planted, as written to ``world.json``.

    `number` is what the codes in the pixels call this world. `versions` are those of this maker and
    of the encoder: the bytes of the videos may differ with the encoder, the items do not.
    """

    format: Literal["vidence-phantom/1"] = "vidence-phantom/1"
    seed: int
    number: int
    spec: WorldSpec
    versions: dict[str, str]
    videos: tuple[PlantedVideo, ...]
    n_items: int
    items_sha256: str


def _encode(path: Path, plan: VideoPlan, *, world: int, crf: int, rng: np.random.Generator) -> None:
    """Write one video, renaming it once complete.

    Raises:
        MediaError: this FFmpeg has no such encoder, or the encoder fails.
    """
    scene = Scene(plan.width_px, plan.height_px, rng=rng)
    mean_rate = Fraction(len(plan.pts) * plan.ticks_per_s, int(plan.pts[-1]) + 1).limit_denominator(1000)
    options = {"crf": str(crf), "preset": "veryfast", "threads": "1", **_ENCODER_OPTIONS.get(plan.codec, {})}
    try:
        with whole_file(path) as unfinished, av.open(str(unfinished), "w", format="mp4") as container:
            stream = cast(VideoStream, container.add_stream(plan.codec, rate=mean_rate, options=options))
            stream.width, stream.height, stream.pix_fmt = plan.width_px, plan.height_px, "yuv420p"
            stream.codec_context.gop_size = _GOP
            stream.codec_context.time_base = Fraction(1, plan.ticks_per_s)
            for pts, time_s, card in zip(plan.pts, plan.times_s, plan.cards(world), strict=True):
                frame = av.VideoFrame.from_ndarray(scene.frame(float(time_s), card), format="rgb24")
                frame.pts, frame.time_base = int(pts), Fraction(1, plan.ticks_per_s)
                container.mux(stream.encode(frame))
            container.mux(stream.encode(None))
    except (av.FFmpegError, ValueError) as error:
        raise MediaError(
            f"{path.name} cannot be encoded with {plan.codec!r} ({error}); "
            "use an encoder that this FFmpeg has, for example codecs=('libx264',)"
        ) from error


def _planted(path: Path, plan: VideoPlan) -> PlantedVideo:
    times_s = plan.times_s
    rate = (len(times_s) - 1) / float(times_s[-1])
    return PlantedVideo(
        path=plan.path,
        width_px=plan.width_px,
        height_px=plan.height_px,
        codec=plan.codec,
        is_variable=plan.is_variable,
        rate=round(rate, 4),
        n_frames=len(times_s),
        duration_s=round(len(times_s) / rate, 4),
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        pieces=plan.pieces,
    )


def render(out: Path, spec: WorldSpec, *, seed: int, n_workers: int = 2) -> World:
    """Render a world into a folder, replacing an older world there.

    The questions are written last, so a folder without ``items.jsonl`` is an unfinished world.

    Args:
        out: the folder; made if it does not exist.
        spec: what to make.
        seed: decides everything that is drawn; the same spec and seed give the same items.
        n_workers: how many videos are encoded concurrently.

    Raises:
        UsageError: the spec cannot be made.
        UsageError: the folder holds something that is not a phantom world.
        MediaError: a video cannot be encoded.
        StoreError: the folder cannot be made.
    """
    plan = plan_world(spec, seed=seed)
    own_folder(out, ".vidence-world")
    _clear(out)

    def make(i: int) -> PlantedVideo:
        path = out / plan.videos[i].path
        rng = np.random.default_rng([seed, 2, i])
        _encode(path, plan.videos[i], world=plan.number, crf=spec.crf, rng=rng)
        return _planted(path, plan.videos[i])

    with ThreadPoolExecutor(n_workers) as pool:
        videos = tuple(pool.map(make, range(len(plan.videos))))
    codec_version = ".".join(str(part) for part in av.library_versions["libavcodec"])
    items_data = b"".join(msgspec.json.encode(item) + b"\n" for item in plan.items)
    world = World(
        seed=seed,
        number=plan.number,
        spec=spec,
        versions={"phantom": str(VERSION), "pyav": av.__version__, "libavcodec": codec_version},
        videos=videos,
        n_items=len(plan.items),
        items_sha256=hashlib.sha256(items_data).hexdigest(),
    )
    write_whole(out / WORLD_FILE, msgspec.json.format(msgspec.json.encode(world), indent=2))
    write_whole(out / ITEMS_FILE, items_data)
    return world


def _clear(out: Path) -> None:
    """Remove an older world from its folder, and the partial file of a killed rendering."""
    remove_leftovers(out)
    for path in (out / ITEMS_FILE, out / WORLD_FILE, *(out / "videos").glob("v[0-9]*.mp4")):
        path.unlink(missing_ok=True)
    (out / "videos").mkdir(exist_ok=True)


def read_world(folder: Path) -> World:
    """Return what was planted in a folder that `render` created.

    Raises:
        DataError: there is no complete world.
    """
    path = folder / WORLD_FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=World)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise DataError(
            f"{path} is not there; make a world with `vidence demo` or vidence.ask.phantom.world.render"
        ) from error
    except msgspec.DecodeError as error:
        raise DataError(f"{path} is not a phantom world: {error}; render it again") from error


_CHECKED = WorldSpec(n_videos=1, items_per_video=1, min_s=20, max_s=20, n_variable=1, sizes=((320, 180),))


def decodes_exactly(folder: Path, *, n_frames: int = 24) -> tuple[int, int]:
    """Return how many frames of a test clip decode to what was drawn, and how many were checked.

    The clip has a variable frame rate and few keyframes; the frames are spread over it. A frame is
    right when it comes at its planted time and shows its own card, or no card where none was drawn.

    Args:
        folder: where the clip may be written; it must be empty or not there.
        n_frames: how many frames to look at.

    Raises:
        MediaError: the clip cannot be encoded or opened.
        UsageError: the folder holds something else.
    """
    world = render(folder, _CHECKED, seed=0)
    plan = plan_world(_CHECKED, seed=0)
    drawn, times_s = plan.videos[0].cards(plan.number), plan.videos[0].times_s
    video = open_video(folder / world.videos[0].path)
    indices = np.linspace(0, len(drawn) - 1, n_frames).astype(int).tolist()
    n_right = 0
    for index, picture in zip(indices, video.frames(indices), strict=True):
        card = drawn[index]
        is_there = index < video.n_frames and abs(video.times_s[index] - times_s[index]) < 1e-3
        is_right = not isinstance(picture, FrameProblem) and read(picture) == (card and card.payload)
        n_right += bool(is_there and is_right)
    return n_right, len(indices)
