"""Which questions a panel answers without the video: several models, or one with reordered choices."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Final, Literal

import msgspec
import numpy as np
from msgspec import Meta

from vidence.contracts import Diagnostic, Examined, Flow, Subject, View
from vidence.errors import UsageError
from vidence.explain.diagnostics.conditions import (
    Condition,
    Count,
    Examination,
    ReplyScore,
    ask_together,
    check_at_least,
    mean_value,
    n_right,
    rng_of,
)
from vidence.explain.diagnostics.tables import (
    Figures,
    Flagged,
    SideBySide,
    chance_of,
    flagged,
    guesses,
    kinds,
    side_by_side,
)
from vidence.records import Estimate, Item, Record, by_key
from vidence.tables.charts import Statement
from vidence.tables.table import RowSpec, Table, by_name, lines, number, share, tabulate

FORCED: Final = "forced"  # the template of the words that force a choice
UNDER_TEST: Final = "the model under test"
_HERBENCH_MODELS: Final = 4
_PANEL: Final = "panel"


class Procedure(Record):
    """A published procedure; `at_least` None requires all answers to be right."""

    runs: int
    permute: bool
    forced: bool
    at_least: int | None = None


PROTOCOLS: Mapping[str, Procedure] = {
    "humanpcr": Procedure(runs=3, permute=True, forced=True),
    "herbench": Procedure(runs=1, permute=False, forced=False, at_least=3),
}


class Settings(Record):
    """Options of the diagnostic; they override the protocol's."""

    protocol: Annotated[
        Literal["humanpcr", "herbench"] | None,
        Meta(
            description="humanpcr: 3 runs, permuted, forced, all right; herbench: 4 models, 3 right. Without "
            "it herbench where four models are given, otherwise humanpcr"
        ),
    ] = None
    models: Annotated[
        tuple[str, ...], Meta(description="specs of the members; without any, the model under test")
    ] = ()
    runs: Annotated[Count | None, Meta(description="how often each member is asked")] = None
    permute: Annotated[
        bool | None, Meta(description="another order of the choices in each run, the same for all members")
    ] = None
    forced: Annotated[
        bool | None, Meta(description="end a question with choices with the demand to choose one")
    ] = None
    at_least: Annotated[Count | None, Meta(description="how many right answers flag a question")] = None
    seed: Annotated[int, Meta(ge=0, description="of the orders of the choices")] = 0

    def __post_init__(self) -> None:
        n = len(self.models)
        if self.protocol == "herbench" and n != _HERBENCH_MODELS and self.at_least is None:
            raise UsageError(
                f"blind-panel: the protocol herbench asks {_HERBENCH_MODELS} models and flags at 3; "
                f"{n} are given in models=a|b|c|d. Give {_HERBENCH_MODELS}, or say at_least="
            )
        check_at_least(self.n_wanted, self.n_votes, owner="blind-panel")

    @property
    def procedure(self) -> Procedure:
        """Return the protocol with overrides."""
        usual = "herbench" if len(self.models) == _HERBENCH_MODELS else "humanpcr"
        given = {name: getattr(self, name) for name in Procedure.__struct_fields__}
        known = {name: value for name, value in given.items() if value is not None}
        return msgspec.structs.replace(PROTOCOLS[self.protocol or usual], **known)

    @property
    def n_votes(self) -> int:
        """Return the number of answers per question."""
        return self.procedure.runs * max(1, len(self.models))

    @property
    def n_wanted(self) -> int:
        """Return the number of right answers that flags a question."""
        return self.procedure.at_least or self.n_votes


class Vote(Record):
    """One panel member's answer in one run."""

    member: str
    run: int
    order: tuple[int, ...]
    """Order of the choices as shown; empty for the item's own."""
    mark: ReplyScore
    """The answer, with its letter in the item's own order."""


class PanelFinding(Record):
    """Which members answered one question right from text alone.

    Source: HERBench, section 7.6.
    Departs: the paper reports no votes.
    """

    votes: tuple[Vote, ...]
    n_right: int
    is_flagged: bool | None
    """Whether enough answers are right; None if one has no score."""


def orders(item: Item, n_wanted: int, *, seed: int) -> tuple[tuple[int, ...], ...]:
    """Return orders of an item's choices, determined by the seed and its id; distinct if there are enough.

    Open questions, and those with one choice, have only the empty order.

    Source: HumanPCR, appendix B.1 (the choices are permuted again in each run).
    Departs: the paper does not say whether two runs may have the same order.
    """
    n_choices = len(item.choices) if item.answer_kind == "choice" else 0
    if n_choices < 2:
        return ((),) * n_wanted
    rng = rng_of(seed, item.item_id)
    orders: list[tuple[int, ...]] = []
    left: set[tuple[int, ...]] = set()
    n_orders = int(np.prod(np.arange(1.0, n_choices + 1)))
    while len(orders) < n_wanted:
        order = tuple(int(i) for i in rng.permutation(n_choices))
        if order in left:
            continue
        orders.append(order)
        left.add(order)
        if len(left) == n_orders:
            left.clear()
    return tuple(orders)


class BlindPanel(Examination[Settings]):
    """Each question in words alone, to every member of a panel, `runs` times each, all together.

    It is flagged when at least `at_least` of all answers are right. With `permute` every run shows the
    choices in another order, drawn from `seed` and the id of the question; the same orders for all members.
    With `forced` a question with choices ends with the demand to choose one. Without `models` the model
    under test is the panel.

    Source: HERBench, section 7.6 (four models, out if three or more are right); HumanPCR, appendix B.1 (one
        model, several runs with the choices permuted, out if all are right).
    Departs: HumanPCR says neither how many runs (three here) nor the rule (all right); HERBench says nothing
        of the order of choices (it stays). Prompt and drawing are those of the plan; the words that force a
        choice are ours (the template ``forced``). Shares expected of guessing and intervals, too.
    """

    name = "blind-panel"
    version = 1
    finding: type[Record] = PanelFinding

    def views(self, *, selector: str, n_frames: int) -> Mapping[str, View]:
        """Return no frames, so that no medium is opened."""
        return {"blind": View(selector="none", n_frames=n_frames)}

    def models(self) -> Mapping[str, str]:
        """Return the members; the model under test needs no name."""
        return {spec: spec for spec in self.settings.models}

    def most_asks(self, item: Item, *, n_frames: int) -> int:
        """Return members times runs."""
        return self.settings.n_votes

    def examine(self, subject: Subject) -> Flow[PanelFinding]:
        """Ask every member in every run at once."""
        item, settings, rules = subject.item, self.settings, self.settings.procedure
        each = orders(item, rules.runs, seed=settings.seed) if rules.permute else ((),) * rules.runs
        more = FORCED if rules.forced and item.answer_kind == "choice" else ""
        conditions = [
            Condition(view="blind", positions=(), order=order, model=member, sample=run, more=more)
            for member in settings.models or ("",)
            for run, order in enumerate(each)
        ]
        scores = yield from ask_together(subject, conditions)
        has_all = all(score.value is not None for score in scores)
        return PanelFinding(
            votes=tuple(
                Vote(member=condition.model, run=condition.sample, order=condition.order, mark=score)
                for condition, score in zip(conditions, scores, strict=True)
            ),
            n_right=n_right(scores),
            is_flagged=n_right(scores) >= settings.n_wanted if has_all else None,
        )

    def summarise(
        self, examined: Sequence[Examined], *, rng: np.random.Generator, level: float
    ) -> tuple[Statement, ...]:
        """Return the flagged share and the share by guessing, by member, and the questions."""

        def marks_of(finding: PanelFinding) -> dict[str, tuple[ReplyScore, ...]]:
            return {_PANEL: tuple(vote.mark for vote in finding.votes)}

        figures = Figures(rng=rng, level=level)
        side = side_by_side(examined, PanelFinding, marks_of, conditions=[_PANEL], figures=figures)
        return _headline(side, self.settings), _members(side), _questions(side)


def create(settings: Settings) -> Diagnostic:
    """Create the diagnostic."""
    return BlindPanel(settings)


# --------------------------------------------------------------------------- what all questions say

Found = SideBySide[PanelFinding]


def _headline(side: Found, settings: Settings) -> Table:
    """Return a table with a row per number of right answers, starting at the flagging threshold."""
    n_flag = settings.n_wanted

    def line(n: int) -> RowSpec[Flagged]:
        key, words = ("flagged", " (flagged)") if n == n_flag else (f"at-least-{n}", "")
        is_so = np.array([finding.n_right >= n for finding in side.findings], np.float64)
        chances = guesses(side.items, partial(chance_of, n, settings.n_votes))
        reached = Flagged(is_so=is_so, chances=chances, beyond=side.gain(is_so - chances))
        return RowSpec(key, f"at least {n} of {settings.n_votes} right{words}", reached)

    wanted = sorted(range(1, settings.n_votes + 1), key=lambda n: (n != n_flag, n))
    return tabulate(
        "blind-panel",
        "Questions that are answered without the video",
        label="answers",
        rows=map(line, wanted if side.items else ()),
        measures=(
            *flagged(side.mean, note="expected if every answer is an independent guess"),
            share("above", lambda row: row.beyond, "above guessing"),
        ),
        notes=(
            f"{len(side.items):,} questions.",
            "A model that guesses guesses alike when it is shown the same: for repeats in one order of "
            "choices, and for models that share a taste, the share by guessing is too low.",
            side.left_out,
        ),
        figure="shares",
    )


def _members(side: Found) -> Table:
    each = (by_key((vote.member, vote.mark) for vote in finding.votes) for finding in side.findings)
    votes = by_key(pair for of_question in each for pair in of_question.items())

    def accuracy(member: str) -> Estimate:
        return side.mean(np.array([mean_value(scores) for scores in votes[member]], np.float64))

    return tabulate(
        "members",
        "The members of the panel",
        label="model",
        rows=by_name(votes, {"": UNDER_TEST}),
        measures=(
            number("questions", lambda member: len(votes[member])),
            share("accuracy", accuracy),
            share("chance", lambda _: float(guesses(side.items).mean()), "by guessing"),
            *kinds(votes),
        ),
        notes=(
            "A model that declines to answer without a video is never right, so fewer questions are flagged.",
        ),
    )


def _questions(side: Found) -> Table:
    pairs = zip(side.items, side.findings, strict=True)
    return tabulate(
        "questions",
        "The flagged questions",
        label="question",
        rows=lines((item.item_id, finding) for item, finding in pairs if finding.is_flagged),
        measures=(
            number("right", lambda finding: finding.n_right),
            number("who", lambda finding: ", ".join(_who(finding)), "models"),
        ),
    )


def _who(finding: PanelFinding) -> list[str]:
    """Return the members that were right, with counts if asked repeatedly."""
    right = by_key((vote.member or UNDER_TEST, vote.mark.value == 1.0) for vote in finding.votes)
    return [
        f"{member} ({sum(runs)} of {len(runs)})" if len(runs) > 1 else member
        for member, runs in right.items()
        if any(runs)
    ]
