"""COCO's JSON files: instances, captions."""

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from vidence.errors import DataError, cause
from vidence.make.pipeline.material import Dropped
from vidence.make.sources.annotations.annotation_records import (
    PERSON,
    AnnotationReader,
    AnnotationRecord,
    Annotations,
    Box,
    Label,
    LabelSpace,
    unusable,
)
from vidence.records import Media, Record, by_key


class Settings(Record):
    """What to read from a COCO file."""

    what: Annotated[Literal["instances", "captions"], Meta(description="type of the file")] = "instances"
    captions: Annotated[str, Meta(description="file of captions beside it")] = ""


class _Image(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    file_name: str


class _Category(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    name: str
    supercategory: str = ""


class _Annotation(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    image_id: int
    category_id: int = 0
    bbox: tuple[float, float, float, float] | None = None
    iscrowd: int = 0
    caption: str = ""


class _File(msgspec.Struct, frozen=True, kw_only=True):
    images: tuple[_Image, ...]
    annotations: tuple[_Annotation, ...]
    categories: tuple[_Category, ...] = ()


class Coco:
    """Reads COCO's formats.

    ``instances``: a record for each category of an image; the label is its name, under its supercategory,
    and the other categories are also true. ``captions``: a record for each image with its first caption,
    without a label. Of images with crowds it is not known how many people they show.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def read(self, path: Path) -> Annotations:
        """The images of a file as records.

        Raises:
            DataError: it is none of COCO's, or has no image.
        """
        read = _read(path)
        captions = _captions(_read(path.parent / self._settings.captions)) if self._settings.captions else {}
        return _of_captions(read) if self._settings.what == "captions" else _of_instances(read, captions)


def create(settings: Settings) -> AnnotationReader:
    """The reader of this format."""
    return Coco(settings)


def _read(path: Path) -> _File:
    try:
        read = msgspec.json.decode(path.read_bytes(), type=_File)
    except (OSError, msgspec.DecodeError) as error:
        raise DataError(f"{path} cannot be read as COCO's JSON: {cause(error)}") from error
    if not read.images:
        raise DataError(f"{path} has no images")
    return read


def _captions(read: _File) -> dict[int, str]:
    captions: dict[int, str] = {}
    for annotation in read.annotations:
        if annotation.caption.strip():
            captions.setdefault(annotation.image_id, " ".join(annotation.caption.split()))
    return captions


def _record(image: _Image, what: str, **more: Any) -> AnnotationRecord:  # noqa: ANN401 - fields of the record
    return AnnotationRecord(
        record_id=f"{image.id}{what}",
        media=(Media(path=image.file_name, kind="image"),),
        source_id=image.file_name,
        **more,
    )


def _of_captions(read: _File) -> Annotations:
    captions = _captions(read)
    return Annotations(
        records=tuple(
            _record(image, "", caption=captions[image.id]) for image in read.images if image.id in captions
        ),
        dropped=tuple(
            unusable(str(image.id), "no-caption", image.file_name)
            for image in read.images
            if image.id not in captions
        ),
    )


def _of_instances(read: _File, captions: dict[int, str]) -> Annotations:
    categories = {category.id: category for category in read.categories}
    labels = tuple(Label(name=category.name, parent=category.supercategory) for category in read.categories)
    records: list[AnnotationRecord] = []
    dropped: list[Dropped] = []
    mine = by_key((annotation.image_id, annotation) for annotation in read.annotations)
    for image in read.images:
        known = [annotation for annotation in mine.get(image.id, ()) if annotation.category_id in categories]
        names = list(dict.fromkeys(categories[annotation.category_id].name for annotation in known))
        if not names:
            dropped.append(unusable(str(image.id), "no-label", f"{image.file_name}: no known category"))
            continue
        boxes, faults = _boxes(known, categories)
        dropped += faults
        is_crowd = any(annotation.iscrowd for annotation in known)
        n_people = None if is_crowd else sum(box.label == PERSON for box in boxes)
        for name in names:
            records.append(
                _record(
                    image,
                    f"-{name.replace(' ', '-')}",
                    label=name,
                    space="category",
                    also_true=tuple(word for word in names if word != name),
                    boxes=boxes,
                    n_people=n_people,
                    caption=captions.get(image.id, ""),
                    truth="labels",
                )
            )
    space = LabelSpace(name="category", labels=labels)
    return Annotations(records=tuple(records), spaces={space.name: space}, dropped=tuple(dropped))


def _boxes(
    known: list[_Annotation], categories: dict[int, _Category]
) -> tuple[tuple[Box, ...], list[Dropped]]:
    """The boxes of an image, and invalid ones."""
    boxes: list[Box] = []
    faults: list[Dropped] = []
    for annotation in known:
        if annotation.bbox is None:
            continue
        left, top, width, height = annotation.bbox
        try:
            box_px = (left, top, left + width, top + height)
            boxes.append(Box(label=categories[annotation.category_id].name, box_px=box_px))
        except ValueError as error:
            faults.append(unusable(f"annotation {annotation.id}", "malformed", str(error)))
    return tuple(boxes), faults
