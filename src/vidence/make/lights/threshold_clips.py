"""The clips and questions of a threshold: every motion at every level, with what is asked about it."""

import copy
import hashlib
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from vidence.ask import files
from vidence.ask.benchmarks.actpld import CLIP_COLUMNS, LABEL_COLUMNS, ClipRow, Labels, choices_for
from vidence.ask.files import FieldError
from vidence.errors import DataError, UsageError
from vidence.make.lights.ablation_clips import STAMP, AblationTrial, StimulusSet, has_clips, sources_of_shown
from vidence.make.lights.ablation_config import FRAMES, Condition
from vidence.make.lights.tables import labels_table, table
from vidence.make.lights.threshold_config import (
    LEAST_SIDE_DEG,
    Observer,
    ThresholdConfig,
    ablation_of,
    curve_of,
    levels_of,
    setting_of,
    shown_as,
)
from vidence.media.whole import write_whole
from vidence.pointlight.drawing import frames
from vidence.pointlight.stimulus import Stimulus
from vidence.pointlight.writing import motion_digest, write_video
from vidence.records import Item, Media
from vidence.tables.export import csv_text

VERSION = 1
QUESTIONS, REFERENCES = "questions.jsonl", "references"
PRESENT, ABSENT = "A person who moves is among the dots.", "No person: the dots are scattered."
LEFT, RIGHT = "To the left.", "To the right."
_QUESTIONS = {
    "identify": "Which action do the moving points of light show?",
    "detect": "Is there a person who moves among the moving points of light?",
    "direction": "Which way does the person face whom the moving points of light show?",
}


@dataclass(frozen=True, kw_only=True)
class TaskVariant:
    """One way in which a task shows a clip: its name, the settings that it takes, and what is right."""

    name: str
    settings: dict[str, str]
    answer: str


class ThresholdStimuli:
    """The motions of a configuration at its levels; `notes` say which are left out, and why.

    Raises:
        DataError: no motion can be read.
        UsageError: the task does not apply to a motion.
    """

    def __init__(self, config: ThresholdConfig, *, beside: Path) -> None:
        self.config = config
        self._set = StimulusSet(ablation_of(config), beside=beside)
        # A trial without a target has draws of its own, so that no two clips share their noise.
        self._other = copy.copy(self._set)
        self._other.config = msgspec.structs.replace(self._set.config, seed=config.seed + 1)
        self.notes = self._set.notes
        self.clips = self._set.clips
        self._sources = sources_of_shown(self.clips)
        for clip in self.clips:
            self.ways(clip)

    @property
    def n_questions(self) -> int:
        """How many questions there are at each level."""
        return sum(len(self.ways(clip)) for clip in self.clips)

    @property
    def sources(self) -> tuple[str, ...]:
        """The source of each question of a level: what intervals are clustered by."""
        return tuple(self.source(clip) for clip in self.clips for _ in self.ways(clip))

    def source(self, clip: AblationTrial) -> str:
        """Whom a clip shows; the clip itself where nothing is known."""
        return self._sources[clip.clip_id] or clip.clip_id

    def ways(self, clip: AblationTrial) -> tuple[TaskVariant, ...]:
        """How the task shows a clip at any level.

        Raises:
            UsageError: which way an actor faces cannot be told.
        """
        match self.config.task:
            case "identify":
                return (TaskVariant(name="shown", settings={}, answer=clip.label),)
            case "detect":
                return (
                    TaskVariant(name="present", settings={}, answer=PRESENT),
                    TaskVariant(name="absent", settings={"target": "absent"}, answer=ABSENT),
                )
            case "direction":
                return self._sides(clip)

    def _sides(self, clip: AblationTrial) -> tuple[TaskVariant, ...]:
        yaw_deg = shown_as(self.config).view.yaw_deg + clip.yaw_deg
        side = math.sin(math.radians(yaw_deg))
        if len(clip.files) > 1 or abs(side) < math.sin(math.radians(LEAST_SIDE_DEG)):
            raise UsageError(
                f"{clip.clip_id} faces no side ({yaw_deg:g} degrees, {len(clip.files)} actors); "
                "the task direction needs one actor seen from the side, such as yaw_deg = 90"
            )
        # At 90 degrees an actor who faces the viewer at 0 faces the right of the picture.
        recorded, mirrored = (RIGHT, LEFT) if side > 0 else (LEFT, RIGHT)
        return (
            TaskVariant(name="recorded", settings={}, answer=recorded),
            TaskVariant(name="mirrored", settings={"is_mirrored": "true"}, answer=mirrored),
        )

    def stimulus(self, clip: AblationTrial, way: TaskVariant, level: Condition) -> Stimulus:
        """The dots of a clip at a level.

        Raises:
            DataError: a motion that is too short.
        """
        stimuli = self._other if way.name == "absent" else self._set
        settings = {**level.settings, **way.settings}
        return stimuli.stimulus(clip, msgspec.structs.replace(level, settings=settings))

    def write_clip(self, clip: AblationTrial, way: TaskVariant, level: Condition, *, path: Path) -> None:
        """Draw one clip; fewer frames are the middle of it.

        Raises:
            DataError: a motion that is too short.
        """
        made = self.stimulus(clip, way, level)
        pictures = frames(made)
        if setting_of(self.config) == FRAMES:
            n = min(int(float(level.level)), made.n_frames)
            start = (made.n_frames - n) // 2
            pictures = itertools.islice(pictures, start, start + n)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_video(pictures, path, fps=made.fps)

    def stamp(self) -> bytes:
        """What decides the clips and questions, to tell a folder of others."""
        return msgspec.json.encode(
            {
                "version": VERSION,
                "task": self.config.task,
                "levels": levels_of(self.config),
                "spec": shown_as(self.config),
                "motions": {n: list(map(motion_digest, some)) for n, some in self._set.figures.items()},
                "clips": self.clips,
                "seed": self.config.seed,
            }
        )


def easiest(config: ThresholdConfig) -> Condition:
    """The level at which references are shown."""
    by_place = sorted(levels_of(config), key=lambda c: float(c.level))
    return by_place[0 if curve_of(config).is_falling else -1]


def question_id(clip: AblationTrial, way: TaskVariant, level: Condition) -> str:
    """The id of a question: the clip, how the task shows it, and the level."""
    return f"{clip.clip_id}/{way.name}/{level.level}"


def clip_path(clip: AblationTrial, way: TaskVariant, level: Condition) -> str:
    """Where a clip lies in the folder of the stimuli."""
    return f"clips/{level.level}/{clip.clip_id}.{way.name}.mp4"


def write_stimuli(
    stimuli: ThresholdStimuli, folder: Path, *, on_clip: Callable[[str], None]
) -> tuple[str, ...]:
    """Write clips, questions and references, unless the folder has them; say which clips could not be made.

    A clip that cannot be made at one level is left out at all, so that levels show the same motions.

    Raises:
        UsageError: the folder holds clips that were made from something else.
        DataError: no clip could be made.
    """
    wanted = stimuli.stamp()
    if has_clips(folder, wanted):
        return ()
    troubles: list[str] = []
    kept: list[tuple[AblationTrial, tuple[str, ...]]] = []
    _write_labels(stimuli, folder)
    labels = Labels(files.read(folder / REFERENCES / "labels.csv"))
    for clip in stimuli.clips:
        try:
            choices = _choices(clip, stimuli.config, labels)
            for way, level in itertools.product(stimuli.ways(clip), levels_of(stimuli.config)):
                stimuli.write_clip(clip, way, level, path=folder / clip_path(clip, way, level))
                on_clip(clip.clip_id)
        except DataError as error:
            troubles.append(f"{clip.clip_id} is left out: {error}")
            continue
        kept.append((clip, choices))
    if not kept:
        raise DataError(f"no clip could be shown at all levels; {troubles[-1]}")
    _write_references(stimuli, [clip for clip, _ in kept], folder)
    items = list(_questions(stimuli, kept))
    write_whole(folder / QUESTIONS, b"".join(msgspec.json.encode(item) + b"\n" for item in items))
    write_whole(folder / STAMP, wanted)
    return tuple(troubles)


def _write_labels(stimuli: ThresholdStimuli, folder: Path) -> None:
    """What clips show, with the groups that wrong choices are not drawn from."""
    labels = labels_table(stimuli.clips)[0]
    if stimuli.config.task != "identify":
        names = _two(stimuli.config)
        labels = table(LABEL_COLUMNS, [{"target": "label", "name": name, "group": name} for name in names])
    (folder / REFERENCES).mkdir(parents=True, exist_ok=True)
    write_whole(folder / REFERENCES / "labels.csv", labels)


def _write_references(stimuli: ThresholdStimuli, clips: Sequence[AblationTrial], folder: Path) -> None:
    """The clips of the easiest level as a folder in ActPLD's format, for models that look at others."""
    level, rows = easiest(stimuli.config), []
    for clip in clips:
        for way in stimuli.ways(clip):
            row = msgspec.structs.asdict(clip) | {
                "clip_id": f"{clip.clip_id}/{way.name}",
                "path": f"../{clip_path(clip, way, level)}",
                "source_id": stimuli.source(clip),
            }
            if stimuli.config.task != "identify":
                row |= {"label": way.answer, "intention": way.answer}
            rows.append(row)
    write_whole(folder / REFERENCES / "clips.csv", table((*CLIP_COLUMNS, "source_id"), rows))


def _questions(
    stimuli: ThresholdStimuli, clips: Sequence[tuple[AblationTrial, tuple[str, ...]]]
) -> Iterator[Item]:
    """Every question about clips, whose choices are given, at every level."""
    config = stimuli.config
    for clip, choices in clips:
        for way, level in itertools.product(stimuli.ways(clip), levels_of(config)):
            yield Item(
                item_id=question_id(clip, way, level),
                media=(Media(path=clip_path(clip, way, level)),),
                source=stimuli.source(clip),
                question=_QUESTIONS[config.task],
                choices=choices,
                answer=chr(ord("A") + choices.index(way.answer)),
                tags={"level": level.level, "way": way.name, "label": clip.label},
            )


def _two(config: ThresholdConfig) -> tuple[str, str]:
    return (PRESENT, ABSENT) if config.task == "detect" else (LEFT, RIGHT)


def _choices(clip: AblationTrial, config: ThresholdConfig, labels: Labels) -> tuple[str, ...]:
    """What a clip is asked with.

    Raises:
        DataError: there are too few labels of other groups.
    """
    if config.task != "identify":
        return _two(config)
    row = ClipRow(clip_id=clip.clip_id, path="", set=clip.set, label=clip.label, intention=clip.intention)
    try:
        return tuple(one.words.text for one in choices_for(row, "label", labels))
    except FieldError as error:
        raise DataError(str(error)) from error


def write_observer(
    observer: Observer, config: ThresholdConfig, questions: Sequence[Item], *, folder: Path
) -> Path:
    """The answers of a simulated observer, as recorded replies for ``replay:``; the path of the file.

    What it answers follows from the seed, its name and the question alone.
    """
    curve, rows = curve_of(config), []
    for item in questions:
        words = f"{config.seed}:{observer.name}:{item.item_id}"
        draw = np.random.default_rng(int.from_bytes(hashlib.sha256(words.encode()).digest()[:6])).random(2)
        place = np.array(float(item.tags["level"]))
        chance = curve.right(place, location=observer.location, width=observer.width, lapse=observer.lapse)
        wrong = [letter for letter in item.letters if letter != item.answer]
        is_right = bool(draw[0] < float(chance))
        rows.append((item.item_id, item.answer if is_right else wrong[int(draw[1] * len(wrong))]))
    path = folder / f"observer-{observer.name}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, csv_text([("item_id", "text"), *rows]).encode())
    return path
