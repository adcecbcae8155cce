"""The table of docs/guides/reproducing.md is what the recorded replies give."""

import re
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest

from vidence.engine.environment import Environment
from vidence.engine.evaluate import run
from vidence.engine.prepare import make_plan
from vidence.report.results import load_run

pytestmark = pytest.mark.parity

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "reproducing.md"
RESPONSES = "GPT-5-chat-latest@1-500.jsonl.gz"


def printed() -> dict[str, tuple[int, str]]:
    """The right answers and the percentage that the page gives for each parser."""
    rows = re.findall(
        r"^\| `([\w-]+)` \| (\d+) \| ([\d.]+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    return {parser: (int(n), percent) for parser, n, percent in rows}


def test_the_page_prints_what_comes_out(checks_dir: Path, tmp_path: Path):
    folder = checks_dir / "perceptioncomp"
    for path in (folder / "annotations_1-1114.json", folder / "responses" / RESPONSES):
        if not path.exists():
            pytest.skip(f"{path} is not there; set VIDENCE_CHECKS to a folder that has it")
    plan = make_plan(
        "perceptioncomp",
        data=folder / "annotations_1-1114.json",
        model=f"replay:{folder / 'responses' / RESPONSES}?id=question_key&text=raw",
        overrides={"split": "seed500"},
    )

    async def go() -> None:
        place = Environment(cache_root=tmp_path / "cache")
        now = datetime(2026, 1, 1, tzinfo=UTC)
        await run(plan, tmp_path / "run", environment=place, now=now, on_event=lambda event: None)

    anyio.run(go)
    found = {}
    for parser in ("perceptioncomp-gemini", "perceptioncomp-api", "robust"):
        rows = load_run(tmp_path / "run", parser=parser).rows
        n_right = sum(row.correct == 1.0 for row in rows)
        found[parser] = (n_right, f"{100 * n_right / len(rows):.1f}")
        if parser == "robust":
            assert sum(row.outcome == "unreadable" for row in rows) == 5
    assert found == printed()
