"""The same street filmed at other rates gives the same questions."""

import json
import math

from conftest import IS_THOROUGH
from subjects.streets import FIGURE_PX, WIDTH_PX, Passer, Street, write_street

CONFIG = """name = "rates"
seed = 3
videos = "."

[[sources]]
path = "street.mp4"
detections = "{video_id}.txt"

[tracking]
tracker = "deepsort"

[tracking.refine.filter]
least_area_px = 1000.0

[models]
writer = "phantom:writer"

[cards]
model = "writer"

[cards.crops]
gap_s = 0.25
least_px = 96
frame_px = 160

[tasks.rlpc]
per_video = 1000
[tasks.mpdr]
per_video = 1000
[tasks.megl]
per_video = 1000
[tasks.aglt]
per_video = 1000
"""


# Who walks where: when they come and go in seconds, through which edges, how far down the frame.
WALKS = (
    (1.0, 5.0, "left", "right", 5),
    (5.0, 14.0, "right", "left", 90),
    (9.0, 13.5, "left", "right", 170),
    (10.5, 20.0, "right", "left", 5),
    (16.5, None, "left", None, 90),
)


def filmed(fps: int) -> Street:
    """The same people, seen by a camera of some rate."""
    across = {"left": 1.0, "right": WIDTH_PX - FIGURE_PX[0] - 1.0, None: 120.0}
    n_frames = 21 * fps
    people = tuple(
        Passer(
            look=look,
            first_frame=math.ceil(start_s * fps),
            last_frame=n_frames - 1 if end_s is None else math.floor(end_s * fps),
            enters=enters,
            leaves=leaves,
            start_px=(across[enters], top),
            end_px=(across[leaves], top),
        )
        for look, (start_s, end_s, enters, leaves, top) in enumerate(WALKS)
    )
    return Street(name="street", passers=people, n_frames=n_frames, fps=fps)


def questions_of(folder) -> set[tuple[str, str, str]]:
    lines = (folder / "made" / "items.jsonl").read_text().splitlines()
    items = [json.loads(line) for line in lines]
    return {
        (one["tags"]["task"], one["question"], one["choices"]["ABCDE".index(one["answer"])]) for one in items
    }


def test_rate_of_the_film_changes_no_question(vidence):
    found = {}
    for fps in (7, 15, 25, 30, 60) if IS_THOROUGH else (7, 30):
        folder = vidence.folder / f"at-{fps}"
        write_street(filmed(fps), folder)
        (folder / "config.toml").write_text(CONFIG)
        done = vidence("make", "herbench", f"at-{fps}/config.toml", "--out", f"at-{fps}/made")
        assert done.code == 0, done.err
        found[fps] = questions_of(folder)
    assert len(found[30]) >= 12
    assert all(there == found[30] for there in found.values())
