"""The values that the frame desk takes and gives."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from vidence.ask.prompting.compose import ShownFrame
from vidence.contracts import ScoringSelector, Selector, Traits, View, Words
from vidence.media.clip import Clip
from vidence.media.encode import EncodedFrame, Encoding
from vidence.media.files import Delivery
from vidence.records import Item, Selection, VideoPart

Source: TypeAlias = tuple[Path, str]  # the file (or folder) and its kind
# Gives frames of a source, by frame index; raises MediaError where there are none.
Deliver: TypeAlias = Callable[
    [Source, Sequence[int], Encoding], Coroutine[None, None, Mapping[int, EncodedFrame]]
]


@dataclass(frozen=True, kw_only=True)
class Clipped:
    """A question, its media as one clip, the source of each medium and its content hash."""

    item: Item
    clip: Clip
    sources: tuple[Source, ...]
    hashes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What one question is shown in one view.

    `starts_s` says for each medium of the question when it begins, if all are played one after the other.
    """

    selection: Selection
    frames: tuple[ShownFrame, ...]
    duration_s: float
    starts_s: tuple[float, ...] = ()
    video: VideoPart | None = None


@dataclass(frozen=True, kw_only=True)
class OpenView:
    """A view with its selector opened; `words` are what a selector asks a model in, if it asks one."""

    rules: View
    selector: Selector
    encoding: Encoding
    words: Words

    @cached_property
    def traits(self) -> Traits:
        """What its selector says of itself."""
        return Traits.of(self.selector)

    @cached_property
    def scoring(self) -> ScoringSelector | None:
        """Its selector, if it goes by scores."""
        return self.selector if isinstance(self.selector, ScoringSelector) else None


@dataclass(kw_only=True)
class DecodeCount:
    """How much was decoded; a video that is opened twice for pixels would show here.

    `n_scoring_passes` were for selectors, which look at other frames before any is chosen.
    """

    n_passes: int = 0
    n_scoring_passes: int = 0
    n_decoded: int = 0
    n_from_cache: int = 0
    passes_by_file: dict[str, int] = field(default_factory=dict)

    def add(self, delivery: Delivery, path: str, *, is_scoring: bool) -> None:
        """Count one pass over a file."""
        self.n_decoded += delivery.n_decoded
        self.n_from_cache += delivery.n_from_cache
        if is_scoring:
            self.n_scoring_passes += 1
        else:
            self.n_passes += 1
            self.passes_by_file[path] = self.passes_by_file.get(path, 0) + 1
