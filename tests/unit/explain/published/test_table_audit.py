"""What arithmetic says of small tables that can be checked by hand."""

import pytest

from vidence.explain.published.printed_tables import PublishedTable, read_notes, read_table
from vidence.explain.published.table_audit import audited, coverage, problems


def audit(text: str, toml: str = "") -> PublishedTable:
    return audited(read_table(text, name="t", where="t.csv", notes=read_notes(toml, where="t.toml")))


def flags(text: str, toml: str = "") -> list[tuple[str, str, str, str]]:
    """Row, column, kind and words of each flag."""
    table = audit(text, toml)
    return [
        (row.name, column.name, flag.kind, flag.says)
        for row in table.rows
        for column, cell in zip(table.columns, row.cells, strict=True)
        for flag in cell.flags
    ]


SUM = '[[rules]]\nrule = "sum"\ntotal = "all"\nof = ["a", "b"]\n'


def test_a_share_that_exists_is_not_flagged():
    assert flags("m,a\nn,8\nX,12.5\nY,0.0\nZ,100.0\nW,37.50\n") == []


def test_a_share_that_does_not_exist_is_impossible():
    # 8 questions: 12.5 and 25.0 stand on either side; 20 of 100 ... and 2 of 10 would fit.
    [(row, column, kind, says)] = flags("m,a\nn,8\nX,20.0\n")
    assert (row, column, kind) == ("X", "a", "impossible")
    assert says == "no share of 8: 1 are 12.5 and 2 are 25.0; it fits 2 of 10"


def test_all_right_has_nothing_above_it():
    # 99.9 of 100 lies between 99 and 100; nothing is above 100 of 100.
    assert flags("m,a\nn,100\nX,99.9\n")[0][3] == "no share of 100: 99 are 99.0 and 100 are 100.0"


def test_a_value_that_was_cut_off_is_said_to_be_so():
    # 2 of 3 are 66.666...: 66.6 is cut off, 66.7 rounded.
    assert flags("m,a\nn,3\nX,66.7\nY,66.6\n") == [
        ("Y", "a", "last digit", "2 of 3 are 66.7: cut off, not rounded")
    ]


def test_a_row_has_one_rule_of_rounding():
    # 2 of 3 are 66.666..., 1 of 6 is 16.666..., 1 of 2 is 50: either rule.
    assert flags("m,a,b,c\nn,3,6,2\nX,66.7,16.7,50.0\n") == []
    assert [one[2] for one in flags("m,a,b,c\nn,3,6,2\nX,66.6,16.6,50.0\n")] == ["last digit"] * 2
    assert flags("m,a,b,c\nn,3,6,2\nX,66.6,16.7,50.0\n") == [
        ("X", "a", "rounding", "2 of 3 are 66.7: cut off, not rounded as b is")
    ]
    [(_, _, flag)] = problems(audit("m,a,b\nn,3,6\nX,66.6,16.7\n"))
    assert flag.kind == "rounding"


def test_a_sum_is_one_by_the_rule_of_its_row():
    # Rounded, 50 and 50 of 400 are 198 to 202 of each; cut off, up to 203: 406 of 800 are 50.75.
    text = "m,a,b,all\nn,400,400,800\nX,50,50,{}\n"
    assert flags(text.format("50.5"), SUM) == []
    assert [one[2] for one in flags(text.format("50.7"), SUM)] == []  # 406 of 800 is 50.75, cut off
    assert [one[2] for one in flags(text.format("50.8"), SUM)] == ["sum"]  # rounded; the parts end at 404


def test_a_rule_on_some_rows_says_nothing_of_the_others():
    text = "m,a,b,all\nn,4,4,8\nX,25.0,25.0,50.0\nY,25.0,25.0,50.0\n"
    assert [row for row, _, kind, _ in flags(text, SUM) if kind == "sum"] == ["X", "Y"]
    assert [row for row, *_ in flags(text, f'{SUM}rows = ["Y"]\n')] == ["Y"]


@pytest.mark.parametrize("text", ["100.1", "-5.0"])
def test_outside_of_the_hundred_is_impossible(text):
    assert flags(f"m,a\nX,{text}\n") == [("X", "a", "impossible", "not between 0 and 100 per cent")]


def test_lost_digits_and_words_are_unreadable_and_blanks_are_not():
    text = "m,a\nn,10\nX,56.\nY,lots\nZ,-\nW,\nV,50\n"
    assert [(row, kind, says) for row, _, kind, says in flags(text)] == [
        ("X", "unreadable", "digits are lost behind the point"),
        ("Y", "unreadable", "'lots' is no number"),
    ]


def test_two_values_in_each_others_place_are_found():
    # a has 3 questions, b has 7, all 10: 1 of 3 and 2 of 7 make 3 of 10.
    found = flags("m,a,b,all\nn,3,7,10\nX,28.57,33.33,30.00\n", SUM)
    assert found == [
        ("X", "a", "swapped", "no share of 3; looks like the value of b: 2 of 7"),
        ("X", "b", "swapped", "no share of 7; looks like the value of a: 1 of 3"),
    ]


def test_a_value_that_is_possible_in_both_places_is_moved_with_the_other():
    # 4 and 8 questions: 50.0 fits both, 12.5 only b. The sum decides nothing here: there is no whole.
    found = flags("m,a,b,all\nn,4,8,12\nX,12.5,50.0,-\n", SUM)
    assert [(column, kind) for _, column, kind, _ in found] == [("a", "swapped"), ("b", "swapped")]
    assert found[1][3] == "looks like the value of a: 2 of 4"


THREE = '[[rules]]\nrule = "sum"\ntotal = "all"\nof = ["a", "b", "c"]\n'
# 25.00 is no share of 3. It changes places with b (100.00: 3, 1 and 0 right) or with c (0.00: 0, 4 and 2).
TWO_WAYS = "m,a,b,c,all\nn,3,4,8,15\nX,25.00,100.00,0.00,{whole}\n"


@pytest.mark.parametrize("whole", ["-", "33.33"])
def test_several_orders_that_nothing_tells_apart_are_only_counted(whole):
    found = flags(TWO_WAYS.format(whole=whole), THREE)
    assert found[0] == ("X", "a", "swapped", "the row would fit in 2 other orders of its values")
    assert {column for _, column, kind, _ in found if kind == "swapped"} == {"a"}


def test_the_sum_decides_between_several_orders():
    # 40.00 of 15 is 6: with c. 26.67 is 4: with b.
    assert flags(TWO_WAYS.format(whole="40.00"), THREE) == [
        ("X", "a", "swapped", "no share of 3; looks like the value of c: 2 of 8"),
        ("X", "c", "swapped", "looks like the value of a: 0 of 3"),
    ]
    assert flags(TWO_WAYS.format(whole="26.67"), THREE) == [
        ("X", "a", "swapped", "no share of 3; looks like the value of b: 1 of 4"),
        ("X", "b", "swapped", "looks like the value of a: 3 of 3"),
    ]


def test_parts_that_do_not_add_up_are_flagged_at_the_whole():
    # 1 of 3 and 2 of 7 are 3, the whole says 4 of 10.
    assert flags("m,a,b,all\nn,3,7,10\nX,33.33,28.57,40.00\n", SUM) == [
        ("X", "all", "sum", "4 of 10, but a and b add up to 3 of 10")
    ]


def test_an_impossible_part_enters_the_sum_with_its_nearest_count():
    # 30.00 of 7 is 2.1: 2. With 1 of 3 that makes 3, the whole says 5 of 10.
    found = flags("m,a,b,all\nn,3,7,10\nX,33.33,30.00,50.00\n", SUM)
    assert [one[2] for one in found] == ["impossible", "sum"]
    assert found[1][3] == "5 of 10, but a and b add up to 3 of 10, with the nearest count for b"


def test_an_impossible_part_whose_nearest_count_fits_is_flagged_alone():
    found = flags("m,a,b,all\nn,3,7,10\nX,33.33,30.00,30.00\n", SUM)
    assert [one[1:3] for one in found] == [("b", "impossible")]


def test_an_impossible_whole_is_flagged_and_not_summed():
    found = flags("m,a,b,all\nn,3,7,10\nX,33.33,28.57,33.00\n", SUM)
    assert [one[1:3] for one in found] == [("all", "impossible")]


def test_where_several_counts_print_alike_the_span_is_named():
    # 9.95 to 10.05 of 2,000 (rounded), or 10.0 to below 10.1 (cut off): 199 to 201 of each part. The whole
    # is 19.95 (798) to below 20.1 (803) of 4,000.
    [(_, column, kind, says)] = flags("m,a,b,all\nn,2000,2000,4000\nX,10.0,10.0,20.0\n", SUM)
    assert (column, kind) == ("all", "sum")
    assert says == "798 to 803 of 4,000, but a and b add up to 398 to 402 of 4,000"


def test_a_row_with_missing_questions_may_have_fewer():
    # 5 of 14 are 35.71; 15 questions give no such share.
    toml = '[[rows]]\nrow = "X"\nmissing = 1\n'
    assert flags("m,a\nn,15\nX,35.71\n", toml) == [
        ("X", "a", "fewer", "5 of 14: 1 fewer than the 15 of the column")
    ]
    assert flags("m,a\nn,15\nX,35.71\n")[0][3].endswith("it fits 5 of 14")
    # What no smaller number gives either stays impossible over the number of the column.
    assert flags("m,a\nn,15\nX,34.56\n", toml)[0][2:] == (
        "impossible",
        "no share of 15: 5 are 33.33 and 6 are 40.00",
    )


def test_an_impossible_part_says_in_which_other_part_it_fits():
    # 28.57 is 2 of 7; 40.10 fits nothing, so that no order of the row does.
    found = flags("m,a,b,all\nn,3,7,10\nX,28.57,40.10,-\n", SUM)
    assert found[0][3] == "no share of 3: 0 are 0.00 and 1 are 33.33; it fits 2 of 7 (b)"


MEAN = '[[rules]]\nrule = "mean"\ntotal = "mean"\nof = ["a", "b"]\n'


def test_a_mean_is_recomputed():
    text = "m,a,b,mean\nX,20.0,30.0,25.0\nY,20.0,30.0,25.1\nZ,20.0,30.0,25.2\nW,-,30.0,50.0\nV,1.0,2.0,-\n"
    assert flags(text, MEAN) == [("Z", "mean", "mean", "2 columns of the row average 25.00, each alike")]


def test_a_mean_can_weigh_its_parts_and_keep_to_some_rows():
    text = "m,a,b,mean\nX,20.00,30.00,22.50\nY,20.00,30.00,25.00\nZ,20.00,30.00,25.00\n"
    assert flags(text, MEAN + 'weights = [3, 1]\nrows = ["X", "Y"]\n') == [
        ("Y", "mean", "mean", "2 columns of the row average 22.500, with weights")
    ]


def test_a_mean_whose_digits_were_cut_off_is_harmless():
    # Cut off, the parts lie below 20.1, and so may their mean; rounded, they lie below 20.05.
    assert flags("m,a,b,mean\nX,20.0,20.0,20.09\n", MEAN) == [
        ("X", "mean", "last digit", "2 columns of the row average 20.000, each alike: cut off, not rounded")
    ]


def test_a_summary_row_has_no_mean_of_its_own():
    text = "m,a,b,mean\nX,20.0,30.0,25.0\nAll,20.0,30.0,99.0\n"
    assert flags(text, MEAN + '[[rows]]\nrow = "All"\nkind = "summary"\n') == []


def test_ratios_and_differences_are_recomputed():
    toml = (
        '[[columns]]\nname = "change"\nkind = "number"\n'
        '[[rules]]\nrule = "ratio"\ntotal = "ratio"\nof = ["a", "b"]\n'
        '[[rules]]\nrule = "difference"\ntotal = "change"\nof = ["a", "b"]\n'
    )
    text = (
        "m,a,b,ratio,change\nX,20.0,50.0,40.0%,-30.0\nY,20.0,50.0,41.0%,+30.0\n"
        "Z,20.0,0.0,1.0,20.0\nW,1.0,-,1.0,-\n"
    )
    assert flags(text, toml) == [
        ("Y", "ratio", "ratio", "a in per cent of b is 40.00"),
        ("Y", "change", "difference", "a less b is -30.00"),
    ]


def test_counts_are_exact_in_a_ratio():
    toml = (
        '[[columns]]\nname = "right"\nkind = "number"\n[[columns]]\nname = "asked"\nkind = "number"\n'
        '[[rules]]\nrule = "ratio"\ntotal = "share"\nof = ["right", "asked"]\n'
    )
    # 404 of 1,101 are 36.69; 403 are 36.60.
    text = 'm,right,asked,share\nX,404,"1,101",36.69\nY,403,"1,101",36.69\n'
    assert [one[:3] for one in flags(text, toml)] == [("Y", "share", "ratio")]


ROWS = '[[rows]]\nrow = "All"\nkind = "summary"\n[[columns]]\nname = "n"\nkind = "number"\n'


def test_a_row_of_means_is_recomputed():
    toml = ROWS + '[[row_rules]]\nrule = "mean"\ntotal = "All"\n'
    text = "m,n,a,b\nX,10,20.0,5.0\nY,30,40.0,-\nAll,20,31.0,5.0\n"
    assert flags(text, toml) == [("All", "a", "mean", "2 rows average 30.00, each alike")]


def test_a_row_of_means_can_weigh_by_a_column():
    toml = ROWS + '[[row_rules]]\nrule = "mean"\ntotal = "All"\ncolumns = ["a"]\nweights = "n"\n'
    text = "m,n,a\nX,10,20.0\nY,30,40.0\nAll,40,35.0\n"
    assert flags(text, toml) == []
    assert flags(text.replace("35.0", "30.0"), toml) == [
        ("All", "a", "mean", "2 rows average 35.00, with weights")
    ]


def test_a_row_of_sums_is_recomputed():
    toml = ROWS + '[[row_rules]]\nrule = "sum"\ntotal = "All"\ncolumns = ["n"]\n'
    assert flags('m,n\nX,"1,000"\nY,30\nAll,"1,030"\n', toml) == []
    assert flags('m,n\nX,"1,000"\nY,31\nAll,"1,030"\n', toml) == [
        ("All", "n", "sum", "the 2 rows add up to 1,031")
    ]


def test_numbers_above_a_hundred_have_no_mean_of_rows():
    toml = ROWS + '[[row_rules]]\nrule = "mean"\ntotal = "All"\ncolumns = ["n"]\n'
    assert flags("m,n\nX,1000\nY,30\nAll,7\n", toml) == []


def test_rows_of_people_are_no_part_of_a_row_of_means():
    toml = ROWS + '[[row_rules]]\nrule = "mean"\ntotal = "All"\n[[rows]]\nrow = "P"\nkind = "human"\n'
    assert flags("m,n,a\nP,1,90.0\nX,1,20.0\nAll,1,20.0\n", toml) == []


def test_coverage_says_where_the_audit_can_speak():
    # 8 questions leave gaps at one digit, 1,000 and more leave none.
    covered = coverage(audit("m,a,b,c,d\nn,8,1000,,\nX,12.5,12.5,1.0,words\n"))
    assert (covered.checked, covered.vacuous, covered.unknown) == (("a",), ("b",), ("c",))


def test_problems_leave_out_remarks_and_last_digits():
    toml = '[[flags]]\nrow = "X"\nsays = "hm"\n'
    table = audit("m,a,b\nn,3,8\nX,66.6,20.0\n", toml)
    assert [(row.name, column.name, flag.kind) for row, column, flag in problems(table)] == [
        ("X", "b", "impossible")
    ]


def test_remarks_stay_before_what_is_found():
    table = audit("m,a\nn,8\nX,20.0\n", '[[flags]]\nrow = "X"\ncolumns = ["a"]\nsays = "known"\n')
    assert [flag.kind for flag in table.rows[0].cells[1].flags] == ["remark", "impossible"]
