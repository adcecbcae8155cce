"""What each run made of a question."""

import re

import msgspec

from subjects.viewed import ITEMS, TRIALS, trial, write_run
from vidence.records import Evidence, Media, Prompt, Selection, TextPart, VideoPart
from vidence.studio.bridge.question_view import lanes_of, tell
from vidence.studio.bridge.runs import open_head


def told(tmp_path, one=TRIALS[0], **plan):
    run = write_run(tmp_path / "run", trials=[one], plan=plan)
    return tell(open_head(run), one.item_id, one.repeat, place="p", name="Ours")[1]


def test_letters_are_those_that_were_shown(tmp_path):
    one = msgspec.structs.replace(trial(ITEMS[0], "B"), choice_order=(2, 0, 1))
    piece = told(tmp_path, one).piece
    assert re.findall(r'<li class="(\S*) (\S*)"><b>(.)</b><bdi class="find-me">(\w+)<', piece) == [
        ("", "", "A", "blue"),
        ("gold-choice", "read-choice", "B", "red"),
        ("", "", "C", "green"),
    ]


def test_what_was_not_asked_yet_says_so(tmp_path):
    run = write_run(tmp_path / "run", trials=TRIALS[:1])
    item, found = tell(open_head(run), "q2", 0, place="p", name="Ours")
    assert (item, found.fate, found.problem) == (ITEMS[1], "missing", "Not asked yet.")
    none, found = tell(open_head(run), "absent", 0, place="p", name="Ours")
    assert (none, found.fate) == (None, "missing")


def test_lanes_hold_evidence_and_whole_videos(tmp_path):
    item = msgspec.structs.replace(
        ITEMS[0],
        media=(Media(path="a.mp4", start_s=1.0),),
        evidence=(Evidence(start_s=2.0), Evidence(kind="oracle", frames=(9, 4))),
    )
    assert lanes_of(item, [], 0) == [
        {"name": "part of the video", "spans": [[1.0, 2.0]]},
        {"name": "evidence, referred", "spans": [[2.0, 2.0]], "frames": []},
        {"name": "evidence, oracle", "spans": [], "frames": [4, 9]},
    ]
    whole = Prompt(parts=(VideoPart(path="film.mp4", digest="a" * 64), TextPart(text="Look.")))
    chosen = Selection(selector="midpoints", version=1, frames=(), n_candidates=90)
    one = msgspec.structs.replace(trial(ITEMS[0], "A"), selection=chosen, prompt=whole)
    found = told(tmp_path, one, layout="video")
    assert {"name": "sent whole to Ours", "whole": True} in lanes_of(ITEMS[0], [found], 0)
