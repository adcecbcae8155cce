"""``vidence audit-table`` as a user runs it."""

import json


def test_a_table_without_fault_ends_well(vidence, tmp_path):
    (tmp_path / "ours.csv").write_text("model,all\nX,40.0\nY,55.0\n")
    done = vidence("audit-table", "ours.csv", "--n", "all=200")
    assert done.code == 0, done.err
    assert "2 rows: no problems." in done.out
    assert "Checked against a number of questions: all." in done.out


def test_what_cannot_be_true_is_shown_and_ends_with_3(vidence, tmp_path):
    (tmp_path / "ours.csv").write_text(
        "model,a,b,all,mean\nn,3,7,10,\nX,28.57,33.33,40.00,30.95\nY,33.3,lots,-,\n"
    )
    done = vidence(
        *("audit-table", "ours.csv", "--sums", "all = a + b", "--mean", "mean=a,b"),
        *("--n", "all=10", "--json", "found.json"),
    )
    assert done.code == 3, done.err
    assert "swapped: no share of 3; looks like the value of b: 2 of 7" in " ".join(done.out.split())
    assert "2 rows: 4 problems." in done.out
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["format"] == "vidence-audit/2"
    kinds = {
        (row["name"], column["name"]): [flag["kind"] for flag in cell.get("flags", [])]
        for row in found["table"]["rows"]
        for column, cell in zip(found["table"]["columns"], row["cells"], strict=True)
    }
    assert kinds["X", "a"] == kinds["X", "b"] == ["swapped"]
    assert kinds["X", "all"] == ["sum"]
    assert kinds["X", "mean"] == []
    assert kinds["Y", "b"] == ["unreadable"]
    assert kinds["Y", "a"] == kinds["Y", "all"] == []


def test_a_line_of_the_wrong_length_is_refused_with_its_number(vidence, tmp_path):
    (tmp_path / "ours.csv").write_text("model,a\nX,1.0\nY,1.0,2.0\n")
    done = vidence("audit-table", "ours.csv")
    assert done.code == 2
    assert "ours.csv:3: 3 cells found; expected 2" in done.err
    assert "Traceback" not in done.err


def test_rows_of_one_name_ask_for_more_columns(vidence, tmp_path):
    (tmp_path / "ours.csv").write_text("model,size,a\nX,7B,1.0\nX,8B,2.0\n")
    assert "--names" in vidence("audit-table", "ours.csv").err
    assert vidence("audit-table", "ours.csv", "--names", "model,size").code == 0


def test_published_tables_are_listed_and_audited_by_name(vidence):
    listed = vidence("audit-table")
    assert listed.code == 0
    assert "perceptioncomp-table2" in listed.out
    done = vidence("audit-table", "perceptioncomp-table2")
    assert done.code == 3
    assert "looks like the value of Home Tour: 60 of 74" in " ".join(done.out.split())
    assert vidence("audit-table", "actpld-table2").code == 0


def test_mistakes_in_the_command_say_what_would_be_right(vidence, tmp_path):
    (tmp_path / "ours.csv").write_text("model,a,b\nX,1.0,2.0\n")
    for words, message in (
        (["mmvu-tabel3"], "Did you mean 'mmvu-table3'"),
        (["none.csv"], "cannot read none.csv"),
        (["ours.csv", "--n", "a"], "expected COLUMN=N"),
        (["ours.csv", "--n", "a=0"], "expected COLUMN=N"),
        (["ours.csv", "--n", "c=5"], "there is no column 'c'"),
        (["ours.csv", "--sums", "a"], "expected a column, =, and two or more columns"),
        (["ours.csv", "--sums", "a=b"], "expected a column, =, and two or more columns"),
        (["ours.csv", "--mean", "a=b,c"], "there is no column 'c'"),
        (["mmvu-table3", "--names", "Model"], "--names is for files"),
        (["ours.csv", "--json", "."], "it is a folder"),
    ):
        done = vidence("audit-table", *words)
        assert done.code == 2, words
        assert message in done.err
        assert "Traceback" not in done.err


def test_what_a_file_says_is_shown_and_not_obeyed(vidence, tmp_path):
    (tmp_path / "odd.csv").write_text("model,a\n[red]X[/]\x1b[2J,lots\nY,1.0\n")
    done = vidence("audit-table", "odd.csv")
    assert done.code == 3
    assert "\x1b[2J" not in done.out
    assert "[red]X[/]" in done.out
