"""A set of questions as it is given away: files with checksums, written once and whole."""

import hashlib
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import msgspec

from vidence.errors import StoreError, UsageError, VidenceError
from vidence.make.gates.rules import ReleaseRules
from vidence.make.pipeline.ledger import Account, Ledger
from vidence.make.pipeline.material import Dropped, VideoSource
from vidence.make.pipeline.output import Question, item_of, json_file, json_lines
from vidence.make.release.exporters.exporting import ExportSet, exporters
from vidence.make.release.media import NOTHING, Attached, sha256_of
from vidence.make.release.words import Facts, citation, datasheet, eval_yaml
from vidence.media.whole import temporary_beside
from vidence.records import Item, Record

RELEASE = "release"
SUMS_FILE = "SHA256SUMS"
ABOUT = Path("about")
NO_LICENCE = "no-licence"
_FORMATS = ("items", "herbench")
_CITE = "Please cite this set of questions, and HERBench, whose construction it follows."


class ReleasedVideo(Record, omit_defaults=True):
    """One video that questions of a release are about; it is not part of the release."""

    video_id: str
    path: str
    source_id: str = ""
    split: str
    n_questions: int
    sha256: str = ""
    collection: str = ""
    licence: str = ""


class Manifest(Record):
    """What a release holds: ``about/release.json``."""

    format: str = "vidence-release/1"
    name: str
    version: str
    maker: str
    questions: dict[str, int]
    splits: dict[str, tuple[str, ...]]
    videos: tuple[ReleasedVideo, ...]


def without_licence(
    questions: Sequence[Question], rules: ReleaseRules
) -> tuple[tuple[Question, ...], tuple[Dropped, ...]]:
    """Leave out questions about sources that have no licence and are not allowed by name."""
    kept: list[Question] = []
    dropped: list[Dropped] = []
    for one in questions:
        video = one.video
        if video.licence or {video.video_id, video.collection} & {*rules.without_licence}:
            kept.append(one)
        else:
            detail = (
                f"{video.collection or video.video_id} has no licence; name it in without_licence, or say one"
            )
            dropped.append(Dropped(what=one.draft.draft_id, stage=RELEASE, reason=NO_LICENCE, detail=detail))
    return tuple(kept), tuple(dropped)


def release_files(
    questions: Sequence[Question],
    rules: ReleaseRules,
    *,
    facts: Facts,
    seed: int,
    extra: Mapping[str, bytes],
) -> dict[Path, bytes]:
    """Every file of a release by its path; the same questions and rules give the same bytes.

    Args:
        questions: what is released, at least one.
        rules: under which name.
        facts: what the datasheet says of the making.
        seed: decides the splits.
        extra: further files for ``about/``, by name.

    Raises:
        UsageError: no question is left.
    """
    if not questions:
        raise UsageError("no question is left to release; account.json says what dropped them")
    splits = split_by_source(questions, rules.splits, seed=seed)
    exported = export_set(questions, splits, facts=facts)
    files: dict[Path, bytes] = {}
    for exporter in exporters(_FORMATS):
        files |= exporter.files(exported)
    manifest = _manifest(questions, rules, facts=facts, splits=splits)
    files[ABOUT / "release.json"] = json_file(manifest)
    said = _said(questions, rules)
    files[ABOUT / "eval.yaml"] = eval_yaml(rules, list(rules.splits), name=facts.name, said=said).encode()
    files |= {ABOUT / name: content for name, content in extra.items()}
    files[Path("DATASHEET.md")] = datasheet(questions, splits, rules, facts=facts).encode()
    files[Path("CITATION.cff")] = citation(rules, name=facts.name, message=_CITE).encode()
    return with_sums(files)


def export_set(questions: Sequence[Question], splits: Mapping[str, str], *, facts: Facts) -> ExportSet:
    """The questions of a making as exporters want them, with the names of its tasks and videos."""
    items = [_tagged(item_of(one, maker=facts.maker), splits[one.video.video_id]) for one in questions]
    return ExportSet(
        name=facts.name,
        open_ones=items,
        titles={one.task.code: one.task.title for one in questions},
        video_ids={item.video_id: one.video.video_id for item, one in zip(items, questions, strict=True)},
    )


def with_sums(
    files: Mapping[Path, bytes], *, comment: str = "", more: Mapping[Path, str] = MappingProxyType({})
) -> dict[Path, bytes]:
    """The files with their checksums in one more, behind a comment; `more` are hashes of other files."""
    hashes = {path: hashlib.sha256(content).hexdigest() for path, content in files.items()} | dict(more)
    sums = "".join(
        f"{digest}  {path.as_posix()}\n"
        for path, digest in sorted(hashes.items(), key=lambda one: one[0].as_posix())
    )
    head = f"# {comment}\n" if comment else ""
    return {**files, Path(SUMS_FILE): (head + sums).encode()}


def write_release(
    files: Mapping[Path, bytes],
    folder: Path,
    *,
    check: Callable[[Path], None] | None = None,
    attached: Attached = NOTHING,
) -> bool:
    """Write a release, whole or not at all; whether it is new.

    Args:
        files: by their paths in it.
        folder: where it goes.
        check: looks through the folder before it gets its name, and raises what speaks against it.
        attached: further files, which are copied or linked.

    Raises:
        UsageError: another release is there.
        StoreError: it cannot be written; nothing is left behind.
    """
    if folder.exists():
        _same_or_refuse(files, folder, attached)
        if check is not None:
            check(folder)
        return False
    partial = temporary_beside(folder)
    try:
        for name, content in files.items():
            (partial / name).parent.mkdir(parents=True, exist_ok=True)
            (partial / name).write_bytes(content)
        for name, source in attached.files.items():
            (partial / name).parent.mkdir(parents=True, exist_ok=True)
            if attached.is_linked:
                (partial / name).symlink_to(source)
            else:
                shutil.copyfile(source, partial / name)
        if check is not None:
            check(partial)
        partial.rename(folder)
    except VidenceError:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise StoreError(f"cannot write the release {folder}: {error.strerror or error}") from error
    return True


def split_by_source(
    questions: Sequence[Question], shares: Mapping[str, float], *, seed: int
) -> dict[str, str]:
    """The split of each video, by its id. Videos of one source stay together, and files with the same bytes.

    Sources are taken in an order drawn from the seed and the content of their videos, and each goes to the
    split that lacks most of its questions; of splits that lack the same, to the first one.
    """
    videos = {one.video.video_id: one.video for one in questions}
    asked = Counter(one.video.video_id for one in questions)
    have: Counter[str] = Counter()
    found: dict[str, str] = {}
    together = {min(map(_content, some)): some for some in _kept_together(list(videos.values()))}
    for key in sorted(together, key=lambda name: hashlib.sha256(f"split/{seed}/{name}".encode()).digest()):
        lack = {name: share * len(questions) - have[name] for name, share in shares.items()}
        split = max(shares, key=lambda name: lack[name])
        have[split] += sum(asked[one.video_id] for one in together[key])
        found |= {one.video_id: split for one in together[key]}
    return found


def _content(video: VideoSource) -> str:
    return video.sha256 or video.video_id


def _kept_together(videos: Sequence[VideoSource]) -> list[list[VideoSource]]:
    """Videos that share a source or their bytes, also by way of a third one."""
    groups: list[tuple[set[tuple[str, str]], list[VideoSource]]] = []
    for video in videos:
        names = {("content", _content(video))} | ({("source", video.source_id)} if video.source_id else set())
        joined = [group for group in groups if group[0] & names]
        groups = [group for group in groups if not group[0] & names]
        groups.append(
            (names.union(*(n for n, _ in joined)), [*(one for _, some in joined for one in some), video])
        )
    return [some for _, some in groups]


def _there(folder: Path, ours: Collection[str]) -> set[str]:
    """The files of a folder, without the videos that a user put there."""
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    return {name for name in names if name in ours or not name.startswith("data/videos/")}


def _same_or_refuse(files: Mapping[Path, bytes], folder: Path, attached: Attached) -> None:
    ours = {name.as_posix() for name in (*files, *attached.files)}
    differ = sorted(ours ^ _there(folder, ours)) if folder.is_dir() else [folder.name]
    if not differ:
        differ = sorted(n.as_posix() for n, content in files.items() if (folder / n).read_bytes() != content)
    if not differ:
        differ = sorted(n.as_posix() for n, one in attached.hashes.items() if sha256_of(folder / n) != one)
    if differ:
        raise UsageError(
            f"{folder} holds another release ({differ[0]} differs); a release is never changed. Give the new "
            "one another version, or move the old one away"
        )


def _tagged(item: Item, split: str) -> Item:
    return msgspec.structs.replace(item, tags=item.tags | {"split": split})


def _said(questions: Sequence[Question], rules: ReleaseRules) -> str:
    n_videos = len({one.video.video_id for one in questions})
    return (
        f"{len(questions):,} questions with choices on {n_videos:,} videos, about "
        f"{', '.join(sorted({one.task.title for one in questions}))}; version {rules.version}, made with "
        "vidence."
    )


def _manifest(
    questions: Sequence[Question], rules: ReleaseRules, *, facts: Facts, splits: Mapping[str, str]
) -> Manifest:
    counts = Counter(one.video.video_id for one in questions)
    videos = {one.video.video_id: one.video for one in questions}
    tasks = Counter(one.draft.task for one in questions)
    return Manifest(
        name=facts.name,
        version=rules.version,
        maker=facts.maker,
        questions=dict(sorted(tasks.items())),
        splits={
            name: tuple(one.question_id for one in questions if splits[one.video.video_id] == name)
            for name in rules.splits
        },
        videos=tuple(
            ReleasedVideo(
                video_id=name,
                path=video.path,
                source_id=video.source_id,
                split=splits[name],
                n_questions=counts[name],
                sha256=video.sha256,
                collection=video.collection,
                licence=video.licence,
            )
            for name, video in sorted(videos.items())
        ),
    )


def account_files(ledger: Ledger, questions: Sequence[Question]) -> tuple[Account, dict[str, bytes]]:
    """The account as it stands, and the files of it that belong to a release."""
    account = ledger.account([one.draft.task for one in questions])
    return account, {"account.json": json_file(account), "dropped.jsonl": json_lines(ledger.dropped)}
