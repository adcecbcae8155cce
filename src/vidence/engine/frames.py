"""From questions to frames: each video is decoded once, in a separate process."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio.to_thread
import msgspec
import numpy as np

from vidence.ask.prompting.compose import ShownFrame
from vidence.ask.selection.scored import Scores
from vidence.ask.selection.search import SearchResult
from vidence.engine.engine import ITEM_ERRORS, Engine, failure
from vidence.engine.executor import Processes
from vidence.engine.search import Found, ScoreDesk
from vidence.engine.views import (
    Clipped,
    DecodeCount,
    OpenView,
    Source,
    ViewContent,
    check_some,
    check_whole,
    clip_of,
    few_words,
    positions_of,
    video_type,
)
from vidence.errors import MediaError, UsageError, VidenceError
from vidence.media.address import Address, MediaPath
from vidence.media.cache import FrameCache
from vidence.media.clip import Clip
from vidence.media.encode import EncodedFrame, Encoding
from vidence.media.files import Delivery, Job, MediaFacts, cached_facts, deliver, located, read_facts
from vidence.media.silent import Silent, as_it_is, copy_place, without_sound
from vidence.records import Failed, FrameRef, Item, Media, Selection, VideoPart

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class FrameStore:
    """Where media and decoded frames are stored; `deadline_s` is the time limit per video."""

    media_root: MediaPath
    cache_root: Path
    cache_max_bytes: int
    deadline_s: float
    whole_video: bool = False
    audio: str = "drop"
    """Whether whole videos are sent with sound."""


@dataclass(kw_only=True, eq=False)
class FrameDesk:
    """Selects and delivers frames for groups of questions about the same media.

    The decoder runs in worker processes: it cannot block the event loop or crash the run, and is killed at
    its deadline; the video is then skipped for the rest of the session.
    """

    views: Mapping[str, OpenView]
    place: FrameStore
    workers: Processes
    engine: Engine
    count: DecodeCount
    on_trouble: Callable[[str], None]
    _sources: dict[Media, Source] = field(default_factory=dict, init=False)
    _aside: dict[Source, Failed] = field(default_factory=dict, init=False)
    _unchecked: set[str] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        self._cache = FrameCache(self.place.cache_root, max_bytes=self.place.cache_max_bytes)
        self._score_desk = ScoreDesk(
            cache_root=self.place.cache_root,
            cache_max_bytes=self.place.cache_max_bytes,
            engine=self.engine,
            deliver=partial(self._deliver_to_selector, keep=False),
            deliver_kept=partial(self._deliver_to_selector, keep=True),
        )

    async def show(self, items: Sequence[Item]) -> dict[str, dict[str, ViewContent | Failed]]:
        """Return what to show for each question, by item id and view.

        The frames of all views come from one pass over a video per encoding.
        """
        looks = any(view.traits.needs_media for view in self.views.values())
        if not looks and not self.place.whole_video:
            return {
                item.item_id: {name: _nothing(view) for name, view in self.views.items()} for item in items
            }
        facts: dict[Source, MediaFacts | Failed] = {}
        for source in dict.fromkeys(self._source(m) for item in items for m in item.media):
            facts[source] = await self._facts(source)
        shared: dict[tuple[Media, ...], Clip] = {}
        clips = {item.item_id: self._clip(item, facts, shared=shared) for item in items}
        questions = [entry for entry in clips.values() if isinstance(entry, Clipped)]
        scores: dict[str, dict[str, Found]] = {}  # what selectors that go by scores go by
        for name, view in self.views.items():
            scores[name] = await self._score_desk.scores(view, questions)
        chosen = {item.item_id: self._choose(clips[item.item_id], facts, scores=scores) for item in items}
        frames: dict[tuple[Source, str], Delivery | Failed] = {}
        for (source, key), (encoding, indices) in self._union(items, chosen).items():
            frames[source, key] = await self._deliver(
                source, facts[source], sorted(indices), encoding=encoding
            )
        sent = {
            self._source(item.media[0])
            for item in items
            if item.media and not all(isinstance(entry, Failed) for entry in chosen[item.item_id].values())
        }
        whole = sorted(sent, key=str) if self.place.whole_video else ()
        videos = {source: await self._whole(source, facts[source]) for source in whole}
        return {
            item.item_id: {
                name: self._assemble(item, name, selection, facts=facts, frames=frames, videos=videos)
                for name, selection in chosen[item.item_id].items()
            }
            for item in items
        }

    # ------------------------------------------------------------------ facts

    def _source(self, media: Media) -> Source:
        if media not in self._sources:
            self._sources[media] = located(self.place.media_root, media), media.kind
        return self._sources[media]

    async def _facts(self, source: Source) -> MediaFacts | Failed:
        if source in self._aside:
            return self._aside[source]
        path, kind = source
        try:
            known = await self._kept_facts(source)
        except MediaError as error:
            return self._set_aside(source, error)
        if known is not None:
            return known
        read = partial(read_facts, path, kind=kind, cache_root=self.place.cache_root)
        try:
            facts = await self.workers.run(str(path), read, deadline_s=self.place.deadline_s)
        except MediaError as error:
            return self._set_aside(source, error)
        if facts.probe.problem:
            self.on_trouble(f"{path}: {facts.probe.problem}")
        return facts

    async def _kept_facts(self, source: Source) -> MediaFacts | None:
        """Return the cached facts of a file; for an address, ask the server whether the file has changed.

        Raises:
            MediaError: the server does not answer, or refuses.
        """
        path, kind = source
        find = partial(cached_facts, path, kind=kind, cache_root=self.place.cache_root)
        return await anyio.to_thread.run_sync(find) if isinstance(path, Address) else find()

    async def _whole(self, source: Source, facts: MediaFacts | Failed) -> Silent | Failed | None:
        """Return the file to send if the plan sends whole videos; None otherwise."""
        path, kind = source
        if kind != "video":
            return None
        if isinstance(facts, Failed):
            return facts
        write = partial(
            as_it_is if self.place.audio == "keep" else without_sound,
            path,
            content_hash=facts.content_hash,
            cache_root=self.place.cache_root,
            max_bytes=self.place.cache_max_bytes,
        )
        if self.place.audio == "keep" and not isinstance(path, Address):
            return write()  # the file itself
        try:
            result = await self.workers.run(str(path), write, deadline_s=self.place.deadline_s)
            if result.path not in (path, copy_place(result.path.name, self.place.cache_root)):
                raise MediaError(f"{path}: its worker names {result.path} as its copy; it is skipped")
            return result
        except MediaError as error:
            return self._set_aside(source, error)

    def _say_unchecked(self, path: str) -> None:
        """Warn once per file if its item states a hash that is not checked."""
        if path not in self._unchecked:
            self._unchecked.add(path)
            self.on_trouble(f"{path}: the SHA-256 of its item is not checked, because the server states none")

    def _set_aside(self, source: Source, error: MediaError) -> Failed:
        if source not in self._aside:
            self.on_trouble(str(error))
            self._aside[source] = failure(error, "media")
        return self._aside[source]

    # ------------------------------------------------------------------ selection

    def _clip(
        self, item: Item, facts: dict[Source, MediaFacts | Failed], *, shared: dict[tuple[Media, ...], Clip]
    ) -> Clipped | Failed:
        """Return a question's media as one clip; questions about the same media share it (`shared`)."""
        parts: list[tuple[Media, MediaFacts]] = []
        for media in item.media:
            fact = facts[self._source(media)]
            if isinstance(fact, Failed):
                return fact
            if media.sha256 is not None and not fact.is_of_bytes:
                self._say_unchecked(fact.probe.path)
            elif media.sha256 not in (None, fact.content_hash):
                message = f"{fact.probe.path} has SHA-256 {fact.content_hash}, the item says {media.sha256}"
                return Failed(stage="media", error="WrongFile", message=message)
            parts.append((media, fact))
        try:
            clip = shared.get(item.media) or shared.setdefault(item.media, clip_of(parts))
        except ITEM_ERRORS["selection"] as error:
            return failure(error, "selection")
        return Clipped(
            item=item,
            clip=clip,
            sources=tuple(self._source(media) for media, _ in parts),
            hashes=tuple(fact.content_hash for _, fact in parts),
        )

    def _choose(
        self,
        result: Clipped | Failed,
        facts: dict[Source, MediaFacts | Failed],
        *,
        scores: dict[str, dict[str, Found]],
    ) -> dict[str, Selection | Failed]:
        """Return the frames of each view; retry views without frames are left out."""
        if isinstance(result, Failed):
            return dict.fromkeys(self.views, result)
        known = [fact for source in result.sources if isinstance(fact := facts[source], MediaFacts)]
        problems = [fact.probe.problem for fact in known if fact.probe.problem]
        chosen = {
            name: self._chosen(view, result, scores=scores[name].get(result.item.item_id), problems=problems)
            for name, view in self.views.items()
        }
        return {
            name: selection
            for name, selection in chosen.items()
            if not self.views[name].rules.retry or (isinstance(selection, Selection) and selection.frames)
        }

    def _chosen(
        self, view: OpenView, clipped: Clipped, *, scores: Found | None, problems: list[str]
    ) -> Selection | Failed:
        if isinstance(scores, Failed):
            return scores
        retry = view.rules.retry
        try:
            frames = self._select(view, clipped, scores)
            if not frames and not self.place.whole_video and not retry:
                check_some(view, clipped)
        except ITEM_ERRORS["selection"] as error:
            return failure(error, "selection")
        messages = [f"retry {retry}: other frames after a reply that could not be read"] if retry else []
        messages += [scores.note] if isinstance(scores, SearchResult) else []
        messages += few_words(view, clipped, len(frames))
        return Selection(
            selector=view.rules.selector,
            version=view.selector.version,
            frames=frames,
            n_candidates=clipped.clip.n_frames,
            note="; ".join([*messages, *problems]),
        )

    def _select(
        self, view: OpenView, clipped: Clipped, scores: Scores | SearchResult | None
    ) -> tuple[FrameRef, ...]:
        clip, item = clipped.clip, clipped.item
        if self.place.whole_video:
            check_whole(item)
            return ()
        try:
            positions = positions_of(view, clip, item, scores=scores)
            if np.any(np.asarray(positions) < 0):
                raise ValueError(f"it chose position {np.min(positions)}")
            return tuple(clip.refs(positions))
        except VidenceError:
            raise
        except Exception as error:
            _log.debug("the selector broke", exc_info=True)
            raise UsageError(
                f"the selector {view.rules.selector!r} broke on item {item.item_id!r}: "
                f"{type(error).__name__}: {error}"
            ) from error

    def _union(
        self, items: Iterable[Item], chosen: dict[str, dict[str, Selection | Failed]]
    ) -> dict[tuple[Source, str], tuple[Encoding, set[int]]]:
        """Return the frames to deliver, by source and encoding key."""
        wanted: dict[tuple[Source, str], tuple[Encoding, set[int]]] = {}
        for item in items:
            sources = [self._source(media) for media in item.media]
            for name, selection in chosen[item.item_id].items():
                encoding = self.views[name].encoding
                key = encoding.key
                for ref in () if isinstance(selection, Failed) else selection.frames:
                    wanted.setdefault((sources[ref.media_index], key), (encoding, set()))[1].add(
                        ref.frame_index
                    )
        return wanted

    # ------------------------------------------------------------------ pixels

    async def _deliver(
        self, source: Source, facts: MediaFacts | Failed, indices: list[int], *, encoding: Encoding
    ) -> Delivery | Failed:
        if isinstance(facts, Failed):
            return facts
        try:
            delivery = await self._decoded(source, indices, encoding, content_hash=facts.content_hash)
        except MediaError as error:
            return self._set_aside(source, error)
        for message in delivery.problems.values():
            self.on_trouble(message)
        return delivery

    async def _deliver_to_selector(
        self, source: Source, indices: Sequence[int], encoding: Encoding, *, keep: bool
    ) -> Mapping[int, EncodedFrame]:
        """Return frames for an embedder (not cached, because its scores are) or for a model.

        Raises:
            MediaError: the file, or one of the frames, cannot be decoded.
        """
        facts = await self._kept_facts(source) if keep else None
        content_hash = facts.content_hash if facts is not None else ""
        delivery = await self._decoded(
            source, list(indices), encoding, content_hash=content_hash, is_scoring=True
        )
        if delivery.problems:
            raise MediaError(next(iter(delivery.problems.values())))
        return delivery.frames

    async def _decoded(
        self,
        source: Source,
        indices: list[int],
        encoding: Encoding,
        *,
        content_hash: str,
        is_scoring: bool = False,
    ) -> Delivery:
        """Return frames from the cache or the decoder; cached if the file's hash is given."""
        if content_hash:
            cached = await anyio.to_thread.run_sync(self._from_cache, content_hash, indices, encoding)
            if cached is not None:
                return Delivery(frames=cached, problems={}, n_decoded=0, n_from_cache=len(cached))
        if source in self._aside:
            raise MediaError(self._aside[source].message)
        path, kind = source
        job = Job(
            path=str(path),
            kind=kind,
            frame_indices=tuple(indices),
            encoding=encoding,
            cache_root=str(self.place.cache_root) if content_hash else None,
            cache_max_bytes=self.place.cache_max_bytes if content_hash else 0,
            content_hash=content_hash,
        )
        delivery = await self.workers.run(str(path), partial(deliver, job), deadline_s=self.place.deadline_s)
        self.count.add(delivery, str(path), is_scoring=is_scoring)
        return delivery

    def _from_cache(
        self, content_hash: str, indices: list[int], encoding: Encoding
    ) -> dict[int, EncodedFrame] | None:
        frames: dict[int, EncodedFrame] = {}
        for index in indices:
            frame = self._cache.get(content_hash, index, encoding.key)
            if frame is None:
                return None
            frames[index] = frame
        return frames

    def _assemble(
        self,
        item: Item,
        view: str,
        selection: Selection | Failed,
        *,
        facts: dict[Source, MediaFacts | Failed],
        frames: dict[tuple[Source, str], Delivery | Failed],
        videos: Mapping[Source, Silent | Failed | None],
    ) -> ViewContent | Failed:
        if isinstance(selection, Failed):
            return selection
        key = self.views[view].encoding.key
        sources = [self._source(media) for media in item.media]
        shown_frames: list[ShownFrame] = []
        for ref in selection.frames:
            delivery = frames[sources[ref.media_index], key]
            if isinstance(delivery, Failed):
                return delivery
            if ref.frame_index in delivery.problems:
                return Failed(stage="media", error="DamagedFrame", message=delivery.problems[ref.frame_index])
            shown_frames.append(ShownFrame(frame=delivery.frames[ref.frame_index], time_s=ref.time_s))
        known = [fact for source in sources if isinstance(fact := facts[source], MediaFacts)]
        lasting_s = [f.probe.counted.duration_s for f in known]
        video = None
        if self.place.whole_video and item.media:
            sent = videos[sources[0]]
            if isinstance(sent, Failed):
                return sent
            if sent is not None:
                video = VideoPart(path=str(sent.path), digest=sent.digest, media_type=video_type(sent.path))
                if sent.is_copy:
                    selection = msgspec.structs.replace(selection, note="sent without its sound")
        return ViewContent(
            selection=selection,
            frames=tuple(shown_frames),
            duration_s=sum(lasting_s),
            starts_s=tuple(sum(lasting_s[:i]) for i in range(len(lasting_s))),
            video=video,
        )


def _nothing(view: OpenView) -> ViewContent:
    spec, version = view.rules.selector, view.selector.version
    nothing = Selection(selector=spec, version=version, frames=(), n_candidates=0)
    return ViewContent(selection=nothing, frames=(), duration_s=0.0)
