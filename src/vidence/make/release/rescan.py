"""A release that lies there already, looked through again: others may have added files to it."""

from pathlib import Path
from typing import TypeVar

import msgspec

from vidence.errors import DataError, UsageError
from vidence.make.release.hidden import ANSWERS_FILE, SHARED_FILE, HiddenAnswer, hide
from vidence.make.release.scan import Leak, Scan, scan_folder
from vidence.make.release.sets import MANIFEST, SetManifest
from vidence.make.release.withdrawn import read_ids
from vidence.records import Item

ValueT = TypeVar("ValueT")


def scan_again(folder: Path, hidden: Path) -> tuple[Leak, ...]:
    """Where a release tells answers that were hidden with it.

    Args:
        folder: the release.
        hidden: the folder of its hidden answers.

    Raises:
        UsageError: one of the two is no such folder.
        DataError: a file cannot be read.
    """
    if not (folder / MANIFEST).is_file() or not (hidden / ANSWERS_FILE).is_file():
        raise UsageError(
            f"expected a release of vidence release ({folder / MANIFEST}) and its hidden answers "
            f"({hidden / ANSWERS_FILE})"
        )
    answers = _lines(hidden / ANSWERS_FILE, HiddenAnswer)
    splits = dict.fromkeys(one.split for one in answers)
    whole = [item for split in splits for item in _lines(hidden / f"{split}.jsonl", Item)]
    manifest = _decoded((folder / MANIFEST).read_bytes(), SetManifest, place=folder / MANIFEST)
    gone = frozenset(manifest.hidden_tags)
    keep = {tag for item in whole for tag in item.tags} - gone
    names = {one.item_id for one in read_ids(folder)}
    wanted = Scan(
        hidden=hide(whole, keep=keep, left_out=gone),
        open_ids=frozenset(names - {item.item_id for item in whole}),
        shared=frozenset(_lines(hidden / SHARED_FILE, str)),
        salts={one.salt: one.item_id for one in answers},
    )
    return scan_folder(folder, wanted)


def _lines(path: Path, kind: type[ValueT]) -> list[ValueT]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror})") from error
    return [_decoded(line, kind, place=path) for line in content.splitlines()]


def _decoded(content: bytes, kind: type[ValueT], *, place: Path) -> ValueT:
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{place} is not as vidence release writes it: {error}") from error
