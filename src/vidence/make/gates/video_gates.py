"""Gates of videos: thresholds, quantiles among the videos, domain quotas; with reasons."""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Final

import numpy as np

from vidence.make.gates.video_list import ListedVideo, PeopleSaid
from vidence.make.gates.video_measuring import FrameShares, Measured
from vidence.make.gates.video_rules import MEASURES, OTHERS, Gate, SelectRules
from vidence.media.whole import write_into
from vidence.records import by_key
from vidence.tables.export import csv_text
from vidence.tables.rendering import render
from vidence.tables.table import Column, Row, RowSpec, Table, count, tabulate, words

_NOBODY_LOOKED: Final = "not rated; name a looker, or give a sheet filled in by people"


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A video with its measurements, model and human ratings; `looked` is None if no model was asked."""

    listed: ListedVideo
    measured: Measured
    sha256: str
    said: PeopleSaid | None = None
    looked: FrameShares | None = None

    @property
    def video_id(self) -> str:
        """Return its name in the list."""
        return self.listed.video_id

    @property
    def seen_by(self) -> str:
        """Return the rater of text and lecture shares; people take precedence over a model."""
        if self.said is not None:
            return self.said.by
        return "model" if self.looked is not None and self.looked.text is not None else ""

    def values(self, today: date) -> dict[str, float | None]:
        """Return all measures; None for unknown ones."""
        return {name: _READ[name](self, today) for name in MEASURES}

    def why(self, name: str) -> str:
        """Return why a measure is unknown."""
        if name == "age_days":
            return "the list says no day of publication (column published)"
        if name in ("text", "lecture"):
            looked = "" if self.looked is None else self.looked.why
            return looked or _NOBODY_LOOKED if self.said is None else f"{self.said.by} left it empty"
        return self.measured.why.get(name, "it was not measured")


def _cut_rate(candidate: Candidate, today: date) -> float | None:
    shots, seconds = candidate.measured.shots, candidate.measured.seconds
    return 60 * max(0, shots - 1) / seconds if shots is not None and seconds else None


def _age(candidate: Candidate, today: date) -> float | None:
    published = candidate.listed.published
    return None if published is None else float((today - published).days)


_READ: Final[Mapping[str, Callable[[Candidate, date], float | None]]] = {
    "seconds": lambda candidate, _: candidate.measured.seconds,
    "fps": lambda candidate, _: candidate.measured.fps,
    "short_px": lambda candidate, _: min(candidate.measured.width_px, candidate.measured.height_px),
    "audio": lambda candidate, _: float(candidate.measured.has_audio),
    "cuts_per_minute": _cut_rate,
    "motion": lambda candidate, _: candidate.measured.motion,
    "people": lambda candidate, _: (
        candidate.measured.people if candidate.listed.people is None else candidate.listed.people
    ),
    "things": lambda candidate, _: candidate.measured.things,
    "text": lambda candidate, _: seen.text if (seen := candidate.said or candidate.looked) else None,
    "lecture": lambda candidate, _: seen.lecture if (seen := candidate.said or candidate.looked) else None,
    "age_days": _age,
}


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A gate that a video fails: a short name for accounts, and the value seen."""

    reason: str
    detail: str


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """A numeric gate: the range of a measure, inclusive.

    `n` is how many videos the quantiles are of; 0 if the gate has none.
    """

    name: str
    low: float | None
    high: float | None
    n: int = 0

    @property
    def says(self) -> str:
        """Return the gate in words."""
        ends = [("at least", self.low), ("at most", self.high)]
        words = " and ".join(f"{what} {value:.4g}" for what, value in ends if value is not None)
        words = words or "known; no video has it"
        return f"{words} (quantiles of {self.n} videos)" if self.n else words


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The verdict on a video: `faults` drop it, `open` gates could not be evaluated."""

    faults: tuple[Fault, ...] = ()
    open: tuple[Fault, ...] = ()

    @property
    def is_kept(self) -> bool:
        """Whether it is kept."""
        return not self.faults


def bounds(name: str, gate: Gate, values: Sequence[float | None]) -> Bounds:
    """Return a gate's range among these values; quantiles are interpolated linearly."""
    known = [value for value in values if value is not None]
    has_quantile = gate.from_quantile is not None or gate.to_quantile is not None
    lows, highs = [gate.at_least], [gate.at_most]
    if known:
        lows.append(None if gate.from_quantile is None else float(np.quantile(known, gate.from_quantile)))
        highs.append(None if gate.to_quantile is None else float(np.quantile(known, gate.to_quantile)))
    return Bounds(
        name=name,
        low=max((low for low in lows if low is not None), default=None),
        high=min((high for high in highs if high is not None), default=None),
        n=len(known) if has_quantile else 0,
    )


def judge(
    candidates: Sequence[Candidate], rules: SelectRules, *, today: date
) -> tuple[dict[str, Verdict], tuple[Bounds, ...]]:
    """Evaluate every gate for every video; unknown values pass none.

    Reasons: ``repeat`` (the bytes of an earlier video), ``MEASURE-low``, ``MEASURE-high``,
    ``MEASURE-unknown``; the last is no fault but stays open where the rules say ``unmeasured = "keep"``.

    Args:
        candidates: the videos.
        rules: the gates.
        today: from which ages count.

    Returns:
        The verdict on each video by its id, and the gates in numbers.
    """
    values = {entry.video_id: entry.values(today) for entry in candidates}
    gates = tuple(
        bounds(name, gate, [m[name] for m in values.values()]) for name, gate in rules.wanted_gates.items()
    )
    verdicts: dict[str, Verdict] = {}
    first: dict[str, str] = {}
    for candidate in candidates:
        faults: list[Fault] = []
        unknown: list[Fault] = []
        if (earlier := first.setdefault(candidate.sha256, candidate.video_id)) != candidate.video_id:
            faults.append(Fault(reason="repeat", detail=f"its bytes are those of {earlier}"))
        for gate in gates:
            value = values[candidate.video_id][gate.name]
            if value is None:
                detail = f"{gate.name} is not known: {candidate.why(gate.name)}"
                unknown.append(Fault(reason=f"{gate.name}-unknown", detail=detail))
            elif fault := _beyond(value, gate):
                faults.append(fault)
        is_dropped = rules.unmeasured == "drop"
        verdicts[candidate.video_id] = Verdict(
            faults=(*faults, *(unknown if is_dropped else ())), open=() if is_dropped else tuple(unknown)
        )
    return verdicts, gates


def _beyond(value: float, gate: Bounds) -> Fault | None:
    """Return the fault of a value, if any."""
    is_low, is_high = gate.low is not None and value < gate.low, gate.high is not None and value > gate.high
    if not is_low and not is_high:
        return None
    detail = f"{gate.name} is {value:.4g}; expected {gate.says}"
    return Fault(reason=f"{gate.name}-{'low' if is_low else 'high'}", detail=detail)


def over_quota(candidates: Sequence[Candidate], rules: SelectRules) -> Mapping[str, Fault]:
    """Return the ids of videos over their domain's quota, drawn by seed and name alone."""
    by_domain = by_key((candidate.listed.domain, candidate) for candidate in candidates)
    gone: dict[str, Fault] = {}
    for domain, mine in by_domain.items():
        most = rules.quotas.get(domain, rules.quotas.get(OTHERS))
        if most is None:
            continue
        drawn = sorted(mine, key=lambda entry: _draw(entry.video_id, seed=rules.seed))
        name = domain or "(none)"
        detail = f"domain {name}: {len(mine)} videos pass, {most} are wanted (drawn with seed {rules.seed})"
        gone |= {entry.video_id: Fault(reason="quota", detail=detail) for entry in drawn[most:]}
    return gone


def _draw(video_id: str, *, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}\n{video_id}".encode()).digest()


SOURCES_FILE, KEPT_FILE, PAGE_FILE = "sources.csv", "kept.csv", "selection.html"


@dataclass(frozen=True, kw_only=True)
class Selected:
    """The videos with verdicts, gate ranges, and summary sentences."""

    candidates: tuple[Candidate, ...]
    verdicts: Mapping[str, Verdict]
    gates: tuple[Bounds, ...]
    today: date
    sentences: tuple[str, ...]
    unreadable: Mapping[str, str] = field(default_factory=dict)
    """Unreadable files by video, with reasons."""

    @property
    def kept(self) -> tuple[Candidate, ...]:
        """Return the kept videos."""
        return tuple(candidate for candidate in self.candidates if self.verdicts[candidate.video_id].is_kept)


def measured(selected: Selected) -> tuple[str, ...]:
    """Return the measures known for any video."""
    values = [candidate.values(selected.today) for candidate in selected.candidates]
    return tuple(name for name in MEASURES if any(value[name] is not None for value in values))


def video_table(selected: Selected) -> Table:
    """Return a table with a row per video: measurements and verdict."""
    names = measured(selected)
    columns = (
        Column(key="outcome", title="outcome", kind="text"),
        *(
            Column(key=name, title=has.title, kind=has.kind, note=has.words)
            for name, has in MEASURES.items()
            if name in names
        ),
        Column(key="why", title="why", kind="text"),
    )
    rows = []
    for candidate in selected.candidates:
        verdict, values = selected.verdicts[candidate.video_id], candidate.values(selected.today)
        why = ", ".join(fault.reason for fault in (*verdict.faults, *verdict.open))
        cells = (values[name] if values[name] is None else _value(name, values[name]) for name in names)
        outcome = "kept" if verdict.is_kept else "dropped"
        rows.append(Row(key=candidate.video_id, label=candidate.video_id, values=(outcome, *cells, why)))
    note = "A dash is what was not measured." if any(None in row.values for row in rows) else ""
    return Table(name="videos", title="Videos", label="video", columns=columns, rows=tuple(rows), note=note)


def _value(name: str, value: float | None) -> float | int | None:
    return int(value) if value is not None and MEASURES[name].kind == "count" else value


def gate_table(selected: Selected) -> Table:
    """Tabulate each gate: range, number of videos tested, number dropped."""
    values = [candidate.values(selected.today) for candidate in selected.candidates]
    reasons = Counter(
        fault.reason for verdict in selected.verdicts.values() for fault in (*verdict.faults, *verdict.open)
    )
    return tabulate(
        "gates",
        "Gates",
        label="measure",
        rows=(
            RowSpec(gate.name, gate.name, gate, detail=MEASURES[gate.name].words) for gate in selected.gates
        ),
        measures=[
            words("asks", lambda gate: gate.says, "asks for"),
            count("known", lambda gate: sum(value[gate.name] is not None for value in values), "measured"),
            count("low", lambda gate: reasons[f"{gate.name}-low"], "too low"),
            count("high", lambda gate: reasons[f"{gate.name}-high"], "too high"),
            count("unknown", lambda gate: reasons[f"{gate.name}-unknown"]),
        ],
        notes=["A video can fail several gates."],
    )


def write_selection(selected: Selected, folder: Path, *, settings: Mapping[str, object]) -> tuple[Path, ...]:
    """Write ``sources.csv``, ``kept.csv`` and ``selection.html``; their paths.

    Raises:
        StoreError: one cannot be written.
    """
    files = {
        SOURCES_FILE: _csv(selected, selected.candidates, unreadable=selected.unreadable),
        KEPT_FILE: _csv(selected, selected.kept),
        PAGE_FILE: _page(selected, settings=settings),
    }
    return write_into(folder, files)


def _csv(
    selected: Selected,
    candidates: Sequence[Candidate],
    *,
    unreadable: Mapping[str, str] = MappingProxyType({}),
) -> str:
    head = ["video", "outcome", "reasons", "not_tried", "domain", "published", "width_px", "height_px"]
    head += [*MEASURES, "seen_by", "damaged_frames", "problem", "sha256"]
    rows: list[list[str | float | None]] = [list(head)]
    for candidate in candidates:
        verdict, values = selected.verdicts[candidate.video_id], candidate.values(selected.today)
        listed, has = candidate.listed, candidate.measured
        rows.append(
            [
                candidate.video_id,
                "kept" if verdict.is_kept else "dropped",
                " | ".join(fault.detail for fault in verdict.faults),
                " | ".join(fault.detail for fault in verdict.open),
                listed.domain,
                "" if listed.published is None else listed.published.isoformat(),
                has.width_px,
                has.height_px,
                *values.values(),
                candidate.seen_by,
                has.n_damaged,
                has.problem,
                candidate.sha256,
            ]
        )
    for name, why in unreadable.items():
        rows.append([name, "unreadable", why, *[None] * (len(head) - 3)])
    return csv_text(rows)


def _page(selected: Selected, *, settings: Mapping[str, object]) -> str:
    gates = [gate_table(selected)] if selected.gates else []
    return render(
        "diagnosis.html.j2",
        eyebrow="vidence videos select",
        title="Selection of videos",
        sentences=selected.sentences,
        statements=[*gates, video_table(selected)],
        facts=(("Rules", dict(settings)),),
    )
