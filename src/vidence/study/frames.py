"""The very pictures of the conditions ``frames`` and ``frames-of RUN``, byte for byte as models get them."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

import msgspec

from vidence.ask.prompting.compose import Prompter, ShownFrame
from vidence.ask.prompting.templates import Templates
from vidence.engine.environment import Environment
from vidence.engine.evaluate import run
from vidence.engine.events import Event, Listener, Started
from vidence.engine.importing import ITEMS_FILE, write_records
from vidence.engine.plan import Plan, read_plan
from vidence.engine.store import RunStore
from vidence.errors import DataError, MediaError, UsageError
from vidence.explain.errors.packet import rows_as_jsonl
from vidence.media.address import MediaPath, place
from vidence.media.encode import EncodedFrame, Encoding, Size
from vidence.media.files import Job, deliver, located
from vidence.media.whole import write_file
from vidence.records import Failed, ImagePart, Item, Media, Record, Selection, Trial
from vidence.study.drawing import DrawnStudy, study_plan
from vidence.study.problems import frames_run
from vidence.study.study import StudyFile
from vidence.text import some

FRAMES_FILE: Final = "frames.json"
_FOLDER: Final = "frames"
_LOOKS: Final = "scripted:"
_MOST_IDS = 5


class Picture(Record, omit_defaults=True):
    """A picture that a model was sent: the SHA-256 of its bytes, and the times of the frames in it."""

    digest: str
    width_px: int
    height_px: int
    times_s: tuple[float, ...] = ()
    media_type: str = "image/jpeg"

    @property
    def file(self) -> str:
        """Where it lies, from the folder of the study."""
        return f"{_FOLDER}/{self.digest}.{'png' if self.media_type == 'image/png' else 'jpg'}"


class StudyFrames(Record):
    """The pictures of each item under each condition that shows some, in the order in which they are sent."""

    format: Literal["vidence-frames/1"] = "vidence-frames/1"
    items: dict[str, dict[str, tuple[Picture, ...]]]


def shown_conditions(file: StudyFile) -> tuple[str, ...]:
    """The conditions of a study that show pictures, each once."""
    names = dict.fromkeys(phase.condition for phase in file.study.phases)
    return tuple(name for name in names if name == "frames" or frames_run(name))


async def write_frames(
    file: StudyFile, study: DrawnStudy, *, environment: Environment, now: datetime, on_event: Listener
) -> StudyFrames:
    """Write the pictures of a drawn study and `FRAMES_FILE`, each whole; nothing where no phase shows some.

    Those of ``frames-of RUN`` are made again from the stored selection, and their digests must be those in
    the run. Those of ``frames`` are chosen by the benchmark's own protocol; no model is asked.

    Raises:
        DataError: a run has no pictures of an item, or they cannot be made again byte for byte.
        UsageError: the protocol sends whole videos.
        StoreError: a file cannot be written.
    """
    found: dict[str, dict[str, tuple[Picture, ...]]] = {}
    for condition in shown_conditions(file):
        named = frames_run(condition)
        with tempfile.TemporaryDirectory() as folder:
            if not named:
                await _ask_none(
                    file, study, Path(folder), environment=environment, now=now, on_event=on_event
                )
            items = [item for item in study.items if item.media]
            source = file.folder / named if named else Path(folder)
            for item_id, pictures in _stored(source, items, cache=environment).items():
                for picture, content in pictures:
                    path = file.folder / picture.file
                    path.parent.mkdir(exist_ok=True)
                    write_file(path, content)
                found.setdefault(item_id, {})[condition] = tuple(one for one, _ in pictures)
    frames = StudyFrames(items=found)
    if found:
        write_file(file.folder / FRAMES_FILE, rows_as_jsonl([frames]))
    return frames


def read_frames(folder: Path) -> StudyFrames:
    """The pictures of the study in a folder.

    Raises:
        DataError: there are none, or the file cannot be read.
    """
    path = folder / FRAMES_FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=StudyFrames)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read: {error}; run vidence study draw {folder}") from error


async def _ask_none(
    file: StudyFile,
    study: DrawnStudy,
    folder: Path,
    *,
    environment: Environment,
    now: datetime,
    on_event: Listener,
) -> None:
    """A run of the drawn items by the protocol of the set, in which a made-up model looks at the frames."""
    plan = study_plan(file, model=_LOOKS, cache_root=environment.cache_root)
    if plan.layout == "video":
        raise UsageError(
            f"{file.path} shows 'frames', and the protocol {plan.protocol!r} sends whole videos; set the "
            "condition to 'whole', or name another protocol"
        )
    root = file.folder.resolve()
    whole = [
        msgspec.structs.replace(
            item,
            media=tuple(
                msgspec.structs.replace(one, path=str(root / str(one.path)) if _is_here(one) else one.path)
                for one in item.media
            ),
        )
        for item in study.items
        if item.media
    ]
    write_records(folder / ITEMS_FILE, whole)
    here = {
        "benchmark": "table",
        "data": str(folder / ITEMS_FILE),
        "split": "all",
        "media": None,
        "map": None,
    }
    plan = msgspec.structs.replace(plan, **here, where={}, parser="robust", text_parser="needs-judge")

    def heard(event: Event) -> None:  # notes of this run are of a folder that does not stay
        on_event(replace(event, notes=(), problems=()) if isinstance(event, Started) else event)

    await run(plan, folder, environment=environment, now=now, on_event=heard)


def _is_here(media: Media) -> bool:
    return bool(media.path) and isinstance(place(str(media.path)), Path)


# --------------------------------------------------------------------------- pictures of a stored run


def _stored(
    folder: Path, items: Sequence[Item], *, cache: Environment
) -> dict[str, list[tuple[Picture, bytes]]]:
    """The pictures that a stored run was sent for some items, made again and compared by their digests."""
    plan, facts = read_plan(folder)
    with RunStore(folder) as store:
        media = {item.item_id: item for item in store.items()}
        trials = {trial.item_id: trial for trial in store.trials() if trial.repeat == 0}
    absent = [item.item_id for item in items if not _parts(trials.get(item.item_id))]
    if absent:
        first = trials.get(absent[0])
        why = f" ({first.score.outcome.message})" if first and isinstance(first.score.outcome, Failed) else ""
        raise DataError(
            f"{folder} has no pictures of {len(absent)} drawn items: {some(absent, most=_MOST_IDS)}{why}; "
            "draw of items that the run was shown pictures of"
        )
    desk = _Desk(plan=plan, root=place(facts.media_root), cache=cache)
    return {item.item_id: desk.pictures(media[item.item_id], trials[item.item_id]) for item in items}


def _parts(trial: Trial | None) -> list[ImagePart]:
    """The pictures of a trial's prompt."""
    parts = trial.prompt.parts if trial is not None and trial.prompt is not None else ()
    return [part for part in parts if isinstance(part, ImagePart)]


@dataclass(frozen=True, kw_only=True)
class _Desk:
    """Makes the pictures of one run again."""

    plan: Plan
    root: MediaPath
    cache: Environment

    def pictures(self, item: Item, trial: Trial) -> list[tuple[Picture, bytes]]:
        """The pictures of a trial with their bytes.

        Raises:
            DataError: one has another digest: the medium or the encoder has changed since.
            MediaError: a medium cannot be read.
        """
        selection, plan = trial.selection, self.plan
        shown = [] if selection is None else self._frames(item, selection)
        prompter = Prompter(
            Templates.load("plain"),
            style="direct",
            layout=plan.layout,
            frame_times=False,
            jpeg_quality=plan.jpeg_quality,
        )
        made: Mapping[str, bytes] = prompter.prompt(item, shown, duration_s=0.0).images
        found = []
        for part in _parts(trial):
            if part.digest not in made:
                raise DataError(
                    f"a picture of {item.item_id!r} cannot be made again as {plan.model} was sent it "
                    f"(SHA-256 {part.digest[:16]}...): the medium or the encoder has changed; run it again"
                )
            times = tuple(shown[i].time_s for i in part.frames)
            found.append(
                (
                    Picture(
                        digest=part.digest,
                        width_px=part.width_px,
                        height_px=part.height_px,
                        times_s=times,
                        media_type=part.media_type,
                    ),
                    made[part.digest],
                )
            )
        return found

    def _frames(self, item: Item, selection: Selection) -> list[ShownFrame]:
        plan = self.plan
        encoding = Encoding(
            size=Size.parse(plan.size),
            format="png" if plan.layout.startswith("montage") else "jpeg",
            quality=plan.jpeg_quality,
        )
        frames: dict[tuple[int, int], EncodedFrame] = {}
        for index in sorted({ref.media_index for ref in selection.frames}):
            job = Job(
                path=str(located(self.root, item.media[index])),
                kind=item.media[index].kind,
                frame_indices=tuple(ref.frame_index for ref in selection.frames if ref.media_index == index),
                encoding=encoding,
                cache_root=str(self.cache.cache_root),
                cache_max_bytes=self.cache.cache_max_bytes,
            )
            delivery = deliver(job)
            for message in delivery.problems.values():
                raise MediaError(message)
            frames |= {(index, frame_index): one for frame_index, one in delivery.frames.items()}
        return [
            ShownFrame(frame=frames[ref.media_index, ref.frame_index], time_s=ref.time_s)
            for ref in selection.frames
        ]
