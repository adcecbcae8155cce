"""Videos kept or dropped: thresholds, quantiles among the videos, quotas by domain; each with its reasons."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from vidence.make.gates.video_candidates import Candidate
from vidence.make.gates.video_rules import OTHERS, Gate, SelectRules


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One gate that a video does not pass: a short name for accounts, and what was seen."""

    reason: str
    detail: str


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """A gate in numbers: what a measure must be among these videos, both ends included.

    `n` is how many videos the quantiles are of; 0 where the gate has none.
    """

    name: str
    low: float | None
    high: float | None
    n: int = 0

    @property
    def says(self) -> str:
        """The gate in words."""
        ends = [("at least", self.low), ("at most", self.high)]
        words = " and ".join(f"{what} {value:.4g}" for what, value in ends if value is not None)
        words = words or "known; no video has it"
        return f"{words} (quantiles of {self.n} videos)" if self.n else words


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What becomes of one video: `faults` drop it, `open` are gates that it could not be tried by."""

    faults: tuple[Fault, ...] = ()
    open: tuple[Fault, ...] = ()

    @property
    def is_kept(self) -> bool:
        """Whether it is kept."""
        return not self.faults


def bounds(name: str, gate: Gate, values: Sequence[float | None]) -> Bounds:
    """A gate among videos with these values; quantiles are interpolated linearly."""
    known = [value for value in values if value is not None]
    has_quantile = gate.from_quantile is not None or gate.to_quantile is not None
    lows, highs = [gate.at_least], [gate.at_most]
    if known:
        lows.append(None if gate.from_quantile is None else float(np.quantile(known, gate.from_quantile)))
        highs.append(None if gate.to_quantile is None else float(np.quantile(known, gate.to_quantile)))
    return Bounds(
        name=name,
        low=max((one for one in lows if one is not None), default=None),
        high=min((one for one in highs if one is not None), default=None),
        n=len(known) if has_quantile else 0,
    )


def judge(
    candidates: Sequence[Candidate], rules: SelectRules, *, today: date
) -> tuple[dict[str, Verdict], tuple[Bounds, ...]]:
    """Put every video through every gate; what is not known passes none of them.

    Reasons: ``repeat`` (the bytes of an earlier video), ``MEASURE-low``, ``MEASURE-high``,
    ``MEASURE-unknown``; the last is no fault but stays open where the rules say ``unmeasured = "keep"``.

    Args:
        candidates: the videos.
        rules: the gates.
        today: from which ages count.

    Returns:
        The verdict on each video by its id, and the gates in numbers.
    """
    values = {one.video_id: one.values(today) for one in candidates}
    gates = tuple(
        bounds(name, gate, [found[name] for found in values.values()])
        for name, gate in rules.wanted_gates.items()
    )
    verdicts: dict[str, Verdict] = {}
    doubled = repeats(candidates)
    for one in candidates:
        faults: list[Fault] = []
        unknown: list[Fault] = []
        for gate in gates:
            value = values[one.video_id][gate.name]
            if value is None:
                why = one.why().get(gate.name, "it was not measured")
                unknown.append(
                    Fault(reason=f"{gate.name}-unknown", detail=f"{gate.name} is not known: {why}")
                )
            elif fault := _beyond(value, gate):
                faults.append(fault)
        if one.video_id in doubled:
            faults.insert(0, doubled[one.video_id])
        is_dropped = rules.unmeasured == "drop"
        verdicts[one.video_id] = Verdict(
            faults=(*faults, *(unknown if is_dropped else ())), open=() if is_dropped else tuple(unknown)
        )
    return verdicts, gates


def repeats(candidates: Sequence[Candidate]) -> Mapping[str, Fault]:
    """The videos whose bytes are those of an earlier one, by id."""
    first: dict[str, str] = {}
    gone: dict[str, Fault] = {}
    for one in candidates:
        earlier = first.setdefault(one.sha256, one.video_id)
        if earlier != one.video_id:
            gone[one.video_id] = Fault(reason="repeat", detail=f"its bytes are those of {earlier}")
    return gone


def _beyond(value: float, gate: Bounds) -> Fault | None:
    """The fault of a value, if it has one."""
    is_low, is_high = gate.low is not None and value < gate.low, gate.high is not None and value > gate.high
    if not is_low and not is_high:
        return None
    detail = f"{gate.name} is {value:.4g}; expected {gate.says}"
    return Fault(reason=f"{gate.name}-{'low' if is_low else 'high'}", detail=detail)


def over_quota(candidates: Sequence[Candidate], rules: SelectRules) -> Mapping[str, Fault]:
    """The videos that are one too many of their domain, by id: the draw depends on seed and name alone."""
    by_domain: dict[str, list[Candidate]] = defaultdict(list)
    for one in candidates:
        by_domain[one.listed.domain].append(one)
    gone: dict[str, Fault] = {}
    for domain, mine in by_domain.items():
        most = rules.quotas.get(domain, rules.quotas.get(OTHERS))
        if most is None:
            continue
        drawn = sorted(mine, key=lambda one: _draw(one.video_id, seed=rules.seed))
        name = domain or "(none)"
        detail = f"domain {name}: {len(mine)} videos pass, {most} are wanted (drawn with seed {rules.seed})"
        gone |= {one.video_id: Fault(reason="quota", detail=detail) for one in drawn[most:]}
    return gone


def _draw(video_id: str, *, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}\n{video_id}".encode()).digest()
