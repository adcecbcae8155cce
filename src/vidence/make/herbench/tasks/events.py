"""Events as questions show them: how they are written, when they are, and when two of them collide."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from vidence.make.herbench.tasks.candidates import NoCandidate
from vidence.make.pipeline.material import Corpus, Event
from vidence.make.sources.event_index import EventIndex, Pair, Texts, VideoEvents
from vidence.records import Evidence

# How often a pair of verb and noun must occur elsewhere to be plausible (the paper prints no figure).
COMPATIBLE = 3


@dataclass(frozen=True, kw_only=True)
class EventContext:
    """The events of one video, and the index of all."""

    video_id: str
    video: VideoEvents
    index: EventIndex

    def elsewhere(self, pair: Pair) -> int:
        """How often a pair occurs in the other videos."""
        return self.index.elsewhere(pair, self.video_id)


@lru_cache(maxsize=1)
def _index_of(corpus: Corpus) -> EventIndex:
    """The index of a corpus, made once for all tasks and videos."""
    return EventIndex(corpus.events)


def event_context(video_id: str, events: Sequence[Event], corpus: Corpus) -> EventContext:
    """The events of a video among those of all videos."""
    return EventContext(video_id=video_id, video=VideoEvents(events), index=_index_of(corpus))


def written(events: Sequence[Event]) -> Texts:
    """The words in which events of one kind are mostly written; among equals the last in order."""
    texts = [(event.verb, event.noun) for event in events]
    return max(texts, key=lambda pair: (texts.count(pair), pair))


def overlap(event: Event, other: Event) -> bool:
    """Whether two events share a moment."""
    return event.start_s < other.end_s and other.start_s < event.end_s


def span_of(event: Event) -> Evidence:
    """Return the span of an event, without frames."""
    return Evidence(kind="oracle", start_s=event.start_s, end_s=event.end_s, note=event.narration)


def when(events: Sequence[Event]) -> str:
    """How often and when, for reviewers.

    >>> when([])
    'never'
    """
    if not events:
        return "never"
    times = ", ".join(f"{event.start_s:.2f}-{event.end_s:.2f} s" for event in events)
    return f"{n_times(len(events))} ({times})"


def n_times(n: int) -> str:
    """A number of times in words.

    >>> n_times(1), n_times(3)
    ('once', '3 times')
    """
    return "once" if n == 1 else f"{n} times"


def used_up(structure: str) -> NoCandidate:
    """The end of what one structure can ask."""
    return NoCandidate(subject=structure, reason="used-up", detail="everything that could be asked was tried")
