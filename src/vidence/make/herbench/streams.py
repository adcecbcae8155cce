"""From sources to material: every stream that a wanted task needs, where the source has what it takes."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from vidence.errors import UsageError
from vidence.make.herbench.card_step import cut_all_crops, write_all_cards
from vidence.make.herbench.identification import cut_all_portraits
from vidence.make.herbench.people import give_counts
from vidence.make.herbench.scenes import write_all_scenes
from vidence.make.herbench.session import HerbenchSession, VideoState
from vidence.make.herbench.sources import Sources, find_sources
from vidence.make.herbench.tracking import track_all
from vidence.make.pipeline.material import Corpus, Material
from vidence.make.pipeline.probing import look_side_by_side

_MOST_NAMED = 10


def gather_for_sheets(work: HerbenchSession) -> list[VideoState]:
    """Find the sources, watch them, and cut the pictures that people look at; nobody is asked anything.

    Raises:
        UsageError: the configuration has neither [tracking] nor [shots].
        VidenceError: it cannot go on; every result so far is kept.
    """
    config = work.config
    if not (config.tracking or config.shots or any(one.tracks for one in config.sources)):
        raise UsageError(
            "a sheet shows tracks and shots; the configuration has neither [tracking] nor [shots]"
        )
    videos = [VideoState(source=one, material=Material(source=one.video)) for one in _sources(work).sources]
    track_all(work, videos, needs=("tracked", "chosen", "shots"))
    with_tracks = [one for one in videos if one.material.chosen]
    cut_all_crops(work, with_tracks)
    cut_all_portraits(work, with_tracks)
    return videos


def gather(work: HerbenchSession, *, needs: Collection[str]) -> tuple[list[VideoState], Corpus]:
    """Find the sources and make what is needed of them.

    Args:
        work: the session.
        needs: the fields of `Material` that the wanted tasks need.

    Raises:
        VidenceError: it cannot go on; every result so far is kept.
    """
    found = _sources(work)
    videos = [VideoState(source=one, material=Material(source=one.video)) for one in found.sources]
    if "events" in needs and work.reaches("events"):
        _events(work, found, videos)
    if work.reaches("watching"):
        track_all(work, videos, needs=needs)
        give_counts(work, videos)
    if work.reaches("cards"):
        write_all_cards(work, videos, needs=needs)
        if work.config.people is not None:  # boards show everybody
            cut_all_portraits(work, [one for one in videos if one.material.chosen])
    if work.reaches("scenes"):
        write_all_scenes(work, videos, needs=needs)
    corpus = Corpus(
        events=found.events,
        a_cards={one.video_id: one.material.a_cards for one in videos if one.material.a_cards},
        looks={one.video_id: _looks(one.material) for one in videos if one.material.a_cards},
    )
    return videos, corpus


def _looks(material: Material) -> dict[str, tuple[float, ...]]:
    """What the people with a card look like."""
    known = {} if material.tracked is None else material.tracked.looks
    named = sorted({card.track_id for card in material.a_cards} & set(known))
    return {name: tuple(float(value) for value in known[name]) for name in named}


def _sources(work: HerbenchSession) -> Sources:
    found = find_sources(
        work.config,
        work.root,
        cache_root=work.context.cache_root,
        limit=work.overrides.limit,
        look_ahead=partial(_look_ahead, work),
    )
    work.began("sources", len(found.taken))
    work.close(
        "sources",
        unit="videos",
        taken=found.taken,
        kept=[one.video.video_id for one in found.sources],
        dropped=found.dropped,
    )
    for one in found.dropped[:_MOST_NAMED]:
        work.trouble(f"{one.what} cannot be used: {one.detail}")
    if len(found.dropped) > _MOST_NAMED:
        work.trouble(f"{len(found.dropped) - _MOST_NAMED:,} more videos cannot be used; see dropped.jsonl")
    for remark in found.remarks:
        work.trouble(remark)
    work.ledger.notes.extend((*found.notes, *found.remarks))
    work.video_ids.update(found.taken)
    return found


def _look_ahead(work: HerbenchSession, files: Sequence[Path]) -> None:
    """Have other processes look into the files; why one cannot be read is found again when it is its turn."""
    context = work.context
    if context.parallel.has_others and len(files) > 1:
        for _ in look_side_by_side(
            files, context.parallel, cache_root=context.cache_root, on_trouble=work.trouble
        ):
            pass


def _events(work: HerbenchSession, found: Sources, videos: list[VideoState]) -> None:
    """Give each video its events; nothing is cached, since logs are read faster than results."""
    kept: list[str] = []
    for one in videos:
        logs = ", ".join(rule.path for rule in work.config.logs)
        why = f"no event of it in {logs}" if logs else "the configuration has no [[logs]]"
        one.material = replace(one.material, events=one.source.events)
        one.settle("events", otherwise=why)
        kept += [one.named(event.event_id) for event in one.source.events]
    dropped = found.unused_events
    work.began("events", len(kept) + len(dropped))
    taken = [*kept, *(one.what for one in dropped)]
    work.close("events", unit="events", taken=taken, kept=kept, dropped=dropped)
