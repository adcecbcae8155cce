"""Gather records from their sources, and pair them with tasks."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from vidence.catalog import create as make_one
from vidence.errors import DataError, MediaError
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.session import BuildContext
from vidence.make.sources.annotations.annotation_records import (
    AnnotationReader,
    AnnotationRecord,
    Annotations,
    LabelSpace,
    unusable,
)
from vidence.make.writing.choices_config import Order, Plan, SourceRules
from vidence.media.files import resolve
from vidence.records import Media
from vidence.text import normal_form

TASKS: Final = "tasks"
MOST_MEDIA: Final = 6
MEDIA_FOLDER: Final = "media"
_TRAIN: Final = ("train", "training", "trainval")


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A record and a task; `key` is the unique name of its question."""

    key: str
    order: Order
    record: AnnotationRecord
    space: LabelSpace | None


@dataclass(frozen=True, kw_only=True)
class GatheredRecords:
    """The usable records by name, and the account of the others."""

    taken: tuple[str, ...]
    records: Mapping[str, AnnotationRecord]
    source_of: Mapping[str, str]
    spaces: Mapping[str, Mapping[str, LabelSpace]]
    dropped: tuple[Dropped, ...]
    notes: tuple[str, ...]


def read_sources(plan: Plan, root: Path) -> dict[str, Annotations]:
    """Read the files of all sources that tasks need.

    Raises:
        VidenceError: a file cannot be used.
    """
    wanted = {name for order in plan.orders for name in order.rules.sources}
    sources: dict[str, Annotations] = {}
    for source in plan.config.records:
        if source.name in wanted:
            reader: AnnotationReader = make_one("annotation-format", source.format)
            sources[source.name] = reader.read(root / source.path)
    return sources


def gather(
    plan: Plan, read: Mapping[str, Annotations], *, root: Path, context: BuildContext
) -> GatheredRecords:
    """Return all usable records of all sources.

    Reasons: ``no-medium``, ``missing``, ``unreadable``, ``span-outside``, ``train-split``, ``no-licence``,
    ``label-not-in-space``, ``contradiction``, ``twice``, and those of the formats.

    Source: HumanPCR, appendix B.3.1 (test and validation splits; the paper says it of its open questions).
    """
    taken: dict[str, None] = {}
    records: dict[str, AnnotationRecord] = {}
    source_of: dict[str, str] = {}
    dropped: list[Dropped] = []
    notes: list[str] = []
    for source in plan.config.records:
        if source.name not in read:
            continue
        mine = read[source.name]
        looker = _Looker(source=source, root=root, context=context)
        notes += [f"{source.name}: {note}" for note in mine.notes]
        if not source.media:
            notes.append(f"{source.name}: no folder of media is named; no medium was looked at")
        for entry in mine.dropped:
            name = _once(f"{source.name}/{entry.what}", taken)
            taken[name] = None
            dropped.append(msgspec.structs.replace(entry, what=name))
        for record in mine.records:
            name = f"{source.name}/{record.record_id}"
            is_second = name in records
            name = _once(name, taken)
            taken[name] = None
            fault = (
                ("twice", "a second record of this id") if is_second else looker.fault(record, mine.spaces)
            )
            if fault is not None:
                dropped.append(unusable(name, *fault))
                continue
            records[name] = looker.completed(record)
            source_of[name] = source.name
    against = _contradictions(
        records, {name: annotations.spaces for name, annotations in read.items()}, source_of
    )
    dropped += [unusable(name, "contradiction", why) for name, why in against.items()]
    return GatheredRecords(
        taken=tuple(taken),
        records={
            name: annotation_record for name, annotation_record in records.items() if name not in against
        },
        source_of=source_of,
        spaces={name: annotations.spaces for name, annotations in read.items()},
        dropped=tuple(dropped),
        notes=tuple(notes),
    )


def _once(name: str, taken: Collection[str]) -> str:
    """Return the name, with a number if it is taken."""
    number = 2
    once = name
    while once in taken:
        once, number = f"{name}#{number}", number + 1
    return once


@dataclass(frozen=True, kw_only=True)
class _Looker:
    """The checks of a source's records."""

    source: SourceRules
    root: Path
    context: BuildContext

    def fault(self, record: AnnotationRecord, spaces: Mapping[str, LabelSpace]) -> tuple[str, str] | None:
        """Return why a record is unusable, with the value seen."""
        split = record.source_split or self.source.split
        if split.casefold() in _TRAIN and not self.source.allow_train:
            return "train-split", f"split {split!r}; set allow_train to use it"
        if not (record.licence or self.source.licence):
            return "no-licence", "neither the record nor its source says under which licence it is"
        if fault := _media_fault(record.media) or self._unreadable(record.media):
            return fault
        space = spaces.get(record.space)
        if record.space and space is None:
            return "label-not-in-space", f"there is no label space {record.space!r}"
        if record.label and space is not None and space.find(record.label) is None:
            return "label-not-in-space", f"{record.label!r} is no label of {record.space!r}"
        return None

    def _unreadable(self, media: Sequence[Media]) -> tuple[str, str] | None:
        """Return what is wrong with a record's files, if a media folder is given."""
        if not self.source.media:
            return None
        for medium in media:
            try:
                path = resolve(self.root / self.source.media, medium)
                if not path.exists():
                    return "missing", f"there is nothing at {medium.path or medium.url}"
                video = self.context.video(path, kind=medium.kind)
            except (DataError, MediaError) as error:
                return "unreadable", str(error)
            end_s = video.probe.counted.duration_s
            if medium.end_s is not None and medium.end_s > end_s + 1.0:
                return (
                    "span-outside",
                    f"{medium.path} lasts {end_s:.1f} s; the clip ends at {medium.end_s:.1f} s",
                )
        return None

    def completed(self, record: AnnotationRecord) -> AnnotationRecord:
        """Return the record with its source's defaults, and media paths in the set's folder."""
        return msgspec.structs.replace(
            record,
            media=tuple(_placed(medium, self.source.name) for medium in record.media),
            source=record.source or self.source.name,
            source_split=record.source_split or self.source.split,
            licence=record.licence or self.source.licence,
            source_id=record.source_id or (record.media[0].path or record.media[0].url or ""),
            truth=record.truth or f"labels by {record.source or self.source.name}",
        )


def _media_fault(media: Sequence[Media]) -> tuple[str, str] | None:
    """Reject media other than one image, two to six images, or one clip."""
    if not media or not all(entry.path or entry.url for entry in media):
        return "no-medium", "the record names none"
    if len(media) > MOST_MEDIA:
        return "no-medium", f"{len(media)} media; expected {MOST_MEDIA} at most"
    if len(media) > 1 and any(entry.kind != "image" for entry in media):
        return "no-medium", "several media that are not all images; expected one clip, or only images"
    for medium in media:
        if medium.start_s is not None and medium.end_s is not None and medium.end_s <= medium.start_s:
            return "no-medium", f"a clip from {medium.start_s:g} to {medium.end_s:g} s"
    return None


def _placed(medium: Media, source: str) -> Media:
    if medium.path is None or Path(medium.path).is_absolute():
        return medium
    return msgspec.structs.replace(medium, path=f"{MEDIA_FOLDER}/{source}/{medium.path}")


def _contradictions(
    records: Mapping[str, AnnotationRecord],
    spaces: Mapping[str, Mapping[str, LabelSpace]],
    source_of: Mapping[str, str],
) -> dict[str, str]:
    """Return records that contradict another one about the same thing, and how."""
    groups: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for name, record in records.items():
        if record.label and not record.question:
            boxes = tuple(box.box_px for box in record.boxes if box.is_target)
            groups[(record.space, record.media, boxes, tuple(sorted(record.fields.items())))].append(name)
    contradictions: dict[str, str] = {}
    for names in groups.values():
        for name in names:
            record = records[name]
            space = spaces[source_of[name]].get(record.space)
            for other in names:
                label = records[other].label
                if other != name and not _agree(record, records[other], space):
                    contradictions[name] = f"{record.label!r}; {other} says {label!r}"
    return contradictions


def _agree(record: AnnotationRecord, other: AnnotationRecord, space: LabelSpace | None) -> bool:
    """Return whether both labels may be true: equal, stated as compatible, or nested."""
    if normal_form(record.label) == normal_form(other.label):
        return True
    if other.label in record.also_true or record.label in other.also_true:
        return True
    label = None if space is None else space.find(record.label)
    return space is not None and label is not None and other.label in space.kin(label.name)


# --------------------------------------------------------------------------- tasks


def pair_up(
    plan: Plan, gathered: GatheredRecords, *, limit: int | None
) -> tuple[tuple[str, ...], tuple[Pair, ...], tuple[Dropped, ...]]:
    """Pair every record with every task that uses its source: all names, kept pairs, dropped ones.

    Reasons: ``other-medium``, ``no-label``, ``no-caption``, ``no-question``, ``over-label``, ``over-most``,
    ``over-the-limit``. Which of too many stay is drawn from the seed and the names.
    """
    taken: list[str] = []
    kept: list[Pair] = []
    dropped: list[Dropped] = []
    for order in plan.orders:
        mine: list[Pair] = []
        for name, record in gathered.records.items():
            source = gathered.source_of[name]
            if source not in order.rules.sources:
                continue
            key = f"{order.name}/{name}"
            taken.append(key)
            space = gathered.spaces[source].get(order.rules.space or record.space)
            fault = _unfit(order, record, space)
            if fault is None:
                mine.append(Pair(key=key, order=order, record=record, space=space))
            else:
                dropped.append(Dropped(what=key, stage=TASKS, reason=fault[0], detail=fault[1]))
        some, over = _thinned(mine, order, seed=plan.config.seed, limit=limit)
        kept += some
        dropped += over
    return tuple(taken), tuple(kept), tuple(dropped)


def _unfit(order: Order, record: AnnotationRecord, space: LabelSpace | None) -> tuple[str, str] | None:
    rules, wanted = order.rules, order.home.task.medium
    medium = medium_word(record.media)
    if wanted and medium != wanted:
        return "other-medium", f"{medium}; the task wants {wanted}"
    if not record.label.strip():
        return "no-label", "nothing says what is right"
    if rules.options == "labels" and space is None:
        return "no-label", f"no label space {rules.space or record.space!r} to take wrong choices from"
    if rules.way == "model" and not record.caption.strip():
        return "no-caption", "a model writes from caption and label"
    if rules.way == "people" and not record.question.strip():
        return "no-question", "none is written"
    return None


def medium_word(media: Sequence[Media]) -> str:
    """Return ``image``, ``images`` or ``video``."""
    if any(medium.kind != "image" for medium in media):
        return "video"
    return "image" if len(media) == 1 else "images"


def _thinned(
    mine: Sequence[Pair], order: Order, *, seed: int, limit: int | None
) -> tuple[list[Pair], list[Dropped]]:
    """Limit a task's pairs, keeping their order."""
    rules = order.rules
    by_label: Counter[str] = Counter()
    out: dict[str, tuple[str, str]] = {}
    n_kept = 0
    for pair in sorted(mine, key=lambda entry: rank(seed, entry.key)):
        if rules.per_label and by_label[pair.record.label] >= rules.per_label:
            out[pair.key] = "over-label", f"{rules.per_label} questions about {pair.record.label!r} are there"
        elif rules.most and n_kept >= rules.most:
            out[pair.key] = "over-most", f"{rules.most} questions of the task are there"
        elif limit is not None and n_kept >= limit:
            out[pair.key] = "over-the-limit", f"--limit {limit}"
        else:
            by_label[pair.record.label] += 1
            n_kept += 1
    kept = [entry for entry in mine if entry.key not in out]
    gone = [
        Dropped(what=key, stage=TASKS, reason=reason, detail=detail) for key, (reason, detail) in out.items()
    ]
    return kept, gone


def rank(seed: int, name: str) -> bytes:
    """Return a sort key drawn from a seed."""
    return hashlib.sha256(f"choices/{seed}/{name}".encode()).digest()


def generator(seed: int, *names: str) -> np.random.Generator:
    """Return a generator determined by a seed and its purpose."""
    return np.random.default_rng(list(rank(seed, "/".join(names))))
