"""What gates that ask models found about each draft: who answered what, and what follows."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from vidence.explain.diagnostics.conditions import ReplyScore as Mark
from vidence.records import Record

Decision = Literal["kept", "open", "dropped", "untried"]


class GateVote(Record, kw_only=True, omit_defaults=True):
    """What one model answered to a draft: one mark for each order of the choices that it was shown.

    `frame_index` is the frame that it saw, -1 where it saw none. `failed` says why there is no answer.
    """

    model: str
    marks: tuple[Mark, ...] = ()
    frame_index: int = -1
    failed: str = ""

    @property
    def is_usable(self) -> bool:
        """An answer could be read in every order."""
        return bool(self.marks) and all(mark.kind == "answered" for mark in self.marks)

    @property
    def is_right(self) -> bool:
        """The answer is right in every order; never so where one cannot be read."""
        return self.is_usable and all(mark.value == 1.0 for mark in self.marks)


class GateVerdict(Record, kw_only=True, omit_defaults=True):
    """What a gate says of a draft.

    ``open``: it is kept, and a person is asked, since votes that are missing could have turned it.
    ``untried``: it is kept, and could not be tried at all, for the reason in `why`.
    """

    draft_id: str
    gate: str
    decision: Decision
    votes: tuple[GateVote, ...] = ()
    n_right: int = 0
    n_unusable: int = 0
    why: str = ""


def decide(draft_id: str, gate: str, votes: Sequence[GateVote], *, at_least: int) -> GateVerdict:
    """Drop what `at_least` votes are right about; leave open what the unusable ones could have dropped.

    Source: HERBench, section 7.6 (three of four).
    Departs: the paper does not say what becomes of a question that a model gave no answer to. Such a vote is
        never right; where it could have decided, the draft is kept and a person looks at it.
    """
    n_right = sum(vote.is_right for vote in votes)
    n_unusable = sum(not vote.is_usable for vote in votes)
    decision: Decision = "kept"
    if n_right >= at_least:
        decision = "dropped"
    elif n_right + n_unusable >= at_least:
        decision = "open"
    return GateVerdict(
        draft_id=draft_id,
        gate=gate,
        decision=decision,
        votes=tuple(votes),
        n_right=n_right,
        n_unusable=n_unusable,
    )


def remarks(gate: str, verdicts: Sequence[GateVerdict]) -> list[str]:
    """What a person should know of a gate beside its account: who answered how little, what stays open."""
    said: list[str] = []
    asked: Counter[str] = Counter()
    unusable: dict[str, list[str]] = defaultdict(list)
    for vote in (vote for one in verdicts for vote in one.votes):
        asked[vote.model] += 1
        if not vote.is_usable:
            unusable[vote.model].append(_why(vote))
    for model, reasons in sorted(unusable.items()):
        what = ", ".join(f"{n:,} {reason}" for reason, n in sorted(Counter(reasons).items()))
        none = " It has no voice in this gate." if len(reasons) == asked[model] else ""
        said.append(
            f"{gate}: {len(reasons):,} of {asked[model]:,} answers of {model} unusable: {what}.{none}"
        )
    decisions = Counter(one.decision for one in verdicts)
    if decisions["open"]:
        said.append(
            f"{gate}: open about {decisions['open']:,}, since missing answers could have dropped them; "
            "they are kept for a person to look at."
        )
    untried = Counter(one.why for one in verdicts if one.decision == "untried")
    said += [f"{gate}: {n:,} not tried: {why}." for why, n in sorted(untried.items())]
    return said


def _why(vote: GateVote) -> str:
    kinds = [mark.kind for mark in vote.marks if mark.kind != "answered"]
    return kinds[0] if kinds else "failed"


def open_ones(verdicts: Sequence[GateVerdict]) -> Mapping[str, tuple[str, ...]]:
    """The gates that are open about a draft, by its id."""
    found: dict[str, tuple[str, ...]] = {}
    for one in verdicts:
        if one.decision == "open":
            found[one.draft_id] = (*found.get(one.draft_id, ()), one.gate)
    return found


def as_lines(verdicts: Sequence[GateVerdict]) -> bytes:
    """All verdicts, one JSON object per line."""
    return b"".join(msgspec.json.encode(one) + b"\n" for one in verdicts)
