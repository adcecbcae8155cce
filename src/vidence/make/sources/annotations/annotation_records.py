"""What an annotation format yields: records of pictures and clips, label spaces, unusable lines."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Final, Protocol

import msgspec

from vidence.make.pipeline.material import Dropped
from vidence.records import Media, Record, by_key
from vidence.text import normal_form

STAGE: Final = "records"
PERSON: Final = "person"


class Label(Record, omit_defaults=True):
    """One name in a label space; `parent` is the label or group above it.

    `near` are other labels that a viewer takes for it: true with it.
    """

    name: str
    parent: str = ""
    synonyms: tuple[str, ...] = ()
    near: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LabelSpace:
    """The labels that one kind of annotation chooses from."""

    name: str
    labels: tuple[Label, ...]

    @cached_property
    def _by_form(self) -> Mapping[str, Label]:
        names = [(label.name, label) for label in self.labels]
        names += [(synonym, label) for label in self.labels for synonym in label.synonyms]
        return {normal_form(name): label for name, label in reversed(names)}

    @cached_property
    def _below(self) -> Mapping[str, Sequence[str]]:
        return by_key((label.parent, label.name) for label in self.labels)

    def find(self, text: str) -> Label | None:
        """The label with this name or synonym."""
        return self._by_form.get(normal_form(text))

    def kin(self, name: str) -> frozenset[str]:
        """A label with its ancestors, descendants and near labels: all that is true with it.

        >>> labels = (Label(name="animal"), Label(name="dog", parent="animal"), Label(name="cat"))
        >>> sorted(LabelSpace(name="x", labels=labels).kin("dog"))
        ['animal', 'dog']
        """
        names = {name}
        above = label = self.find(name)
        while above is not None and above.parent and above.parent not in names:
            names.add(above.parent)
            above = self.find(above.parent)
        open_ = [name]
        while open_:
            below = [word for word in self._below.get(open_.pop(), ()) if word not in names]
            names.update(below)
            open_ += below
        return frozenset(names) | frozenset(() if label is None else label.near)

    def siblings(self, name: str) -> tuple[str, ...]:
        """The other labels with the same parent; none if it has none."""
        label = self.find(name)
        if label is None or not label.parent:
            return ()
        return tuple(word for word in self._below.get(label.parent, ()) if word != label.name)

    @property
    def is_numeric(self) -> bool:
        """Whether all labels are whole numbers."""
        return all(label.name.isdecimal() for label in self.labels)


class Box(Record, omit_defaults=True):
    """A box in a picture: left, top, right, bottom in pixels.

    `phrase` is what the thing is called so that it is not taken for another one; `is_target` says that the
    label is about it.
    """

    label: str
    box_px: tuple[float, float, float, float]
    phrase: str = ""
    is_target: bool = False

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, self.box_px)) or not (
            self.box_px[0] < self.box_px[2] and self.box_px[1] < self.box_px[3]
        ):
            raise ValueError(f"box_px {list(self.box_px)}; expected left < right and top < bottom in pixels")


class AnnotationRecord(Record, omit_defaults=True):
    """One annotated picture, several, or a clip: one line of the format ``vidence-annotation/1``.

    `label` is what the question asks for, out of the label space `space`; `also_true` is what holds beside
    it, so that it is no wrong choice. `fields` are words that templates can use. `n_people` is how many
    people are shown; None if that is not known. `question` and `wrong` are there where a person wrote
    them. `truth` says what the label rests on.
    """

    record_id: str
    media: tuple[Media, ...] = ()
    caption: str = ""
    label: str = ""
    space: str = ""
    also_true: tuple[str, ...] = ()
    boxes: tuple[Box, ...] = ()
    n_people: int | None = None
    fields: dict[str, str] = msgspec.field(default_factory=dict)
    question: str = ""
    wrong: tuple[str, ...] = ()
    source: str = ""
    source_split: str = ""
    source_id: str = ""
    licence: str = ""
    truth: str = ""

    @property
    def people(self) -> int | None:
        """Return the number of people: as stated, else by boxes, if any."""
        if self.n_people is not None or not self.boxes:
            return self.n_people
        return sum(box.label == PERSON for box in self.boxes)


@dataclass(frozen=True, kw_only=True)
class Annotations:
    """The records of a file, their label spaces, unusable lines, and remarks."""

    records: tuple[AnnotationRecord, ...]
    spaces: Mapping[str, LabelSpace] = field(default_factory=lambda: MappingProxyType({}))
    dropped: tuple[Dropped, ...] = ()
    notes: tuple[str, ...] = ()


class AnnotationReader(Protocol):
    """A reader of one annotation format; one file in ``make/sources/annotations/``."""

    def read(self, path: Path) -> Annotations:
        """Read the records at a path; files named by options are searched next to it.

        Raises:
            DataError: there is nothing at `path` that can be used.
        """


def unusable(what: str, reason: str, detail: str) -> Dropped:
    """An account entry for a line without a usable record."""
    return Dropped(what=what, stage=STAGE, reason=reason, detail=detail)
