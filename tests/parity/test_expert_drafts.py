"""MMVU's released questions read as drafts of experts, against figures that were counted elsewhere."""

import json

import pytest

from conftest import need
from vidence.make.makers.expert import create
from vidence.make.pipeline.session import BuildContext, MakeOverrides

pytestmark = pytest.mark.parity


@pytest.fixture(scope="module")
def built(checks_dir, tmp_path_factory):
    path = need(checks_dir / "mmvu" / "validation.json.gz")
    root = tmp_path_factory.mktemp("released")
    (root / "mmvu.toml").write_text(f'name = "released"\nimport = "mmvu"\ndrafts = {json.dumps(str(path))}\n')
    context = BuildContext(cache_root=root / "cache", memory=root / "replies.sqlite")
    return create().make(root / "mmvu.toml", overrides=MakeOverrides(out=root / "out"), context=context)


def table(built, name):
    (found,) = (one for one in built.tables if one.name == name)
    return found


def test_links_textbooks_clips_and_sources_are_those_of_the_file(built):
    assert {row.label: row.values[0] for row in table(built, "counts").rows} == {
        "drafts": 1000,
        "drafts without rationale": 0,
        "knowledge links": 4086,
        "distinct links": 2224,
        "links not to Wikipedia": 0,
        "links with a fragment": 6,
        "textbooks": 48,
        "sources": 453,
        "clips": 583,
        "clips with 1 question": 333,
        "clips with 2 questions": 129,
        "clips with 3 questions": 80,
        "clips with 4 questions": 36,
        "clips with 5 questions": 5,
    }


def test_findings_are_what_the_released_file_lacks_and_six_answers_in_their_questions(built):
    rows = {(row.label, row.values[0]): row.values[1:] for row in table(built, "findings").rows}
    assert rows["concept_id", "no-chapter"] == (0, 1000, 1000)
    assert rows["start_s", "no-times"] == (0, 1000, 1000)
    assert rows["misconception", "no-misconception"] == (0, 625, 625)
    assert rows["knowledge", "fragment"] == (0, 6, 6)
    # Six as substrings: four as words of their own, two as a part of another word.
    assert rows["question", "answer-in-question"] == (4, 2, 6)
    # 36 clips of four questions, 5 of five.
    assert rows["video", "many-about-a-clip"] == (0, 169, 169)
    assert set(rows) == {
        ("concept_id", "no-chapter"),
        ("start_s", "no-times"),
        ("misconception", "no-misconception"),
        ("knowledge", "fragment"),
        ("knowledge", "repeated-link"),
        ("question", "answer-in-question"),
        ("steps", "few-steps"),
        ("video", "many-about-a-clip"),
    }


def test_only_those_that_give_their_answer_away_are_left_out(built):
    (checks,) = (one for one in built.account.stages if one.stage == "checks")
    assert (checks.n_in, checks.n_out, checks.dropped) == (1000, 996, {"answer-in-question": 4})
