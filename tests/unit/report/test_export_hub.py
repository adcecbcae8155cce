"""Scores for the Hugging Face hub, read back by the hub's own library."""

import pytest
import yaml
from huggingface_hub import parse_eval_result_entries

from vidence.errors import UsageError
from vidence.report.export import eval_results


def entries(text):
    return parse_eval_result_entries(yaml.safe_load(text))


def scored(runs, name="run-a", **more):
    """A run whose every question has a score."""
    return runs.load(name, items=runs.items[:6], trials=runs.trials[:6], facts={"n_planned": 6}, **more)


def test_the_score_is_one_entry(runs):
    (entry,) = entries(eval_results([scored(runs)], task="someone/bench:all"))
    assert (entry.dataset_id, entry.task_id) == ("someone/bench", "all")
    assert entry.value == pytest.approx(33.33)
    assert entry.date == "2026-11-21"
    assert "95 % interval 6.0 to 79.6" in entry.notes
    assert "midpoints" in entry.notes
    assert entry.notes.endswith("vidence 0.1.0")
    assert entry.dataset_revision is None


def test_a_released_benchmark_is_known(runs):
    run = runs.load(
        items=runs.items[:6],
        trials=runs.trials[:6],
        benchmark="mmvu",
        facts={"n_planned": 6, "benchmark_revision": "hub:" + "a" * 40},
    )
    (entry,) = entries(eval_results([run]))
    assert (entry.dataset_id, entry.task_id) == ("yale-nlp/MMVU", "mmvu")
    assert entry.dataset_revision == "a" * 40


@pytest.mark.parametrize("task", ["n:t", "o/n", "o/n:", "o/n:a b", ""])
def test_a_task_that_cannot_be_is_refused(runs, task):
    with pytest.raises(UsageError, match="expected OWNER/NAME:TASK"):
        eval_results([scored(runs)], task=task)


def test_several_runs_of_one_model_are_entries_and_what_cannot_be_published_is_refused(runs):
    first, part = scored(runs), scored(runs, "run-b", limit=6, where={"task": "count"})
    found = entries(eval_results([first, part], task="o/n:t"))
    assert len({one.notes for one in found}) == 2
    assert "a part of the questions (7, task=count)" in found[1].notes
    with pytest.raises(UsageError, match=r"table has no known place on the hub.*--hub-task"):
        eval_results([first])
    second = runs.load("run-c", items=runs.items[:6], trials=runs.trials[:6], facts={"model_identity": "x"})
    with pytest.raises(UsageError, match="these runs are of 2: scripted:test, x"):
        eval_results([first, second], task="o/n:t")
    with pytest.raises(UsageError, match="2 of 9 trials are missing"):
        eval_results([runs.load("part", facts={"n_planned": 9})], task="o/n:t")
    with pytest.raises(UsageError, match="1 reply waits for a judge"):
        eval_results([runs.load("waits")], task="o/n:t")
