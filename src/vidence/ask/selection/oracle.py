"""The annotated evidence as a ranking: every piece once before any piece twice."""

from typing import ClassVar

from vidence.ask.selection import uniform
from vidence.ask.selection.evidence import AnnotatedEvidence, Frames, located
from vidence.ask.selection.ranking import spread
from vidence.ask.selection.uniform import Positions
from vidence.contracts import Selector
from vidence.media.clip import Clip
from vidence.records import Item, Record


class Settings(Record):
    """Options of the selector."""

    positional: ClassVar[str] = "frames"

    frames: Frames = "only"


class Oracle(Selector):
    """Frames of the annotated evidence; ranked, the first k frames show k pieces of it.

    Unlike ``evidence``, a piece that lists many frames has one turn, like a span.
    An item without evidence is refused. With `fill` the rest of the budget are uniform frames outside the
    evidence, as in ``evidence``, and an item without evidence gets uniform frames alone.

    Source: HERBench, section 5.2 (oracle frames only); section 5.1, footnote 1 (with others, `fill`).
    Departs: the paper gives no order; see `AnnotatedEvidence` for how frames are taken out of spans.
    """

    version = 1

    def __init__(self, *, fill: bool) -> None:
        self.fill = fill
        self.budget = "exact" if fill else "at most"
        self._evidence = AnnotatedEvidence(only=not fill, by_piece=True)

    def select(self, clip: Clip, item: Item, *, n_frames: int) -> Positions:
        """Positions in `clip`, in the order of time; at most `n_frames`.

        Raises:
            UsageError: `n_frames` is not positive.
            DataError: no evidence (unless filled), or evidence that cannot be found in the clip.
        """
        if self.fill and not located(item):
            return uniform.create("midpoints").select(clip, item, n_frames=n_frames)
        return self._evidence.select(clip, item, n_frames=n_frames)

    def rank(self, clip: Clip, item: Item, *, n_frames: int) -> Positions:
        """The same best first: one frame of every piece of evidence, then a second of each, then the rest.

        Raises:
            UsageError: `n_frames` is not positive.
            DataError: as for `select`.
        """
        if self.fill and not located(item):
            chosen = self.select(clip, item, n_frames=n_frames)
            return chosen[spread(len(chosen))]
        return self._evidence.rank(clip, item, n_frames=n_frames)


def create(settings: Settings) -> Oracle:
    """The selector."""
    return Oracle(fill=settings.frames == "fill")
