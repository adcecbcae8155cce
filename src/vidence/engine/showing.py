"""What questions are shown, and by which rules: the values that the frame desk takes and gives."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from vidence.ask.prompting.compose import ShownFrame
from vidence.contracts import Selector, Words
from vidence.media.clip import Clip
from vidence.media.encode import EncodedFrame, Encoding
from vidence.records import Item, Selection, VideoPart

Source: TypeAlias = tuple[Path, str]  # the file (or folder) and its kind
# Gives frames of a source, by frame index; raises MediaError where there are none.
Deliver: TypeAlias = Callable[
    [Source, Sequence[int], Encoding], Coroutine[None, None, Mapping[int, EncodedFrame]]
]
MAIN = ""  # the view that a run shows


@dataclass(frozen=True, kw_only=True)
class Clipped:
    """A question, its media as one clip, the source of each medium and its content hash."""

    item: Item
    clip: Clip
    sources: tuple[Source, ...]
    hashes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What one question is shown; `others` is what it is shown instead, in turn, if no reply can be read.

    `starts_s` says for each medium of the question when it begins, if all are played one after the other.
    """

    selection: Selection
    frames: tuple[ShownFrame, ...]
    duration_s: float
    starts_s: tuple[float, ...] = ()
    video: VideoPart | None = None
    others: tuple["Shown", ...] = ()


@dataclass(frozen=True, kw_only=True)
class ViewRules:
    """How the frames of one view are chosen and encoded.

    `words` are what a selector asks a model in, if it asks one. With `is_ranked` the frames come best
    first. `retry` counts from 1 where the view is for another try.
    """

    selector: Selector
    selector_name: str
    n_frames: int
    encoding: Encoding
    words: Words
    is_ranked: bool = False
    retry: int = 0


@dataclass(frozen=True, kw_only=True)
class ShowRules:
    """How frames are chosen and encoded; where and how long the decoder may work.

    `words` are what a selector asks a model in, if it asks one.
    """

    selector: Selector
    selector_name: str
    n_frames: int
    encoding: Encoding
    words: Words
    media_root: Path
    whole_video: bool
    cache_root: Path
    cache_max_bytes: int
    deadline_s: float
    retries: int = 0

    def views(self) -> dict[str, ViewRules]:
        """The view that a run shows, and those of its retries."""
        return {
            f"retry {retry}" if retry else MAIN: ViewRules(
                selector=self.selector,
                selector_name=self.selector_name,
                n_frames=self.n_frames,
                encoding=self.encoding,
                words=self.words,
                retry=retry,
            )
            for retry in range(self.retries + 1)
        }


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
