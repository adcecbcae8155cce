"""What the rows of a run hold as they are stored, and a row as it is read again."""

from dataclasses import dataclass
from typing import Self

import msgspec

from vidence.records import Failed, Prompt, Record, Reply, Score, Selection, Step, Trial, VideoPart

_NOTHING = msgspec.Raw(b"null")


class TrialRow(Record):
    """A trial without its names and what was selected, which stand beside it."""

    prompt: Prompt | None
    reply: Reply | None
    score: Score
    is_remembered: bool
    choice_order: tuple[int, ...] = ()
    steps: tuple[Step, ...] = ()

    @classmethod
    def of(cls, trial: Trial) -> Self:
        """What is stored of a trial."""
        return cls(**{name: getattr(trial, name) for name in cls.__struct_fields__})

    def trial(self, item_id: str, repeat: int, selection: Selection | None) -> Trial:
        """The whole."""
        return Trial(
            item_id=item_id,
            repeat=repeat,
            selection=selection,
            **msgspec.structs.asdict(self),
        )


class _BriefText(msgspec.Struct, tag="text"):
    """Words of a prompt, not read."""


class _Picture(msgspec.Struct, tag="image"):
    """An image of a prompt, not read."""


class _BriefPrompt(msgspec.Struct):
    parts: tuple[_BriefText | _Picture | VideoPart, ...]
    template: str = ""

    def prompt(self) -> Prompt:
        videos = tuple(part for part in self.parts if isinstance(part, VideoPart))
        return Prompt(parts=videos, template=self.template)


class BriefRow(msgspec.Struct):
    """The same, where of prompts only the template and the videos are read."""

    prompt: _BriefPrompt | None
    reply: Reply | None
    score: Score
    is_remembered: bool
    choice_order: tuple[int, ...] = ()
    steps: tuple[Step, ...] = ()

    def trial(self, item_id: str, repeat: int, selection: Selection | None) -> Trial:
        """The trial without the words of its prompt."""
        given = msgspec.structs.asdict(self) | {"prompt": self.prompt and self.prompt.prompt()}
        return Trial(item_id=item_id, repeat=repeat, selection=selection, **given)


class FindingRow(Record):
    """What a diagnostic found of one question, or why it could not."""

    finding: msgspec.Raw = _NOTHING
    failed: Failed | None = None


@dataclass(frozen=True, kw_only=True)
class Stored:
    """One row of trials; `seq` grows with every row. Without a `trial` it is damaged, as `problem` says."""

    seq: int
    item_id: str
    repeat: int
    trial: Trial | None = None
    problem: str = ""


class Header(Record):
    """What the findings of a diagnostic are about; those with the same header may be added up."""

    format: str = "vidence-findings/1"
    diagnostic: str
    version: int
    options: dict[str, str]
    plan_digest: str
    content_hash: str
    model_identities: dict[str, str]
    prompts_digest: str
    started_at: str = ""
