"""How many frames a question requires, by HERBench's Minimum Required Frame-Set (MRFS)."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Final, Literal, TypeAlias

import msgspec
import numpy as np
from msgspec import Meta

from vidence.contracts import Ask, Diagnostic, Examined, Flow, Subject, View
from vidence.errors import RejectedRequestError, UsageError
from vidence.explain.diagnostics.conditions import Count, Examination, ReplyScore, reply_score, rotations
from vidence.explain.diagnostics.mrfs_guessing import QuestionLuck, guess_tables
from vidence.explain.diagnostics.mrfs_published import Origin, beside_herbench, departures, of_another_model
from vidence.explain.diagnostics.mrfs_steps import MOST_STEPS, is_monotone
from vidence.explain.diagnostics.tables import Figures, counted, tag_tables
from vidence.records import Estimate, Failed, Item, Record, Reply
from vidence.statistics.guessing import Search
from vidence.tables.charts import Chart, Dot, Point, Scatter, Series, Statement
from vidence.tables.table import Measure, Row, RowSpec, Table, lines, number, share, tabulate

VIEW: Final = "ranked"
LEAST_OF_QUANTILE: Final = 10  # questions
Category: TypeAlias = Literal["text-only", "visual-required", "undefined", "error"]
Mode: TypeAlias = Literal["nested-bisect", "exhaustive", "official"]
Shot: TypeAlias = tuple[int, int]  # how many frames, and which sample
_MEANINGS: Mapping[Category, str] = {
    "text-only": "right without frames",
    "visual-required": "wrong without frames, right with all of them",
    "undefined": "wrong with all frames",
    "error": "a request was rejected, a reply could not be scored, or there were no frames",
}


class Settings(Record):
    """Options of the diagnostic."""

    mode: Annotated[Mode, Meta(description="how to search")] = "nested-bisect"
    max: Annotated[Count, Meta(description="frames of the full context, the paper's x")] = 16
    min: Annotated[Count, Meta(description="fewest frames that are tried")] = 1
    selector: Annotated[str, Meta(description="selector whose ranking is used (default: the plan's)")] = ""
    text_only: Annotated[bool, Meta(description="ask without frames first")] = True
    check_repeat: Annotated[bool, Meta(description="ask twice with all frames and count other answers")] = (
        False
    )
    orders: Annotated[
        Count, Meta(description="rotations of the choices; right only where all are; the paper's is 1")
    ] = 1
    protocol: Annotated[
        Literal["herbench-standard"] | None,
        Meta(description="refuse all but the ranking and x of HERBench: aks:blip-itm and 16"),
    ] = None

    def __post_init__(self) -> None:
        if self.min > self.max:
            raise UsageError(f"mrfs: min={self.min} is above max={self.max}; expected min at or below max")
        if self.mode == "official" and not self.text_only:
            raise UsageError(
                "mrfs: mode=official always asks without frames first; leave out text_only=false, "
                "or choose mode=nested-bisect"
            )
        if self.protocol and (apart := self.departures(None)):
            raise UsageError(f"mrfs: protocol={self.protocol} with {'; '.join(apart)}")

    def departures(self, ranking: str | None) -> list[str]:
        """See `mrfs_published.departures`."""
        return departures(
            ranking=ranking, n_frames=self.max, n_orders=self.orders, asks_without=self.text_only
        )


class MrfsFinding(Record):
    """How many frames one question requires.

    Source: HERBench, section 3.4.
    Departs: the paper stores only the number.
    """

    category: Category
    right: dict[int, bool | None]
    """Whether the answer was right with each number of frames that was asked (0: none); None: no score.

    In several orders of the choices: in all of them.
    """
    letters: dict[int, str] = msgspec.field(default_factory=dict)
    """The letter in the reply to each number of frames, in the item's own order of choices.

    Empty if none could be read; of open questions nothing. Of several orders it is that of the first.
    """
    n_orders: int = 1
    """Number of choice orders in which each number of frames was asked."""
    mrfs: int | None = None
    """Number of frames: 0 for ``text-only``, None for ``undefined`` and ``error``."""
    asked: tuple[int, ...] = ()
    """Numbers of frames in the order asked, including repeats."""
    n_delivered: int = 0
    """Number of available frames, at most the number requested."""
    n_steps: int = 0
    """Rounds of the search, as the released code counts them."""
    is_monotone: bool | None = None
    """False where fewer frames were enough and more were not, None if not all numbers were seen."""
    is_changed: bool | None = None
    """Whether the same prompt with all frames got another answer the second time, where that was tried."""
    error: str = ""


class Mrfs(Examination[Settings]):
    """The smallest number of frames, best first, with which a model is right.

    The question is put without frames, with all frames of the ranking, and with prefixes of it; frames
    are shown in time order. A reply that cannot be read is wrong. A question with a request that
    is rejected is an error, and counted apart.

    Source: HERBench, section 3.4 and its released code; the shares of the categories and the restricted
        mean are ours.
    Departs: see the searches.
    """

    name = "mrfs"
    version = 2
    finding: type[Record] = MrfsFinding
    frames_option = "max"

    def __init__(self, settings: Settings, *, asked: Origin | None = None) -> None:
        self.settings = settings
        self._asked = asked

    def of_run(self, *, model: str, selector: str) -> "Mrfs":
        """Return the diagnostic with its model and ranking recorded."""
        asked = Origin(model=model, ranking=self.settings.selector or selector)
        return Mrfs(self.settings, asked=asked)

    def views(self, *, selector: str, n_frames: int) -> Mapping[str, View]:
        """Return one ranking, by the plan's selector unless another is given; `n_frames` is not used.

        Raises:
            UsageError: the given protocol requires another ranking.
        """
        ranking = self.settings.selector or selector
        if self.settings.protocol and (apart := self.settings.departures(ranking)):
            raise UsageError(
                f"mrfs: protocol={self.settings.protocol} with {'; '.join(apart)}; name the ranking, for "
                "example --set selector=aks:blip-itm:WEIGHTS, or leave out the protocol"
            )
        return {VIEW: View(selector=ranking, n_frames=self.settings.max, is_ranked=True)}

    def most_asks(self, item: Item, *, n_frames: int) -> int:
        """Return the longest search plus asking without and with all frames; rejections are retried once."""
        settings = self.settings
        if settings.orders > 1 and not _has_letters(item):
            return 0
        n_orders = len(rotations(item, settings.orders))
        n_ends = settings.text_only + 1 + settings.check_repeat
        return (n_ends + MOST_STEPS[settings.mode](settings.min, settings.max)) * n_orders

    def examine(self, subject: Subject) -> Flow[MrfsFinding]:
        """Search for one question's number of frames."""
        n_frames = min(self.settings.max, subject.n_frames(VIEW))
        if self.settings.orders > 1 and not _has_letters(subject.item):
            why = f"orders={self.settings.orders} rotates the choices, and this question has none"
            return MrfsFinding(category="error", right={}, n_delivered=n_frames, error=why)
        prober = Prober(
            subject=subject, n_frames=n_frames, orders=rotations(subject.item, self.settings.orders)
        )
        result = yield from SEARCHES[self.settings.mode](prober, self.settings)
        return prober.finding(result, least=self.settings.min)

    def summarise(
        self, examined: Sequence[Examined], *, rng: np.random.Generator, level: float
    ) -> tuple[Statement, ...]:
        """Return mean MRFS, categories, tags, MRFS against accuracy, and checks of the search."""
        if not examined:
            return ()
        demands = _Demands(
            all=tuple(map(_demand, examined)),
            settings=self.settings,
            asked=self._asked,
            figures=Figures(rng=rng, level=level),
        )
        return demands.statements()


def _has_letters(item: Item) -> bool:
    return item.answer_kind == "choice" and len(item.choices) > 1


def create(settings: Settings) -> Diagnostic:
    """Create the diagnostic."""
    return Mrfs(settings)


# --------------------------------------------------------------------------- the search


@dataclass(frozen=True, kw_only=True)
class Result:
    """The result of a search."""

    category: Category
    mrfs: int | None = None
    n_steps: int = 0
    error: str = ""


@dataclass(kw_only=True)
class Probes(ABC):
    """What a search knows about one question with prefixes of its ranking."""

    n_frames: int
    right: dict[int, bool | None] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    @abstractmethod
    def ask(self, *shots: Shot) -> Flow[None]:
        """Find out whether the answer is right with these frames; None without a score."""

    def is_right(self, n_wanted: int) -> Flow[bool | None]:
        """Return right, wrong, or None with the first `n_wanted` frames, or all if fewer."""
        n_shown = min(n_wanted, self.n_frames)
        yield from self.ask((n_shown, 0))
        return self.right[n_shown]

    def stopped(self, *, n_steps: int = 0) -> Result:
        """Return an error result with its reason."""
        reason = self.errors[0] if self.errors else "no frames: the ranking is empty"
        return Result(category="error", n_steps=n_steps, error=reason)


@dataclass(kw_only=True)
class Guesses(Probes):
    """A simulated question: wrong without frames, otherwise right if `is_so` says so; nothing is asked."""

    is_so: Callable[[int], bool]

    def ask(self, *shots: Shot) -> Flow[None]:
        """See `is_so`."""
        yield from ()
        self.right |= {n: self.is_so(n) if n else False for n, _ in shots}


@dataclass(kw_only=True)
class Prober(Probes):
    """Asks one question with prefixes of its ranking, and records the results."""

    subject: Subject
    orders: Sequence[tuple[int, ...]] = ((),)
    asked: list[int] = field(default_factory=list)
    letters: dict[int, str] = field(default_factory=dict)
    said: dict[Shot, tuple[tuple[str, str], ...]] = field(default_factory=dict)

    def ask(self, *shots: Shot) -> Flow[None]:
        """Ask with these frames concurrently, in every choice order; a rejected request gives None."""
        if not shots:
            return
        times_s = self.subject.times_s(VIEW)
        asks = []
        for n_shown, sample in shots:
            in_time = sorted(range(n_shown), key=times_s.__getitem__)
            for order in self.orders:
                prompt = self.subject.prompt(VIEW, in_time, order=order)
                asks.append(Ask(prompt=prompt, sample=sample))
                self.asked.append(n_shown)
        replies = iter((yield from _replies(asks)))
        for shot in shots:
            scores = []
            for order in self.orders:
                scores.append((yield from self._scored(shot[0], next(replies), order)))
            self._keep(shot, scores)

    def _scored(
        self, n_shown: int, reply: Reply | RejectedRequestError, order: tuple[int, ...]
    ) -> Flow[ReplyScore | None]:
        scored: ReplyScore | None = None
        if isinstance(reply, RejectedRequestError):
            error = str(reply)
        else:
            try:
                scored = reply_score(reply, (yield from self.subject.mark(reply, order=order)), order=order)
                error = scored.why
            except RejectedRequestError as rejected:
                error = f"the judge did not take the reply: {rejected}"
        if error:
            self.errors.append(f"with {n_shown} frames: {error}")
        return scored

    def _keep(self, shot: Shot, scores: Sequence[ReplyScore | None]) -> None:
        n_shown, sample = shot
        known = [score for score in scores if score is not None]
        if len(known) == len(scores):
            self.said[shot] = tuple((score.kind, score.answer) for score in known)
        if sample:
            return
        values = [None if score is None or score.value is None else score.value == 1.0 for score in scores]
        self.right[n_shown] = False if False in values else None if None in values else True
        item, first = self.subject.item, scores[0]
        if first is not None and values[0] is not None and _has_letters(item):
            self.letters[n_shown] = first.answer if first.answer in item.letters else ""

    def finding(self, result: Result, *, least: int) -> MrfsFinding:
        """Return the result as the stored record."""
        said = [self.said.get((self.n_frames, sample)) for sample in (0, 1)]
        return MrfsFinding(
            category=result.category,
            mrfs=result.mrfs,
            right=dict(sorted(self.right.items())),
            letters=dict(sorted(self.letters.items())),
            n_orders=len(self.orders),
            asked=tuple(self.asked),
            n_delivered=self.n_frames,
            n_steps=result.n_steps,
            is_monotone=is_monotone(self.right, range(min(least, self.n_frames), self.n_frames + 1)),
            is_changed=None if None in said else said[0] != said[1],
            error=result.error,
        )


def _replies(asks: Sequence[Ask]) -> Flow[list[Reply | RejectedRequestError]]:
    """Send requests together and return the replies; if one is rejected, each is sent separately.

    Replies from the first time are cached, so only the rejected one is sent again.
    """
    try:
        return list((yield asks))
    except RejectedRequestError as error:
        if len(asks) == 1:
            return [error]
    replies: list[Reply | RejectedRequestError] = []
    for ask in asks:
        replies += yield from _replies([ask])
    return replies


def _settled(prober: Probes, settings: Settings) -> Result | None:
    """Return the result if it is known from asking without frames and with all of them."""
    if settings.text_only and prober.right[0]:
        return Result(category="text-only", mrfs=0)
    has_full = prober.n_frames > 0 and prober.right[prober.n_frames] is not None
    if not has_full or (settings.text_only and prober.right[0] is None):
        return prober.stopped()
    return None if prober.right[prober.n_frames] else Result(category="undefined")


def _without(settings: Settings) -> list[Shot]:
    return [(0, 0)] if settings.text_only else []


def _with_all(prober: Probes, settings: Settings) -> list[Shot]:
    """Return the request with all frames, if any, and a repetition if requested."""
    samples = (0, 1) if settings.check_repeat else (0,)
    return [(prober.n_frames, sample) for sample in samples] if prober.n_frames else []


def nested_bisect(prober: Probes, settings: Settings) -> Flow[Result]:
    """Bisect prefixes between the fewest and all frames until one number is left.

    The resulting number is right, and one frame fewer was wrong or is below `least`. If answers are not
    monotone, it is a local solution, not always the minimum. Calls: one without frames and one with all,
    together, and at most ceil(log2 of the number of prefixes).

    Source: HERBench, section 3.4 (adaptive bisection over nested prefixes).
    Departs: a rejected request makes the question an error; with fewer frames than requested, the search
    covers the available
        ones.
    """
    n_all = prober.n_frames
    yield from prober.ask(*_without(settings), *_with_all(prober, settings))
    if settled := _settled(prober, settings):
        return settled
    low, high, n_steps = min(settings.min, n_all), n_all, 0
    while low < high:
        n_steps += 1
        middle = (low + high) // 2
        is_right = yield from prober.is_right(middle)
        if is_right is None:
            return prober.stopped(n_steps=n_steps)
        low, high = (low, middle) if is_right else (middle + 1, high)
    return Result(category="visual-required", mrfs=high, n_steps=n_steps)


def exhaustive(prober: Probes, settings: Settings) -> Flow[Result]:
    """Ask with every number of frames at once: the true minimum, and whether answers are monotone.

    Source: HERBench, section 3.4, equation 1.
    Departs: a question that is right with a few frames and wrong with all of them is undefined, as in the
    released code and in
        the paper's third category; equation 1 alone would give a number.
    """
    n_all = prober.n_frames
    prefixes = range(max(1, min(settings.min, n_all)), n_all + 1)
    shorter = [(n, 0) for n in prefixes[:-1]]
    yield from prober.ask(*_without(settings), *_with_all(prober, settings), *shorter)
    if settled := _settled(prober, settings):
        return settled
    entries = [prober.right[n] for n in prefixes]
    if None in entries:
        return prober.stopped()
    return Result(category="visual-required", mrfs=prefixes[entries.index(True)])


def official(prober: Probes, settings: Settings) -> Flow[Result]:
    """Run the search of the released code, call by call.

    It counts a final round that asks nothing, asks once more with its final number, and gives an upper bound
    if answers are not monotone. A rejected request counts as wrong, and the search continues above it; with
    all frames it makes the question undefined, without frames an error. Numbers of frames are those
    requested, not delivered.

    Source: HERBench's released code, calculate_mrfs.py.
    Departs: frames are prefixes of one ranking, while the released code selects again for each number; a
    reply that reports an
        error is parsed by the plan's parser.
    """
    without = yield from prober.is_right(0)
    if without is not False:
        return Result(category="text-only", mrfs=0) if without else prober.stopped()
    if not prober.n_frames:
        return prober.stopped()
    yield from prober.ask(*_with_all(prober, settings))
    if prober.right[prober.n_frames] is None and prober.errors:
        return Result(category="undefined", error=prober.errors[0])
    if settled := _settled(prober, settings):
        return settled
    low, high, best, n_steps = settings.min, settings.max, settings.max, 0
    while low < high:
        n_steps += 1
        middle = (low + high) // 2
        if middle == low:
            break
        is_right = yield from prober.is_right(middle)
        if is_right:
            high = best = middle
        else:
            low = middle + 1
    is_right = yield from prober.is_right(low)
    return Result(category="visual-required", mrfs=low if is_right else best, n_steps=n_steps)


SEARCHES: dict[Mode, Callable[[Probes, Settings], Flow[Result]]] = {
    "nested-bisect": nested_bisect,
    "exhaustive": exhaustive,
    "official": official,
}


def search_of(settings: Settings, n_frames: int) -> Search:
    """Return the search as a function of whether answers are right; wrong without frames."""
    least = max(1, min(settings.min, n_frames))

    def first(right: Callable[[int], bool]) -> int | None:
        # `exhaustive` asks all at once; what it finds is settled by fewer answers.
        return next(n for n in range(least, n_frames + 1) if right(n)) if right(n_frames) else None

    def searched(right: Callable[[int], bool]) -> int | None:
        guesses = Guesses(n_frames=n_frames, is_so=right)
        return _ended(SEARCHES[settings.mode](guesses, settings)).mrfs

    return first if settings.mode == "exhaustive" else searched


def _ended(flow: Flow[Result]) -> Result:
    """Return the result of a flow that asks nothing."""
    try:
        next(flow)
    except StopIteration as end:
        result: Result = end.value
        return result
    raise UsageError("this search asks; expected one over answers that are known")


def told_of(entries: Iterable[tuple[Item, MrfsFinding]]) -> list[QuestionLuck]:
    """Return what the questions with choices reveal about guessing."""
    is_found: Mapping[Category, bool] = {"visual-required": True, "undefined": False}
    return [
        QuestionLuck(
            item=item,
            is_found=is_found.get(finding.category),
            mrfs=finding.mrfs,
            n_frames=finding.n_delivered,
            letters=finding.letters,
        )
        for item, finding in entries
        if _has_letters(item)
    ]


# --------------------------------------------------------------------------- what all questions say


@dataclass(frozen=True, kw_only=True)
class _Demand:
    """A question's data for summaries."""

    item: Item
    finding: MrfsFinding

    @property
    def full(self) -> bool | None:
        """Whether it is right with all frames; None if not asked."""
        n = self.finding.n_delivered
        return self.finding.right.get(n) if n else None

    def is_of(self, *categories: Category) -> bool:
        return self.finding.category in categories

    def is_not_monotone(self) -> bool | None:
        known = self.finding.is_monotone
        return None if known is None else not known

    def is_lost(self) -> bool | None:
        """Whether it is right with some frames and wrong with all."""
        if self.full is None:
            return None
        return not self.full and any(is_right for n, is_right in self.finding.right.items() if n)

    def has_failed(self) -> bool:
        """Whether a request was rejected, or a reply could not be scored."""
        return None in self.finding.right.values()

    def is_misled(self) -> bool | None:
        """Whether it is right without frames and wrong with all."""
        without = self.finding.right.get(0)
        return None if without is None or self.full is None else without and not self.full


def _demand(examined: Examined) -> _Demand:
    finding = examined.finding
    if not isinstance(finding, MrfsFinding):
        reason = finding.message if isinstance(finding, Failed) else f"a finding of another kind: {finding!r}"
        finding = MrfsFinding(category="error", right={}, error=reason)
    return _Demand(item=examined.item, finding=finding)


Some: TypeAlias = Sequence[_Demand]
Stated: TypeAlias = Callable[[_Demand], bool | None]


@dataclass(frozen=True, kw_only=True)
class _Demands:
    """The tables and figures over all questions.

    Source: HERBench, tables 1 and 4 and figure 9; the restricted mean and the shares are ours.
    Departs: the paper gives neither intervals nor the shares of its categories.
    """

    all: tuple[_Demand, ...]
    settings: Settings
    asked: Origin | None
    figures: Figures

    def statements(self) -> tuple[Statement, ...]:
        """Return the statements, the headline first."""
        statements: list[Statement] = [self._headline(), *self._guessing(), self._categories()]
        statements += self._distribution()
        measures = self._measures()
        (whole,) = tabulate("", "", label="", rows=lines([("all", self.all)]), measures=measures).rows
        by_tag = tag_tables(
            "by ",
            "MRFS",
            [demand.item for demand in self.all],
            about=lambda where: [self.all[i] for i in where],
            measures=measures,
            notes=(),
        )
        for sheet in by_tag:
            statements += [sheet, *self._scatter(sheet, whole)]
        return (*statements, self._checks())

    # ------------------------------------------------------------------ columns

    def _mean(self, some: Some) -> Estimate | None:
        """Return the mean over visual-required questions, each counted once."""
        wanted = [demand for demand in some if demand.is_of("visual-required")]
        most = max((demand.finding.n_delivered for demand in wanted), default=1)
        return self.figures.over(wanted, lambda demand: demand.finding.mrfs or 0, bounds=(1.0, float(most)))

    def _restricted(self, some: Some) -> Estimate | None:
        """Return the mean with every undefined question counted as one frame more than available."""
        above = self.settings.max + 1
        wanted = [demand for demand in some if demand.is_of("visual-required", "undefined")]

        def demanded(entry: _Demand) -> float:
            return above if entry.finding.mrfs is None else entry.finding.mrfs

        return self.figures.over(wanted, demanded, bounds=(1.0, float(above)))

    def _accuracy(self) -> Measure[Some]:
        def with_all(some: Some) -> Estimate | None:
            return self.figures.over([d for d in some if d.full is not None], lambda d: bool(d.full))

        return share("accuracy", with_all, "right with all frames", note=self._of_accuracy())

    def _of_accuracy(self) -> str:
        if self.settings.mode == "official":
            return "Of the questions that were put with all frames; those right without frames were not."
        return "Of all questions that could be put with all frames."

    def _measures(self) -> tuple[Measure[Some], ...]:
        def of_category(category: Category) -> Measure[Some]:
            return share(category, lambda some: self.figures.over(some, lambda d: d.is_of(category)))

        return (
            number("mean", self._mean, "mean MRFS"),
            number("restricted", self._restricted, "restricted mean"),
            of_category("text-only"),
            of_category("visual-required"),
            of_category("undefined"),
            self._accuracy(),
            number("n", len, "questions"),
        )

    # ------------------------------------------------------------------ tables and figures

    def _headline(self) -> Table:
        needed = sorted(d.finding.mrfs for d in self.all if d.is_of("visual-required") and d.finding.mrfs)
        is_herbench = any(demand.item.benchmark == "herbench" for demand in self.all)
        x = self.settings.max

        has_quantiles = len(needed) >= LEAST_OF_QUANTILE

        def quantile(key: str, title: str, q: float) -> Measure[Some]:
            return number(key, lambda _: float(np.quantile(needed, q)) if has_quantiles else None, title)

        restricted = f"Undefined questions count as {x + 1}: without them the mean is too low."
        return tabulate(
            "mrfs",
            f"Minimum required frames (MRFS), {self._ranking()}",
            label="",
            rows=[RowSpec("all", "all questions", self.all)],
            measures=(
                number("mean", self._mean, "mean MRFS", note="Of visual-required questions."),
                number("restricted", self._restricted, "restricted mean", note=restricted),
                quantile("q25", "25 % quantile", 0.25),
                quantile("median", "median", 0.5),
                quantile("q75", "75 % quantile", 0.75),
                number(
                    "n", lambda _: len(needed), "visual-required", note="How many questions the mean is of."
                ),
                self._accuracy(),
            ),
            notes=(
                "As HERBench defines it: luck counts as demand." if self.settings.orders == 1 else "",
                f"Mode {self.settings.mode}, x = {x} frames, {self._ranking()}.{self._of_orders()}",
                f"No quantiles of fewer than {LEAST_OF_QUANTILE} questions." if not has_quantiles else "",
                "Comparable only for the same model, ranking and x.",
                self._beside() if is_herbench else "",
            ),
        )

    def _ranking(self) -> str:
        ranking = self.settings.selector if self.asked is None else self.asked.ranking
        protocol = f" ({self.settings.protocol})" if self.settings.protocol else ""
        return f"ranked by {ranking or 'the selector of the plan'}{protocol}"

    def _beside(self) -> str:
        """Return HERBench's own mean if computed in the same way."""
        asked = self.asked or Origin(model="", ranking=self.settings.selector)
        of_model = of_another_model(asked.model) if asked.model else ["a model that is not known here"]
        return beside_herbench([*of_model, *self.settings.departures(asked.ranking)])

    def _of_orders(self) -> str:
        n = self.settings.orders
        if n == 1:
            return ""
        return (
            f" Right only where {n} rotations of the choices are (of all of them where there are fewer): "
            "stricter than HERBench's definition, which is orders=1."
        )

    def _guessing(self) -> list[Table]:
        """Return what guessing alone gives."""
        lucks, settings = told_of((demand.item, demand.finding) for demand in self.all), self.settings
        return guess_tables(
            lucks,
            least=settings.min,
            n_orders=settings.orders,
            search=partial(search_of, settings),
            n_open=len(self.all) - len(lucks),
            figures=self.figures,
        )

    def _categories(self) -> Table:
        reasons = Counter(demand.finding.error for demand in self.all if demand.finding.error).most_common(1)
        return tabulate(
            "categories",
            "Which questions need frames",
            label="category",
            rows=(
                RowSpec(category, category, [demand.is_of(category) for demand in self.all], detail=meaning)
                for category, meaning in _MEANINGS.items()
            ),
            measures=counted([demand.item for demand in self.all], self.figures),
            notes=[f"Most frequent error ({n} times): {reason}" for reason, n in reasons],
        )

    def _distribution(self) -> list[Chart]:
        """Return the distribution of required frames over visual-required questions."""
        wanted = [demand for demand in self.all if demand.is_of("visual-required")]
        if not wanted:
            return []
        items = [demand.item for demand in wanted]
        demanded = np.array([demand.finding.mrfs for demand in wanted], np.float64)
        points = tuple(
            Point(x=float(n), y=self.figures.mean((demanded == n).astype(np.float64), items))
            for n in range(1, self.settings.max + 1)
        )
        return [
            Chart(
                name="distribution",
                title="How many frames the visual-required questions demand",
                x_title="MRFS, frames",
                y_title="share of visual-required questions",
                series=(Series(label="visual-required questions", points=points),),
                is_bars=True,
            )
        ]

    def _scatter(self, sheet: Table, whole: Row) -> list[Scatter]:
        """Return MRFS against accuracy, where both are known."""
        at = sheet.keys.index("mean"), sheet.keys.index("accuracy")
        dots = [
            Dot(label=entry.label, x=demand, y=accuracy)
            for entry in (*sheet.rows, whole)
            if isinstance(demand := entry.values[at[0]], Estimate)
            and isinstance(accuracy := entry.values[at[1]], Estimate)
        ]
        scatter = Scatter(
            name=f"accuracy by {sheet.label}",
            title=f"Demand against accuracy, by {sheet.label}",
            x_title="mean MRFS, frames",
            y_title=f"right with {self.settings.max} frames",
            dots=tuple(dots),
            note=f"As figure 9 of HERBench. {self._of_accuracy()}",
        )
        return [scatter] if dots else []

    def _checks(self) -> Table:
        """Return checks of the search, each over the questions where it applies."""
        most, over = self.settings.max, self.figures.over
        calls = over(self.all, lambda demand: len(demand.finding.asked), bounds=(0.0, np.inf))
        n_failed = sum(list(demand.finding.right.values()).count(None) for demand in self.all)

        def is_short(entry: _Demand) -> bool | None:
            return None if entry.is_of("error") else entry.finding.n_delivered < most

        def known(of: Stated) -> list[_Demand]:
            return [demand for demand in self.all if of(demand) is not None]

        specs: tuple[RowSpec[Stated | None], ...] = (
            RowSpec("asks", "asked", None),
            RowSpec("not-monotone", "right with fewer frames and wrong with more", _Demand.is_not_monotone),
            RowSpec("lost", "right with some frames and wrong with all", _Demand.is_lost),
            RowSpec("misled", "right without frames and wrong with all", _Demand.is_misled),
            RowSpec("short", f"fewer than {most} frames", is_short),
            RowSpec("changed", "another answer to the same prompt", lambda demand: demand.finding.is_changed),
            RowSpec("failed", "a probe failed", _Demand.has_failed, detail=f"{n_failed:,} probes in all"),
        )
        return tabulate(
            "search",
            "Irregularities in the search",
            label="",
            rows=specs,
            measures=(
                share("share", lambda of: over(known(of), lambda demand: bool(of(demand))) if of else None),
                number("n", lambda of: sum(bool(of(d)) for d in self.all) if of else None, "questions"),
                number("of", lambda of: len(known(of) if of else self.all)),
                number(
                    "asks",
                    lambda of: None if of else calls,
                    "asks per question",
                    note="The reply memory may have answered some.",
                ),
            ),
            notes=(
                "Monotone is known only where every number of frames was asked, or where it was broken.",
                "Another answer to the same prompt is looked for with check_repeat=true; at temperature 0 "
                "there should be none.",
                "A probe failed where a request was rejected or a reply could not be scored. Between no "
                "frames and all of them `official` takes that for wrong, as the released code does; "
                "otherwise the question is an error.",
            ),
        )
