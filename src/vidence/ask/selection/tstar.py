"""T*: a search for the frames that show what the question is about: ``tstar:blip-itm:W?objects=model``."""

import hashlib
from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence import option_readers
from vidence.ask.selection import _rules, ranking, scored
from vidence.ask.selection._tstar_objects import N_OVERVIEW, Naming, naming, source_of_objects
from vidence.ask.selection._tstar_search import Found, Look, SearchSettings, Seen, run_search, search
from vidence.ask.selection.seeking import Glimpse, Objects, Seeking, Sought
from vidence.ask.selection.tstar_mosaic import ALONE_HEIGHT_PX, ALONE_WIDTH_PX, CELL_HEIGHT_PX, CELL_WIDTH_PX
from vidence.contracts import Flow, Words
from vidence.errors import DataError
from vidence.media.clip import Clip
from vidence.records import ImagePart, Item

# Scores of a file are of one thing: whatever they were computed for.
SOUGHT = Objects(targets=("what is sought",))
# An embedder has a confidence for everything in every frame; a detector reports what it is sure enough of.
LEAST = 0.1
_DEFAULTS = scored.Defaults(grid="fps:1", max_tokens={})
_SEARCH: dict[str, Callable[[str], object]] = {
    "side": option_readers.positive_whole,
    "ratio": option_readers.share,
    "threshold": option_readers.share,
}
_OWN: dict[str, Callable[[str], object]] = {
    **_SEARCH,
    "seed": option_readers.whole_from_zero,
    "pick": option_readers.one_of("best", "drawn"),
    "least": option_readers.share,
    "objects": source_of_objects,
    "targets": str,
    "cues": str,
}


class Known:
    """T*'s search over confidences that are known beforehand, from 0 to 1.

    The search sees the score of a frame only when it looks at it, spends no more looks than the paper's,
    and spreads what it saw; the frames with the highest scores are chosen, or drawn in proportion.

    Source: T*, released code.
    Departs: every candidate has its score before the search begins, so that the search saves no work. One
        confidence stands for targets and cues, and a frame alone has the score that it has in a mosaic.
        The highest scores are chosen unless ``pick=drawn``, with a seed.
    """

    version = 2
    repeats = False
    takes_constant = False

    def __init__(self, settings: SearchSettings, *, seed: int, draws: bool) -> None:
        self.settings = settings
        self.seed = seed
        self.draws = draws

    def rng(self, item: Item) -> np.random.Generator:
        """The generator of a question; the same seed for all would draw the same places in all of them."""
        digest = hashlib.sha256(item.item_id.encode()).digest()
        return np.random.default_rng([self.seed, int.from_bytes(digest[:8], "big")])

    def picked(self, found: Found, n_frames: int, rng: np.random.Generator) -> _rules.Positions:
        """The best frames, or frames drawn in proportion to their scores, in the order drawn.

        Where nothing was seen, or the same everywhere, the middles of equal segments.
        """
        if found.scores.min() == found.scores.max():
            return ranking.evenly(len(found.scores), n_frames)
        return found.drawn(n_frames, rng) if self.draws else found.best(n_frames)

    def ranked(self, scores: NDArray[np.float64], n_frames: int, *, item: Item) -> _rules.Positions:
        """Positions, best first or in the order drawn; the same question gives the same ones.

        Raises:
            DataError: a score outside [0, 1].
        """
        check_confidences(scores, item)
        label = SOUGHT.targets[0]

        def look(wanted: Look) -> Seen:
            return [{label: float(scores[frame])} for frame in wanted.frames]

        rng = self.rng(item)
        found = run_search(search(len(scores), SOUGHT, settings=self.settings, rng=rng), look)
        return self.picked(found, n_frames, rng)

    def shown(self, scores: NDArray[np.float64], n_frames: int, *, item: Item) -> _rules.Positions:
        """The same in the order of time."""
        return np.sort(self.ranked(scores, n_frames, item=item))


def check_confidences(scores: NDArray[np.float64], item: Item) -> None:
    """Refuse what is no confidence of a detector.

    Raises:
        DataError: a score outside [0, 1].
    """
    if scores.size and not (scores.min() >= 0 and scores.max() <= 1):
        raise DataError(
            f"item {item.item_id!r}: scores from {scores.min():g} to {scores.max():g}; T* takes the "
            "confidences of a detector, 0 to 1. Rescale them, take an embedder whose scores are "
            "probabilities (blip-itm, or siglip with embedder.score=sigmoid), or use a selector that takes "
            "any scores: similarity, aks, bolt"
        )


class Tstar(scored.ByScores):
    """T*: objects are named, and looked for on mosaics of frames, first evenly, then where they may be.

    An embedder stands for the detector: what it says of a frame and the name of an object is the confidence
    that the object is there; below `least` nothing is seen. With scores (of a file, or handed in) nothing
    is looked at; see `Known`.

    Source: T*, released code (search with an object detector, cells of 200 x 95, frames alone of 600 x 285).
    Departs: an embedder has no boxes, so that it is shown each cell on its own; one with a method ``detect``
        is shown the mosaic. The objects may be given instead of asked for. The generator is seeded, and the
        highest scores are chosen unless ``pick=drawn``.
    """

    def __init__(self, rule: Known, wishes: scored.Wishes, *, names: Naming, least: float = LEAST) -> None:
        super().__init__(rule, wishes)
        self._known, self._names, self._least = rule, names, least
        self.objects_from = names.source if names.asks else ""

    def overview(self, clip: Clip) -> _rules.Positions:
        """Eight uniform frames for the model that names the objects; none where no model does."""
        if not self._names.asks or not clip.n_frames:
            return np.empty(0, np.int64)
        return _rules.midpoints(clip.n_frames, N_OVERVIEW)

    def name_objects(self, item: Item, images: Sequence[ImagePart], *, words: Words) -> Flow[Objects]:
        """Targets and cues of a question; a model is asked by the template ``tstar-objects``.

        Raises:
            DataError: the item has no such tags, or the model did not keep to the form.
        """
        return self._names.flow(item, images, words=words)

    def seek(self, clip: Clip, item: Item, *, objects: Objects, n_frames: int) -> Seeking:
        """Look at mosaics until every target was found or the budget of looks is spent.

        Args:
            clip: the frames.
            item: the question.
            objects: what to look for.
            n_frames: how many frames are chosen, at most.

        Raises:
            DataError: a confidence outside [0, 1].
        """
        candidates, rng = self.candidates(clip), self._known.rng(item)
        if not len(candidates):
            return Sought(positions=candidates, note="")
        searching = search(len(candidates), objects, settings=self._known.settings, rng=rng)
        labels = objects.labels
        try:
            wanted = next(searching)
            while True:
                table = yield self._glimpse(wanted, candidates, labels)
                check_confidences(table, item)
                kept = np.where(table >= self._least, table, 0.0)
                wanted = searching.send([dict(zip(labels, row, strict=True)) for row in kept.tolist()])
        except StopIteration as done:
            found: Found = done.value
        picked = self._known.picked(found, n_frames, rng)
        return Sought(positions=candidates[picked], note=_told(objects, found))

    def _glimpse(self, wanted: Look, candidates: _rules.Positions, labels: tuple[str, ...]) -> Glimpse:
        return Glimpse(
            positions=candidates[list(wanted.frames)],
            texts=labels,
            width_px=ALONE_WIDTH_PX if wanted.is_alone else CELL_WIDTH_PX,
            height_px=ALONE_HEIGHT_PX if wanted.is_alone else CELL_HEIGHT_PX,
            side=1 if wanted.is_alone else self._known.settings.side,
        )


def _told(objects: Objects, found: Found) -> str:
    """What was looked for, in one line."""
    near = f" near {', '.join(objects.cues)}" if objects.cues else ""
    missing = f"; not found: {', '.join(found.missing)}" if found.missing else ""
    return (
        f"looked for {', '.join(objects.targets)}{near} in {int(found.is_visited.sum())} of "
        f"{len(found.scores)} frames{missing}"
    )


def create(argument: str, options: Mapping[str, str]) -> Tstar:
    """The selector; the argument is an embedder whose scores are from 0 to 1, such as ``blip-itm:WEIGHTS``.

    Raises:
        UsageError: an unknown option, a bad value, not exactly one source of scores, or names of objects
            where nothing is looked for.
        DataError: a file of scores that cannot be used.
    """
    wishes = scored.read_wishes("tstar", argument, options, defaults=_DEFAULTS, own=_OWN)
    own = wishes.own
    settings = msgspec.convert({key: own[key] for key in _SEARCH if key in own}, SearchSettings)
    rule = Known(settings, seed=int(str(own.get("seed", 0))), draws=own.get("pick", "best") == "drawn")
    names = naming(own, query=wishes.score_rules.query, has_file=bool(wishes.score_rules.file))
    return Tstar(rule, wishes, names=names, least=float(str(own.get("least", LEAST))))
