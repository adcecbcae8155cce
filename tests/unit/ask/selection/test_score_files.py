"""Scores from files: every format, and everything that can be wrong with one."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from subjects.clips import timed_clip
from vidence.ask.selection.score_files import read_scores
from vidence.errors import DataError
from vidence.media.clip import Clip
from vidence.records import Item, Media

CLIP = timed_clip(np.arange(40) / 10, fps=10.0, first_index=100)
ITEM = Item(item_id="q1", question="?", answer="A", media=(Media(path="a.mp4"),))
OWN = np.array([0, 10, 20], np.int64)
SCORES = [0.1, 0.5, 0.2]


def write(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif name.endswith(".npz"):
        np.savez(path, **content)  # type: ignore[arg-type]
    elif name.endswith(".jsonl"):
        assert isinstance(content, list)
        path.write_text("\n".join(json.dumps(line) for line in content) + "\n\n")
    else:
        path.write_text(json.dumps(content))
    return path


def found(path: Path, item: Item = ITEM) -> tuple[list[int], list[float]]:
    scored = read_scores(path).of(CLIP, item, lambda clip: OWN)
    return scored.frames.tolist(), scored.scores.tolist()


@pytest.mark.parametrize(
    ("name", "content", "positions"),
    [
        ("s.jsonl", [{"item_id": "q1", "scores": SCORES}], [0, 10, 20]),
        ("s.jsonl", [{"video_id": "a.mp4", "scores": SCORES}], [0, 10, 20]),
        ("s.jsonl", [{"item_id": "q1", "scores": SCORES, "frames": [100, 107, 139]}], [0, 7, 39]),
        ("s.json", [{"item_id": "q0", "scores": [1]}, {"item_id": "q1", "scores": SCORES}], [0, 10, 20]),
        ("s.json", {"q1": SCORES}, [0, 10, 20]),
        ("s.json", {"a.mp4": {"scores": SCORES, "frames": [100, 107, 139]}}, [0, 7, 39]),
        ("s.npz", {"q1": np.array(SCORES)}, [0, 10, 20]),
        ("s.npz", {"q1": np.array(SCORES), "frames:q1": np.array([100, 107, 139])}, [0, 7, 39]),
    ],
)
def test_every_format_is_read(tmp_path: Path, name: str, content: object, positions: list[int]) -> None:
    assert found(write(tmp_path, name, content)) == (positions, SCORES)


def test_a_stride_counts_from_the_first_frame_and_the_question_goes_before_its_video(tmp_path: Path) -> None:
    path = write(tmp_path, "s.json", {"q1": {"scores": SCORES, "stride": 6}})
    whole = timed_clip(np.arange(40) / 10, fps=10.0)
    assert read_scores(path).of(whole, ITEM, lambda clip: OWN).frames.tolist() == [0, 6, 12]
    path = write(tmp_path, "s.json", {"a.mp4": [3, 2, 1], "q1": SCORES})
    assert found(path)[1] == SCORES
    other = Item(item_id="q2", question="?", answer="A", media=ITEM.media)
    assert found(path, other)[1] == [3, 2, 1]


def entry(**changes: Any) -> list[dict[str, Any]]:
    content = {"item_id": "q1", "scores": SCORES} | changes
    return [{key: value for key, value in content.items() if value is not None}]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("s.csv", b"", r"s.csv: scores are read from files that end in .jsonl, .json, .npz"),
        ("s.json", b"{", r"s.json is not JSON"),
        ("s.json", b"\xff\xfe", r"s.json is not UTF-8 text"),
        ("s.json", b"3", r"s.json: expected a list or an object"),
        ("s.json", b"{}", r"s.json has no scores"),
        ("s.jsonl", b"\n", r"s.jsonl has no scores"),
        ("s.jsonl", b'{"item_id": "q1", "scores": [1]}\nnonsense', r"s.jsonl, line 2 is not JSON"),
        ("s.jsonl", [[1, 2]], r"s.jsonl, line 1: expected an object with an 'item_id'"),
        ("s.jsonl", entry(item_id=None), r"expected an object with an 'item_id'"),
        ("s.jsonl", entry(video_id="v"), r"expected an object with an 'item_id'"),
        ("s.jsonl", entry(scores=None), r"line 1 \('q1'\): fields item_id; expected 'scores'"),
        ("s.jsonl", entry(extra=1), r"fields extra, item_id, scores; expected"),
        ("s.jsonl", entry(stride=2, frames=[0, 1, 2]), r"expected 'scores' and one or none of"),
        ("s.jsonl", entry(scores=[]), r"line 1 \('q1'\): scores that are no list|no scores"),
        ("s.jsonl", entry(scores=["a"]), r"line 1 \('q1'\): scores are not a list of numbers"),
        ("s.jsonl", entry(scores=[[1], [1, 2]]), r"scores are not a list of numbers"),
        ("s.jsonl", entry(scores=[[1, 2]]), r"2 dimensions"),
        ("s.jsonl", entry(scores=[True, False]), r"values of type bool"),
        ("s.jsonl", b'{"item_id": "q1", "scores": [0, NaN]}', r"\('q1'\): score 1 of 2 is nan"),
        ("s.jsonl", entry(frames=[1, 2]), r"3 scores and 'frames' of type int64 and shape \(2,\)"),
        ("s.jsonl", entry(frames=[1, 2.5, 3]), r"'frames' of type float64"),
        ("s.jsonl", entry(frames=[1, 1, 2]), r"must count from 0 and ascend"),
        ("s.jsonl", entry(frames=[-1, 1, 2]), r"must count from 0 and ascend"),
        ("s.jsonl", entry(stride=0), r"stride 0; expected a whole number above 0"),
        ("s.jsonl", entry() * 2, r"has scores for 'q1' twice"),
        ("s.npz", b"PK\x03\x04 cut", r"s.npz is not a file of numpy arrays"),
        ("s.npz", {"q1": np.array([None, 1])}, r"s.npz is not a file of numpy arrays"),
        ("s.npz", {"frames:q1": np.arange(3)}, r"has 'frames:q1' and no scores under 'q1'"),
        ("s.npz", {"q1": np.array([1.0, np.nan])}, r"s.npz \('q1'\): score 1 of 2 is nan"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(tmp_path, name, content, message):
    with pytest.raises(DataError, match=message):
        read_scores(write(tmp_path, name, content))


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "s.npy", np.arange(3))
    (tmp_path / "s.npy").rename(tmp_path / "s.npz")
    with pytest.raises(DataError, match="is not a file of numpy arrays"):
        read_scores(tmp_path / "s.npz")
    with pytest.raises(DataError, match=r"none.jsonl cannot be read"):
        read_scores(tmp_path / "none.jsonl")


def test_scores_must_fit_the_question(tmp_path: Path) -> None:
    table = read_scores(write(tmp_path, "s.json", {"q1": SCORES, "q2": {"scores": SCORES, "stride": 1}}))
    other = Item(item_id="q9", question="?", answer="A", media=(Media(path="b.mp4"),))
    with pytest.raises(DataError, match=r"no scores for item 'q9' nor for its video 'b.mp4'.*first for 'q1'"):
        table.of(CLIP, other, lambda clip: OWN)
    with pytest.raises(DataError, match=r"item 'q1': 3 scores for 2 candidates"):
        table.of(CLIP, ITEM, lambda clip: OWN[:2])
    strided = Item(item_id="q2", question="?", answer="A")
    with pytest.raises(DataError, match=r"frame 0 is scored, but the item's frames are 100 to 139"):
        table.of(CLIP, strided, lambda clip: OWN)
    several = Clip(
        times_s=np.zeros(2), media_indices=np.arange(2), frame_indices=np.zeros(2, np.int64), fps=0.0
    )
    with pytest.raises(DataError, match="a question about several media"):
        table.of(several, strided, lambda clip: OWN)
