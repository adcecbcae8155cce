"""Media of a project: find files in its folders, register them, serve them by token."""

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

import msgspec
import numpy as np
from django.db import transaction

from vidence.errors import DataError, MediaError, UsageError
from vidence.make.gates.licence_checking import film_in
from vidence.make.writing.expert_films import Film
from vidence.media.files import MediaFacts, read_facts
from vidence.media.stills import images_in
from vidence.records import Media, Record
from vidence.studio.bridge.items import EvidenceExtra, bare_piece, wording_of
from vidence.studio.media import token_of
from vidence.studio.records.items import ItemRow, MediumRow
from vidence.studio.records.people import ProjectRow
from vidence.studio.rules.faults import Shape
from vidence.studio.rules.forms import MOST_MEDIA
from vidence.studio.rules.wording import Mark, Wording, box_of, frame_numbers, seconds
from vidence.studio.settings import current

MediumKind: TypeAlias = Literal["video", "image", "images", "frames"]
_VIDEOS: Final = frozenset(
    {".mp4", ".m4v", ".mov", ".webm", ".mkv", ".avi", ".mpg", ".mpeg", ".ts", ".wmv", ".ogv"}
)
_PICTURES: Final = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif"})
_MOST_ENTRIES: Final = 20_000
_GONE: Final = ("rejected", "withdrawn", "voided")
ORDER: Final = "media"
"""Key of an item's media in its strata, in order, by public name."""


class Candidate(Record):
    """A file, or folder of pictures, in the media folders; `path` is relative to its folder."""

    path: str
    kind: MediumKind
    is_taken: bool


class MediumPreview(Record):
    """A picture, video or folder of an item as a page shows it; no `token` if it cannot be read."""

    name: str
    kind: Literal["video", "image", "frames"]
    token: str
    why: str = ""


class Pictured(Record):
    """Evidence on a picture as a page draws it: the `n`-th piece, on the picture of this number, both from 1.

    `width_px` and `height_px` are those of the picture, `box` is left, top, width and height in its pixels;
    None: all of it.
    """

    n: int
    picture: int
    name: str
    token: str
    width_px: int
    height_px: int
    kind: str
    text: str
    box: tuple[float, float, float, float] | None = None


def roots_of(project: ProjectRow) -> tuple[Path, ...]:
    """Return the media folders of the project, or those of the studio."""
    return (Path(project.media_root),) if project.media_root else current().settings.media_roots


def candidates(project: ProjectRow, *, words: str = "", most: int = 100) -> tuple[list[Candidate], bool]:
    """Return the media that can be registered, by name, and whether there are more.

    Args:
        project: whose folders are looked through; hidden files and links to folders are left out.
        words: parts of the path, all of which it has.
        most: how many are given.
    """
    taken = set(MediumRow.objects.filter(project=project).values_list("path", flat=True))
    wanted = words.casefold().split()
    candidates = (
        Candidate(path=path, kind=kind, is_taken=path in taken)
        for root in roots_of(project)
        for path, kind in _media_in(root)
        if all(name in path.casefold() for name in wanted)
    )
    some = list(islice(candidates, most + 1))
    return some[:most], len(some) > most


def _media_in(root: Path) -> Iterator[tuple[str, MediumKind]]:
    n_seen = 0
    for folder, names, entries in os.walk(root):
        names[:] = sorted(name for name in names if not name.startswith("."))
        files = sorted(entry for entry in entries if not entry.startswith("."))
        n_seen += len(files)
        if n_seen > _MOST_ENTRIES:
            return
        place = Path(folder).relative_to(root)
        pictures = [name for name in files if Path(name).suffix.lower() in _PICTURES]
        if len(pictures) > 1 and place.parts:
            yield place.as_posix(), "images" if len(pictures) <= MOST_MEDIA else "frames"
        for file in files:
            if kind := kind_of(file):
                yield (place / file).as_posix(), kind


def kind_of(name: str) -> MediumKind | None:
    """Return the kind of medium by file extension; None for neither a video nor a picture."""
    suffix = Path(name).suffix.lower()
    return "video" if suffix in _VIDEOS else "image" if suffix in _PICTURES else None


def add_medium(
    project: ProjectRow, path: str, *, kind: MediumKind, url: str = "", source_id: str = ""
) -> MediumRow:
    """Register a medium with its file's length, frames and hash; an existing one is kept.

    Raises:
        UsageError: the kind is none, or the address is too long.
        MediaError: it lies outside the folders of media, or cannot be read.
    """
    if kind not in (kinds := get_args(MediumKind)):
        raise UsageError(f"the kind {kind!r:.40}; expected {', '.join(kinds)}")
    if max(len(path), len(url)) > 1_000 or len(source_id) > 300:
        raise UsageError("a path or an address is too long; expected 1,000 characters at most")
    place, inside = _place(project, path)
    for entry, its_kind in _files(place, kind):
        token_of(entry, kind=its_kind, roots=roots_of(project))
    facts = _facts(place, kind)
    if kind == "images" and len(images_in(place)) > MOST_MEDIA:
        raise MediaError(f"{path}: {len(images_in(place))} pictures; an item has {MOST_MEDIA} at most")
    row: MediumRow
    row, _ = MediumRow.objects.get_or_create(
        project=project,
        path=inside,
        defaults={
            "kind": kind,
            "url": url.strip(),
            "title": Path(inside).name,
            "source_id": source_id.strip() or film_in(url.strip()) or inside,
            "sha256": "" if facts is None else facts.content_hash,
            "n_frames": None if facts is None else len(facts.times_s),
            "duration_s": facts.probe.counted.duration_s if facts is not None and kind == "video" else None,
            "state": "usable",
        },
    )
    return row


def _place(project: ProjectRow, path: str) -> tuple[Path, str]:
    """Return the folder of a medium and its path in that folder.

    Raises:
        MediaError: it is in none of the folders.
    """
    if "\0" in path or Path(path).is_absolute() or ".." in Path(path).parts or not path.strip():
        raise MediaError(f"{path!r:.100}: expected a path below the media folders, without '..'")
    for root in roots_of(project):
        if (root / path).exists():
            return root / path, Path(path).as_posix()
    raise MediaError(f"{path:.200}: is not in a media folder of this project")


def _files(place: Path, kind: str) -> list[tuple[Path, Literal["video", "image", "frames"]]]:
    if kind == "images":
        return [(image, "image") for image in images_in(place)]
    return [(place, "video" if kind == "video" else "image" if kind == "image" else "frames")]


def _facts(place: Path, kind: str) -> MediaFacts | None:
    """Return a file's facts; a set of pictures has none as a whole."""
    if kind == "images":
        return None
    settings = current().settings
    return read_facts(place, kind=kind, cache_root=settings.cache_root or settings.data / "cache")


# --------------------------------------------------------------------------- of one item


def media_rows(item: ItemRow) -> list[MediumRow]:
    """Return an item's media in order."""
    rows = {str(medium.public): medium for medium in item.media.all()}
    order = [rows.pop(name) for name in item.strata.get(ORDER, []) if name in rows]
    return order + sorted(rows.values(), key=lambda entry: entry.path)


def as_media(rows: Sequence[MediumRow], project: ProjectRow) -> tuple[Media, ...]:
    """Return the media as an item names them; each picture of a set separately.

    Raises:
        MediaError: a folder is gone, or is empty.
    """
    entries = []
    for row in rows:
        if row.kind == "images":
            place, inside = _place(project, row.path)
            entries += [Media(path=f"{inside}/{image.name}", kind="image") for image in images_in(place)]
        else:
            entries.append(
                Media(path=row.path, url=row.url or None, kind=row.kind, sha256=row.sha256 or None)
            )
    return tuple(entries)


def shown_media(rows: Sequence[MediumRow], project: ProjectRow) -> tuple[MediumPreview, ...]:
    """Return the media for display, in the order of `as_media`; unreadable ones say why."""
    previews: list[MediumPreview] = []
    for row in rows:
        try:
            place, _ = _place(project, row.path)
            for path, kind in _files(place, row.kind):
                token = token_of(path, kind=kind, roots=roots_of(project), project=project.slug)
                previews.append(MediumPreview(name=path.name, kind=kind, token=token))
        except MediaError as error:
            kind = "video" if row.kind == "video" else "image"
            previews.append(MediumPreview(name=row.title, kind=kind, token="", why=str(error)))
    return tuple(previews)


def shapes_of(rows: Sequence[MediumRow], media: Sequence[Media], project: ProjectRow) -> tuple[Shape, ...]:
    """Return the media for a form's rules, in the order of `as_media`.

    The pixels of a picture that cannot be read are not known: the page says of it why.

    Args:
        rows: the media that were taken in; none of an imported item.
        media: what the item names.
        project: whose they are.
    """
    n_frames = {row.path: row.n_frames for row in rows if row.kind in ("video", "frames")}
    return tuple(_shape(medium, n_frames.get(medium.path or ""), project) for medium in media)


def _shape(media: Media, n_frames: int | None, project: ProjectRow) -> Shape:
    if media.kind != "image":
        return Shape(kind=media.kind, n_frames=n_frames)
    try:
        facts = _facts(_place(project, media.path or "")[0], "image")
    except MediaError:
        facts = None
    if facts is None:
        return Shape(kind="image")
    return Shape(kind="image", n_frames=1, width_px=facts.probe.width_px, height_px=facts.probe.height_px)


def pictured(
    previews: Sequence[MediumPreview], shapes: Sequence[Shape], written: Wording
) -> tuple[Pictured, ...]:
    """Return the evidence on pictures, with boxes; unreadable pictures are left out.

    Args:
        previews: the media, in order.
        shapes: the same, as `shapes_of` knows them.
        written: whose evidence it is.
    """
    entries = []
    for n, mark in enumerate(written.evidence, 1):
        if mark.medium >= min(len(previews), len(shapes)):
            continue
        medium, shape = previews[mark.medium], shapes[mark.medium]
        if medium.kind != "image" or not (medium.token and shape.width_px and shape.height_px):
            continue
        box = box_of(mark)
        entries.append(
            Pictured(
                n=n,
                picture=mark.medium + 1,
                name=medium.name,
                token=medium.token,
                width_px=shape.width_px,
                height_px=shape.height_px,
                kind=mark.kind,
                text=mark.text,
                box=None if box is None else (box[0], box[1], box[2] - box[0], box[3] - box[1]),
            )
        )
    return tuple(entries)


def pictured_in(item: ItemRow, content: Mapping[str, object]) -> tuple[Pictured, ...]:
    """Return a wording's evidence on pictures; empty if it may not be seen, or cannot be read."""
    rows = media_rows(item)
    if "evidence" not in content or not any(row.kind in ("image", "images") for row in rows):
        return ()
    try:
        media, written = as_media(rows, item.project), wording_of(content)
    except (DataError, MediaError):  # the page says of its fields and its media what cannot be read
        return ()
    return pictured(shown_media(rows, item.project), shapes_of(rows, media, item.project), written)


def films_of(rows: Sequence[MediumRow]) -> tuple[Film, ...]:
    """Return the media for checks of drafts and licences."""
    return tuple(
        Film(
            video_id=row.path, path=row.path, url=row.url, source_id=row.source_id, duration_s=row.duration_s
        )
        for row in rows
    )


def pieces_of(written: Wording, media: Sequence[Media], project: ProjectRow) -> tuple[EvidenceExtra, ...]:
    """Return the frames on screen at the marked evidence's times.

    Raises:
        MediaError: a medium cannot be read.
    """
    return tuple(_piece(mark, media, project) for mark in written.evidence)


def _piece(mark: Mark, media: Sequence[Media], project: ProjectRow) -> EvidenceExtra:
    bare = bare_piece(mark, media)
    start, end = seconds(mark.start), seconds(mark.end)
    named = frame_numbers(mark.frames) or ()
    has_span = start is not None and end is not None
    if not (has_span or named) or mark.medium >= len(media) or media[mark.medium].kind == "image":
        return bare
    medium = media[mark.medium]
    facts = _facts(_place(project, medium.path or "")[0], medium.kind)
    if facts is None:
        return bare
    if named:
        times_s = tuple(round(float(facts.times_s[index]), 6) for index in named)
        bare = msgspec.structs.replace(bare, times_s=times_s)
    if start is None or end is None:
        return bare
    # A time that was marked is printed with few digits: it may lie just before its frame.
    frames = np.searchsorted(facts.times_s, [start + 1e-4, end + 1e-4], side="right") - 1
    first, last = (int(n) for n in np.maximum(frames, 0))
    return msgspec.structs.replace(bare, first=first, last=last)


# --------------------------------------------------------------------------- new items


def n_items_of(medium: MediumRow) -> int:
    """Return the number of items about a medium, without abandoned ones."""
    return int(medium.items.exclude(state__in=_GONE).count())


def new_item(
    project: ProjectRow, media: Sequence[MediumRow], *, kind: str, form: str, author: object, quota: int
) -> ItemRow:
    """Create an item about some media.

    Raises:
        UsageError: there are too many media, or one has as many items as its quota.
    """
    from vidence.studio.workflow import protocol_of

    now = current().settings.clock()
    with transaction.atomic():
        locked = ProjectRow.objects.select_for_update().get(pk=project.pk)
        if not 1 <= len(media) <= MOST_MEDIA:
            raise UsageError(f"{len(media)} media; an item is about 1 to {MOST_MEDIA}")
        for medium in media:
            if quota and n_items_of(medium) >= quota:
                raise UsageError(
                    f"{medium.path} has {quota} items, which is its quota; choose another medium"
                )
        n = ItemRow.objects.filter(project=locked).count() + 1
        while ItemRow.objects.filter(project=locked, item_id=f"{locked.slug}-{n:04d}").exists():
            n += 1
        item: ItemRow = ItemRow.objects.create(
            project=locked,
            item_id=f"{locked.slug}-{n:04d}",
            kind=kind,
            author=author,
            state="drafting",
            returns_left=protocol_of(locked).returns,
            strata={"form": form, ORDER: [str(row.public) for row in media]},
            created_at=now,
            changed_at=now,
        )
        item.media.set(media)
    return item
