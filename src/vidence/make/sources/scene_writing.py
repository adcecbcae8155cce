"""The interface of scene importers; scenes are written after every line is checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

import msgspec

from vidence.contracts import Flow
from vidence.errors import UsageError
from vidence.make.sources.scene import Complete, Entity, Fact, Header, Scene
from vidence.make.sources.scene_files import make_scene
from vidence.make.sources.vocabulary import Vocabulary, check_vocabulary
from vidence.media.whole import write_into

Told: TypeAlias = Entity | Fact | Complete


@dataclass(frozen=True, kw_only=True)
class SceneDraft:
    """One scene as a source tells it. Its `Header.vocabulary` is filled in where it is written."""

    header: Header
    lines: tuple[Told, ...]


@dataclass(frozen=True, kw_only=True)
class SceneSet:
    """Scenes of one source with the words that they use.

    `problems` are what was left out, each with its place; `notes` are what is odd and was kept.
    """

    vocabulary: Vocabulary
    scenes: tuple[SceneDraft, ...]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def scenes_of(scene_set: SceneSet, *, source: str) -> dict[str, Scene]:
    """The scenes by name, checked as those of a file are.

    Raises:
        DataError: a word that the vocabulary has not, a span past the end, too many entities; the message
            has `source` and the number of the line as it is written.
    """
    check_vocabulary(scene_set.vocabulary, source=source)
    words = scene_set.vocabulary.with_domains()
    scenes: dict[str, Scene] = {}
    first = 1
    for draft in scene_set.scenes:
        lines = [(first + number, line) for number, line in enumerate(draft.lines, start=1)]
        scenes[draft.header.scene] = make_scene(draft.header, lines, words=words, source=source, first=first)
        first += 1 + len(lines)
    return scenes


def write_scenes(scene_set: SceneSet, path: Path) -> dict[str, Scene]:
    """Write scenes as JSON lines and their vocabulary as TOML; return the scenes as read back.

    Raises:
        DataError: as for `scenes_of`; then nothing is written.
        UsageError: a vocabulary of that name is there, and no scenes.
        StoreError: a file cannot be written.
    """
    words = path.with_suffix(".toml")
    if words.exists() and not path.exists():
        raise UsageError(
            f"{words} is there without scenes, and would be replaced; give another name than {path}"
        )
    named = tuple(
        SceneDraft(header=msgspec.structs.replace(scene.header, vocabulary=words.name), lines=scene.lines)
        for scene in scene_set.scenes
    )
    scene_set = SceneSet(
        vocabulary=scene_set.vocabulary, scenes=named, problems=scene_set.problems, notes=scene_set.notes
    )
    scenes = scenes_of(scene_set, source=str(path))
    lines = [entry for draft in scene_set.scenes for entry in (draft.header, *draft.lines)]
    content = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
    write_into(path.parent, {words.name: vocabulary_toml(scene_set.vocabulary), path.name: content})
    return scenes


def vocabulary_toml(words: Vocabulary) -> str:
    """A vocabulary as TOML, without what it says by default.

    >>> from vidence.make.sources.vocabulary import Category
    >>> print(vocabulary_toml(Vocabulary(categories={"cup": Category(parent="dish"), "dish": Category()})))
    [categories.cup]
    parent = "dish"
    <BLANKLINE>
    [categories.dish]
    <BLANKLINE>
    """
    raw: dict[str, object] = {}
    for section in Vocabulary.__struct_fields__:
        value = getattr(words, section)
        if isinstance(value, Mapping):
            if value:
                raw[section] = {name: _said(value[name]) for name in sorted(value)}
        elif plain := _said(value):
            raw[section] = plain
    return msgspec.toml.encode(raw).decode()


def _said(record: msgspec.Struct) -> dict[str, object]:
    """The fields of a record that differ from their defaults."""
    fields: dict[str, object] = {}
    for known in msgspec.structs.fields(record):
        default = known.default if known.default_factory is msgspec.NODEFAULT else known.default_factory()
        value = getattr(record, known.name)
        if value != default:
            fields[known.name] = msgspec.to_builtins(value)
    return fields


class SceneSource(Protocol):
    """Makes scenes of something that is there already; one file in ``make/sources/scene_sources/``.

    What a source does not know, it does not say: an absent fact is unknown, and only what `Complete` covers
    is false.
    """

    def models(self) -> Mapping[str, str]:
        """The models that it asks, by names of its own: their specs."""

    def picture(self, digest: str) -> bytes:
        """A picture that it shows to a model, by the SHA-256 of its bytes."""

    def read(self) -> Flow[SceneSet]:
        """Yield what to ask, be sent the replies, return the scenes; a source without a model yields nothing.

        Raises:
            DataError: there is nothing to read, or nothing in it can be used.
        """


class AsksNobody:
    """A source that reads files only."""

    def models(self) -> Mapping[str, str]:
        """None."""
        return {}

    def picture(self, digest: str) -> bytes:
        """None is there."""
        raise KeyError(digest)


def complete_lines(
    messages: Sequence[str], known: Mapping[str, Sequence[str]], *, owner: str
) -> tuple[Complete, ...]:
    """What a user says is listed in full, as lines.

    Args:
        messages: the words of the setting `complete`.
        known: the words that the source can cover, each with the categories that are meant (empty: it is
            itself a category, or a kind of event).
        owner: the source, for messages.

    Raises:
        UsageError: a word that the source says nothing about.
    """
    completes: list[Complete] = []
    for word in messages:
        if word not in known:
            listed = ", ".join(known) or "nothing"
            raise UsageError(f"{owner}: complete = {word!r} covers nothing here; it can name {listed}")
        completes += [Complete(complete=word, for_=name) for name in known[word]] or [Complete(complete=word)]
    return tuple(completes)
