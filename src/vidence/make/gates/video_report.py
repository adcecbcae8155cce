"""What was found of all videos, for people and for other programs: tables, histograms, files, a page."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.make.gates.video_candidates import Candidate
from vidence.make.gates.video_gates import Bounds, Verdict
from vidence.make.gates.video_rules import MEASURES
from vidence.make.pipeline.ledger import write_file
from vidence.records import Estimate
from vidence.tables.charts import Chart, Point, Series
from vidence.tables.export import csv_text
from vidence.tables.rendering import render
from vidence.tables.table import Column, Kind, Row, RowSpec, Table, count, number, tabulate

SOURCES_FILE, KEPT_FILE, PAGE_FILE = "sources.csv", "kept.csv", "selection.html"
_TITLES: Final[Mapping[str, tuple[str, Kind]]] = {
    "seconds": ("seconds", "number"),
    "fps": ("frames/s", "number"),
    "short_px": ("short side, px", "count"),
    "audio": ("audio", "count"),
    "shots_per_minute": ("shots/min", "number"),
    "motion": ("motion", "number"),
    "flow": ("flow, %/s", "number"),
    "people": ("people", "number"),
    "things": ("things", "number"),
    "classes": ("classes", "count"),
    "text": ("text", "share"),
    "lecture": ("lecture", "share"),
    "caption": ("from caption", "share"),
    "caption_gain": ("less blind", "difference"),
    "age_days": ("days old", "count"),
}
_BINS: Final = 10
_LEAST_DIFFERENT: Final = 3


@dataclass(frozen=True, kw_only=True)
class Selected:
    """The videos with the verdict on each, the gates in numbers, and sentences about all."""

    candidates: tuple[Candidate, ...]
    verdicts: Mapping[str, Verdict]
    gates: tuple[Bounds, ...]
    today: date
    sentences: tuple[str, ...]
    unreadable: Mapping[str, str] = field(default_factory=dict)
    """Files that cannot be read, by video, and why not."""

    @property
    def kept(self) -> tuple[Candidate, ...]:
        """Those that are kept."""
        return tuple(one for one in self.candidates if self.verdicts[one.video_id].is_kept)


def measured(found: Selected) -> tuple[str, ...]:
    """The measures that are known of any video."""
    values = [one.values(found.today) for one in found.candidates]
    return tuple(name for name in MEASURES if any(one[name] is not None for one in values))


def video_table(found: Selected) -> Table:
    """One row a video: what was measured, and what became of it."""
    names = measured(found)
    columns = (
        Column(key="outcome", title="outcome", kind="text"),
        *(
            Column(key=name, title=_TITLES[name][0], kind=_TITLES[name][1], note=MEASURES[name])
            for name in names
        ),
        Column(key="why", title="why", kind="text"),
    )
    rows = []
    for one in found.candidates:
        verdict, values = found.verdicts[one.video_id], one.values(found.today)
        why = ", ".join(fault.reason for fault in (*verdict.faults, *verdict.open))
        cells = (values[name] if values[name] is None else _value(name, values[name]) for name in names)
        outcome = "kept" if verdict.is_kept else "dropped"
        rows.append(Row(key=one.video_id, label=one.video_id, values=(outcome, *cells, why)))
    note = "A dash is what was not measured." if any(None in row.values for row in rows) else ""
    return Table(name="videos", title="Videos", label="video", columns=columns, rows=tuple(rows), note=note)


def _value(name: str, value: float | None) -> float | int | None:
    return int(value) if value is not None and _TITLES[name][1] == "count" else value


def gate_table(found: Selected) -> Table:
    """Each gate: what it asks for, how many videos were tried, and how many it drops."""
    values = [one.values(found.today) for one in found.candidates]
    reasons = Counter(fault.reason for one in found.verdicts.values() for fault in (*one.faults, *one.open))
    return tabulate(
        "gates",
        "Gates",
        label="measure",
        rows=(RowSpec(one.name, one.name, one, detail=MEASURES[one.name]) for one in found.gates),
        measures=[
            number("asks", lambda gate: gate.says, "asks for", kind="text"),
            count("known", lambda gate: sum(one[gate.name] is not None for one in values), "measured"),
            count("low", lambda gate: reasons[f"{gate.name}-low"], "too low"),
            count("high", lambda gate: reasons[f"{gate.name}-high"], "too high"),
            count("unknown", lambda gate: reasons[f"{gate.name}-unknown"]),
        ],
        notes=["A video can fail several gates."],
    )


def histograms(found: Selected) -> Iterator[Chart]:
    """How each measure is spread over the videos, kept and dropped; one with few values has no figure."""
    for name in measured(found):
        pairs = [
            (value, found.verdicts[one.video_id].is_kept)
            for one in found.candidates
            if (value := one.values(found.today)[name]) is not None
        ]
        if len({value for value, _ in pairs}) >= _LEAST_DIFFERENT:
            gate = next((gate for gate in found.gates if gate.name == name), None)
            yield _histogram(name, pairs, gate=gate, n=len(found.candidates))


def _histogram(name: str, pairs: Sequence[tuple[float, bool]], *, gate: Bounds | None, n: int) -> Chart:
    values = np.array([value for value, _ in pairs])
    is_kept = np.array([kept for _, kept in pairs])
    is_share = _TITLES[name][1] == "share"
    edges = np.round(np.arange(_BINS + 1) / _BINS, 12) if is_share else edges_of(values)
    places = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    unit = 100 if is_share else 1
    ends = unit * edges
    middles = [float(one) for one in (ends[:-1] + ends[1:]) / 2]
    lacks = f" {n - len(pairs)} of {n} videos were not measured." if len(pairs) < n else ""
    return Chart(
        name=f"histogram-{name}",
        title=f"Histogram: {MEASURES[name]}",
        x_title="%" if is_share else _TITLES[name][0],
        y_title="videos",
        series=tuple(
            Series(
                label=label,
                points=tuple(_count(x, int((mine & (places == i)).sum())) for i, x in enumerate(middles)),
            )
            for label, mine in (("kept", is_kept), ("dropped", ~is_kept))
        ),
        x_labels=tuple((x, f"{ends[i]:g}\u2013{ends[i + 1]:g}") for i, x in enumerate(middles)),
        marks=_marks(gate, ends, unit=unit),
        is_share=False,
        is_bars=True,
        note=f"Each bar holds its lower end.{lacks}",
    )


def _marks(gate: Bounds | None, ends: NDArray[np.float64], *, unit: float) -> tuple[tuple[float, str], ...]:
    """The ends of a gate as lines, where they lie within the bars."""
    found = [] if gate is None else [("at least", gate.low), ("at most", gate.high)]
    return tuple(
        (unit * value, words)
        for words, value in found
        if value is not None and ends[0] <= unit * value <= ends[-1]
    )


def _count(x: float, n: int) -> Point:
    nothing = float("nan")
    counted = Estimate(
        value=n, low=nothing, high=nothing, level=0.95, n=n, n_clusters=n, method="counted", reason="a count"
    )
    return Point(x=x, y=counted)


def edges_of(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The ends of ten bins or a few more, round and of one width, over values that differ.

    >>> edges_of(np.array([12.0, 61.0])).tolist()
    [10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0, 55.0, 60.0, 65.0]
    """
    low, high = float(values.min()), float(values.max())
    raw = (high - low) / _BINS
    power = 10.0 ** np.floor(np.log10(raw))
    width = next(step * power for step in (1, 2, 5, 10) if step * power >= raw * (1 - 1e-9))
    first = np.floor(low / width + 1e-9)
    last = max(np.floor(high / width + 1e-9) + 1, first + _BINS)
    ends: NDArray[np.float64] = np.round(np.arange(first, last + 1) * width, 12)
    return ends


def write_selection(found: Selected, folder: Path, *, settings: Mapping[str, object]) -> tuple[Path, ...]:
    """Write ``sources.csv``, ``kept.csv`` and ``selection.html``; their paths.

    Raises:
        StoreError: one cannot be written.
    """
    files = {
        SOURCES_FILE: _csv(found, found.candidates, unreadable=found.unreadable),
        KEPT_FILE: _csv(found, found.kept),
        PAGE_FILE: _page(found, settings=settings),
    }
    for name, text in files.items():
        write_file(folder / name, text.encode())
    return tuple(folder / name for name in files)


def _csv(
    found: Selected, candidates: Sequence[Candidate], *, unreadable: Mapping[str, str] = MappingProxyType({})
) -> str:
    head = ["video", "outcome", "reasons", "not_tried", "domain", "published", "width_px", "height_px"]
    head += [*MEASURES, "seen_by", "questions", "blind", "chance", "damaged_frames", "problem", "sha256"]
    rows: list[list[str | float | None]] = [list(head)]
    for one in candidates:
        verdict, values, scored = found.verdicts[one.video_id], one.values(found.today), one.scored
        listed, has = one.listed, one.measured
        rows.append(
            [
                one.video_id,
                "kept" if verdict.is_kept else "dropped",
                " | ".join(fault.detail for fault in verdict.faults),
                " | ".join(fault.detail for fault in verdict.open),
                listed.domain,
                "" if listed.published is None else listed.published.isoformat(),
                has.width_px,
                has.height_px,
                *values.values(),
                one.seen_by,
                len(scored),
                sum(blind for _, blind, _ in scored) / len(scored) if scored else None,
                sum(chance for _, _, chance in scored) / len(scored) if scored else None,
                has.n_damaged,
                has.problem,
                one.sha256,
            ]
        )
    for name, why in unreadable.items():
        rows.append([name, "unreadable", why, *[None] * (len(head) - 3)])
    return csv_text(rows)


def _page(found: Selected, *, settings: Mapping[str, object]) -> str:
    gates = [gate_table(found)] if found.gates else []
    return render(
        "diagnosis.html.j2",
        eyebrow="vidence select videos",
        title="Selection of videos",
        sentences=found.sentences,
        statements=[*gates, video_table(found), *histograms(found)],
        facts=(("Rules", dict(settings)),),
    )
