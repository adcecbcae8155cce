"""Studies over recorded replies of real models: drawn blind, put on sheets whole, quoted and read back."""

import csv
from datetime import UTC, datetime

import anyio
import pytest

from conftest import need
from vidence.engine.environment import Environment
from vidence.engine.evaluate import run
from vidence.engine.prepare import make_plan
from vidence.explain.errors.packet import read_packet
from vidence.explain.errors.taxonomies import load_taxonomy
from vidence.report.results import load_run
from vidence.study.drawing import draw, write_drawn
from vidence.study.labels import error_labels
from vidence.study.sheets import SheetStudy, blank_sheet, read_sheets
from vidence.study.study import read_study

pytestmark = pytest.mark.parity
MODELS = {"a": "GPT-5-chat-latest@1-500", "b": "Qwen2.5-VL-7B@1-500"}
STUDY = """
preset = "errors"
runs = ["../a", "../b"]
draw = { of = "wrong", n = 10 }
[[phases]]
name = "errors"
condition = "none"
shows = ["question", "reply", "reference"]
[[form]]
name = "kind"
kind = "kinds"
[[form]]
name = "quote"
kind = "quote"
[[form]]
name = "verdicts"
kind = "verdicts"
is_optional = true
"""


@pytest.fixture
def study(checks_dir, tmp_path):
    """A study of ten wrong replies of each of two models to the first 60 questions."""
    annotations = need(checks_dir / "perceptioncomp" / "annotations_1-1114.json")
    place = Environment(cache_root=tmp_path / "cache")
    for name, model in MODELS.items():
        responses = need(checks_dir / "perceptioncomp" / "responses" / f"{model}.jsonl.gz")
        plan = make_plan(
            "perceptioncomp",
            data=annotations,
            model=f"replay:{responses}?id=question_key&text=raw",
            overrides={"recorded_only": True, "limit": 60},
        )

        async def go(plan=plan, folder=tmp_path / name):
            now = datetime(2026, 1, 1, tzinfo=UTC)
            await run(plan, folder, environment=place, now=now, on_event=lambda event: None)

        anyio.run(go)
    (tmp_path / "s").mkdir()
    (tmp_path / "s/study.toml").write_text(STUDY)
    file = read_study(tmp_path / "s")
    write_drawn(file, draw(file, environment=place))
    return SheetStudy.read(file)


def test_real_replies_are_labelled_on_sheets(study, tmp_path):
    said = {
        (name, row.item.item_id): row.trial.reply.text
        for name in MODELS
        for row in load_run(tmp_path / name).rows
    }
    packet = read_packet(study.file.folder)
    assert len(packet.rows) == 20
    conditions = {row.row: len(row.conditions) for row in packet.rows}
    row_of = {(one.run, one.item_id): row for row, one in packet.key.reply_of().items()}
    paths = []
    for slot in (0, 1):
        text = blank_sheet(study, slot)
        rows = list(csv.DictReader(text.splitlines(keepends=True)))
        for row, trial in zip(rows, study.trials(slot), strict=True):
            reply = said[trial.run, trial.item_id]
            # A cell that a spreadsheet would run has an apostrophe in front, and nothing else is changed.
            assert reply in {row["the reply"], row["the reply"].removeprefix("'")}
            n = conditions[row_of[trial.run, trial.item_id]]
            row["kind"], row["quote"] = "perceptual", " ".join(reply.split()[:12])
            row["verdicts"] = "; ".join(["wrong", *["not reached"] * (n - 1)]) if n else ""
            if not n:
                row["kind"] = "reasoning-chain"
        paths.append(tmp_path / f"{slot}.csv")
        with paths[-1].open("w", newline="") as file:
            sheet = csv.DictWriter(file, rows[0])
            sheet.writeheader()
            sheet.writerows(rows)
        assert not any(word in text for word in ("GPT", "Qwen", "replay"))
    found = read_sheets(study, paths, at="2026-01-01T00:00:00+00:00")
    assert [one.state for one in found.participants] == ["finished", "finished"]
    labels = error_labels(study.file, found.responses)
    assert len(labels) == len(found.responses) == 20 + 4 + sum(label.repeat for label in labels)
    assert {(one.run, one.item_id) for one in labels} == set(row_of)
    assert {one.first_wrong for one in labels if one.verdicts} == {1}
    assert {kind.name for kind in load_taxonomy("perceptioncomp").labels} >= {one.kind for one in labels}
