"""Which questions a panel answers without the video: several models, or one with its choices reordered."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import cast

import numpy as np

from vidence.catalog import take_options
from vidence.contracts import Diagnostic, Examined, Flow, Subject, View
from vidence.errors import UsageError
from vidence.explain.diagnostics._settings import check_at_least
from vidence.explain.diagnostics.paired import Figures
from vidence.explain.diagnostics.panel_sheets import PanelFinding, Sheets, Vote
from vidence.explain.diagnostics.sitting import Sitting, n_right, sit
from vidence.option_readers import one_of, positive_whole, whole_from_zero, words_apart, yes_or_no
from vidence.records import Item, Record
from vidence.tables.findings import Statement

# What the released procedures do; every option can be given on its own and then counts.
PROTOCOLS: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {
        "humanpcr": MappingProxyType({"runs": 3, "permute": True, "forced": True}),
        "herbench": MappingProxyType({"runs": 1, "permute": False, "forced": False, "at_least": 3}),
    }
)
_HERBENCH_MODELS = 4
FORCED = "forced"  # the template of the words that force a choice


@dataclass(frozen=True, kw_only=True)
class Rules:
    """How a panel is asked and when a question is flagged; see `create`."""

    members: tuple[str, ...]
    runs: int
    at_least: int
    permute: bool
    is_forced: bool
    seed: int

    @property
    def n_votes(self) -> int:
        """How many answers there are to a question."""
        return self.runs * max(1, len(self.members))


def orders(item: Item, n_wanted: int, *, seed: int) -> tuple[tuple[int, ...], ...]:
    """Orders of the choices of an item, drawn from the seed and its id; no two alike where there are enough.

    Open questions, and those with one choice, have the empty order only.

    Source: HumanPCR, appendix B.1 (the choices are permuted anew in each run).
    Departs: the paper does not say whether two runs may have the same order.
    """
    n_choices = len(item.choices) if item.answer_kind == "choice" else 0
    if n_choices < 2:
        return ((),) * n_wanted
    key = hashlib.sha256(f"{seed}\n{item.item_id}".encode()).digest()
    rng = np.random.default_rng(int.from_bytes(key))
    found: list[tuple[int, ...]] = []
    left: set[tuple[int, ...]] = set()
    n_orders = int(np.prod(np.arange(1.0, n_choices + 1)))
    while len(found) < n_wanted:
        order = tuple(int(i) for i in rng.permutation(n_choices))
        if order in left:
            continue
        found.append(order)
        left.add(order)
        if len(left) == n_orders:
            left.clear()
    return tuple(found)


class BlindPanel:
    """Each question in words alone, to every member of a panel, `runs` times each, all together.

    It is flagged when at least `at_least` of all answers are right. With `permute` every run shows the
    choices in another order, drawn from `seed` and the id of the question; the same orders for all members.
    With `forced` a question with choices ends with the demand to choose one. Without `models` the model
    under test is the panel.

    Source: HERBench, section 7.6 (four models, out if three or more are right); HumanPCR, appendix B.1 (one
        model, several runs with the choices permuted, out if all are right).
    Departs: HumanPCR says neither how many runs (three here) nor the rule (all right); HERBench says nothing
        of the order of choices (it stays). Prompt and drawing are those of the plan; the words that force a
        choice are ours (the template ``forced``). Shares expected of guessing, agreement and intervals, too.
    """

    name = "blind-panel"
    version = 1
    finding: type[Record] = PanelFinding

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    def views(self, *, selector: str, n_frames: int) -> Mapping[str, View]:
        """No frames, so that no medium is opened."""
        return {"blind": View(selector="none", n_frames=n_frames)}

    def models(self) -> Mapping[str, str]:
        """The members; the model under test needs no name."""
        return {spec: spec for spec in self.rules.members}

    def examine(self, subject: Subject) -> Flow[PanelFinding]:
        """Ask every member in every run at once."""
        item, rules = subject.item, self.rules
        shown: tuple[tuple[int, ...], ...] = ((),) * rules.runs
        if rules.permute:
            shown = orders(item, rules.runs, seed=rules.seed)
        more = FORCED if rules.is_forced and item.answer_kind == "choice" else ""
        sittings = [
            Sitting(view="blind", positions=(), order=shown[run], model=member, sample=run, more=more)
            for member in rules.members or ("",)
            for run in range(rules.runs)
        ]
        marks = yield from sit(subject, sittings)
        votes = tuple(
            Vote(member=one.model, run=one.sample, order=one.order, mark=mark)
            for one, mark in zip(sittings, marks, strict=True)
        )
        has_all = all(mark.value is not None for mark in marks)
        return PanelFinding(
            votes=votes,
            n_right=n_right(marks),
            is_flagged=n_right(marks) >= rules.at_least if has_all else None,
        )

    def summarise(
        self, examined: Sequence[Examined], *, rng: np.random.Generator, level: float
    ) -> tuple[Statement, ...]:
        """The share that is flagged and what guessing gets, member by member, agreement, the questions."""
        sheets = Sheets.of(
            examined,
            figures=Figures(rng=rng, level=level),
            at_least=self.rules.at_least,
            n_votes=self.rules.n_votes,
        )
        return sheets.all()


_KNOWN: dict[str, Callable[[str], object]] = {
    "protocol": one_of(*PROTOCOLS),
    "models": words_apart,
    "runs": positive_whole,
    "permute": yes_or_no,
    "forced": yes_or_no,
    "at_least": positive_whole,
    "seed": whole_from_zero,
}


def create(options: Mapping[str, str]) -> Diagnostic:
    """The diagnostic.

    Options: `protocol` (``humanpcr``: 3 runs, permuted, forced, all right; ``herbench``: 4 models, 3 right;
    the second where four `models` are given); `models`, specs split by ``|`` (the model under test); `runs`,
    `permute`, `forced` and `at_least` in place of what the protocol says; `seed` (0) of the orders.

    Raises:
        UsageError: an option that is not known or cannot be read, more right answers wanted than there are
            answers, or ``herbench`` with other than four models and without `at_least`.
    """
    given = take_options("blind-panel", options, _KNOWN)
    members = cast("tuple[str, ...]", given.get("models", ()))
    usual = "herbench" if len(members) == _HERBENCH_MODELS else "humanpcr"
    protocol = cast("str", given.get("protocol", usual))
    if protocol == "herbench" and len(members) != _HERBENCH_MODELS and "at_least" not in given:
        raise UsageError(
            f"blind-panel: the protocol herbench asks {_HERBENCH_MODELS} models and flags at 3; "
            f"{len(members)} are given in models=a|b|c|d. Give {_HERBENCH_MODELS}, or say at_least="
        )
    chosen = {**PROTOCOLS[protocol], **given}
    n_votes = cast("int", chosen["runs"]) * max(1, len(members))
    rules = Rules(
        members=members,
        runs=cast("int", chosen["runs"]),
        at_least=cast("int", chosen.get("at_least", n_votes)),
        permute=cast("bool", chosen["permute"]),
        is_forced=cast("bool", chosen["forced"]),
        seed=cast("int", chosen.get("seed", 0)),
    )
    check_at_least(rules.at_least, rules.n_votes, owner="blind-panel")
    return BlindPanel(rules)
