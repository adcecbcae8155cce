"""The annotated evidence as a ranking: every piece once before any piece twice."""

from vidence.ask.selection import _rules, ranking
from vidence.ask.selection.evidence import AnnotatedEvidence, located
from vidence.errors import UsageError
from vidence.media.clip import Clip
from vidence.records import Item


class Oracle:
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

    def select(self, clip: Clip, item: Item, *, n_frames: int) -> _rules.Positions:
        """Positions in `clip`, in the order of time; at most `n_frames`.

        Raises:
            UsageError: `n_frames` is not positive.
            DataError: no evidence (unless filled), or evidence that cannot be found in the clip.
        """
        if self.fill and not located(item):
            return _rules.choose(_rules.midpoints, clip, n_frames=n_frames)
        return self._evidence.select(clip, item, n_frames=n_frames)

    def rank(self, clip: Clip, item: Item, *, n_frames: int) -> _rules.Positions:
        """The same best first: one frame of every piece of evidence, then a second of each, then the rest.

        Raises:
            UsageError: `n_frames` is not positive.
            DataError: as for `select`.
        """
        if self.fill and not located(item):
            uniform = self.select(clip, item, n_frames=n_frames)
            return uniform[ranking.spread(len(uniform))]
        return self._evidence.rank(clip, item, n_frames=n_frames)


def create(argument: str = "") -> Oracle:
    """The selector; the argument ``fill`` adds uniform frames up to the budget.

    Raises:
        UsageError: another argument.
    """
    if argument not in ("", "fill"):
        raise UsageError(f"oracle:{argument} means nothing; expected 'oracle' or 'oracle:fill'")
    return Oracle(fill=argument == "fill")
