"""The tables of the papers: all there, well described, and set beside the runs that they compare with."""

import pytest

from vidence import catalog
from vidence.ask.prompting.compose import STYLES
from vidence.errors import UnknownNameError
from vidence.explain.published import published
from vidence.explain.published.printed_tables import is_blank, number

# Rows and columns as printed.
SHAPES = {
    **{"actpld-table2": (12, 4), "actpld-table3": (12, 4), "actpld-table4": (3, 3)},
    **{"herbench-figure9": (2, 3), "herbench-table1": (4, 4), "herbench-table2": (14, 18)},
    **{"herbench-table3": (5, 4), "herbench-table4": (13, 3), "herbench-table5": (15, 15)},
    **{"humanpcr-figure8": (8, 2), "humanpcr-table11": (8, 15), "humanpcr-table12": (16, 8)},
    **{"humanpcr-table3": (30, 14), "humanpcr-table4": (7, 8), "humanpcr-table5": (3, 6)},
    **{"humanpcr-table6": (4, 8), "mmvu-errors": (6, 2), "mmvu-table3": (35, 8)},
    **{"perceptioncomp-readme": (25, 3), "perceptioncomp-release": (18, 14)},
    **{"perceptioncomp-table2": (24, 12), "perceptioncomp-table3a": (6, 3), "perceptioncomp-table3b": (4, 3)},
}
LOST = {("Human Closed-book", "Engineering"), ("GLM-4V-Plus", "Validation")}


def test_every_table_is_there_in_full():
    shapes = {
        name: (len(t.rows), len(t.columns)) for name in published.names() if (t := published.load(name))
    }
    assert shapes == SHAPES
    with pytest.raises(UnknownNameError, match="Did you mean 'mmvu-table3'"):
        published.load("mmvu-tabel3")


@pytest.mark.parametrize("name", SHAPES)
def test_every_table_says_where_it_comes_from_and_what_it_means(name):
    table = published.load(name)
    assert name.startswith(f"{table.benchmark}-")
    assert table.source.paper
    assert table.source.where
    assert table.title != name
    assert {one.name for one in table.columns if one.kind == "text"}.issuperset(table.names)
    splits = catalog.create("benchmark", table.benchmark).splits
    assert set(table.splits) <= set(splits)
    assert bool(table.splits) == any(one.measure for one in table.columns)
    scorers = {*catalog.names("parser"), *catalog.names("judge"), "letters"}
    for column in table.columns:
        assert column.means
        if (measure := column.measure) is not None:
            assert measure.average in ("micro", "answered", "macro:task")
            assert measure.parser, column.name
            assert set(measure.parser) <= scorers, column.name
            assert set(measure.style) <= set(STYLES), column.name
            assert set(measure.split) <= {*splits, "test"}, column.name
    for row in table.rows:
        for one, cell in zip(table.columns, row.cells, strict=True):
            if one.kind != "text" and not is_blank(cell.text) and number(cell.text) is None:
                assert (row.name, one.name) in LOST
                assert cell.text == "56."
                assert cell.flags


@pytest.mark.parametrize(
    ("benchmark", "split", "expected"),
    [
        ("mmvu", "validation", ["mmvu-table3"]),
        ("perceptioncomp", "seed500", ["perceptioncomp-table2"]),
        ("perceptioncomp", "all", ["perceptioncomp-readme", "perceptioncomp-release"]),
        ("herbench", "all", ["herbench-table2"]),
        ("humanpcr", "all", ["humanpcr-table3"]),
        ("humanpcr", "human-r", ["humanpcr-table3"]),
        ("actpld", "3afc", ["actpld-table2", "actpld-table3"]),
        ("phantom", "all", []),
        ("mmvu", "test", []),
    ],
)
def test_the_tables_beside_a_run_are_those_of_its_split(benchmark, split, expected):
    assert [table.name for table in published.beside(benchmark, split)] == expected


def test_no_value_of_a_hidden_split_and_no_letter_among_descriptions():
    mmvu = published.load("mmvu-table3")
    by_split = {one.name: one.measure.split for one in mmvu.columns if one.measure is not None}
    assert by_split.pop("Validation") == ("validation",)
    assert set(by_split.values()) == {("test",)}
    for name in ("actpld-table2", "actpld-table3"):
        table = published.load(name)
        by = {one.name: one.measure for one in table.columns if one.measure is not None}
        assert "description-match" not in by["3AFC"].parser
        assert by["Description Matching"].parser == ("description-match",)
        assert "under the same rules" in by["Description Matching"].by_rules
    assert any("29.11" in note and "31.01" in note for note in published.load("actpld-table2").notes)


def test_rows_by_target_become_columns_beside_a_run():
    single, social = published.beside("actpld", "3afc")
    cells = [
        f"{task}, {target}" for target in ("Label", "Intention") for task in ("3AFC", "Description Matching")
    ]
    assert [one.name for one in single.columns] == ["Model", *cells]
    assert len(single.rows) == 6
    rows = {row.name: [cell.text for cell in row.cells[1:]] for row in social.rows}
    assert rows["Gemini 2.5 Pro"] == ["41.27", "53.97", "48.48", "56.06"]
    measure = social.columns[4].measure
    # Logs of the choice and free descriptions alike, by who marked them; never both at once.
    assert measure.where == {"set": ("social",), "target": ("intention",)}
    assert (measure.parser, measure.alike) == (("description-match",), "task")
    gemini = next(row for row in social.rows if row.name == "Gemini 2.5 Pro")
    says = [flag.says[:20] for flag in gemini.cells[0].flags]
    assert says == ["Only shares of 63 cl", "Only shares of 66 cl"]


def problems(name):
    table = published.load(name)
    return [
        (row.name, column.name, cell.text, flag.says)
        for row in table.rows
        for column, cell in zip(table.columns, row.cells, strict=True)
        for flag in cell.flags
        if flag.is_problem
    ]


def test_levels_that_stand_in_each_others_place_are_signed():
    found = {(row, column): says for row, column, _, says in problems("perceptioncomp-table2")}
    assert found["GPT-4o-latest", "Level 1"] == "no share of 148; looks like the value of Level 2: 71 of 215"
    assert found["Human", "Overall"] == "412 of 500, but Outdoor Tour to Shows add up to 414 of 500"
    assert len([1 for row, column, *_ in problems("herbench-table2") if row.startswith("Av")]) == 14


@pytest.mark.parametrize("name", SHAPES)
def test_no_count_gives_a_value_that_is_signed_as_no_share(name):
    for _, _, text, says in problems(name):
        if says.startswith("no share of "):
            n = int(says.removeprefix("no share of ").partition(";")[0].partition(":")[0].replace(",", ""))
            decimals = len(text.partition(".")[2])
            assert all(abs(100 * k / n - float(text)) > 10**-decimals / 2 - 1e-9 for k in range(n + 1)), text
