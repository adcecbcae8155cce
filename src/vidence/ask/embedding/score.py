"""Frame scores for selectors: from the cache, else from the embedder."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vidence.ask.embedding.cache import Indices, ScoreCache
from vidence.ask.embedding.local import check_texts
from vidence.contracts import ComparingEmbedder, Embedder, MatchingEmbedder
from vidence.errors import MediaError, UsageError

Frames: TypeAlias = (
    Mapping[int, NDArray[np.uint8]] | Callable[[Sequence[int]], Mapping[int, NDArray[np.uint8]]]
)

# Frames that are in memory at a time; what they gave is kept before the next ones are asked for.
BLOCK = 256


def score_frames(
    embedder: Embedder,
    cache: ScoreCache | None,
    content_hash: str,
    *,
    frames: Frames,
    indices: Indices,
    texts: Sequence[str],
) -> NDArray[np.float32]:
    """Return how well frames of one video match texts, shape (n_indices, n_texts).

    The embedder looks only at frames for which the cache lacks something, each once, in blocks of
    `BLOCK`. Where an embedder compares, texts cost no look at a frame.

    Args:
        embedder: who scores.
        cache: where features or scores are kept; it must belong to this embedder. None keeps nothing.
        content_hash: of the video.
        frames: RGB arrays of shape (height, width, 3) by frame index, or a function that gives those
            which are asked for.
        indices: the frames to score; one may come twice.
        texts: what to match them with; one may come twice.

    Raises:
        UsageError: no texts, an empty text, or a score that is no number.
        MediaError: a frame that is needed was not delivered.
    """
    check_texts("score_frames", texts)
    wanted, places = np.unique(np.asarray(indices, np.int64), return_inverse=True)
    if len(wanted) == 0:
        return np.empty((0, len(texts)), np.float32)
    if isinstance(embedder, ComparingEmbedder):
        features = _features(embedder, cache, content_hash, frames=frames, wanted=wanted)
        scores = embedder.compare(features, texts)
    else:
        by_text = _pair_scores(
            embedder, cache, content_hash, frames=frames, wanted=wanted, texts=tuple(dict.fromkeys(texts))
        )
        scores = np.stack([by_text[text] for text in texts], axis=1)
    _check_numbers(embedder, wanted, scores)
    return scores[places]


def _features(
    embedder: ComparingEmbedder,
    cache: ScoreCache | None,
    content_hash: str,
    *,
    frames: Frames,
    wanted: NDArray[np.int64],
) -> NDArray[np.float32]:
    """Return the features of all wanted frames, in order."""
    known, kept = _nothing() if cache is None else cache.get_features(content_hash, wanted)
    rows = dict(zip(known.tolist(), kept, strict=True))
    for block, pictures in _blocks(np.setdiff1d(wanted, known), frames, content_hash=content_hash):
        new = embedder.features(pictures)
        _check_numbers(embedder, block, new)
        if cache is not None:
            cache.put_features(content_hash, block, new)
        rows |= zip(block.tolist(), new, strict=True)
    return np.stack([rows[index] for index in wanted.tolist()])


def _pair_scores(
    embedder: MatchingEmbedder,
    cache: ScoreCache | None,
    content_hash: str,
    *,
    frames: Frames,
    wanted: NDArray[np.int64],
    texts: Sequence[str],
) -> dict[str, NDArray[np.float32]]:
    """Return the scores of all wanted frames, in order, by text."""
    scores = {text: np.zeros(len(wanted), np.float32) for text in texts}
    lacking = {text: np.ones(len(wanted), np.bool_) for text in texts}
    if cache is not None:
        for text in texts:
            known, kept = cache.get_scores(content_hash, wanted, text)
            places = np.searchsorted(wanted, known)
            scores[text][places] = kept
            lacking[text][places] = False
    # Texts that lack the same frames look at them together.
    pair_scores: dict[bytes, list[str]] = {}
    for text in texts:
        pair_scores.setdefault(lacking[text].tobytes(), []).append(text)
    for mask, group in pair_scores.items():
        missing = wanted[np.frombuffer(mask, np.bool_)]
        for block, pictures in _blocks(missing, frames, content_hash=content_hash):
            new = embedder.match(pictures, group)
            _check_numbers(embedder, block, new)
            for column, text in enumerate(group):
                scores[text][np.searchsorted(wanted, block)] = new[:, column]
                if cache is not None:
                    cache.put_scores(content_hash, block, text, scores=new[:, column])
    return scores


def _blocks(
    missing: NDArray[np.int64], frames: Frames, *, content_hash: str
) -> Iterator[tuple[NDArray[np.int64], list[NDArray[np.uint8]]]]:
    for start in range(0, len(missing), BLOCK):
        block = missing[start : start + BLOCK]
        asked = block.tolist()
        given = frames(asked) if callable(frames) else frames
        if absent := [index for index in asked if index not in given]:
            raise MediaError(
                f"{len(absent)} frames of the video {content_hash[:12]} were not delivered for scoring, "
                f"the first of them {absent[0]}; omit frames that cannot be decoded"
            )
        yield block, [given[index] for index in asked]


def _nothing() -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    return np.empty(0, np.int64), np.empty((0, 0), np.float32)


def _check_numbers(embedder: Embedder, indices: NDArray[np.int64], values: NDArray[np.float32]) -> None:
    """Reject values that are not finite: they must be neither cached nor ranked."""
    is_bad = ~np.isfinite(values).all(axis=1)
    if is_bad.any():
        raise UsageError(
            f"{embedder.identity} gave values that are not finite for {int(is_bad.sum())} of {len(indices)} "
            f"frames, the first is {int(indices[is_bad][0])}; weights may overflow 16 bits: set dtype=float32"
        )
