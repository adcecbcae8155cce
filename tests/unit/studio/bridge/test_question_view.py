"""What each run made of a question."""

import msgspec
import pytest

from subjects.viewed import ITEMS, TRIALS, trial, write_run
from vidence.records import Evidence, FrameRef, ImagePart, Media, Prompt, Selection, TextPart, VideoPart
from vidence.studio.bridge.question_view import LONGEST, hits, lanes_of, tell, text_of
from vidence.studio.bridge.runs import open_head


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
    found = text_of("a\x00\u202eb" + "x" * LONGEST)
    assert found.shown.startswith("a␀⟨U+202E⟩b")
    assert found.n_left_out == 4


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


def test_images_are_counted_and_frames_of_a_montage_are_said_to_be_laid_out(tmp_path):
    frames = tuple(FrameRef(frame_index=0, time_s=0.0, media_index=i) for i in range(3))
    chosen = Selection(selector="midpoints", version=1, frames=frames, n_candidates=3)
    pictures = tuple(
        ImagePart(digest=c * 64, width_px=8, height_px=8, frames=k) for c, k in (("a", (0, 1)), ("b", (2,)))
    )
    one = msgspec.structs.replace(
        trial(ITEMS[0], "A"), selection=chosen, prompt=Prompt(parts=(TextPart(text="Look."), *pictures))
    )
    images = tuple(Media(path=f"{i}.png", kind="image") for i in range(4))
    item = msgspec.structs.replace(ITEMS[0], media=images)
    run = write_run(tmp_path / "run", items=(item,), trials=[one], plan={"layout": "montage:2x1"})
    found = tell(open_head(run), "q1", 0, place="p", name="Ours")[1]
    assert found.shown == "3 of 4 images. Laid out in 2 pictures of 2 by 1 cells."
    assert found.montages == (((0, 0), (1, 0)), ((2, 0),))
    assert found.montage == "columns=2&rows=1&size=short%3A720&quality=85"


def test_a_whole_video_has_a_lane(tmp_path):
    whole = Prompt(parts=(VideoPart(path="film.mp4", digest="a" * 64), TextPart(text="Look.")))
    chosen = Selection(selector="midpoints", version=1, frames=(), n_candidates=90)
    one = msgspec.structs.replace(trial(ITEMS[0], "A"), selection=chosen, prompt=whole)
    found = told(tmp_path, one, layout="video")
    assert {"name": "sent whole to Ours", "whole": True} in lanes_of(ITEMS[0], [found], 0)
