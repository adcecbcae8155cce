"""What a split hides: fields and tags that reveal an answer, and hash commitments.

Source: MMVU, section 3.4: the answers of the test split are not released. Departs: what else is left out with
them, and that a release binds itself to its hidden answers by hashes, are ours.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeVar

import msgspec

from vidence.errors import DataError, StoreError, UsageError, cause
from vidence.make.pipeline.output import json_lines, read_lines
from vidence.media.whole import PRIVATE, is_marked, make_private, write_whole
from vidence.records import Item, Record, by_key

HIDDEN_SUFFIX: Final = ".hidden"
COMMITMENTS_FILE: Final = Path("about") / "hidden.jsonl"
ANSWERS_FILE, SHARED_FILE, SECRET_FILE = "answers.jsonl", "said-elsewhere.jsonl", "secret"
ValueT = TypeVar("ValueT")
_MOST_RIGHT: Final = 0.5
_MOST_BY_CHANCE: Final = 0.05
_PARTS: Final = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_TELLING: Final = frozenset(
    {"answer", "answers", "rationale", "rationales", "step", "steps", "knowledge", "evidence", "hint"}
    | {"hints", "proof", "proofs", "referred", "proactive", "oracle", "witness", "witnesses"}
    | {"correct", "gold", "solution", "explanation", "reasons", "truth", "k", "draft"}
)
"""Words in the name of a field or tag that mark it as revealing an answer."""
_OF_OPTIONS: Final = ("option", "of")


class Commitment(Record):
    """The commitment to a hidden answer: SHA-256 of the JSON list ``[salt, item, answer]``."""

    item_id: str
    split: str
    sha256: str


class HiddenAnswer(Record):
    """An answer that is not released, with the salt that opens its `Commitment`."""

    item_id: str
    split: str
    salt: str
    answer: str


@dataclass(frozen=True, kw_only=True)
class Hidden:
    """The questions of the hidden splits.

    `whole` are the items as they are, `public` the same without what tells of their answers, `tags` the tags
    that were left out.
    """

    whole: tuple[Item, ...]
    public: tuple[Item, ...]
    tags: tuple[str, ...]


def is_telling(name: str) -> bool:
    """Return whether a field or tag of this name reveals the answer.

    >>> is_telling("n_evidence"), is_telling("optionOf"), is_telling("discipline")
    (True, True, False)
    """
    parts = [part.casefold() for part in _PARTS.split(name)]
    return bool(_TELLING.intersection(parts)) or _OF_OPTIONS in pairwise(parts)


def hide(items: Sequence[Item], *, keep: Collection[str] = (), left_out: Collection[str] = ()) -> Hidden:
    """The items without answer, rationale, steps, knowledge, evidence, hints, and tags derived from them.

    A tag is one of these by its name (`is_telling`), or where its values are answers: more than half of those
    that are choices or letters of their questions are the right ones, in more than 5 % of the questions.

    Args:
        items: the questions of the hidden splits.
        keep: tags that are public whatever they look like.
        left_out: further tags that are not.
    """
    tags = {name for item in items for name in item.tags}
    gone = {name for name in tags if is_telling(name) or name in left_out or _is_the_answer(name, items)}
    gone -= set(keep)
    public = tuple(
        msgspec.structs.replace(
            item,
            answer="",
            tags={name: value for name, value in item.tags.items() if name not in gone},
            evidence=(),
            rationale="",
            steps=(),
            hints=(),
            knowledge=(),
        )
        for item in items
    )
    return Hidden(whole=tuple(items), public=public, tags=tuple(sorted(gone)))


def right_text(item: Item) -> str:
    """The words of the right answer."""
    return item.choices[item.letters.index(item.answer)] if item.choices else item.answer


def _is_the_answer(tag: str, items: Sequence[Item]) -> bool:
    """Whether the values of a tag are answers: most of those that are choices or letters are right.

    A level of difficulty 3 is now and then the right one of five numbers, and tells nothing.
    """
    n_said = n_right = 0
    for item in items:
        value = item.tags.get(tag, "").strip().casefold()
        messages = {text.strip().casefold() for text in (*item.choices, *item.letters, right_text(item))}
        if value and value in messages:
            n_said += 1
            n_right += value in {right_text(item).strip().casefold(), item.answer.casefold()}
    having = sum(tag in item.tags for item in items)
    return n_right > n_said * _MOST_RIGHT and n_right > having * _MOST_BY_CHANCE


# --------------------------------------------------------------------------- hashes


def commitment(salt: str, item_id: str, answer: str) -> str:
    """SHA-256 of the JSON list of salt, item and answer: UTF-8, no blanks, minimal escaping.

    >>> commitment("00", "q1", "B")[:12]
    '969c4a6619e6'
    """
    text = json.dumps([salt, item_id, answer], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def answers_of(hidden: Hidden, *, secret: bytes, splits: Mapping[str, str]) -> tuple[HiddenAnswer, ...]:
    """The answers with their salts, derived from the release's secret."""
    return tuple(
        HiddenAnswer(
            item_id=item.item_id,
            split=splits[item.item_id],
            salt=hmac.new(secret, item.item_id.encode(), hashlib.sha256).hexdigest(),
            answer=item.answer,
        )
        for item in hidden.whole
    )


def commitments_of(answers: Sequence[HiddenAnswer]) -> tuple[Commitment, ...]:
    """The commitments that a release publishes for them."""
    return tuple(
        Commitment(
            item_id=answer.item_id,
            split=answer.split,
            sha256=commitment(answer.salt, answer.item_id, answer.answer),
        )
        for answer in answers
    )


# --------------------------------------------------------------------------- the folder outside


def rows_of(path: Path, kind: type[ValueT]) -> list[ValueT]:
    """The lines of a file written by a release.

    Raises:
        DataError: it cannot be read, or a line is none of that kind.
    """
    return read_lines(path, kind, fault="not as vidence items release writes it")


def row_of(content: bytes, kind: type[ValueT], *, place: Path) -> ValueT:
    """One object of a file written by a release.

    Raises:
        DataError: it is none of that kind.
    """
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{place} is not as vidence items release writes it: {error}") from error


def secret_in(folder: Path, *, fresh: bytes) -> bytes:
    """The secret from which a release derives its salts, stored with mode 600.

    Args:
        folder: that of the answers.
        fresh: what becomes the secret where there is none yet.

    Raises:
        StoreError: it cannot be read or written.
        UsageError: what is there is no secret, or the folder holds other files.
    """
    path = folder / SECRET_FILE
    is_marked(folder, SECRET_FILE)
    try:
        if not path.exists():
            write_whole(path, fresh.hex().encode() + b"\n", mode=PRIVATE)
        text = path.read_text().strip()
        return bytes.fromhex(text)
    except OSError as error:
        raise StoreError(f"cannot keep the secret of the answers in {path}: {cause(error)}") from error
    except ValueError as error:
        raise UsageError(f"{path} is not the secret of a release; move it away") from error


def write_answers(
    folder: Path,
    answers: Sequence[HiddenAnswer],
    hidden: Hidden,
    *,
    shared: Collection[str],
    more: Mapping[str, bytes] = MappingProxyType({}),
) -> tuple[Path, ...]:
    """Write the answers and the whole items of the hidden splits, with mode 600.

    Args:
        folder: where they go, outside the release.
        answers: of `hidden`, in order.
        hidden: the questions.
        shared: hidden texts that other questions say, too, for a later scan.
        more: further files by their names.

    Raises:
        UsageError: the answers of another release are there.
        StoreError: they cannot be written.
    """
    by_split = by_key((answer.split, item) for answer, item in zip(answers, hidden.whole, strict=True))
    contents = {folder / ANSWERS_FILE: json_lines(answers), folder / SHARED_FILE: json_lines(sorted(shared))}
    contents |= {folder / name: content for name, content in more.items()}
    contents |= {folder / f"{split}.jsonl": json_lines(mine) for split, mine in by_split.items()}
    for path, content in contents.items():
        if path.exists() and path.read_bytes() != content:
            raise UsageError(
                f"{path} holds the answers of another release; give the new one another version, or move the "
                "old folder away"
            )
    try:
        make_private(folder)
        for path, content in contents.items():
            write_whole(path, content, mode=PRIVATE)
    except OSError as error:
        raise StoreError(f"cannot write the answers into {folder}: {cause(error)}") from error
    return tuple(contents)
