"""Report a selection of videos: tables, files, a page."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from types import MappingProxyType

from vidence.make.gates.video_gates import Bounds, Candidate, Verdict
from vidence.make.gates.video_rules import MEASURES
from vidence.media.whole import write_into
from vidence.tables.export import csv_text
from vidence.tables.rendering import render
from vidence.tables.table import Column, Row, RowSpec, Table, count, number, tabulate

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
    """Files that cannot be read, by video, and why not."""

    @property
    def kept(self) -> tuple[Candidate, ...]:
        """Those that are kept."""
        return tuple(candidate for candidate in self.candidates if self.verdicts[candidate.video_id].is_kept)


def measured(selected: Selected) -> tuple[str, ...]:
    """The measures that are known of any video."""
    values = [candidate.values(selected.today) for candidate in selected.candidates]
    return tuple(name for name in MEASURES if any(value[name] is not None for value in values))


def video_table(selected: Selected) -> Table:
    """One row a video: what was measured, and what became of it."""
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
            number("asks", lambda gate: gate.says, "asks for", kind="text"),
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
