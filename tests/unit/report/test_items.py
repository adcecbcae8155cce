"""From runs to a calibration and to a subset whose run predicts the full score."""

import msgspec
import numpy as np
import pytest

from vidence.engine.plan import Plan, read_plan, write_plan
from vidence.engine.samples import SUBSET_FILE, read_subset
from vidence.errors import DataError, UsageError
from vidence.report.items import (
    METHODS,
    calibrated,
    chosen_subset,
    cross_validated,
    doubts,
    errors_table,
    items_table,
    paired_replies,
    predicted_score,
    read_calibration,
    rmse,
    sentences,
    verdict,
)
from vidence.report.results import load_run
from vidence.report.tables import all_tables, headline

N, N_RUNS = 80, 12


def rng():
    return np.random.default_rng(0)


def marks(seed=0):
    """Marks of runs of rising ability; the key of question 0 is wrong. Shape (N_RUNS, N)."""
    ability, hard = np.linspace(-2, 2, N_RUNS), np.random.default_rng(seed).normal(0, 1, N)
    chance = 1 / (1 + np.exp(-(1.2 * ability[:, None] - hard)))
    found = (np.random.default_rng(seed + 1).random(chance.shape) < chance).astype(int)
    found[:, 0] = np.arange(N_RUNS) < 6
    return found


@pytest.fixture
def made(runs):
    given = marks()
    return [runs.asked(f"run-{i}", given[i].tolist(), model=f"openai:m{i}") for i in range(N_RUNS)], given


def test_the_doubtful_key_comes_first_and_goes_to_the_audit_by_what_it_asks(made, tmp_path):
    some, _ = made
    paired = paired_replies(some)
    found = calibrated(paired, rng=rng())
    first, *others = found.items
    assert (first.item_id, first.is_doubtful, first.right) == ("q0", True, 0.5)
    assert sum(one.is_doubtful for one in others) <= 2
    clean = [one.difficulty.value for one in others if not one.is_doubtful]
    assert clean == sorted(clean, reverse=True)
    assert found.runs == paired.names
    assert found.false_alarms <= 0.01
    assert "80 questions calibrated by 12 runs" in sentences(found)[0]
    table, n_doubtful = items_table(found), sum(one.is_doubtful for one in found.items)
    assert [row.key for row in table.rows] == [one.item_id for one in found.items[: 10 + n_doubtful]]
    assert [table.value(row.key, "key") for row in table.rows].count("doubtful") == n_doubtful
    path = tmp_path / "items.json"
    path.write_bytes(msgspec.json.encode(found))
    assert read_calibration(path) == found
    items = paired.items
    assert "q0" in doubts(found, items)
    with pytest.raises(UsageError, match="none of these 1 questions"):
        doubts(found, [msgspec.structs.replace(items[0], answer="B")])
    path.write_text("{}")
    with pytest.raises(DataError, match=r"cannot be read: .*vidence stats calibrate RUN"):
        read_calibration(path)


def test_a_subset_predicts_the_score_of_a_run_that_was_left_out(made, runs, tmp_path):
    some, given = made
    paired = paired_replies(some[:-1])
    errors = cross_validated(paired, (20, 40), rng=rng())
    table = errors_table(errors)
    assert [row.key for row in table.rows] == list(METHODS)
    assert 0 < rmse(errors[40], "anchors") < rmse(errors[20], "random")
    assert "20 anchors" in verdict(20, errors[20])
    subset = chosen_subset(paired, 20, errors[20])
    assert sum(subset.weights) == pytest.approx(20 / N)
    path = tmp_path / SUBSET_FILE
    path.write_bytes(msgspec.json.encode(subset))
    assert read_subset(path) == subset
    assert subset.of(paired.items) == [item for item in paired.items if item.item_id in subset.digests]
    with pytest.raises(UsageError, match="20 of the 20 questions of the subset are missing or different"):
        subset.of([msgspec.structs.replace(item, question="?") for item in paired.items])

    last = some[-1]
    plan, facts = read_plan(last.folder)
    write_plan(last.folder, msgspec.structs.replace(plan, subset=str(path)), facts)
    (last.folder / SUBSET_FILE).write_bytes(msgspec.json.encode(subset))
    run = load_run(last.folder)
    _, estimate = predicted_score(run)
    assert estimate.low < given[-1].mean() < estimate.high
    assert estimate.high - estimate.low > 2 * subset.error
    found = all_tables(run, rng=rng())
    assert headline(run, found[0])[0].startswith("Predicted score on all 80 questions: ")
    table = next(one for one in found if one.name == "subset")
    assert table.estimate("predicted", "accuracy") == estimate
    assert table.estimate("raw", "accuracy").value == pytest.approx(given[-1].mean())
    few = runs.asked("few", given[-1][:3].tolist())
    write_plan(few.folder, msgspec.structs.replace(read_plan(few.folder)[0], subset=str(path)), facts)
    (few.folder / SUBSET_FILE).write_bytes(msgspec.json.encode(subset))
    assert predicted_score(load_run(few.folder))[1] is None
    assert "once every question" in headline(load_run(few.folder), found[0])[0]


def test_values_of_a_tag_weigh_alike_where_the_headline_says_so(runs):
    given, tags = marks(), [{"task": "a" if i < 20 else "b"} for i in range(N)]
    some = []
    for i in range(N_RUNS):
        run = runs.asked(f"run-{i}", given[i].tolist(), model=f"openai:m{i}", tags=tags)
        plan, facts = read_plan(run.folder)
        write_plan(run.folder, msgspec.structs.replace(plan, headline="macro:task"), facts)
        some.append(load_run(run.folder))
    paired = paired_replies(some)
    subset = chosen_subset(paired, 30, cross_validated(paired, (30,), rng=rng())[30])
    assert subset.average == "macro:task"
    assert {round(w, 6) for w in subset.weights} == {0.025, round(0.5 / 60, 6)}


def test_too_few_runs_and_too_large_subsets_say_what_is_needed(made, runs):
    some, _ = made
    with pytest.raises(UsageError, match="7 runs given; expected 8 or more"):
        paired_replies(some[:7])
    few = sentences(calibrated(paired_replies(some[:8]), rng=rng()))
    assert "8 runs cannot make a key doubtful" in few[1]
    with pytest.raises(UsageError, match="--n 80 of 80 questions; expected 2 to 79"):
        cross_validated(paired_replies(some), (80,), rng=rng())
    plan: Plan = some[0].plan
    with pytest.raises(UsageError, match="subset and where exclude each other"):
        msgspec.structs.replace(plan, subset="s.json", where={"task": "a"})
