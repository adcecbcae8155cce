"""The samples whose media ship with them can be put to a model, as their protocols ask."""

import shutil
from pathlib import Path

import pytest

import vidence
from subjects.samples import sample_folder
from vidence import catalog
from vidence.errors import MissingMediaError
from vidence.report.results import Run

GOLDEN = Path(__file__).parents[1] / "golden"


def run(name: str, tmp_path: Path, *, data: Path | None = None, **overrides: object) -> Run:
    return vidence.evaluate(
        name,
        data=data or GOLDEN / name,
        model="scripted:B",
        out=tmp_path / "run",
        cache=tmp_path / "cache",
        **overrides,
    )


def n_shown(found: Run) -> dict[str, int]:
    """How many frames or images each question was shown."""
    selections = {row.item.item_id: row.trial.selection for row in found.rows}
    return {item_id: len(s.frames) for item_id, s in selections.items() if s is not None}


PROTOCOLS = [
    (name, protocol)
    for name in ("herbench", "humanpcr")
    for protocol in catalog.create("benchmark", name).protocols
]


@pytest.mark.parametrize(("name", "protocol"), PROTOCOLS)
def test_every_protocol_asks_every_question(tmp_path: Path, name: str, protocol: str) -> None:
    found = run(name, tmp_path, protocol=protocol)
    assert found.plan.protocol == protocol
    assert {row.outcome for row in found.rows} == {"answered"}
    assert all(row.correct == float(row.item.answer == "B") for row in found.rows)
    assert all(n_shown(found).values())


def test_herbench_shows_16_frames_or_the_oracles(tmp_path: Path) -> None:
    assert set(n_shown(run("herbench", tmp_path / "a")).values()) == {16}
    only = n_shown(run("herbench", tmp_path / "b", protocol="oracle-only"))
    # Three flashes of 0.2 s, at 10 frames per second; one shot of 1 s.
    assert (only["AC_0000"], only["SVA_0000"]) == (6, 10)


def test_humanpcr_shows_each_image_once_and_frames_of_the_span(tmp_path: Path) -> None:
    found = run("humanpcr", tmp_path, protocol="paper")
    assert n_shown(found) == {"p-1": 1, "p-2": 1, "p-3": 3, "c-1": 20, "c-2": 2}
    several = next(row.trial.selection for row in found.rows if row.item.item_id == "p-3")
    assert several is not None
    assert [frame.media_index for frame in several.frames] == [0, 1, 2]


def test_open_questions_of_humanpcr_are_asked_and_wait_for_a_judge(tmp_path: Path) -> None:
    found = run("humanpcr", tmp_path, split="human-r", protocol="human-r")
    assert [(row.outcome, row.status) for row in found.rows] == [("answered", "unmarked")] * 2
    assert n_shown(found) == {"r-1": 32, "r-2": 32}
    prompt = found.rows[0].trial.prompt
    assert prompt is not None
    assert prompt.template.startswith("humanpcr/open-cot.txt")


def test_images_missing_from_a_question_about_several_stop_the_run_by_name(tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(GOLDEN / "humanpcr", data)
    (data / "images" / "hat-2.png").unlink()
    with pytest.raises(MissingMediaError, match=r"images/hat-2\.png"):
        run("humanpcr", tmp_path, data=data)
    found = run("humanpcr", tmp_path, data=data, allow_missing=True)
    assert [row.item.item_id for row in found.rows] == ["p-1", "p-2", "c-1", "c-2"]
    assert any("1 of 5 questions are left out" in note for note in found.facts.notes)


@pytest.mark.parametrize(
    ("where", "score", "label"),
    [
        ({}, (0 + 1 / 12) / 2, "2 groups"),  # of A alone: C H G B in any order, and A B F B in a chain
        ({"type": "logic"}, 1 / 12, "1 group"),
        ({"level": "3"}, None, "0 groups, each by its questions together; 1 left out, which lack questions"),
    ],
)
def test_groups_that_lack_questions_are_in_no_score(tmp_path: Path, where, score, label) -> None:
    """A run of a part, or one that was stopped, has its report all the same."""
    found = vidence.evaluate(
        "video-mme-v2",
        data=sample_folder("video-mme-v2"),
        model="baseline:constant?letter=A",
        out=tmp_path / "run",
        cache=tmp_path / "cache",
        where=where,
    )
    table = found.tables()["score"]
    estimate = table.estimate("headline", "accuracy")
    assert estimate == score or estimate.value == pytest.approx(score)
    assert ("No group is scored yet." if score is None else f"; {label} on ") in found._repr_html_()
    assert label in next(row.detail for row in table.rows if row.key == "headline")
