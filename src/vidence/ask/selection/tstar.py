"""T*: a search for the frames that show what the question is about: ``tstar:blip-itm:W?objects=model``."""

import hashlib
from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta

from vidence.ask.selection import ranking
from vidence.ask.selection.scored import ByScores, Scores, query_text
from vidence.ask.selection.search import Objects, Search, SearchResult, SearchView, names_model, other_models
from vidence.ask.selection.tstar_search import (
    ALONE_HEIGHT_PX,
    ALONE_WIDTH_PX,
    CELL_HEIGHT_PX,
    CELL_WIDTH_PX,
    Detections,
    SearchSettings,
    SearchState,
    SearchStep,
    run_search,
    search,
)
from vidence.ask.selection.uniform import Positions, midpoints
from vidence.contracts import Ask, Flow, Words
from vidence.errors import DataError, UsageError
from vidence.media.clip import Clip
from vidence.records import ImagePart, Item, Prompt, Sampling, TextPart

QUESTION, TAGS = "question", "tags"
TARGETS, CUES = "targets", "cues"
NOTHING = "none"
# The released code shows the model as many uniform frames.
N_OVERVIEW = 8
TEMPLATE = "tstar-objects"
# Scores of a file are of one thing: whatever they were computed for.
TARGET = Objects(targets=("the target",))


class Settings(SearchSettings):
    """Options of the selector; the embedder's scores must be from 0 to 1, such as those of ``blip-itm``."""

    seed: Annotated[int, Meta(ge=0, description="of the generator that draws frames to look at")] = 0
    pick: Annotated[
        Literal["best", "drawn"],
        Meta(description="best: the frames with the highest scores; drawn: in proportion to their scores"),
    ] = "best"
    least: Annotated[
        float, Meta(ge=0, le=1, description="below this confidence of an embedder nothing is seen")
    ] = 0.1
    objects: Annotated[
        str, Meta(description="source of the targets: question, tags, model or model:SPEC")
    ] = QUESTION
    targets: Annotated[tuple[str, ...], Meta(description="the objects to look for, a|b|c")] = ()
    cues: Annotated[tuple[str, ...], Meta(description="objects that targets are near, a|b|c")] = ()

    def __post_init__(self) -> None:
        owner = "the selector tstar"
        if self.objects not in (QUESTION, TAGS) and not names_model(self.objects):
            raise UsageError(
                f"{owner}: objects={self.objects!r}; expected question, tags, model (the model under test) "
                "or model:SPEC"
            )
        named = {"objects": self.objects != QUESTION, TARGETS: bool(self.targets), CUES: bool(self.cues)}
        if self.scores and any(named.values()):
            given = ", ".join(name for name, is_given in named.items() if is_given)
            raise UsageError(
                f"{owner}: {given} with a file of scores, which says what was found; remove one of them"
            )
        if self.cues and not self.targets:
            raise UsageError(f"{owner}: cues without targets; a search ends when its targets are found")
        if self.targets and self.objects != QUESTION:
            raise UsageError(f"{owner}: targets and objects={self.objects}; give one of them")


class Tstar(ByScores):
    """T*: objects are named, then searched for on mosaics of frames, first evenly, then where likely.

    An embedder stands for the detector: what it says of a frame and the name of an object is the confidence
    that the object is there; below `least` nothing is seen. With scores (of a file, or handed in) the search
    sees the score of a frame only when it looks at it, spends no more looks than the paper's, and spreads
    what it saw.

    Source: T*, released code (search with an object detector, cells of 200 x 95, frames alone of 600 x 285).
    Departs: an embedder has no boxes, so that it is shown each cell on its own; one with a method ``detect``
        is shown the mosaic. The objects may be given instead of asked for. The generator is seeded, and the
        highest scores are chosen unless ``pick=drawn``. With known scores the search saves no work, one
        confidence stands for targets and cues, and a frame alone has the score that it has in a mosaic.
    """

    version = 2

    def __init__(self, settings: Settings) -> None:
        super().__init__("tstar", settings)
        self._settings = settings
        self.objects_from = settings.objects if names_model(settings.objects) else ""
        self.models = other_models(self.score_rules.embedder, self.objects_from)

    def rng(self, item: Item) -> np.random.Generator:
        """Return a question's generator; one seed for all would sample the same places everywhere."""
        digest = hashlib.sha256(item.item_id.encode()).digest()
        return np.random.default_rng([self._settings.seed, int.from_bytes(digest[:8], "big")])

    def picked(self, state: SearchState, n_frames: int, rng: np.random.Generator) -> Positions:
        """The best frames, or frames sampled in proportion to their scores, in the order sampled.

        Where nothing was seen, or the same everywhere, the middles of equal segments.
        """
        if state.scores.min() == state.scores.max():
            return ranking.evenly(len(state.scores), n_frames)
        return state.sampled(n_frames, rng) if self._settings.pick == "drawn" else state.best(n_frames)

    def ranked(self, scores: Scores, n_frames: int, *, item: Item) -> Positions:
        """Return positions, best first or in sampled order; deterministic per question.

        Raises:
            DataError: a score outside [0, 1].
        """
        check_confidences(scores, item)
        (label,) = TARGET.targets

        def detect(wanted: SearchStep) -> Detections:
            return [{label: float(scores[frame])} for frame in wanted.frames]

        rng = self.rng(item)
        state = run_search(search(len(scores), TARGET, settings=self._settings, rng=rng), detect)
        return self.picked(state, n_frames, rng)

    def overview(self, clip: Clip) -> Positions:
        """Return eight uniform frames for the model that names the objects; none without a model."""
        if not self.objects_from or not clip.n_frames:
            return np.empty(0, np.int64)
        return midpoints(clip.n_frames, N_OVERVIEW)

    def name_objects(self, item: Item, images: Sequence[ImagePart], *, words: Words) -> Flow[Objects]:
        """Return a question's targets and cues, from the options, the item, a model, or the question.

        Args:
            item: the question.
            images: what a model sees of the video.
            words: what it is asked in, by the template ``tstar-objects``.

        Raises:
            DataError: the item has no such tags, or the model did not keep to the form.
        """
        settings = self._settings
        if settings.targets:
            return Objects(targets=settings.targets, cues=settings.cues)
        if settings.objects == TAGS:
            return _of_tags(item)
        question = query_text(item, settings.query)
        if settings.objects == QUESTION:
            return Objects(targets=(question,))
        text = words.say(TEMPLATE, {"n_frames": len(images), "question": question})
        prompt = Prompt(parts=(*images, TextPart(text=text)), template=words.label(TEMPLATE))
        (reply,) = yield [Ask(prompt=prompt, sampling=Sampling(temperature=0.0, max_tokens=512))]
        return read_objects(reply.text, item_id=item.item_id)

    def search(self, clip: Clip, item: Item, *, objects: Objects, n_frames: int) -> Search:
        """Look at mosaics until every target was found or the budget of looks is spent.

        Args:
            clip: the frames.
            item: the question.
            objects: what to look for.
            n_frames: how many frames are chosen, at most.

        Raises:
            DataError: a confidence outside [0, 1].
        """
        candidates, rng = self.candidates(clip), self.rng(item)
        if not len(candidates):
            return SearchResult(positions=candidates, note="")
        searching = search(len(candidates), objects, settings=self._settings, rng=rng)
        labels = objects.labels
        try:
            wanted = next(searching)
            while True:
                table = yield self._view(wanted, candidates, labels)
                check_confidences(table, item)
                kept = np.where(table >= self._settings.least, table, 0.0)
                wanted = searching.send([dict(zip(labels, row, strict=True)) for row in kept.tolist()])
        except StopIteration as done:
            state: SearchState = done.value
        picked = self.picked(state, n_frames, rng)
        return SearchResult(positions=candidates[picked], note=_told(objects, state))

    def _view(self, wanted: SearchStep, candidates: Positions, labels: tuple[str, ...]) -> SearchView:
        return SearchView(
            positions=candidates[list(wanted.frames)],
            texts=labels,
            width_px=ALONE_WIDTH_PX if wanted.is_alone else CELL_WIDTH_PX,
            height_px=ALONE_HEIGHT_PX if wanted.is_alone else CELL_HEIGHT_PX,
            side=1 if wanted.is_alone else self._settings.side,
        )


def check_confidences(scores: Scores, item: Item) -> None:
    """Reject values that are not confidences.

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


def _told(objects: Objects, state: SearchState) -> str:
    """Describe in one line what was searched for."""
    near = f" near {', '.join(objects.cues)}" if objects.cues else ""
    missing = f"; not found: {', '.join(state.missing)}" if state.missing else ""
    return (
        f"looked for {', '.join(objects.targets)}{near} in {int(state.is_visited.sum())} of "
        f"{len(state.scores)} frames{missing}"
    )


def _listed(text: str) -> tuple[str, ...]:
    """Return the distinct names between commas."""
    return tuple(dict.fromkeys(name for part in text.split(",") if (name := part.strip())))


def _of_tags(item: Item) -> Objects:
    result = Objects(targets=_listed(item.tags.get(TARGETS, "")), cues=_listed(item.tags.get(CUES, "")))
    if not result.targets:
        raise DataError(
            f"item {item.item_id!r} has no tag 'targets' with names in it; expected, for example, "
            '"targets": "red cup, table". Add it, or let a model name them: objects=model'
        )
    return result


def read_objects(text: str, *, item_id: str) -> Objects:
    r"""Parse the objects in a reply: two lines, ``Targets: a, b`` and ``Cues: c`` (or ``Cues: none``).

    Source: T*, released code (two lines, anything else is an error).
    Departs: the lines begin with a word that says which is which.

    Raises:
        DataError: any other form, or no target.

    >>> read_objects("Targets: red cup, a man\nCues: none", item_id="q").targets
    ('red cup', 'a man')
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    parted = [line.partition(":") for line in lines]
    heads = [head.strip().lower() for head, _, _ in parted]
    names = [_listed(rest) for _, _, rest in parted]
    if heads != [TARGETS, CUES] or not all(names) or [n.lower() for n in names[0]] == [NOTHING]:
        raise DataError(
            f"item {item_id!r}: the model named no objects for T*: {text[:200]!r}; expected two lines, "
            "'Targets: a, b' and 'Cues: c, d'. Use another model, or name them with targets=a|b"
        )
    cues = () if [n.lower() for n in names[1]] == [NOTHING] else names[1]
    return Objects(targets=names[0], cues=cues)


def create(settings: Settings) -> Tstar:
    """Create the selector.

    Raises:
        UsageError: an unknown grid, or not exactly one source of scores.
        DataError: a file of scores that cannot be used.
    """
    return Tstar(settings)
