"""Drafts and questions for tests of gates, reviews and releases."""

from collections.abc import Sequence

from vidence.catalog import create
from vidence.make.pipeline.material import Draft, VideoSource
from vidence.make.pipeline.output import Question, numbered
from vidence.records import Evidence

SPANS = ((1.0, 2.0), (4.0, 5.0), (8.0, 9.0))
FRUIT = ("apple", "pear", "plum", "fig", "kiwi")


def draft(name: str, **changes: object) -> Draft:
    """A draft about nothing; what matters to a test is in `changes`."""
    spans = changes.pop("spans", SPANS)
    settings = {
        "draft_id": name,
        "task": "AC",
        "structure": "pair",
        "video_id": "v1",
        "question": f"Which fruit is taken first, second and third, {name}?",
        "choices": FRUIT,
        "answer_index": 0,
        "evidence": tuple(Evidence(kind="oracle", start_s=a, end_s=b) for a, b in spans),
        "k": 3,
    }
    return Draft(**settings | changes)


def video(video_id: str, **changes: object) -> VideoSource:
    settings = {
        "path": f"{video_id}.mp4",
        "n_frames": 100,
        "fps": 10.0,
        "duration_s": 10.0,
        "width_px": 64,
        "height_px": 48,
        "sha256": video_id.encode().hex().ljust(64, "0"),
        "collection": "OURS",
        "licence": "CC0-1.0",
    }
    return VideoSource(video_id=video_id, **settings | changes)


def questions(drafts: Sequence[Draft], **videos: VideoSource) -> tuple[Question, ...]:
    tasks = {task.code: task for task in (create("task", name) for name in ("ac", "fam", "fom"))}
    known = {one.video_id: videos.get(one.video_id) or video(one.video_id) for one in drafts}
    return numbered(drafts, tasks=tasks, videos=known, maker="herbench/1")
