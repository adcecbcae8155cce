"""Fetch benchmarks by name: what a release contains, which files are needed, and where they are stored.

Files of the hub stay in its library's cache. Extracted files and those from elsewhere are in our cache
folder, below ``got``, with a record of the last fetched revision of each benchmark.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from operator import attrgetter
from pathlib import Path, PurePosixPath

import msgspec

from vidence.ask.fetching.address import HubAddress, is_address
from vidence.ask.fetching.archives import FREE_BYTES, is_archive, is_inside, matched, unpack
from vidence.ask.fetching.hub import DatasetListing, Hub, HubFile
from vidence.ask.fetching.plain import read_web
from vidence.catalog import create, is_known, ready
from vidence.contracts import Benchmark, Release
from vidence.errors import DataError, StoreError, UnknownNameError, UsageError, cause
from vidence.media.whole import write_whole
from vidence.records import Item, Record
from vidence.text import some

FOLDER = "got"
_VIDEOS = ("*.mp4", "*.mkv", "*.webm", "*.avi", "*.mov")
_ANYTHING = Release(
    questions=("*.json", "*.jsonl", "*.csv", "*.tsv", "*.parquet"),
    media=(*_VIDEOS, "*.zip", "*.tar", "*.tar.gz", "*.tgz"),
    takes_all=True,
)
OnFile = Callable[[HubFile], None]
_TABLE = "table"  # the benchmark of questions of the user's own
_ENDINGS = (".jsonl", ".ndjson", ".json", ".csv", ".gz")


@dataclass(frozen=True, kw_only=True)
class Offer:
    """What can be fetched: `questions` and `media` are hub files; `benchmark` is empty for other sets."""

    benchmark: str
    release: Release
    named: HubAddress
    hub: Hub
    listing: DatasetListing
    questions: tuple[HubFile, ...]
    media: tuple[HubFile, ...]
    config: str = ""
    """The configuration, if the folder also contains other tables."""

    @property
    def folder(self) -> str:
        """Return the data set's folder with the tables of one configuration."""
        parents = {str(PurePosixPath(question.path).parent) for question in self.questions}
        is_table = all(question.path.endswith(".parquet") for question in self.questions)
        return parents.pop().removeprefix(".") if len(parents) == 1 and is_table else ""

    def fetch(self, files: Sequence[HubFile], on_file: OnFile) -> Path:
        """Fetch files; see `Hub.fetch`."""
        return self.hub.fetch(self.listing, files, named=self.named.revision, on_file=on_file)


@dataclass(frozen=True, kw_only=True)
class NeededMedia:
    """The media that questions need: separate files, and archives."""

    plain: dict[str, HubFile]
    packed: tuple[HubFile, ...]
    left: tuple[str, ...]
    """Paths that are not separate files; they may be in the archives."""
    spare: frozenset[str]
    """Subtitle files; not every video has one."""

    @property
    def files(self) -> tuple[HubFile, ...]:
        """Return all files to fetch, without duplicates."""
        return tuple(dict.fromkeys((*self.plain.values(), *self.packed)))


class Got(Record):
    """The last fetch of a benchmark, as plans refer to it."""

    data: str
    media: str | None = None
    release: str
    licence: str = ""
    hashes: dict[str, str] = msgspec.field(default_factory=dict)
    fetched_at: str = ""


# --------------------------------------------------------------------------- what there is


def offer(name: str, *, hub: Hub, config: str | None = None, split: str | None = None) -> Offer:
    """Return what can be fetched of a benchmark, or of a data set on the hub.

    Args:
        name: a benchmark, or ``hf:OWNER/NAME@REVISION``.
        hub: the hub to query.
        config: the configuration, if there are several.
        split: the split of the benchmark, which may have a separate release.

    Raises:
        DataError: the release does not exist, or this user may not read it.
        UsageError: an unknown name, a benchmark without a release, or a missing or unknown configuration.
    """
    if is_address(name):
        benchmark, release, address = "", _ANYTHING, HubAddress.parse(name)
    else:
        benchmark, release = name, release_of(name, split)
        if release.absent:
            raise UsageError(f"{name} cannot be fetched: {release.absent} {release.by_hand}".rstrip())
        address = HubAddress(release.hub, release.revision)
    listing = hub.listing(address)
    questions = _first_fitting(listing.files, release.questions, every=release.takes_all)
    if benchmark and release.questions and not questions:
        raise DataError(
            f"{listing.address} has no file {', '.join(release.questions)} of {name}; it holds "
            f"{some((file.path for file in listing.files), most=6)}"
        )
    chosen = questions if release.takes_all else _of_config(questions, config)
    return Offer(
        benchmark=benchmark,
        release=release,
        named=address,
        hub=hub,
        listing=listing,
        questions=chosen,
        config=(config or "") if _folders(chosen) & _folders(set(questions) - set(chosen)) else "",
        media=tuple(file for file in listing.files if any(fnmatchcase(file.path, p) for p in release.media)),
    )


def release_of(name: str, split: str | None = None) -> Release:
    """Return the release of a benchmark or of one split.

    Raises:
        UsageError: there is no such benchmark, or it states no release.
    """
    if not is_known("benchmark", name):
        known = [word for word in ready("benchmark") if _release(word) is not None]
        raise UnknownNameError("release", name, known)
    release = _release(name, split)
    if release is None:
        raise UsageError(f"{name} has no release: its questions are your own; name them with --data")
    return release


def benchmark_at(name: str, *, is_mapped: bool) -> tuple[str, Path | None]:
    """Return the benchmark that a user names and the location of its questions; None for a name alone.

    A file, folder or data set ``hf:OWNER/NAME`` is read as the benchmark `table`; the release of a benchmark
    is read as that benchmark unless a mapping is given.
    """
    is_place = is_address(name) or name.lower().endswith(_ENDINGS) or Path(name).exists()
    if is_known("benchmark", name) or not is_place:
        return name, None
    return (_released_at(name) if is_address(name) and not is_mapped else "") or _TABLE, Path(name)


def _released_at(address: str) -> str:
    """Return the benchmark released at an address; empty if there is none."""
    repo = HubAddress.parse(address).repo
    releases = ((name, release) for name in ready("benchmark") for release in _releases(name).values())
    return next((name for name, release in releases if release.hub == repo and not release.github), "")


def command_for(benchmark: str) -> str:
    """Return the command that fetches a benchmark with media; empty if it has no release."""
    release = _release(benchmark)
    return "" if release is None or release.absent else f"vidence get {benchmark} --media"


def _release(name: str, split: str | None = None) -> Release | None:
    return (values := _releases(name)).get(split, values.get(None))


def _releases(name: str) -> dict[str | None, Release]:
    """Return the releases of a benchmark, by split; None is the main one."""
    benchmark: Benchmark = create("benchmark", name)
    values = {None: getattr(benchmark, "release", None), **getattr(benchmark, "releases", {})}
    return {split: release for split, release in values.items() if isinstance(release, Release)}


def _first_fitting(files: Sequence[HubFile], patterns: Sequence[str], *, every: bool) -> tuple[HubFile, ...]:
    """Return the files that match the first pattern with matches; with `every`, any pattern."""
    entries = [tuple(file for file in files if fnmatchcase(file.path, pattern)) for pattern in patterns]
    if every:
        return tuple(dict.fromkeys(fit for fits in entries for fit in fits))
    return next((fits for fits in entries if fits), ())


def _of_config(files: tuple[HubFile, ...], config: str | None) -> tuple[HubFile, ...]:
    """Return the tables of one configuration: in the folder of its name, or with its name and a number."""
    tables = [file for file in files if file.path.endswith(".parquet")]
    by_folder = len(_folders(tables)) > 1
    known = sorted(
        {PurePosixPath(table.path).parent.name if by_folder else _table_name(table) for table in tables}
    )
    if config is None:
        if len(known) > 1:
            raise UsageError(
                f"the release has several configurations; add --config with one of {', '.join(known)}"
            )
        return files
    pair = tuple(
        file for file in files if config in PurePosixPath(file.path).parts[:-1] or _table_name(file) == config
    )
    if not pair:
        raise UnknownNameError("configuration", config, known)
    return pair


def _table_name(file: HubFile) -> str:
    """Return a table's name without the part number: ``lite`` for ``lite-00000-of-00002.parquet``."""
    return re.sub(r"-\d+(-of-\d+)?$", "", PurePosixPath(file.path).stem)


def _folders(files: Iterable[HubFile]) -> set[PurePosixPath]:
    return {PurePosixPath(file.path).parent for file in files}


def get_questions(offered: Offer, *, cache_root: Path, github: str, own: Path | None, on_file: OnFile) -> str:
    """Fetch the questions, and return the location for a plan's data.

    Args:
        offered: the release.
        cache_root: our cache folder.
        github: the base address of GitHub files.
        own: a file of questions that the user already has.
        on_file: called for each fetched file.

    Raises:
        DataError: a file cannot be fetched, or does not match its listing.
    """
    revision = offered.listing.address.revision
    folder = offered.fetch(offered.questions, on_file)
    if own is None and offered.config:  # other tables of its folder may have been fetched, too
        apart = cache_root / FOLDER / offered.benchmark / f"{revision}-{offered.config}"
        for question in offered.questions:
            place_file(folder / question.path, apart / PurePosixPath(question.path).name)
        return str(apart)
    if own is None and not offered.release.github:
        return str(replace(offered.listing.address, folder=offered.folder))
    if own is not None:
        try:
            content, file_name = own.read_bytes(), own.name
        except OSError as error:
            raise DataError(f"{own} cannot be read ({cause(error)}); expected a file of questions") from error
        questions = {file_name: content}
    else:
        questions = {
            PurePosixPath(place).name: read_web(f"{github}/{place}") for place in offered.release.github
        }
    digest = hashlib.sha256(b"".join(questions.values())).hexdigest()
    into = cache_root / FOLDER / offered.benchmark / digest[:16]
    for file_name, content in questions.items():
        write_whole(into / file_name, content)
    return str(into / file_name if len(questions) == 1 else into)


def wanted_media(offered: Offer, items: Sequence[Item]) -> NeededMedia:
    """Return the files that contain the media of some questions.

    Archives whose names match a needed folder are chosen; all other archives only for media in no such
    folder.
    """
    media = (medium.path for item in items for medium in item.media if medium.path)
    spare = frozenset(item.subtitles.path for item in items if item.subtitles is not None)
    paths = dict.fromkeys((*media, *sorted(spare)))
    needed = [path for path in paths if is_inside(path)]
    joined = offered.release.joined
    plain = {medium.path: medium for medium in offered.media if not _is_packed(medium, joined)}
    values = matched(list(plain), needed)
    left = tuple(path for path in paths if path not in values)
    archives = [medium for medium in offered.media if _is_packed(medium, joined)]
    folders = [set(PurePosixPath(path).parts[:-1]) for path in left]
    named = {_stem(archive.path) for archive in archives} & set().union(*folders)
    is_elsewhere = any(named.isdisjoint(parts) for parts in folders)
    packed = [archive for archive in archives if is_elsewhere or _stem(archive.path) in named]
    tables = [question for question in offered.questions if question.path.endswith(".parquet")]
    return NeededMedia(
        plain={path: plain[place] for path, place in values.items()},
        packed=tuple((packed or tables) if left else ()),
        left=left,
        spare=spare,
    )


def get_media(
    offered: Offer, wanted: NeededMedia, *, cache_root: Path, on_file: OnFile
) -> tuple[str | None, tuple[str, ...], tuple[str, ...]]:
    """Fetch media and extract archives.

    Returns:
        The location for a plan, or None if it is next to the questions; the paths that are missing; and the
        archive members that were refused.

    Raises:
        DataError: a file cannot be fetched, or an archive cannot be extracted.
    """
    address = offered.listing.address
    folder = offered.fetch(wanted.files, on_file)
    refused: list[str] = []
    free_bytes = FREE_BYTES
    into = _unpacked(cache_root, address)
    left = [path for path in wanted.left if not (is_inside(path) and (into / path).is_file())]
    for name, pieces in _archives(wanted.packed, offered.release.joined):
        if not left:
            break
        needed = list(filter(is_inside, left))
        out = unpack(
            [folder / piece.path for piece in pieces], name, into, free_bytes=free_bytes, needed=needed
        )
        refused, free_bytes = [*refused, *out.refused], out.free_bytes
        left = [path for path in left if path not in out.paths]
    is_apart = len(left) < len(wanted.left)
    left = [path for path in left if path not in wanted.spare]
    roots = {entry.path.removesuffix(path).rstrip("/") for path, entry in wanted.plain.items()}
    if is_apart or len(roots) > 1:  # some come out of archives: all lie together
        for path, file in wanted.plain.items():
            place_file(folder / file.path, into / path)
        root: str | None = str(into)
    else:
        root = str(replace(address, folder=roots.pop())) if roots else None
    return root, tuple(left), tuple(refused)


def get_files(
    offered: Offer, *, cache_root: Path, with_media: bool, on_file: OnFile
) -> tuple[Path, Path | None, tuple[str, ...]]:
    """Fetch the files of any data set; archives are extracted in place, as a user would.

    Returns:
        The folder of the files; the folder of all media, if some came from archives; and the archive members
        that were refused.

    Raises:
        DataError: a file cannot be fetched, or an archive cannot be extracted.
    """
    folder = offered.fetch((*offered.questions, *(offered.media if with_media else ())), on_file)
    archives = [medium for medium in offered.media if with_media and is_archive(medium.path)]
    if not archives:
        return folder, None, ()
    into = _unpacked(cache_root, offered.listing.address)
    refused: list[str] = []
    free_bytes = FREE_BYTES
    for archive in archives:
        done = into.with_name(f"{into.name}.unpacked") / f"{archive.path}.txt"
        if not done.is_file():
            out = unpack([folder / archive.path], archive.path, into, free_bytes=free_bytes)
            free_bytes = out.free_bytes
            write_whole(done, "\n".join(out.refused).encode())
        refused += filter(None, done.read_text(encoding="utf-8").split("\n"))
    for archive in offered.media:
        if not is_archive(archive.path):
            place_file(folder / archive.path, into / archive.path)
    return folder, into, tuple(refused)


def check_room(offered: Offer, files: Sequence[HubFile], *, cache_root: Path, is_unpacked: bool) -> None:
    """Check the free disk space for downloads and extracted archives.

    Raises:
        StoreError: there is not enough; nothing was fetched.
    """
    packed = sum(file.n_bytes for file in files if is_archive(file.path)) if is_unpacked else 0
    absent = sum(file.n_bytes for file in offered.hub.absent(offered.listing, files))
    places = [(offered.hub.cache, absent, "HF_HOME"), (cache_root, packed, "VIDENCE_CACHE")]
    needed: dict[int, int] = {}
    for folder, n_bytes, variable in places:
        there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        device = there.stat().st_dev
        needed[device] = needed.get(device, 0) + n_bytes
        free = shutil.disk_usage(there).free
        if n_bytes and needed[device] > free:
            raise StoreError(
                f"{needed[device] / 1e9:,.1f} GB are needed, and {folder} has {free / 1e9:,.1f} GB left: "
                f"make room, set {variable} to a folder of a larger disk, or fetch fewer questions (--limit)"
            )


def _is_packed(file: HubFile, joined: Sequence[str]) -> bool:
    return is_archive(file.path) or any(fnmatchcase(file.path, pattern) for pattern in joined)


def _archives(packed: Sequence[HubFile], joined: Sequence[str]) -> Iterator[tuple[str, Sequence[HubFile]]]:
    """Yield the archives by full name, each with its parts."""
    for pattern in joined:
        if pieces := sorted(
            (entry for entry in packed if fnmatchcase(entry.path, pattern)), key=attrgetter("path")
        ):
            yield re.sub(r"(\.part)?[_-]?\.?\*", "", pattern), pieces
    for file in packed:
        if not any(fnmatchcase(file.path, pattern) for pattern in joined):
            yield file.path, [file]


def _unpacked(cache_root: Path, address: HubAddress) -> Path:
    return cache_root / FOLDER / address.repo.replace("/", "--") / address.revision


def _stem(path: str) -> str:
    return PurePosixPath(path).name.partition(".")[0]


def place_file(source: Path, target: Path) -> None:
    """Hard-link a file if the disk allows it, else copy it."""
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source.resolve(), target)
    except OSError:
        shutil.copyfile(source, target)


# --------------------------------------------------------------------------- what was fetched


def media_folder(folder: Path, items: Sequence[Item]) -> Path:
    """Return the media folder: as given, its parent if paths start there, or its only subfolder with media.

    Raises:
        UsageError: there is no such folder.
    """
    if not folder.is_dir():
        raise UsageError(f"the folder {folder} (--media) does not exist; expected the folder of the videos")
    paths = [medium.path for item in items for medium in item.media if medium.path]
    if {Path(path).parts[:1] for path in paths} == {(folder.name,)} and not (folder / folder.name).is_dir():
        return folder.parent
    if any((folder / path).exists() for path in paths):
        return folder
    below = matched([str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()], paths)
    roots = {place.removesuffix(f"/{path}") for path, place in below.items() if place.endswith(f"/{path}")}
    return folder / roots.pop() if len(roots) == 1 else folder


def note(cache_root: Path, benchmark: str, got: Got) -> None:
    """Record a fetch: as the benchmark's last one, and for its data.

    Media that were fetched earlier for the same data are kept in the record.
    """
    if got.media is None and (before := fetched_from(cache_root, got.data)) is not None:
        got = msgspec.structs.replace(got, media=before.media)
    if benchmark:
        write_whole(_note(cache_root, benchmark), msgspec.json.encode(got))
    for data in {got.data, got.release}:
        write_whole(_note_of_data(cache_root, data), msgspec.json.encode(got))


def fetched_from(cache_root: Path, data: str) -> Got | None:
    """Return the record of a plan's data, including folders inside an address; None if there is none.

    Raises:
        StoreError: the record is damaged.
    """
    whole = str(replace(HubAddress.parse(data), folder="")) if is_address(data) else data
    for path in (_note_of_data(cache_root, name) for name in dict.fromkeys((data, whole))):
        if path.is_file():
            return _read_note(path, f"remove it, or fetch {data} again")
    return None


def is_fetched(cache_root: Path, benchmark: str) -> bool:
    """Whether any part of a benchmark was fetched."""
    return _note(cache_root, benchmark).is_file()


def noted(cache_root: Path, benchmark: str) -> Got:
    """Return the last fetch of a benchmark.

    Raises:
        UsageError: nothing was fetched; the message has the command, or says why there is none.
    """
    path = _note(cache_root, benchmark)
    if path.is_file():
        return _read_note(path, f"fetch it again: vidence get {benchmark}")
    release = _release(benchmark)
    if release is None or release.absent:
        why = f"; {release.absent}" if release else ""
        raise UsageError(f"name the questions of {benchmark} with --data{why}")
    raise UsageError(
        f"{benchmark} was not fetched: run vidence get {benchmark} --media, or name its questions with --data"
    )


def _read_note(path: Path, what_to_do: str) -> Got:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Got)
    except (msgspec.DecodeError, OSError) as error:
        raise StoreError(f"{path} is damaged ({cause(error)}); {what_to_do}") from error


def file_hashes(files: Iterable[HubFile]) -> dict[str, str]:
    """Return the hashes of files as listed by the hub: SHA-256, or git's for small files."""
    return {file.path: file.sha256 or f"git:{file.git_sha1}" for file in files}


def _note(cache_root: Path, benchmark: str) -> Path:
    return cache_root / FOLDER / f"{benchmark}.json"


def _note_of_data(cache_root: Path, data: str) -> Path:
    return cache_root / FOLDER / "notes" / f"{hashlib.sha256(data.encode()).hexdigest()[:32]}.json"
