"""Results of other tools as runs: what is read, what is written, and what is said."""

import json
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest

from conftest import need
from subjects.layouts import BOTH, DOG, LAYOUTS, LMMS, MILK, inspect_log, lines_file, workbook
from vidence.engine.environment import environment
from vidence.engine.events import Event, Started, TrialStored
from vidence.engine.importing import (
    Log,
    default_import_folder,
    import_log,
    model_of,
    read_log,
    result_presets,
)
from vidence.engine.plan import Plan, read_plan
from vidence.engine.prepare import make_plan
from vidence.engine.store import RunStore
from vidence.errors import DataError, StoreError, UsageError
from vidence.records import Failed, Trial

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def imported(
    log: Log, folder: Path, *, events: list[Event] | None = None, **overrides: object
) -> tuple[int, list[Trial]]:
    events = [] if events is None else events

    async def work() -> int:
        return await import_log(
            log, folder, overrides=overrides, environment=environment(), now=NOW, on_event=events.append
        )

    n_without = anyio.run(work)
    with RunStore(folder) as store:
        return n_without, list(store.trials())


def questions(folder: Path, rows: list[dict[str, object]]) -> Plan:
    path = lines_file(rows, "questions.jsonl")(folder)
    return make_plan("table", data=path, model="baseline:random", overrides={})


OURS: list[dict[str, object]] = [
    {"item_id": f"our-{n}", "media": [{"path": f"{one.video}.mp4"}], "question": one.question}
    | {"choices": list(one.choices), "answer": one.letter}
    for n, one in enumerate(BOTH)
]


def test_the_presets_with_replies_are_those_that_can_be_imported() -> None:
    expected = {"lmms-eval", "vlmevalkit", "vlmevalkit-video", "inspect", "vlm4d"}
    assert expected <= set(result_presets()) <= set(LAYOUTS)


def test_a_log_of_lmms_eval_becomes_a_run(tmp_path: Path) -> None:
    path = LAYOUTS["lmms-eval"].write(tmp_path)
    (tmp_path / "20260101_000000_results.json").write_text('{"model_name": "lab/tiny-7b", "results": {}}')
    log = read_log(path, "lmms-eval")
    assert (log.model, [item.benchmark for item in log.items]) == ("lab/tiny-7b", ["bowls", "bowls"])
    assert [item.question for item in log.items] == [MILK.question, DOG.question]
    events: list[Event] = []
    _, trials = imported(log, tmp_path / "run", events=events)
    assert [(t.item_id, t.score.value) for t in trials] == [("0", 1.0), ("1", 0.0)]
    begun, *stored = (one for one in events if isinstance(one, Started | TrialStored))
    assert begun == Started(n_planned=2, n_answered_before=0)
    assert stored == [TrialStored(trial=one, cost=0.0) for one in trials]
    assert trials[0].reply is not None
    assert trials[0].reply.text == "<think>first milk</think>B"
    assert trials[0].prompt is not None
    assert trials[0].prompt.text.endswith("Give a letter.")
    assert [t.reply.logged for t in trials if t.reply] == [1.0, 0.0]
    plan, facts = read_plan(tmp_path / "run")
    assert plan.model.startswith(f"replay:{tmp_path / 'run' / 'tiny-7b.jsonl'}?asked=imported")
    assert "which vidence did not ask" in facts.notes[0]


def test_rows_of_a_log_are_rows_of_the_questions(tmp_path: Path) -> None:
    bare = [{k: v for k, v in row.items() if k != "input"} for row in reversed(LMMS)]
    path = lines_file(bare, "1_samples_bowls.jsonl")(tmp_path)
    log = read_log(path, "lmms-eval", questions=questions(tmp_path, OURS), model="me")
    assert [(one.item_id, one.text[-4:]) for one in log.replies] == [("our-1", "(C)"), ("our-0", "nk>B")]
    assert log.items[0].media[0].path == "garden.mp4"
    _, trials = imported(log, tmp_path / "run")
    assert {t.item_id: t.score.value for t in trials} == {"our-0": 1.0, "our-1": 0.0}
    assert read_plan(tmp_path / "run")[0].media == str(tmp_path)


def test_rows_are_not_counted_in_questions_of_which_some_are_bad(tmp_path: Path) -> None:
    path = LAYOUTS["lmms-eval"].write(tmp_path)
    with pytest.raises(DataError, match="counts rows, and 1 rows of the questions cannot be used"):
        read_log(path, "lmms-eval", questions=questions(tmp_path, [*OURS, {"item_id": "x"}]))


def test_questions_are_found_by_their_ids(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"id": "our-1", "say": "D"},
        {"id": "other", "say": "A"},
        {"id": "our-1", "say": "A"},
    ]
    path = lines_file(rows, "said.jsonl")(tmp_path)
    own = "item_id=id,question=id,answer=id,reply.text=say"
    log = read_log(path, own, questions=questions(tmp_path, OURS))
    assert [one.item_id for one in log.replies] == ["our-1"]
    assert "'other' found; expected the id of a question" in log.problems[0]
    assert "'our-1' is there twice; name the column" in log.problems[1]


@pytest.mark.parametrize("name", ["tiny_Bowls.xlsx", "tiny_Bowls.tsv", "tiny_Bowls.json"])
def test_predictions_of_vlmevalkit_become_a_run(tmp_path: Path, name: str) -> None:
    rows: list[dict[str, object]] = [
        {"index": n, "video": one.video, "question": one.question}
        | dict(zip("ABCDE", one.choices, strict=True))
        | {
            "answer": one.letter,
            "prediction": None if one is DOG else one.said,
            "score": 1 if one is MILK else 0,
        }
        for n, one in enumerate(BOTH)
    ]
    text = (
        "\t".join(rows[0])
        + "\n"
        + "".join("\t".join("" if v is None else str(v) for v in row.values()) + "\n" for row in rows)
    )
    content = {"xlsx": workbook(rows), "tsv": text.encode(), "json": json.dumps(rows).encode()}
    (tmp_path / name).write_bytes(content[name.rpartition(".")[2]])
    log = read_log(tmp_path / name, "vlmevalkit")
    assert log.model == "tiny_Bowls"
    n_without, trials = imported(log, tmp_path / "run")
    assert trials[0].score.value == 1.0
    if name.endswith("tsv"):  # an empty cell may be an empty reply
        return
    assert isinstance(trials[1].score.outcome, Failed)
    assert (len(log.replies), n_without) == (1, 1)


def test_predictions_with_a_list_of_candidates_are_known_by_their_columns(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"index": n, "video": one.video, "question": one.question, "candidates": str(one.labelled)}
        | {"answer": one.letter, "prediction": one.said}
        for n, one in enumerate(BOTH)
    ]
    (tmp_path / "tiny_Video-MME.xlsx").write_bytes(workbook(rows))
    log = read_log(tmp_path / "tiny_Video-MME.xlsx", "vlmevalkit")
    assert [(item.choices, item.answer) for item in log.items] == [(one.choices, one.letter) for one in BOTH]


def test_epochs_of_inspect_are_repeats(tmp_path: Path) -> None:
    log = read_log(inspect_log(tmp_path, epochs=2), "inspect")
    assert log.model == "tiny"
    _, trials = imported(log, tmp_path / "run")
    assert [(t.item_id, t.repeat, t.score.value) for t in trials] == [
        *(("q1", 0, 1.0), ("q1", 1, 1.0)),
        *(("q2", 0, 0.0), ("q2", 1, 0.0)),
    ]
    assert trials[2].reply is not None
    assert (trials[2].reply.text, trials[2].reply.reasoning, trials[2].reply.model) == (
        "(C) up",
        "hm",
        "tiny",
    )
    assert [t.reply.logged for t in trials if t.reply] == [1.0, 1.0, 0.0, 0.0]
    assert read_plan(tmp_path / "run")[0].repeats == 2


def test_a_free_answer_has_the_verdict_of_the_log(tmp_path: Path) -> None:
    rows = [
        {"item_id": f"o{n}", "question": "Which?", "answer": "dog", "answer_kind": "text"} for n in range(4)
    ]
    said = [("a hound", 1.0), ("a cat", 0.0), ("", 1.0), ("a dog", None)]
    log = [
        {"doc_id": n, "target": "dog", "filtered_resps": text, "accuracy": {"correct": mark}}
        for n, (text, mark) in enumerate(said)
    ]
    path = lines_file(log, "1_samples_mmvu_val.jsonl")(tmp_path)
    _, trials = imported(read_log(path, "lmms-eval", questions=questions(tmp_path, rows)), tmp_path / "run")
    # lmms-eval finds no words in every right answer; without a mark a judge is waited for.
    assert [t.score.value for t in trials] == [1.0, 0.0, 0.0, None]
    assert [[v.value for v in t.score.verdicts] for t in trials] == [[1.0], [0.0], [0.0], []]
    assert [t.score.scorer for t in trials] == ["lmms-eval"] * 3 + ["needs-judge"]
    assert [t.reply.logged for t in trials if t.reply] == [1.0, 0.0, 1.0, None]


def test_an_import_never_writes_into_another_run(tmp_path: Path) -> None:
    log = read_log(LAYOUTS["lmms-eval"].write(tmp_path), "lmms-eval")
    imported(log, tmp_path / "run")
    with pytest.raises(StoreError, match="holds a run already"):
        imported(log, tmp_path / "run")
    assert default_import_folder(log).name.startswith("imported-")


def test_what_cannot_be_imported_is_said(tmp_path: Path) -> None:
    path = lines_file([{"doc_id": 0, "target": "B", "input": MILK.prompt}], "1_samples_b.jsonl")(tmp_path)
    with pytest.raises(DataError, match=r"holds no reply in 'resps\|filtered_resps'"):
        read_log(path, "lmms-eval")
    with pytest.raises(UsageError, match=r"has no reply\.text"):
        read_log(path, "video-mme")
    lines_file(LMMS, "2_samples_b.jsonl")(tmp_path)
    with pytest.raises(DataError, match="holds 2 such files"):
        read_log(tmp_path, "lmms-eval")
    assert model_of(tmp_path / "1_samples_b.jsonl") == tmp_path.name
    (tmp_path / "1_results.json").write_text("{")
    assert model_of(tmp_path / "1_samples_b.jsonl") == tmp_path.name


@pytest.mark.parity
def test_predictions_on_vlm4d_score_as_their_authors_scored_them(data_dir: Path, tmp_path: Path) -> None:
    """WHERE FROM: the column ``correct`` of the authors' own results; one question has no single answer."""
    folder = need(data_dir / "predictions" / "vlm4d" / "direct")
    n_differing = {}
    for path in sorted(folder.glob("*.json.gz"))[:3]:
        log = read_log(path, "vlm4d")
        assert (len(log.items), len(log.problems)) == (1370, 1)
        _, trials = imported(log, tmp_path / path.name.partition(".")[0])
        n_differing[path.name] = sum(t.score.value != t.reply.logged for t in trials if t.reply)
    assert max(n_differing.values()) <= 15, n_differing
