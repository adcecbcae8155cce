"""``vidence import``, and the commands that work on the run that it makes."""

import csv
import gzip
import json

import pytest

from conftest import need
from subjects.layouts import LAYOUTS, inspect_log, json_file, lines_file, workbook
from vidence.engine.plan import read_plan


def test_a_log_of_another_tool_is_reported_compared_and_read_again(vidence, tmp_path):
    log = LAYOUTS["lmms-eval"].write(tmp_path)
    done = vidence("import", "lmms-eval", str(log), "--model-name", "lab/tiny", "--out", "theirs")
    assert done.code == 0, done.err
    assert "2 replies imported to 2 questions" in done.err
    assert "Accuracy 50.0 %" in done.out
    assert "declared as asked with 'imported from lmms-eval" in " ".join(done.out.split())
    run = vidence.folder / "theirs"
    assert read_plan(run)[0].name == "lab/tiny"
    assert sorted(path.name for path in run.iterdir()) == [
        *("items.jsonl", "plan.toml", "report.html", "run.sqlite", "tiny.jsonl")
    ]
    ours = vidence("run", "table", "--data", "theirs/items.jsonl", "--model", "baseline:constant?letter=D")
    assert ours.code == 0, ours.err
    (own,) = (vidence.folder / "runs").iterdir()
    compared = vidence("compare", "theirs", str(own))
    assert compared.code == 0, compared.err
    read = vidence("report", "theirs", "--parser", "herbench-official", "--json", "read.json")
    assert read.code == 0, read.err
    assert vidence("items", "audit", "theirs/items.jsonl").code == 0
    assert "nothing is left to ask" in vidence("resume", "theirs").err


CHOICES = ["red", "a blue car", "It is green", "none of these"]
# By rule: the name of a file in the layout of its tool; replies, right letters and the marks of its own
# functions (see unit/ask/scoring/test_peers.py); the shares right in per cent, by the log and by `robust`.
PEERS = {
    "lmms-eval-video-mme": (
        "1_samples_videomme.jsonl",
        (("B", "B", 1), ("The answer is C because A is wrong", "C", 0), ("A man", "D", 0)),
        ("33.3", "66.7"),
    ),
    "lmms-eval-mvbench": (  # it leaves the empty reply out
        "1_samples_mvbench_action_count.jsonl",
        (("(B)", "B", 1), ("a blue car", "B", 0), ("", "C", 0)),
        ("50.0", "100.0"),
    ),
    "lmms-eval-mmvu": (
        "1_samples_mmvu_val.jsonl",
        (("B or C", "C", 1), ("the car is blue", "B", 1), ("$A", "D", 0)),
        ("66.7", "0.0"),
    ),
    "vlmevalkit-video-mme": (
        "tiny_Video-MME_8frame_score.xlsx",
        (("B", "B", 1), ("Failed to obtain answer via API.", "A", 1), ("both", "B", 0)),
        ("66.7", "33.3"),
    ),
    "vlmevalkit-mvbench": (
        "tiny_MVBench_8frame_score.xlsx",
        (("(B)", "B", 1), (")", "C", 1), ("It is green", "C", 1)),
        ("100.0", "66.7"),
    ),
}
LMMS = {  # how a choice stands in a prompt, what stands behind, and the metric
    "lmms-eval-video-mme": ("{}. {}", "The best answer is:", "videomme_perception_score"),
    "lmms-eval-mvbench": ("({}) {}", "One option.", "mvbench_accuracy"),
    "lmms-eval-mmvu": ("{}: {}", "Visual Information: processed video\nNo reasoning.", "accuracy"),
}


def peer_log(folder, rule):
    """A samples file as lmms-eval 0.7 writes it, or scored predictions of VLMEvalKit."""
    name, said, _ = PEERS[rule]
    rows = []
    for n, (text, right, mark) in enumerate(said):
        asked, answer = f"What comes as number {n}?", CHOICES["ABCD".index(right)]
        if rule not in LMMS:
            rows.append(
                {"index": n, "video": f"v{n}", "video_path": f"./video/v{n}.mp4", "task_type": "Order"}
                | {"candidates": str(CHOICES), "question": asked, "answer": answer}
                | {"prediction": text, "score": mark}
            )
            continue
        form, end, metric = LMMS[rule]
        options = map(form.format, "ABCD", CHOICES)
        rows.append(
            {"doc_id": n, "target": answer if "mvbench" in rule else right, "filtered_resps": text}
            | {"token_counts": [None], "doc_hash": "0f", "input": "\n".join([asked, *options, end])}
            | {metric: {"pred_answer": "?", "answer": right, "score": mark, "correct": mark}}
        )
        if "mvbench" not in rule:
            rows[-1][metric] |= {"question_id": f"00{n}-1"}
    if rule in LMMS:
        return lines_file(rows, name)(folder)
    (folder / name).write_bytes(workbook(rows))
    return folder / name


@pytest.mark.parametrize("rule", PEERS)
def test_the_number_of_a_log_is_that_of_its_tools_rule(vidence, tmp_path, rule):
    layout = "lmms-eval" if rule in LMMS else "vlmevalkit"
    done = vidence("import", layout, str(peer_log(tmp_path, rule)), "--out", "run", "--no-page")
    assert done.code == 0, done.err
    assert " Parsers " in " ".join(done.out.split())
    assert vidence("report", "run", "--tables", "tables", "--csv", "run.csv").code == 0

    def rows(name):
        return list(csv.DictReader((vidence.folder / name).read_text().splitlines()))

    parsers = {row["parser"]: row for row in rows("tables/parsers.csv")}
    _, said, (theirs, ours) = PEERS[rule]
    shares = [parsers[name]["accuracy, %"] for name in ("the log", rule, "robust")]
    assert shares == [theirs, theirs, ours]
    assert parsers[rule]["replies read differently from: the log"] == "0"
    assert [float(row["logged"]) for row in rows("run.csv")] == [mark for *_, mark in said]
    ids = [row["item_id"] for row in rows("run.csv")]
    assert ids[1] == ("001-1" if rule in LMMS and "mvbench" not in rule else "1")
    changed = {ids.index(row["question"]): row for row in rows("tables/parsers-changed.csv")}
    for n, row in changed.items():
        assert row["letter read by: the log"] == ("right" if said[n][2] else "wrong")
    own = {n for n, row in enumerate(rows("run.csv")) if row["reply"] and row["correct"] != row["logged"]}
    assert own
    assert own <= set(changed)


def test_a_log_in_the_folder_at_hand_is_named_after_that_folder(vidence):
    peer_log(vidence.folder, "lmms-eval-video-mme")
    done = vidence("import", "lmms-eval", "1_samples_videomme.jsonl", "--out", "run", "--no-page")
    assert done.code == 0, done.err
    assert read_plan(vidence.folder / "run")[0].name == vidence.folder.name


def test_the_questions_may_stand_in_another_file_and_layout(vidence, tmp_path):
    bare = [{"doc_id": n, "target": "B", "filtered_resps": said} for n, said in enumerate(("B", "A"))]
    log = lines_file(bare, "1_samples_videomme.jsonl")(tmp_path)
    questions = LAYOUTS["video-mme"].write(tmp_path)
    said = ("import", "lmms-eval", str(log), "--data", str(questions), "--map", "video-mme", "--no-page")
    done = vidence(*said, "--out", "run")
    assert done.code == 0, done.err
    items = [json.loads(line) for line in (vidence.folder / "run" / "items.jsonl").read_text().splitlines()]
    assert [item["item_id"] for item in items] == ["001-1", "002-1"]
    again = vidence(*said, "--out", "run")
    assert again.code == 2
    assert "holds a run already; choose another --out" in again.err


def test_a_log_of_inspect_goes_under_the_name_of_its_model(vidence, tmp_path):
    log = inspect_log(tmp_path)
    done = vidence("import", "inspect", str(log), "--no-page")
    assert done.code == 0, done.err
    (run,) = (vidence.folder / "runs").iterdir()
    assert run.name.startswith("imported-tiny-")
    other = vidence("import", "inspect", str(log), "--no-page", "--out", "r", "--name", "theirs, 8 frames")
    assert other.code == 0, other.err
    assert read_plan(vidence.folder / "r")[0].name == "theirs, 8 frames"


@pytest.mark.parity
def test_real_predictions_are_compared(vidence, data_dir):
    folder = need(data_dir / "predictions" / "tempcompass")
    for name in ("gemini", "video-llava"):
        log = folder / f"predictions__{name}__multi-choice.json.gz"
        assert vidence("import", "tempcompass", str(log), "--out", name, "--no-page").code == 0
    done = vidence("compare", "gemini", "video-llava")
    assert done.code == 0, done.err


@pytest.mark.parity
def test_a_log_on_the_real_questions_of_mmvu_is_found_by_ids(vidence, tmp_path, checks_dir):
    asked = json.loads(gzip.decompress(need(checks_dir / "mmvu" / "validation.json.gz").read_bytes()))
    data = json_file(asked, "validation.json")(tmp_path) / "validation.json"
    marks = [float(n % 3 == 0) for n in range(len(asked))]
    rows = [  # the wrong letter has no lone neighbour that is right
        {"doc_id": n, "target": one["answer"], "input": one["question"]}
        | {"filtered_resps": one["answer"] if mark or not one["choices"]["A"] else "Z"}
        | {"accuracy": {"question_id": one["id"], "answer": one["answer"], "correct": mark}}
        for n, (one, mark) in enumerate(zip(reversed(asked), marks, strict=True))
    ]
    log = lines_file(rows, "1_samples_mmvu_val.jsonl")(tmp_path)
    said = ("import", "lmms-eval", str(log), "--benchmark", "mmvu", "--data", str(data), "--no-page")
    done = vidence(*said, "--parser", "lmms-eval-mmvu", "--out", "run")
    assert done.code == 0, done.err
    assert "Accuracy 33.4 %" in done.out
    assert vidence("report", "run", "--csv", "run.csv").code == 0
    rows = list(csv.DictReader((vidence.folder / "run.csv").read_text().splitlines()))
    assert len(rows) == 1000
    assert all(row["correct"] == row["logged"] for row in rows)
