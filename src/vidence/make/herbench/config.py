"""The configuration of `vidence make herbench`: one TOML file, one record.

Paths start from the folder of the file. A table that is absent switches its step off, and what needs the
step is then left out, with the reason in the account.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from vidence.catalog import Spec, names
from vidence.engine.config_file import Count, Share, read_config
from vidence.errors import UnknownNameError, UsageError
from vidence.make.gates.rules import GateRules, ReviewRules
from vidence.make.herbench.cards.cards import CardChecks
from vidence.make.herbench.cards.crops import CropRules
from vidence.make.herbench.cards.identification import IdentifyRules
from vidence.make.herbench.cards.scenes import SceneRules
from vidence.make.release.made_release import MadeConfig, MakingRelease
from vidence.records import Record
from vidence.seeing.appearance import AppearanceSettings
from vidence.seeing.following import LOOKS_PER_S
from vidence.seeing.refine import RefineSettings
from vidence.seeing.same_person import SamePersonRules
from vidence.seeing.trackrank import DiversitySettings, RankSettings

DEFAULT_PER_VIDEO = 10
BY_RULES = "rules"
BY_PEOPLE = "people"


OptionValue: TypeAlias = str | bool | int | float


def option_spec(name: str, options: Mapping[str, OptionValue]) -> Spec:
    """A plug-in with options out of a configuration, where numbers and true or false may be written bare."""
    texts = {k: v if isinstance(v, str) else msgspec.json.encode(v).decode() for k, v in options.items()}
    return Spec(name=name, options=texts)


class SourceRule(Record, omit_defaults=True):
    """One video, or all that a pattern such as ``street/*.mp4`` finds in the folder of the videos.

    `video_id` is by default the name of the file without its ending. `source_id` names the film or recording
    that several videos were cut from: no split separates them. In `detections`, `cards` and
    `scene_cards`, ``{video_id}`` stands for it: files of boxes, of cards and of scene cards that were made
    elsewhere, which are used instead of a detector and of models. So it does in `tracks`, ``mot:FILE``:
    tracks that people gave, which are taken as they are.
    """

    path: str
    video_id: str = ""
    source_id: str = ""
    collection: str = ""
    licence: str = ""
    detections: str = ""
    tracks: str = ""
    cards: str = ""
    scene_cards: str = ""

    def __post_init__(self) -> None:
        if self.tracks and self.detections:
            raise UsageError(
                f"the source {self.path!r} has tracks and detections; tracks are used as they are, so leave "
                "detections out"
            )
        if self.tracks and not self.tracks.startswith("mot:"):
            raise UsageError(
                f"tracks is {self.tracks!r}; expected the format and the file: mot:gt/{{video_id}}.txt"
            )


class LogRule(Record, omit_defaults=True):
    """A log of narrated events: its format (a name from the catalog) and its file or folder.

    Where `media` is given, the videos that the log names are sources, too: a video's file is `media` with
    ``{video_id}`` filled in, in the folder of the videos. Questions from a log need no pixels: a video that
    is not there is used with the length, rate and size that `table` (CSV with the columns ``video_id``,
    ``duration``, ``fps``, ``resolution``) or else the log has. `options` are those of the format.
    """

    format: str
    path: str
    media: str = ""
    table: str = ""
    collection: str = ""
    licence: str = ""
    options: dict[str, OptionValue] = msgspec.field(default_factory=dict)


class TrackingRules(Record, omit_defaults=True):
    """How people are followed. `detector` and `tracker` are specs.

    A detector looks `rate` times a second at most (0: at every frame); between its looks boxes move evenly.
    Boxes of a file are all used. `second` is a detector: frames in which it sees no person tell how often
    `detector` sees some that do not exist; ``{video_id}`` in it stands for that of a video.

    With `end_at_cuts` nobody is followed from one shot into the next, where shots are looked for: behind a
    cut somebody else may stand in the same place. `refine` cleans the tracks, `same_person` says which of
    them change the person and are left out, `looks` and `rank` score them, `pick` says how many are chosen
    and how.
    """

    detector: str = "hog"
    second: str = ""
    tracker: str = "deepsort"
    rate: Annotated[float, Meta(ge=0)] = LOOKS_PER_S
    end_at_cuts: bool = True
    refine: RefineSettings = RefineSettings()
    same_person: SamePersonRules = SamePersonRules()
    looks: AppearanceSettings = AppearanceSettings()
    rank: RankSettings = RankSettings()
    pick: DiversitySettings = DiversitySettings()


class ShotRules(Record, omit_defaults=True):
    """How videos are cut into shots: the name of a detector, and its options.

    `second` is a detector (a spec) whose transitions are proposed to people where the first one sees none.
    """

    detector: str = "content"
    options: dict[str, OptionValue] = msgspec.field(default_factory=dict)
    second: str = ""


class CardStep(Record, omit_defaults=True):
    """Configuration of cards: writer, pictures, when a card is used, identification test.

    `model` is the name of a model in ``[models]``, `file` a file of cards that people wrote, where
    ``{video_id}`` stands for that of a video; a video with a file is not shown to the model. ``people`` is no
    model: cards wait for those that people write, in the folder of ``[people]``. `identify` is
    the name of a model that is asked whom in the video each description fits, as `identification` says.
    """

    model: str = ""
    file: str = ""
    identify: str = ""
    identification: IdentifyRules = IdentifyRules()
    crops: CropRules = CropRules()
    rules: CardChecks = CardChecks()


class SceneStep(Record, omit_defaults=True):
    """Who describes shots: the name of a model in ``[models]``, and what of a shot it is shown.

    Without a model only shots are described whose video has a file of scene cards. With `false` each
    description is also falsified, those of a file too where it holds no false one: by `false_model` or else
    by the same model. ``rules`` is no model: words are swapped by lists (`swapping.perturb_by_rules`).
    """

    model: str = ""
    rules: SceneRules = SceneRules()
    false: bool = True
    false_model: str = ""

    def __post_init__(self) -> None:
        if self.false and not self.model and not self.false_model:
            raise UsageError(
                "[scenes] has no writer of false descriptions; give model, which describes shots, or "
                f"false_model (a model, or {BY_RULES!r} for none), or set false = false: the descriptions "
                "of the files are then taken as they are"
            )


class PeopleRules(Record, omit_defaults=True):
    """People's rows: the `folder` of their files, each optional.

    A false scene card of which more than `most_told` of its readers said without the film that it is false
    is told by its words, and dropped.
    """

    folder: str = "people"
    most_told: Share = 0.5

    def __post_init__(self) -> None:
        if not self.folder or set(self.folder) & set("{}?"):
            raise UsageError(
                f"the folder in [people] is {self.folder!r}; expected a name without {{, }} and ?"
            )


class TaskRules(Record, omit_defaults=True):
    """How much of one task: at most `per_video` drafts of a video and `total` of all.

    `structures` are the forms of question that are wanted (empty: all that the task has). `same_answer` is
    the largest share of the drafts of one structure that have the same right answer, two drafts at least (1:
    any): whoever guesses what is right most often is to gain little. Drafts that need fewer than `least_k`
    moments by their construction are left out.
    """

    per_video: Count = DEFAULT_PER_VIDEO
    total: Count | None = None
    structures: tuple[str, ...] = ()
    same_answer: Share = 0.4
    least_k: Count = 1
    options: dict[str, OptionValue] = msgspec.field(default_factory=dict)


class HerbenchRelease(MakingRelease, omit_defaults=True):
    """``[release]``: as for every maker, plus HERBench's task files."""

    formats: tuple[str, ...] = ("items", "herbench")


class HerbenchConfig(MadeConfig, omit_defaults=True):
    """Everything that decides which questions come out; `read_herbench` makes one from a file.

    `name` names the set, `videos` is the folder that the paths of videos start from. `prompts` is a folder
    whose files replace templates. Without `tasks` all tasks are made, each as `TaskRules` say by default.
    """

    videos: str = "."
    prompts: str = ""
    sources: tuple[SourceRule, ...] = ()
    logs: tuple[LogRule, ...] = ()
    tracking: TrackingRules | None = None
    shots: ShotRules | None = None
    cards: CardStep | None = None
    scenes: SceneStep | None = None
    people: PeopleRules | None = None
    tasks: dict[str, TaskRules] = msgspec.field(default_factory=dict)
    gates: GateRules | None = None
    review: ReviewRules | None = None
    release: HerbenchRelease | None = None

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[\w.-]+", self.name, re.ASCII):
            raise UsageError(f"name is {self.name!r}; expected letters, digits, - and _")
        if not self.sources and not any(log.media for log in self.logs):
            raise UsageError(
                "there is nothing to ask about; give [[sources]] with videos, or [[logs]] with media"
            )
        self._check_writers()
        step, by_people = self.scenes, any(source.scene_cards for source in self.sources)
        if step is not None and not (step.model or step.false_model or by_people or self.people):
            raise UsageError(
                "[scenes] has no writer of descriptions; give model, or scene_cards in [[sources]], such "
                'as "sheets/{video_id}/scenes.csv" (--sheets writes one to fill in)'
            )
        for name in self._asked():
            if name not in self.models:
                raise UnknownNameError("model in [models]", name, self.models)
        self._check_tasks()
        for log in self.logs:
            if log.format not in names("event-log"):
                raise UnknownNameError("event-log", log.format, names("event-log"))

    def _check_tasks(self) -> None:
        for task in self.tasks:
            if task not in names("task"):
                raise UnknownNameError("task", task, names("task"))
        if self.gates is not None:
            self.gates.check_hold(names("task"))

    def _check_writers(self) -> None:
        step = self.cards
        if step is not None and step.model == BY_PEOPLE:
            if self.people is None:
                raise UsageError(
                    f"[cards] model = {BY_PEOPLE!r} waits for cards that people write; say where they lie: "
                    'add a table [people] (folder = "people" by default)'
                )
            if BY_PEOPLE in self.models:
                raise UsageError(
                    f"model = {BY_PEOPLE!r} in [cards] means that people write; give the model {BY_PEOPLE!r} "
                    "another name"
                )
        if step is None or step.model or step.file or any(source.cards for source in self.sources):
            return
        raise UsageError(
            "[cards] has no writer; give model, a name in [models], or file, such as "
            '"sheets/{video_id}/cards.csv" (--sheets writes one to fill in), or cards in [[sources]]'
        )

    def _asked(self) -> list[str]:
        """The names of models that steps ask."""
        step = self.cards
        asked = (
            []
            if step is None
            else [name for name in (step.model, step.identify) if name and name != BY_PEOPLE]
        )
        asked += [] if self.gates is None else self.gates.models
        if self.scenes is None:
            return asked
        if self.scenes.false_model == BY_RULES and BY_RULES in self.models:
            raise UsageError(
                f"false_model = {BY_RULES!r} means that words are swapped without a model; give the model "
                f"{BY_RULES!r} another name"
            )
        named = (self.scenes.model, self.scenes.false_model)
        return [*asked, *(name for name in named if name and name != BY_RULES)]


def read_herbench(path: Path) -> HerbenchConfig:
    """The configuration in a file.

    Raises:
        UsageError: it cannot be read, or has an invalid entry; with the line where known.
    """
    return read_config(path, HerbenchConfig)
