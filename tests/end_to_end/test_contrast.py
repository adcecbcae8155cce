"""``vidence contrast`` and ``vidence correlate``, as a user runs them on recorded replies."""

import json

import pytest


@pytest.fixture
def recorded(vidence):
    """Runs on 24 questions of three levels and two kinds, each from a string of right (1) and wrong (0)."""

    def make(**marks):
        lines = [
            {
                "item_id": f"q{i}",
                "media": [{"path": f"v{i // 2}.mp4"}],
                "question": f"Question {i}?",
                "choices": ["yes", "no"],
                "answer": "A",
                "tags": {"level": str(1 + i % 3), "kind": "ab"[i // 12], "one": "same"},
            }
            for i in range(24)
        ]
        (vidence.folder / "items.jsonl").write_text("\n".join(map(json.dumps, lines)))
        for name, right in marks.items():
            said = [{"id": f"q{i}", "text": "BA"[int(mark)]} for i, mark in enumerate(right)]
            (vidence.folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, said)))
            done = vidence(
                *("run", "table", "--data", "items.jsonl", "--model", f"replay:{name}.jsonl"),
                *("--replay-columns", "id=id,text=text", "--out", name, "--no-page"),
            )
            assert done.code == 0, done.err

    return make


FALLING, EVEN, LOW, MIXED = "110" * 4 + "100" * 4, "10" * 12, "0" * 20 + "1" * 4, "111" * 4 + "001" * 4


def test_levels_inside_two_runs(vidence, recorded):
    recorded(falling=FALLING, even=EVEN)
    done = vidence(
        *("contrast", "falling", "even", "--tag", "level", "--of", "3", "--to", "1", "--trend"),
        *("--html", "c.html", "--csv", "c.csv", "--json", "c.json", "--latex", "c.tex"),
    )
    assert done.code == 0, done.err
    text = " ".join(done.out.split())
    assert "replay:falling: level 3 less 1 is -100.0 points" in text
    assert "replay:even: level 3 less 1 is 0.0 points, which cannot be told from zero" in text
    assert "2 of 4 can be told from zero after Holm's adjustment for all 4." in text
    assert max(map(len, done.out.splitlines())) <= 100
    found = json.loads((vidence.folder / "c.json").read_text())["contrasts"]["contrasts"]
    assert [one["contrast"]["estimate"]["value"] for one in found] == pytest.approx([-1, -0.5, 0, 0])
    assert "Contrasts of level" in (vidence.folder / "c.html").read_text()
    assert (vidence.folder / "c.csv").read_text().count("\n") == 5
    assert (vidence.folder / "c.tex").read_text().isascii()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--tag", "level"), "nothing to contrast; level is 1, 2, 3"),
        (("--tag", "level", "--of", "3"), "--of and --to belong together"),
        (("--tag", "level", "--of", "9", "--to", "1"), "has level '9'; there is 1, 2, 3"),
        (("--tag", "nothing", "--trend"), "no question of replay:even has the tag 'nothing'"),
        (("--tag", "one", "--trend"), "one has only 'same' in replay:even; a contrast needs two values"),
    ],
)
def test_what_cannot_be_contrasted_is_refused(vidence, recorded, words, says):
    recorded(even=EVEN)
    done = vidence("contrast", "even", *words)
    assert (done.code, says in done.err) == (2, True), done.err
    assert "Traceback" not in done.err


def test_runs_are_correlated_over_a_tag_and_with_a_table(vidence, recorded):
    recorded(falling=FALLING, even=EVEN, low=LOW, mixed=MIXED)
    runs = ("falling", "even", "low", "mixed")
    done = vidence(
        *("correlate", *runs, "--x", "kind=a", "--y", "kind=b", "--by", "level"),
        *("--html", "p.html", "--csv", "p.csv", "--json", "p.json", "--latex", "p.tex"),
    )
    assert done.code == 0, done.err
    text = " ".join(done.out.split())
    assert "accuracy, kind=a against accuracy, kind=b over 12 points of 4 clusters: Spearman's rho is" in text
    assert "by permuting whole clusters" in text
    assert len(json.loads((vidence.folder / "p.json").read_text())["correlated"]["points"]["points"]) == 12
    assert "vidence correlate" in (vidence.folder / "p.html").read_text()
    (vidence.folder / "size.csv").write_text("Model,size\nF,1\nE,2\nL,3\nM,4\n")
    named = [word for name in "FELM" for word in ("--as", name)]
    done = vidence("correlate", *runs, "--x", "all", "--y", "size", "--with", "size.csv", *named)
    assert "accuracy, all against size of size over 4 points" in " ".join(done.out.split())


def test_rows_of_a_published_table_are_correlated(vidence):
    done = vidence(
        *("correlate", "--with", "actpld-table3", "--x", "3AFC", "--y", "Description Matching"),
        *("--cluster", "Model", "--within", "Type"),
    )
    text = " ".join(done.out.split())
    assert "rho is 0.72 (95 % interval 0.24 to 0.92, by Fieller's error; p = 0.008" in text


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--x", "all", "--y", "all"), "nothing to correlate"),
        (("--with", "nowhere", "--x", "a", "--y", "b"), "nowhere"),
        (
            ("--with", "actpld-table3", "--x", "a", "--y", "b"),
            "has no column 'a'; its columns are Model, Type",
        ),
        (
            ("--with", "actpld-table3", "--x", "3AFC", "--y", "3AFC", "--by", "level"),
            "--by, --as and --parser are",
        ),
        (("even", "--x", "all", "--y", "all"), "1 point; a correlation needs three or more"),
        (("even", "--x", "all", "--y", "all", "--cluster", "Model"), "--cluster and --within are for tables"),
    ],
)
def test_what_cannot_be_correlated_is_refused(vidence, recorded, words, says):
    if "even" in words:
        recorded(even=EVEN)
    done = vidence("correlate", *words)
    assert (done.code, says in done.err) == (2, True), done.err
    assert "Traceback" not in done.err
