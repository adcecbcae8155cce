"""All that is known of one video when it is kept or dropped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from vidence.make.gates.video_list import ListedVideo, PeopleSaid
from vidence.make.gates.video_measuring import Measured
from vidence.make.gates.video_model_measures import Captioned, FrameShares, FromCaption

_NOBODY_LOOKED: Final = "nobody looked; name a looker, or give a sheet that people filled"
_NOBODY_READ: Final = "no caption was written; name a captioner and a reader, and give questions"


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One video, what was measured of it and what models and people said.

    `looked` and `captioned` are None where no model was asked; `answers` are those to its questions, and
    `n_untried` counts questions without choices, which are not put to the reader.
    """

    listed: ListedVideo
    measured: Measured
    sha256: str
    said: PeopleSaid | None = None
    looked: FrameShares | None = None
    captioned: Captioned | None = None
    answers: Sequence[FromCaption] = ()
    why_no_answers: str = ""

    @property
    def video_id(self) -> str:
        """Its name in the list."""
        return self.listed.video_id

    @property
    def seen_by(self) -> str:
        """Who said whether it has text and looks like a lecture; people go before a model."""
        if self.said is not None:
            return self.said.by
        return "model" if self.looked is not None and self.looked.text is not None else ""

    @property
    def scored(self) -> list[tuple[float, float, float]]:
        """With the caption, blind, and by chance: the scores of the questions that have both."""
        return [
            (one.with_caption.value, one.blind.value, one.chance)
            for one in self.answers
            if one.with_caption.value is not None and one.blind.value is not None
        ]

    def values(self, today: date) -> dict[str, float | None]:
        """Every measure; None where it is not known."""
        found = self.measured
        looked = self.said or self.looked
        scored = self.scored
        n = len(scored)
        accuracy = sum(one for one, _, _ in scored) / n if n else None
        blind = sum(one for _, one, _ in scored) / n if n else None
        published = self.listed.published
        shots = found.shots
        return {
            "seconds": found.seconds,
            "fps": found.fps,
            "short_px": min(found.width_px, found.height_px),
            "audio": float(found.has_audio),
            "shots_per_minute": 60 * shots / found.seconds if shots is not None and found.seconds else None,
            "motion": found.motion.difference,
            "flow": found.motion.flow,
            "people": found.people,
            "things": found.things,
            "classes": found.classes,
            "text": None if looked is None else looked.text,
            "lecture": None if looked is None else looked.lecture,
            "caption": accuracy,
            "caption_gain": None if accuracy is None or blind is None else accuracy - blind,
            "age_days": None if published is None else float((today - published).days),
        }

    def why(self) -> Mapping[str, str]:
        """Why a measure is not known, by its name; measures that are known are there or not."""
        looked = "" if self.looked is None else self.looked.why
        written = "" if self.captioned is None else self.captioned.why
        no_answers = written or self.why_no_answers or _NOBODY_READ
        no_look = looked or _NOBODY_LOOKED
        if self.said is not None:
            no_look = f"{self.said.by} left it empty"
        return {
            **self.measured.why,
            **dict.fromkeys(("text", "lecture"), no_look),
            **dict.fromkeys(("caption", "caption_gain"), no_answers),
            "age_days": "the list says no day of publication (column published)",
        }
