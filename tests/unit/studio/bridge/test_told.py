"""What each run made of a question."""

import msgspec
import pytest

from subjects.viewed import ITEMS, TRIALS, trial, write_run
from vidence.records import Evidence, FrameRef, Media, Selection
from vidence.studio.bridge.runs import open_head
from vidence.studio.bridge.told import hits, lanes_of, tell, text_of


def told(tmp_path, one=TRIALS[0], **plan):
    run = write_run(tmp_path / "run", trials=[one], plan=plan)
    return tell(open_head(run), one.item_id, one.repeat, place="p", name="Ours")[1]


def test_letters_are_those_that_were_shown_with_those_of_the_item_beside(tmp_path):
    one = msgspec.structs.replace(trial(ITEMS[0], "B"), choice_order=(2, 0, 1))
    found = told(tmp_path, one)
    assert [(c.letter, c.own, c.text, c.is_right, c.is_read) for c in found.choices] == [
        ("A", "C", "blue", False, False),
        ("B", "A", "red", True, True),
        ("C", "B", "green", False, False),
    ]


def test_likely_letters_have_their_shares(tmp_path):
    found = told(tmp_path)
    assert [(one.letter, one.logp) for one in found.likely] == [("A", -0.1), ("B", -2.6)]
    assert sum(one.share for one in found.likely) == pytest.approx(1.0)


def test_what_was_not_asked_yet_says_so(tmp_path):
    run = write_run(tmp_path / "run", trials=TRIALS[:1])
    item, found = tell(open_head(run), "q2", 0, place="p", name="Ours")
    assert (item, found.fate, found.problem) == (ITEMS[1], "missing", "Not asked yet.")
    none, found = tell(open_head(run), "absent", 0, place="p", name="Ours")
    assert (none, found.fate) == (None, "missing")


def test_control_characters_are_written_out_and_long_texts_are_cut():
    found = text_of("a\x00\u202eb" + "x" * 50, most=10)
    assert found.shown.startswith("a␀⟨U+202E⟩b")
    assert found.n_left_out == 44


def test_open_evidence_ends_where_the_last_thing_lies():
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


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ((0.5, 1.0, 1.9), "2 of 3 frames hit 1 of 1 spans of evidence."),
        ((2.0,), "0 of 1 frames hit 0 of 1 spans of evidence."),
    ],
)
def test_frames_inside_evidence_are_counted(times, expected):
    frames = tuple(FrameRef(frame_index=i, time_s=time) for i, time in enumerate(times))
    assert hits(ITEMS[0], Selection(selector="s", version=1, frames=frames, n_candidates=9)) == expected
