"""Selectors that ask a model about frames, and selectors that search: one question at a time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import anyio
import anyio.from_thread
import anyio.to_thread
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from vidence.ask.embedding.cache import ScoreCache
from vidence.ask.embedding.score import score_frames
from vidence.ask.selection.seeking import (
    AskingSelector,
    Objects,
    Search,
    SearchingSelector,
    SearchResult,
    SearchView,
    spec_of_model,
)
from vidence.contracts import Ask, Embedder, Flow, MadeT, Request, Words
from vidence.engine.drive import Asker, drive
from vidence.engine.showing import Clipped, Deliver
from vidence.errors import UsageError
from vidence.media.encode import EncodedFrame, Encoding, decode_image
from vidence.media.sizes import Size
from vidence.records import ImagePart, Reply

if TYPE_CHECKING:
    from vidence.ask.selection.tstar_mosaic import Detector

Picture = NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True)
class Onlooker:
    """Asks models about frames, in the run's `words`. `askers` are by spec; the empty one is under test."""

    askers: Mapping[str, Asker]
    deliver: Deliver
    words: Words

    async def scores(
        self, selector: AskingSelector, question: Clipped, *, encoding: Encoding
    ) -> NDArray[np.float64]:
        """What a model gives each candidate, shape (n_candidates,).

        Raises:
            MediaError: a candidate cannot be decoded.
            TransientModelError, RejectedRequestError: no reply to one of the asks.
            DataError: a reply that gives no score.
        """
        positions = selector.candidates(question.clip)
        return await self._driven(
            selector.ask, question, positions, who=selector.score_rules.embedder, encoding=encoding
        )

    async def objects(self, selector: SearchingSelector, question: Clipped, *, encoding: Encoding) -> Objects:
        """What a search looks for; a model is asked only where the selector wants that. Errors as above."""
        positions = selector.overview(question.clip)
        return await self._driven(
            selector.name_objects, question, positions, who=selector.objects_from, encoding=encoding
        )

    async def _driven(
        self,
        flow_of: Callable[..., Flow[MadeT]],
        question: Clipped,
        positions: NDArray[np.int64],
        *,
        who: str,
        encoding: Encoding,
    ) -> MadeT:
        frames = await delivered(question, positions, encoding=encoding, deliver=self.deliver)
        images = [_part(frame, position) for position, frame in enumerate(frames)]
        data = {frame.digest: frame.data for frame in frames}

        async def ask(wanted: Ask) -> Reply:
            if wanted.sampling is None:
                raise UsageError(f"a selector asked {who} without saying how the reply is drawn")
            digests = [part.digest for part in wanted.prompt.parts if isinstance(part, ImagePart)]
            request = Request(
                item_id=question.item.item_id,
                prompt=wanted.prompt,
                sampling=wanted.sampling,
                images={digest: data[digest] for digest in digests},
                sample=wanted.sample,
            )
            return (await self.askers[spec_of_model(who)].ask(request)).reply

        return await drive(flow_of(question.item, images, words=self.words), ask)


def _part(frame: EncodedFrame, position: int) -> ImagePart:
    return ImagePart(
        digest=frame.digest,
        width_px=frame.width_px,
        height_px=frame.height_px,
        media_type=frame.media_type,
        frames=(position,),
    )


async def delivered(
    question: Clipped, positions: NDArray[np.int64], *, encoding: Encoding, deliver: Deliver
) -> list[EncodedFrame]:
    """Frames of a question by their positions in its clip, in that order.

    Raises:
        MediaError: one cannot be decoded.
    """
    refs = [question.clip.ref(int(position)) for position in positions]
    found: dict[tuple[int, int], EncodedFrame] = {}
    for media_index in sorted({ref.media_index for ref in refs}):
        indices = sorted({ref.frame_index for ref in refs if ref.media_index == media_index})
        frames = await deliver(question.sources[media_index], indices, encoding)
        found |= {(media_index, index): frames[index] for index in indices}
    return [found[ref.media_index, ref.frame_index] for ref in refs]


@dataclass(frozen=True, kw_only=True)
class Searcher:
    """Runs searches with an embedder in the place of a detector; what it saw is kept.

    An embedder that has a method ``detect`` (see `vidence.ask.selection.tstar_mosaic.Detector`) is shown
    mosaics, and nothing of it is kept, since what it finds in a cell may depend on the others.
    """

    embedder: Embedder
    cache_root: Path
    cache_max_bytes: int
    deliver: Deliver

    async def search(self, seeking: Search, question: Clipped) -> SearchResult:
        """What a search ends with.

        Raises:
            MediaError: a frame that it looks at cannot be decoded.
            UsageError, DataError: what the embedder or the search raises.
        """
        return await anyio.to_thread.run_sync(partial(self._run, seeking, question))

    def _run(self, seeking: Search, question: Clipped) -> SearchResult:
        try:
            wanted = next(seeking)
            while True:
                wanted = seeking.send(self._seen(wanted, question))
        except StopIteration as done:
            sought: SearchResult = done.value
            return sought

    def _seen(self, wanted: SearchView, question: Clipped) -> NDArray[np.float64]:
        if hasattr(self.embedder, "detect"):
            detector = cast("Detector", self.embedder)  # it has the method
            return self._detected(wanted, question, detector=detector)
        table = np.zeros((len(wanted.positions), len(wanted.texts)))
        media = question.clip.media_indices[wanted.positions]
        for m in np.unique(media).tolist():
            rows = np.flatnonzero(media == m)
            table[rows] = self._matched(wanted, question, m, positions=wanted.positions[rows])
        return table

    def _matched(
        self, wanted: SearchView, question: Clipped, media_index: int, *, positions: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """What the embedder says of frames of one medium; those seen before are not decoded."""
        encoding = _encoding(wanted)
        key = f"{encoding.key}-{wanted.width_px}x{wanted.height_px}"
        cache = ScoreCache(self.cache_root, self.embedder, frames_key=key, max_bytes=self.cache_max_bytes)
        source = question.sources[media_index]

        def frames(asked: Sequence[int]) -> dict[int, Picture]:
            given = anyio.from_thread.run(self.deliver, source, sorted(asked), encoding)
            return {index: _scaled(frame, wanted) for index, frame in given.items()}

        return score_frames(
            self.embedder,
            cache,
            question.hashes[media_index],
            frames=frames,
            indices=question.clip.frame_indices[positions],
            texts=wanted.texts,
        )

    def _detected(
        self, wanted: SearchView, question: Clipped, *, detector: "Detector"
    ) -> NDArray[np.float64]:
        from vidence.ask.selection.tstar_mosaic import by_cell, mosaic

        fetch = partial(delivered, encoding=_encoding(wanted), deliver=self.deliver)
        frames = anyio.from_thread.run(fetch, question, wanted.positions)
        picture = mosaic([_scaled(frame, wanted) for frame in frames], wanted.side)
        boxes = detector.detect(picture, wanted.texts)
        cells = by_cell(boxes, side=wanted.side, width_px=wanted.width_px, height_px=wanted.height_px)
        seen = [[cell.get(text, 0.0) for text in wanted.texts] for cell in cells[: len(frames)]]
        return np.array(seen, np.float64)


def _encoding(wanted: SearchView) -> Encoding:
    return Encoding(size=Size.parse(f"long:{wanted.width_px}"), format="png")


def _scaled(frame: EncodedFrame, wanted: SearchView) -> Picture:
    """The picture in exactly the size of a cell, whatever its shape, as the released code scales it."""
    picture = Image.fromarray(decode_image(frame.data))
    size = (wanted.width_px, wanted.height_px)
    return np.asarray(picture.resize(size, Image.Resampling.BILINEAR), np.uint8)
