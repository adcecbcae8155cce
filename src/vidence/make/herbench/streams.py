"""From sources to material: every stream that a wanted task needs, where the source has what it takes."""

from collections.abc import Collection
from dataclasses import replace

from vidence.make.herbench.cards import write_all_cards
from vidence.make.herbench.scenes import write_all_scenes
from vidence.make.herbench.sources import Found, find_sources
from vidence.make.herbench.watching import watch_all
from vidence.make.herbench.work import Known, Work
from vidence.make.pipeline.material import Corpus, Material
from vidence.make.pipeline.stages import digest_of


def gather(work: Work, *, needs: Collection[str]) -> tuple[list[Known], Corpus]:
    """Find the sources and make what is needed of them.

    Args:
        work: the session.
        needs: the fields of `Material` that the wanted tasks need.

    Raises:
        VidenceError: it cannot go on; every result so far is kept.
    """
    found = _sources(work)
    videos = [Known(source=one, material=Material(source=one.video)) for one in found.sources]
    if "events" in needs and work.goes_to("events"):
        _events(work, found, videos)
    if work.goes_to("watching"):
        watch_all(work, videos, needs=needs)
    if work.goes_to("cards"):
        write_all_cards(work, videos, needs=needs)
    if work.goes_to("scenes"):
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


def _sources(work: Work) -> Found:
    found = find_sources(work.config, work.root, cache_root=work.workshop.cache_root, limit=work.wishes.limit)
    work.began("sources", len(found.taken))
    work.close(
        "sources",
        unit="videos",
        taken=found.taken,
        kept=[one.video.video_id for one in found.sources],
        dropped=found.dropped,
    )
    work.books.notes.extend(found.notes)
    return found


def _events(work: Work, found: Found, videos: list[Known]) -> None:
    """Give each video its events; nothing is kept, since logs are read faster than results."""
    kept: list[str] = []
    for one in videos:
        events = one.source.events
        if events:
            one.material = replace(one.material, events=events)
            one.digests["events"] = digest_of(events)
            kept += [f"{one.video_id}: {event.event_id}" for event in events]
        else:
            logs = ", ".join(rule.path for rule in work.config.logs)
            one.absent["events"] = (
                f"no event of it in {logs}" if logs else "the configuration has no [[logs]]"
            )
    dropped = found.unused_events
    work.began("events", len(kept) + len(dropped))
    taken = [*kept, *(one.what for one in dropped)]
    work.close("events", unit="events", taken=taken, kept=kept, dropped=dropped)
