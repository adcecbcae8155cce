"""Selectors that ask a model or search: what they yield to the engine that runs them."""

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
    """Whether a model is meant: the one under test (``model``) or another (``model:SPEC``).

    >>> names_model("model"), names_model("model:openai:x"), names_model("clip:/weights")
    (True, True, False)
    """
    return text == MODEL or (text.startswith(FIRST_OF_SPEC) and text != FIRST_OF_SPEC)


def spec_of_model(text: str) -> str:
    """The spec of the other model that is meant; empty for the model under test, and where none is meant.

    >>> spec_of_model("model:openai:x")
    'openai:x'
    """
    return text.removeprefix(FIRST_OF_SPEC) if names_model(text) and text != MODEL else ""


def other_models(*texts: str) -> tuple[str, ...]:
    """The specs of the other models that are meant by these texts, each once; the `models` of a selector."""
    return tuple(dict.fromkeys(filter(None, map(spec_of_model, texts))))


class Objects(Record):
    """What is searched for: the objects that the question is about, and those that they are found near."""

    targets: tuple[str, ...]
    cues: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """All of them, each once, the targets first."""
        return tuple(dict.fromkeys((*self.targets, *self.cues)))


@dataclass(frozen=True, kw_only=True)
class SearchView:
    """Frames that a search wants to be matched with texts before it goes on.

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
    """What a search ends with: positions in the clip, best first, each once; `note` says what was found."""

    positions: NDArray[np.int64]
    note: str


# Yields what it wants seen and is sent confidences from 0 to 1, shape (n_positions, n_texts).
Search: TypeAlias = Generator[SearchView, NDArray[np.float64], SearchResult]


@runtime_checkable
class AskingSelector(ScoringSelector, Protocol):
    """A selector whose scores a model gives: the ``embedder`` of its `score_rules` names one."""

    def ask(self, item: Item, images: Sequence[ImagePart], *, words: Words) -> Flow[NDArray[np.float64]]:
        """A score for each candidate, shape (n_candidates,); `images` are the candidates in their order."""


@runtime_checkable
class SearchingSelector(ScoringSelector, Protocol):
    """A selector that looks at some of its candidates, one after the other, where it guesses the evidence.

    `objects_from` says who names what is looked for; where that is a model (see `names_model`), it is
    asked with the frames of `overview`.
    """

    objects_from: str

    def overview(self, clip: Clip) -> NDArray[np.int64]:
        """Positions of the frames that a model sees before it names objects; none where none is asked."""

    def name_objects(self, item: Item, images: Sequence[ImagePart], *, words: Words) -> Flow[Objects]:
        """What to look for."""

    def search(self, clip: Clip, item: Item, *, objects: Objects, n_frames: int) -> Search:
        """Look until enough was seen."""
