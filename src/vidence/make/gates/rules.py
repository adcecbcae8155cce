"""Configuration of gates, review and release, with the gate rules of the papers."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

from vidence.catalog import names
from vidence.engine.config_file import Count, CountOrNone, Share
from vidence.errors import UnknownNameError, UsageError
from vidence.records import Record
from vidence.statistics.exact import binomial_tail

ALL: Final = "test"
ALL_TASKS: Final = "all"


MOST_LUCK: Final = 0.01


def runs_against_luck(n_choices: int, *, most: float = MOST_LUCK) -> int:
    """Return the fewest runs that a guesser gets all right with probability `most` or less.

    An open question, which cannot be guessed, needs one.

    >>> [runs_against_luck(n) for n in (5, 4, 3, 2, 0)]
    [3, 4, 5, 7, 1]
    """
    if n_choices < 2:
        return 1
    runs = 1
    while n_choices**-runs > most:
        runs += 1
    return runs


class TextOnlyRules(Record, omit_defaults=True):
    """Drop a draft if `at_least` of the `models` (names in ``[models]``) answer it without the video.

    Every model sees the choices in the draft's own order, and in `permutations` other orders drawn from the
    seed; it is right when it is right in all of them. `runs` counts the own order and the others in place of
    `permutations`; ``auto`` takes as many as the number of choices needs (`runs_against_luck`). Where there
    are fewer orders than runs, orders come again, drawn at temperature 1. `prompts` is a set of templates for
    questions; with `forced` the question ends with the demand to choose.
    """

    models: tuple[str, ...]
    at_least: Count = 3
    permutations: CountOrNone = 0
    runs: CountOrNone | Literal["auto"] = 0
    prompts: str = "plain"
    forced: bool = True

    def runs_of(self, n_choices: int) -> int:
        """Return the runs per model for a number of choices; 0 for open questions."""
        if self.runs == "auto":
            return runs_against_luck(n_choices)
        return self.runs or 1 + self.permutations

    def by_luck(self, n_choices: int) -> float:
        """Return the probability that independent guessers meet the rule.

        >>> round(TextOnlyRules(models=("a",), at_least=1, runs=3).by_luck(2), 9)
        0.125
        """
        if n_choices < 2:
            return 0.0
        each = n_choices ** -self.runs_of(n_choices)
        return binomial_tail(len(self.models), self.at_least, each)

    def __post_init__(self) -> None:
        if len(set(self.models)) < len(self.models):
            raise UsageError(f"models of the text-only gate are {', '.join(self.models)}; expected each once")
        if self.models and self.at_least > len(self.models):
            raise UsageError(
                f"at_least is {self.at_least} of {len(self.models)} models; expected no more than there are"
            )


class OneFrameRules(Record, omit_defaults=True):
    """Drop a draft if `model` answers it from one frame, for `suffice` of the tested frames.

    Tried are, of the first `evidence` spans, the frame that is said to show each best (with `decisive`) and
    the one in its middle, and the central frame of the video (with `central`); each once. As `suffice` of
    several lucky guesses would do, the model must be right in the draft's own order
    of choices and in `permutations` other ones. `frame_px` bounds the longer side of a frame.
    """

    model: str
    central: bool = True
    decisive: bool = True
    evidence: CountOrNone = 3
    suffice: Count = 1
    permutations: CountOrNone = 1
    frame_px: Count = 768
    prompts: str = "plain"
    forced: bool = True

    def __post_init__(self) -> None:
        most = self.central + self.evidence * (1 + self.decisive)
        if most < self.suffice:
            raise UsageError(
                f"suffice is {self.suffice}, and at most {most} frames are tried; "
                "expected no more than there are"
            )


class JudgeRules(Record, omit_defaults=True):
    """The judge of free answers: `models` (names in ``[models]``) and `protocol`.

    The protocol is a judge of `vidence list judges`. Several models are a panel: what most of them say
    counts, and a tie leaves the question open. An answer that equals the right one in all but spelling is
    right without them.
    """

    models: tuple[str, ...]
    protocol: str = "rule-first"

    def __post_init__(self) -> None:
        if not self.models or len(set(self.models)) < len(self.models):
            message = ", ".join(self.models) or "none"
            raise UsageError(f"models that judge free answers are {message}; expected one or more, each once")
        if self.protocol not in names("judge"):
            raise UnknownNameError("judge", self.protocol, names("judge"))


class NeedsAllRules(Record, omit_defaults=True):
    """Drop a draft if fewer moments than its `k` prove necessary for `model`.

    It is shown the evidence, up to `frames` frames of each span, and where it is right so, all but one span
    after the other. A span is needed where the model is then not right in the draft's own order of choices
    and in `permutations` others. With `drop` off every draft stays, and only says what was verified.
    `frame_px` bounds the longer side of a frame.
    """

    model: str
    frames: Count = 2
    permutations: CountOrNone = 2
    frame_px: Count = 768
    prompts: str = "plain"
    forced: bool = True
    drop: bool = True


class CheckRules(Record, omit_defaults=True):
    """When two drafts of one task and video are near-duplicates.

    They have the same answer and most of their choices in common; the words of one are all in the other, in
    any order, alike by `near` or more (added words that only say that a video is asked about do not count);
    their evidence overlaps by `same_evidence` or more. Both are Jaccard indices.
    """

    near: Share = 0.9
    same_evidence: Share = 0.5


class BlindRules(Record, omit_defaults=True):
    """Drop questions until no structure is answered from text (`key.read_structures`).

    All structures are tested. Of the tasks in `hold` (names as in ``[tasks]``, or ``all``) the drafts of
    those that fail are dropped; None: of the tasks that the maker holds back by itself. `level` is that of
    the test of all together, `draws` how many keys are drawn at most. `untold` says what becomes of a
    structure of these tasks with too few questions to tell: ``release`` keeps it with the mark ``untold``,
    ``hold`` drops it.
    """

    hold: tuple[str, ...] | None = None
    level: Annotated[float, Meta(gt=0, lt=1)] = 0.95
    draws: Annotated[int, Meta(ge=199)] = 1999
    untold: Literal["release", "hold"] = "release"

    def in_maker(self, own: tuple[str, ...], tasks: Mapping[str, str]) -> "BlindRules":
        """Return the rules with held-back tasks by the names in drafts.

        Args:
            own: what the maker holds back by itself.
            tasks: the names of tasks in drafts, by those in the configuration; what is not there is the same.
        """
        named = own if self.hold is None else self.hold
        return msgspec.structs.replace(self, hold=tuple(tasks.get(name, name).casefold() for name in named))


class GateRules(Record, omit_defaults=True):
    """The gates of drafts or items; a gate with a value of None does not run."""

    checks: CheckRules | None = CheckRules()
    text_only: TextOnlyRules | None = None
    one_frame: OneFrameRules | None = None
    needs_all: NeedsAllRules | None = None
    letters: bool = True
    blind: BlindRules | None = BlindRules()

    @classmethod
    def of(
        cls,
        preset: "Preset",
        *,
        text_only: tuple[str, ...] = (),
        one_frame: str = "",
        needs_all: str = "",
        runs: int | Literal["auto"] | None = None,
    ) -> "GateRules":
        """Return a paper's rules for models by name, without gates that have no model.

        Args:
            preset: the rules of the paper.
            text_only: the models that see the words alone.
            one_frame: the model that sees one frame.
            needs_all: the model from which evidence is withheld.
            runs: how often readers of words are asked (None: as the paper does).
        """
        forced, words = preset.forced, None
        if text_only:
            words = TextOnlyRules(
                models=text_only,
                at_least=preset.at_least or len(text_only),
                runs=preset.runs if runs is None else runs,
                forced=forced,
            )
        return cls(
            text_only=words,
            one_frame=OneFrameRules(model=one_frame, forced=forced) if one_frame else None,
            needs_all=NeedsAllRules(model=needs_all, forced=forced) if needs_all else None,
            letters=False,
        )

    @property
    def models(self) -> tuple[str, ...]:
        """The names of all models that gates ask."""
        panel = () if self.text_only is None else self.text_only.models
        return (*panel, *(entry.model for entry in (self.one_frame, self.needs_all) if entry is not None))

    def check_hold(self, tasks: Iterable[str]) -> None:
        """Check that `blind` names tasks of the maker.

        Raises:
            UnknownNameError: it names another one.
        """
        known = (ALL_TASKS, *tasks)
        held = self.blind.hold or () if self.blind is not None else ()
        if unknown := [task for task in held if task not in known]:
            raise UnknownNameError("task in [gates.blind] hold", unknown[0], known)


class ReviewFolder(Record, omit_defaults=True):
    """``[review]``: `folder` is that of `vidence items review`, from that of the configuration."""

    folder: str = "review"


class ReviewRules(ReviewFolder, omit_defaults=True):
    """How people review a sample, and the decision rule.

    `share` of the questions are drawn, from each stratum (a task on a video) of `least_stratum` questions or
    more at least one, and of each task at least `each_task`, or all that it has. `folder` is the folder
    of ``vidence items review`` in which people look at them. The rest of a task is released when the upper
    end of the interval of its rate of rejection, at `level`, is `most_rejected` or less. `frames` limits
    the frames of a question on the page.
    """

    share: Share = 0.15
    least_stratum: Count = 3
    each_task: CountOrNone = 0
    level: Annotated[float, Meta(gt=0, lt=1)] = 0.95
    most_rejected: Share = 0.3
    frames: Count = 6


class ReleaseRules(Record, omit_defaults=True):
    """What to release, and under which name.

    `splits` are shares of the questions; videos of one `source_id` are in one split only. A source without a
    licence is left out unless its collection or its video is named in `without_licence`. With `unreviewed` a
    set is released that no person has looked at; its datasheet says so. `date` (``2026-11-21``) is written
    where it is given.
    """

    version: str = "1.0.0"
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
        if not re.fullmatch(r"[A-Za-z0-9-][A-Za-z0-9.-]*", self.version):
            raise UsageError(f"version is {self.version!r}; expected letters, digits, . and -, such as 1.0.0")
        bad = [name for name, share in self.splits.items() if not share > 0 or not name.isidentifier()]
        if bad or abs(sum(self.splits.values()) - 1) > 1e-9:
            message = ", ".join(f"{name} = {share:g}" for name, share in self.splits.items()) or "none"
            raise UsageError(
                f"splits are {message}; expected names with shares above 0 that add up to 1, such as "
                "train = 0.8, test = 0.2"
            )


PresetName: TypeAlias = Literal["humanpcr", "herbench", "mmvu"]


class Preset(Record, omit_defaults=True):
    """A paper's setup of blind readers; `at_least` None requires all.

    With `to_people` nothing is dropped: what a gate would drop is left open for people to look at.
    """

    runs: int | Literal["auto"] = "auto"
    at_least: int | None = None
    forced: bool = True
    to_people: bool = False


PRESETS: Final[Mapping[str, Preset]] = {
    "humanpcr": Preset(runs=3),
    "herbench": Preset(runs=1, at_least=3, forced=False),
    "mmvu": Preset(to_people=True),
}
"""Source: HumanPCR, appendix B.1 (the choices permuted in each run, out if all are right); HERBench, 7.6
(three of four models); MMVU, section 3.3 (text and a single frame, looked at by people).

Departs: HumanPCR does not say how many runs (three here). MMVU's people judge without models; here models
choose what they look at.
"""
