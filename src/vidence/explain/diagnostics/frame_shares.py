"""``frame-shares``: does an answer rest on one frame or on several, by leaving out one at a time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import msgspec
import numpy as np

from vidence import option_readers
from vidence.catalog import take_options
from vidence.contracts import Ask, Diagnostic, Examined, Flow, Subject, View
from vidence.errors import RejectedRequestError, UsageError
from vidence.explain.diagnostics import _shares_summary
from vidence.explain.diagnostics.shares_measure import (
    FrameSharesFinding,
    OverLetters,
    evidence_positions,
    of_draws,
    of_logps,
    share_out,
)
from vidence.records import Answered, Item, Prompt, Record, Sampling
from vidence.tables.findings import Statement

VIEW = "frames"
ORACLE = "evidence:only"
MOST_CHOICES = 26
ViewName: TypeAlias = Literal["oracle", "ranked", "plan"]
Pieces: TypeAlias = Literal["one", "all"]
Mode: TypeAlias = Literal["auto", "logprobs", "sampling"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Which frames, and where the probabilities come from. None: see `create`.

    Source: HERBench, section 5.2.
    Departs: all but the oracle frames and the log-probabilities is ours.
    """

    view: ViewName = "oracle"
    selector: str = ""
    n_frames: int | None = None
    pieces: Pieces = "one"
    mode: Mode = "auto"
    draws: int = 16
    temperature: float = 1.0
    max_tokens: int | None = None

    @property
    def first(self) -> Sampling:
        """How a reply with log-probabilities is drawn."""
        return Sampling(temperature=0.0, max_tokens=self.max_tokens or 16, want_choice_logps=True)

    @property
    def drawn(self) -> Sampling:
        """How one of several replies is drawn."""
        return Sampling(temperature=self.temperature, max_tokens=self.max_tokens or 1024)


class FrameShares:
    """Leave-one-out shares of the frames in the log-probability of a model's own answer.

    The question is put with all frames and with each of them left out, all together. A question without
    choices, with more than 26, or with fewer than two frames is not put; one where no frame adds anything
    has no shares. All of these are counted.

    Source: HERBench, section 5.2.
    Departs: where a model gives no log-probabilities they are estimated from replies drawn several times;
        one frame is taken for each annotated span, since the paper's curated frames are not released, and
        single images beside a video count as pieces; the choices of `_shares_measure`.
    """

    name = "frame-shares"
    version = 3
    finding: type[Record] = FrameSharesFinding

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def views(self, *, selector: str, n_frames: int) -> Mapping[str, View]:
        """The frames under test: the annotated evidence, or what a selector chooses."""
        settings = self.settings
        if settings.view == "oracle":
            return {VIEW: View(selector=ORACLE, n_frames=settings.n_frames or 16)}
        chosen, budget = settings.selector or selector, settings.n_frames or n_frames
        return {VIEW: View(selector=chosen, n_frames=budget, is_ranked=settings.view == "ranked")}

    def models(self) -> Mapping[str, str]:
        """None but the model under test."""
        return {}

    def examine(self, subject: Subject) -> Flow[FrameSharesFinding]:
        """Put the question with all frames and without each."""
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
        found = FrameSharesFinding(times_s=shown_s)
        if self.settings.mode != "sampling":
            found = yield from self._by_logps(item, prompts, found)
        is_fallback = self.settings.mode == "auto" and found.excluded == "no log-probabilities"
        if self.settings.mode == "sampling" or is_fallback:
            empty = FrameSharesFinding(times_s=shown_s, is_fallback=is_fallback, why=found.why)
            found = yield from self._by_draws(subject, prompts, empty)
        return found

    def _positions(self, item: Item, times_s: Sequence[float]) -> list[int]:
        if self.settings.view == "oracle" and self.settings.pieces == "one":
            return evidence_positions(item, times_s)
        return sorted(range(len(times_s)), key=times_s.__getitem__)

    def _by_logps(
        self, item: Item, prompts: Sequence[Prompt], found: FrameSharesFinding
    ) -> Flow[FrameSharesFinding]:
        found = msgspec.structs.replace(found, method="logprobs")
        try:
            replies = yield [Ask(prompt=prompt, sampling=self.settings.first) for prompt in prompts]
        except RejectedRequestError as error:
            if self.settings.mode != "auto":
                raise
            why = f"the request for log-probabilities was rejected: {error}"
            return msgspec.structs.replace(found, excluded="no log-probabilities", why=why)
        over = [of_logps(reply.choice_logps, item.letters) for reply in replies]
        known = [one for one in over if one is not None]
        if len(known) < len(over):
            why = (
                f"{len(over) - len(known)} of {len(over)} replies have none of a choice letter; ask a model "
                "that gives them, with a prompt that wants the letter first, or take mode=sampling"
            )
            return msgspec.structs.replace(found, excluded="no log-probabilities", why=why)
        return _with_shares(item, known, found)

    def _by_draws(
        self, subject: Subject, prompts: Sequence[Prompt], found: FrameSharesFinding
    ) -> Flow[FrameSharesFinding]:
        item, n_draws = subject.item, self.settings.draws
        replies = yield [
            Ask(prompt=prompt, sampling=self.settings.drawn, sample=sample)
            for prompt in prompts
            for sample in range(n_draws)
        ]
        letters: list[str] = []
        for reply in replies:
            score = yield from subject.mark(reply)
            letters.append(score.outcome.answer if isinstance(score.outcome, Answered) else "")
        over = [
            of_draws(letters[start : start + n_draws], item.letters) for start in _starts(prompts, n_draws)
        ]
        n_unread = sum(letter not in item.letters for letter in letters)
        found = msgspec.structs.replace(found, method="sampling", draws=n_draws, n_unread=n_unread)
        known = [one for one in over if one is not None]
        if len(known) < len(over):
            why = f"none of {n_draws} draws could be read for {len(over) - len(known)} of {len(over)} prompts"
            return msgspec.structs.replace(found, excluded="unreadable", why=why)
        return _with_shares(item, known, found)

    def summarise(
        self, examined: Sequence[Examined], *, rng: np.random.Generator, level: float
    ) -> tuple[Statement, ...]:
        """Shares of right against wrong answers, their distributions, and what was left out."""
        return _shares_summary.statements(examined, rng=rng, level=level)


def _starts(prompts: Sequence[Prompt], n_draws: int) -> range:
    return range(0, len(prompts) * n_draws, n_draws)


def _with_shares(item: Item, over: Sequence[OverLetters], found: FrameSharesFinding) -> FrameSharesFinding:
    full, *without = over
    shared = share_out(full, without)
    chosen = item.letters[shared.chosen]
    found = msgspec.structs.replace(
        found,
        probabilities=tuple(np.exp(full.logps).tolist()),
        chosen=chosen,
        is_right=chosen == item.answer,
        deltas=tuple(shared.deltas.tolist()),
        n_floored=sum(one.n_floored for one in over),
    )
    bounds = shared.top_bounds if found.n_floored else None
    if shared.shares is None:
        why = "letters that were not reported may hide some" if bounds else found.why
        return msgspec.structs.replace(found, excluded="no positive evidence", why=why)
    top = float(shared.shares.max())
    low, high = bounds or (None, None)
    return msgspec.structs.replace(
        found,
        shares=tuple(shared.shares.tolist()),
        top_share=top,
        top_share_low=low,
        top_share_high=high,
        entropy=shared.entropy,
    )


_OPTIONS: dict[str, tuple[str, Callable[[str], object]]] = {
    "view": ("view", option_readers.one_of(*get_args(ViewName))),
    "selector": ("selector", str),
    "n": ("n_frames", option_readers.positive_whole),
    "pieces": ("pieces", option_readers.one_of(*get_args(Pieces))),
    "mode": ("mode", option_readers.one_of(*get_args(Mode))),
    "draws": ("draws", option_readers.positive_whole),
    "temperature": ("temperature", option_readers.positive_number),
    "max_tokens": ("max_tokens", option_readers.positive_whole),
}


def create(options: Mapping[str, str]) -> Diagnostic:
    """The diagnostic.

    Options: ``view`` (oracle: the annotated evidence alone; ranked: the best frames of a selector; plan:
    the frames of the run), ``selector`` (for ranked and plan; the plan's), ``n`` (most frames; 16 for
    oracle, else the plan's), ``pieces`` (one: a frame for each annotated span; all), ``mode`` (logprobs,
    sampling, or auto: logprobs, and sampling where there are none), ``draws`` (replies to each prompt, 16)
    and ``temperature`` (1) for sampling, ``max_tokens`` (16 for logprobs, 1024 for sampling).

    Raises:
        UsageError: an option that is not known or cannot be read, or ``selector`` with ``view=oracle``.
    """
    known = {name: read for name, (_, read) in _OPTIONS.items()}
    values = take_options("frame-shares", options, known)
    settings = msgspec.convert({_OPTIONS[name][0]: value for name, value in values.items()}, Settings)
    if settings.selector and settings.view == "oracle":
        raise UsageError(
            f"frame-shares: selector={settings.selector} with view=oracle, which shows the annotated "
            "evidence; choose view=ranked or view=plan, or leave out the selector"
        )
    return FrameShares(settings)
