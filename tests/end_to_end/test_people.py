"""The tables of ActPLD's human study (tables 5 to 8) through the commands: correlated and audited."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from conftest import need

Rows = Mapping[str, Sequence[Mapping[str, object]]]
PEOPLE = {"social": ("table5", "table6"), "single": ("table7", "table8")}


@pytest.fixture
def people(checks_dir: Path) -> dict[str, dict[str, object]]:
    whole = json.loads(need(checks_dir / "actpld" / "human_tables.json").read_text("utf-8"))
    return whole["human"]


def side_by_side(people: Mapping[str, Rows], kind: str, path: Path) -> None:
    """One line for each clip with the marks of both participants; a mark that is not printed stays empty."""
    first, second = (people[name]["rows"] for name in PEOPLE[kind])
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["clip", "participant 1", "participant 2"])
        for one, other in zip(first, second, strict=True):
            lines.writerow([one["n"], *("" if r["correct"] is None else r["correct"] for r in (one, other))])


def test_two_people_are_correlated_clip_by_clip(vidence, people):
    side_by_side(people, "single", vidence.folder / "single.csv")
    asked = ("--x", "participant 1", "--y", "participant 2", "--cluster", "clip")
    done = vidence("stats", "correlate", "--with", "single.csv", *asked, "--json", "found.json")
    assert done.code == 0, done.err
    # 3 and 1 of 30 clips are missed, none by both: phi is -sqrt(3 * 1 / (27 * 29)) = -0.062.
    assert "over 30 points: Spearman's rho is -0.06" in " ".join(done.out.split())
    points = json.loads((vidence.folder / "found.json").read_text())["correlated"]["points"]["points"]
    assert [(p["x"], p["y"]) for p in points].count((0.0, 1.0)) == 3
    assert [(p["x"], p["y"]) for p in points].count((1.0, 0.0)) == 1


def test_people_who_miss_nothing_are_no_correlation_and_empty_marks_no_zeros(vidence, people):
    side_by_side(people, "social", vidence.folder / "social.csv")
    asked = ("--x", "participant 1", "--y", "participant 2", "--cluster", "clip")
    done = vidence("stats", "correlate", "--with", "social.csv", *asked)
    assert done.code == 2
    # Three marks of participant 2 are not printed. Were they read as wrong, values would differ.
    assert "participant 2 is 1 at every point" in done.err


def test_what_the_paper_states_of_people_can_be_true(people):
    # As printed 28, 30, 27 and 29 of 30 are right: those marked so and those without a mark.
    stated = [round(30 * table["stated"] / 100) for table in people.values()]
    marks = [[row["correct"] for row in table["rows"]] for table in people.values()]
    assert stated == [28, 30, 27, 29] == [sum(mark != 0 for mark in some) for some in marks]


def test_the_printed_choices_are_audited_as_questions(vidence, people):
    """One participant of each kind: 60 clips. Item 9 of table 5 prints a choice that was not offered."""
    items = [
        {
            "item_id": f"{name}-{row['n']}",
            "media": [{"path": f"{name}-{row['n']}.mp4"}],
            "question": "What is the action?",
            "choices": row["choices"],
            "answer": row["choice"],
        }
        for name in ("table5", "table7")
        for row in people[name]["rows"]
    ]
    (vidence.folder / "questions.jsonl").write_text("\n".join(map(json.dumps, items)) + "\n")
    done = vidence("items", "audit", "questions.jsonl", "--out", "a", "--strict")
    assert done.code == 3, done.err
    said = " ".join(done.out.split())
    assert "59 questions about 59 videos" in said
    assert "questions.jsonl:9: answer: 'imitateme' is not among the choices" in said
    found = [
        json.loads(line) for line in (vidence.folder / "a" / "suspicious.jsonl").read_text().splitlines()
    ]
    assert [one["item_id"] for one in found if one["severity"] == "severe"] == ["questions.jsonl:9"]
