"""What selectors need: scores of frames from embedders or models, and searches through a video."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeAlias

import anyio
import anyio.from_thread
import anyio.to_thread
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from vidence.ask.embedding.cache import ScoreCache
from vidence.ask.embedding.score import score_frames
from vidence.ask.prompting.compose import image_part
from vidence.ask.selection.scored import Scores, query_text
from vidence.ask.selection.search import (
    AskingSelector,
    Search,
    SearchingSelector,
    SearchResult,
    SearchView,
    spec_of_model,
)
from vidence.ask.selection.tstar_search import Detector, Picture, by_cell, mosaic
from vidence.catalog import Spec, create, parse_spec
from vidence.contracts import Embedder, Flow, MadeT, ScoreRules, ScoringSelector
from vidence.engine.engine import ITEM_ERRORS, Context, Engine, failure
from vidence.engine.views import Clipped, Deliver, OpenView, Source, budget_left, moving_part
from vidence.errors import AccessError, UsageError
from vidence.media.encode import EncodedFrame, Encoding, Size, decode_image
from vidence.records import Failed

# Frames that are held in memory at a time for scoring, compressed: one pass over the video for each lot.
LOT = 2_000

Found: TypeAlias = Scores | SearchResult | Failed


@dataclass(kw_only=True)
class ScoreDesk:
    """Computes scores for views whose selectors need them, with embedders or models.

    An embedder is opened at first use, and used by one question at a time. It receives losslessly encoded
    frames at its own size, and only those without a cached score. A model receives frames as the view shows
    them (`deliver_kept` caches them).
    """

    cache_root: Path
    cache_max_bytes: int
    engine: Engine
    deliver: Deliver
    deliver_kept: Deliver
    _embedders: dict[str, Embedder] = field(default_factory=dict)
    _lock: anyio.Lock = field(default_factory=anyio.Lock)

    async def scores(self, view: OpenView, questions: Sequence[Clipped]) -> dict[str, Found]:
        """Return a score per candidate, or a search result, by item id.

        Empty for views that need none, and for questions about single images only.
        """
        selector = view.scoring
        if selector is None or not selector.score_rules.embedder or view.rules.retry:
            return {}
        moving = [part for q in questions if (part := moving_part(view, q)) is not None]
        if isinstance(selector, SearchingSelector):
            return {q.item.item_id: await self._found(self._searched(selector, view, q)) for q in moving}
        if isinstance(selector, AskingSelector):
            return {q.item.item_id: await self._found(self._asked(selector, view, q)) for q in moving}
        return await self._embedded(selector, moving)

    async def _found(self, finding: Awaitable[Found]) -> Found:
        try:
            return await finding
        except ITEM_ERRORS["selection"] as error:
            return failure(error, "selection")

    async def _asked(self, selector: AskingSelector, view: OpenView, question: Clipped) -> Scores:
        positions = selector.candidates(question.clip)
        return await self._driven(
            selector.ask, view, question, positions=positions, model=selector.score_rules.embedder
        )

    async def _searched(self, selector: SearchingSelector, view: OpenView, question: Clipped) -> SearchResult:
        positions = selector.overview(question.clip)
        objects = await self._driven(
            selector.name_objects, view, question, positions=positions, model=selector.objects_from
        )
        left = budget_left(view.rules.n_frames, sum(medium.is_still for medium in question.item.media))
        searching = selector.search(question.clip, question.item, objects=objects, n_frames=left)
        async with self._lock:
            embedder = await anyio.to_thread.run_sync(self._opened, selector.score_rules)
            return await anyio.to_thread.run_sync(self._search, searching, question, embedder)

    async def _driven(
        self,
        flow_of: Callable[..., Flow[MadeT]],
        view: OpenView,
        question: Clipped,
        *,
        positions: NDArray[np.int64],
        model: str,
    ) -> MadeT:
        """Run a flow about a question's frames; a model is asked only if the flow requires it."""
        frames = await delivered(question, positions, encoding=view.encoding, deliver=self.deliver_kept)
        data: dict[str, bytes] = {}
        images = [image_part(frame, data, positions=(position,)) for position, frame in enumerate(frames)]
        context = Context(item_id=question.item.item_id, image=data.__getitem__, model=spec_of_model(model))
        return await self.engine.drive(flow_of(question.item, images, words=view.words), context)

    async def _embedded(self, selector: ScoringSelector, questions: Sequence[Clipped]) -> dict[str, Found]:
        rules = selector.score_rules
        scores: dict[str, Found] = {}
        candidates: dict[str, NDArray[np.int64]] = {}
        for question in questions:
            try:
                candidates[question.item.item_id] = selector.candidates(question.clip)
            except ITEM_ERRORS["selection"] as error:
                scores[question.item.item_id] = failure(error, "selection")
        questions = [q for q in questions if q.item.item_id in candidates]
        wanted = _by_source(questions, candidates)
        values: dict[tuple[Source, str], Mapping[int, float] | Failed] = {}
        for source, (content_hash, indices, texts) in _texts_of(wanted, questions, rules).items():
            try:
                table = await self._score(rules, source, content_hash, indices=indices, texts=texts)
            except ITEM_ERRORS["selection"] as error:
                values |= {(source, text): failure(error, "selection") for text in texts}
                continue
            for column, text in enumerate(texts):
                values[source, text] = dict(zip(indices, table[:, column].tolist(), strict=True))
        for q in questions:
            text = query_text(q.item, rules.query)
            scores[q.item.item_id] = _assembled(q, candidates[q.item.item_id], text=text, found=values)
        return scores

    async def _score(
        self,
        rules: ScoreRules,
        source: Source,
        content_hash: str,
        *,
        indices: Sequence[int],
        texts: Sequence[str],
    ) -> NDArray[np.float32]:
        async with self._lock:
            embedder = await anyio.to_thread.run_sync(self._opened, rules)
            encoding = Encoding(size=Size.parse(embedder.size), format="png")
            cache = ScoreCache(
                self.cache_root, embedder, frames_key=encoding.key, max_bytes=self.cache_max_bytes
            )
            frames = _Lots(source=source, encoding=encoding, indices=tuple(indices), deliver=self.deliver)
            work = partial(
                score_frames,
                embedder,
                cache,
                content_hash,
                frames=frames,
                indices=np.asarray(indices, np.int64),
                texts=tuple(texts),
            )
            return await anyio.to_thread.run_sync(work)

    def _opened(self, rules: ScoreRules) -> Embedder:
        key = f"{rules.embedder} {rules.max_tokens}"
        if key not in self._embedders:
            spec = parse_spec(rules.embedder)
            cut = {"max_tokens": str(rules.max_tokens)} if rules.max_tokens else {}
            full = Spec(name=spec.name, argument=spec.argument, options={**cut, **spec.options})
            try:
                self._embedders[key] = create("embedder", full)
            except UsageError as error:  # as for every question: the run ends
                raise AccessError(str(error)) from error
        return self._embedders[key]

    def _search(self, searching: Search, question: Clipped, embedder: Embedder) -> SearchResult:
        """Run a search with an embedder in place of a detector; its scores are cached.

        A `Detector` sees mosaics, and its results are not cached, because those of one cell may depend on the
        others.

        Raises:
            MediaError: a frame cannot be decoded.
            UsageError, DataError: raised by the embedder or the search.
        """
        try:
            wanted = next(searching)
            while True:
                if isinstance(embedder, Detector):
                    seen = self._detected(wanted, question, embedder)
                else:
                    seen = self._matched(wanted, question, embedder)
                wanted = searching.send(seen)
        except StopIteration as done:
            searched: SearchResult = done.value
            return searched

    def _matched(self, wanted: SearchView, question: Clipped, embedder: Embedder) -> NDArray[np.float64]:
        """Return the embedder's scores of frames; frames with cached scores are not decoded."""
        encoding = _encoding(wanted)
        key = f"{encoding.key}-{wanted.width_px}x{wanted.height_px}"
        cache = ScoreCache(self.cache_root, embedder, frames_key=key, max_bytes=self.cache_max_bytes)
        table = np.zeros((len(wanted.positions), len(wanted.texts)))
        media = question.clip.media_indices[wanted.positions]

        def scaled(source: Source, asked: Sequence[int]) -> dict[int, Picture]:
            given = anyio.from_thread.run(self.deliver, source, sorted(asked), encoding)
            return {index: _scaled(frame, wanted) for index, frame in given.items()}

        for m in np.unique(media).tolist():
            rows = np.flatnonzero(media == m)
            table[rows] = score_frames(
                embedder,
                cache,
                question.hashes[m],
                frames=partial(scaled, question.sources[m]),
                indices=question.clip.frame_indices[wanted.positions[rows]],
                texts=wanted.texts,
            )
        return table

    def _detected(self, wanted: SearchView, question: Clipped, detector: Detector) -> NDArray[np.float64]:
        fetch = partial(delivered, encoding=_encoding(wanted), deliver=self.deliver)
        frames = anyio.from_thread.run(fetch, question, wanted.positions)
        picture = mosaic([_scaled(frame, wanted) for frame in frames], wanted.side)
        boxes = detector.detect(picture, wanted.texts)
        cells = by_cell(boxes, side=wanted.side, width_px=wanted.width_px, height_px=wanted.height_px)
        seen = [[cell.get(text, 0.0) for text in wanted.texts] for cell in cells[: len(frames)]]
        return np.array(seen, np.float64)


@dataclass(kw_only=True)
class _Lots:
    """Pictures by frame index for the embedder's thread: delivered in large lots, decoded in small ones."""

    source: Source
    encoding: Encoding
    indices: tuple[int, ...]
    deliver: Deliver
    _held: Mapping[int, EncodedFrame] = field(default_factory=dict)

    def __call__(self, asked: Sequence[int]) -> dict[int, NDArray[np.uint8]]:
        if not set(asked) <= self._held.keys():
            later = [index for index in self.indices if index >= asked[0]]
            lot = sorted({*asked, *later[:LOT]})
            self._held = anyio.from_thread.run(self.deliver, self.source, lot, self.encoding)
        return {index: decode_image(self._held[index].data) for index in asked if index in self._held}


def _by_source(
    questions: Sequence[Clipped], candidates: Mapping[str, NDArray[np.int64]]
) -> dict[Source, list[tuple[Clipped, set[int]]]]:
    """Return, for each source, the frames to score for each question."""
    wanted: dict[Source, list[tuple[Clipped, set[int]]]] = {}
    for question in questions:
        positions = candidates[question.item.item_id]
        media = question.clip.media_indices[positions]
        frames = question.clip.frame_indices[positions]
        for m in np.unique(media).tolist():
            wanted.setdefault(question.sources[m], []).append((question, set(frames[media == m].tolist())))
    return wanted


def _texts_of(
    wanted: Mapping[Source, list[tuple[Clipped, set[int]]]], questions: Sequence[Clipped], rules: ScoreRules
) -> dict[Source, tuple[str, list[int], list[str]]]:
    """Return, for each source, its content hash, the frames to score, and the texts to match."""
    hashes = {s: h for q in questions for s, h in zip(q.sources, q.hashes, strict=True)}
    return {
        source: (
            hashes[source],
            sorted(set().union(*(frames for _, frames in asked))),
            list(dict.fromkeys(query_text(question.item, rules.query) for question, _ in asked)),
        )
        for source, asked in wanted.items()
    }


def _assembled(
    question: Clipped,
    positions: NDArray[np.int64],
    *,
    text: str,
    found: Mapping[tuple[Source, str], Mapping[int, float] | Failed],
) -> Scores | Failed:
    scores = np.zeros(len(positions))
    for i, ref in enumerate(question.clip.refs(positions)):
        table = found[question.sources[ref.media_index], text]
        if isinstance(table, Failed):
            return table
        scores[i] = table[ref.frame_index]
    return scores


async def delivered(
    question: Clipped, positions: NDArray[np.int64], *, encoding: Encoding, deliver: Deliver
) -> list[EncodedFrame]:
    """Return a question's frames by position in its clip, in the given order.

    Raises:
        MediaError: a frame cannot be decoded.
    """
    refs = question.clip.refs(positions)
    values: dict[tuple[int, int], EncodedFrame] = {}
    for media_index in sorted({ref.media_index for ref in refs}):
        indices = sorted({ref.frame_index for ref in refs if ref.media_index == media_index})
        frames = await deliver(question.sources[media_index], indices, encoding)
        values |= {(media_index, index): frames[index] for index in indices}
    return [values[ref.media_index, ref.frame_index] for ref in refs]


def _encoding(wanted: SearchView) -> Encoding:
    return Encoding(size=Size.parse(f"long:{wanted.width_px}"), format="png")


def _scaled(frame: EncodedFrame, wanted: SearchView) -> Picture:
    """Scale a picture to exactly the size of a cell, ignoring its aspect ratio as the released code does."""
    picture = Image.fromarray(decode_image(frame.data))
    size = (wanted.width_px, wanted.height_px)
    return np.asarray(picture.resize(size, Image.Resampling.BILINEAR), np.uint8)
