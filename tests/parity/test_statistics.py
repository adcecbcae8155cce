"""The papers' printed tables: averages, correlations, intervals, and values that cannot be.

Sums and ranks that are expected here are worked out in this file with plain loops, or come from scipy.
Printed numbers are those of the papers.
"""

import csv
import json
import math
from pathlib import Path

import pytest

from conftest import need
from vidence.statistics.repeats import summarise

pytestmark = pytest.mark.parity

GOLDEN = Path(__file__).parents[1] / "golden" / "statistics"


def tables(checks_dir, benchmark):
    return json.loads(need(checks_dir / benchmark / "published_tables.json").read_text())


def may_be_mean(parts, whole, *, decimals, weights=None):
    """Whether numbers that round to the parts can have a mean that rounds to the whole."""
    weights = weights or [1] * len(parts)
    found = math.fsum(w * part for w, part in zip(weights, parts, strict=True)) / sum(weights)
    return abs(found - whole) <= 10**-decimals + 1e-9


def actpld_points(checks_dir, name):
    """3AFC and description matching: for each model label, then intention."""
    rows = [pair for model in tables(checks_dir, "actpld")[name].values() for pair in model]
    return [row[0] for row in rows], [row[1] for row in rows]


@pytest.mark.parametrize(("name", "column"), [("single_actor", 0), ("social", 1)])
def test_actpld_table_4_is_the_mean_of_tables_2_and_3(checks_dir, name, column):
    forced, matching = actpld_points(checks_dir, name)
    table4 = tables(checks_dir, "actpld")["table4"]
    for values, row in ((forced, "mean_3afc"), (matching, "mean_dm"), (forced + matching, "overall")):
        assert may_be_mean(values, table4[row][column], decimals=2), row


def test_humanpcr_averages_are_macro_over_tasks(checks_dir):
    published = tables(checks_dir, "humanpcr")
    tasks = published["inferred_tasks_per_dim"]
    levels = {"P_avg": tasks["P"], "C_avg": tasks["C"], "PC_avg": {**tasks["P"], **tasks["C"]}}
    assert sum(levels["PC_avg"].values()) == 34
    models = [
        row
        for row in published["table3"]
        if row["model"] != "Random" and not row["model"].startswith("Human")
    ]
    assert len(models) == len(published["table3"]) - 2
    for row in models:
        for level, counts in levels.items():
            parts = [row[name] for name in counts]
            assert may_be_mean(parts, row[level], decimals=2, weights=list(counts.values())), (
                row["model"],
                level,
            )


def test_humanpcr_table_11_has_t_intervals_of_sample_variances():
    with (GOLDEN / "humanpcr_table11.csv").open(newline="") as file:
        rows = {(row.pop("model"), row.pop("row")): row for row in csv.DictReader(file)}
    n_checked, off = 0, set()
    for model in {model for model, _ in rows}:
        for column, text in rows[model, "Mean"].items():
            mean, variance = float(text), float(rows[model, "Variance"][column])

            def half(of_variance, around=mean):
                # Three runs whose sample variance is exactly this one.
                spread = math.sqrt(max(0.0, of_variance))
                found = summarise([around - spread, around, around + spread])
                assert found.variance == pytest.approx(of_variance, abs=1e-9)
                return found.mean.high - found.mean.value

            narrow, wide = half(max(0.0, variance - 0.005)), half(variance + 0.005)
            for row, sign in (("95% CI Lower", -1), ("95% CI Upper", 1)):
                printed = sign * (float(rows[model, row][column]) - mean)
                n_checked += 1
                # Mean and bound are rounded by up to 0.005 each.
                if not narrow - 0.0101 <= printed <= wide + 0.0101:
                    off.add((model, column))
    assert n_checked == 2 * 13 * 2
    # An interval of 0.165 to each side goes with a variance of 0.0044, which would print 0.00, not 0.01.
    assert off == {("Qwen2.5-VL-72B", "posture")}
    assert round(summarise([-math.sqrt(0.15), 0, math.sqrt(0.15)]).mean.high, 2) == 0.96


FAMILIES = {
    "TR&C_avg": ("TSO", "MPDR", "ASII"),
    "R&T_avg": ("AGBI", "AGAR", "AGLT"),
    "GC&V_avg": ("FAM", "SVA", "FOM"),
    "MEA&N_avg": ("MEGL", "AC", "RLPC"),
}
TASKS = tuple(task for family in FAMILIES.values() for task in family)


def herbench_rows(checks_dir):
    """The rows of the 13 models of table 2, and the row "Avg."."""
    *rows, averages = tables(checks_dir, "herbench")["table2"]
    assert averages["model"].startswith("Avg")
    assert len(rows) == 13
    return rows, averages


def test_herbench_overall_is_macro_over_twelve_tasks(checks_dir):
    rows, _ = herbench_rows(checks_dir)
    sizes = {task: row["total"] for task, row in tables(checks_dir, "herbench")["table4"].items()}
    for row in rows:
        parts = [row[task] for task in TASKS]
        assert may_be_mean(parts, row["overall"], decimals=1), row["model"]
        assert not may_be_mean(parts, row["overall"], decimals=1, weights=[sizes[task] for task in TASKS])
        for family, members in FAMILIES.items():
            assert may_be_mean([row[task] for task in members], row[family], decimals=1), (
                row["model"],
                family,
            )
