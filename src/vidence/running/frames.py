"""From questions to the frames they are shown: each video is decoded once, in a process of its own."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import anyio.to_thread
import numpy as np

from vidence.contracts import Selector
from vidence.errors import DataError, MediaError, UsageError, VidenceError
from vidence.media.cache import FrameCache
from vidence.media.clip import Clip
from vidence.media.deliver import Delivery, Job, deliver
from vidence.media.encode import EncodedFrame, Encoding
from vidence.media.facts import MediaFacts, cached_facts, read_facts
from vidence.media.locate import resolve
from vidence.prompting.compose import ShownFrame
from vidence.records import Failed, FrameRef, Item, Media, Selection, VideoPart
from vidence.running.choosing import (
    check_whole,
    clip_of,
    needs_media,
    positions_again,
    positions_shown,
    video_type,
)
from vidence.running.workers import Workers

_log = logging.getLogger(__name__)

Source = tuple[Path, str]  # the file (or folder) and its kind


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What one question is shown; `others` is what it is shown instead, in turn, if no reply can be read."""

    selection: Selection
    frames: tuple[ShownFrame, ...]
    duration_s: float
    video: VideoPart | None = None
    others: tuple["Shown", ...] = ()


@dataclass(frozen=True, kw_only=True)
class ShowRules:
    """How frames are chosen and encoded; where and how long the decoder may work."""

    selector: Selector
    selector_name: str
    n_frames: int
    encoding: Encoding
    media_root: Path
    whole_video: bool
    cache_root: Path
    cache_max_bytes: int
    deadline_s: float
    retries: int = 0


@dataclass(kw_only=True)
class DecodeCount:
    """How much was decoded; a video that is opened twice for pixels would show here."""

    n_passes: int = 0
    n_decoded: int = 0
    n_from_cache: int = 0
    passes_by_file: dict[str, int] = field(default_factory=dict)


class FrameDesk:
    """Selects and delivers frames for groups of questions about the same media.

    The decoder runs in worker processes: it cannot block the event loop, cannot take the run down
    when it crashes, and is killed when it passes its deadline; its video is then set aside for the
    rest of the session.
    """

    def __init__(
        self, rules: ShowRules, *, workers: Workers, count: DecodeCount, on_trouble: Callable[[str], None]
    ) -> None:
        self._rules = rules
        self._workers = workers
        self._on_trouble = on_trouble
        self._cache = FrameCache(rules.cache_root, max_bytes=rules.cache_max_bytes)
        self._aside: dict[Source, Failed] = {}
        self._count = count

    async def show(self, items: Sequence[Item]) -> dict[str, Shown | Failed]:
        """What each of these questions is shown, or why nothing can be; by item id."""
        if not self._rules.whole_video and not needs_media(self._rules.selector):
            return {item.item_id: self._nothing() for item in items}
        facts = await self._all_facts(items)
        chosen = {i.item_id: self._choose(i, facts) for i in items}
        wanted = self._union(items, chosen)
        frames: dict[Source, Delivery | Failed] = {}
        for source, indices in wanted.items():
            frames[source] = await self._deliver(source, facts[source], indices)
        return {i.item_id: self._assembled(i, chosen[i.item_id], facts=facts, frames=frames) for i in items}

    def _nothing(self) -> Shown:
        rules = self._rules
        nothing = Selection(
            selector=rules.selector_name, version=rules.selector.version, frames=(), n_candidates=0
        )
        return Shown(selection=nothing, frames=(), duration_s=0.0)

    # ------------------------------------------------------------------ facts

    def _source(self, media: Media) -> Source:
        return resolve(self._rules.media_root, media), media.kind

    async def _all_facts(self, items: Iterable[Item]) -> dict[Source, MediaFacts | Failed]:
        found: dict[Source, MediaFacts | Failed] = {}
        for source in dict.fromkeys(self._source(m) for item in items for m in item.media):
            found[source] = await self._facts(source)
        return found

    async def _facts(self, source: Source) -> MediaFacts | Failed:
        if source in self._aside:
            return self._aside[source]
        path, kind = source
        known = cached_facts(path, kind=kind, cache_root=self._rules.cache_root)
        if known is not None:
            return known
        read = partial(read_facts, path, kind=kind, cache_root=self._rules.cache_root)
        try:
            facts = await self._workers.run(str(path), read, deadline_s=self._rules.deadline_s)
        except MediaError as error:
            return self._set_aside(source, error)
        if facts.probe.problem:
            self._on_trouble(f"{path}: {facts.probe.problem}")
        return facts

    def _set_aside(self, source: Source, error: MediaError) -> Failed:
        self._on_trouble(str(error))
        self._aside[source] = Failed(stage="media", error=type(error).__name__, message=str(error))
        return self._aside[source]

    # ------------------------------------------------------------------ selection

    def _choose(self, item: Item, facts: dict[Source, MediaFacts | Failed]) -> tuple[Selection, ...] | Failed:
        """What a question is shown, and after it what it is shown when no reply can be read."""
        parts: list[tuple[Media, MediaFacts]] = []
        for media in item.media:
            fact = facts[self._source(media)]
            if isinstance(fact, Failed):
                return fact
            if media.sha256 not in (None, fact.content_hash):
                message = f"{fact.probe.path} has SHA-256 {fact.content_hash}, the item says {media.sha256}"
                return Failed(stage="media", error="WrongFile", message=message)
            parts.append((media, fact))
        try:
            clip = clip_of(parts)
            frames = [self._select(clip, item, retry=retry) for retry in range(self._rules.retries + 1)]
        except (DataError, UsageError, MediaError) as error:
            return Failed(stage="selection", error=type(error).__name__, message=str(error))
        problems = [f.probe.problem for _, f in parts if f.probe.problem]
        shown = [n for n, refs in enumerate(frames) if n == 0 or refs]
        return tuple(self._selection(frames[n], clip, problems, retry=n) for n in shown)

    def _selection(
        self, frames: tuple[FrameRef, ...], clip: Clip, problems: list[str], *, retry: int
    ) -> Selection:
        tried = [f"retry {retry}: other frames after a reply that could not be read"] if retry else []
        return Selection(
            selector=self._rules.selector_name,
            version=self._rules.selector.version,
            frames=frames,
            n_candidates=clip.n_frames,
            note="; ".join([*tried, *problems]),
        )

    def _select(self, clip: Clip, item: Item, *, retry: int) -> tuple[FrameRef, ...]:
        rules = self._rules
        if rules.whole_video:
            check_whole(item)
            return ()
        try:
            if retry:
                positions = positions_again(rules.selector, clip, item, n_frames=rules.n_frames, retry=retry)
            else:
                positions = positions_shown(rules.selector, clip, item, n_frames=rules.n_frames)
            if np.any(np.asarray(positions) < 0):
                raise ValueError(f"it chose position {np.min(positions)}")
            return tuple(clip.ref(int(p)) for p in positions)
        except VidenceError:
            raise
        except Exception as error:
            _log.debug("the selector broke", exc_info=True)
            raise UsageError(
                f"the selector {rules.selector_name!r} broke on item {item.item_id!r}: "
                f"{type(error).__name__}: {error}"
            ) from error

    def _union(
        self, items: Iterable[Item], chosen: dict[str, tuple[Selection, ...] | Failed]
    ) -> dict[Source, tuple[int, ...]]:
        wanted: dict[Source, set[int]] = {}
        for item in items:
            selections = chosen[item.item_id]
            if isinstance(selections, Failed):
                continue
            for ref in (ref for selection in selections for ref in selection.frames):
                wanted.setdefault(self._source(item.media[ref.media_index]), set()).add(ref.frame_index)
        return {source: tuple(sorted(indices)) for source, indices in wanted.items()}

    # ------------------------------------------------------------------ pixels

    async def _deliver(
        self, source: Source, facts: MediaFacts | Failed, indices: tuple[int, ...]
    ) -> Delivery | Failed:
        if isinstance(facts, Failed):
            return facts
        cached = await anyio.to_thread.run_sync(self._from_cache, facts.content_hash, indices)
        if cached is not None:
            self._count.n_from_cache += len(cached)
            return Delivery(frames=cached, problems={}, n_decoded=0, n_from_cache=len(cached))
        if source in self._aside:
            return self._aside[source]
        path, kind = source
        job = Job(
            path=str(path),
            kind=kind,
            frame_indices=indices,
            encoding=self._rules.encoding,
            cache_root=str(self._rules.cache_root),
            cache_max_bytes=self._rules.cache_max_bytes,
        )
        try:
            delivery = await self._workers.run(
                str(path), partial(deliver, job), deadline_s=self._rules.deadline_s
            )
        except MediaError as error:
            return self._set_aside(source, error)
        self._count.n_passes += 1
        self._count.n_decoded += delivery.n_decoded
        self._count.n_from_cache += delivery.n_from_cache
        self._count.passes_by_file[str(path)] = self._count.passes_by_file.get(str(path), 0) + 1
        for message in delivery.problems.values():
            self._on_trouble(message)
        return delivery

    def _from_cache(self, content_hash: str, indices: tuple[int, ...]) -> dict[int, EncodedFrame] | None:
        frames: dict[int, EncodedFrame] = {}
        for index in indices:
            frame = self._cache.get(content_hash, index, self._rules.encoding.key)
            if frame is None:
                return None
            frames[index] = frame
        return frames

    def _assembled(
        self,
        item: Item,
        selections: tuple[Selection, ...] | Failed,
        *,
        facts: dict[Source, MediaFacts | Failed],
        frames: dict[Source, Delivery | Failed],
    ) -> Shown | Failed:
        if isinstance(selections, Failed):
            return selections
        first, *others = [self._assemble(item, s, facts=facts, frames=frames) for s in selections]
        if isinstance(first, Failed):
            return first
        return replace(first, others=tuple(shown for shown in others if isinstance(shown, Shown)))

    def _assemble(
        self,
        item: Item,
        selection: Selection,
        *,
        facts: dict[Source, MediaFacts | Failed],
        frames: dict[Source, Delivery | Failed],
    ) -> Shown | Failed:
        shown: list[ShownFrame] = []
        for ref in selection.frames:
            delivery = frames[self._source(item.media[ref.media_index])]
            if isinstance(delivery, Failed):
                return delivery
            if ref.frame_index in delivery.problems:
                return Failed(stage="media", error="DamagedFrame", message=delivery.problems[ref.frame_index])
            shown.append(ShownFrame(frame=delivery.frames[ref.frame_index], time_s=ref.time_s))
        known = [f for m in item.media if isinstance(f := facts[self._source(m)], MediaFacts)]
        video = None
        if self._rules.whole_video and item.media:
            path = self._source(item.media[0])[0]
            video = VideoPart(path=str(path), digest=known[0].content_hash, media_type=video_type(path))
        return Shown(
            selection=selection,
            frames=tuple(shown),
            duration_s=sum(f.probe.counted.duration_s for f in known),
            video=video,
        )
