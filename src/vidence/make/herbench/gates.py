"""Gate step: the quality gates behind the drafts, on the videos of the session."""

from collections.abc import Sequence
from typing import Final

from vidence.make.gates.frames import FrameSource
from vidence.make.gates.gate_sequence import VERDICTS_FILE, Gated, GateRoom
from vidence.make.gates.gate_sequence import pass_gates as pass_all
from vidence.make.herbench.session import HerbenchSession, VideoState
from vidence.make.pipeline.material import Draft

__all__ = ["VERDICTS_FILE", "Gated", "pass_gates"]
HOLDS: Final = ("sva", "tso")  # tasks about true and false descriptions, which their words may tell apart


def pass_gates(work: HerbenchSession, drafts: tuple[Draft, ...], videos: Sequence[VideoState]) -> Gated:
    """Put the drafts through the gates that the configuration has; see `gate_sequence.pass_gates`.

    Raises:
        VidenceError: a model answers nobody any more; every reply so far is remembered.
    """
    frames = FrameSource(
        files={one.video_id: one.source.file for one in videos if one.source.file is not None},
        videos={one.video_id: one.source.video for one in videos},
        pictures=work.pictures,
        cache=work.cache,
        context=work.context,
    )
    room = GateRoom(
        session=work,
        models=work.models,
        frames=lambda some: frames,
        seed=work.config.seed,
        sources={one.video_id: one.source.video.source_id for one in videos},
        own_words=work.prompts,
        is_released=work.config.release is not None,
        holds=HOLDS,
    )
    return pass_all(drafts, work.config.gates, room)
