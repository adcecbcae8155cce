"""Whole runs over real recorded replies: the official readers give the published letters and counts."""

import csv
import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest

from vidence.reporting.export import write_csv
from vidence.reporting.results import load_run
from vidence.running.evaluate import run
from vidence.running.opening import Surroundings
from vidence.running.prepare import make_plan

pytestmark = pytest.mark.parity


def response_files(checks_dir: Path) -> list[Path]:
    folder = checks_dir / "perceptioncomp" / "responses"
    found = sorted(folder.glob("*.jsonl.gz"))
    if not found:
        pytest.skip(f"{folder} holds no recorded responses; set VIDENCE_CHECKS to a folder that does")
    return found


def replay(responses: Path, annotations: Path, folder: Path) -> Path:
    """Run PerceptionComp over one recorded file; returns the run folder."""
    plan = make_plan(
        "perceptioncomp",
        data=annotations,
        model=f"replay:{responses}?id=question_key&text=raw",
        wishes={"recorded_only": True},
    )

    async def go() -> None:
        place = Surroundings(cache_root=folder / "cache")
        now = datetime(2026, 1, 1, tzinfo=UTC)
        await run(plan, folder / "run", surroundings=place, now=now, on_event=lambda event: None)

    anyio.run(go)
    return folder / "run"


def rows_of(run_folder: Path, reader: str, tmp_path: Path) -> dict[str, dict[str, str]]:
    """The CSV of a run as read by one reader, by item id."""
    path = tmp_path / f"{reader}.csv"
    write_csv(load_run(run_folder, reader=reader), path)
    with path.open(newline="") as file:
        return {row["item_id"]: row for row in csv.DictReader(file)}


def n_correct(rows: dict[str, dict[str, str]]) -> int:
    return sum(float(row["correct"]) == 1.0 for row in rows.values())


def test_every_recorded_run_gives_the_published_letters_and_counts(checks_dir: Path, tmp_path: Path):
    expected = json.loads((checks_dir / "perceptioncomp" / "expected_per_file.json").read_text())
    annotations = checks_dir / "perceptioncomp" / "annotations_1-1114.json"
    for number, path in enumerate(response_files(checks_dir)):
        counts = expected[path.name.removesuffix(".jsonl.gz")]
        with gzip.open(path, "rt", encoding="utf-8") as file:
            recorded = {str(row["question_key"]): row for row in map(json.loads, file)}
        folder = replay(path, annotations, tmp_path / str(number))
        by_reader = {name: rows_of(folder, f"perceptioncomp-{name}", tmp_path) for name in ("api", "gemini")}
        assert {name: n_correct(rows) for name, rows in by_reader.items()} == {
            "api": counts["api_correct"],
            "gemini": counts["gemini_correct"],
        }, path.name
        authors = by_reader[counts["authors_rule"]]
        assert set(authors) == set(recorded)
        same = sum(
            (authors[key]["read"] or "WRONG") == row["published_predicted"] for key, row in recorded.items()
        )
        assert same >= counts["rule_reproduces"], path.name
        robust = rows_of(folder, "robust", tmp_path)
        known = {key: row["intended"] for key, row in recorded.items() if row["intended"]}
        assert {key: robust[key]["read"] for key in known} == known, path.name


def test_the_report_says_how_many_letters_another_reader_changes(checks_dir: Path, tmp_path: Path):
    from vidence.reporting.readers import reader_table

    path = response_files(checks_dir)[0]
    annotations = checks_dir / "perceptioncomp" / "annotations_1-1114.json"
    folder = replay(path, annotations, tmp_path)
    robust = rows_of(folder, "robust", tmp_path)
    gemini = rows_of(folder, "perceptioncomp-gemini", tmp_path)
    n_changed = sum(robust[key]["read"] != gemini[key]["read"] for key in robust)
    table = reader_table(load_run(folder), ["robust", "perceptioncomp-gemini"])
    assert table.cell("perceptioncomp-gemini", "changed").value == n_changed
