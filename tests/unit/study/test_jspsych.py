"""Data of jsPsych: what comes back, as JSON and as CSV, and rows that do not fit."""

import csv
import io
import json

import pytest

from subjects.light_study import RIGHT, STUDY, light_study
from vidence.errors import DataError, UsageError
from vidence.study.jspsych import export_jspsych, read_jspsych


@pytest.fixture
def study(tmp_path):
    return light_study(tmp_path / "study")


def rows_of(study, slot=1, *, right=True):
    """The rows that a person's browser gives; every third frame of the last trial is late."""
    rows = [{"trial_type": "html-button-response", "rt": 12}]
    rows += [{"study": study.mark, "slot": slot, "what": what, "at": f"2026-01-01T10:00:0{i}.000Z"}
             for i, what in enumerate(("consent", "began", "calibrated"))]  # fmt: skip
    rows[-1]["px_per_cm"] = 37.8
    for number, trial in enumerate(study.trials(slot - 1)):
        own = trial.expected or (RIGHT if right else "A")
        order = trial.choice_order or (0, 1, 2, 3)
        shown = "ABCD"[order.index("ABCD".index(own))]
        values = {"words": 'it "moves", =1', "answer": shown}
        rows.append({
            "study": study.mark, "slot": slot, "what": "answered", "place": trial.place,
            "seconds": number + 2.5, "values": json.dumps(values), "n_plays": 2,
            "late": json.dumps([[1, 3, 21], [2, 6, 40]]),
            "shown": f"2026-01-01T10:01:{number:02}.000Z", "at": f"2026-01-01T10:02:{number:02}.000Z",
        })  # fmt: skip
    return [*rows, {"study": study.mark, "slot": slot, "what": "finished", "at": "2026-01-01T10:09:00.000Z"}]


def written(path, rows):
    if path.suffix == ".json":
        path.write_text(json.dumps(rows))
    else:
        heads = list(dict.fromkeys(name for row in rows for name in row))
        out = io.StringIO(newline="")
        lines = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
        lines.writerows([heads, *([row.get(name, "") for name in heads] for row in rows)])
        path.write_text(out.getvalue(), newline="")
    return path


@pytest.mark.parametrize("name", ["a.json", "a.csv"])
def test_data_come_back_as_answers_in_the_order_of_the_items(study, tmp_path, name):
    answers = read_jspsych(study, [written(tmp_path / name, rows_of(study))])
    (person,) = answers.participants
    assert (person.name, person.slot, person.state, person.recruited) == ("P01", 0, "finished", "file")
    assert person.calibration_px_per_cm == 37.8
    assert person.began_at < person.ended_at
    assert [one.trial for one in answers.responses] == list(study.trials(0))
    asked = [one for one in answers.responses if one.trial.kind == "asked"]
    assert {one.values["answer"] for one in asked} == {RIGHT}
    assert {one.values["words"] for one in asked} == {'it "moves", =1'}
    assert {(one.n_plays, one.late_frames) for one in asked} == {(2, 2)}
    assert {e.kind for e in answers.events} == {
        "consented",
        "calibrated",
        "answered",
        "late-frames",
        "finished",
    }


def test_people_who_stopped_or_refused_are_told_apart(study, tmp_path):
    stopped = written(tmp_path / "a.json", rows_of(study)[:6])
    refused = {
        "study": study.mark,
        "slot": 2,
        "what": "consent",
        "pressed": "no",
        "at": "2026-01-01T10:00:00Z",
    }
    answers = read_jspsych(study, [stopped, written(tmp_path / "b.json", [refused])])
    assert [(one.name, one.state) for one in answers.participants] == [("P01", "begun"), ("P02", "declined")]
    assert not answers.participants[1].began_at


def changed(rows, **more):
    return [{**row, **more} if row.get("what") == "answered" else row for row in rows]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda rows: changed(rows, study="0" * 12),
            r"a.json, line 1 .entry 5.: of the study '000000000000'",
        ),
        (lambda rows: changed(rows, slot=7), "slot 7, 'answered'; expected slots 1 to 2"),
        (lambda rows: changed(rows, what="guessed"), "'guessed'; expected slots .* finished"),
        (lambda rows: changed(rows, place=99), "place 99 is none of slot 1"),
        (lambda rows: changed(rows, values='{"words": "x", "answer": "Q"}'), "entry 5.: answer: "),
        (lambda rows: changed(rows, values='{"words": "x"}'), "answer: empty; fill it in"),
        (lambda rows: changed(rows, values="{}", late="no"), "values or late frames cannot be read"),
        (lambda rows: changed(rows, late="[[9, 1, 30]]"), "2 plays in .* cannot be"),
        (lambda rows: changed(rows, n_plays="many"), "entry 5.: Expected `int`"),
        (lambda rows: rows[:1], "no row of a study"),
    ],
)
def test_rows_that_do_not_fit_are_named(study, tmp_path, change, said):
    path = written(tmp_path / "a.json", change(rows_of(study)))
    with pytest.raises(DataError, match=said):
        read_jspsych(study, [path])


def test_a_slot_is_for_one_person_and_a_saved_file_counts_once(study, tmp_path):
    first = written(tmp_path / "a.json", rows_of(study))
    assert len(read_jspsych(study, [first, first]).responses) == 5
    other = written(tmp_path / "b.json", rows_of(study, right=False))
    with pytest.raises(
        DataError, match=r"b.json, line 1 .entry 5.: another answer to place 0 of slot 1 than at .*a.json"
    ):
        read_jspsych(study, [first, other])
    (tmp_path / "c.json").write_bytes(b"[{")
    with pytest.raises(DataError, match=r"c.json:1: Input data was truncated; expected one JSON list"):
        read_jspsych(study, [tmp_path / "c.json"])
    (tmp_path / "d.json").write_text("[1]")
    with pytest.raises(DataError, match=r"d.json, line 1 .*; expected data of jsPsych, as JSON or CSV"):
        read_jspsych(study, [tmp_path / "d.json"])
    with pytest.raises(DataError, match=r"none.csv"):
        read_jspsych(study, [tmp_path / "none.csv"])


def test_a_folder_of_others_is_not_written_into(study, tmp_path):
    (folder := tmp_path / "mine").mkdir()
    (folder / "index.html").write_text("mine")
    with pytest.raises(UsageError, match=r"is not empty: it holds index\.html"):
        export_jspsych(study, folder)
    assert [(path.name, path.read_text()) for path in folder.iterdir()] == [("index.html", "mine")]


def test_what_the_folder_cannot_do_is_refused_as_a_whole(tmp_path):
    text = (
        STUDY
        + """
[[phases]]
name = "lights"
condition = "dots"
may_change = true
limit_s = 60.0
shows = ["question", "reference"]
[[phases]]
name = "again"
condition = "none"
items = "wrong"
[[form]]
name = "answer"
kind = "answer"
[[form]]
name = "why"
kind = "text"
needs = "answer=A"
"""
    )
    study = light_study(tmp_path / "study", text)
    with pytest.raises(UsageError) as error:
        export_jspsych(study, tmp_path / "lab")
    for words in ("has a clock", "may_change to false", "only the question", "'again' has a clock", "'why'"):
        assert words in str(error.value)
    assert not (tmp_path / "lab").exists()
