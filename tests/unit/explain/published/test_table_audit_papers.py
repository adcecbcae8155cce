"""What is wrong with the tables of the papers is found, and nothing else.

What is expected was worked out by hand from the printed values, before this code was written.
"""

import math
from collections.abc import Iterator

from scipy import stats

from vidence.explain.published import published
from vidence.explain.published.printed_tables import PublishedTable, number
from vidence.explain.published.table_audit import audited


def cells(table: PublishedTable, *, kinds: set[str]) -> Iterator[tuple[str, str, str]]:
    """Row, column and words of the flags of these kinds."""
    for row in table.rows:
        for column, cell in zip(table.columns, row.cells, strict=True):
            for flag in cell.flags:
                if flag.kind in kinds:
                    yield row.name, column.name, flag.says


def found(name: str, *kinds: str) -> set[tuple[str, str]]:
    """Row and column of the flags of these kinds."""
    return {(row, column) for row, column, _ in cells(audited(published.load(name)), kinds=set(kinds))}


def column(name: str, title: str) -> list[float]:
    table = published.load(name)
    return [float(number(table.text(row, title)) or "nan") for row in table.rows]


def test_rows_that_no_one_rule_of_rounding_prints_are_found_and_no_others():
    # By hand: 37 of 137 are 27.007, printed 27.00; 118 of 391 in the same row are 30.179, printed 30.18.
    expected = {
        "humanpcr-table4": {("GPT-4o / BoN / o4-mini", "M=1")},
        "humanpcr-table6": {("Qwen-2.5-VL-72B", "Level 1")},
        "humanpcr-table12": {
            ("Gemini-2.0-Flash / BoN / Gemini-2.5-Flash", "M=1"),
            ("GPT-4o / BoN / o4-mini", "M=1"),
            ("InternVL3-78B / BoN / InternVL3-78B (Self)", "M=2"),
            ("InternVL3-78B / BoN / o4-mini", "M=1"),
            ("InternVL3-78B / BoN / o4-mini", "M=3"),
        },
        "perceptioncomp-table2": {
            ("GPT-4o-latest", "Level 3"),
            ("Qwen3-VL / 8B", "Level 3"),
            ("Video-R1 / 7B", "Level 2"),
        },
    }
    assert {name: rows for name in published.names() if (rows := found(name, "rounding"))} == expected


def test_real_rows_that_were_rounded_or_cut_off_throughout_are_not_flagged():
    """Of the rows of all tables only those above have values that no one rule gives."""
    n_rows = sum(len(published.load(name).rows) for name in published.names())
    flagged = {(name, row) for name in published.names() for row, _ in found(name, "rounding")}
    assert (n_rows > 200, len(flagged)) == (True, 9)
    assert found("herbench-table2", "last digit") == {("Ovis-2.5-9B", "AGAR"), ("Qwen2.5-VL-7B", "AGAR")}


# --------------------------------------------------------------------------- PerceptionComp


def test_perceptioncomp_levels_that_stand_in_each_others_place_are_found():
    swapped = {
        *("GPT-4o-latest", "Mimo-VL-SFT / 7B", "VideoChat-R1 / 7B", "Qwen3-VL / 30B"),
    }
    rotated = {"Qwen3-VL / 235B", "Qwen3-VL-Thinking / 30B"}
    expected = {(row, f"Level {i}") for row in swapped for i in (1, 2)}
    expected |= {(row, f"Level {i}") for row in rotated for i in (1, 2, 3)}
    expected |= {("Human", "Sports"), ("Human", "Home Tour")}
    assert found("perceptioncomp-table2", "swapped") == expected


def test_perceptioncomp_rotated_levels_are_said_to_belong_to_the_next():
    table = audited(published.load("perceptioncomp-table2"))
    says = {(row, one): words for row, one, words in cells(table, kinds={"swapped"})}
    for row in ("Qwen3-VL / 235B", "Qwen3-VL-Thinking / 30B"):
        homes = [says[row, f"Level {i}"].partition("value of ")[2][:7] for i in (1, 2, 3)]
        assert homes == ["Level 3", "Level 1", "Level 2"]
    assert says["Human", "Sports"].endswith("looks like the value of Home Tour: 60 of 74")


def test_perceptioncomp_level_1_of_gpt_4_1_is_impossible_and_the_swap_is_a_remark():
    # Its Level 2 has a wrong digit besides (26.39 for 39 of 148, 26.35), so that no order of the row fits.
    assert found("perceptioncomp-table2", "impossible") == {
        ("GPT-4.1", "Level 1"),
        ("GPT-4.1", "Level 2"),
        ("Qwen2.5-VL / 72B", "Outdoor Tour"),
        ("Kimi-VL-Thinking / 16B", "Outdoor Tour"),
    }
    table = audited(published.load("perceptioncomp-table2"))
    says = {(row, one): words for row, one, words in cells(table, kinds={"impossible"})}
    assert says["GPT-4.1", "Level 1"].endswith("it fits 64 of 215 (Level 2)")
    assert ("GPT-4.1", "Level 2") in found("perceptioncomp-table2", "remark")
    assert 64 + 39 + 27 == 130 == 0.26 * 500


def test_perceptioncomp_sums_that_do_not_fit_are_found():
    table = audited(published.load("perceptioncomp-table2"))
    by_row: dict[str, list[tuple[str, str]]] = {}
    for row, _, words in cells(table, kinds={"sum"}):
        whole, _, parts = words.partition(", but ")
        by_row.setdefault(row, []).append((whole, parts))
    by_category, by_level = "Outdoor Tour to Shows add up to", "Level 1 to Level 3 add up to"
    nearest = "with the nearest count for"
    assert by_row == {
        "Human": [("412 of 500", f"{by_category} 414 of 500")],
        "Qwen2.5-VL / 7B": [
            ("127 of 500", f"{by_category} 124 of 499"),
            ("127 of 500", f"{by_level} 124 of 499"),
        ],
        "Qwen3-VL / 30B": [("177 of 500", f"{by_category} 175 of 500")],
        "Mimo-VL-RL / 7B": [("162 of 500", f"{by_category} 160 of 500")],
        "Qwen3-VL / 235B": [("172 of 500", f"{by_category} 171 of 500")],
        "Qwen2.5-VL / 72B": [("154 of 500", f"{by_category} 157 of 500, {nearest} Outdoor Tour")],
        "Kimi-VL-Thinking / 16B": [("148 of 500", f"{by_category} 149 of 500, {nearest} Outdoor Tour")],
        "GPT-4.1": [("130 of 500", f"{by_level} 128 of 500, {nearest} Level 1, Level 2")],
    }


def test_perceptioncomp_rows_that_lack_a_question_are_found():
    assert found("perceptioncomp-table2", "fewer") == {
        (row, one)
        for row in ("Qwen2.5-VL / 7B", "Seed-1.6-VL / 200B", "GLM-4.5V / 106B")
        for one in ("Sports", "Level 3")
    }


def test_perceptioncomp_board_values_of_unknown_origin_are_found():
    assert found("perceptioncomp-readme", "impossible", "last digit") == {
        ("Qwen3-VL / 8B", "Overall"),
        ("Video-R1 / 7B", "Overall"),
        ("VideoChat-R1 / 7B", "Overall"),
        ("Qwen3-VL-Thinking / 8B", "Overall"),
    }


def test_perceptioncomp_release_shows_the_counts_worked_back_from_percentages():
    table = audited(published.load("perceptioncomp-release"))
    sums = {row: words for row, _, words in cells(table, kinds={"sum"})}
    assert sums["GPT-4o"] == "362 of 1,114, but Level 1 to Level 3 add up to 359 of 1,114"
    assert sums["GPT-4.1"] == "379 of 1,114, but Level 1 to Level 3 add up to 377 of 1,114"
    assert sums["Qwen2.5-VL-72B"] == "349 of 1,114, but Outdoor Tour to Game add up to 352 of 1,114"
    assert len(sums) == 3
    assert found("perceptioncomp-release", "impossible", "swapped", "ratio", "last digit") == set()
    remarks = found("perceptioncomp-release", "remark")
    assert {("Doubao-Seed-2.0-Pro", "Movie"), ("Gemini-2.5-Pro", "Game"), ("o3", "Level 1")} <= remarks


# --------------------------------------------------------------------------- HERBench


def test_herbench_average_row_fits_in_three_columns_only():
    # The rows of AGLT average 59.64, printed 59.7: each row is rounded, which can explain as much.
    table = published.load("herbench-table2")
    wrong = {one for row, one in found("herbench-table2", "mean") if row == "Avg."}
    assert {one.name for one in table.columns[1:]} - wrong == {"AC", "AGLT", "Overall Avg."}
    assert {row for row, _ in found("herbench-table2", "mean")} == {"Avg."}
    says = {one: words for _, one, words in cells(audited(table), kinds={"mean"})}
    assert says["TSO"] == "13 rows average 21.82, each alike"
    assert says["FOM"] == "13 rows average 39.41, each alike"


def test_herbench_overall_is_the_mean_of_twelve_tasks_for_all_models():
    table = published.load("herbench-table2")
    tasks = [one.name for one in table.columns if one.measure and "task" in one.measure.where]
    assert len(tasks) == 12
    for row in table.rows[:13]:
        mean = math.fsum(float(table.text(row, task)) for task in tasks) / 12
        assert abs(mean - float(table.text(row, "Overall Avg."))) <= 0.051


def test_herbench_mrfs_needs_other_weights():
    table = audited(published.load("herbench-table4"))
    assert list(cells(table, kinds={"mean", "sum"})) == [
        ("Total / Weighted Mean", "Mean MRFS", "12 rows average 5.642, with weights")
    ]


def test_herbench_selector_means_that_do_not_fit_are_found():
    table = audited(published.load("herbench-table5"))
    says = {row: words for row, _, words in cells(table, kinds={"mean"})}
    assert says["InternVL3.5 / Vanilla-BLIP"] == "12 columns of the row average 43.42, each alike"
    assert says["InternVL3.5 / Uniform"] == "12 columns of the row average 42.50, each alike"
    # Two more are off by .12, which rounding does not explain either.
    assert set(says) == {f"InternVL3.5 / {s}" for s in ("Vanilla-BLIP", "Uniform", "AKS", "GT Frames")}


# --------------------------------------------------------------------------- HumanPCR


def test_humanpcr_averages_weigh_tasks_alike_except_for_guessing_and_people():
    wrong = found("humanpcr-table3", "mean")
    averages = ("Human-P avg.", "Human-C avg.", "Human-P&C avg.")
    assert wrong == {(row, one) for row in ("Random", "Human †") for one in averages}
    says = {(r, c): w for r, c, w in cells(audited(published.load("humanpcr-table3")), kinds={"mean"})}
    assert says["Random", "Human-P avg."] == "5 columns of the row average 21.765, with weights"
    assert says["Human †", "Human-P avg."] == "5 columns of the row average 87.054, with weights"


def test_humanpcr_open_accuracies_are_shares_of_442():
    assert found("humanpcr-table3", "impossible", "last digit") == set()


def test_humanpcr_hint_accuracies_that_are_no_share_of_442():
    assert found("humanpcr-table6", "impossible") == {("GPT-4o", "Level 3"), ("Gemini-2.5-Flash", "Level 3")}
    says = {row: w for row, _, w in cells(audited(published.load("humanpcr-table6")), kinds={"impossible"})}
    assert says["GPT-4o"] == "no share of 442: 231 are 52.26 and 232 are 52.49"
    assert found("humanpcr-table6", "difference") == set()


def test_humanpcr_ratios_that_do_not_fit_are_found():
    table = audited(published.load("humanpcr-table5"))
    assert list(cells(table, kinds={"ratio"})) == [
        ("Video-MME", "Text ratio", "Text in per cent of Video is 61.24"),
        ("Video-MME", "Image ratio", "Image in per cent of Video is 75.35"),
        ("Human-R", "Text ratio", "Text in per cent of Video is 7.10"),
    ]


def test_humanpcr_intervals_follow_from_variances_not_from_standard_deviations():
    table = published.load("humanpcr-table11")
    t = float(stats.t.ppf(0.975, 2))
    rows = {row.name: row for row in table.rows}
    for model in ("Qwen2.5-VL-72B", "GPT-4o"):
        for one in table.columns[2:]:
            mean, variance, low, high = (
                float(table.text(rows[f"{model} / {name}"], one.name))
                for name in ("Mean", "Variance", "95% CI Lower", "95% CI Upper")
            )
            widths = [t * math.sqrt(max(variance + off, 0) / 3) for off in (-0.005, 0.005)]
            assert widths[0] - 0.02 <= mean - low <= widths[1] + 0.02
            assert widths[0] - 0.02 <= high - mean <= widths[1] + 0.02


def test_humanpcr_means_of_three_runs_fit_for_one_model_only():
    assert {row for row, _ in found("humanpcr-table11", "mean")} == {"Qwen2.5-VL-72B / Mean"}


# --------------------------------------------------------------------------- ActPLD and MMVU


def test_actpld_rows_are_shares_of_their_clips():
    assert found("actpld-table2", "impossible") == found("actpld-table3", "impossible") == set()


def test_actpld_gemini_would_be_impossible_over_the_clips_of_the_others():
    table = published.load("actpld-table3")
    gemini = [row for row in table.rows if row.name.startswith("Gemini")]
    assert [table.n(row, table.columns[2]) for row in gemini] == [63, 66]
    for row in gemini:
        for title in ("3AFC", "Description Matching"):
            shown = table.text(row, title)
            assert shown not in {f"{100 * k / 70:.2f}" for k in range(71)}


def test_actpld_means_follow_from_the_other_tables():
    afc2, dm2 = column("actpld-table2", "3AFC"), column("actpld-table2", "Description Matching")
    afc3, dm3 = column("actpld-table3", "3AFC"), column("actpld-table3", "Description Matching")
    single, social = (column("actpld-table4", one) for one in ("Single Actor", "Social Interactions"))
    assert [round(math.fsum(one) / len(one), 2) for one in (afc2, dm2, afc2 + dm2)] == single
    means = [round(math.fsum(one) / len(one), 2) for one in (afc3, dm3, afc3 + dm3)]
    assert means[:2] == social[:2]
    # Printed 37.14: it stands as a remark.
    assert (means[2], social[2]) == (37.13, 37.14)
    assert ("Overall Means", "Social Interactions") in found("actpld-table4", "remark")


def test_actpld_correlations_follow_from_the_tables():
    social = stats.spearmanr(column("actpld-table3", "3AFC"), column("actpld-table3", "Description Matching"))
    single = stats.spearmanr(column("actpld-table2", "3AFC"), column("actpld-table2", "Description Matching"))
    assert (round(social.statistic, 3), round(social.pvalue, 3)) == (0.725, 0.008)
    assert (round(single.statistic, 3), round(single.pvalue, 3)) == (-0.112, 0.730)


def test_actpld_some_models_are_not_above_chance():
    table = published.load("actpld-table3")
    below = {row.name for row in table.rows if float(table.text(row, "3AFC")) < 100 / 3}
    assert {"Claude Opus-4.1 / Label", "Qwen-2.5-VL-7B / Label"} <= below


def test_mmvu_lost_digits_are_flagged_and_one_can_be_told():
    assert found("mmvu-table3", "unreadable") == {
        ("Human Closed-book", "Engineering"),
        ("GLM-4V-Plus", "Validation"),
    }
    # Of the shares of 150 that begin with 56., one gives a mean of 49.7 with the other three disciplines.
    shares = {f"{100 * k / 150:.1f}" for k in range(151)}
    fitting = {
        s for s in shares if s.startswith("56.") and abs((54.7 + 42.7 + 44.7 + float(s)) / 4 - 49.7) <= 0.05
    }
    assert fitting == {"56.7"}


def test_mmvu_people_and_o1_weigh_disciplines_alike():
    assert found("mmvu-table3", "mean", "impossible") == set()
