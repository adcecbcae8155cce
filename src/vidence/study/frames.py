"""Write the frames of the conditions ``frames`` and ``frames-of RUN``, exactly as models receive them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

import msgspec

from vidence.ask.files import read_json
from vidence.engine.engine import ItemFailedError
from vidence.engine.environment import Environment
from vidence.engine.events import Listener
from vidence.engine.plan import Plan, read_plan
from vidence.engine.session import ShownSubject, opened_session
from vidence.engine.store import RunStore
from vidence.engine.views import DecodeCount
from vidence.errors import DataError, UsageError
from vidence.explain.errors.packet import rows_as_jsonl
from vidence.media.whole import write_file, write_into
from vidence.records import ImagePart, Prompt, Record
from vidence.study.drawing import FRAMES_FILE, ITEMS_FILE, DrawnStudy, study_plan, write_items
from vidence.study.problems import frames_run
from vidence.study.study import StudyFile
from vidence.text import quoted, some

_FOLDER: Final = "frames"
_LOOKS: Final = "scripted:"
_MOST_IDS = 5


class Picture(Record, omit_defaults=True):
    """A picture sent to a model: the SHA-256 of its bytes, and the times of its frames."""

    digest: str
    times_s: tuple[float, ...] = ()
    media_type: str = "image/jpeg"

    @property
    def file(self) -> str:
        """The path of the picture, relative to the study folder."""
        return f"{_FOLDER}/{self.digest}.{'png' if self.media_type == 'image/png' else 'jpg'}"


class StudyFrames(Record):
    """The pictures of each item under each condition with pictures, in the order sent."""

    format: Literal["vidence-frames/1"] = "vidence-frames/1"
    items: dict[str, dict[str, tuple[Picture, ...]]]


def shown_conditions(file: StudyFile) -> tuple[str, ...]:
    """Return the distinct conditions of a study that show pictures."""
    names = dict.fromkeys(phase.condition for phase in file.study.phases)
    return tuple(name for name in names if name == "frames" or frames_run(name))


async def write_frames(
    file: StudyFile, study: DrawnStudy, *, environment: Environment, now: datetime, on_event: Listener
) -> StudyFrames:
    """Write the pictures of a drawn study and `FRAMES_FILE`; nothing if no phase shows pictures.

    The engine makes them as for a run of a made-up model: those of ``frames`` by the protocol of the set,
    those of ``frames-of RUN`` by the plan of the run, where their digests must be those that it was sent.

    Raises:
        DataError: a run was sent no pictures of an item, or other ones than can be made now.
        UsageError: whole videos are sent.
        StoreError: a file cannot be written.
    """
    values: dict[str, dict[str, tuple[Picture, ...]]] = {}
    write_items(file, study)
    for condition in shown_conditions(file):
        named = frames_run(condition)
        own = study_plan(file, cache_root=environment.cache_root)
        plan = read_plan(file.folder / named)[0] if named else own
        if plan.layout == "video":
            raise UsageError(
                f"{file.path} shows {condition!r}, whose plan sends whole videos; set the condition to "
                "'whole' or name another protocol or run"
            )
        items = [item.item_id for item in study.items if item.media]
        sent = _sent(file.folder / named, items) if named else {}
        pictures = _Pictures(source=named or plan.protocol, sent=sent)
        async with opened_session(
            _of_drawn(plan, file.folder), environment=environment, now=now, on_event=on_event
        ) as session:
            todo = [(item, 0) for item in session.prepared.items if item.media]
            await session.work(todo, pictures.take, n_consumers=4, count=DecodeCount())
        for item_id, own_pictures in pictures.found.items():
            for picture, content in own_pictures:
                write_into(file.folder, {picture.file: content})
            values.setdefault(item_id, {})[condition] = tuple(entry for entry, _ in own_pictures)
    frames = StudyFrames(items=dict(sorted(values.items())))
    if values:
        write_file(file.folder / FRAMES_FILE, rows_as_jsonl([frames]))
    return frames


def _of_drawn(plan: Plan, folder: Path) -> Plan:
    """Return a plan over the drawn items for a free model that accepts pictures."""
    return msgspec.structs.replace(
        plan,
        **{"benchmark": "table", "data": str((folder / ITEMS_FILE).resolve()), "split": "all", "media": None},
        **{"map": None, "study": "", "where": {}, "limit": None, "sample": None, "sample_by": None},
        **{"model": _LOOKS, "strategy": "once", "judge_models": (), "recorded_only": False},
        **{"parser": "robust", "text_parser": "needs-judge", "shuffle_choices": False, "repeats": 1},
    )


def _sent(folder: Path, items: Sequence[str]) -> dict[str, list[str]]:
    """Return the digests of the pictures that a stored run sent for some items.

    Raises:
        DataError: it was sent none for one of them.
    """
    with RunStore(folder) as store:
        prompts = {t.item_id: t.prompt for t in store.trials() if t.repeat == 0 and t.prompt is not None}
    values = {i: [image.digest for image in _images(prompts[i])] for i in items if i in prompts}
    if absent := [i for i in items if not values.get(i)]:
        raise DataError(
            f"{folder} was sent no pictures of {len(absent)} drawn items: {some(absent, most=_MOST_IDS)}; "
            "draw from items whose pictures it was sent"
        )
    return values


def _images(prompt: Prompt) -> list[ImagePart]:
    return [part for part in prompt.parts if isinstance(part, ImagePart)]


@dataclass(frozen=True, kw_only=True)
class _Pictures:
    """Collects the pictures of each item; `sent` are the digests they must have, if known."""

    source: str
    sent: Mapping[str, Sequence[str]]
    found: dict[str, list[tuple[Picture, bytes]]] = field(default_factory=dict)

    async def take(self, subject: ShownSubject) -> None:
        """Keep the pictures of one item.

        Raises:
            DataError: they cannot be made, or are others than were sent.
        """
        item_id = subject.item.item_id
        (view,) = subject.views
        try:
            images = _images(subject.prompt(view))
        except ItemFailedError as error:
            raise DataError(f"pictures of {item_id!r} cannot be made: {error.failed.message}") from error
        digests, times_s = [image.digest for image in images], subject.times_s(view)
        if self.sent and digests != self.sent[item_id]:
            raise DataError(
                f"the pictures of {item_id!r} cannot be made again as {self.source} was sent them (SHA-256): "
                "the medium, the selector or the encoder has changed; run it again"
            )
        self.found[item_id] = [
            (
                Picture(
                    digest=image.digest,
                    times_s=tuple(times_s[i] for i in image.frames),
                    media_type=image.media_type,
                ),
                subject.context.image(image.digest),
            )
            for image in images
        ]


def read_frames(folder: Path) -> StudyFrames:
    """The pictures of the study in a folder.

    Raises:
        DataError: there are none, or the file cannot be read.
    """
    path = folder / FRAMES_FILE
    return read_json(path, StudyFrames, advice=f"run vidence study draw {quoted(folder)}")
