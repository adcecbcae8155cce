"""What a release changes of the one before: questions that are new, gone, or not as they were."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, Literal, TypeAlias

import msgspec

from vidence.errors import DataError, UsageError, VidenceError
from vidence.make.release.exporters.exporting import SPLIT, exporters
from vidence.make.release.hidden import (
    ANSWERS_FILE,
    COMMITMENTS_FILE,
    HIDDEN_SUFFIX,
    Commitment,
    Hidden,
    HiddenAnswer,
    commitment,
    right_text,
    row_of,
    rows_of,
)
from vidence.make.release.withdrawn import IDS_FILE, read_ids
from vidence.make.release.writing import ABOUT
from vidence.records import Item, Media, Record
from vidence.tables.table import several

CHANGES_FILE: Final = ABOUT / "changes.jsonl"
_OURS: Final = "items"
_MOST_NAMED: Final = 5

Field: TypeAlias = Literal["question", "choices", "order", "answer", "media", "split"]
FIELDS: Final[tuple[Field, ...]] = ("question", "choices", "order", "answer", "media", "split")
"""What can be another one: text, set of choices, their order alone, right answer, media, split."""


class Change(Record, omit_defaults=True):
    """What became of one question since the release before; `fields` are those that changed."""

    item_id: str
    what: Literal["added", "changed", "left out"]
    fields: tuple[Field, ...] = ()


class _ReleaseRecord(msgspec.Struct):
    """What is read of ``about/release.json``."""

    version: str
    formats: tuple[str, ...]
    splits: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class Before:
    """The release before: its questions by their ids, as far as they can be read.

    `answers` are those that can be known; a hidden one where the folder of hidden answers lies beside the
    release. `splits` has every question. With `has_times` media can be held against each other by their
    times and hashes, otherwise only by their names.
    """

    version: str
    items: Mapping[str, Item]
    answers: Mapping[str, str]
    splits: Mapping[str, str]
    has_times: bool


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What changed. `public` is for the release, and says nothing of hidden answers; `all` does.

    `n_untold` questions of the release before could not be read, `n_unknown` hidden answers not be compared.
    """

    since: str
    public: tuple[Change, ...]
    all: tuple[Change, ...]
    n_untold: int
    n_unknown: int


def read_before(folder: Path) -> Before:
    """The questions of a release.

    Raises:
        UsageError: the folder is no release of `vidence release`.
        DataError: it cannot be read.
    """
    manifest = folder / ABOUT / "release.json"
    if not (folder / IDS_FILE).is_file() or not manifest.is_file():
        raise UsageError(f"{folder} is no release of vidence release (no {IDS_FILE})")
    made = row_of(manifest.read_bytes(), _ReleaseRecord, place=manifest)
    splits = {one.item_id: one.split for one in read_ids(folder)}
    is_ours = _OURS in made.formats
    format_name = _OURS if is_ours else made.formats[0]
    items = {item.item_id: item for item in _open_ones(folder, format_name)} if made.splits else {}
    answers = {name: right_text(item) for name, item in items.items()}
    if is_ours:
        for split in sorted(set(splits.values())):
            items |= _questions(folder / f"questions-{split}.jsonl")
    whole = _hidden_whole(folder)
    items |= whole
    answers |= {name: right_text(item) for name, item in whole.items()}
    return Before(version=made.version, items=items, answers=answers, splits=splits, has_times=is_ours)


def changes_since(before: Before, open_ones: Sequence[Item], hidden: Hidden) -> Changes:
    """What became of every question.

    Args:
        before: the release before.
        open_ones: the questions with answers of the new one, each with its split as a tag.
        hidden: those of its hidden splits.
    """
    hidden_ids = {item.item_id for item in hidden.whole}
    now = {item.item_id: item for item in (*open_ones, *hidden.whole)}
    every: list[Change] = []
    for name in sorted(now.keys() | before.splits.keys()):
        if name not in before.splits:
            every.append(Change(item_id=name, what="added"))
        elif name not in now:
            every.append(Change(item_id=name, what="left out"))
        elif fields := _fields(name, now[name], before):
            every.append(Change(item_id=name, what="changed", fields=fields))
    public = [_without_answer(one) if one.item_id in hidden_ids else one for one in every]
    both = now.keys() & before.splits.keys()
    return Changes(
        since=before.version,
        public=tuple(one for one in public if one.fields or one.what != "changed"),
        all=tuple(every),
        n_untold=len(both - before.items.keys()),
        n_unknown=len((both & before.items.keys()) - before.answers.keys()),
    )


def changes_words(changes: Changes, *, every: bool) -> tuple[str, ...]:
    """What changed, in sentences: with `every` for whoever releases, otherwise for everybody.

    >>> none = Changes(since="1.0.0", public=(), all=(), n_untold=0, n_unknown=0)
    >>> changes_words(none, every=True)
    ('Since version 1.0.0 no question was added, left out or changed.',)
    """
    told = changes.all if every else changes.public
    of = Counter(one.what for one in told)
    if not told:
        said = [f"Since version {changes.since} no question was added, left out or changed."]
    else:
        said = [
            f"Since version {changes.since}: {several(of['added'], 'question')} added, "
            f"{of['left out']:,} left out, {of['changed']:,} changed."
        ]
    for field in FIELDS:
        names = [one.item_id for one in told if field in one.fields]
        if names:
            more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
            said.append(f"Changed {_WORDS[field]}: {', '.join(names[:_MOST_NAMED])}{more}.")
    if changes.n_untold:
        said.append(
            f"{changes.n_untold:,} questions of that release cannot be read from it, and are not compared."
        )
    if every and changes.n_unknown:
        said.append(
            f"The answers of {changes.n_unknown:,} questions were hidden in it, and their folder is not "
            "beside it; they are not compared."
        )
    return tuple(said)


_WORDS: Final[Mapping[Field, str]] = {
    "question": "text",
    "choices": "choices",
    "order": "order of choices",
    "answer": "right answer",
    "media": "media",
    "split": "split",
}


# --------------------------------------------------------------------------- what is compared


def _fields(name: str, now: Item, before: Before) -> tuple[Field, ...]:
    found: list[Field] = []
    old = before.items.get(name)
    if old is not None:
        if now.question != old.question:
            found.append("question")
        if sorted(now.choices) != sorted(old.choices):
            found.append("choices")
        elif now.choices != old.choices:
            found.append("order")
        if name in before.answers and before.answers[name] != right_text(now):
            found.append("answer")
        if _media(now.media, old.media, has_times=before.has_times):
            found.append("media")
    if now.tags.get(SPLIT, "") != before.splits[name]:
        found.append("split")
    return tuple(found)


def _media(now: Sequence[Media], old: Sequence[Media], *, has_times: bool) -> bool:
    """Whether media are others: by name, and where both say so by kind, times and hash; not by folder."""
    if len(now) != len(old):
        return True
    return any(_differs(one, other, has_times=has_times) for one, other in zip(now, old, strict=True))


def _differs(now: Media, old: Media, *, has_times: bool) -> bool:
    if PurePosixPath(now.path or now.url or "").name != PurePosixPath(old.path or old.url or "").name:
        return True
    if not has_times:
        return False
    is_other = now.sha256 is not None and old.sha256 is not None and now.sha256 != old.sha256
    return is_other or (now.kind, now.start_s, now.end_s) != (old.kind, old.start_s, old.end_s)


def _without_answer(change: Change) -> Change:
    return msgspec.structs.replace(change, fields=tuple(one for one in change.fields if one != "answer"))


# --------------------------------------------------------------------------- the release before


def _open_ones(folder: Path, name: str) -> tuple[Item, ...]:
    """The questions with answers."""
    (exporter,) = exporters([name])
    try:
        return exporter.read(folder)
    except VidenceError as error:
        raise DataError(f"the questions of {folder} cannot be read as {name}: {error}") from error


def _questions(path: Path) -> dict[str, Item]:
    """The questions of a hidden split, without their answers."""
    if not path.is_file():
        return {}
    try:
        items = [msgspec.convert({**row, "answer": ""}, Item) for row in rows_of(path, dict[str, object])]
    except msgspec.ValidationError as error:
        raise DataError(f"{path}: these are no questions of a hidden split ({error})") from error
    return {item.item_id: item for item in items}


def _hidden_whole(folder: Path) -> dict[str, Item]:
    """The questions of hidden splits with their answers, where these lie beside the release and open it.

    Raises:
        DataError: they are not those of this release.
    """
    outside = folder.with_name(f"{folder.name}{HIDDEN_SUFFIX}")
    if not (outside / ANSWERS_FILE).is_file():
        return {}
    answers = rows_of(outside / ANSWERS_FILE, HiddenAnswer)
    marked = rows_of(folder / COMMITMENTS_FILE, dict[str, str])
    bound = {one.item_id: one.sha256 for row in marked if (one := _commitment(row))}
    wrong = [a.item_id for a in answers if bound.get(a.item_id) != commitment(a.salt, a.item_id, a.answer)]
    if wrong:
        raise DataError(
            f"{outside} holds other answers than those that {folder} is bound to (such as {wrong[0]}); move "
            "it away, or put the right one there"
        )
    splits = dict.fromkeys(one.split for one in answers)
    return {item.item_id: item for split in splits for item in rows_of(outside / f"{split}.jsonl", Item)}


def _commitment(row: Mapping[str, str]) -> Commitment | None:
    """A line of the commitments; None for the one that carries the canary."""
    return msgspec.convert(row, Commitment) if "item_id" in row else None
