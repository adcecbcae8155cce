"""Scores of frames for the selectors that go by them: computed once for every frame and text, and kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeAlias, cast

import anyio
import anyio.from_thread
import anyio.to_thread
import numpy as np
from numpy.typing import NDArray

from vidence.ask.embedding.cache import ScoreCache
from vidence.ask.embedding.score import score_frames
from vidence.ask.selection.scored import query_text
from vidence.ask.selection.seeking import AskingSelector, SearchingSelector, SearchResult, names_model
from vidence.catalog import Spec, create, parse_spec
from vidence.contracts import Embedder, ScoreRules, ScoringSelector
from vidence.engine.choosing import budget_left, moving_part
from vidence.engine.drive import Asker
from vidence.engine.looking import Onlooker, Searcher
from vidence.engine.showing import Clipped, Deliver, Source, ViewRules
from vidence.errors import (
    DataError,
    MediaError,
    RejectedRequestError,
    TransientModelError,
    UsageError,
    VidenceError,
)
from vidence.media.encode import EncodedFrame, Encoding, decode_image
from vidence.media.sizes import Size
from vidence.records import Failed

# Frames that are held in memory at a time for scoring, compressed: one pass over the video for each lot.
LOT = 2_000

Scores: TypeAlias = NDArray[np.float64]
Found: TypeAlias = Scores | SearchResult | Failed


@dataclass(kw_only=True)
class ScoreDesk:
    """Scores for views whose selectors want some, from embedders or models.

    An embedder is opened when it is first needed, and used by one question at a time. Frames for it are
    delivered without loss at the size that it wants, and only those that the cache lacks. A model gets
    frames as the view shows them (`deliver_kept` keeps them); `askers` are by spec, the empty one is the
    model under test.
    """

    cache_root: Path
    cache_max_bytes: int
    deliver: Deliver
    deliver_kept: Deliver | None = None
    askers: Mapping[str, Asker] = field(default_factory=dict)
    _embedders: dict[str, Embedder] = field(default_factory=dict)
    _lock: anyio.Lock = field(default_factory=anyio.Lock)

    async def scores(self, view: ViewRules, questions: Sequence[Clipped]) -> dict[str, Found]:
        """One score for each candidate of each question, or what a search found, by item id.

        Nothing for views that want none, and for questions about nothing but single images.
        """
        rules: ScoreRules | None = getattr(view.selector, "score_rules", None)
        if rules is None or not rules.embedder or view.retry:
            return {}
        moving = [part for q in questions if (part := moving_part(view.selector, q)) is not None]
        if names_model(rules.embedder) or hasattr(view.selector, "seek"):
            return {q.item.item_id: await self._of_one(view, q) for q in moving}
        return await self._embedded(view, moving, rules=rules)

    async def _of_one(self, view: ViewRules, question: Clipped) -> Found:
        """What a model gives one question, or what a search for it found."""
        try:
            if hasattr(view.selector, "seek"):
                return await self._sought(view, question)
            asking = cast("AskingSelector", view.selector)  # its scores come from a model
            return await self._onlooker(view).scores(asking, question, encoding=view.encoding)
        except (MediaError, UsageError, DataError) as error:
            return _failed(error)
        except (TransientModelError, RejectedRequestError) as error:
            return Failed(stage="model", error=type(error).__name__, message=str(error))

    def _onlooker(self, view: ViewRules) -> Onlooker:
        deliver = self.deliver_kept or self.deliver
        return Onlooker(askers=self.askers, deliver=deliver, words=view.words)

    async def _sought(self, view: ViewRules, question: Clipped) -> SearchResult:
        selector = cast("SearchingSelector", view.selector)  # it has seek
        objects = await self._onlooker(view).objects(selector, question, encoding=view.encoding)
        n_stills = sum(medium.kind == "image" for medium in question.item.media)
        left = budget_left(view.n_frames, n_stills)
        seeking = selector.seek(question.clip, question.item, objects=objects, n_frames=left)
        async with self._lock:
            searcher = Searcher(
                embedder=await anyio.to_thread.run_sync(self._opened, selector.score_rules),
                cache_root=self.cache_root,
                cache_max_bytes=self.cache_max_bytes,
                deliver=self.deliver,
            )
            return await searcher.search(seeking, question)

    async def _embedded(
        self, view: ViewRules, questions: Sequence[Clipped], *, rules: ScoreRules
    ) -> dict[str, Found]:
        selector = cast("ScoringSelector", view.selector)  # it has score_rules
        scores: dict[str, Found] = {}
        candidates: dict[str, NDArray[np.int64]] = {}
        for question in questions:
            try:
                candidates[question.item.item_id] = selector.candidates(question.clip)
            except (MediaError, UsageError, DataError) as error:
                scores[question.item.item_id] = _failed(error)
        questions = [q for q in questions if q.item.item_id in candidates]
        wanted = _by_source(questions, candidates)
        found: dict[tuple[Source, str], Mapping[int, float] | Failed] = {}
        for source, (content_hash, indices, texts) in _texts_of(wanted, questions, rules).items():
            try:
                table = await self._score(rules, source, content_hash, indices=indices, texts=texts)
            except (MediaError, UsageError, DataError) as error:
                found |= {(source, text): _failed(error) for text in texts}
                continue
            for column, text in enumerate(texts):
                found[source, text] = dict(zip(indices, table[:, column].tolist(), strict=True))
        for q in questions:
            text = query_text(q.item, rules.query)
            scores[q.item.item_id] = _assembled(q, candidates[q.item.item_id], text=text, found=found)
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
            self._embedders[key] = create(
                "embedder", Spec(name=spec.name, argument=spec.argument, options={**cut, **spec.options})
            )
        return self._embedders[key]


@dataclass(kw_only=True)
class _Lots:
    """Pictures by frame index for the embedder's thread: delivered in large lots, unpacked in small ones."""

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


def _failed(error: VidenceError) -> Failed:
    return Failed(stage="selection", error=type(error).__name__, message=str(error))


def _by_source(
    questions: Sequence[Clipped], candidates: Mapping[str, NDArray[np.int64]]
) -> dict[Source, list[tuple[Clipped, set[int]]]]:
    """For each source, which of its frames each question wants scored."""
    wanted: dict[Source, list[tuple[Clipped, set[int]]]] = {}
    for question in questions:
        positions = candidates[question.item.item_id]
        media = question.clip.media_indices[positions]
        frames = question.clip.frame_indices[positions]
        for m in np.unique(media).tolist():
            place = wanted.setdefault(question.sources[m], [])
            place.append((question, set(frames[media == m].tolist())))
    return wanted


def _texts_of(
    wanted: Mapping[Source, list[tuple[Clipped, set[int]]]],
    questions: Sequence[Clipped],
    rules: ScoreRules,
) -> dict[Source, tuple[str, list[int], list[str]]]:
    """For each source its content hash, the frames to score and the texts to match them with."""
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
    for i, position in enumerate(positions.tolist()):
        ref = question.clip.ref(position)
        table = found[question.sources[ref.media_index], text]
        if isinstance(table, Failed):
            return table
        scores[i] = table[ref.frame_index]
    return scores
