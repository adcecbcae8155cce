"""Frames of files whose packets do not tell them apart: decoded from the start, and counted.

Raw streams, AVI with reordered frames, GIF: there is no time to recognise a frame by, or no keyframe
to trust, so every frame up to the last one wanted is decoded.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Generic

from av.video.frame import VideoFrame

from vidence.media.opened import decode, open_video_stream, packets_to_end
from vidence.media.sparse import Convert, Reading, T

# The most pictures that H.264 and HEVC let a decoder hold back to put them in order.
_MOST_HELD_BACK: Final = 16


def read_counted(path: Path, *, frame_indices: Sequence[int], convert: Convert[T]) -> Reading[T]:
    """Read frames by their number in the order in which the decoder gives them.

    Damage spoils every frame that may build on it: all that come out later, up to a keyframe that
    was certainly decoded after it, and those that may have been decoded later but shown earlier.

    Raises:
        MediaError: the file cannot be opened any more.
    """
    wanted = set(frame_indices)
    counter = _Counter(wanted, convert)
    with open_video_stream(path) as opened:
        for n_packets, packet in enumerate(packets_to_end(opened)):
            frames = decode(opened.codec, packet)
            for frame in frames or ():
                counter.take(frame, n_packets=n_packets)
            if packet is not None and (frames is None or packet.is_corrupt):
                counter.spoil(counter.n_frames, n_packets=n_packets)
            if counter.n_frames > max(wanted, default=-1) + _MOST_HELD_BACK:
                break
    counter.settle()
    reading = counter.reading
    reading.missing = wanted - reading.values.keys() - reading.damaged
    return reading


class _Counter(Generic[T]):
    """Counts frames, and holds those wanted until it is certain that no damage reaches them."""

    def __init__(self, wanted: set[int], convert: Convert[T]) -> None:
        self.reading: Reading[T] = Reading()
        self.n_frames = 0
        self._wanted = wanted
        self._convert = convert
        self._held: dict[int, T] = {}
        self._spoilt_from: int | None = None
        self._spoilt_at_packet = 0

    def take(self, frame: VideoFrame, *, n_packets: int) -> None:
        """Count a frame that came out when `n_packets` had gone in."""
        if frame.is_corrupt:
            self.spoil(self.n_frames - _MOST_HELD_BACK, n_packets=n_packets)
        elif frame.key_frame and n_packets > self._spoilt_at_packet + _MOST_HELD_BACK:
            self.settle()
            self._spoilt_from = None
        if self.n_frames in self._wanted:
            self._held[self.n_frames] = self._convert(self.n_frames, frame)
        self.n_frames += 1

    def spoil(self, first: int, *, n_packets: int) -> None:
        """Damage was found that may reach all frames from `first` on."""
        self._spoilt_from = first if self._spoilt_from is None else min(self._spoilt_from, first)
        self._spoilt_at_packet = n_packets

    def settle(self) -> None:
        """Decide on the frames that are held: nothing that comes later can reach them."""
        for index, value in self._held.items():
            if self._spoilt_from is not None and index >= self._spoilt_from:
                self.reading.damaged.add(index)
            else:
                self.reading.values[index] = value
        self._held.clear()
