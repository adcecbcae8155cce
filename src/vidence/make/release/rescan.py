"""Scan an existing release again: files may have been added."""

from pathlib import Path

import msgspec

from vidence.errors import UsageError
from vidence.make.release.hidden import ANSWERS_FILE, SHARED_FILE, HiddenAnswer, hide, row_of, rows_of
from vidence.make.release.media import MEDIA_FILE, ReleasedMedium, sha256_of
from vidence.make.release.scan import Leak, Scan, scan_folder
from vidence.make.release.sets import MANIFEST, SetManifest
from vidence.make.release.withdrawn import read_ids
from vidence.make.release.writing import SUMS_FILE
from vidence.media.files import resolve
from vidence.records import Item


def scan_again(folder: Path, hidden: Path) -> tuple[Leak, ...]:
    """Return where a release reveals its hidden answers.

    Args:
        folder: the release.
        hidden: the folder of its hidden answers.

    Raises:
        UsageError: one of the two is no such folder.
        DataError: a file cannot be read.
    """
    if not (folder / MANIFEST).is_file() or not (hidden / ANSWERS_FILE).is_file():
        raise UsageError(
            f"expected a release of vidence items release ({folder / MANIFEST}) and its hidden answers "
            f"({hidden / ANSWERS_FILE})"
        )
    answers = rows_of(hidden / ANSWERS_FILE, HiddenAnswer)
    splits = dict.fromkeys(answer.split for answer in answers)
    whole = [item for split in splits for item in rows_of(hidden / f"{split}.jsonl", Item)]
    manifest = row_of((folder / MANIFEST).read_bytes(), SetManifest, place=folder / MANIFEST)
    gone = frozenset(manifest.hidden_tags)
    keep = {tag for item in whole for tag in item.tags} - gone
    names = {released_id.item_id for released_id in read_ids(folder)}
    wanted = Scan(
        hidden=hide(whole, keep=keep, left_out=gone),
        open_ids=frozenset(names - {item.item_id for item in whole}),
        shared=frozenset(rows_of(hidden / SHARED_FILE, str)),
        salts={answer.salt: answer.item_id for answer in answers},
        media=_media_in(folder),
    )
    return scan_folder(folder, wanted)


def _media_in(folder: Path) -> frozenset[str]:
    """The media that were put into a release and are there as they were; nothing else is passed over."""
    rows = [row for row in rows_of(folder / MEDIA_FILE, dict[str, object]) if row.get("given")]
    given = {resolve(Path(), msgspec.convert(row, ReleasedMedium).medium).as_posix() for row in rows}
    sums = _sums(folder)
    held = {name for word in given for name in sums if name == word or name.startswith(f"{word}/")}
    return frozenset(
        name for name in held if (folder / name).is_file() and sha256_of(folder / name) == sums[name]
    )


def _sums(folder: Path) -> dict[str, str]:
    """The checksums that a release states, by its files."""
    lines = (folder / SUMS_FILE).read_text(encoding="utf-8").splitlines()
    pairs = [line.split("  ", 1) for line in lines if not line.startswith("#") and "  " in line]
    return {name: digest for digest, name in pairs}
