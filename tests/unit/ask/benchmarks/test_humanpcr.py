"""Our format for HumanPCR, on a sample written by hand."""

import gzip
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import cast

import pytest

from vidence.ask.benchmarks import humanpcr
from vidence.contracts import Loaded
from vidence.engine.plan import Plan
from vidence.engine.prepare import make_plan
from vidence.errors import DataError
from vidence.media.files import missing

SAMPLE = Path(__file__).parents[3] / "golden" / "humanpcr"
Entry = dict[str, object]


def load(data: Path, *, split: str = "all", strict: bool = False) -> Loaded:
    return humanpcr.create().load(data, split=split, strict=strict)


def entries(name: str) -> list[Entry]:
    lines = (SAMPLE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return cast("list[Entry]", [json.loads(line) for line in lines])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the sample that a test may change."""
    shutil.copytree(SAMPLE, tmp_path / "data")
    return tmp_path / "data"


def rewrite(folder: Path, name: str, rows: list[Entry]) -> Path:
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def change(folder: Path, name: str, **changes: object) -> Loaded:
    """The sample with the first question of a file changed; None takes a field away."""
    rows = entries(name)
    rows[0] = {field: value for field, value in (rows[0] | changes).items() if value is not None}
    rewrite(folder, name, rows)
    return load(folder)


def test_every_level_and_every_kind_of_media_is_read() -> None:
    found = load(SAMPLE)
    assert [item.item_id for item in found.items] == ["p-1", "p-2", "p-3", "c-1", "c-2", "r-1", "r-2"]
    assert Counter(one.tags["level"] for one in found.items).most_common(1) == [("perception", 3)]
    assert [item.tags["media_type"] for item in found.items] == [
        "image", "image", "images", "video", "images", "video", "video",
    ]  # fmt: skip
    assert found.revision == "no release (5 choice, 2 open questions)"


def test_questions_have_a_task_or_evidence_rationale_and_hints() -> None:
    first, second, third = load(SAMPLE, split="human-pc").items[:3]
    assert first.answer == "B"
    assert first.choices[1] == "To the left of the ball"
    assert first.tags == {
        "level": "perception",
        "dimension": "Spatiality",
        "task": "Spatial Relation",
        "media_type": "image",
    }
    assert second.tags["dimension"] == "Posture"
    assert [media.path for media in third.media] == [f"images/hat-{n}.png" for n in (1, 2, 3)]
    assert {media.kind for media in third.media} == {"image"}
    assert third.provenance is not None
    assert third.provenance.source == "drawn for vidence"
    first, second = load(SAMPLE, split="human-r").items
    assert (first.answer_kind, first.choices) == ("text", ())
    assert first.rationale.startswith("One figure holds the ball")
    assert [one.kind for one in first.evidence] == ["referred", "proactive"]
    assert len(first.hints) == 3
    assert first.tags == {
        "level": "reasoning",
        "reasoning": "Causal Reasoning",
        "domain": "Household",
        "media_type": "video",
        "n_evidence": "2",
        "n_proactive": "1",
        "evidence_group": "2-3",
    }
    assert second.tags["reasoning"] == "Counter-Factual Reasoning"
    assert second.tags["domain"] == "Sports"
    assert (second.tags["n_evidence"], second.tags["n_proactive"]) == ("4", "2")
    assert second.evidence == ()


@pytest.mark.parametrize(
    ("counts", "group"),
    [((1, 0), "0-1"), ((1, 1), "2-3"), ((2, 1), "2-3"), ((2, 2), "4-5"), ((2, 3), "4-5"), ((3, 3), "6+")],
)
def test_evidence_is_grouped_as_in_the_paper(folder: Path, counts: tuple[int, int], group: str) -> None:
    found = change(folder, "human-r", evidence=[], n_referred=counts[0], n_proactive=counts[1])
    assert found.items[5].tags["evidence_group"] == group


def test_more_evidence_may_be_counted_than_listed_or_none(folder: Path) -> None:
    assert change(folder, "human-r", n_referred=3).items[5].tags["n_evidence"] == "4"
    tags = change(folder, "human-r", evidence=[]).items[5].tags
    assert not {"n_evidence", "n_proactive", "evidence_group"} & tags.keys()


@pytest.mark.parametrize("name", ["humanpcr.jsonl", "humanpcr.json", "humanpcr.json.gz"])
def test_one_file_can_hold_all_levels(tmp_path: Path, name: str) -> None:
    rows = [row for level in ("human-p", "human-c", "human-r") for row in entries(level)]
    is_list = ".jsonl" not in name
    text = json.dumps(rows) if is_list else "\n".join(map(json.dumps, rows))
    (tmp_path / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    for data in (tmp_path, tmp_path / name):
        assert len(load(data).items) == 7
        assert [item.item_id for item in load(data, split="human-r").items] == ["r-1", "r-2"]
        assert len(load(data, split="human-pc").items) == 5
        assert load(data).media_root == tmp_path
        assert not any("not there" in note for note in load(data).notes)


def test_a_split_reads_only_its_files_and_notes_what_is_missing(folder: Path) -> None:
    (folder / "human-r.jsonl").write_text("not JSON\n", encoding="utf-8")
    assert load(folder, split="human-pc").problems == ()
    assert len(load(folder).problems) == 1
    (folder / "human-c.jsonl").unlink()
    assert any(note.startswith("human-c is not there") for note in load(folder, split="human-pc").notes)
    (folder / "human-r.jsonl").unlink()
    with pytest.raises(DataError, match=r"holds none of human-r\.jsonl, humanpcr\.jsonl.*nothing is rel"):
        load(folder, split="human-r")


def test_images_that_are_missing_from_a_question_about_several_are_listed(folder: Path) -> None:
    for name in ("hat-1", "hat-3"):
        (folder / "images" / f"{name}.png").unlink()
    found = load(folder)
    assert missing(found.media_root, found.items) == tuple(folder / f"images/hat-{n}.png" for n in (1, 3))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"n_images": 3}, "n_images: 3 declared, 1 listed in media"),
        ({"media": []}, "media: none; expected one video, or one or several images"),
        ({"media": [{"path": "a.jpg"}]}, "media[0].kind: 'video' for a.jpg; expected 'image'"),
        (
            {"media": [{"path": "a.png", "kind": "image"}, {"path": "b.mp4"}]},
            "media: 2 found, 1 of them images; expected one video, or only images",
        ),
    ],
)
def test_media_that_do_not_make_a_question_are_refused(folder: Path, changes: Entry, said: str) -> None:
    rows = entries("human-p")
    rewrite(folder, "human-p", [{**rows[0], "n_images": None} | changes, *rows[1:]])
    (problem,) = load(folder).problems
    assert problem.startswith("human-p.jsonl:1: ")
    assert said in problem
    assert problem.endswith("(question 'p-1')")


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        ("human-p", {"level": "percepton"}, "level: 'percepton' found; did you mean perception?"),
        ("human-p", {"level": "comprehension"}, "level: 'comprehension' found in human-p.jsonl; expected"),
        ("human-p", {"dimension": "Spaciality"}, "'Spaciality' found; did you mean Spatiality?"),
        ("human-p", {"dimension": "Scene"}, "dimension: Scene is of comprehension; expected one of"),
        ("human-p", {"dimension": None}, "dimension: absent; a question of perception has one"),
        ("human-p", {"task": None}, "task: absent; a question of perception has one"),
        ("human-p", {"answer": "To the left of the ball"}, "expected one of A, B, C, D"),
        ("human-r", {"reasoning": "Casual"}, "'Casual' found; did you mean Causal (Causal Reasoning)?"),
        ("human-r", {"reasoning": None}, "reasoning: absent; expected one of Causal Reasoning, Prediction"),
        ("human-r", {"domain": "Sport"}, "domain: 'Sport' found; did you mean Sports?"),
        ("human-r", {"domain": None}, "domain: absent"),
        ("human-r", {"task": "Reasoning"}, "task: 'Reasoning' found; a question of reasoning has none"),
        ("human-r", {"options": ["a", "b"]}, "options: 2 found; a question of reasoning is open"),
        ("human-r", {"n_proactive": 0}, "n_proactive: 0 found, 1 listed in evidence"),
    ],
)
def test_what_is_wrong_is_named_with_file_line_and_id(folder, name, changes, said):
    found = change(folder, name, **changes)
    assert len(found.items) == 6
    (problem,) = found.problems
    assert problem.startswith(f"{name}.jsonl:1: ")
    assert said in problem
    assert problem.endswith(f"(question '{name[-1]}-1')")
    with pytest.raises(DataError, match="strict"):
        load(folder, strict=True)


@pytest.mark.parametrize(
    ("name", "field", "text", "kept"),
    [
        ("human-p", "level", "P", "perception"),
        ("human-c", "level", "human c", "comprehension"),
        ("human-c", "dimension", "behaviour", "Behavior"),
        ("human-r", "reasoning", "Counterfactual", "Counter-Factual Reasoning"),
        ("human-r", "domain", "indoor leisure and self-care", "Indoor Leisure & Self Care"),
    ],
)
def test_names_are_known_in_other_spellings(folder, name, field, text, kept):
    found = change(folder, name, **{field: text})
    assert found.problems == ()
    assert kept in {item.tags.get(field) for item in found.items}


def test_a_task_belongs_to_one_dimension_and_an_id_to_one_file(folder: Path) -> None:
    found = change(folder, "human-c", task="Hand State")
    (problem,) = found.problems
    assert problem.startswith("human-c.jsonl:1: task: 'Hand State' belongs to Posture in human-p.jsonl:2")
    assert problem.endswith("(question 'c-1')")
    (problem,) = change(folder, "human-c", id="p-2").problems
    assert problem.startswith("human-c.jsonl:1: item_id: 'p-2' was used in human-p.jsonl:2 before")


def whole_taxonomy() -> list[Entry]:
    """One question of each of the paper's 34 tasks, under names of ours."""
    row = entries("human-p")[0]
    return [
        row | {"id": f"{name}-{i}", "level": level, "dimension": name, "task": f"{name} task {i}"}
        for level, found in humanpcr.DIMENSIONS.items()
        for name, n in found.items()
        for i in range(n)
    ]


def test_other_numbers_of_tasks_and_no_proactive_evidence_are_noted(tmp_path: Path, folder: Path) -> None:
    rows = whole_taxonomy()
    assert len(rows) == 34
    rewrite(tmp_path, "humanpcr", rows)
    found = load(tmp_path, split="human-pc", strict=True)
    assert not any("number of tasks" in note for note in found.notes)
    assert Counter(item.tags["level"] for item in found.items) == {"perception": 17, "comprehension": 17}
    rewrite(tmp_path, "humanpcr", whole_taxonomy()[1:])
    (note,) = [note for note in load(tmp_path, split="human-pc").notes if "number of tasks" in note]
    assert "in 1 dimension(s): Spatiality 2 (paper 3);" in note
    found = change(folder, "human-r", evidence=[], n_referred=3, n_proactive=0)
    assert any("no proactive evidence" in note and note.endswith(": r-1") for note in found.notes)
    assert not any("number of tasks" in note for note in load(folder, split="human-r").notes)


def test_choices_are_asked_directly_and_open_questions_step_by_step() -> None:
    protocols = humanpcr.create().protocols
    assert next(iter(protocols)) == "paper"
    paper = protocols["paper"]
    assert (paper.style, paper.frames, paper.headline) == ("direct", 32, "macro:task")
    assert (paper.sampling.temperature, paper.sampling.max_tokens) == (1.0, 1024)
    assert protocols["cot"].style == "cot"
    assert protocols["reasoning"].sampling.max_tokens == 4096
    budgets = {name: protocols[name].frames for name in ("human-r", "frames-64", "frames-128")}
    assert budgets == {"human-r": 32, "frames-64": 64, "frames-128": 128}
    for name in (*budgets, "human-r-reasoning"):
        assert (protocols[name].style, protocols[name].headline) == ("cot", "micro")
    assert {rules.judge for rules in protocols.values()} == {"humanpcr"}


def test_a_split_is_asked_as_its_own_protocol_says_unless_another_is_named() -> None:
    def plan(split: str, **more: object) -> Plan:
        overrides = {"split": split, **more}
        return make_plan("humanpcr", data=SAMPLE, model="baseline:constant", overrides=overrides)  # type: ignore[arg-type]

    found = {split: plan(split) for split in ("human-pc", "human-r", "all")}
    assert [p.protocol for p in found.values()] == ["paper", "human-r", "paper"]
    assert [p.style for p in found.values()] == ["direct", "cot", "direct"]
    assert plan("human-r", protocol="paper").style == "direct"
    assert any("asks open ones step by step" in note for note in load(SAMPLE, split="all").notes)
    assert not any("step by step" in note for note in load(SAMPLE, split="human-r").notes)
