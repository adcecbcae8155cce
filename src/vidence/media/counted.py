"""Frames of files whose packets do not tell them apart: decoded from the start, and counted.

Raw streams, AVI with reordered frames, GIF: there is no time to recognise a frame by, or no keyframe
to trust, so every frame up to the last one wanted is decoded.
"""

from collections.abc import Sequence
from pathlib import Path

from vidence.media.opened import decode, open_video_stream, packets_to_end
from vidence.media.sparse import Convert, Reading, T


def read_counted(path: Path, *, frame_indices: Sequence[int], convert: Convert[T]) -> Reading[T]:
    """Read frames by their number in the order in which the decoder gives them.

    After damage, all frames of that group of pictures are taken as damaged: which of them depend
    on the damaged one cannot be told here.

    Raises:
        MediaError: the file cannot be opened any more.
    """
    wanted = set(frame_indices)
    reading: Reading[T] = Reading()
    group: dict[int, T] = {}
    is_damaged = False
    index = -1

    def close_group() -> None:
        (reading.damaged.update if is_damaged else reading.values.update)(group)
        group.clear()

    with open_video_stream(path) as opened:
        for packet in packets_to_end(opened):
            frames = decode(opened.codec, packet)
            for frame in frames or ():
                index += 1
                if frame.key_frame:
                    close_group()
                    is_damaged = False
                is_damaged = is_damaged or frame.is_corrupt
                if index in wanted:
                    group[index] = convert(index, frame)
            is_damaged = is_damaged or (packet is not None and (frames is None or packet.is_corrupt))
            if wanted and index > max(wanted) and not group:
                break
        close_group()
    reading.missing = wanted - reading.values.keys() - reading.damaged
    return reading
