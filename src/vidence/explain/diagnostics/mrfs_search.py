"""How many frames of a ranking are enough: the searches, and what they find."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from vidence.contracts import Ask, Flow, Subject
from vidence.errors import RejectedRequestError
from vidence.records import Answered, Failed, Outcome, Record, Reply, Score

VIEW = "ranked"
Category: TypeAlias = Literal["text-only", "visual-required", "undefined", "error"]
Mode: TypeAlias = Literal["nested-bisect", "exhaustive", "official"]
Shot: TypeAlias = tuple[int, int]  # how many frames, and which sample


class MrfsFinding(Record, kw_only=True):
    """What one question demands.

    `mrfs` is a number of frames: 0 for ``text-only``, None for ``undefined`` and ``error``. `right` says
    for each number of frames that was asked (0: none) whether the answer was right, None where there is no
    mark; `asked` holds these numbers in the order of asking, repeats included. `n_delivered` is how many
    frames there were, at most as many as wanted. `n_steps` counts rounds of the search as the released
    code does. `is_monotone` is False where fewer frames were enough and more were not, and None where that
    was not seen for all numbers of frames. `is_changed` tells whether the same prompt with all frames got
    another answer the second time, where that was tried.

    Source: HERBench, section 3.4.
    Departs: the paper keeps nothing but the number.
    """

    category: Category
    right: dict[int, bool | None]
    mrfs: int | None = None
    asked: tuple[int, ...] = ()
    n_delivered: int = 0
    n_steps: int = 0
    is_monotone: bool | None = None
    is_changed: bool | None = None
    error: str = ""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How to search.

    `most` is the paper's x, the frames of the full context; `least` the fewest that are tried.
    """

    mode: Mode = "nested-bisect"
    most: int = 16
    least: int = 1
    has_text_only: bool = True
    checks_repeat: bool = False


@dataclass(frozen=True, kw_only=True)
class Result:
    """Where a search ended."""

    category: Category
    mrfs: int | None = None
    n_steps: int = 0
    error: str = ""


@dataclass(kw_only=True)
class Prober:
    """Puts one question with the first frames of its ranking, and keeps what came of it."""

    subject: Subject
    n_frames: int
    right: dict[int, bool | None] = field(default_factory=dict)
    asked: list[int] = field(default_factory=list)
    outcomes: dict[Shot, Outcome] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    def ask(self, *shots: Shot) -> Flow[None]:
        """Put these together; one that is rejected leaves None as its mark."""
        if not shots:
            return
        times_s = self.subject.times_s(VIEW)
        asks = []
        for n_shown, sample in shots:
            in_time = sorted(range(n_shown), key=times_s.__getitem__)
            asks.append(Ask(prompt=self.subject.prompt(VIEW, in_time), sample=sample))
        self.asked += [n_shown for n_shown, _ in shots]
        replies = yield from _replies(asks)
        for shot, reply in zip(shots, replies, strict=True):
            yield from self._mark(shot, reply)

    def is_right(self, n_wanted: int) -> Flow[bool | None]:
        """Put the first `n_wanted` frames, or as many as there are: right, wrong, or no mark."""
        n_shown = min(n_wanted, self.n_frames)
        yield from self.ask((n_shown, 0))
        return self.right[n_shown]

    def _mark(self, shot: Shot, reply: Reply | RejectedRequestError) -> Flow[None]:
        n_shown, sample = shot
        right: bool | None = None
        if isinstance(reply, RejectedRequestError):
            self.errors.append(_with(n_shown, str(reply)))
        else:
            try:
                score: Score = yield from self.subject.mark(reply)
            except RejectedRequestError as error:
                self.errors.append(_with(n_shown, f"the judge did not take the reply: {error}"))
            else:
                right = self._read(n_shown, score)
                self.outcomes[shot] = score.outcome
        if sample == 0:
            self.right[n_shown] = right

    def _read(self, n_shown: int, score: Score) -> bool | None:
        if isinstance(score.outcome, Failed):
            self.errors.append(_with(n_shown, score.outcome.message))
            return None
        if score.value is None:
            self.errors.append(_with(n_shown, "the answer waits for a judge; name one with --judge-model"))
            return None
        return score.value == 1.0

    def finding(self, result: Result, *, least: int) -> MrfsFinding:
        """What was found, as the record that is stored."""
        return MrfsFinding(
            category=result.category,
            mrfs=result.mrfs,
            right=dict(sorted(self.right.items())),
            asked=tuple(self.asked),
            n_delivered=self.n_frames,
            n_steps=result.n_steps,
            is_monotone=_is_monotone(self.right, range(min(least, self.n_frames), self.n_frames + 1)),
            is_changed=self._is_changed(),
            error=result.error,
        )

    def _is_changed(self) -> bool | None:
        first, second = (self.outcomes.get((self.n_frames, sample)) for sample in (0, 1))
        if first is None or second is None:
            return None
        return _said(first) != _said(second)

    def stopped(self, *, n_steps: int = 0) -> Result:
        """An error, with its reason."""
        reason = self.errors[0] if self.errors else "no frames: the ranking is empty"
        return Result(category="error", n_steps=n_steps, error=reason)


def _replies(asks: Sequence[Ask]) -> Flow[list[Reply | RejectedRequestError]]:
    """The replies to asks that go out together; where one is rejected, each is put on its own.

    What was answered the first time is in the memory, so only the rejected one is sent again.
    """
    try:
        return list((yield asks))
    except RejectedRequestError as error:
        if len(asks) == 1:
            return [error]
    found: list[Reply | RejectedRequestError] = []
    for ask in asks:
        found += yield from _replies([ask])
    return found


def _with(n_shown: int, message: str) -> str:
    return f"with {n_shown} frames: {message}"


def _said(outcome: Outcome) -> tuple[str, str]:
    return type(outcome).__name__, outcome.answer if isinstance(outcome, Answered) else ""


def _is_monotone(right: dict[int, bool | None], tried: range) -> bool | None:
    marks = [right.get(n) for n in tried if n > 0]
    seen = [mark for mark in marks if mark is not None]
    if seen != sorted(seen):
        return False
    return True if marks and len(seen) == len(marks) else None


def _settled(prober: Prober, settings: Settings) -> Result | None:
    """What is known once the question was asked without frames and with all of them."""
    if settings.has_text_only and prober.right[0]:
        return Result(category="text-only", mrfs=0)
    has_full = prober.n_frames > 0 and prober.right[prober.n_frames] is not None
    if not has_full or (settings.has_text_only and prober.right[0] is None):
        return prober.stopped()
    return None if prober.right[prober.n_frames] else Result(category="undefined")


def _without(settings: Settings) -> list[Shot]:
    return [(0, 0)] if settings.has_text_only else []


def _with_all(prober: Prober, settings: Settings) -> list[Shot]:
    """With all frames, where there are any, and once more if asked for."""
    samples = (0, 1) if settings.checks_repeat else (0,)
    return [(prober.n_frames, sample) for sample in samples] if prober.n_frames else []


def nested_bisect(prober: Prober, settings: Settings) -> Flow[Result]:
    """Halve the prefixes between the fewest and all frames until one number is left.

    The number found is right, and one frame less was seen to be wrong or is fewer than `least`. Where
    answers are not monotone, it is therefore some such number, not always the smallest. Calls: one
    without frames and one with all, together, and at most ceil(log2 of the number of prefixes).

    Source: HERBench, section 3.4 (adaptive bisection over nested prefixes).
    Departs: a request that is rejected makes the question an error; with fewer frames than wanted the
        search runs over those that there are.
    """
    n_all = prober.n_frames
    yield from prober.ask(*_without(settings), *_with_all(prober, settings))
    settled = _settled(prober, settings)
    if settled:
        return settled
    low, high, n_steps = min(settings.least, n_all), n_all, 0
    while low < high:
        n_steps += 1
        middle = (low + high) // 2
        is_right = yield from prober.is_right(middle)
        if is_right is None:
            return prober.stopped(n_steps=n_steps)
        low, high = (low, middle) if is_right else (middle + 1, high)
    return Result(category="visual-required", mrfs=high, n_steps=n_steps)


def exhaustive(prober: Prober, settings: Settings) -> Flow[Result]:
    """Ask with every number of frames, all at once: the true minimum, and whether answers are monotone.

    Source: HERBench, section 3.4, equation 1.
    Departs: a question that is right with a few frames and wrong with all of them is undefined, as in
        the released code and in the paper's third category; by equation 1 alone it would have a number.
    """
    n_all = prober.n_frames
    prefixes = range(max(1, min(settings.least, n_all)), n_all + 1)
    shorter = [(n, 0) for n in prefixes[:-1]]
    yield from prober.ask(*_without(settings), *_with_all(prober, settings), *shorter)
    settled = _settled(prober, settings)
    if settled:
        return settled
    marks = [prober.right[n] for n in prefixes]
    if None in marks:
        return prober.stopped()
    return Result(category="visual-required", mrfs=prefixes[marks.index(True)])


def official(prober: Prober, settings: Settings) -> Flow[Result]:
    """The search of the released code, call by call.

    It counts a closing round that asks nothing, asks once more with the number that it ended at, and
    where answers are not monotone gives an upper bound. A rejected request ends the search where it is.
    The numbers of frames are those wanted, not those delivered.

    Source: HERBench's released code, calculate_mrfs.py.
    Departs: the frames are prefixes of one ranking, where the released code selects anew for each
        number; a reply that says that something went wrong is read by the plan's parser.
    """
    without = yield from prober.is_right(0)
    if without is not False:
        return Result(category="text-only", mrfs=0) if without else prober.stopped()
    if not prober.n_frames:
        return prober.stopped()
    yield from prober.ask(*_with_all(prober, settings))
    settled = _settled(prober, settings)
    if settled:
        return settled
    low, high, best, n_steps = settings.least, settings.most, settings.most, 0
    while low < high:
        n_steps += 1
        middle = (low + high) // 2
        if middle == low:
            break
        is_right = yield from prober.is_right(middle)
        if is_right is None:
            break
        if is_right:
            high = best = middle
        else:
            low = middle + 1
    is_right = yield from prober.is_right(low)
    return Result(category="visual-required", mrfs=low if is_right else best, n_steps=n_steps)


SEARCHES: dict[Mode, Callable[[Prober, Settings], Flow[Result]]] = {
    "nested-bisect": nested_bisect,
    "exhaustive": exhaustive,
    "official": official,
}
