"""What a program gives in place of names: questions in memory, functions among the settings."""

import json
from pathlib import Path

import numpy as np
import pytest

from vidence.engine.caller_objects import benchmark_of, questions_of, spec_of, with_specs, written
from vidence.errors import DataError, UsageError
from vidence.records import Item, Media

ROW = {"item_id": "q1", "question": "Which?", "choices": ["x", "y"], "answer": "y"}


def test_the_same_questions_make_the_same_file(tmp_path):
    item = Item(item_id="q1", question="Which?", choices=("x", "y"), answer="B")
    path = written([ROW], tmp_path / "new")
    assert written([item], tmp_path / "new") == path
    assert written((row for row in [ROW]), tmp_path / "new") == path
    assert written([{**ROW, "answer": "x"}], tmp_path / "new") != path
    assert json.loads(path.read_text())["answer"] == "B"
    assert path.stat().st_mode & 0o077 == 0


def test_a_data_frame_gives_its_rows_without_empty_cells(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([ROW, {**ROW, "item_id": "q2", "source_id": "film"}])
    lines = [json.loads(line) for line in written(frame, tmp_path).read_text().splitlines()]
    assert [line.get("source_id") for line in lines] == [None, "film"]

    class Polars:
        def to_dicts(self):
            return [{**ROW, "rationale": None}]

    assert json.loads(written(Polars(), tmp_path).read_text())["item_id"] == "q1"


def test_paths_and_numbers_of_numpy_are_plain(tmp_path):
    media = [{"path": Path("a.mp4"), "start_s": np.float64(1.5)}]
    line = json.loads(
        written([{**ROW, "media": media, "choices": np.array(["x", "y"])}], tmp_path).read_text()
    )
    assert line["media"] == [{"path": "a.mp4", "start_s": 1.5}]
    assert Media(path="a.mp4").path == line["media"][0]["path"]


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        ([{**ROW, "anwser": "y"}], r"questions\[0\]: anwser: unknown field; did you mean 'answer'"),
        ([ROW, {**ROW, "item_id": "q2", "answer": "z"}], r"questions\[1\]: answer: 'z' is not among"),
        ([ROW, ROW], r"questions\[1\]: item_id: 'q1' was used before"),
        ([ROW, "q2"], r"questions\[1\] is str; expected a vidence.Item or a mapping"),
        ([{**ROW, "tags": {"a": object()}}], r"questions\[0\]: object .* cannot be a value of a question"),
        ([], "there are no questions"),
        (ROW, "dict holds no questions"),
        (3, "int holds no questions"),
    ],
)
def test_what_is_no_question_is_refused_with_its_place(tmp_path, questions, message):
    with pytest.raises(DataError, match=message):
        written(questions, tmp_path)
    assert not list(tmp_path.iterdir())


def test_names_and_paths_are_told_apart(tmp_path):
    assert benchmark_of("mmvu", None) == ("mmvu", None)
    assert benchmark_of("mmvuu", "data") == ("mmvuu", "data")
    assert benchmark_of("mmvuu", None) == ("mmvuu", None)  # make_plan names the nearest
    assert benchmark_of(tmp_path, None) == ("table", tmp_path)
    with pytest.raises(UsageError, match="both given"):
        benchmark_of([ROW], "data")


def test_settings_that_are_functions_become_specs():
    settings = with_specs({"selector": lambda n_frames: [0], "parser": "robust", "limit": 2}, chance="7")
    assert settings["selector"].startswith("python:lambda@once-7-selector")
    assert (settings["parser"], settings["limit"]) == ("robust", 2)
    with pytest.raises(UsageError, match="model= is None; give a function"):
        spec_of(None, chance="7")


def test_questions_may_stand_in_the_place_of_a_file_for_table_alone():
    assert questions_of("table", [ROW]) == [ROW]
    for benchmark in ("mmvu", [ROW]):
        with pytest.raises(UsageError, match="expected evaluate\\(questions, model="):
            questions_of(benchmark, [ROW])
