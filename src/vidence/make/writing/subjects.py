"""Subjects with textbooks and authors, and the concepts of questions."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from vidence.ask.files import FieldError, decoded, objects, read
from vidence.engine.config_file import read_config
from vidence.errors import DataError, UsageError
from vidence.make.pipeline.material import Dropped
from vidence.records import Record

CONCEPTS = "concepts"


class Subject(Record, omit_defaults=True):
    """A subject: its discipline, its textbooks with editions, and its permitted authors."""

    subject: str
    discipline: str = ""
    textbooks: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()


class SubjectFile(Record):
    """A file of subjects: a table ``[[subjects]]`` for each."""

    subjects: tuple[Subject, ...]


class Concept(Record, omit_defaults=True):
    """A question's concept: its place in a textbook, and why it needs moving pictures.

    Of a ``dropped`` one the `reason` is said; ``filmed`` has a video, ``open`` waits for one.
    """

    concept_id: str
    subject: str
    textbook: str = ""
    chapter: str = ""
    title: str = ""
    why_moving: str = ""
    state: Literal["open", "filmed", "dropped"] = "open"
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Curriculum:
    """Subjects by name; concepts in order, with the usable ones; why others are not."""

    subjects: Mapping[str, Subject]
    concepts: tuple[Concept, ...]
    dropped: tuple[Dropped, ...] = ()

    @property
    def usable(self) -> dict[str, Concept]:
        """Return the concepts that questions may be about, by id."""
        gone = {dropped.what for dropped in self.dropped}
        return {concept.concept_id: concept for concept in self.concepts if concept.concept_id not in gone}


def read_subjects(path: Path) -> dict[str, Subject]:
    """Read the subjects of a TOML file, by name.

    Raises:
        UsageError: it is none, or has a subject twice.
    """
    subjects = read_config(path, SubjectFile).subjects
    if twice := [name for name, n in Counter(subject.subject for subject in subjects).items() if n > 1]:
        raise UsageError(f"{path}: the subject {twice[0]!r} is there twice; expected each once")
    return {subject.subject: subject for subject in subjects}


def read_concepts(path: Path, subjects: Mapping[str, Subject], *, needs_textbook: bool = True) -> Curriculum:
    """Read the concepts of a JSON lines file, with reasons for unusable ones.

    Reasons: ``unreadable``, ``repeated-id``, ``unknown-subject``, ``textbook-not-listed``, ``no-chapter``,
    ``no-why-moving``, ``dropped-without-reason``, ``dropped-by-people``. Without `needs_textbook` textbook,
    chapter and why pictures must move need not be said.

    Raises:
        DataError: the file cannot be read.
    """
    decoder = msgspec.json.Decoder(Concept)
    concepts: list[Concept] = []
    dropped: list[Dropped] = []
    known: set[str] = set()
    for place, raw in objects(read(path, what="concepts")):
        try:
            concept = decoded(raw, decoder)
        except FieldError as error:
            concept = Concept(concept_id=f"line {place}", subject="")
            dropped.append(_dropped(concept, "unreadable", f"{path.name}:{place}: {error}"))
        else:
            if concept.concept_id in known:
                concept = msgspec.structs.replace(concept, concept_id=f"{concept.concept_id} (line {place})")
                dropped.append(_dropped(concept, "repeated-id", "an earlier concept has this id"))
            elif fault := _fault(concept, subjects, needs_textbook=needs_textbook):
                dropped.append(_dropped(concept, *fault))
        known.add(concept.concept_id)
        concepts.append(concept)
    return Curriculum(subjects=subjects, concepts=tuple(concepts), dropped=tuple(dropped))


def _fault(
    concept: Concept, subjects: Mapping[str, Subject], *, needs_textbook: bool
) -> tuple[str, str] | None:
    subject = subjects.get(concept.subject)
    if subject is None:
        return "unknown-subject", f"{concept.subject!r}; known: {', '.join(subjects) or 'none'}"
    if concept.state == "dropped":
        return (
            ("dropped-by-people", concept.reason) if concept.reason else ("dropped-without-reason", "say why")
        )
    if not needs_textbook:
        return None
    if concept.textbook not in subject.textbooks:
        listed = "; ".join(subject.textbooks) or "none"
        return (
            "textbook-not-listed",
            f"{concept.textbook!r} is no textbook of {concept.subject}; listed: {listed}",
        )
    if not concept.chapter.strip():
        return "no-chapter", "name the chapter of the textbook"
    if not concept.why_moving.strip():
        return "no-why-moving", "say why a still picture would not do"
    return None


def _dropped(concept: Concept, reason: str, detail: str) -> Dropped:
    return Dropped(what=concept.concept_id, stage=CONCEPTS, reason=reason, detail=detail)


def check_readable(paths: Sequence[Path]) -> None:
    """Check that files exist.

    Raises:
        DataError: one is not.
    """
    for path in paths:
        if not path.is_file():
            raise DataError(f"{path} is not there; write it, or name another one in the configuration")
