"""What the selectors that go by scores share: their options, their candidates, and checks of the scores."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from vidence import option_readers
from vidence.ask.selection import _rules, ranking
from vidence.ask.selection._grids import Grid, grid
from vidence.ask.selection._score_files import Scored, ScoreTable, checked_scores, read_scores
from vidence.catalog import take_options
from vidence.contracts import ScoreRules
from vidence.errors import UsageError
from vidence.media.clip import Clip
from vidence.records import Item

# Options that begin so are handed to the embedder.
FOR_EMBEDDER = "embedder."
QUERIES = ("question", "question+choices")


class Rule(Protocol):
    """What one selector makes of scores. Positions count among the candidates.

    `repeats` says that a position may come twice in what is shown. `takes_constant` says that the rule
    itself deals with scores that are all the same; otherwise it is never given any.
    """

    version: int
    repeats: bool
    takes_constant: bool

    def ranked(self, scores: NDArray[np.float64], n_frames: int, *, item: Item) -> _rules.Positions:
        """Best first, each once, at most `n_frames`; `scores` has shape (n_candidates,), one or more."""
        ...

    def shown(self, scores: NDArray[np.float64], n_frames: int, *, item: Item) -> _rules.Positions:
        """In the order of time, as they are shown."""
        ...


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """The options of a selector that goes by scores: those that all have, and its own in `own`."""

    name: str
    grid: Grid
    score_rules: ScoreRules
    table: ScoreTable | None
    own: Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class Defaults:
    """What a selector's paper does where the user says nothing.

    `max_tokens` is by name of embedder; 0, where the embedder cuts the text, for others.
    """

    grid: str
    query: str = "question"
    max_tokens: Mapping[str, int]


def query_text(item: Item, query: str) -> str:
    r"""The words that frames are matched with.

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


def read_wishes(
    name: str,
    argument: str,
    options: Mapping[str, str],
    *,
    defaults: Defaults,
    own: Mapping[str, Callable[[str], object]],
) -> Wishes:
    """What a user wrote after the name of a selector that goes by scores.

    Args:
        name: the selector.
        argument: what gives the scores, such as ``blip-itm:/weights``; empty where a file does.
        options: ``scores`` (a file), ``grid``, ``query``, ``max_tokens``, those in `own`, and any that
            begin with ``embedder.``, which are passed on.
        defaults: the paper's settings.
        own: readers for the options that this selector alone has.

    Raises:
        UsageError: an unknown option, a bad value, or not exactly one source of scores.
        DataError: a file of scores that cannot be used.
    """
    passed = {k.removeprefix(FOR_EMBEDDER): v for k, v in options.items() if k.startswith(FOR_EMBEDDER)}
    known: dict[str, Callable[[str], object]] = {
        "scores": str,
        "grid": grid,
        "query": option_readers.one_of(*QUERIES),
        "max_tokens": option_readers.whole_from_zero,
        **own,
    }
    rest = {k: v for k, v in options.items() if not k.startswith(FOR_EMBEDDER)}
    values = take_options(f"the selector {name}", rest, known)
    file = str(values.pop("scores", ""))
    if bool(argument) == bool(file):
        given = f"both {argument!r} and the file {file!r}" if file else "neither"
        raise UsageError(
            f"the selector {name} goes by scores and was given {given}; expected what computes them, as in "
            f"{name}:blip-itm:WEIGHTS, or a file of them, as in {name}?scores=FILE"
        )
    if file and passed:
        raise UsageError(
            f"{name}: options for an embedder ({', '.join(passed)}), and the scores are from a file"
        )
    embedder = argument + ("?" if passed else "")
    embedder += "&".join(f"{k}={quote(v, safe='/:,')}" for k, v in passed.items())
    found = values.pop("grid", None)
    cut = defaults.max_tokens.get(argument.partition(":")[0], 0)
    rules = {
        "query": values.pop("query", defaults.query),
        "max_tokens": values.pop("max_tokens", cut),
    }
    return Wishes(
        name=name,
        grid=found if isinstance(found, Grid) else grid(defaults.grid),
        score_rules=ScoreRules(
            embedder=embedder, query=str(rules["query"]), max_tokens=int(str(rules["max_tokens"])), file=file
        ),
        table=read_scores(Path(file)) if file else None,
        own=values,
    )


class ByScores:
    """A selector that goes by scores: candidates, their scores, and a rule.

    The scores are handed in, or are in the file of `score_rules`; then `select` and `rank` are called
    without. There are never more frames than candidates: a larger budget gives all of them. Scores that
    are all the same say nothing, and the candidates are taken as the middles of equal segments (not in
    the rules that follow released code, which do what that code does).

    Source: see the rule.
    Departs: see the rule.
    """

    budget = "at most"

    def __init__(self, rule: Rule, wishes: Wishes) -> None:
        self.version = rule.version
        self.repeats = rule.repeats
        self.score_rules = wishes.score_rules
        self.scores_digest = wishes.table.digest if wishes.table else ""
        self._rule, self._grid, self._table, self._name = rule, wishes.grid, wishes.table, wishes.name

    def candidates(self, clip: Clip) -> _rules.Positions:
        """Positions in `clip` that want a score, ascending, shape (n_candidates,).

        They repeat only where a rule that follows released code keeps what its own grid repeats.

        Raises:
            UsageError: the rule for candidates cannot take this frame rate.
        """
        found = self._grid.positions(clip)
        return found if self.repeats else np.unique(found)

    def rank(
        self, clip: Clip, item: Item, *, n_frames: int, scores: NDArray[np.float64] | None = None
    ) -> _rules.Positions:
        """Positions in `clip`, best first, each once: at most `n_frames`.

        Args:
            clip: the frames.
            item: the question.
            n_frames: the budget.
            scores: one for each candidate, shape (n_candidates,); None where they are in a file.

        Raises:
            UsageError: `n_frames` is not positive, or no scores.
            DataError: scores that are not numbers, or not as many as there are candidates.
        """
        scored = self._scored(clip, item, n_frames=n_frames, scores=scores)
        if not len(scored.frames):
            return scored.frames
        if self._says_nothing(scored):
            return scored.frames[ranking.evenly(len(scored.frames), n_frames)]
        best = scored.frames[self._rule.ranked(scored.scores, n_frames, item=item)]
        # A grid of released code may hold a frame twice.
        return best[np.sort(np.unique(best, return_index=True)[1])]

    def select(
        self, clip: Clip, item: Item, *, n_frames: int, scores: NDArray[np.float64] | None = None
    ) -> _rules.Positions:
        """Positions in `clip`, in the order of time; arguments and errors as for `rank`."""
        scored = self._scored(clip, item, n_frames=n_frames, scores=scores)
        if not len(scored.frames):
            return scored.frames
        if self._says_nothing(scored):
            return scored.frames[_rules.midpoints(len(scored.frames), n_frames)]
        return scored.frames[self._rule.shown(scored.scores, n_frames, item=item)]

    def _says_nothing(self, scored: Scored) -> bool:
        constant = bool(scored.scores.min() == scored.scores.max())
        return constant and not self._rule.takes_constant

    def _scored(self, clip: Clip, item: Item, *, n_frames: int, scores: NDArray[np.float64] | None) -> Scored:
        _rules.check_budget(n_frames)
        if not clip.n_frames:
            return Scored(frames=np.empty(0, np.int64), scores=np.empty(0))
        if scores is None and self._table is not None:
            return self._table.of(clip, item, self.candidates)
        if scores is None:
            raise UsageError(
                f"the selector {self._name} goes by scores and was handed none for item {item.item_id!r}; "
                f"compute them with {self.score_rules.embedder!r}, or name a file of them: "
                f"{self._name}?scores=FILE"
            )
        candidates = self.candidates(clip)
        where = f"{self._name}, item {item.item_id!r}"
        return Scored(
            frames=candidates, scores=checked_scores(scores, where=where, n_expected=len(candidates))
        )
