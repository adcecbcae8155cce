"""The page of a making: whole, quiet, and escaped; tables that count what is there."""

import re

import numpy as np
import pytest

from subjects.gated import draft as some_draft
from subjects.gated import questions
from vidence.catalog import create
from vidence.make.herbench.config import SourceRule
from vidence.make.herbench.report import PageFacts, build_page, sample
from vidence.make.herbench.report_tables import (
    demand_table,
    demand_words,
    letter_table,
    review_table,
    task_table,
    truth_table,
)
from vidence.make.herbench.session import VideoState
from vidence.make.herbench.sources import Source
from vidence.make.pipeline.ledger import Account, StageAccount
from vidence.make.pipeline.material import Draft, Material, VideoSource
from vidence.make.pipeline.output import Question, herbench_row, stamp
from vidence.make.pipeline.pictures import PictureFolder
from vidence.make.pipeline.report_pictures import PALETTE, ways
from vidence.make.review.decision import ReviewResult, TaskReview
from vidence.records import Estimate, Evidence
from vidence.seeing.tracks import Track, TrackedVideo
from vidence.tables.table import shown_rows

VIDEO = VideoSource(
    video_id="v<1>",
    path="a/v.mp4",
    n_frames=100,
    fps=10.0,
    duration_s=10.0,
    width_px=64,
    height_px=48,
    collection="OWN",
    licence="CC0",
)
MAKER = "vidence make herbench 1"
TASK = create("task", "tso")
SOURCE = Source(video=VIDEO, file=None, rule=SourceRule(path="a/v.mp4"))


def question(n: int, *, answer: int = 0, structure: str = "order", task: str = "TSO") -> Question:
    draft = Draft(
        draft_id=f"{task}-{n}",
        task=task,
        structure=structure,
        video_id=VIDEO.video_id,
        question="<script>alert(1)</script> Which?",
        choices=("a & b", "<b>", "c", "d", "e"),
        answer_index=answer,
        evidence=(
            Evidence(start_s=1.04, end_s=2.0),
            Evidence(start_s=61.26, end_s=61.26),
            Evidence(frames=(3,)),
        ),
        k=3,
        facts={"order": "1 < 2"},
    )
    return Question(question_id=f"{task}_{n:04d}", draft=draft, task=TASK, video=VIDEO, maker=MAKER)


def page(questions: list[Question], tmp_path) -> str:
    stage = StageAccount(stage="gates", unit="drafts", n_in=5, n_out=3, dropped={"blind <3>": 2})
    return build_page(
        Account(stages=(stage,), notes=("a <note>",)),
        [(VideoState(source=SOURCE, material=Material(source=VIDEO)), None)],
        questions,
        pictures=PictureFolder(tmp_path),
        rng=np.random.default_rng(0),
        facts=PageFacts(title="a <set>", sentences=["Said."], settings=[("Set", [("k", "<v>")])]),
    )


def test_the_page_loads_nothing_and_escapes_everything(tmp_path):
    html = page([question(0)], tmp_path)
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)" in html
    assert "a &lt;set&gt;" in html
    assert "blind &lt;3&gt;" in html
    assert re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', html) == []
    assert "default-src 'none'" in html
    assert not re.search(r"<[^>]+ style=", html)


def test_letters_are_shares_of_a_task():
    drafts = [question(i, answer=i % 2).draft for i in range(4)] + [question(9, answer=4, task="AC").draft]
    table = letter_table(drafts)
    assert [row.key for row in table.rows] == ["AC", "TSO", "all"]
    assert [cell.value for cell in shown_rows(table)[1].cells[1:]] == [0.5, 0.5, 0.0, 0.0, 0.0]
    assert [cell.value for cell in shown_rows(table)[2].cells[1:]] == [0.4, 0.4, 0.0, 0.0, 0.2]


def test_tasks_are_counted_with_their_evidence():
    (line,) = shown_rows(task_table([question(0).draft, question(1).draft]))
    # Three spans each; from 1.04 s to the end of the last span that has times, 61.26 s: 60.2 s.
    assert [cell.text for cell in line.cells] == ["TSO", "2", "1", "3", "3.0", "60.2", "0"]


def test_a_sample_has_every_form_first():
    questions = [question(i) for i in range(30)] + [question(30, structure="last")]
    for seed in range(5):
        chosen = sample(questions, most=4, rng=np.random.default_rng(seed))
        assert len(chosen) == 4
        assert {one.draft.structure for one in chosen} == {"order", "last"}
        assert [one.question_id for one in chosen] == sorted(one.question_id for one in chosen)
    assert len(sample(questions, most=100, rng=np.random.default_rng(0))) == 31


def test_ways_are_drawn_in_the_size_of_the_picture():
    track = Track(
        track_id='a"<b>',
        class_name="person",
        frame_indices=np.array([0, 1]),
        boxes_px=np.array([[0.0, 0.0, 2.0, 2.0], [60.0, 44.0, 64.0, 48.0]]),
        confidences=np.ones(2),
        is_detected=np.ones(2, np.bool_),
    )
    tracked = TrackedVideo(width_px=64, height_px=48, times_s=np.array([0.0, 0.1]), tracks=(track,))
    svg = ways(tracked, ['a"<b>'], width=640)
    assert 'points="10.0,10.0 620.0,460.0 620.0,460.0"' in svg  # centres times ten
    assert PALETTE[0] in svg
    assert "&lt;b&gt;" in svg
    assert "<b>" not in svg


def test_stamps_hold_the_whole_span():
    row = herbench_row(question(0))
    assert row["metadata"]["timestamps"] == ["00:01.0-00:02.0", "01:01.2-01:01.3"]


@pytest.mark.parametrize(
    ("tenths", "text"), [(0, "00:00.0"), (599, "00:59.9"), (600, "01:00.0"), (36000, "01:00:00.0")]
)
def test_a_stamp_is_minutes_seconds_and_tenths(tenths, text):
    assert stamp(tenths) == text


def test_an_item_says_where_it_is_from():
    item = question(0).item
    assert item.media[0].path == "data/videos/a/v.mp4"
    assert item.provenance.licence == "CC0"
    assert item.provenance.maker == MAKER
    assert item.tags["draft"] == "TSO-0"
    assert item.rationale == "order: 1 < 2"


def cells(table):
    return [[cell.text for cell in row.cells] for row in shown_rows(table)]


def test_what_was_verified_is_told_from_what_was_only_stored():
    stored = [some_draft("a"), some_draft("b")]
    assert demand_words(stored).endswith("spans are stored, not proved necessary.")
    assert cells(demand_table(stored)) == [["AC", "3", "3.0", "0", "-", "-"]]
    tried = [
        some_draft("a", k=2, k_verified=2),
        some_draft("b", k=2, k_verified=3),
        some_draft("c", k=1),
        some_draft("d", task="FAM"),
    ]
    assert "for 2 of 4 questions" in demand_words(tried)
    assert "Of the other 2 spans are stored, not proved necessary." in demand_words(tried)
    assert cells(demand_table(tried))[0] == ["AC", "1", "1.7", "2", "2", "2.5"]
    assert "not proved" not in demand_words([some_draft("a", k_verified=3)])


def test_what_answers_rest_on_and_what_people_said_are_tables():
    asked = questions([some_draft("a", truth="log"), some_draft("b", truth="log"), some_draft("c")])
    assert [row[1:] for row in cells(truth_table(asked))] == [["not said", "1"], ["log", "2"]]
    line = TaskReview(
        task="AC",
        n=20,
        n_sample=5,
        n_sample_rejected=1,
        n_queued=2,
        n_queued_rejected=0,
        n_rest=13,
        rejected=Estimate(value=0.2, low=0.036, high=0.624, level=0.95, n=5, n_clusters=5, method="wilson"),
        weighted=None,
        rest="released",
    )
    result = ReviewResult(rule="", level=0.95, most_rejected=0.3, tasks=(line,))
    assert cells(review_table(result)) == [
        ["AC", "20", "5", "20.0 % [3.6, 62.4]", "-", "2", "0", "13 released"]
    ]
