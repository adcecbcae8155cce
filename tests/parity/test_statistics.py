"""The papers' printed tables: averages, correlations, intervals, and values that cannot be.

Sums and ranks that are expected here are worked out in this file with plain loops, or come from scipy.
Printed numbers are those of the papers.
"""

import csv
import itertools
import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from vidence.explain.published.grim import RowAudit, audit_row, check_mean, fitting, implied, nearby_sizes
from vidence.statistics.correlation import spearman
from vidence.statistics.repeats import summarise

pytestmark = pytest.mark.parity

GOLDEN = Path(__file__).parents[1] / "golden" / "statistics"


def need(path: Path) -> Path:
    if not path.exists():
        pytest.skip(f"{path} is not there; set VIDENCE_CHECKS / VIDENCE_DATA to folders that have it")
    return path


def tables(checks_dir: Path, benchmark: str) -> dict:
    return json.loads(need(checks_dir / benchmark / "published_tables.json").read_text())


def plain_mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def plain_ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1, equal values share their mean rank."""
    return [sum(v < x for v in values) + (sum(v == x for v in values) + 1) / 2 for x in values]


def plain_r(x: Sequence[float], y: Sequence[float]) -> float:
    mx, my = plain_mean(x), plain_mean(y)
    top = math.fsum((a - mx) * (b - my) for a, b in zip(x, y, strict=True))
    return top / math.sqrt(math.fsum((a - mx) ** 2 for a in x) * math.fsum((b - my) ** 2 for b in y))


# ------------------------------------------------------------------------------------ ActPLD


def actpld_points(checks_dir: Path, name: str) -> tuple[list[float], list[float]]:
    """3AFC and description matching: for each model label, then intention.

    The file holds ``[[3AFC, matching] of label, [3AFC, matching] of intention]``.
    """
    rows = [pair for model in tables(checks_dir, "actpld")[name].values() for pair in model]
    return [row[0] for row in rows], [row[1] for row in rows]


@pytest.mark.parametrize(("name", "column"), [("single_actor", 0), ("social", 1)])
def test_actpld_table_4_is_the_mean_of_tables_2_and_3(checks_dir: Path, name: str, column: int) -> None:
    forced, matching = actpld_points(checks_dir, name)
    table4 = tables(checks_dir, "actpld")["table4"]
    for values, row in ((forced, "mean_3afc"), (matching, "mean_dm"), (forced + matching, "overall")):
        found = check_mean([f"{v:.2f}" for v in values], f"{table4[row][column]:.2f}")
        assert found.is_possible, (row, found)
        assert found.recomputed == pytest.approx(plain_mean(values))
        assert found.recomputed == pytest.approx(table4[row][column], abs=0.0101)


@pytest.mark.parametrize(
    ("name", "rho", "p_value"), [("social", 0.7247, 0.0077), ("single_actor", -0.1117, 0.730)]
)
def test_actpld_rank_correlations(checks_dir: Path, name: str, rho: float, p_value: float) -> None:
    forced, matching = actpld_points(checks_dir, name)
    found = spearman(forced, matching, rng=np.random.default_rng(0))
    assert found.value == pytest.approx(plain_r(plain_ranks(forced), plain_ranks(matching)))
    assert found.value == pytest.approx(rho, abs=5e-5)
    t = found.value * math.sqrt(10 / (1 - found.value**2))
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(t), 10))
    assert found.p_value == pytest.approx(p_value, abs=5e-4)
    assert found.bootstrap.low < found.value < found.bootstrap.high


def test_actplds_printed_interval_is_fishers_z_with_fiellers_variance(checks_dir: Path) -> None:
    found = spearman(*actpld_points(checks_dir, "social"), rng=np.random.default_rng(0))
    assert (round(found.fisher.low, 2), round(found.fisher.high, 2)) == (0.24, 0.92)
    assert "fieller" in found.fisher.method
    plain = spearman(*actpld_points(checks_dir, "social"), rng=np.random.default_rng(0), error="fisher")
    assert round(plain.fisher.low, 2) != 0.24


def test_actpld_percentages_are_of_158_and_70_clips_but_for_gemini(checks_dir: Path) -> None:
    published = tables(checks_dir, "actpld")
    for name, size in (("single_actor", 158), ("social", 70)):
        for model, rows in published[name].items():
            for (target, row), value in itertools.product(enumerate(rows), (0, 1)):
                n = size
                if (name, model) == ("social", "Gemini 2.5 Pro"):
                    assert implied(f"{row[value]:.2f}", 70).verdict == "impossible"
                    n = (63, 66)[target]
                assert implied(f"{row[value]:.2f}", n).verdict == "possible", (name, model, row)


# ------------------------------------------------------------------------------------ HumanPCR


def test_humanpcr_averages_are_macro_over_tasks(checks_dir: Path) -> None:
    published = tables(checks_dir, "humanpcr")
    tasks = published["inferred_tasks_per_dim"]
    levels = {"P_avg": tasks["P"], "C_avg": tasks["C"], "PC_avg": {**tasks["P"], **tasks["C"]}}
    assert sum(levels["PC_avg"].values()) == 34
    n_checked = 0
    for row in published["table3"]:
        for level, counts in levels.items():
            parts = [f"{row[name]:.2f}" for name in counts]
            found = check_mean(parts, f"{row[level]:.2f}", weights=list(counts.values()))
            by_hand = math.fsum(n * row[name] for name, n in counts.items()) / sum(counts.values())
            assert found.recomputed == pytest.approx(by_hand)
            if row["model"] == "Random" or row["model"].startswith("Human"):
                continue
            assert found.is_possible, (row["model"], level, found)
            n_checked += 1
    assert n_checked == 3 * (len(published["table3"]) - 2)


def test_humanpcrs_random_and_human_rows_average_dimensions_instead(checks_dir: Path) -> None:
    published = tables(checks_dir, "humanpcr")
    tasks = published["inferred_tasks_per_dim"]
    for row in published["table3"][:2]:
        for level in ("P", "C"):
            parts, whole = [f"{row[name]:.2f}" for name in tasks[level]], f"{row[f'{level}_avg']:.2f}"
            assert check_mean(parts, whole).is_possible, (row["model"], level)
        weighted = check_mean(
            [f"{row[name]:.2f}" for name in tasks["P"]],
            f"{row['P_avg']:.2f}",
            weights=list(tasks["P"].values()),
        )
        assert not weighted.is_possible


def test_human_r_accuracies_are_counts_of_442_but_for_two_with_hints(checks_dir: Path) -> None:
    published = tables(checks_dir, "humanpcr")
    for row in published["table3"]:
        # People answered a subset (section C.4); 73.17 is 30 / 41, for one.
        if not row["model"].startswith("Human"):
            assert implied(f"{row['R_acc']:.2f}", 442).all, row["model"]
    hinted = {f"{value:.2f}" for row in published["table6"].values() for value in row}
    assert {text for text in hinted if not implied(text, 442).all} == {"52.35", "53.40"}


def test_humanpcr_table_11_has_t_intervals_of_sample_variances() -> None:
    with (GOLDEN / "humanpcr_table11.csv").open(newline="") as file:
        rows = {(row.pop("model"), row.pop("row")): row for row in csv.DictReader(file)}
    n_checked, off = 0, set()
    for model in {model for model, _ in rows}:
        for column, text in rows[model, "Mean"].items():
            mean, variance = float(text), float(rows[model, "Variance"][column])

            def half(of_variance: float, around: float = mean) -> float:
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


# ------------------------------------------------------------------------------------ HERBench

FAMILIES = {
    "TR&C_avg": ("TSO", "MPDR", "ASII"),
    "R&T_avg": ("AGBI", "AGAR", "AGLT"),
    "GC&V_avg": ("FAM", "SVA", "FOM"),
    "MEA&N_avg": ("MEGL", "AC", "RLPC"),
}
TASKS = tuple(task for family in FAMILIES.values() for task in family)


def herbench_rows(checks_dir: Path) -> tuple[list[dict], dict]:
    """The rows of the 13 models of table 2, and the row "Avg."."""
    *rows, averages = tables(checks_dir, "herbench")["table2"]
    assert averages["model"].startswith("Avg")
    assert len(rows) == 13
    return rows, averages


def test_herbench_overall_is_macro_over_twelve_tasks(checks_dir: Path) -> None:
    rows, _ = herbench_rows(checks_dir)
    sizes = {task: row["total"] for task, row in tables(checks_dir, "herbench")["table4"].items()}
    for row in rows:
        parts = [f"{row[task]:.1f}" for task in TASKS]
        found = check_mean(parts, f"{row['overall']:.1f}")
        assert found.is_possible, row["model"]
        assert found.recomputed == pytest.approx(plain_mean([row[task] for task in TASKS]))
        micro = check_mean(parts, f"{row['overall']:.1f}", weights=[sizes[task] for task in TASKS])
        assert not micro.is_possible, row["model"]
        for family, members in FAMILIES.items():
            found = check_mean([f"{row[task]:.1f}" for task in members], f"{row[family]:.1f}")
            assert found.is_possible, (row["model"], family, found)


def test_most_of_herbenchs_average_row_is_not_the_average(checks_dir: Path) -> None:
    rows, averages = herbench_rows(checks_dir)
    printed = {column: f"{averages[column]:.1f}" for column in (*TASKS, *FAMILIES, "overall")}
    right = {
        column
        for column, text in printed.items()
        if check_mean([f"{row[column]:.1f}" for row in rows], text).is_possible
    }
    assert "overall" in right
    assert not right & {"TSO", "FOM"}
    # Rounding leaves room for one column more than the exact comparison does.
    exact = {c for c, text in printed.items() if abs(plain_mean([r[c] for r in rows]) - float(text)) <= 0.05}
    assert exact <= right
    assert len(right) <= 4


def test_herbenchs_weighted_mean_is_neither_weighted_nor_plain(checks_dir: Path) -> None:
    published = tables(checks_dir, "herbench")
    rows = published["table4"].values()
    parts, totals = [f"{row['mrfs']:.2f}" for row in rows], [row["total"] for row in rows]
    assert sum(totals) == 26_806
    weighted = check_mean(parts, f"{published['table4_weighted']:.2f}", weights=totals)
    plain = check_mean(parts, f"{published['table4_weighted']:.2f}")
    assert (round(weighted.recomputed, 2), round(plain.recomputed, 2)) == (5.64, 5.40)
    assert not weighted.is_possible
    assert not plain.is_possible


def test_herbench_table_5_means_that_do_not_hold(checks_dir: Path) -> None:
    rows = tables(checks_dir, "herbench")["table5"]
    off = {
        (row["model"], row["selector"])
        for row in rows
        if abs(check_mean([f"{row[task]:.1f}" for task in TASKS], f"{row['mean']:.1f}").off_by) > 0.1
    }
    assert ("InternVL3.5", "Vanilla-BLIP") in off


# ------------------------------------------------------------------------------------ PerceptionComp

CATEGORIES = {"outdoor tour": 391, "shopping": 5, "sport": 15, "home tour": 74, "variety show": 15}
LEVELS = {"level 1": 148, "level 2": 215, "level 3": 137}
SWAPPED = {"level 1": "level 2", "level 2": "level 1"}
ROTATED = {"level 1": "level 2", "level 2": "level 3", "level 3": "level 1"}


def perceptioncomp_rows() -> dict[str, dict[str, str]]:
    with (GOLDEN / "perceptioncomp_table2.csv").open(newline="") as file:
        return {row.pop("model"): row for row in csv.DictReader(file)}


def audited(model: str, sizes: dict[str, int]) -> RowAudit:
    row = perceptioncomp_rows()[model]
    return audit_row({name: row[name] for name in sizes}, sizes, whole=(row["overall"], 500))


@pytest.mark.parametrize("model", ["GPT-4o-latest", "Mimo-VL-SFT 7B", "VideoChat-R1 7B", "Qwen3-VL 30B"])
def test_perceptioncomp_rows_with_two_levels_swapped(model: str) -> None:
    assert [(m.sources, m.adds_up) for m in audited(model, LEVELS).moves] == [(SWAPPED, True)]


@pytest.mark.parametrize("model", ["Qwen3-VL 235B", "Qwen3-VL-Thinking 30B"])
def test_perceptioncomp_rows_with_three_levels_rotated(model: str) -> None:
    assert [(m.sources, m.adds_up) for m in audited(model, LEVELS).moves] == [(ROTATED, True)]


def test_gpt_4_1_is_swapped_and_misprinted() -> None:
    # 29.77 is 64 / 215, so it stands in the wrong column; 39 / 148 prints 26.35, and 26.39 is nothing.
    found = audited("GPT-4.1", LEVELS)
    assert found.fits == {"level 1": ("level 2",), "level 2": ()}
    assert implied("29.77", 215).nearest == (64,)
    assert implied("26.35", 148).nearest == (39,)
    assert implied("26.00", 500).nearest == (64 + 39 + 27,)


def test_the_human_row_is_out_of_place() -> None:
    found = audited("Human", CATEGORIES)
    assert found.fits["sport"] == ("home tour",)
    assert implied("81.08", 74).nearest == (60,)
    # Sport and home tour swapped make 414 of the printed 412.
    swap, *others = found.moves
    assert (swap.sources, swap.adds_up) == ({"sport": "home tour", "home tour": "sport"}, False)
    assert 321 + 4 + 14 + 60 + 15 == 414
    # Four columns rotated make 412: 321 + 5 + 12 + 60 + 14.
    rotated = {
        "shopping": "variety show", "sport": "shopping", "home tour": "sport", "variety show": "home tour"
    }  # fmt: skip
    assert 321 + 5 + 12 + 60 + 14 == 412 == implied("82.40", 500).nearest[0]
    assert any(move.sources == rotated and move.adds_up for move in others)


@pytest.mark.parametrize(
    ("model", "parts", "whole"),
    [("Qwen3-VL 30B", 175, 177), ("Mimo-VL-RL 7B", 160, 162), ("Qwen3-VL 235B", 171, 172)],
)
def test_perceptioncomp_categories_that_do_not_add_up(model: str, parts: int, whole: int) -> None:
    found = audited(model, CATEGORIES)
    assert found.sum_check is not None
    assert found.sum_check.part_sums == (parts, parts)
    assert found.sum_check.whole == (whole,)
    assert not found.is_possible
    assert found.moves == ()


def test_perceptioncomp_values_that_are_no_count() -> None:
    assert fitting("33.07", CATEGORIES) == ()
    # 154 in all, 129 or 130 of 391 outdoors.
    assert implied("30.80", 500).nearest == (154,)
    assert [implied(text, 391).nearest for text in ("32.99", "33.25")] == [(129,), (130,)]
    # Over one question less: a video that was not there.
    for text, n in (("35.71", 15), ("14.29", 15), ("36.03", 137), ("22.06", 137), ("37.50", 137)):
        assert implied(text, n).verdict == "impossible"
        assert n - 1 in nearby_sizes(text, n)
    # The 7B row: 124 of 499 by category, where 25.40 of 500 is 127.
    assert implied("25.40", 500).nearest == (127,)
    sums = [implied("26.34", 391), implied("40.00", 5), implied("14.29", 14), implied("16.22", 74)]
    assert sum(cell.nearest[0] for cell in sums) + implied("33.33", 15).nearest[0] == 124


def test_perceptioncomp_rows_without_a_fault() -> None:
    clean = {
        model
        for model in perceptioncomp_rows()
        if audited(model, CATEGORIES).is_possible and audited(model, LEVELS).is_possible
    }
    assert {"Gemini-2.5-Pro", "Gemini-2.5-Flash", "GPT-5", "GPT-03", "InternVL-3.5 8B"} <= clean
    assert not clean & {"Human", "GPT-4o-latest", "GPT-4.1", "Seed-1.6-VL 200B", "GLM-4.5V 106B"}
