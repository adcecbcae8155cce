"""Selectors that ask a model or search: the requests they yield to the engine."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from vidence.contracts import Flow, ScoringSelector, Words
from vidence.media.clip import Clip
from vidence.records import ImagePart, Item, Record

# Where a model gives scores or names objects: the model under test, or behind a colon the spec of another.
MODEL = "model"
FIRST_OF_SPEC = MODEL + ":"


def names_model(text: str) -> bool:
    """Whether a text denotes a model: the one under test (``model``) or another (``model:SPEC``).

    >>> names_model("model"), names_model("model:openai:x"), names_model("clip:/weights")
    (True, True, False)
    """
    return text == MODEL or (text.startswith(FIRST_OF_SPEC) and text != FIRST_OF_SPEC)


def spec_of_model(text: str) -> str:
    """Return the spec of another model; empty for the model under test or no model.

    >>> spec_of_model("model:openai:x")
    'openai:x'
    """
    return text.removeprefix(FIRST_OF_SPEC) if names_model(text) and text != MODEL else ""


def other_models(*texts: str) -> tuple[str, ...]:
    """Return the distinct specs of other models in these texts: a selector's `models`."""
    return tuple(dict.fromkeys(filter(None, map(spec_of_model, texts))))


class Objects(Record):
    """Objects to search for: the targets of the question, and cues that are found near them."""

    targets: tuple[str, ...]
    cues: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """Return all distinct labels, targets first."""
        return tuple(dict.fromkeys((*self.targets, *self.cues)))


@dataclass(frozen=True, kw_only=True)
class SearchView:
    """Frames that a search needs matched with texts before it continues.

    `positions` are in the clip, shape (n,). Every frame is scaled to exactly `width_px` x `height_px`;
    a detector sees `side` x `side` of them as one picture.
    """

    positions: NDArray[np.int64]
    texts: tuple[str, ...]
    width_px: int
    height_px: int
    side: int


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """A search's result: distinct positions in the clip, best first; `note` describes what was found."""

    positions: NDArray[np.int64]
    note: str


# Yields what it wants seen and is sent confidences from 0 to 1, shape (n_positions, n_texts).
Search: TypeAlias = Generator[SearchView, NDArray[np.float64], SearchResult]


@runtime_checkable
class AskingSelector(ScoringSelector, Protocol):
    """A selector that gets its scores from a model, named by the ``embedder`` of its `score_rules`."""

    def ask(self, item: Item, images: Sequence[ImagePart], *, words: Words) -> Flow[NDArray[np.float64]]:
        """Return a score per candidate, shape (n_candidates,); `images` are the candidates in order."""


@runtime_checkable
class SearchingSelector(ScoringSelector, Protocol):
    """A selector that looks at some candidates in turn, where it expects the evidence.

    `objects_from` says who names what is looked for; where that is a model (see `names_model`), it is
    asked with the frames of `overview`.
    """

    objects_from: str

    def overview(self, clip: Clip) -> NDArray[np.int64]:
        """Return the frames that a model sees before naming objects; empty if no model is asked."""

    def name_objects(self, item: Item, images: Sequence[ImagePart], *, words: Words) -> Flow[Objects]:
        """Return what to look for."""

    def search(self, clip: Clip, item: Item, *, objects: Objects, n_frames: int) -> Search:
        """Search until enough was seen."""
