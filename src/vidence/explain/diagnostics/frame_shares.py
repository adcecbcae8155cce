"""Whether an answer rests on one frame or several, by withholding one frame at a time."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypeAlias, get_args

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.contracts import Ask, Diagnostic, Examined, Flow, Subject, View
from vidence.errors import RejectedRequestError, UsageError
from vidence.explain.diagnostics.conditions import Count, Examination
from vidence.explain.diagnostics.frame_placebo import (
    PlaceboDeltas,
    evidence_positions,
    placebo_positions,
    placebo_tables,
)
from vidence.explain.diagnostics.tables import Figures, counted
from vidence.records import Estimate, Item, Prompt, Record, Sampling
from vidence.tables.charts import Group, Statement, Violins
from vidence.tables.table import Column, Measure, RowSpec, Table, lines, number, share, tabulate

# By so much less than a letter that was reported is one that was not, so that it never wins a tie.
BELOW_REPORTED = 1e-10
# What is left for letters that were not reported is never taken for less than this.
LEAST_LEFT = 1e-12


@dataclass(frozen=True, kw_only=True)
class OverLetters:
    """Natural-log probabilities over the letters alone, shape (n_letters,); `n_floored` were missing.

    Source: HERBench, section 5.2, step 1.
    Departs: see `of_logps`.
    """

    logps: NDArray[np.float64]
    n_floored: int = 0


def of_logps(reported: Mapping[str, float] | None, letters: Sequence[str]) -> OverLetters | None:
    """The softmax over the letters of what a model reported; None if it reported none of them.

    Models report the most likely tokens only. Letters that are absent get alike the most that they can have:
    no more than any letter reported, and together no more than what these leave of 1.

    Source: HERBench, section 5.2, step 1.
    Departs: the paper does not say what it does with absent letters.
    """
    wanted = set(letters)
    known = {a: logp for a, logp in (reported or {}).items() if a in wanted and math.isfinite(logp)}
    if not known:
        return None
    reported_sum = sum(math.exp(min(logp, 0.0)) for logp in known.values())
    left = max(1 - reported_sum, LEAST_LEFT)
    n_absent = len(letters) - len(known)
    if not n_absent:
        return OverLetters(logps=_normalised(np.array([known[letter] for letter in letters])))
    floor = min(*known.values(), math.log(left / n_absent)) - BELOW_REPORTED
    logps = _normalised(np.array([known.get(letter, floor) for letter in letters]))
    return OverLetters(logps=logps, n_floored=n_absent)


def _normalised(logps: NDArray[np.float64]) -> NDArray[np.float64]:
    shifted = logps - logps.max()
    return np.asarray(shifted - math.log(float(np.exp(shifted).sum())), np.float64)


VIEW: Final = "frames"
PLACEBO: Final = "placebo"
ORACLE: Final = "evidence:only"
APART: Final = "evidence-apart"
MOST_CHOICES: Final = 26
Exclusion: TypeAlias = Literal[
    "",
    "no choices",
    "too many choices",
    "fewer than two frames",
    "no log-probabilities",
    "no positive evidence",
]
# Deltas up to this are rounding.
ROUNDING = 1e-9


class Settings(Record):
    """Options of the diagnostic.

    Source: HERBench, section 5.2.
    Departs: all but the oracle frames and the log-probabilities is ours.
    """

    view: Annotated[
        Literal["oracle", "ranked", "plan"],
        Meta(description="oracle: the annotated evidence; ranked: a selector's best frames; plan: the run's"),
    ] = "oracle"
    selector: Annotated[str, Meta(description="selector for ranked and plan (default: the plan's)")] = ""
    n: Annotated[Count | None, Meta(description="most frames; oracle: 16, otherwise the plan's")] = None
    pieces: Annotated[
        Literal["one", "all"], Meta(description="of the evidence: one frame for each annotated span, or all")
    ] = "one"
    placebo: Annotated[
        Literal["n"] | None, Meta(description="n: leave out as many frames apart from the evidence, too")
    ] = None
    max_tokens: Annotated[Count, Meta(description="tokens of a reply")] = 16

    def __post_init__(self) -> None:
        if self.selector and self.view == "oracle":
            raise UsageError(
                f"frame-shares: selector={self.selector} with view=oracle, which shows the annotated "
                "evidence; choose view=ranked or view=plan, or leave out the selector"
            )
        if self.placebo and self.view != "oracle":
            raise UsageError(
                f"frame-shares: placebo={self.placebo} with view={self.view}; frames apart from the evidence "
                "are a placebo for the evidence alone: choose view=oracle, or leave out the placebo"
            )

    @property
    def first(self) -> Sampling:
        """Return the sampling of a reply with log-probabilities."""
        return Sampling(temperature=0.0, max_tokens=self.max_tokens, want_choice_logps=True)


class FrameSharesFinding(Record, omit_defaults=True):
    """What each frame contributes to the option that a model chooses given all frames.

    Source: HERBench, section 5.2.
    Departs: the entropy is ours.
    """

    excluded: Exclusion = ""
    """Why the question counts in no mean; empty if it does."""
    why: str = ""
    """Details of the reason."""
    times_s: tuple[float, ...] = ()
    """The time of each frame, ascending; `deltas` and `shares` have the same order."""
    probabilities: tuple[float, ...] = ()
    """Log-probabilities of the letters given all frames."""
    chosen: str = ""
    """The most likely letter."""
    is_right: bool | None = None
    deltas: tuple[float, ...] = ()
    """Contribution of each frame to the log-probability of `chosen`, in nats."""
    shares: tuple[float, ...] = ()
    """Each frame's share of the positive deltas; they sum to 1."""
    top_share: float | None = None
    """The largest share, if each letter that was not reported had the most that it can have."""
    entropy: float | None = None
    """The entropy of the shares over that of even shares, from 0 to 1."""
    n_floored: int = 0
    """Number of unreported letters, over all prompts."""
    beside_deltas: tuple[float, ...] = ()
    """With a placebo: the deltas of the same frames, with frames apart from the evidence shown, too."""
    placebo_deltas: tuple[float, ...] = ()
    """Those of the frames apart, to the option that is most likely with all of these frames."""
    placebo_why: str = ""
    """Why a requested placebo is missing."""

    @property
    def even(self) -> float:
        """Return the share of each frame if all contribute equally, the minimum of `top_share`."""
        return 1 / len(self.shares)


class FrameShares(Examination[Settings]):
    """Leave-one-out shares of the frames in the log-probability of a model's own answer.

    The question is put with all frames and with each of them left out, all together. A question without
    choices, with more than 26, or with fewer than two frames is not put; one where no frame adds anything
    has no shares. All of these are counted.

    Source: HERBench, section 5.2.
    Departs: one frame is taken for each annotated span, since the paper's curated frames are not released,
        and single images beside a video count as pieces; the choices of `of_logps` and `share_out`.
    """

    name = "frame-shares"
    version = 4
    finding: type[Record] = FrameSharesFinding

    def views(self, *, selector: str, n_frames: int) -> Mapping[str, View]:
        """Return the frames under test: the annotated evidence, or a selector's choice."""
        settings = self.settings
        if settings.view == "oracle":
            n = settings.n or 16
            view = View(selector=ORACLE, n_frames=n)
        else:
            n = settings.n or n_frames
            chosen = settings.selector or selector
            view = View(selector=chosen, n_frames=n, is_ranked=settings.view == "ranked")
        if settings.placebo:
            return {VIEW: view, PLACEBO: View(selector=APART, n_frames=2 * n)}
        return {VIEW: view}

    def most_asks(self, item: Item, *, n_frames: int) -> int:
        """Return one plus the number of frames, if the selector keeps its budget."""
        settings = self.settings
        if item.answer_kind != "choice" or not 0 < len(item.choices) <= MOST_CHOICES:
            return 0
        n = settings.n or (16 if settings.view == "oracle" else n_frames)
        return 1 + n + (1 + 2 * n if settings.placebo else 0)

    def examine(self, subject: Subject) -> Flow[FrameSharesFinding]:
        """Ask with all frames and without each."""
        item = subject.item
        if not item.choices or item.answer_kind != "choice":
            return FrameSharesFinding(excluded="no choices")
        if len(item.choices) > MOST_CHOICES:
            why = f"{len(item.choices)} choices; expected at most {MOST_CHOICES}, one letter each"
            return FrameSharesFinding(excluded="too many choices", why=why)
        times_s = subject.times_s(VIEW)
        positions = self._positions(item, times_s)
        shown_s = tuple(times_s[i] for i in positions)
        if len(positions) < 2:
            return FrameSharesFinding(excluded="fewer than two frames", times_s=shown_s)
        prompts = [subject.prompt(VIEW, positions)]
        prompts += [subject.prompt(VIEW, [i for i in positions if i != left_out]) for left_out in positions]
        finding = yield from self._by_logps(item, prompts, FrameSharesFinding(times_s=shown_s))
        if self.settings.placebo and finding.deltas:
            finding = yield from self._beside_placebo(subject, finding)
        return finding

    def _beside_placebo(self, subject: Subject, finding: FrameSharesFinding) -> Flow[FrameSharesFinding]:
        """Ask with evidence and placebo frames, and without each of them."""
        times_s = subject.times_s(PLACEBO)
        evidence, apart = placebo_positions(subject.item, finding.times_s, times_s)
        if not apart or len(evidence) < len(finding.times_s):
            why = "no frame lies apart from the evidence" if evidence else "the evidence is not in its view"
            return msgspec.structs.replace(finding, placebo_why=why)
        every = sorted([*evidence, *apart], key=times_s.__getitem__)
        prompts = [subject.prompt(PLACEBO, every)]
        prompts += [subject.prompt(PLACEBO, [i for i in every if i != o]) for o in (*evidence, *apart)]
        logps = yield from self._by_logps(subject.item, prompts, FrameSharesFinding(times_s=finding.times_s))
        ours, theirs = logps.deltas[: len(evidence)], logps.deltas[len(evidence) :]
        if not logps.deltas:
            return msgspec.structs.replace(finding, placebo_why=f"{logps.excluded}: {logps.why}")
        return msgspec.structs.replace(
            finding, n_floored=finding.n_floored + logps.n_floored, beside_deltas=ours, placebo_deltas=theirs
        )

    def _positions(self, item: Item, times_s: Sequence[float]) -> list[int]:
        if self.settings.view == "oracle" and self.settings.pieces == "one":
            return evidence_positions(item, times_s)
        return sorted(range(len(times_s)), key=times_s.__getitem__)

    def _by_logps(
        self, item: Item, prompts: Sequence[Prompt], finding: FrameSharesFinding
    ) -> Flow[FrameSharesFinding]:
        try:
            replies = yield [Ask(prompt=prompt, sampling=self.settings.first) for prompt in prompts]
        except RejectedRequestError as error:
            why = f"the request for log-probabilities was rejected: {error}"
            return msgspec.structs.replace(finding, excluded="no log-probabilities", why=why)
        over = [of_logps(reply.choice_logps, item.letters) for reply in replies]
        if n_without := over.count(None):
            why = (
                f"{n_without} of {len(over)} replies have none of a choice letter; ask a model "
                "that gives them, with a prompt that wants the letter first"
            )
            return msgspec.structs.replace(finding, excluded="no log-probabilities", why=why)
        return _with_shares(item, over, finding)

    def summarise(
        self, examined: Sequence[Examined], *, rng: np.random.Generator, level: float
    ) -> tuple[Statement, ...]:
        """Return shares of right and wrong answers, their distributions, and what was left out."""
        if not examined:
            return ()
        return _Summary(examined=tuple(examined), figures=Figures(rng=rng, level=level)).statements()


def create(settings: Settings) -> Diagnostic:
    """Create the diagnostic."""
    return FrameShares(settings)


# --------------------------------------------------------------------------- shares


@dataclass(frozen=True, kw_only=True)
class Shares:
    """What each frame adds, shapes (n_frames,); `shares` is None if no frame adds anything.

    Source: HERBench, section 5.2.
    Departs: see `share_out`.
    """

    chosen: int
    deltas: NDArray[np.float64]
    shares: NDArray[np.float64] | None

    @property
    def entropy(self) -> float | None:
        """Return the normalised entropy of the shares: 0 for a single frame, 1 for even shares."""
        if self.shares is None:
            return None
        there = self.shares[self.shares > 0]
        return float(-(there * np.log(there)).sum() / math.log(len(self.shares))) + 0.0


def share_out(full: OverLetters, without: Sequence[OverLetters]) -> Shares:
    """Return deltas and shares of the frames.

    Args:
        full: with all frames.
        without: for each of two or more frames, with all others.

    Source: HERBench, section 5.2, steps 2 to 4.
    Departs: the paper does not say which option it follows: here the most likely letter, of equals the first.
    A delta up to
        1e-9 counts as 0.
    """
    chosen = int(np.argmax(full.logps))
    deltas = np.array([full.logps[chosen] - letters.logps[chosen] for letters in without])
    positive = np.where(deltas > ROUNDING, deltas, 0.0)
    total = float(positive.sum())
    return Shares(chosen=chosen, deltas=deltas, shares=positive / total if total else None)


def _with_shares(
    item: Item, over: Sequence[OverLetters | None], finding: FrameSharesFinding
) -> FrameSharesFinding:
    """Complete a finding from the probabilities, all of which are known."""
    known = [letters for letters in over if letters is not None]
    full, *without = known
    shared = share_out(full, without)
    chosen = item.letters[shared.chosen]
    finding = msgspec.structs.replace(
        finding,
        probabilities=tuple(np.exp(full.logps).tolist()),
        chosen=chosen,
        is_right=chosen == item.answer,
        deltas=tuple(shared.deltas.tolist()),
        n_floored=sum(letters.n_floored for letters in known),
    )
    if shared.shares is None:
        return msgspec.structs.replace(finding, excluded="no positive evidence")
    return msgspec.structs.replace(
        finding,
        shares=tuple(shared.shares.tolist()),
        top_share=float(shared.shares.max()),
        entropy=shared.entropy,
    )


# --------------------------------------------------------------------------- what all questions say

_PRINTED = (
    "HERBench describes means near 0.5 for right answers and often near 0.8 for wrong ones (section 5.2, "
    "figure 5; oracle frames)."
)

_FLOOR = (
    "Noise alone gives some frame a large share, too: about 74 to 81 % of 3 frames, 66 to 72 % of 4. With "
    "placebo=n the table below has that floor for these questions."
)
_BIASED = (
    "Right and wrong answers are compared against a placebo alone (placebo=n): the option followed is picked "
    "with all frames, so both fall back without one, and not alike, also where no frame matters."
)
_NONE = "They have no shares; noise alone does this to about 1 in n + 1 questions with n frames."


@dataclass(frozen=True, kw_only=True)
class _Shared:
    """A question that has shares."""

    item: Item
    found: FrameSharesFinding

    @property
    def top(self) -> float:
        return self.found.top_share or 0.0


Some: TypeAlias = Sequence[_Shared]
Groups: TypeAlias = Mapping[str, Some]
Of: TypeAlias = Callable[[_Shared], float]
_MEASURES: Mapping[str, tuple[str, Of]] = {
    "top": ("top-1 share", lambda shared: shared.top),
    "beyond-even": ("beyond even", lambda shared: (shared.top - shared.found.even) / (1 - shared.found.even)),
    "entropy": ("entropy", lambda shared: shared.found.entropy or 0.0),
}
_LABELS = {"right": "answered right", "wrong": "answered wrong"}


@dataclass(frozen=True, kw_only=True)
class _Summary:
    """The tables and figures over all questions.

    Source: HERBench, section 5.2 and figure 5.
    Departs: intervals, entropy and the distance from even shares are ours.
    """

    examined: tuple[Examined, ...]
    figures: Figures

    def statements(self) -> tuple[Statement, ...]:
        """Return the statements, the headline first."""
        every = [
            _Shared(item=examined.item, found=finding)
            for examined in self.examined
            if isinstance(finding := examined.finding, FrameSharesFinding) and finding.shares
        ]
        groups: Groups = {"all": every} | {
            key: [shared for shared in every if bool(shared.found.is_right) == (key == "right")]
            for key in _LABELS
        }
        statements: list[Statement] = [self._headline(groups), *self._placebo()]
        if every:
            statements.append(self._violins(groups))
        return (*statements, self._left_out())

    def _n_without(self, key: str) -> int:
        """Return how many of a group's questions have deltas but no positive one."""
        findings = [e.finding for e in self.examined if isinstance(e.finding, FrameSharesFinding)]
        none = [finding for finding in findings if finding.excluded == "no positive evidence"]
        return sum(key == "all" or bool(finding.is_right) == (key == "right") for finding in none)

    def _placebo(self) -> list[Table]:
        """Return tables of evidence against placebo, if a placebo was requested."""
        entries = [
            PlaceboDeltas(
                item=examined.item,
                is_right=bool(finding.is_right),
                evidence=finding.beside_deltas,
                placebo=finding.placebo_deltas,
                alone=finding.deltas,
            )
            for examined in self.examined
            if isinstance(finding := examined.finding, FrameSharesFinding) and finding.placebo_deltas
        ]
        groups = {"all": entries} | {
            key: [deltas for deltas in entries if deltas.is_right == (key == "right")] for key in _LABELS
        }
        return placebo_tables(groups, _LABELS, self.figures)

    def _mean(self, of: Of, *, most: float = 1.0) -> Callable[[Some], Estimate | None]:
        return lambda some: self.figures.over(some, of, bounds=(0.0, most))

    def _headline(self, groups: Groups) -> Table:
        notes = {
            "top": "the largest share of a frame",
            "beyond-even": "0: every frame adds the same; 100: one frame alone, however many there are",
            "entropy": "of the shares, over that of even shares",
        }

        def measure(key: str) -> Measure[Some]:
            title, of = _MEASURES[key]
            column = number if key == "entropy" else share
            return column(key, self._mean(of), title, note=notes[key])

        table = tabulate(
            "frame-shares",
            "Does an answer rest on one frame?",
            label="questions",
            rows=lines(groups.items(), _LABELS),
            measures=(
                *map(measure, _MEASURES),
                share("even", self._mean(lambda s: s.found.even), "even share", note="1 / number of frames"),
                number("frames", self._mean(lambda shared: len(shared.found.shares), most=math.inf)),
                number("n", len, "questions"),
            ),
            notes=(_PRINTED, _FLOOR, _BIASED),
        )
        without = Column(key="without", title="without positive change", note=_NONE)
        return table.with_columns([without], [[self._n_without(key)] for key in groups])

    def _violins(self, groups: Groups) -> Violins:
        return Violins(
            name="top-1 share",
            title="Largest share of a frame",
            y_title="top-1 share",
            groups=tuple(
                Group(label=label, values=tuple(shared.top for shared in groups[key]))
                for key, label in _LABELS.items()
                if groups[key]
            ),
            note="As figure 5 of HERBench.",
        )

    def _left_out(self) -> Table:
        """Return which questions count, which do not and why, and properties of the numbers."""
        records = [examined.finding for examined in self.examined]

        def line(key: str, label: str, function: Callable[[FrameSharesFinding], bool]) -> RowSpec[list[bool]]:
            return RowSpec(key, label, [isinstance(r, FrameSharesFinding) and function(r) for r in records])

        def left_out(reason: Exclusion) -> RowSpec[list[bool]]:
            return line(reason, f"left out: {reason}", lambda finding: finding.excluded == reason)

        return tabulate(
            "questions",
            "What the shares are of",
            label="",
            rows=(
                line("used", "in the means", lambda finding: not finding.excluded),
                *(left_out(reason) for reason in get_args(Exclusion) if reason),
                RowSpec("failed", "failed", [not isinstance(r, FrameSharesFinding) for r in records]),
                line("floored", "with letters that were not reported", lambda finding: finding.n_floored > 0),
            ),
            measures=counted([examined.item for examined in self.examined], self.figures),
            notes=(
                "No positive evidence: leaving out a frame never made the answer less likely, so there is "
                "nothing to share out. A letter that was not reported gets the most that it can have.",
            ),
        )
