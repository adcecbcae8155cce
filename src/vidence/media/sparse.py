"""Exact frames of a video by index, decoding only the packets that they depend on.

In files whose packets do not identify frames (raw streams, AVI with reordered frames, GIF: no usable times or
keyframes), frames are counted by decoding from the start. In all others, each run of packets starts at a
keyframe and ends at the last requested frame; packets that no requested frame can depend on are not decoded.
Frames are identified by presentation time, never counted after a seek. Missing frames are retried from an
earlier keyframe, and finally from the start.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final, Generic, Literal, TypeVar

import av
from av.packet import Packet
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from vidence.media.address import MediaPath
from vidence.media.opened import decode, open_video_stream, packets_to_end
from vidence.media.probe import FrameTable, Run, longest_first, plan

T = TypeVar("T")
Convert = Callable[[int, VideoFrame], T]
Skip = Literal["DEFAULT", "NONREF"]

# Where libavcodec can leave out packets that nothing refers to, bit for bit. libdav1d (AV1) loses frames.
_SKIPPING_CODECS: Final = frozenset({"h264", "hevc", "vp9"})
# Decoders that give nothing until a real keyframe. Others start anywhere, and some files mark packets
# as keyframes that are none: then the start of a run must prove to be one.
_STRICT_CODECS: Final = frozenset({"h264", "hevc"})
_NEAR_PACKETS: Final = 16  # closer than this, reading on is cheaper than a seek
_PACKETS_TO_LAND: Final = 64
_MOST_BACK_S: Final = 64
_RETRY_MARGIN: Final = 32
# The most pictures that H.264 and HEVC let a decoder hold back to put them in order.
_MOST_HELD_BACK: Final = 16


@dataclass(kw_only=True)
class SparseFrames(Generic[T]):
    """A result: converted, damaged and missing frames, by index."""

    values: dict[int, T] = field(default_factory=dict)
    damaged: set[int] = field(default_factory=set)
    missing: set[int] = field(default_factory=set)

    def add(self, other: "SparseFrames[T]") -> None:
        """Merge another result; a frame once found stays found."""
        self.values = other.values | self.values
        self.damaged = (self.damaged | other.damaged) - self.values.keys()
        self.missing = (self.missing | other.missing) - self.values.keys() - self.damaged


def read_sparse(
    path: MediaPath, table: FrameTable, *, frame_indices: Sequence[int], convert: Convert[T], threads: int = 1
) -> SparseFrames[T]:
    """Read frames of a video.

    Args:
        path: the video.
        table: its frames.
        frame_indices: which ones, in any order.
        convert: called once or more for a frame with its index, while its picture is in memory;
            with several threads it is called from all of them.
        threads: how many groups of pictures are decoded side by side.

    Raises:
        MediaError: the file cannot be opened any more.
    """
    runs = plan(table, list(frame_indices))
    reading: SparseFrames[T] = SparseFrames()
    if not runs:
        return reading
    n_threads = min(max(threads, 1), len(runs))
    waiting = deque(runs if n_threads == 1 else longest_first(runs))

    def work() -> SparseFrames[T]:
        with _Session(path, table, convert) as session:
            return session.read(_taken(waiting))

    if n_threads == 1:
        reading = work()
    else:
        with ThreadPoolExecutor(n_threads) as pool:
            for job in [pool.submit(work) for _ in range(n_threads)]:
                reading.add(job.result())
    if reading.missing:
        last = int(table.packet_of_frame[sorted(reading.missing)].max())
        whole = Run(first=0, last=last + _RETRY_MARGIN, frames=tuple(sorted(reading.missing)))
        with _Session(path, table, convert) as session:
            reading.add(session.decode_run(whole, skip="DEFAULT"))
    return reading


def _taken(waiting: deque[Run]) -> Iterator[Run]:
    """Yield runs from a queue shared by threads until it is empty."""
    with suppress(IndexError):
        while True:
            yield waiting.popleft()


class _Catch(Generic[T]):
    """Collects the requested frames of a run, and validates them at its end."""

    def __init__(self, table: FrameTable, run: Run, convert: Convert[T]) -> None:
        self.bad: set[int] = set()
        self._table = table
        self._run = run
        self._convert = convert
        self._wanted = {int(table.frame_pts[index]): index for index in run.frames}
        self._start_pts = int(table.packet_pts[run.first])
        self._is_proven = False
        self._values: dict[int, T] = {}

    def take(self, frames: Sequence[VideoFrame]) -> None:
        """Check frames that the decoder returned."""
        for frame in frames:
            if frame.pts is None:
                continue
            if frame.is_corrupt:
                self.bad.add(self._table.position_of_pts.get(frame.pts, self._run.first))
            if frame.pts == self._start_pts:
                self._is_proven = frame.key_frame
            index = self._wanted.get(frame.pts)
            if index is not None and index not in self._values:
                self._values[index] = self._convert(index, frame)

    def reading(self, *, needs_proof: bool) -> SparseFrames[T]:
        """Return the frames certainly unaffected by damage, from a start that proved to be a keyframe."""
        wanted = set(self._run.frames)
        if needs_proof and not self._is_proven:
            return SparseFrames(missing=wanted)
        damaged = {i for i in wanted if any(self._table.depends_on(i, position) for position in self.bad)}
        return SparseFrames(
            values={i: value for i, value in self._values.items() if i not in damaged},
            damaged=damaged,
            missing=wanted - self._values.keys() - damaged,
        )


class _Session(ExitStack, Generic[T]):
    """One open file on one thread."""

    def __init__(self, path: MediaPath, table: FrameTable, convert: Convert[T]) -> None:
        super().__init__()
        self._path = path
        self._table = table
        self._convert = convert
        self._reopen()

    def _reopen(self) -> None:
        self.close()
        self._opened = self.enter_context(open_video_stream(self._path))
        self._packets: Iterator[Packet[VideoStream]] = self._opened.container.demux(self._opened.stream)
        # The position of the packet that comes next; None where that is not known.
        self._next: int | None = 0

    # ------------------------------------------------------------------ decoding

    def read(self, runs: Iterable[Run]) -> SparseFrames[T]:
        """Decode runs; failed ones are retried with more packets around them."""
        reading: SparseFrames[T] = SparseFrames()
        skip: Skip = "NONREF" if self._opened.codec_name in _SKIPPING_CODECS else "DEFAULT"
        for run in runs:
            frames = self.decode_run(run, skip=skip)
            if failed := frames.damaged | frames.missing:
                frames.damaged, frames.missing = set(), set()
                frames.add(self.decode_run(self._wider(run, failed), skip="DEFAULT"))
            reading.add(frames)
        return reading

    def _wider(self, run: Run, failed: set[int]) -> Run:
        table = self._table
        start = min(table.start_of(index) for index in failed)
        earlier = table.keys[table.keys < start]
        last = int(table.packet_of_frame[sorted(failed)].max())
        return replace(
            run,
            first=int(earlier[-1]) if len(earlier) else start,
            last=last + _RETRY_MARGIN,
            frames=tuple(sorted(failed)),
        )

    def decode_run(self, run: Run, *, skip: Skip) -> SparseFrames[T]:
        """Decode a run from first to last packet; damage invalidates dependent frames."""
        table = self._table
        needed = {int(table.packet_of_frame[index]) for index in run.frames}
        catch = _Catch(table, run, self._convert)
        now = None
        for position, packet in self._packets_from(run.first):
            codec = self._opened.codec  # of another file where seeking failed
            wanted: Skip = "DEFAULT" if position in needed else skip
            if wanted != now:
                codec.skip_frame = now = wanted
            frames = decode(codec, packet)
            if frames is None or packet.is_corrupt:
                catch.bad.add(position)
            if frames:
                catch.take(frames)
            if position >= run.last:
                break
        # Draining gives the last frames without decoding further to push them out.
        catch.take(decode(self._opened.codec, None) or ())
        self._opened.codec.flush_buffers()
        needs_proof = run.first > table.keys[0] and self._opened.codec_name not in _STRICT_CODECS
        return catch.reading(needs_proof=needs_proof)

    # ------------------------------------------------------------------ reading

    def _packets_from(self, first: int) -> "Iterator[tuple[int, Packet[VideoStream]]]":
        """Yield packets with positions, from `first`; ends early if they do not match the table."""
        if self._next is None or not self._next <= first <= self._next + _NEAR_PACKETS:
            self._seek(first)
        times = self._table.packet_pts
        while self._next is not None and self._next < len(times):
            packet = self._take()
            if packet is None or packet.pts != times[self._next]:
                self._next = None
                return
            position, self._next = self._next, self._next + 1
            if position >= first:
                yield position, packet

    def _take(self) -> "Packet[VideoStream] | None":
        """Return the next non-empty packet; None at the end of readable data."""
        try:
            for packet in self._packets:
                if packet.size:
                    return packet
        except av.FFmpegError:
            pass
        return None

    def _seek(self, first: int) -> None:
        """Seek to a packet at or before `first`; the position reached is identified by its time."""
        opened, table = self._opened, self._table
        time_base = opened.stream.time_base
        second = int(1 / time_base) if time_base else 1
        earliest = int(table.packet_pts.min())
        back = 0
        while back <= _MOST_BACK_S * second:
            target = max(int(table.packet_pts[first]) - back, earliest)
            if self._landed(target, first):
                return
            if target == earliest:
                break
            back = max(2 * back, second)
        self._reopen()

    def _landed(self, target: int, first: int) -> bool:
        opened = self._opened
        try:
            opened.container.seek(target, stream=opened.stream, backward=True, any_frame=False)
        except av.FFmpegError:
            return False
        self._packets = opened.container.demux(opened.stream)
        for _ in range(_PACKETS_TO_LAND):
            packet = self._take()
            if packet is None:
                return False
            self._next = None if packet.pts is None else self._table.position_of_pts.get(packet.pts)
            if self._next is not None:
                self._packets = chain((packet,), self._packets)
                return self._next <= first
        return False


# --------------------------------------------------------------------------- by counting


def read_counted(path: MediaPath, *, frame_indices: Sequence[int], convert: Convert[T]) -> SparseFrames[T]:
    """Read frames by number in the decoder's output order.

    Damage invalidates every frame that may depend on it: all later ones up to a keyframe certainly decoded
    after it, and those that may have been decoded later but shown earlier.

    Raises:
        MediaError: the file can no longer be opened.
    """
    wanted = set(frame_indices)
    counter = _Counter(wanted, convert)
    with open_video_stream(path) as opened:
        for n_packets, packet in enumerate(packets_to_end(opened)):
            frames = decode(opened.codec, packet)
            # Before its frames are taken: without reordering a damaged packet gives its own at once.
            if packet is not None and (frames is None or packet.is_corrupt):
                counter.spoil(counter.n_frames, n_packets=n_packets)
            for frame in frames or ():
                counter.take(frame, n_packets=n_packets)
            if counter.n_frames > max(wanted, default=-1) + _MOST_HELD_BACK:
                break
    counter.settle()
    reading = counter.reading
    reading.missing = wanted - reading.values.keys() - reading.damaged
    return reading


class _Counter(Generic[T]):
    """Counts frames, and holds requested ones until they are certainly unaffected by damage."""

    def __init__(self, wanted: set[int], convert: Convert[T]) -> None:
        self.reading: SparseFrames[T] = SparseFrames()
        self.n_frames = 0
        self._wanted = wanted
        self._convert = convert
        self._held: dict[int, T] = {}
        self._spoilt_from: int | None = None
        self._spoilt_at_packet = 0

    def take(self, frame: VideoFrame, *, n_packets: int) -> None:
        """Count a frame that was output after `n_packets` packets."""
        if frame.is_corrupt:
            self.spoil(self.n_frames - _MOST_HELD_BACK, n_packets=n_packets)
        elif frame.key_frame and n_packets > self._spoilt_at_packet + _MOST_HELD_BACK:
            self.settle()
            self._spoilt_from = None
        if self.n_frames in self._wanted:
            self._held[self.n_frames] = self._convert(self.n_frames, frame)
        self.n_frames += 1

    def spoil(self, first: int, *, n_packets: int) -> None:
        """Record damage that may affect all frames from `first` on."""
        self._spoilt_from = first if self._spoilt_from is None else min(self._spoilt_from, first)
        self._spoilt_at_packet = n_packets

    def settle(self) -> None:
        """Decide on held frames that later packets cannot affect."""
        for index, value in self._held.items():
            if self._spoilt_from is not None and index >= self._spoilt_from:
                self.reading.damaged.add(index)
            else:
                self.reading.values[index] = value
        self._held.clear()
