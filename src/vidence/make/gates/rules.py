"""What a configuration says of quality gates, of the review by people, and of the release."""

from typing import Final

import msgspec

from vidence.errors import UsageError
from vidence.records import Record

ALL: Final = "test"


def _at_least(owner: Record, least: int, *names: str) -> None:
    for name in names:
        value = getattr(owner, name)
        if value < least:
            raise UsageError(f"{name} is {value}; expected {least} or more")


def _is_share(owner: Record, *names: str) -> None:
    for name in names:
        value = getattr(owner, name)
        if not 0 < value <= 1:
            raise UsageError(f"{name} is {value}; expected a share above 0 and up to 1")


class TextOnlyRules(Record, kw_only=True, omit_defaults=True):
    """A draft is dropped when `at_least` of the `models` (names in ``[models]``) are right without the video.

    Every model sees the choices in the draft's own order, and in `permutations` other orders drawn from the
    seed; it is right when it is right in all of them. `prompts` is a set of templates for questions; with
    `forced` the question ends with the demand to choose.
    """

    models: tuple[str, ...]
    at_least: int = 3
    permutations: int = 0
    prompts: str = "plain"
    forced: bool = True

    def __post_init__(self) -> None:
        _at_least(self, 1, "at_least")
        _at_least(self, 0, "permutations")
        if len(set(self.models)) < len(self.models):
            raise UsageError(f"models of the text-only gate are {', '.join(self.models)}; expected each once")
        if self.models and self.at_least > len(self.models):
            raise UsageError(
                f"at_least is {self.at_least} of {len(self.models)} models; expected no more than there are"
            )


class OneFrameRules(Record, kw_only=True, omit_defaults=True):
    """A draft is dropped when `model` is right with one frame, for `suffice` of the frames that are tried.

    Tried are the central frame of the video (with `central`) and the middle frames of the first `evidence`
    spans. As `suffice` of several lucky guesses would do, the model must be right in the draft's own order
    of choices and in `permutations` other ones. `frame_px` bounds the longer side of a frame.
    """

    model: str
    central: bool = True
    evidence: int = 3
    suffice: int = 1
    permutations: int = 1
    frame_px: int = 768
    prompts: str = "plain"
    forced: bool = True

    def __post_init__(self) -> None:
        _at_least(self, 1, "suffice", "frame_px")
        _at_least(self, 0, "evidence", "permutations")
        if self.central + self.evidence < self.suffice:
            raise UsageError(
                f"suffice is {self.suffice}, and at most {self.central + self.evidence} frames are tried; "
                "expected no more than there are"
            )


class CheckRules(Record, kw_only=True, omit_defaults=True):
    """When two drafts of one task and video are nearly one.

    Their texts resemble each other by `near` or more, they have the same answer, and their evidence overlaps
    by `same_evidence` or more; both are Jaccard indices.
    """

    near: float = 0.9
    same_evidence: float = 0.5

    def __post_init__(self) -> None:
        _is_share(self, "near", "same_evidence")


class GateRules(Record, kw_only=True, omit_defaults=True):
    """The gates behind the drafts. The first two are left out where their tables are absent."""

    text_only: TextOnlyRules | None = None
    one_frame: OneFrameRules | None = None
    checks: CheckRules = CheckRules()
    letters: bool = True

    @property
    def models(self) -> tuple[str, ...]:
        """The names of all models that gates ask."""
        panel = () if self.text_only is None else self.text_only.models
        return panel if self.one_frame is None else (*panel, self.one_frame.model)


class ReviewRules(Record, kw_only=True, omit_defaults=True):
    """How people look at a sample, and what follows from it.

    `share` of the questions are drawn, from each stratum (a task on a video) of `least_stratum` questions or
    more at least one. `filled` is the sheet as people filled it in; empty, or not there: nobody has yet. The
    rest of a task is released when the upper end of the interval of its rate of rejection, at `level`, is
    `most_rejected` or less. `frames` is how many frames a question has on the sheet at most.
    """

    share: float = 0.15
    least_stratum: int = 3
    filled: str = ""
    level: float = 0.95
    most_rejected: float = 0.3
    frames: int = 6

    def __post_init__(self) -> None:
        _is_share(self, "share", "most_rejected")
        _at_least(self, 1, "least_stratum", "frames")
        if not 0 < self.level < 1:
            raise UsageError(f"level is {self.level}; expected a number between 0 and 1, such as 0.95")


class ReleaseRules(Record, kw_only=True, omit_defaults=True):
    """What is released, and under which name.

    `splits` are shares of the questions; a video is in one split only. A source without a licence is left
    out unless its collection or its video is named in `without_licence`. With `unreviewed` a set is released
    that no person has looked at; its datasheet says so. `date` (``2026-11-21``) is written where it is given.
    """

    version: str
    title: str = ""
    authors: tuple[str, ...] = ()
    contact: str = ""
    url: str = ""
    date: str = ""
    licence: str = ""
    splits: dict[str, float] = msgspec.field(default_factory=lambda: {ALL: 1.0})
    without_licence: tuple[str, ...] = ()
    unreviewed: bool = False

    def __post_init__(self) -> None:
        if not self.version or set(self.version) - _VERSION_CHARS or self.version.startswith("."):
            raise UsageError(f"version is {self.version!r}; expected letters, digits, . and -, such as 1.0.0")
        bad = [name for name, share in self.splits.items() if not share > 0 or not name.isidentifier()]
        if bad or abs(sum(self.splits.values()) - 1) > 1e-9:
            said = ", ".join(f"{name} = {share:g}" for name, share in self.splits.items()) or "none"
            raise UsageError(
                f"splits are {said}; expected names with shares above 0 that add up to 1, such as "
                "train = 0.8, test = 0.2"
            )


_VERSION_CHARS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.")
