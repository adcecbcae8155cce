"""Media of a release: facts, and the files that may be redistributed."""

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from vidence.errors import DataError, UsageError
from vidence.make.gates.licences import CREATIVE_COMMONS, LicenceCheck
from vidence.make.gates.splits import sha256_of
from vidence.make.release.admission import film_of
from vidence.media.files import resolve
from vidence.records import Item, Media, Record

MEDIA_FILE: Final = Path("about") / "media.jsonl"
MediaFiles: TypeAlias = Literal["none", "copy", "link"]

_NAMED: Final = {"attribution": "by", "sharealike": "sa", "noncommercial": "nc", "noderivatives": "nd"}
_OPEN: Final = re.compile(
    r"cc-?0(-\d-\d)?(-universal)?|cc-by(-nc)?(-(sa|nd))?(-\d(-\d)?)?(-(international|unported|deed|igo))?"
    r"|public-domain(-mark.*)?|pddl.*|odbl.*|odc-by.*|mit|apache-2-0|own-recordings?"
)
_SEPARATORS: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, kw_only=True)
class MediaRules:
    """Handling of media files: ``none`` (left out), ``copy``, or ``link`` (symbolic links).

    `root` is the folder that paths start from, None if nobody knows. Given are only files whose licence
    allows it by its name (`may_be_given`), or is one of `licences`.
    """

    files: MediaFiles = "none"
    root: Path | None = None
    licences: frozenset[str] = frozenset()


AT_HOME: Final = MediaRules()


class ReleasedMedium(Record, omit_defaults=True):
    """A medium of a release with its id and times.

    `given` says how its file is part of the release (``copied``, ``linked``), `not_given` why it is not,
    where files were to be.
    """

    path: str | None = None
    url: str | None = None
    kind: str = "video"
    source_id: str = ""
    film: str = ""
    start_s: float | None = None
    end_s: float | None = None
    sha256: str | None = None
    licence: str = ""
    given: str = ""
    not_given: str = ""
    n_questions: int

    @property
    def medium(self) -> Media:
        """The medium as a question names it."""
        return Media(path=self.path, url=self.url)


@dataclass(frozen=True, kw_only=True)
class Attached:
    """Files copied into a release unchanged, by target path: source path, SHA-256."""

    files: Mapping[Path, Path] = field(default_factory=dict)
    hashes: Mapping[Path, str] = field(default_factory=dict)
    is_linked: bool = False


NOTHING: Final = Attached()


@dataclass(frozen=True, kw_only=True)
class ReleasedMedia:
    """All media of a release, and the files released with them."""

    rows: tuple[ReleasedMedium, ...]
    attached: Attached
    wanted: MediaFiles

    @property
    def words(self) -> str:
        """Their description for the datasheet and the command."""
        if self.wanted == "none":
            return ""
        given = {row.path or row.url for row in self.rows if row.given}
        held = {row.path or row.url: row.not_given for row in self.rows if row.not_given}
        how = "copied into this release" if self.wanted == "copy" else "linked from it"
        words = f"Media {how}, by the paths of the questions: {len(given):,} of {len(given) + len(held):,}."
        if held:
            reasons = ", ".join(f"{n:,} {why}" for why, n in sorted(Counter(held.values()).items()))
            words += f" The others: {reasons}; `{MEDIA_FILE.as_posix()}` names them."
        return words


NO_MEDIA: Final = ReleasedMedia(rows=(), attached=NOTHING, wanted="none")


def may_be_given(licence: str, *, allowed: Collection[str] = ()) -> bool:
    """Return whether a licence permits redistribution: Creative Commons, public domain, and similar.

    >>> may_be_given("CC BY-NC 4.0"), may_be_given("creativeCommon"), may_be_given("research only")
    (True, True, False)
    """
    if licence in allowed or licence.partition(",")[0] == CREATIVE_COMMONS:  # and when it was looked up
        return True
    words = licence.casefold().removeprefix("https://").replace("creativecommons.org/licenses/", "cc-")
    words = words.replace("creative commons", "cc").replace("share-alike", "sharealike")
    for name, short in _NAMED.items():
        words = words.replace(name, short)
    return bool(licence) and _OPEN.fullmatch(_SEPARATORS.sub("-", words).strip("-")) is not None


def media_of(
    items: Sequence[Item], rules: MediaRules, *, looks: Mapping[str, LicenceCheck], taken: Collection[Path]
) -> ReleasedMedia:
    """The media of a release, each once, and which of their files are released.

    Args:
        items: the questions.
        rules: what becomes of files.
        looks: what was found of the licences of films.
        taken: the paths of the files that the release has otherwise.

    Raises:
        UsageError: files are to be given, and it is not said where they lie, or one would take the place of a
            file of the release.
        DataError: a file is another one than its question says, or cannot be read.
    """
    if rules.files != "none" and rules.root is None:
        raise UsageError("the release includes media; name their folder with --media")
    entries = [(medium, _row(item, medium, looks)) for item in items for medium in item.media]
    why_not = {} if rules.files == "none" else _withheld(entries, rules)
    hashes = _hashes([entry for entry, _ in entries], rules)
    files: dict[Path, Path] = {}
    counts: Counter[ReleasedMedium] = Counter()
    for media, row in entries:
        place = resolve(Path(), media)
        given = ""
        if rules.files != "none" and rules.root is not None and not why_not[place]:
            given = "copied" if rules.files == "copy" else "linked"
            files |= dict(_files(place, rules.root))
        counts[
            msgspec.structs.replace(
                row, sha256=media.sha256 or hashes.get(place), given=given, not_given=why_not.get(place, "")
            )
        ] += 1
    if clash := sorted(
        file.as_posix() for file in files if file in taken or file.parts[0] == MEDIA_FILE.parts[0]
    ):
        raise UsageError(
            f"the medium {clash[0]} would overwrite a file of the release; put the media into a folder of "
            "their own, such as videos"
        )
    rows = tuple(msgspec.structs.replace(medium, n_questions=n) for medium, n in counts.items())
    sums = {name: hashes.get(name) or sha256_of(path) for name, path in files.items()}
    attached = Attached(files=files, hashes=sums, is_linked=rules.files == "link")
    return ReleasedMedia(rows=rows, attached=attached, wanted=rules.files)


def inside_one_folder(items: Sequence[Item], media_root: Path) -> tuple[tuple[Item, ...], Path]:
    """The items with paths relative to one common folder, and that folder.

    No release says where files lie on this machine.
    """
    paths = {medium.path for item in items for medium in item.media if medium.path}
    if not any(Path(path).is_absolute() or ".." in Path(path).parts for path in paths):
        return tuple(items), media_root.resolve()
    whole = {path: os.path.normpath(media_root.resolve() / path) for path in paths}
    root = os.path.commonpath([os.path.dirname(path) for path in whole.values()])
    short = {path: Path(os.path.relpath(name, root)).as_posix() for path, name in whole.items()}
    moved = tuple(
        msgspec.structs.replace(
            item,
            media=tuple(msgspec.structs.replace(m, path=short[m.path]) if m.path else m for m in item.media),
        )
        for item in items
    )
    return moved, Path(root)


def _row(item: Item, media: Media, looks: Mapping[str, LicenceCheck]) -> ReleasedMedium:
    film = film_of(item, looks) or ""
    origin = item.provenance.licence if item.provenance else ""
    return ReleasedMedium(
        path=media.path,
        url=media.url,
        kind=media.kind,
        source_id=item.source,
        film=film,
        start_s=media.start_s,
        end_s=media.end_s,
        licence=(looks[film].licence if film in looks else "") or origin,
        n_questions=0,
    )


def _withheld(entries: Sequence[tuple[Media, ReleasedMedium]], rules: MediaRules) -> dict[Path, str]:
    """Return why each file is withheld, empty if it is not; all of several licences must permit it."""
    values: dict[Path, str] = {}
    for media, row in entries:
        place = resolve(Path(), media)
        if place.is_absolute() or ".." in place.parts:
            raise UsageError(
                f"the medium {place} lies outside the folder of the media; it cannot be released"
            )
        if not may_be_given(row.licence, allowed=rules.licences):
            withheld = (
                f"under a licence that does not say so: {row.licence}" if row.licence else "without a licence"
            )
            values[place] = withheld
        elif rules.root is not None and not (rules.root / place).exists():
            values.setdefault(place, "not here")
        else:
            values.setdefault(place, "")
    return values


def _files(place: Path, root: Path) -> Iterator[tuple[Path, Path]]:
    """The files of a medium by path in the release: one, or every image of a folder."""
    whole = (root / place).resolve()
    if not whole.is_dir():
        yield place, whole
        return
    for path in sorted(entry for entry in whole.rglob("*") if entry.is_file()):
        yield place / path.relative_to(whole), path


def _hashes(media: Sequence[Media], rules: MediaRules) -> dict[Path, str]:
    """The SHA-256 of available files, checked against those that questions state.

    Raises:
        DataError: a file to be given is another one than its question says.
    """
    hashes: dict[Path, str] = {}
    if rules.root is None:
        return hashes
    for medium in media:
        place = resolve(Path(), medium)
        path = rules.root / place
        if place not in hashes and path.is_file() and (rules.files != "none" or medium.sha256 is None):
            hashes[place] = sha256_of(path)
        is_other = place in hashes and medium.sha256 is not None and medium.sha256.casefold() != hashes[place]
        if is_other and rules.files != "none":
            raise DataError(f"{path} is not the file that its question names (another SHA-256)")
    return hashes
