"""The tables that ship with the project hold every value of the tables that others read from the papers."""

import json

import pytest

from conftest import need
from vidence.explain.published import published
from vidence.explain.published.printed_tables import is_blank, number

pytestmark = pytest.mark.parity


def read(checks_dir, benchmark):
    return json.loads(need(checks_dir / benchmark / "published_tables.json").read_text(encoding="utf-8"))


def row_of(table, **cells):
    """The only row with these texts in its columns."""
    [row] = [
        row
        for row in table.rows
        if all(table.text(row, name.replace("_", " ")) == text for name, text in cells.items())
    ]
    return row


def same(printed, expected):
    if expected is None:
        return is_blank(printed)
    if isinstance(expected, str):
        return printed == expected.removesuffix("(digit lost in seed)")
    figure = number(printed)
    return figure is not None and float(figure) == expected


def differences(table, row, pairs):
    for column, expected in pairs.items():
        printed = table.text(row, column)
        if not same(printed, expected):
            yield f"{table.name}, {row.name}, {column}: {printed!r}, expected {expected!r}"


def test_mmvu(checks_dir):
    theirs, table = read(checks_dir, "mmvu"), published.load("mmvu-table3")
    columns = ["Science", "Healthcare", "Human. & Social Sci.", "Engineering", "Test", "Validation"]
    wrong = []
    for name, *values in theirs["rows"]:
        wrong += differences(table, row_of(table, Model=name), dict(zip(columns, values, strict=True)))
    for name, *values in theirs["human"]:
        row = row_of(table, Model=f"Human {name}")
        wrong += differences(table, row, dict(zip(columns[:5], values, strict=True)))
    assert wrong == []
    assert len(theirs["rows"]) + len(theirs["human"]) == len(table.rows)


def test_herbench(checks_dir):
    theirs, wrong = read(checks_dir, "herbench"), []
    table = published.load("herbench-table1")
    for name, *values in theirs["table1"]:
        pairs = dict(zip(["Questions", "Video length (s)", "MRFS"], values, strict=True))
        wrong += differences(table, row_of(table, Benchmark=name), pairs)
    table = published.load("herbench-table2")
    for entry in theirs["table2"]:
        row = row_of(table, Model=entry["model"])
        names = {key: key.replace("_avg", " Avg.").replace("overall", "Overall Avg.") for key in entry}
        kept = {names[k]: v for k, v in entry.items() if k not in ("model", "micro_if_weighted")}
        wrong += differences(table, row, kept)
    table = published.load("herbench-table3")
    models = theirs["table3"].pop("_models")
    for name, values in theirs["table3"].items():
        pairs = dict(zip(models, values, strict=True))
        wrong += differences(table, row_of(table, Frame_selection=name), pairs)
    table = published.load("herbench-table4")
    for name, entry in theirs["table4"].items():
        pairs = {"Total": entry["total"], "Mean MRFS": entry["mrfs"]}
        wrong += differences(table, row_of(table, Task=name), pairs)
    last = row_of(table, Task="Total / Weighted Mean")
    wrong += differences(table, last, {"Mean MRFS": theirs["table4_weighted"]})
    table = published.load("herbench-table5")
    for entry in theirs["table5"]:
        row = row_of(table, Model=entry.pop("model"), Selector=entry.pop("selector"))
        del entry["recomputed_mean"]
        wrong += differences(table, row, {key.replace("mean", "Mean"): v for key, v in entry.items()})
    assert wrong == []
    assert len(theirs["table2"]) == 14
    assert len(theirs["table5"]) == 15


def test_humanpcr(checks_dir):
    theirs, wrong = read(checks_dir, "humanpcr"), []
    table = published.load("humanpcr-table3")
    names = {
        "P_avg": "Human-P avg.",
        "C_avg": "Human-C avg.",
        "PC_avg": "Human-P&C avg.",
        "R_acc": "Human-R Acc.",
    }
    for entry in theirs["table3"]:
        row = row_of(table, Model=entry.pop("model").replace("[†]", "†"))
        wrong += differences(table, row, {names.get(key, f"{key}."): v for key, v in entry.items()})
    columns = ["Direct", "M=0 (CoT)", "M=1", "M=2", "M=3"]
    for name in ("humanpcr-table4", "humanpcr-table12"):
        table = published.load(name)
        n_found = 0
        for model, method, reward, *values in theirs["table4_12"]["rows"]:
            rows = [
                row
                for row in table.rows
                if table.text(row, "Model") == model
                and table.text(row, "Reward model") == reward
                # Table 12 prints a dash where Table 4 says Thinking.
                and table.text(row, "Method") in (method, "-" if method == "Thinking" else method)
            ]
            n_found += len(rows)
            for row in rows:
                wrong += differences(table, row, dict(zip(columns, values, strict=True)))
        # Table 4 calls one model Gemini-2.5-Pro, which the check file has by its name in Table 12.
        assert n_found == len(table.rows) - (name == "humanpcr-table4")
    table = published.load("humanpcr-table5")
    for name, entry in theirs["table5"].items():
        text, image = entry["printed_ratio"]
        pairs = {"Text": entry["text"], "Image": entry["image"], "Video": entry["video"]}
        pairs |= {"Text ratio": text, "Image ratio": image}
        wrong += differences(table, row_of(table, Benchmark=name), pairs)
    table = published.load("humanpcr-table6")
    for name, values in theirs["table6"].items():
        pairs = dict(zip(["Orig.", "Level 1", "Level 2", "Level 3"], values, strict=True))
        wrong += differences(table, row_of(table, Model=name), pairs)
    assert wrong == []


def test_actpld(checks_dir):
    theirs, wrong = read(checks_dir, "actpld"), []
    for key, name in (("single_actor", "actpld-table2"), ("social", "actpld-table3")):
        table = published.load(name)
        for model, pairs_of in theirs[key].items():
            for target, values in zip(("Label", "Intention"), pairs_of, strict=True):
                pairs = dict(zip(["3AFC", "Description Matching"], values, strict=True))
                wrong += differences(table, row_of(table, Model=model, Type=target), pairs)
        assert 2 * len(theirs[key]) == len(table.rows)
    table = published.load("actpld-table4")
    rows = {"mean_3afc": "Mean 3-AFC", "mean_dm": "Mean Description Matching", "overall": "Overall Means"}
    for key, values in theirs["table4"].items():
        pairs = dict(zip(["Single Actor", "Social Interactions"], values, strict=True))
        wrong += differences(table, row_of(table, Mean=rows[key]), pairs)
    assert wrong == []


def test_a_wrong_value_would_be_seen():
    table = published.load("actpld-table4")
    row = table.rows[0]
    assert list(differences(table, row, {"Single Actor": 37.56}))
    assert not list(differences(table, row, {"Single Actor": 37.55}))
