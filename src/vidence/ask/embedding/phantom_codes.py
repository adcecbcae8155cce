"""Planted truth for selectors: detects a needed card by the code in the frame's pixels.

phantom-codes
phantom-codes?distinct=true
phantom-codes?miss=0.3&seed=1
phantom-codes?noise=0.5&seed=1
"""

import hashlib
import zlib
from collections.abc import Sequence
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.ask.embedding.local import check_features, check_frames, check_texts
from vidence.ask.phantom.code import read
from vidence.ask.phantom.questions import understand
from vidence.ask.phantom.scene import colour_of
from vidence.errors import UsageError
from vidence.records import Record

VERSION = 1
_NO_CARD = -1.0
_N_DIMS = 4  # world, piece, and the upper and lower half of a checksum of the pixels


class Settings(Record):
    """What is planted, sampled from `seed` alone, so that it does not depend on what else is asked.

    Where the budget suffices for all other frames that match, a question of k cards keeps all of them with
    probability (1 - miss) ** k. With `distinct` the k best frames of a video show k needed cards, as far as
    they are there.
    """

    miss: Annotated[
        float,
        Meta(ge=0, le=1, description="probability that a card is not found, for each question and card"),
    ] = 0.0
    noise: Annotated[
        float,
        Meta(ge=0, description="standard deviation of a normal number added for each question and frame"),
    ] = 0.0
    seed: Annotated[int, Meta(ge=0, description="of all that is sampled")] = 0
    distinct: Annotated[
        bool,
        Meta(description="the second frame of a card scores 1/2, the third 1/3, in the order they are given"),
    ] = False


class PhantomCodes:
    """Scores 1 for a frame that shows a card named in the question, otherwise 0, except planted errors.

    It sees the pixels of one frame and the words of the question and knows nothing else; so it does not
    prefer the first frame of a card to the second, unless it is told to look at all frames together.
    """

    name = "phantom-codes"
    size = "native"
    features_identity = f"phantom-codes v{VERSION}"

    def __init__(self, planted: Settings) -> None:
        is_random = bool(planted.miss or planted.noise)
        messages = ["distinct=yes"] if planted.distinct else []
        messages += (
            [f"miss={planted.miss!r}&noise={planted.noise!r}&seed={planted.seed}"] if is_random else []
        )
        self.identity = f"phantom-codes{'?' if messages else ''}{'&'.join(messages)} v{VERSION}"
        self._planted = planted

    def features(self, frames: Sequence[NDArray[np.uint8]]) -> NDArray[np.float32]:
        """Return world and card of each frame's code (-1 without a code), and a checksum of its pixels.

        Shapes: (n_frames, 4).

        Raises:
            UsageError: no frames, or something that is no frame.
        """
        check_frames(self.name, frames)
        rows = []
        for frame in frames:
            code = read(frame)
            pixels = zlib.crc32(frame.tobytes())
            features = (_NO_CARD, _NO_CARD) if code is None else (code.world, code.piece)
            # Halves of 16 bits are exact in 32-bit floats.
            rows.append((*features, pixels >> 16, pixels & 0xFFFF))
        return np.array(rows, np.float32)

    def compare(self, features: NDArray[np.float32], texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the score of each frame with each question, shape (n_frames, n_texts).

        Raises:
            UsageError: no texts, one that asks for no cards, or features of another embedder.
        """
        check_texts(self.name, texts)
        check_features(self.name, features, n_dims=_N_DIMS)
        return np.stack([self._scores(features, text) for text in texts], axis=1).astype(np.float32)

    def _scores(self, features: NDArray[np.float32], text: str) -> NDArray[np.float64]:
        asked = understand(text)
        if asked is None:
            raise UsageError(
                f"{self.name} reads only questions of the phantom benchmark, not {text[:60]!r}; "
                "use an embedder with weights for others"
            )
        scores = np.zeros(len(features))
        n_seen: dict[tuple[int, int], int] = {}
        for i, (world, piece, upper, lower) in enumerate(features.astype(np.int64).tolist()):
            if piece >= 0 and colour_of(piece) in asked.colours and not self._misses(text, world, piece):
                n_seen[world, piece] = n_seen.get((world, piece), 0) + 1
                scores[i] = 1 / n_seen[world, piece] if self._planted.distinct else 1
            if self._planted.noise:
                scores[i] += self._planted.noise * self._draw(text, "noise", upper, lower).standard_normal()
        return scores

    def _misses(self, text: str, world: int, piece: int) -> bool:
        return self._draw(text, "miss", world, piece).random() < self._planted.miss

    def _draw(self, text: str, what: str, *numbers: int) -> np.random.Generator:
        """Return a generator that depends on the seed and purpose, not on the order of draws."""
        named = f"{self._planted.seed}\n{what}\n{numbers}\n{text}"
        return np.random.default_rng(int.from_bytes(hashlib.sha256(named.encode()).digest()[:16]))


def create(settings: Settings) -> PhantomCodes:
    """Create the embedder."""
    return PhantomCodes(settings)
