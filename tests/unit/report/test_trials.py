"""Rows of trials: the same values in JSON lines, Parquet and CSV, whatever a trial lacks."""

import csv
import io
import json
import sys
import zipfile
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.records import Answered, Evidence, Provenance, Step, Usage, Verdict
from vidence.report.inspect_log import write_inspect_log
from vidence.report.page import write_page
from vidence.report.results import load_run
from vidence.report.trials import (
    columns,
    tag_columns,
    trial_records,
    trials_as_csv,
    trials_as_jsonl,
    trials_as_parquet,
)


def lines(runs):
    return [json.loads(line) for line in trials_as_jsonl(runs).splitlines()]


def csv_rows(runs):
    return list(csv.DictReader(io.StringIO(trials_as_csv(runs))))


def parquet_rows(runs):
    pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    return pq.read_table(io.BytesIO(trials_as_parquet(runs))).to_pylist()


@pytest.fixture
def full(runs):
    """One trial that knows everything there is."""
    item = runs.question(
        "x",
        "v",
        "B",
        tags={"task": "order"},
        evidence=(Evidence(start_s=1.0, end_s=2.5, frames=(3, 4)),),
        rationale="It is seen.",
        hints=("Look left.",),
        provenance=Provenance(source="film", licence="CC0"),
    )
    reply = runs.said("Answer: B", model="served", choice_logps={"A": -2.0, "B": -0.25}, latency_s=1.5)
    trial = runs.marked(item, Answered(answer="B", rule="answer-line"), reply=reply, **runs.shown())
    verdict = Verdict(judge_model="j", value=1.0, points=4.0, reason="right", said=("yes",))
    score = msgspec.structs.replace(trial.score, points=4.0, verdicts=(verdict,))
    return runs.load(items=[item], trials=[msgspec.structs.replace(trial, score=score)])


def test_a_row_has_everything(full):
    (row,) = lines([full])
    assert (row["tags"], row["question"]) == ({"task": "order"}, "Question x?")
    assert row["choices"] == ["red", "green", "blue", "black"]
    assert (row["media"][0]["path"], row["media"][0]["kind"]) == ("v.mp4", "video")
    assert row["evidence"][0]["end_s"] == 2.5
    assert row["frame_index"] == [0, 10, 20, 30]
    assert row["frame_time_s"] == pytest.approx([0, 0.4, 0.8, 1.2])
    assert row["prompt"] == "Look at these frames.\n" + "<image>\n" * 4 + "Answer with a letter."
    assert row["system"] == "Be brief."
    assert row["images"] == [f"{i}" * 64 for i in range(4)]
    assert row["image_frames"] == [[0], [1], [2], [3]]
    assert (row["reply"], row["reply_model"], row["finish"]) == ("Answer: B", "served", "stop")
    assert (row["input_tokens"], row["output_tokens"], row["latency_s"]) == (1000, 10, 1.5)
    assert row["cost_usd"] == pytest.approx((1000 * 2 + 10 * 10) / 1e6)
    assert row["choice_logps"] == {"A": -2.0, "B": -0.25}
    assert (row["rule"], row["points"], row["read"]) == ("answer-line", 4.0, "B")
    assert row["verdicts"][0]["reason"] == "right"
    assert row["provenance"]["source"] == "film"


@pytest.fixture
def stepped(runs, full):
    """A trial with a candidate, another one, and points for the second by another model."""
    replies = [runs.said("Answer: A"), runs.said("Answer: B"), runs.said('{"score": 4}')]
    steps = (
        Step(role="candidate", reply=replies[0], is_remembered=True),
        Step(role="candidate", reply=replies[1], sample=1),
        Step(role="reward", reply=replies[2], model="reward", about=1),
    )
    trial = msgspec.structs.replace(full.rows[0].trial, reply=replies[1], steps=steps)
    return runs.load("stepped", items=[full.rows[0].item], trials=[trial])


def test_the_steps_of_a_strategy_are_there_and_their_tokens_are_summed(stepped, tmp_path):
    (row,) = lines([stepped])
    assert (row["n_asked"], row["reply"]) == (3, "Answer: B")
    told = [(s["role"], s["model"], s["sample"], s["about"], s["reply"]) for s in row["steps"]]
    assert told == [
        ("candidate", "", 0, None, "Answer: A"),
        ("candidate", "", 1, None, "Answer: B"),
        ("reward", "reward", 0, 1, '{"score": 4}'),
    ]
    assert (row["input_tokens"], row["output_tokens"]) == (3000, 30)
    assert row["cost_usd"] == pytest.approx((3000 * 2 + 30 * 10) / 1e6)
    (parquet,) = parquet_rows([stepped])
    assert parquet["steps"] == row["steps"]
    write_inspect_log(stepped, tmp_path / "log.eval")
    with zipfile.ZipFile(tmp_path / "log.eval") as file:
        stats = json.loads(file.read("header.json"))["stats"]
    assert [one["total_tokens"] for one in stats["model_usage"].values()] == [3030]
    rng = np.random.default_rng(0)
    write_page([stepped], tmp_path / "page.html", cache_root=None, media_root=None, rng=rng)
    assert "<summary>3 replies on the way</summary>" in (tmp_path / "page.html").read_text("utf-8")


def test_the_formats_say_the_same(full):
    (line,), (flat,), (parquet,) = lines([full]), csv_rows([full]), parquet_rows([full])
    assert list(flat) == list(parquet)
    tags = line.pop("tags")
    for name, value in {**line, **tags}.items():
        held = parquet[name]
        kept = dict(held) if name == "choice_logps" else held
        assert kept == value, name
        if isinstance(value, list | dict):
            assert json.loads(flat[name] or "[]") == value, name
        elif isinstance(value, str):
            assert flat[name] == value, name
        elif value is None:
            assert flat[name] == "", name
        else:
            assert float(flat[name]) == pytest.approx(float(value)), name


def test_a_trial_without_a_reply_says_why(runs):
    run = runs.load()
    rows = {row["item_id"]: row for row in lines([run])}
    assert (rows["q6"]["stage"], rows["q6"]["error"]) == ("media", "MediaError")
    assert rows["q6"]["reason"] == "v3.mp4: cannot be read"
    assert rows["q6"]["reply"] is rows["q6"]["prompt"] is rows["q6"]["cost_usd"] is None
    assert (rows["q5"]["refusal"], rows["q5"]["reason"]) == ("policy", "policy")
    assert rows["q3"]["finish"] == "length"
    assert rows["q7"]["correct"] is None
    assert [row["item_id"] for row in parquet_rows([run])] == list(rows)


def test_several_runs_stand_below_each_other_with_all_their_tags(runs):
    other = runs.question("y", "v", "A", tags={"place": "home"})
    trial = runs.marked(other, Answered(answer="A"))
    several = [runs.load("one"), runs.load("two", items=[other], trials=[trial])]
    rows = parquet_rows(several)
    assert [row["run"] for row in rows] == ["one"] * 7 + ["two"]
    assert (rows[0]["task"], rows[0]["place"]) == ("order", None)
    assert (rows[-1]["task"], rows[-1]["place"]) == (None, "home")
    assert csv_rows(several)[-1]["place"] == "home"
    assert len(lines(several)) == 8


def test_tags_with_the_name_of_a_column_get_a_prefix(runs):
    tags = {"model": "cup", "tag_model": "mug", "reply": "yes", "tags": "no", "task": "t"}
    item = runs.question("x", "v", "A", tags=tags)
    run = runs.load(items=[item], trials=[runs.marked(item, Answered(answer="A"))])
    assert dict(tag_columns([run])) == {
        "model": "tag_tag_model",
        "tag_model": "tag_model",
        "reply": "tag_reply",
        "tags": "tag_tags",
        "task": "task",
    }
    (row,) = csv_rows([run])
    assert (row["model"], row["tag_tag_model"], row["tag_model"]) == ("scripted:test", "cup", "mug")


def test_a_cost_needs_prices_and_tokens(runs):
    free = runs.load("free", price_in=0.0, price_out=0.0)
    assert {row["cost_usd"] for row in trial_records(free)} == {None}
    item = runs.question("x", "v", "A")
    reply = msgspec.structs.replace(runs.said("A"), usage=Usage())
    run = runs.load("dark", items=[item], trials=[runs.marked(item, Answered(answer="A"), reply=reply)])
    assert next(iter(trial_records(run)))["cost_usd"] is None


def test_runs_that_were_read_without_prompts_get_them(runs):
    folder = runs.write()
    brief = load_run(folder, are_brief=True)
    assert trials_as_jsonl([brief]) == trials_as_jsonl([load_run(folder)])


def test_choices_stand_in_the_order_shown(runs):
    item = runs.question("x", "v", "A")
    trial = runs.marked(item.with_order((1, 0, 2, 3)), Answered(answer="B"))
    run = runs.load(items=[item], trials=[msgspec.structs.replace(trial, choice_order=(1, 0, 2, 3))])
    (row,) = lines([run])
    assert row["choices"][:2] == ["green", "red"]
    assert (row["gold"], row["read"], row["correct"]) == ("B", "B", 1.0)
    assert row["choice_order"] == [1, 0, 2, 3]


def test_an_empty_run_has_the_columns(runs):
    run = replace(runs.load(), rows=())
    pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    table = pq.read_table(io.BytesIO(trials_as_parquet([run])))
    assert table.column_names == [name for name in columns() if name != "tags"]
    assert table.num_rows == 0
    assert table.schema.metadata[b"format"] == b"vidence-trials/1"
    assert trials_as_jsonl([run]) == b""
    assert len(trials_as_csv([run]).splitlines()) == 1


def test_without_pyarrow_the_message_says_what_to_do(runs, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install 'pyarrow>=20'.*--jsonl"):
        trials_as_parquet([runs.load()])
