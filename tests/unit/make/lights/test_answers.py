"""Answers of people and the key: replies, participants, agreement, and files that do not fit."""

import csv
import io

import pytest

from vidence.errors import DataError
from vidence.make.lights.answers import read_answers, write_people
from vidence.make.lights.study import KEY_COLUMNS
from vidence.tables.export import csv_text

HEAD = "participant,trial_id,choice,description,describe_s,choose_s,plays_describing,plays_choosing\n"


def keyed(folder):
    """A key of four questions, the fourth of another form, and a catch trial; the second choice is right."""
    rows = []
    for n, kind in enumerate(("asked", "asked", "asked", "asked", "catch"), start=1):
        row = {
            "form": "2" if n == 4 else "1",
            "place": str(n),
            "trial_id": f"t{n}",
            "kind": kind,
            "right": "2",
        }
        row |= {"set": "single" if n < 3 else "social"}
        if kind == "asked":
            row |= {"item_id": f"clip{n}/label", "source_id": f"subject {n}"}
        row |= {f"choice_{i}": text for i, text in enumerate(("walk", "jump", "wave"), start=1)}
        row |= {f"letter_{i}": letter for i, letter in enumerate("CAB", start=1)}
        rows.append([row.get(name, "") for name in KEY_COLUMNS])
    (folder / "key.csv").write_text(csv_text([KEY_COLUMNS, *rows]))


def saved(folder, name, *rows):
    path = folder / name
    path.write_text(HEAD + "".join(f"{row}\n" for row in rows))
    return path


def cells(path):
    return list(csv.DictReader(io.StringIO(path.read_text())))


TWO = (
    "ann,t1,2,jumps,4,1,1,0",
    'ann,t2,1,"walks, I think",6,2,2,1',
    "ann,t3,2,jumps,5,1,1,0",
    "ann,t5,2,x,1,1,1,0",
    "ben,t1,2,hops,2,1,1,0",
    "ben,t2,3,waves,2,1,1,0",
    "ben,t3,2,hops,2,1,1,0",
    "ben,t5,1,x,1,1,1,0",
)


def test_two_people_in_one_file_are_two_replies_to_each_question(tmp_path):
    keyed(tmp_path)
    files, said = write_people([saved(tmp_path, "a.csv", *TWO)], tmp_path)
    assert [path.name for path in files] == ["people.csv", "participants.csv", "agreement.csv"]
    rows = cells(files[0])
    assert [(r["item_id"], r["sample"], r["participant"], r["text"]) for r in rows[:4]] == [
        ("clip1/label", "0", "ann", "Answer: A"),
        ("clip1/label", "1", "ben", "Answer: A"),
        ("clip2/label", "0", "ann", "Answer: C"),
        ("clip2/label", "1", "ben", "Answer: B"),
    ]
    assert rows[2]["description"] == "walks, I think"
    assert rows[2]["description_id"] == "clip2/label/description"
    assert said[0] == "2 people answered 3 questions, each by 2; as a run they are"
    assert said[1].endswith("--recorded-only --repeats 2")
    assert "missed by ben" in said[2]


def test_people_are_told_apart_and_compared(tmp_path):
    keyed(tmp_path)
    files, _ = write_people([saved(tmp_path, "a.csv", *TWO)], tmp_path)
    ann, ben = cells(files[1])
    assert (ann["participant"], ann["n_answered"], ann["catch_right"], ann["n_catch"]) == (
        "ann",
        "3",
        "1",
        "1",
    )
    assert (ann["right"], ann["right_single"], ann["right_social"]) == ("0.6667", "0.5", "1")
    assert (ann["describe_s_median"], ann["plays_mean"]) == ("5", "1.6667")
    assert ben["catch_right"] == "0"
    (pair,) = cells(files[2])
    assert (pair["n"], pair["both_right"], pair["both_wrong"]) == ("3", "2", "1")
    assert (pair["same_choice"], pair["kappa"]) == ("0.6667", "1")  # wrong together, but not alike


def test_people_who_saw_other_forms_count_where_they_answered(tmp_path):
    keyed(tmp_path)
    other = saved(tmp_path, "b.csv", "cem,t4,2,jumps,1,1,1,0")
    files, said = write_people([saved(tmp_path, "a.csv", *TWO), other], tmp_path)
    assert cells(files[0])[-1]["sample"] == "0"
    assert said[0].startswith("3 people answered 4 questions, each by 1 to 2")
    assert said[1].endswith("--repeats 1")
    assert cells(files[2])[1]["n"] == "0"


def test_a_file_that_was_saved_twice_counts_once(tmp_path):
    keyed(tmp_path)
    paths = [saved(tmp_path, name, *TWO) for name in ("a.csv", "b.csv")]
    assert len(read_answers(paths, tmp_path / "key.csv")) == len(TWO)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("ann,t9,2,x,1,1,1,0", "a.csv:2: the trial 't9' is not in"),
        ("ann,t1,4,x,1,1,1,0", "a.csv:2: .*choice.*expected 1 to 3"),
        (",t1,1,x,1,1,1,0", "a.csv:2: .*expected a code"),
        ("ann,t1,1,x,fast,1,1,0", "a.csv:2: .*describe_s"),
        ("ann,t1,1,x,1,1,-1,0", "a.csv:2: .*plays_describing"),
        ("ann,t1,1,x,1,1,1,0\nann,t1,2,x,1,1,1,0", "a.csv:3: another answer of 'ann'.*a.csv:2"),
        ("ann,t5,1,x,1,1,1,0", "no answer to a question"),
    ],
)
def test_what_does_not_fit_is_named_with_its_line(tmp_path, row, said):
    keyed(tmp_path)
    with pytest.raises(DataError, match=said):
        write_people([saved(tmp_path, "a.csv", row)], tmp_path)
