"""Logs of inspect_ai: what the archive holds, and what inspect_ai itself reads from it.

The real package is heavy and wants other versions of what vidence needs: the test with it takes the Python of
``VIDENCE_INSPECT_PYTHON``, an environment with inspect_ai in it, or the one that runs the tests.
"""

import importlib.util
import json
import os
import subprocess
import sys
import zipfile
from dataclasses import replace

import pytest

from vidence.errors import StoreError, UsageError
from vidence.report.inspect_log import write_inspect_log

READ = """
import json, sys
from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries
log = read_eval_log(sys.argv[1])
summaries = read_eval_log_sample_summaries(sys.argv[1])
(scores,) = log.results.scores
print(json.dumps({
    "status": log.status, "task": log.eval.task, "model": log.eval.model,
    "accuracy": scores.metrics["accuracy"].value,
    "scored": [scores.scored_samples, scores.unscored_samples],
    "samples": {s.id: [s.epoch, s.target, s.output.completion,
                       s.scores["vidence"].value if s.scores else None]
                for s in log.samples},
    "roles": [m.role for m in log.samples[1].messages],
    "reasoning": log.samples[1].messages[-1].content[0].reasoning,
    "error": log.samples[5].error.message,
    "usage": log.samples[0].output.usage.total_tokens,
    "summaries": [s.id for s in summaries],
}))
"""


def parts(path):
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        return {name: json.loads(file.read(name)) for name in file.namelist()}


def test_the_archive_has_a_header_summaries_and_a_file_for_each_trial(runs, tmp_path):
    write_inspect_log(runs.load(), tmp_path / "log.eval")
    found = parts(tmp_path / "log.eval")
    header = found["header.json"]
    assert (header["version"], header["status"]) == (2, "success")
    assert header["eval"]["model"] == "scripted:test"
    assert header["eval"]["dataset"]["sample_ids"] == [f"q{i}" for i in range(1, 8)]
    assert header["results"]["scores"][0]["metrics"]["accuracy"]["value"] == pytest.approx(2 / 6)
    assert {name for name in found if name.startswith("samples/")} == {
        f"samples/q{i}_epoch_1.json" for i in range(1, 8)
    }
    assert len(found["summaries.json"]) == 7
    assert found["_journal/start.json"]["eval"] == header["eval"]


def test_a_sample_has_the_words_of_the_prompt_and_the_rest_as_metadata(runs, tmp_path):
    write_inspect_log(runs.load(), tmp_path / "log.eval")
    sample = parts(tmp_path / "log.eval")["samples/q2_epoch_1.json"]
    assert sample["input"] == "Question q2?"
    assert sample["choices"] == ["red", "green", "blue", "black"]
    assert [one["role"] for one in sample["messages"]] == ["system", "user", "assistant"]
    assert "[image 64x48, sha256 000000000000]" in sample["messages"][1]["content"]
    assert sample["scores"]["vidence"]["answer"] == "C"
    assert sample["metadata"]["tags"] == {"task": "order", "level": "2"}
    assert sample["metadata"]["frame_index"] == [0, 10, 20, 30]
    assert sample["output"]["usage"]["total_cost"] == pytest.approx(0.0021)
    found = parts(tmp_path / "log.eval")
    assert found["samples/q7_epoch_1.json"]["scores"] == {}
    failed = found["samples/q6_epoch_1.json"]
    assert failed["error"]["message"] == "MediaError (media): v3.mp4: cannot be read"
    assert failed["output"]["choices"] == []
    assert found["samples/q5_epoch_1.json"]["output"]["choices"][0]["stop_reason"] == "content_filter"
    assert found["samples/q3_epoch_1.json"]["output"]["choices"][0]["stop_reason"] == "max_tokens"


def test_unfinished_empty_and_misplaced_logs(runs, tmp_path):
    run = runs.load(facts={"n_planned": 9})
    for name in ("a.eval", "b.eval"):
        write_inspect_log(run, tmp_path / name)
    assert parts(tmp_path / "a.eval")["header.json"]["status"] == "cancelled"
    assert (tmp_path / "a.eval").read_bytes() == (tmp_path / "b.eval").read_bytes()
    with pytest.raises(UsageError, match="has no trials yet"):
        write_inspect_log(replace(run, rows=()), tmp_path / "log.eval")
    with pytest.raises(StoreError, match="cannot write"):
        write_inspect_log(run, tmp_path / "none" / "log.eval")


def test_inspect_ai_reads_it(runs, tmp_path):
    python = os.environ.get("VIDENCE_INSPECT_PYTHON") or sys.executable
    if python == sys.executable and importlib.util.find_spec("inspect_ai") is None:
        pytest.skip("inspect_ai is not installed; name a Python that has it in VIDENCE_INSPECT_PYTHON")
    write_inspect_log(runs.load(), tmp_path / "log.eval")
    command = [python, "-c", READ, str(tmp_path / "log.eval")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["status"], found["task"], found["model"]) == ("success", "table", "scripted:test")
    assert found["accuracy"] == pytest.approx(2 / 6)
    assert found["scored"] == [6, 1]
    assert found["samples"]["q2"] == [1, "B", "Answer: C", 0.0]
    assert found["samples"]["q7"][-1] is None
    assert found["roles"] == ["system", "user", "assistant"]
    assert found["reasoning"] == "I looked."
    assert found["error"].startswith("MediaError")
    assert found["usage"] == 1010
    assert found["summaries"] == [f"q{i}" for i in range(1, 8)]
