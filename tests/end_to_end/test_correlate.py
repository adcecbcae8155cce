"""``vidence stats correlate``, as a user runs it on recorded replies and on tables."""

import json

import pytest

FALLING, EVEN, LOW, MIXED = "110" * 4 + "100" * 4, "10" * 12, "0" * 20 + "1" * 4, "111" * 4 + "001" * 4


def test_runs_are_correlated_over_a_tag_and_with_a_table(vidence, leveled_runs):
    leveled_runs(falling=FALLING, even=EVEN, low=LOW, mixed=MIXED)
    runs = ("falling", "even", "low", "mixed")
    done = vidence(
        *("stats", "correlate", *runs, "--x", "kind=a", "--y", "kind=b", "--by", "level"),
        *("--html", "p.html", "--csv", "p.csv", "--json", "p.json", "--latex", "p.tex"),
    )
    assert done.code == 0, done.err
    text = " ".join(done.out.split())
    assert "accuracy, kind=a against accuracy, kind=b over 12 points of 4 clusters: Spearman's rho is" in text
    assert "by permuting whole clusters" in text
    assert len(json.loads((vidence.folder / "p.json").read_text())["correlated"]["points"]["points"]) == 12
    assert "vidence stats correlate" in (vidence.folder / "p.html").read_text()
    (vidence.folder / "size.csv").write_text("Model,size\nF,1\nE,2\nL,3\nM,4\n")
    named = [word for name in "FELM" for word in ("--as", name)]
    done = vidence("stats", "correlate", *runs, "--x", "all", "--y", "size", "--with", "size.csv", *named)
    assert "accuracy, all against size of size over 4 points" in " ".join(done.out.split())


def test_rows_of_a_published_table_are_correlated(vidence):
    done = vidence(
        *("stats", "correlate", "--with", "actpld-table3", "--x", "3AFC", "--y", "Description Matching"),
        *("--cluster", "Model", "--within", "Type"),
    )
    text = " ".join(done.out.split())
    assert "rho is 0.72 (95 % interval 0.19 to 0.94, by drawing whole clusters; p = 0.007 by" in text
    assert "are not: 95 % interval 0.24 to 0.92, by Fieller's error; p = 0.008" in text


def test_a_point_for_each_value_over_runs_with_the_ceiling_and_the_sorted_figure(vidence, leveled_runs):
    leveled_runs(falling=FALLING, even=EVEN, low=LOW, mixed=MIXED)
    runs = ("falling", "even", "low", "mixed")
    done = vidence(
        *("stats", "correlate", *runs, "--x", "kind=a", "--y", "kind=b", "--by", "level", "--over-runs"),
        *("--html", "p.html", "--json", "p.json", "--latex", "p.tex"),
    )
    assert done.code == 0, done.err
    text = " ".join(done.out.split())
    assert (
        "kind=a, mean over models against kind=b, mean over models over 3 points: Spearman's rho is" in text
    )
    assert "How far the two could go together" in text
    assert "level by its mean over 4 models" in text
    page = (vidence.folder / "p.html").read_text()
    assert page.count("<svg") >= 2
    assert "by sorting alone" in page
    assert "How far the two could go together" in (vidence.folder / "p.tex").read_text()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ("--with", "actpld-table3", "--x", "a", "--y", "b"),
            "has no column 'a'; its columns are Model, Type",
        ),
        (
            ("--with", "actpld-table3", "--x", "3AFC", "--y", "3AFC", "--by", "level"),
            "--by, --as and --parser are",
        ),
    ],
)
def test_what_cannot_be_correlated_is_refused(vidence, words, says):
    done = vidence("stats", "correlate", *words)
    assert (done.code, says in done.err) == (2, True), done.err
    assert "Traceback" not in done.err
