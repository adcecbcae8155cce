"""The annotated evidence as a ranking: every piece once before any second frame of a piece."""

from typing import ClassVar

from vidence.ask.selection.evidence import AnnotatedEvidence, Frames
from vidence.records import Record


class Settings(Record):
    """Options of the selector."""

    positional: ClassVar[str] = "frames"

    frames: Frames = "only"


class Oracle(AnnotatedEvidence):
    """Frames of the annotated evidence; ranked, the first k frames show k pieces of it.

    Unlike ``evidence``, a piece that lists many frames has one turn, like a span.
    An item without evidence is refused. With `fill` the rest of the budget are uniform frames outside the
    evidence, as in ``evidence``, and an item without evidence gets uniform frames alone.

    Source: HERBench, section 5.2 (oracle frames only); section 5.1, footnote 1 (with others, `fill`).
    Departs: the paper gives no order; see `AnnotatedEvidence` for how frames are taken out of spans.
    """

    def __init__(self, *, fill: bool) -> None:
        super().__init__(only=not fill, by_piece=True, may_lack=fill)


def create(settings: Settings) -> Oracle:
    """Create the selector."""
    return Oracle(fill=settings.frames == "fill")
