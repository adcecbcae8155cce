"""What an embedder says of frames and texts, however it goes about it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vidence.ask.embedding.score import score_frames
from vidence.contracts import Embedder


def match(
    embedder: Embedder, frames: Sequence[NDArray[np.uint8]], texts: Sequence[str]
) -> NDArray[np.float32]:
    """The scores of all pairs, shape (n_frames, n_texts)."""
    shown = dict(enumerate(frames))
    return score_frames(embedder, None, "v", frames=shown, indices=range(len(shown)), texts=texts)
