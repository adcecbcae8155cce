"""From runs, verdicts and labels to every figure, table and file."""

import json

import msgspec
import numpy as np
import pytest

from vidence.engine.judges import JudgedReply
from vidence.errors import DataError, UsageError
from vidence.records import Answered, Item, Reply, Score, Trial, Verdict
from vidence.report.judge_reliability import (
    JSON_FORMAT,
    examine,
    families_of,
    family_of,
    labels_of,
    material,
    section,
    sentences,
    tables,
    write_lines,
)
from vidence.tables.figures import draw_figure

N = 24


def question(i):
    is_text = i % 2 == 1
    text = {"choices": (), "answer": "a pan", "answer_kind": "text"}
    fields = text if is_text else {"choices": ("x", "y"), "answer": "A"}
    return Item(item_id=f"q{i}", source=f"v{i // 2}", question="Which?", **fields)


def trial(i):
    said = "a pan" if i % 2 == 1 else "AB"[i % 4 == 0]
    score = Score(outcome=Answered(answer=said), value=None, scorer="needs-judge", scorer_version=1)
    return Trial(item_id=f"q{i}", reply=Reply(text=said), score=score)


@pytest.fixture
def both(runs):
    """Two runs of 24 questions, of which the odd ones want a text."""
    made = {"items": [question(i) for i in range(N)], "trials": [trial(i) for i in range(N)]}
    return [runs.load(name, model=f"openai:{name}", **made) for name in ("gpt-4o", "qwen-2")]


def line(run, i, *, judge="mmvu-official", value=1.0, **fields):
    verdict = fields.pop("verdict", Verdict(judge_model="m", value=value, temperature=1.0, said=("{}",)))
    fields |= {"judge": judge, "judge_model": "openai:o3-mini", "value": value, "verdict": verdict}
    return JudgedReply(run=run, item_id=f"q{i}", **fields)


def all_lines(**fields):
    return [line(run, i, **fields) for run in ("gpt-4o", "qwen-2") for i in range(N)]


def write_labels(path, raters=("al", "bo", "cy")):
    rows = [
        f"q{i},{model},{rater},{int(i % 3 > 0)},{4 if i % 3 else 1}"
        for i in range(N)
        for model in ("gpt-4o", "openai:qwen-2")
        for rater in raters
    ]
    path.write_text("item_id,model,rater,correct,score\n" + "\n".join(rows))
    return path


def examined(runs, lines, labels=None):
    families = families_of(runs, ["openai:o3-mini"], given={})
    return examine(material(runs, lines, labels), families=families, rng=np.random.default_rng(0))


def test_every_table_comes_out_and_fits_its_page(both, tmp_path):
    lines = [*all_lines(), *all_lines(judge="rule-first")]
    labels = labels_of(both, write_labels(tmp_path / "l.csv"))
    found = examined(both, lines, labels)
    names = [table.name for table in tables(found)]
    wanted = "people wins order level own-family arms scores"
    assert names == [f"judges-{name}" for name in wanted.split()]
    assert found.agreement[0].same.value == pytest.approx(2 / 3)
    said = "No strengths by people: all 24 pairs are tied, so the strengths cannot be estimated."
    assert said in sentences(found)
    assert [one.by for one in found.scores][:2] == ["people", "people"]
    said = " ".join(sentences(found))
    assert "2 judges on 48 stored replies, 48 labelled by 3 raters." in said
    shown = section(found)
    shown.write_page(
        tmp_path / "p.html", eyebrow="vidence replies judges", facts=(("Judges", {"runs": "a"}),)
    )
    page = (tmp_path / "p.html").read_text()
    assert "Agreement with people" in page
    shown.write_json(tmp_path / "f.json", JSON_FORMAT, judges=found)
    whole = json.loads((tmp_path / "f.json").read_text())
    assert whole["format"] == "vidence-judges/1"
    assert [table["name"] for table in whole["tables"]] == names
    assert sum(draw_figure(table) is not None for table in section(found).tables) == 2
    write_lines(lines, tmp_path / "l.jsonl")
    assert (
        msgspec.json.decode((tmp_path / "l.jsonl").read_text().splitlines()[0], type=JudgedReply) == lines[0]
    )


def test_what_a_protocol_leaves_to_rules_is_counted_apart(both, tmp_path):
    lines = [
        line(run, i, judge="humanpcr", value=None if i % 2 == 0 else 1.0, verdict=None, is_asked=False)
        for run in ("gpt-4o", "qwen-2")
        for i in range(N)
    ]
    found = examined(both, lines, labels_of(both, write_labels(tmp_path / "l.csv")))
    assert found.agreement[0].n == 24
    assert any("leaves 24 replies to rules" in note for note in found.notes)


def test_raters_that_are_tied_are_left_out_and_counted(both, tmp_path):
    path = tmp_path / "l.csv"
    path.write_text("item_id,model,rater,correct\nq0,gpt-4o,al,1\nq0,gpt-4o,bo,0\nq1,gpt-4o,al,1\n")
    found = examined(both, all_lines(), labels_of(both, path))
    assert (found.n_tied, found.n_labelled, found.agreement[0].n) == (1, 2, 1)


def test_verdicts_that_fit_no_reply_or_stand_twice_are_refused(both, runs):
    with pytest.raises(DataError, match="none of these runs"):
        material(both, [line("other", 1)], None)
    with pytest.raises(DataError, match="two verdicts"):
        material(both, [line("gpt-4o", 1), line("gpt-4o", 1)], None)
    with pytest.raises(UsageError, match="no stored reply"):
        material([runs.load("none", items=[], trials=[])], [], None)
    found = examined(both, all_lines())  # without people each judge scores the models
    assert [table.name for table in tables(found)] == ["judges-scores"]
    assert {one.accuracy.value for one in found.scores} == {1.0}
    assert found.agreement == ()


def test_families_are_those_of_makers_unless_they_are_given(both):
    assert family_of("openai:o3-mini") == "openai"
    assert family_of("gemini:gemini-2.5-pro") == "google"
    assert family_of("openai:Qwen/Qwen2.5-VL-7B?base_url=http://localhost:8000/v1") == "qwen"
    found = families_of(both, ["openai:o3-mini"], given={"qwen-2": "Qwen", "openai:gpt-4o": "gpt"})
    assert found == {"gpt-4o": "gpt", "qwen-2": "qwen", "openai:o3-mini": "openai"}
    with pytest.raises(UsageError, match="neither a run nor a judge model is called 'claude'"):
        families_of(both, ["openai:o3-mini"], given={"claude": "x"})
