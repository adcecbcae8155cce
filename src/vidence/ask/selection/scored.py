"""Shared by score-based selectors: options, candidates, and checks of scores."""

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal, TypeAlias
from urllib.parse import quote

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.ask.selection import ranking
from vidence.ask.selection.candidates import grid
from vidence.ask.selection.score_files import CandidateScores, checked_scores, read_scores
from vidence.ask.selection.search import other_models
from vidence.ask.selection.uniform import Positions, check_budget, midpoints
from vidence.catalog import FilePath
from vidence.contracts import ScoreRules, ScoringSelector
from vidence.errors import UsageError
from vidence.media.clip import Clip
from vidence.records import Item, Record

Scores: TypeAlias = NDArray[np.float64]
GridName = Annotated[
    str, Meta(description="frames to score: herbench-2fps, aks-1fps, bolt-1fps, fps:X, uniform:N or all")
]


class ScoredSettings(Record):
    """Options of all score-based selectors; each sets its paper's grid.

    `cuts` is where the paper cuts the text, in tokens, by name of embedder.
    """

    positional: ClassVar[str] = "embedder"
    cuts: ClassVar[Mapping[str, int]] = MappingProxyType({})

    grid: GridName
    embedder: Annotated[str, Meta(description="what computes the scores, such as blip-itm:WEIGHTS")] = ""
    scores: Annotated[
        FilePath, Meta(description="file of scores that were computed elsewhere (.jsonl, .json or .npz)")
    ] = ""
    query: Annotated[
        Literal["question", "question+choices"], Meta(description="text that frames are matched with")
    ] = "question"
    max_tokens: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Meta(description="tokens after which the text is cut; 0: as the embedder does; none: as the paper"),
    ] = None
    embedder_options: Annotated[
        dict[str, str],
        Meta(
            description="options of the embedder, each as embedder.NAME=VALUE", extra={"prefix": "embedder."}
        ),
    ] = msgspec.field(default_factory=dict)

    def score_rules(self, owner: str) -> ScoreRules:
        """Return what to score.

        Raises:
            UsageError: not exactly one source of scores; `owner` names the selector.
        """
        passed = self.embedder_options
        if bool(self.embedder) == bool(self.scores):
            given = f"both {self.embedder!r} and the file {self.scores!r}" if self.scores else "neither"
            raise UsageError(
                f"the selector {owner} needs frame scores and was given {given}; expected a model, "
                f"as in {owner}:blip-itm:WEIGHTS, or a file of them, as in {owner}?scores=FILE"
            )
        if self.scores and passed:
            raise UsageError(
                f"{owner}: options for an embedder ({', '.join(passed)}), and the scores are from a file"
            )
        embedder = self.embedder + ("?" if passed else "")
        embedder += "&".join(f"{k}={quote(v, safe='/:,')}" for k, v in passed.items())
        cut = self.max_tokens
        if cut is None:
            cut = self.cuts.get(self.embedder.partition(":")[0], 0)
        return ScoreRules(embedder=embedder, query=self.query, max_tokens=cut, file=self.scores)


def query_text(item: Item, query: str) -> str:
    r"""Return the text to match frames with.

    Args:
        item: the question.
        query: ``question``, or ``question+choices`` (each choice with its letter on a line of its own).

    Source: HERBench, AKS and BOLT match the question alone.
    Departs: no.

    >>> query_text(Item(item_id="q", question="Who?", answer="A", choices=("He", "She")), "question+choices")
    'Who?\nA. He\nB. She'
    """
    if query == "question":
        return item.question
    lettered = [f"{letter}. {choice}" for letter, choice in zip(item.letters, item.choices, strict=True)]
    return "\n".join([item.question, *lettered])


class ByScores(ScoringSelector):
    """A selector that ranks candidate frames by scores and chooses by a rule.

    Scores are passed in, or are in the file of `score_rules`; then call `select` and `rank` without. There
    are never more frames than candidates: a larger budget gives all of them. If all scores are equal, the
    middles of equal segments are chosen (except in rules that follow released code exactly:
    `takes_constant`).
    """

    version = 1
    budget = "at most"
    repeats = False
    takes_constant: ClassVar[bool] = False

    def __init__(self, name: str, settings: ScoredSettings) -> None:
        self.score_rules = settings.score_rules(name)
        self.models = other_models(self.score_rules.embedder)
        self._name, self._grid = name, grid(settings.grid)
        self._table = read_scores(Path(settings.scores)) if settings.scores else None
        self.scores_digest = self._table.digest if self._table else ""

    @abstractmethod
    def ranked(self, scores: Scores, n_frames: int, *, item: Item) -> Positions:
        """Apply the rule: return at most `n_frames` distinct candidate positions, best first.

        `scores` has shape (n_candidates,), one or more.
        """

    def shown(self, scores: Scores, n_frames: int, *, item: Item) -> Positions:
        """Return the positions in time order, as shown; a rule that `repeats` may show one twice."""
        return np.sort(self.ranked(scores, n_frames, item=item))

    def candidates(self, clip: Clip) -> Positions:
        """Return positions in `clip` that need a score, ascending, shape (n_candidates,).

        They repeat only where a rule that follows released code keeps what its own grid repeats.

        Raises:
            UsageError: the rule for candidates cannot take this frame rate.
        """
        values = self._grid.positions(clip)
        return values if self.repeats else np.unique(values)

    def rank(self, clip: Clip, item: Item, *, n_frames: int, scores: Scores | None = None) -> Positions:
        """Return at most `n_frames` distinct positions in `clip`, best first.

        Args:
            clip: the frames.
            item: the question.
            n_frames: the budget.
            scores: one for each candidate, shape (n_candidates,); None if they are in a file.

        Raises:
            UsageError: `n_frames` is not positive, or no scores.
            DataError: scores that are not numbers, or not as many as there are candidates.
        """
        scored = self._scored(clip, item, n_frames=n_frames, scores=scores)
        if not len(scored.frames):
            return scored.frames
        if self._says_nothing(scored):
            return scored.frames[ranking.evenly(len(scored.frames), n_frames)]
        best = scored.frames[self.ranked(scored.scores, n_frames, item=item)]
        # A grid of released code may hold a frame twice.
        return best[np.sort(np.unique(best, return_index=True)[1])]

    def select(self, clip: Clip, item: Item, *, n_frames: int, scores: Scores | None = None) -> Positions:
        """Return positions in `clip`, in time order; arguments and errors as for `rank`."""
        scored = self._scored(clip, item, n_frames=n_frames, scores=scores)
        if not len(scored.frames):
            return scored.frames
        if self._says_nothing(scored):
            return scored.frames[midpoints(len(scored.frames), n_frames)]
        return scored.frames[self.shown(scored.scores, n_frames, item=item)]

    def _says_nothing(self, scored: CandidateScores) -> bool:
        return bool(scored.scores.min() == scored.scores.max()) and not self.takes_constant

    def _scored(self, clip: Clip, item: Item, *, n_frames: int, scores: Scores | None) -> CandidateScores:
        check_budget(n_frames)
        if not clip.n_frames:
            return CandidateScores(frames=np.empty(0, np.int64), scores=np.empty(0))
        if scores is None and self._table is not None:
            return self._table.of(clip, item, self.candidates)
        if scores is None:
            raise UsageError(
                f"the selector {self._name} needs frame scores and was given none for item {item.item_id!r}; "
                f"compute them with {self.score_rules.embedder!r}, or name a file of them: "
                f"{self._name}?scores=FILE"
            )
        candidates = self.candidates(clip)
        where = f"{self._name}, item {item.item_id!r}"
        return CandidateScores(
            frames=candidates, scores=checked_scores(scores, where=where, n_expected=len(candidates))
        )
