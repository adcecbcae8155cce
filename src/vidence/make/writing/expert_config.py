"""The configuration of `vidence make expert`."""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from vidence.engine.config_file import Count, CountOrNone
from vidence.make.gates.licences import DAYS
from vidence.make.gates.rules import (
    ALL_TASKS,
    PRESETS,
    BlindRules,
    CheckRules,
    GateRules,
    JudgeRules,
    PresetName,
)
from vidence.make.release.made_release import refuse_unreviewed
from vidence.make.writing.session import QuestionReview, WrittenConfig
from vidence.records import Record

Form: TypeAlias = Literal["mmvu", "humanpcr-r"]
REASONING = ("causal", "prediction", "counter-factual", "assessment", "planning")
"""Source: HumanPCR, appendix B.3.1, step 2 (five types of reasoning)."""


_BOUNDS: Mapping[Form, dict[str, float]] = {
    "mmvu": {
        **{"longest_clip_s": 228.0, "most_answer_words": 7, "most_per_clip": 3},
        **{"least_video_s": 0.0, "most_age_days": 0.0},
    },
    "humanpcr-r": {
        **{"longest_clip_s": 0.0, "most_answer_words": 0, "most_per_clip": 0},
        **{"least_video_s": 300.0, "most_age_days": 731.0},
    },
}


class DraftRules(Record, omit_defaults=True):
    """Requirements of a draft besides its form; 0 means no bound.

    A clip longer than `longest_clip_s`, an open answer of more than `most_answer_words`, more than
    `most_per_clip` questions about one clip, and more than `most_per_day` of one author are warnings; of the
    first three None follows the form: of ``mmvu`` 228 s, 7 words, 3 questions, of ``humanpcr-r`` no bound.
    `most_per_video` is a quota: what comes after it in the file is a fault. So is a video shorter than
    `least_video_s`, or published more than `most_age_days` before the draft was written (where it has no
    date, before now): of ``humanpcr-r`` 300 s and 731 days, of ``mmvu`` no bound.

    Source: MMVU, section 3.2, appendix A.5 (the longest of its clips and answers, two or three questions a
        clip, ten a day); HumanPCR, appendix B.3.1 (two pieces of evidence; videos of five minutes or more, of
        the last two years).
    Departs: the bounds on steps and links, and that the longest of the paper bound others, are ours.
    """

    choices: Count = 5
    least_steps: CountOrNone = 2
    least_knowledge: CountOrNone = 1
    longest_clip_s: Annotated[float, Meta(ge=0)] | None = None
    most_answer_words: CountOrNone | None = None
    most_per_clip: CountOrNone | None = None
    least_video_s: Annotated[float, Meta(ge=0)] | None = None
    most_age_days: Annotated[float, Meta(ge=0)] | None = None
    most_per_video: CountOrNone = 0
    most_per_day: CountOrNone = 10
    least_evidence: CountOrNone = 2
    least_proactive: CountOrNone = 1

    def of(self, form: Form) -> "DraftRules":
        """Return the rules, with a form's bounds as defaults."""
        usual = _BOUNDS[form]
        given = {name: getattr(self, name) for name in usual if getattr(self, name) is not None}
        return msgspec.structs.replace(self, **(usual | given))


class VideoRules(Record, omit_defaults=True):
    """The list of videos; `kept` is the result of ``vidence videos select`` (``kept.csv``)."""

    file: str = "videos.jsonl"
    kept: str = ""


class LicenceRules(Record, omit_defaults=True):
    """The file of licence checks (`vidence videos licence`), and people's sheet `manual`."""

    kept: str = "licences.jsonl"
    manual: str = ""
    days: Annotated[float, Meta(ge=0)] = DAYS


class OnlineRules(Record, omit_defaults=True):
    """With `online`, knowledge pages are checked in Wikipedia, and recorded with dates in `kept`."""

    online: bool = False
    kept: str = "pages.jsonl"
    days: Annotated[float, Meta(ge=0)] = DAYS


class ExpertGates(Record, omit_defaults=True):
    """The gates of `vidence items gate` for checked drafts, by a paper's rule.

    `text_only` are the names of models that see the words alone; `one_frame` and `needs_all` name one each.
    `blind` are the structures that texts give away: with the preset ``mmvu`` their questions are left open
    for people, as everything is that this preset finds; otherwise they are dropped. `judge` says who judges
    free answers.
    """

    preset: PresetName = "mmvu"
    checks: CheckRules = CheckRules()
    blind: BlindRules = BlindRules(hold=(ALL_TASKS,))
    judge: JudgeRules | None = None
    text_only: tuple[str, ...] = ()
    one_frame: str = ""
    needs_all: str = ""

    @property
    def models(self) -> tuple[str, ...]:
        """Return the names of all models that are asked."""
        readers = (*self.text_only, *filter(None, (self.one_frame, self.needs_all)))
        return (*readers, *(self.judge.models if self.judge is not None else ()))

    @property
    def rules(self) -> GateRules:
        """Return the rules of the gates."""
        rules = GateRules.of(
            PRESETS[self.preset], text_only=self.text_only, one_frame=self.one_frame, needs_all=self.needs_all
        )
        return msgspec.structs.replace(rules, checks=self.checks, blind=self.blind)


class ExpertConfig(WrittenConfig, omit_defaults=True):
    """The configuration; paths are relative to its folder, and video paths to `media`.

    `form` says by which paper's rules drafts are checked. `origin` (in the file: ``import``) reads `drafts`
    as a released file: what such a file does not have is a warning then. The choices of a question are put
    into an order by `seed` where `shuffle` is set.
    """

    form: Form = "mmvu"
    origin: Literal["", "mmvu"] = msgspec.field(default="", name="import")
    subjects: str = "subjects.toml"
    concepts: str = "concepts.jsonl"
    videos: str | VideoRules = VideoRules()
    drafts: str = "drafts.jsonl"
    media: str = ""
    shuffle: bool = True
    checks: DraftRules = DraftRules()
    licence: LicenceRules | None = None
    knowledge: OnlineRules = OnlineRules()
    gates: ExpertGates | None = None
    review: QuestionReview | None = None

    @property
    def films(self) -> VideoRules:
        """Return the lists of videos and of kept videos."""
        return VideoRules(file=self.videos) if isinstance(self.videos, str) else self.videos

    def __post_init__(self) -> None:
        if self.release is not None:
            refuse_unreviewed(self.release, is_reviewed=self.review is not None)
