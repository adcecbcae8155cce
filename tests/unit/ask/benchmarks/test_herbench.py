"""HERBench in the shape of its release, on a sample written by hand."""

import gzip
import json
import shutil
from pathlib import Path
from typing import cast

import msgspec
import pytest

from vidence.ask.benchmarks import herbench
from vidence.ask.benchmarks.herbench import evidence
from vidence.ask.benchmarks.paper_facts import paper_facts
from vidence.contracts import Loaded
from vidence.errors import DataError
from vidence.media.files import missing
from vidence.records import Evidence

SAMPLE = Path(__file__).parents[3] / "golden" / "herbench"
ORDER = "temporal_shot_ordering.json"
Entry = dict[str, object]


def load(data: Path, *, strict: bool = False) -> Loaded:
    return herbench.create().load(data, split="all", strict=strict)


def entries(name: str = ORDER) -> list[Entry]:
    return cast("list[Entry]", json.loads((SAMPLE / "tasks" / name).read_text(encoding="utf-8")))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the sample that a test may change."""
    shutil.copytree(SAMPLE, tmp_path / "data")
    return tmp_path / "data"


def rewrite(folder: Path, rows: list[Entry], name: str = ORDER) -> Path:
    path = folder / "tasks" / name
    path.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return path


def change(folder: Path, **changes: object) -> Loaded:
    """The sample with the second question of the shot ordering changed; None takes a field away."""
    rows = entries()
    rows[1] = {name: value for name, value in (rows[1] | changes).items() if value is not None}
    rewrite(folder, rows)
    return load(folder)


def test_questions_come_in_the_order_of_the_files_with_bare_choices_and_evidence() -> None:
    found = load(SAMPLE)
    assert [item.item_id for item in found.items] == [
        "AC_0000",
        "MEGL_0000",
        "SVA_0000",
        "TSO_0000",
        "TSO_0001",
    ]
    order = found.items[3]
    assert order.choices[0] == "1->2->3->4"
    assert order.choices[2] == "At least two of these are not in the video."
    assert order.answer == "B"
    assert order.media[0].path == "videos/trailers/shots.mp4"
    assert order.tags == {"task": "TSO", "family": "TR&C", "n_evidence": "4", "source": "trailers"}
    assert {item.tags["family"] for item in found.items} == {"TR&C", "GC&V", "MEA&N"}
    counting = load(SAMPLE).items[0]
    assert counting.evidence == (
        Evidence(kind="oracle", start_s=0.5, end_s=0.7),
        Evidence(kind="oracle", start_s=1.5, end_s=1.7),
        Evidence(kind="oracle", start_s=3.0, end_s=3.2),
    )
    notes = load(SAMPLE).notes
    assert any(note.startswith("8 of the 12 tasks are not there (MPDR, ASII, AGBI") for note in notes)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Action Sequence Integrity & Identification", "ASII"),
        ("Action Sequence Integrity Identification", "ASII"),
        ("appearance_grounded_behavior_and_interactions", "AGBI"),
        ("MULTI-PERSON DURATION REASONING", "MPDR"),
        ("Region Localized People Counting", "RLPC"),
        ("sva", "SVA"),
        (None, "TSO"),
    ],
)
def test_a_task_is_known_in_every_spelling(folder: Path, name: str | None, code: str) -> None:
    assert change(folder, task_type=name).items[4].tags["task"] == code


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"answer_choice": None}, "answer_choice: absent; expected one of A, B, C, D, E"),
        ({"answer_choice": "F"}, "answer_choice: 'F' found"),
        ({"answer_choice": "b"}, "answer_choice: 'b' found"),
        ({"task_type": "Temporal Shoot Ordering"}, "did you mean Temporal Shot Ordering (TSO)?"),
        ({"task_type": "Cooking"}, "task_type: 'Cooking' found; expected one of TSO, MPDR, ASII"),
        ({"video_path": None}, "video_path: absent; this field is required"),
        ({"candidates": ["A. x", "C. y", "B. z"]}, "candidates[1]: 'C. y' found"),
        ({"candidates": ["A. x", "y", "C. z"]}, "candidates[1]: 'y' found among choices with letters"),
        ({"candidates": ["A. x", "B. ", "C. z"]}, "choices[1]: empty"),
    ],
)
def test_a_bad_question_is_left_out_and_named_with_file_and_id(folder, changes, said):
    found = change(folder, **changes)
    assert [item.item_id for item in found.items] == ["AC_0000", "MEGL_0000", "SVA_0000", "TSO_0000"]
    (problem,) = found.problems
    assert problem.startswith(f"{ORDER}:")
    assert said in problem
    assert problem.endswith("(question 'TSO_0001')")
    with pytest.raises(DataError, match=r"temporal_shot_ordering\.json.*TSO_0001.*strict"):
        load(folder, strict=True)


def test_unknown_files_and_what_is_no_list_are_refused(folder: Path) -> None:
    rows = [{name: v for name, v in row.items() if name != "task_type"} for row in entries()]
    (folder / "tasks" / ORDER).unlink()
    rewrite(folder, rows, "temporal_shots.json")
    found = load(folder)
    assert len(found.items) == 3
    assert len(found.problems) == 2
    assert (
        "file name: 'temporal_shots' found; did you mean Temporal Shot Ordering (TSO)?" in found.problems[0]
    )
    (folder / "tasks" / ORDER).write_text('{"questions": []}', encoding="utf-8")
    with pytest.raises(DataError, match=r"temporal_shot_ordering\.json is not a list"):
        load(folder)


def test_an_id_that_was_used_is_refused_with_both_places(folder: Path) -> None:
    rows = entries("action_counting.json")
    rewrite(folder, [*entries(), rows[0]])
    found = load(folder)
    (problem,) = found.problems
    assert problem.startswith(f"{ORDER}:")
    assert "'AC_0000' was used in action_counting.json:2 before" in problem
    assert len(found.items) == 5
    rewrite(folder, [*entries(), entries()[0]])
    (problem,) = load(folder).problems
    assert f"'TSO_0000' was used in {ORDER}:" in problem


def table(folder: Path, rows: list[Entry], name: str = "lite/test-00000-of-00001.parquet") -> Path:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=2)
    return path


def every_entry() -> list[Entry]:
    return [row for path in sorted((SAMPLE / "tasks").glob("*.json")) for row in entries(path.name)]


def test_a_table_gives_the_questions_of_the_task_files(tmp_path: Path) -> None:
    table(tmp_path, every_entry())
    found, expected = load(tmp_path), load(SAMPLE)
    plain = [msgspec.structs.replace(item, provenance=None) for item in found.items]
    assert plain == [msgspec.structs.replace(item, provenance=None) for item in expected.items]
    assert found.revision.startswith("lite (")
    assert load(tmp_path / "lite").content_hash == found.content_hash


def test_a_table_may_have_other_names_texts_and_an_index(tmp_path: Path) -> None:
    rows: list[Entry] = []
    for row in every_entry():
        metadata = cast("Entry", row.get("metadata") or {})
        letter = str(row.get("answer_choice") or "")
        rows.append(
            {
                "id": row["question_id"],
                "video": row["video_path"],
                "video_id": row.get("video_id"),
                "question": row["question"],
                "choices": json.dumps(row["candidates"]),
                "answer_idx": "ABCDE".index(letter) if letter else None,
                "task": row.get("task_type"),
                "timestamps": metadata.get("timestamps"),
                "source": metadata.get("source_dataset"),
                "frames": b"not read",
            }
        )
    table(tmp_path, rows)
    by_id = {item.item_id: item for item in load(SAMPLE).items}
    for item in load(tmp_path).items:
        expected = by_id[item.item_id]
        for field in ("answer", "choices", "evidence"):
            assert getattr(item, field) == getattr(expected, field)


def test_other_tables_are_refused(tmp_path: Path) -> None:
    table(tmp_path, [{"question_id": "1", "question": "?", "clip": "x.mp4"}])
    expected = r"these columns were found: question_id, question, clip; these are needed, too: video_path or"
    with pytest.raises(DataError, match=expected):
        load(tmp_path)
    for name in ("full/a.parquet", "lite/b.parquet"):
        table(tmp_path, every_entry(), name)
    with pytest.raises(DataError, match=r"several configurations; name one of .*full, .*lite"):
        load(tmp_path)


@pytest.mark.parametrize(
    "changes",
    [{"answer_index": 0}, {"answer_text": "1->2->3->4"}, {"answer_index": 4, "answer_text": "another"}],
)
def test_the_letter_decides_where_the_answers_differ(folder: Path, changes: dict[str, object]) -> None:
    found = change(folder, **changes)
    assert found.items[4].answer == "C"
    assert found.problems == ()
    assert any("answer_index or answer_text" in n and n.endswith(": TSO_0001") for n in found.notes)


@pytest.mark.parametrize(
    "changes",
    [
        {"answer_index": None, "answer_text": None},
        {"answer_text": "C. At least two of these are not in the video."},
        {"answer_text": " At least two of these are not in the video. "},
    ],
)
def test_answers_that_agree_are_not_noted(folder: Path, changes: dict[str, object]) -> None:
    assert not any("answer_index" in note for note in change(folder, **changes).notes)


@pytest.mark.parametrize("stamps", [["soon"], "00:01.0-00:02.0", [3], ["00:05.0-00:04.0"], {"a": 1}])
def test_time_stamps_that_cannot_be_read_cost_the_evidence_only(folder: Path, stamps: object) -> None:
    found = change(folder, metadata={"timestamps": stamps})
    assert found.items[4].evidence == ()
    assert found.items[4].tags["n_evidence"] == "0"
    assert "source" not in found.items[4].tags
    assert any("time stamps" in note and note.endswith(": TSO_0001") for note in found.notes)
    found = change(folder, metadata=None)
    assert found.items[4].evidence == ()
    assert not any("time stamps" in note for note in found.notes)


def test_what_is_odd_about_tasks_and_choices_is_noted(folder: Path) -> None:
    found = change(folder, task_type="Action Counting")
    assert found.items[4].tags["task"] == "AC"
    assert any("in the file of another task" in note for note in found.notes)
    found = change(folder, candidates=["An apple", "Bread", "Cheese"], answer_text="Cheese", answer_index=2)
    assert found.items[4].choices == ("An apple", "Bread", "Cheese")
    assert any("another number of choices than 5" in note for note in found.notes)
    row = entries()[0]
    codes = paper_facts("herbench").lists["tasks"]
    rewrite(folder, [row | {"question_id": f"Q{i}", "task_type": code} for i, code in enumerate(codes)])
    assert not any("tasks are not there" in note for note in load(folder).notes)
    (folder / "tasks" / ORDER).rename(folder / "tasks" / "shots.json")
    assert any(note.startswith("shots.json has the name of no task") for note in load(folder).notes)


@pytest.mark.parametrize(
    ("name", "revision"),
    [
        ("lite", "lite (5 questions)"),
        ("HERBench-lite-v2", "lite_v2 (5 questions)"),
        ("full", "full (5 questions)"),
        ("mine", "unknown (5 questions)"),
    ],
)
def test_the_configuration_is_told_by_the_folder(tmp_path: Path, name: str, revision: str) -> None:
    shutil.copytree(SAMPLE, tmp_path / name)
    found = load(tmp_path / name)
    assert found.revision == revision
    assert {item.provenance.revision for item in found.items if item.provenance} == {revision}
    assert any("none of the known configurations" in note for note in found.notes) is (name == "mine")


def test_the_configuration_is_told_by_the_number_of_questions(tmp_path: Path) -> None:
    row = entries()[0]
    (tmp_path / "tasks").mkdir()
    path = tmp_path / "tasks" / ORDER
    path.write_text(json.dumps([row | {"question_id": f"TSO_{i:05}"} for i in range(1_971)]))
    found = load(tmp_path)
    assert len(found.items) == 1_971
    assert found.revision == "lite_v2 (1,971 questions)"
    # The same of the larger ones, whose questions need not be read for it.
    for n, config in ((26_806, "full, as in the paper"), (27_936, "full, later release")):
        assert herbench._revision(n, tmp_path, tmp_path / "tasks") == f"{config} ({n:,} questions)"


@pytest.mark.parametrize("place", [".", "data"])
def test_the_tasks_are_found_under_a_clone_or_its_data(tmp_path: Path, place: str) -> None:
    shutil.copytree(SAMPLE, tmp_path / place, dirs_exist_ok=True)
    found = load(tmp_path)
    assert len(found.items) == 5
    assert missing(found.media_root, found.items) == ()


def test_the_folder_of_tasks_and_one_task_file_are_enough(folder: Path, tmp_path: Path) -> None:
    assert load(folder / "tasks").media_root == folder
    one = load(folder / "tasks" / ORDER)
    assert [item.item_id for item in one.items] == ["TSO_0000", "TSO_0001"]
    assert one.media_root == folder
    (folder / "videos").rename(folder / "tasks" / "videos")
    assert load(folder).media_root == folder / "tasks"
    shutil.copytree(SAMPLE / "tasks", tmp_path / "bare")
    (tmp_path / "bare" / "._action_counting.json").write_bytes(b"\0")
    found = load(tmp_path / "bare")
    assert len(found.items) == 5
    assert found.media_root == tmp_path / "bare"


def test_the_hash_is_that_of_all_files_gzipped_or_not(folder: Path) -> None:
    before = load(folder).content_hash
    path = folder / "tasks" / ORDER
    (folder / "tasks" / f"{ORDER}.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert load(folder).content_hash == before
    rewrite(folder, entries("action_counting.json"), "action_counting.json")
    assert load(folder).content_hash != before


def test_the_protocols_are_the_papers_and_the_released_code() -> None:
    protocols = herbench.create().protocols
    assert list(protocols) == ["paper", "official", "oracle", "oracle-only"]
    paper = protocols["paper"]
    assert (paper.selector, paper.frames, paper.style) == ("herbench-uniform", 16, "direct")
    assert (paper.sampling.temperature, paper.sampling.max_tokens) == (0.0, 50)
    assert (paper.parser, paper.headline) == ("robust", "macro:task")
    assert (protocols["official"].parser, protocols["official"].headline) == ("herbench-official", "answered")
    assert protocols["oracle"].selector == "evidence"
    assert protocols["oracle-only"].selector == "evidence:only"


@pytest.mark.parametrize(
    ("changes", "source"),
    [
        ({"video_path": "videos/trailers/a.mp4", "video_id": "tt1"}, "videos/trailers/tt1"),
        ({"video_path": "videos/trailers/a.mp4", "video_id": None}, "videos/trailers/a.mp4"),
        ({"video_path": "videos/WildTrack/cam3.mp4", "video_id": "cam3"}, "WildTrack"),
        ({"video_path": "videos/a.mp4", "metadata": {"source_id": "a film"}}, "a film"),
    ],
)
def test_the_source_is_the_film_or_the_recording(folder: Path, changes: Entry, source: str) -> None:
    found = change(folder, **changes)
    assert (
        next(item for item in found.items if item.item_id == entries()[1]["question_id"]).source_id == source
    )


def seconds(stamps: object) -> list[tuple[float | None, float | None]] | None:
    found = evidence(stamps)
    return None if found is None else [(one.start_s, one.end_s) for one in found]


@pytest.mark.parametrize(
    ("stamp", "start_s", "end_s"),
    [
        ("00:08.0-00:09.0", 8.0, 9.0), ("02:04.9-02:06.0", 124.9, 126.0), ("2:04-2:06", 124.0, 126.0),
        ("01:02:03.5-01:02:04.5", 3723.5, 3724.5), ("59:59.5-01:00:01.0", 3599.5, 3601.0),
        ("75:00.0-76:00.0", 4500.0, 4560.0), (" 00:01.0 - 00:02.0 ", 1.0, 2.0),
        ("00:01.0\N{EN DASH}00:02.0", 1.0, 2.0), ("00:08.0-00:08.0", 8.0, 8.1), ("00:08.0", 8.0, 8.1),
    ],
)  # fmt: skip
def test_a_stamp_is_a_span_in_seconds(stamp: str, start_s: float, end_s: float) -> None:
    assert seconds([stamp, "00:01.0-00:02.0"]) == [(start_s, end_s), (1.0, 2.0)]
    assert seconds(None) == seconds([]) == []


@pytest.mark.parametrize(
    "wrong",
    [
        "00:08.0-00:09.0", ["8.0-9.0"], ["00:09.0-00:08.0"], ["-00:01.0-00:02.0"], ["00:01.0-"],
        ["00:01.0-00:02.0", None], [1.5], {"start": 1},
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_none(wrong: object) -> None:
    assert seconds(wrong) is None
