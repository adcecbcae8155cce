"""The frames that a run wants from one file, encoded; made to run in a worker process."""

import logging
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vidence.media.cache import FrameCache
from vidence.media.encode import EncodedFrame, Encoding, encode
from vidence.media.facts import known_video
from vidence.media.video import FrameProblem
from vidence.records import Record

_log = logging.getLogger(__name__)


class Job(Record, kw_only=True):
    """Which frames of which file, how encoded, and where to keep them (`cache_root` None: nowhere)."""

    path: str
    kind: str
    frame_indices: tuple[int, ...]
    encoding: Encoding
    cache_root: str | None
    cache_max_bytes: int
    threads: int = 1


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """What a job gave, by frame index: every frame asked for is in `frames` or in `problems`.

    `problems` say what is wrong and name file and frame. `n_decoded` frames were decoded now,
    `n_from_cache` were kept from earlier.
    """

    frames: dict[int, EncodedFrame]
    problems: dict[int, str]
    n_decoded: int
    n_from_cache: int


def deliver(job: Job) -> Delivery:
    """Get frames from the cache, and the missing ones in one pass over the file.

    A damaged file gives the frames that are whole, and a problem for each of the others.

    Raises:
        MediaError: the file cannot be read at all.
    """
    root = None if job.cache_root is None else Path(job.cache_root)
    video, content_hash = known_video(Path(job.path), kind=job.kind, cache_root=root)
    cache = None if root is None else FrameCache(root, max_bytes=job.cache_max_bytes)
    key = job.encoding.key
    frames: dict[int, EncodedFrame] = {}
    if cache is not None:
        for index in sorted(set(job.frame_indices)):
            kept = cache.get(content_hash, index, key)
            if kept is not None:
                frames[index] = kept
    n_from_cache = len(frames)
    missing = sorted(set(job.frame_indices) - frames.keys())

    def make(_: int, image: NDArray[np.uint8]) -> EncodedFrame:
        return encode(image, job.encoding)

    problems: dict[int, str] = {}
    made = video.read(missing, make, size=job.encoding.size, threads=job.threads) if missing else {}
    for index, frame in made.items():
        if isinstance(frame, FrameProblem):
            problems[index] = frame.message
            continue
        frames[index] = frame
        if cache is not None:
            cache.put(content_hash, index, key, frame=frame)
    _log.debug("%s: %d frames decoded, %d kept before", job.path, len(frames) - n_from_cache, n_from_cache)
    return Delivery(
        frames=dict(sorted(frames.items())),
        problems=dict(sorted(problems.items())),
        n_decoded=len(frames) - n_from_cache,
        n_from_cache=n_from_cache,
    )
