"""Sheets: a study as CSV, filled in and read back; what cannot be used is named by its line."""

import csv
import json

import pytest

from vidence.engine.environment import Environment
from vidence.errors import DataError, UsageError
from vidence.study.drawing import draw, write_drawn
from vidence.study.folder import StudyAnswers
from vidence.study.sheets import (
    SheetStudy,
    blank_sheet,
    how_to_fill,
    read_sheets,
    sheet_problems,
    with_sheets,
    write_sheets,
)
from vidence.study.study import (
    Exclude,
    Field,
    Participant,
    Pay,
    Phase,
    PlannedTrial,
    Response,
    Study,
    read_study,
)

AT = "2026-01-01T00:00:00+00:00"
PLAIN = """
items = "items.jsonl"
n_people = 2
shuffle_choices = true
instructions = "Answer each question."
practice = { n = 1 }
[draw]
n = 5
[[phases]]
name = "only"
condition = "none"
shows = ["question", "evidence"]
[[form]]
name = "answer"
kind = "answer"
[[form]]
name = "evidence"
kind = "scale"
high = 2
is_optional = true
"""


@pytest.fixture
def study(tmp_path):
    lines = [
        {
            "item_id": f"q{i}",
            "question": f"=What {i}?",
            "choices": ["ant", "bee", "cat"],
            "answer": "ABC"[i % 3],
            "evidence": [
                {"kind": "referred", "start_s": 1.0, "end_s": 2.0, "note": "a door"},
                {"kind": "proactive"},
            ],
        }
        for i in range(6)
    ]
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "study.toml").write_text(PLAIN)
    file = read_study(tmp_path)
    write_drawn(file, draw(file, environment=Environment(cache_root=tmp_path / "cache")))
    return SheetStudy.read(file)


def rows_of(study, slot):
    return list(csv.DictReader(blank_sheet(study, slot).splitlines(keepends=True)))


def written(path, rows):
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        sheet = csv.DictWriter(file, rows[0])
        sheet.writeheader()
        sheet.writerows(rows)
    return path


def letter(row, word):
    """The letter that a word has on the sheet."""
    return next(line[0] for line in row["choices"].splitlines() if line.endswith(word))


def test_a_sheet_shows_what_the_page_shows_and_gives_the_same_rows(study, tmp_path):
    rows = rows_of(study, 1)
    assert list(rows[0]) == [
        "trial",
        "phase",
        "question",
        "choices",
        "evidence shown",
        "asked for",
        "answer",
        "evidence",
    ]
    assert len(rows) == 5  # practice tells the answer and is for pages
    assert rows[0]["question"].startswith("'=What")  # no formula
    assert rows[0]["evidence shown"] == "e1: 1 to 2 s: a door\ne2: no time"
    assert not any(item_id in blank_sheet(study, 1) for item_id in study.items)
    assert len({row["choices"] for row in rows}) > 1
    for row in rows:
        row["answer"] = letter(row, "bee").lower()
    rows[0]["evidence"] = "2"
    found = read_sheets(study, [written(tmp_path / "done.csv", rows)], at=AT)
    assert [(one.name, one.slot, one.state, one.recruited) for one in found.participants] == [
        ("P02", 1, "finished", "file")
    ]
    assert [one.trial for one in found.responses] == list(study.trials(1))
    assert [one.values["answer"] for one in found.responses] == ["B"] * 5  # the item's own letter
    assert (found.responses[0].values["evidence"], found.responses[0].answered_at) == ("2", AT)
    assert how_to_fill(study).splitlines() == [
        "Answer each question.",
        "",
        "answer: answer",
        "evidence: evidence; one of 0, 1, 2; may be empty",
    ]


def test_two_sheets_are_read_at_once_and_rows_without_a_value_are_not_answered(study, tmp_path):
    first, second = rows_of(study, 0), rows_of(study, 1)
    for row in (*first, *second[:2]):
        row["answer"] = "A"
    paths = [written(tmp_path / f"{n}.csv", rows) for n, rows in enumerate((first, second))]
    found = read_sheets(study, paths, at=AT)
    assert [(one.name, one.state, one.ended_at) for one in found.participants] == [
        ("P01", "finished", AT),
        ("P02", "begun", ""),
    ]
    assert len(found.responses) == 7
    with pytest.raises(DataError, match="no row has a value"):
        read_sheets(study, [written(tmp_path / "empty.csv", rows_of(study, 0))], at=AT)


def test_every_problem_is_named_by_its_line_and_nothing_is_taken(study, tmp_path):
    rows = rows_of(study, 0)
    for row in rows:
        row["answer"] = "A"
    rows[1]["answer"] = "D"
    rows[2] |= {"answer": "", "evidence": "3"}
    rows.append(rows[0])
    strange = ({"trial": "P01-0-zzzzzz"}, {"trial": ""}, {"trial": rows[3]["trial"].replace("P01", "P02")})
    rows += [{**rows[4], **one} for one in strange]
    path = written(tmp_path / "s.csv", rows)
    with pytest.raises(DataError) as refused:
        read_sheets(study, [path], at=AT)
    head, *lines = str(refused.value).splitlines()
    assert head == "7 problems in 1 sheet, and nothing was read:"
    # With the lines in its cells a row has four lines.
    places = [line.removeprefix(f"{path}, line ").split(": ", 1) for line in lines]
    assert [int(place) for place, _ in places] == [6, 10, 10, 22, 26, 30, 34]
    starts = [
        "answer: 'D'; expected one of A, B, C",
        "answer: empty; fill it in",
        "evidence: '3'; expected one of 0",
    ]
    starts += [f"a second row of {rows[0]['trial']}, after {path}, line 2; keep one"]
    starts += ["'P01-0-zzzzzz' is not a trial of this study", "'' is not a trial", "'P02-"]
    assert all(said.startswith(start) for (_, said), start in zip(places, starts, strict=True)), lines


def test_rows_of_another_draw_are_refused(study, tmp_path):
    rows = rows_of(study, 0)
    rows[0]["answer"] = "A"
    path = written(tmp_path / "s.csv", rows)
    other = tmp_path / "other"
    other.mkdir()
    (other / "items.jsonl").write_bytes((tmp_path / "items.jsonl").read_bytes())
    (other / "study.toml").write_text(PLAIN.replace("n = 5", "n = 4"))
    file = read_study(other)
    write_drawn(file, draw(file, environment=Environment(cache_root=tmp_path / "cache")))
    with pytest.raises(DataError, match="is not a trial of this study"):
        read_sheets(SheetStudy.read(file), [path], at=AT)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty; expected a filled sheet"),
        (b"trial,answer\nx,y\n", "no column evidence; expected a first line"),
        (b"trial,answer,evidence\nx,y,z,u\n", "line 2: CSV: 4 cells found; expected 3"),
        (b'trial,answer,evidence\n"x,y\n', "line 2: CSV: unexpected end of data"),
        (b"trial,answer,evidence\n\xff\xfe,y\n", "line 2: trial: not UTF-8"),
        (None, "cannot be read"),
    ],
)
def test_a_file_that_is_no_sheet_is_refused(study, tmp_path, content, says):
    if content is not None:
        (tmp_path / "s.csv").write_bytes(content)
    with pytest.raises(DataError) as refused:
        read_sheets(study, [tmp_path / "s.csv"], at=AT)
    assert says in str(refused.value)


def test_what_a_sheet_cannot_hold_to_is_refused(tmp_path):
    phases = (Phase(name="a", condition="once"), Phase(name="b", limit_s=60), Phase(name="c", items="wrong"))
    study = Study(
        phases=phases,
        form=(Field(name="words", kind="text", is_frozen=True),),
        calibrates=True,
        exclude=Exclude(faster_than_s=2.0),
        pay=Pay(per_hour=12.0),
    )
    assert sheet_problems(study) == (
        "phase 'a' shows its media as 'once'",
        "phase 'b' has a time limit",
        "phase 'c' depends on earlier answers",
        "the size of screens is measured",
        "per_hour of [pay] needs times",
        "faster_than_s of [exclude] needs times",
        "field 'words' is frozen before others are shown",
    )
    (tmp_path / "study.toml").write_text('[[phases]]\nname = "a"\ncondition = "once"\n')
    with pytest.raises(UsageError, match="cannot be put on sheets: phase 'a' shows its media as 'once'"):
        SheetStudy.read(read_study(tmp_path))


def test_sheets_are_written_once_and_a_second_one_takes_the_place_of_the_first(study):
    paths = write_sheets(study, n=2)
    assert [path.name for path in paths] == ["P01.csv", "P02.csv", "fields.txt"]
    assert write_sheets(study, n=2) == paths
    answers = StudyAnswers(participants=(), responses=())
    for letters in ("AB", "C"):
        rows = list(csv.DictReader(blank_sheet(study, 0).splitlines(keepends=True)))
        for row, word in zip(rows, letters, strict=False):
            row["answer"] = word
        answers = with_sheets(answers, read_sheets(study, [written(paths[0], rows)], at=AT))
    assert [(one.name, one.state) for one in answers.participants] == [("P01", "begun")]
    assert len(answers.responses) == 1
    with pytest.raises(UsageError, match=r"P01\.csv exists and may be filled in"):
        write_sheets(study, n=1)
    linked = Participant(name="P01", slot=0, state="finished")
    other = Participant(name="P05", slot=4, state="finished")
    trial = PlannedTrial(place=0, phase="only", item_id="q1", condition="none")
    before = StudyAnswers(participants=(other,), responses=(Response(participant="P05", trial=trial),))
    found = with_sheets(before, answers)
    assert [one.name for one in found.participants] == ["P05", "P01"]
    assert [one.participant for one in found.responses] == ["P05", "P01"]
    with pytest.raises(UsageError, match="P01 answered on pages"):
        with_sheets(StudyAnswers(participants=(linked,), responses=()), answers)
